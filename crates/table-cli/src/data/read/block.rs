//! Entities whose texts are read together, so that they share the names of their properties.

use table_core::odata::Reader;

use super::super::reject::Reject;
use super::csv::Csv;
use super::input::column;
use super::{Item, Place};

/// So many bytes are read together, or a little more.
const FULL: usize = 1 << 20;

/// The texts of entities: an array of JSON that grows.
#[derive(Debug, Default)]
pub(super) struct Block {
    text: Vec<u8>,
    marks: Vec<Mark>,
    /// Where what is added next is read.
    place: Place,
    /// The records of CSV that the texts were made of.
    records: Vec<u8>,
}

/// Where an entity stands.
#[derive(Clone, Copy, Debug)]
struct Mark {
    line: u64,
    place: Place,
    from: usize,
    to: usize,
    /// Where its record ends.
    record: usize,
}

impl Block {
    /// Returns how many entities there are.
    pub(super) fn len(&self) -> usize {
        self.marks.len()
    }

    /// Returns whether it is time to read them.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= FULL
    }

    /// Notes the place behind all that was read before.
    pub(super) fn go_on_at(&mut self, place: Place) {
        self.place = place;
    }

    /// Adds the text of one object, which stands at this line.
    pub(super) fn push(&mut self, line: u64, object: &[u8]) {
        self.add(line, &[], |text| text.extend_from_slice(object));
    }

    /// Adds an object that is made of a record of CSV.
    pub(super) fn add(&mut self, line: u64, record: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        // A line's end can't stand in a string of JSON, so that no string begins in one object and ends in another.
        self.text.extend_from_slice(if self.marks.is_empty() { b"[" } else { b"\n," });
        let from = self.text.len();
        write(&mut self.text);
        self.records.extend_from_slice(record);
        let (place, to, record) = (self.place, self.text.len(), self.records.len());
        self.marks.push(Mark { line, place, from, to, record });
    }

    /// Reads the entities, and empties the block.
    pub(super) fn parse(&mut self, csv: Option<&Csv>, items: &mut Vec<Item>, rejects: &mut Vec<Reject>) {
        if self.marks.is_empty() {
            return;
        }
        self.text.push(b']');
        let known = items.len();
        items.reserve(self.marks.len());
        let mut entities = Reader::new().page(&self.text);
        for mark in &self.marks {
            let Some(Ok(entity)) = entities.next() else { break };
            items.push(Item::new(mark.line, mark.place, entity));
        }
        let is_whole = items.len() - known == self.marks.len() && entities.next().is_none();
        if !is_whole {
            // One of them is wrong: each is read by itself.
            items.truncate(known);
            self.parse_each(csv, items, rejects);
        }
        self.text.clear();
        self.marks.clear();
        self.records.clear();
    }

    fn parse_each(&self, csv: Option<&Csv>, items: &mut Vec<Item>, rejects: &mut Vec<Reject>) {
        let mut record_from = 0;
        for mark in &self.marks {
            let text = self.text.get(mark.from..mark.to).unwrap_or_default();
            match Reader::new().entity(text) {
                Ok(entity) => items.push(Item::new(mark.line, mark.place, entity)),
                Err(error) => {
                    let record = self.records.get(record_from..mark.record).unwrap_or_default();
                    let at = error.position().unwrap_or_default();
                    let (line, column) = match csv {
                        Some(csv) => csv.place_of(mark.line, record, at),
                        None => place_in(mark.line, text, at),
                    };
                    rejects.push(Reject {
                        line,
                        column: Some(column),
                        code: error.code(),
                        message: error.reason().to_owned(),
                        keys: None,
                    });
                }
            }
            record_from = mark.record;
        }
    }
}

/// Returns the line and the column of a byte of a text that begins at this line.
pub(super) fn place_in(line: u64, text: &[u8], at: usize) -> (u64, u64) {
    let before = text.get(..at).unwrap_or(text);
    let lines = memchr::memchr_iter(b'\n', before).count();
    let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
    let own = text.get(start..).unwrap_or_default();
    (line + u64::try_from(lines).unwrap_or_default(), column(own, at.min(text.len()) - start))
}
