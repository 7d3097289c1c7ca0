//! Tables and files into the tables of a store.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use table_core::odata::Source;
use table_core::{ErrorKind, Query, Tables};

use super::blobs::BlobReader;
use super::blobs::contents::Contents;
use super::compare::{Compared, Side, compare};
use super::copy_journal::{CopyJournal, Noted, Part, Plan};
use super::counts::Counts;
use super::files;
use super::import::{Chunks, Import};
use super::kinds::Kinds;
use super::load::{Loader, Mode, Writing};
use super::notes::Progress;
use super::pull::{GATHERED, Pull, entity_of};
use super::read::{Chunk, FileReader, Item, Place, Types};
use super::reject::Rejects;
use super::scan::{Scan, Takes, Wanted};
use crate::bar::{Bar, Unit};
use crate::declared::Structs;
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
    /// Whether a commit is on the disk with the next one alone.
    pub(crate) is_relaxed: bool,
    /// Whether what was written is compared with what was read.
    pub(crate) verifies: bool,
    pub(crate) wanted: Wanted,
    /// How many rows the tables of the source have, as far as it counts them.
    pub(crate) rows: BTreeMap<String, u64>,
    /// The kinds that the program has structs of.
    pub(crate) structs: Structs,
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

    /// Returns the rows; `kinds` are those of the target, by which values of a file have types where they say none.
    fn rows(&self, wanted: &Wanted, kinds: &Kinds) -> Result<Pull, Failure> {
        match self {
            Self::Table(tables, table) => Pull::table(tables, table, wanted),
            Self::File(path) => Pull::file(path, Types::new(kinds.infos(), false)),
        }
    }
}

/// What a copy notes while it runs.
pub(crate) struct Log {
    pub(crate) journal: CopyJournal,
    pub(crate) rejects: Rejects,
    pub(crate) bar: Bar,
}

/// Copies entities into the table of this name; what is not taken goes to the rejects.
pub(crate) fn copy(
    from: &Origin<'_>,
    to: &Tables,
    table: &str,
    copying: &Copying,
    log: &mut Log,
) -> Result<Copied, Failure> {
    let part = Part::Table(table.to_owned());
    let Noted { plan, progress, is_ended } = log.journal.noted(&part);
    let plan = match plan {
        Some(plan) => plan,
        None => plan_of(from, to, table, copying)?,
    };
    let mut counts = progress.counts.clone();
    if !is_ended {
        let (total, unit) = match from {
            Origin::Table(..) => (copying.rows.get(table).copied(), Unit::Rows),
            Origin::File(path) => (files::length_of(path)?, Unit::Bytes),
        };
        log.bar.begin(format!("copy {table}"), total, unit);
        log.journal.enter(&part, plan)?;
        if plan.notes_kinds {
            note_kinds(from, to, table)?;
        }
        counts = write(from, to, table, copying, &mut Written { plan, progress, log })?;
    }
    // The store makes copies of the kinds that it has noted.
    let kinds = Kinds::of(to, table)?;
    let makes_copies = !plan.is_raw && !kinds.infos().is_empty();
    let compared = if copying.verifies && matches!(copying.mode, Mode::Insert | Mode::Replace) {
        let wanted = Wanted {
            // A file is compared as it is: the target has the copies, whether the file has them or not.
            entities_only: matches!(from, Origin::Table(..))
                && (copying.wanted.entities_only || makes_copies),
            has_keys: copying.wanted.has_keys,
            ..Wanted::default()
        };
        log.bar.begin(format!("compare {table}"), None, Unit::Rows);
        let mut first = Side { rows: from.rows(&wanted, &kinds)?, contents: from.contents() };
        let second = Pull::table(to, table, &wanted)?;
        let mut second = Side { rows: second, contents: Contents::Store(to.clone()) };
        let compared = compare(&mut first, &mut second, &mut |_| Ok(()))?;
        Some(compared)
    } else {
        None
    };
    counts.rejected += counts.sealed.values().sum::<u64>();
    Ok(Copied { counts, compared })
}

/// What is written, from where on, and where that is noted.
struct Written<'w> {
    plan: Plan,
    progress: Progress,
    log: &'w mut Log,
}

/// Writes the entities behind those that are done; returns what became of all.
fn write(
    from: &Origin<'_>,
    to: &Tables,
    table: &str,
    copying: &Copying,
    written: &mut Written<'_>,
) -> Result<Counts, Failure> {
    let progress = std::mem::take(&mut written.progress);
    let Log { journal, rejects, bar } = &mut *written.log;
    let (is_raw, repeated) = (written.plan.is_raw, progress.begun);
    let loader =
        Loader::new(to, table, Writing { mode: copying.mode, is_raw, repeated }, copying.structs.clone())?;
    let types = Types::new(loader.kinds().infos(), false);
    let mut run = Import {
        tables: to,
        loader,
        rejects,
        journal: Some(journal),
        on_disk: copying.is_relaxed.then(|| progress.clone()),
        progress,
        blobs: Some(BlobReader::new(from.contents())),
        bar,
        secrets: BTreeMap::new(),
    };
    match from {
        Origin::Table(tables, name) => {
            let mut scan = Scan::new(tables, name, &copying.wanted)?;
            run.secrets = scan.kinds().secrets();
            if let Some((partition, row)) = run.progress.keys.clone() {
                scan.go_behind(partition, row);
            }
            let number = run.progress.done.line.saturating_sub(1);
            run.run(Scanning { scan, is_ended: false, number })?;
        }
        Origin::File(path) => {
            let mut reader = FileReader::open(path, types)?;
            if run.progress.done.offset > 0 {
                reader.go_to(run.progress.done, files::length_of(path)?.unwrap_or_default())?;
            }
            run.run(reader)?;
        }
    }
    let mut progress = run.progress;
    progress.reject_bytes = written.log.rejects.write(&[])?;
    written.log.journal.end(&progress)?;
    Ok(progress.counts)
}

/// Settles how the rows of a table are written: as they are, with the copies that they come with, where the target has neither
/// kinds nor rows and nothing is to be sealed anew; it gets the kinds then.
fn plan_of(from: &Origin<'_>, to: &Tables, table: &str, copying: &Copying) -> Result<Plan, Failure> {
    let as_it_is = Plan { is_raw: copying.is_raw, notes_kinds: false };
    let Origin::Table(tables, name) = from else { return Ok(as_it_is) };
    let target = to.create_table_if_missing(table)?;
    let (kinds, known) = (Kinds::of(tables, name)?, Kinds::of(to, table)?);
    if !known.infos().is_empty() || !target.page(&Query::new(), 1, None)?.entities.is_empty() {
        return Ok(as_it_is);
    }
    let has_copies = !kinds.infos().is_empty() && !kinds.seal() && !copying.wanted.entities_only;
    Ok(Plan { is_raw: copying.is_raw || has_copies, notes_kinds: !kinds.infos().is_empty() })
}

/// Notes the kinds of a table in the target.
fn note_kinds(from: &Origin<'_>, to: &Tables, table: &str) -> Result<(), Failure> {
    let Origin::Table(tables, name) = from else { return Ok(()) };
    let target = to.dynamic_table(table)?;
    for kind in Kinds::of(tables, name)?.infos() {
        match kind.note_in(&target) {
            // A target that keeps no such notes has the rows alone.
            Err(error) if matches!(error.kind(), ErrorKind::KeyUnavailable | ErrorKind::Unsupported) => {}
            noted => drop(noted?),
        }
    }
    Ok(())
}

/// The rows of a table as chunks.
struct Scanning {
    scan: Scan,
    is_ended: bool,
    /// How many rows were given before.
    number: u64,
}

impl Chunks for Scanning {
    fn chunk(&mut self) -> Result<Option<Chunk>, Failure> {
        if self.is_ended {
            return Ok(None);
        }
        let mut gather = Gather { items: Vec::new(), number: self.number, bytes: 0 };
        while !self.is_ended && gather.items.len() < CHUNK_ENTITIES && gather.bytes < GATHERED {
            self.is_ended = !self.scan.page(&mut gather)?;
        }
        self.number = gather.number;
        // What is given is counted when it is written.
        let left_out = Counts { read: 0, ..self.scan.take_counts() };
        Ok(Some(Chunk {
            items: gather.items,
            to: Place { offset: 0, line: self.number + 1 },
            keys: Some(self.scan.last().clone()),
            left_out,
            ..Chunk::default()
        }))
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
        let place = Place { offset: 0, line: self.number };
        self.items.push(Item::new(self.number, place, entity));
        Ok(if self.bytes < GATHERED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    }

    fn page(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}
