//! The text of a file to entities, whichever of the forms it has.

mod block;
mod csv;
mod detect;
mod header;
mod infer;
mod input;
mod json;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use table_core::DynamicEntity;

use self::block::Block;
use self::csv::Csv;
use self::detect::Shape;
pub(crate) use self::infer::Types;
pub(crate) use self::input::Place;
use self::input::{Input, Step};
use super::counts::Counts;
use super::files::failed;
use super::reject::Reject;
use crate::failure::Failure;

/// The most bytes of one entity's text. An entity of the largest size has fewer, however its values are escaped.
const MOST_BYTES: usize = 8 << 20;
/// So many entities are given at once at most.
const CHUNK_ENTITIES: usize = 10_000;
/// So much text is read at once, or a little more.
const CHUNK_BYTES: u64 = 8 << 20;

/// An entity, and where it was read.
#[derive(Debug)]
pub(crate) struct Item {
    /// The line where its text begins.
    pub(crate) line: u64,
    /// A place before it, and behind all that stands before it.
    pub(crate) place: Place,
    /// How many rows it was put together of.
    pub(crate) rows: u64,
    pub(crate) entity: DynamicEntity,
}

impl Item {
    /// Makes one of a row.
    pub(crate) fn new(line: u64, place: Place, entity: DynamicEntity) -> Self {
        Self { line, place, rows: 1, entity }
    }
}

/// Entities that stand one after another in a file, and what is no entity between them.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) items: Vec<Item>,
    pub(crate) rejects: Vec<Reject>,
    /// Where they begin.
    pub(crate) from: Place,
    /// Where they end.
    pub(crate) to: Place,
    /// The keys of the last row of a table that was read for them.
    pub(crate) keys: Option<(String, String)>,
    /// What was read for them and left out.
    pub(crate) left_out: Counts,
}

/// Reads a file, a chunk at a time.
pub(crate) struct FileReader<R> {
    input: Input<R>,
    shape: Shape,
    block: Block,
    is_ended: bool,
}

impl FileReader<File> {
    /// Begins to read a file.
    pub(crate) fn open(path: &Path, types: Types) -> Result<Self, Failure> {
        let opened = File::open(path).and_then(|file| {
            let is_directory = file.metadata()?.is_dir();
            if is_directory { Err(std::io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
        });
        Self::new(opened.map_err(|error| failed("read", path, error))?, types)
    }

    /// Goes to a place where a chunk has ended before, of a file of so many bytes.
    pub(crate) fn go_to(&mut self, place: Place, bytes: u64) -> Result<(), Failure> {
        if place.offset >= bytes {
            self.is_ended = true;
            return Ok(());
        }
        let moved = self.input.reader().seek(SeekFrom::Start(place.offset));
        moved.map_err(|error| failed("read", Path::new("the file"), error))?;
        self.input.moved_to(place);
        Ok(())
    }
}

impl<R: Read> FileReader<R> {
    /// Begins to read a text, whose form its beginning tells.
    pub(crate) fn new(reader: R, types: Types) -> Result<Self, Failure> {
        let mut input = Input::new(reader);
        let shape = detect::shape(&mut input, types)?;
        Ok(Self { input, shape, block: Block::default(), is_ended: false })
    }

    /// Returns the next entities; `None` at the end of the text.
    pub(crate) fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
        if self.is_ended {
            return Ok(None);
        }
        let mut chunk = Chunk { from: self.input.place(), ..Chunk::default() };
        let mut is_broken = false;
        while !self.is_ended
            && chunk.items.len() + self.block.len() < CHUNK_ENTITIES
            && self.input.place().offset - chunk.from.offset < CHUNK_BYTES
        {
            self.block.go_on_at(self.input.place());
            let step = match &mut self.shape {
                Shape::Lines => json::line(&mut self.input, &mut self.block)?,
                Shape::Objects(objects) => objects.next(&mut self.input, &mut self.block)?,
                Shape::Csv(csv) => csv.next(&mut self.input, &mut self.block)?,
            };
            match step {
                Step::Read => {}
                Step::Rejected(reject) => chunk.rejects.push(reject),
                Step::Broken(reject) => {
                    chunk.rejects.push(reject);
                    (self.is_ended, is_broken) = (true, true);
                }
                Step::End => self.is_ended = true,
            }
            if self.block.is_full() {
                self.parse(&mut chunk);
            }
        }
        self.parse(&mut chunk);
        chunk.rejects.sort_by_key(|reject| reject.line);
        chunk.to = self.input.place();
        if is_broken {
            // Nothing behind it is read, in another run neither.
            chunk.to.offset = u64::MAX;
        }
        Ok(Some(chunk))
    }

    fn parse(&mut self, chunk: &mut Chunk) {
        let csv = match &self.shape {
            Shape::Csv(csv) => Some(csv),
            Shape::Lines | Shape::Objects(_) => None,
        };
        self.block.parse(csv, &mut chunk.items, &mut chunk.rejects);
    }
}
