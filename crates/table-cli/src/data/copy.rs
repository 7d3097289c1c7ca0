//! Tables and files into the tables of a store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use table_core::odata::Source;
use table_core::{ErrorKind, Query, Tables};

use super::blobs::BlobReader;
use super::blobs::contents::Contents;
use super::compare::{Compared, Side, compare};
use super::counts::Counts;
use super::import::{Chunks, Import};
use super::journal::Progress;
use super::kinds::Kinds;
use super::load::{Loader, Mode, Writing};
use super::pull::{GATHERED, Pull, entity_of};
use super::read::{Chunk, FileReader, Item, Types};
use super::reject::Rejects;
use super::scan::{Scan, Takes, Wanted};
use crate::failure::Failure;

/// So many entities are given at once at least, unless there are no more.
const CHUNK_ENTITIES: usize = 5_000;

/// What entities are copied from.
pub(crate) enum Origin<'o> {
    /// A table of a store.
    Table(&'o Tables, &'o str),
    /// A file with the entities of one table.
    File(&'o Path),
}

/// How a table is copied.
#[derive(Debug)]
pub(crate) struct Copying {
    pub(crate) mode: Mode,
    pub(crate) is_raw: bool,
    /// Whether what was written is compared with what was read.
    pub(crate) verifies: bool,
    pub(crate) wanted: Wanted,
}

/// What became of a table.
#[derive(Debug, Default)]
pub(crate) struct Copied {
    pub(crate) counts: Counts,
    pub(crate) compared: Option<Compared>,
}

impl Origin<'_> {
    fn contents(&self) -> Contents {
        match self {
            Self::Table(tables, _) => Contents::Store((*tables).clone()),
            Self::File(path) => Contents::beside(path),
        }
    }

    fn rows(&self, wanted: &Wanted) -> Result<Pull, Failure> {
        match self {
            Self::Table(tables, table) => Pull::table(tables, table, wanted),
            Self::File(path) => Pull::file(path),
        }
    }
}

/// Copies entities into the table of this name; what is not taken goes to `rejects`.
pub(crate) fn copy(
    from: &Origin<'_>,
    to: &Tables,
    table: &str,
    copying: &Copying,
    rejects: Rejects,
) -> Result<(Copied, Rejects), Failure> {
    let is_raw = copying.is_raw || (note_kinds(from, to, table)? && !copying.wanted.entities_only);
    let writing = Writing { mode: copying.mode, is_raw, repeated: 0 };
    let loader = Loader::new(to, table, writing)?;
    let types = Types::new(loader.kinds().infos(), false);
    // The store makes copies of the kinds that it has noted.
    let makes_copies = !is_raw && !loader.kinds().infos().is_empty();
    let mut run = Import {
        tables: to,
        loader,
        rejects,
        journal: None,
        progress: Progress::default(),
        blobs: Some(BlobReader::new(from.contents())),
        secrets: BTreeMap::new(),
    };
    let mut counts = match from {
        Origin::Table(tables, name) => {
            let scan = Scan::new(tables, name, &copying.wanted)?;
            run.secrets = scan.kinds().secrets();
            let left_out = Scanning::new(scan).run(&mut run)?;
            let mut counts = run.progress.counts.clone();
            counts.copies += left_out.copies;
            counts.sealed = left_out.sealed;
            counts
        }
        Origin::File(path) => run.run(FileReader::open(path, types)?)?,
    };
    let compared = if copying.verifies && matches!(copying.mode, Mode::Insert | Mode::Replace) {
        let wanted = Wanted {
            // A file is compared as it is: the target has the copies, whether the file has them or not.
            entities_only: matches!(from, Origin::Table(..))
                && (copying.wanted.entities_only || makes_copies),
            has_keys: copying.wanted.has_keys,
            ..Wanted::default()
        };
        let mut first = Side { rows: from.rows(&wanted)?, contents: from.contents() };
        let second = Pull::table(to, table, &wanted)?;
        let mut second = Side { rows: second, contents: Contents::Store(to.clone()) };
        let compared = compare(&mut first, &mut second, &mut |_| Ok(()))?;
        Some(compared)
    } else {
        None
    };
    counts.rejected += counts.sealed.values().sum::<u64>();
    Ok((Copied { counts, compared }, run.rejects))
}

/// Notes the kinds of a table in the target, if that has neither kinds nor rows. Returns whether rows can be written as they are,
/// with the copies that they come with: nothing is to be sealed anew.
fn note_kinds(from: &Origin<'_>, to: &Tables, table: &str) -> Result<bool, Failure> {
    let Origin::Table(tables, name) = from else { return Ok(false) };
    let target = to.create_table_if_missing(table)?;
    let (kinds, known) = (Kinds::of(tables, name)?, Kinds::of(to, table)?);
    if !known.infos().is_empty() || !target.page(&Query::new(), 1, None)?.entities.is_empty() {
        return Ok(false);
    }
    for kind in kinds.infos() {
        match kind.note_in(&target) {
            // A target that keeps no such notes has the rows alone.
            Err(error) if matches!(error.kind(), ErrorKind::KeyUnavailable | ErrorKind::Unsupported) => {}
            noted => drop(noted?),
        }
    }
    Ok(!kinds.infos().is_empty() && !kinds.seal())
}

/// The rows of a table as chunks.
struct Scanning {
    scan: Scan,
    is_ended: bool,
    number: u64,
    left_out: Counts,
}

impl Scanning {
    fn new(scan: Scan) -> Self {
        Self { scan, is_ended: false, number: 0, left_out: Counts::default() }
    }

    /// Writes all rows; returns how many were left out.
    fn run(mut self, run: &mut Import<'_>) -> Result<Counts, Failure> {
        run.run(&mut self)?;
        Ok(self.left_out)
    }
}

impl Chunks for &mut Scanning {
    fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
        if self.is_ended {
            return Ok(None);
        }
        let mut gather = Gather { items: Vec::new(), number: self.number, bytes: 0 };
        while !self.is_ended && gather.items.len() < CHUNK_ENTITIES && gather.bytes < GATHERED {
            self.is_ended = !self.scan.page(&mut gather)?;
        }
        self.number = gather.number;
        let left_out = self.scan.take_counts();
        self.left_out.add(&left_out);
        Ok(Some(Chunk { items: gather.items, ..Chunk::default() }))
    }
}

/// Gathers rows as entities, with their numbers.
struct Gather {
    items: Vec<Item>,
    number: u64,
    bytes: usize,
}

impl Takes for Gather {
    fn row(&mut self, row: &impl Source) -> Result<ControlFlow<()>, Failure> {
        self.number += 1;
        let entity = entity_of(row)?;
        self.bytes += entity.size();
        self.items.push(Item { line: self.number, entity });
        Ok(if self.bytes < GATHERED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn page(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}
