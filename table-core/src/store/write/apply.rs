//! Carrying out prepared plans inside one write transaction.
//!
//! A plan that is refused leaves the transaction as it was: conditions are looked at before the first put, and
//! rows that are to be new are put first, with "no overwrite", and taken back if one of them is there. An error of
//! LMDB is another matter: it spoils the transaction, and the whole group is run again without its culprit.

use super::encoded::{EncodedRange, EncodedRow, EncodedStep, Image, Prepared};
use super::numbering::encode_now;
use super::range::{self, Ground};
use super::transaction::{Touched, Transaction, touched};

use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::plan::{Act, Condition, Refused};
use crate::row::encode::Place;
use crate::row::row_write::RowWriter;
use crate::row::version::{Proof, check_condition};
use crate::row::view::RowView;
use crate::row::{self, Row, key};
use crate::sealing::sign;
use crate::store::blobs::{BlobBooks, Sealed};
use crate::store::lmdb::{self, Databases, Db, WriteTxn};
use crate::store::open::{self, Environment, Explored, Tree};
use crate::store::records::features::Feature;
use crate::store::records::lives;
use crate::store::scan::read;

/// So many rows can be put before LMDB might write a changed page early: it does when it has changed 131,000, and a row
/// changes at most two for each level of its tree, and those of its own.
pub(super) const FEW_PUTS: usize = 2_048;

/// What a transaction works with. It is kept for the next one, which needs no memory of its own then.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// How many rows the transaction has put or deleted.
    pub(super) puts: usize,
    /// What is known of the tree that it began with.
    pub(super) explored: Explored,
    /// Room for the tables that are written to.
    pub(super) tables: Vec<Touched>,
    /// Rows that could only be put into bytes in the transaction.
    pub(super) rows: Vec<u8>,
    pub(super) applied: Vec<AppliedRow>,
    /// What the lists of a plan that is being examined are to say, where that is too much for their rows.
    pub(super) lists: Vec<Sealed>,
    pub(super) writer: RowWriter,
    pub(super) order: Vec<Place>,
}

/// More bytes of rows are not kept from one transaction to the next.
const MOST_KEPT: usize = 1 << 20;

impl Scratch {
    /// Forgets what the transaction knew: another may have it.
    pub(super) fn end(mut self: Box<Self>) -> Option<Box<Self>> {
        self.puts = 0;
        self.explored.begin();
        self.rows.clear();
        self.applied.clear();
        self.tables.clear();
        (self.rows.capacity() <= MOST_KEPT).then_some(self)
    }
}

/// The applied form of a row's change: what is to happen to the row, once every condition of the plan holds.
#[derive(Debug)]
pub(super) struct AppliedRow {
    /// The row that is there, if it gives way.
    old: Option<OldRow>,
    new: New,
}

impl AppliedRow {
    /// What is left to be done of a row that has been inserted, or stays as it is.
    const DONE: Self = Self { old: None, new: New::Nothing };

    /// What comes in the place of what is there; `None` if that stays, or if there is nothing and nothing comes.
    pub(super) fn coming(&self) -> Option<&New> {
        if self.old.is_none() && matches!(self.new, New::Nothing) { None } else { Some(&self.new) }
    }

    pub(super) fn of(old: Option<OldRow>, new: New) -> Self {
        if matches!(new, New::Kept) { Self::DONE } else { Self { old, new } }
    }
}

/// What is still needed of a row that gives way.
#[derive(Debug)]
pub(super) struct OldRow {
    /// Of its key and its bytes.
    length: usize,
    checksum: u64,
    timestamp: Ticks,
}

impl OldRow {
    /// A row that is so long with its key.
    pub(super) fn of(row: &Row<'_>, length: usize) -> Self {
        Self { length, checksum: row.checksum(), timestamp: row.timestamp() }
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

#[derive(Debug)]
pub(super) enum New {
    Nothing,
    /// What is there.
    Kept,
    FromPlan,
    Scratch(std::ops::Range<usize>),
}

impl<'e> Transaction<'e> {
    /// Carries out a plan. The outer error spoils the transaction; the inner one refuses the plan alone.
    pub(crate) fn apply(&mut self, plan: &mut Prepared) -> Result<Result<Ticks, Refused>> {
        if let Err(refused) = plan.sealed_at.check() {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        if let Some(step) = plan.step.as_deref().filter(|_| plan.is_step_alone()) {
            return Ok(self.carry_step(step)?.map_err(|error| plan.locate_group(error, 0)));
        }
        self.scratch.lists.clear();
        let timestamp = match self.begin_plan(plan) {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Some(step) = &plan.step
            && let Err(refused) = self.check_step(step)
        {
            return Ok(Err(plan.locate_group(refused, 0)));
        }
        let drafted = match self.draft_errands(plan, timestamp) {
            Ok(drafted) => drafted,
            Err(error) => return Ok(Err(plan.locate_group(error, 0))),
        };
        let is_blind = plan.is_blind();
        let mut examined = if is_blind { Ok(()) } else { self.writing().examine(plan) };
        let mut blobs = None;
        let has_blobs = || plan.blobs.is_some() || !self.scratch.lists.is_empty();
        if examined.is_ok() && (has_blobs() || self.meta.features.has(Feature::BlobRows)) {
            match self.draft_blobs(plan, timestamp) {
                Ok(drafted) => blobs = drafted,
                Err(error) => examined = Err(plan.locate_all(error)),
            }
        }
        let done = match examined {
            Err(refused) if is_blind => Err(refused),
            Ok(()) if is_blind => self.writing().insert(plan, timestamp)?,
            examined => self.writing().change(plan, timestamp, examined)?,
        };
        if done.is_ok() {
            self.carry_out(drafted, plan)?;
            self.carry_out_blobs(blobs, plan)?;
            if let Some(step) = &plan.step {
                self.write_step(step)?;
            }
        }
        Ok(done.map(|()| {
            self.state = None;
            self.meta.high_water = timestamp;
            timestamp
        }))
    }

    /// What one plan works with.
    pub(super) fn writing(&mut self) -> Writing<'_, 'e> {
        Writing {
            environment: self.environment,
            dbs: self.dbs,
            txn: &mut self.txn,
            state: self.state,
            tables: &mut self.tables,
            scratch: &mut self.scratch,
            records: self.records,
            tree: &mut self.tree,
            blobs: Blobs { db: self.blobs, books: self.blob_books.as_deref(), begun: self.begun },
        }
    }

    /// Writes how far a job is, if it is where the step begins. The outer error spoils the transaction.
    fn carry_step(&mut self, step: &EncodedStep) -> Result<Result<Ticks>> {
        let timestamp = match self.next_timestamp() {
            Ok(timestamp) => timestamp,
            Err(refused) => return Ok(Err(refused)),
        };
        if let Err(refused) = self.check_step(step) {
            return Ok(Err(refused));
        }
        self.write_step(step)?;
        self.state = None;
        Ok(Ok(timestamp))
    }

    /// Whether a job is where its step begins.
    fn check_step(&mut self, step: &EncodedStep) -> Result<()> {
        let EncodedStep { table, step } = step;
        self.touch(table)?;
        if step.epoch.is_some_and(|epoch| !table.is_epoch(&epoch)) {
            return Err(another_epoch());
        }
        match lives::job(self.dbs, &self.txn, table.id, &step.name) {
            Ok(found) if found.as_ref() == Some(&step.from) => Ok(()),
            Ok(_) => Err(overtaken(&step.name)),
            Err(damaged) => Err(damaged),
        }
    }

    /// Writes how far a job is then.
    fn write_step(&mut self, step: &EncodedStep) -> Result<()> {
        let EncodedStep { table, step } = step;
        let to = (step.name.as_str(), step.to.as_ref());
        lives::write_job(self.dbs, &mut self.txn, &mut self.meta, table.id, to)
    }

    /// Looks at the tables of a plan; the time that it gets.
    fn begin_plan(&mut self, plan: &Prepared) -> Result<Ticks, Refused> {
        let timestamp = self.next_timestamp().map_err(|refused| plan.locate_all(refused))?;
        for (number, group) in plan.groups.iter().enumerate() {
            let at = self.touch(&group.table).map_err(|refused| plan.locate_first(refused, number))?;
            let Some(touched) = self.tables.get_mut(at) else { continue };
            touched.before_plan = touched.counts;
            touched.known = touched.grown.as_ref().map(|grown| grown.0.len());
            let checked = touched.state.check_declarations(group.declarations.iter().copied());
            checked.map_err(|refused| plan.locate_first(refused, number))?;
            if !group.epochs.iter().all(|epoch| touched.state.is_epoch(epoch)) {
                return Err(plan.locate_group(another_epoch(), number));
            }
            touched.state.check_kinds(plan, number)?;
        }
        Ok(timestamp)
    }
}

/// The parts of a transaction that one plan works with.
pub(super) struct Writing<'g, 'e> {
    pub(super) environment: &'e Environment,
    pub(super) dbs: &'e Databases,
    pub(super) txn: &'g mut WriteTxn<'e>,
    /// As the transaction has it.
    pub(super) state: Option<usize>,
    pub(super) tables: &'g mut [Touched],
    pub(super) scratch: &'g mut Scratch,
    pub(super) records: Option<Tree>,
    pub(super) tree: &'g mut Option<Tree>,
    pub(super) blobs: Blobs<'g>,
}

/// What is known of blobs in a transaction.
#[derive(Clone, Copy)]
pub(super) struct Blobs<'g> {
    pub(super) db: Option<Db>,
    pub(super) books: Option<&'g BlobBooks>,
    /// The latest time before the transaction: what is later is its own.
    pub(super) begun: Ticks,
}

impl Writing<'_, '_> {
    /// Carries out a plan whose conditions were looked at. The outer error spoils the transaction.
    pub(super) fn change(
        &mut self,
        plan: &mut Prepared,
        timestamp: Ticks,
        examined: Result<(), Refused>,
    ) -> Result<Result<(), Refused>> {
        let done = match examined {
            Ok(()) => self.insert(plan, timestamp)?,
            refused => refused,
        };
        if let Err(refused) = done {
            // Names that only a refused plan brought are forgotten.
            for group in plan.groups.iter() {
                let Some(touched) = touched(self.tables, group) else { continue };
                match (&mut touched.grown, touched.known) {
                    (Some(grown), Some(known)) => grown.0.truncate(known),
                    (grown, None) => *grown = None,
                    (None, Some(_)) => {}
                }
            }
            return Ok(Err(refused));
        }
        self.put(plan, timestamp).map(Ok)
    }

    /// The table of a group of the plan.
    pub(super) fn touched_by(&self, plan: &Prepared, group: usize) -> Option<&Touched> {
        let group = plan.groups.get(group)?;
        self.tables.iter().find(|touched| touched.state.id == group.table.id)
    }

    /// Looks at the old rows, checks every condition and puts into bytes what is not yet. Writes nothing.
    ///
    /// Rows that are put without a look are looked at only where another is refused: the first that is refused is the
    /// one that is spoken of.
    fn examine(&mut self, plan: &Prepared) -> Result<(), Refused> {
        self.scratch.rows.clear();
        self.scratch.applied.clear();
        self.scratch.applied.reserve(plan.rows.len());
        for (index, row) in plan.rows.iter().enumerate() {
            if row.is_blind() {
                self.scratch.applied.push(AppliedRow::DONE);
                continue;
            }
            self.scratch.explored.forget_way();
            let examined = self.known(row).map_or_else(|| self.examine_row(plan, row), Ok);
            match examined.and_then(|applied| self.reached(plan, row, applied)) {
                Ok(applied) => self.scratch.applied.push(applied),
                Err(refused) => {
                    let before = plan.rows.iter().enumerate().take(index);
                    let first = before
                        .filter(|(_, row)| row.is_blind())
                        .find_map(|(index, row)| Some((index, self.examine_row(plan, row).err()?)));
                    let (index, refused) = first.unwrap_or((index, refused));
                    return Err(plan.locate(refused, index));
                }
            }
        }
        self.scratch.explored.forget_way();
        for addition in &plan.additions {
            match self.examine_addition(plan, addition) {
                Ok(applied) => self.scratch.applied.push(applied),
                Err(refused) => return Err(plan.locate_addition(refused, addition)),
            }
        }
        plan.unchanged.iter().try_for_each(|range| self.examine_range(plan, range))
    }

    /// Makes sure that LMDB comes to a row that is going to give way.
    fn reached(&mut self, plan: &Prepared, row: &EncodedRow, applied: AppliedRow) -> Result<AppliedRow> {
        let Some(old) = &applied.old else { return Ok(applied) };
        let key = plan.key(row);
        let new = match &applied.new {
            New::Kept => return Ok(applied),
            New::Nothing => None,
            New::FromPlan => Some(plan.length(row)),
            New::Scratch(range) => Some(key.len() + range.len()),
        };
        let lengths = (old.length, new);
        self.check_change(key, lengths)?;
        Ok(applied)
    }

    /// Whether all rows of a range are those that were read.
    #[cold]
    fn examine_range(&self, plan: &Prepared, range: &EncodedRange) -> Result<(), Refused> {
        let is_settled = self.scratch.puts <= FEW_PUTS;
        let state = open::state_of_write(self.txn);
        let has_written = self.scratch.puts > 0;
        let ground = Ground { environment: self.environment, state, has_written, is_settled };
        let refused = match range::digest(&ground, self.txn, plan.prefix(range)) {
            Ok(digest) if digest == range.digest => return Ok(()),
            Ok(_) => key::locate(
                Error::new(ErrorKind::ConditionNotMet)
                    .because("the rows whose keys begin so are not those that were read"),
                plan.prefix(range),
            ),
            Err(damaged) => damaged,
        };
        Err(plan.locate_group(refused.attempted("rely on"), range.group))
    }

    /// The change of a row that was read in the very state that the transaction began with: nobody has written since,
    /// and it was found sound then.
    fn known(&self, row: &EncodedRow) -> Option<AppliedRow> {
        let Condition::Is(version) = row.condition else { return None };
        let new = match row.act {
            Act::Put(Image::Ready(_)) => New::FromPlan,
            Act::Remove => New::Nothing,
            Act::Keep => New::Kept,
            _ => return None,
        };
        let Proof { checksum, length, state } = Proof::of(&version);
        if state.is_none() || state != self.state {
            return None;
        }
        let old = OldRow { length, checksum, timestamp: version.etag.timestamp() };
        Some(AppliedRow::of(Some(old), new))
    }

    pub(super) fn examine_row(&mut self, plan: &Prepared, row: &EncodedRow) -> Result<AppliedRow> {
        let (key, seed) = (plan.key(row), row.seed);
        let new = match &row.act {
            Act::Keep => New::Kept,
            Act::Remove => New::Nothing,
            Act::Put(Image::Ready(_)) | Act::Merge(Image::Ready(_)) => New::FromPlan,
            Act::Put(Image::Deferred(deferred)) | Act::Merge(Image::Deferred(deferred)) => {
                let group = plan.groups.get(row.group);
                let Some(touched) = group.and_then(|group| touched(self.tables, group)) else {
                    return Err(Error::new(ErrorKind::TableNotFound));
                };
                New::Scratch(encode_now(self.dbs, self.txn, touched, self.scratch, deferred, seed)?)
            }
        };
        // Before the transaction has written, what it sees lies in the map.
        let found = match self.tree()?.filter(|_| self.state.is_some()) {
            Some(tree) => tree.row_to_change(self.environment, self.txn, key, &mut self.scratch.explored)?,
            None => self.dbs.data.get(self.txn, key).map_err(lmdb::error)?,
        };
        let old = match found {
            None => {
                // Else another plan has removed it.
                if !self.lacked(key, plan.length(row))? && self.state.is_some() {
                    return Err(read::out_of_order());
                }
                None
            }
            Some(bytes) => {
                self.check_value(bytes)?;
                let old = Row::parse(bytes)?;
                old.verify(seed)?;
                Some((old, key.len() + bytes.len()))
            }
        };
        let old_row = old.as_ref().map(|(row, _)| row);
        let writes = row.act.content().is_some();
        if writes && old_row.is_some_and(Row::is_signed) && !plan.signs(row) {
            return Err(sign::needs_its_struct());
        }
        if let Some(old) = old_row.filter(|_| {
            !row.act.keeps() && !matches!(row.condition, Condition::Absent | Condition::StillAbsent)
        }) {
            self.check_old(plan, row, old)?;
        }
        check_condition(old_row, row.condition)?;
        let new = match (&row.act, old_row) {
            (Act::Merge(image), Some(old)) => {
                let bytes = match (&new, image) {
                    (New::Scratch(range), _) => self.scratch.rows.get(range.clone()).unwrap_or_default(),
                    (_, Image::Ready(range)) => plan.image(range),
                    (_, Image::Deferred(..)) => &[],
                };
                let whole = self.merge(plan, row, old, bytes)?;
                let from = self.scratch.rows.len();
                self.scratch.rows.extend_from_slice(&whole);
                let whole = from..self.scratch.rows.len();
                New::Scratch(whole)
            }
            _ => new,
        };
        let old = old.map(|(row, length)| OldRow::of(&row, length));
        Ok(AppliedRow::of(old, new))
    }

    /// Checks that what was found lies in its page, that the page is in use, and that its pages are its own.
    pub(super) fn check_value(&self, bytes: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let Some(pages) = self.dbs.pages.filter(|pages| pages.of(bytes).is_some()) else { return Ok(()) };
        // But where it has changed very much, LMDB writes some of it early, on pages that were free.
        if self.scratch.puts > FEW_PUTS {
            return Ok(());
        }
        pages.check_value(bytes)?;
        if !pages.is_own(bytes) {
            return Err(lmdb::damaged_page());
        }
        let state = open::state_of_write(self.txn);
        self.environment.check_in_use(self.txn, state, bytes)?;
        self.environment.check_run(self.txn, state, bytes)
    }

    /// Refuses to change a row that is there if it is one of a declared kind, which is not the plan's to change.
    fn check_old(&self, plan: &Prepared, row: &EncodedRow, old: &Row<'_>) -> Result<()> {
        let guards = |touched: &&Touched| touched.state.guards_against(plan, row.group);
        let Some(touched) = self.touched_by(plan, row.group).filter(guards) else { return Ok(()) };
        let dict = self.dict_for(touched, old)?;
        touched.state.check_old(&RowView::new(plan.key(row), *old, dict, false))
    }

    /// Puts and deletes what was found right.
    fn put(&mut self, plan: &mut Prepared, timestamp: Ticks) -> Result<()> {
        let Scratch { rows, applied, puts, .. } = &mut *self.scratch;
        *puts += applied.len();
        for (index, applied) in applied.iter().enumerate() {
            let Some((group, seed, _)) = plan.target(index) else { continue };
            let group = plan.groups.get(group);
            let Some(touched) = group.and_then(|group| touched(self.tables, group)) else { continue };
            let counts = &mut touched.counts;
            if let Some(old) = &applied.old {
                counts.subtract(old.length, old.checksum);
            }
            let timestamp = match &applied.old {
                Some(old) if plan.keeps_times => old.timestamp,
                _ => plan.as_of.unwrap_or(timestamp),
            };
            let (key, image, seed) = match &applied.new {
                New::Kept => continue,
                New::Nothing if applied.old.is_none() => continue,
                New::Nothing => {
                    let (.., key) = plan.target(index).unwrap_or_default();
                    self.dbs.data.delete(self.txn, key).map_err(lmdb::error)?;
                    continue;
                }
                New::Scratch(range) => {
                    let (.., key) = plan.target(index).unwrap_or_default();
                    (key, rows.get_mut(range.clone()).unwrap_or_default(), seed)
                }
                New::FromPlan => plan.key_and_image(index),
            };
            let checksum = row::stamp(image, timestamp, seed);
            counts.add(key.len() + image.len(), checksum);
            self.dbs.data.put(self.txn, key, image).map_err(lmdb::error)?;
        }
        Ok(())
    }
}

/// The refusal of a plan that keeps other indexes than are to be kept now.
#[cold]
fn another_epoch() -> Error {
    Error::new(ErrorKind::ConditionNotMet)
        .because("an index of the kind has come, gone or become ready meanwhile; plan the change again")
}

/// The refusal of a step that somebody else has carried out, or of a job that has ended meanwhile.
#[cold]
fn overtaken(name: &str) -> Error {
    Error::new(ErrorKind::ConditionNotMet).because(format!(
        "somebody else goes on with the job `{name}`, or it has ended; look again at how far it is"
    ))
}
