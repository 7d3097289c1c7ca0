//! Making right again what a check finds wrong.
//!
//! A repair goes over the tables where an entity's rows lie, then over its summaries and its index lists, and over all of that
//! again if it has mended something, since what a first pass removes makes room for the second. What it has counted lies in
//! its record: a program that goes on with it reports what was found and mended from the beginning.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::hash::xxh3_64;

use super::blobs::open_blobs;
use super::check::{as_stored, open_outbox};
use super::kind::{JobKind, of_struct};
use super::report::{COUNTS, CopyProblem, CopyReport};
use super::shared_rows::{self, SharedRows};
use super::verify_copies::{At, Place, Wrong};
use super::{Job, Step, StepOutcome, Work};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, Loader, ScanRanges, StepSize};
use crate::handle::table::DynamicTable;
use crate::model::IfMatch;
use crate::plan::Epoch;
use crate::query::Query;
use crate::schema::{self, IndexMask, Schema};
use crate::sealing::SealedAt;
use crate::typed::change::before::is_closed;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, plan_only};
use crate::typed::entity::Entity;
use crate::typed::table::Table;

/// How often a repair goes over everything at most.
const PASSES: u64 = 3;

impl<E: Entity> Table<E> {
    /// A job that makes every copy right again that [`check`](Self::check) finds wrong: what is missing or stale is written as the
    /// entity says, and orphans go; summaries and index lists are made to say what the entities do; a field that refers to a blob
    /// which the store does not have, another store's mostly, becomes the empty blob. What two entities both
    /// claim in a unique index stays wrong.
    ///
    /// It goes over the rows in steps, beside those who read and write; a summary and the lists of an index are compared in
    /// one snapshot each, and put right in steps. The report has what was found first, and how much was mended, from its
    /// beginning on, also by a process that was killed. By name it has what this handle has found. A program that declares
    /// the entity otherwise begins anew.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # #[index(by_email, row = "email_{email}", unique)]
    /// # struct Employee { department: String, id: u32, email: String }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// # let employee = |id| Employee { department: "Sales".into(), id, email: format!("{id}@contoso.com") };
    /// # staff.bulk_insert((0..1_000).map(employee))?.into_result()?;
    /// let raw = staff.dynamic().raw();
    /// for id in 0..700 {
    ///     raw.delete("Sales", &format!("email_{id}@contoso.com"))?;
    /// }
    /// let mut job = staff.repair()?;
    /// job.step()?;
    /// drop(job); // or the process is killed
    /// assert_eq!((&*store.jobs()?[0].name, store.jobs()?[0].changed), ("repair employee", 500));
    ///
    /// let report = staff.repair()?.run()?;
    /// assert_eq!((report.missing, report.mended), (700, 700));
    /// assert!(staff.check()?.is_sound() && store.jobs()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repair(&self) -> Result<Job<'static, CopyReport>> {
        repair(self.dynamic(), of_struct::<E>())
    }
}

/// Returns a job that makes every copy of the entities of a kind right again.
pub(crate) fn repair(table: &DynamicTable, kind: &'static dyn JobKind) -> Result<Job<'static, CopyReport>> {
    Job::reporting(table, vec![Box::new(Repair::new(kind))]).begun("repair the copies of")
}

/// The parts of a repair, one after another.
enum Part {
    /// The rows of the table of this number, of those of the kind.
    Rows(usize),
    /// A summary, or the lists of an index: first it is compared, and what is wrong is counted.
    Compare(usize),
    /// Then it is put right.
    Mend(usize),
    /// Nothing is left.
    End,
}

impl Part {
    /// Returns the part of this number.
    fn of(schema: &Schema, tables: usize, number: u8) -> Self {
        let number = usize::from(number);
        let Some(behind) = number.checked_sub(tables) else { return Self::Rows(number) };
        match behind / 2 {
            index if index >= schema.indexes.len() => Self::End,
            index if behind.is_multiple_of(2) => Self::Compare(index),
            index => Self::Mend(index),
        }
    }
}

/// A repair. In its record the phase is the number of its part, the stamp that of its pass, and the counts are those of its
/// report, behind which stand how much is wrong in the pass and how much of it was mended.
struct Repair {
    kind: &'static dyn JobKind,
    asked: String,
    /// What was found in the step at hand, by name.
    found: Vec<CopyProblem>,
    /// The rows whose plans were handed over, in the order of these.
    handed: Vec<Place>,
    /// The rows whose plans were refused once.
    refused: BTreeSet<Place>,
    /// The rows that are left as they are.
    left_out: BTreeSet<Place>,
    /// What compares and puts right the summary, or the lists, at hand.
    shared: Option<Box<dyn SharedRows>>,
}

/// Where the number of what is wrong in a pass stands among the counts, and that of what was mended. Behind them stand the
/// counts of the report that came to it later.
const WRONG: usize = 12;
const MENDED: usize = 13;

/// Returns where a count of the report stands.
fn place_of(number: usize) -> usize {
    if number < WRONG { number } else { number + 2 }
}

impl Repair {
    fn new(kind: &'static dyn JobKind) -> Self {
        Self {
            kind,
            asked: format!("{:016x}", xxh3_64(schema::layout(kind.schema()).as_bytes())),
            found: Vec::new(),
            handed: Vec::new(),
            refused: BTreeSet::new(),
            left_out: BTreeSet::new(),
            shared: None,
        }
    }

    fn schema(&self) -> &'static Schema {
        self.kind.schema()
    }

    /// Returns about how many rows one pass looks at.
    fn total(&self, table: &DynamicTable) -> Result<u64> {
        let count = |table: &DynamicTable| table.exec().jobs()?.row_count();
        let mut total = 0_u64;
        for member in table.family() {
            total = total.saturating_add(count(member)?);
        }
        for index in self.schema().indexes.iter().filter(|index| index.is_shared()) {
            let there = count(table.member(index.place.table.source()))?;
            total = total.saturating_add(count(table)?).saturating_add(there);
        }
        Ok(total)
    }

    /// Returns where the job is with what a step has found and mended.
    fn with(&mut self, at: &JobRecord, mut delta: CopyReport, mended: u64) -> JobRecord {
        let mut to = at.clone();
        to.counts.resize(COUNTS + 2, 0);
        let mut add = |number: usize, more: u64| {
            if let Some(count) = to.counts.get_mut(number) {
                *count = count.saturating_add(more);
            }
        };
        add(WRONG, delta.wrong());
        add(MENDED, mended);
        // What is wrong still was so in the first pass.
        if at.stamp == 0 {
            for (number, count) in delta.counts().into_iter().enumerate() {
                add(place_of(number), *count);
            }
            self.found = delta.problems;
        }
        to.changed = to.changed.saturating_add(mended);
        to
    }

    /// Looks at the next rows of the table of this number, and hands over what mends them. Returns where the job is then.
    fn rows(
        &mut self,
        table: &DynamicTable,
        number: usize,
        index_mask: IndexMask,
        step: Step<'_>,
    ) -> Result<JobRecord> {
        let Step { at, size, loader } = step;
        let Some(there) = table.family().get(number).filter(|_| !at.is_at_end()) else { return Ok(next(at)) };
        // What comes later its writers keep right.
        let at = &at.within(there.exec().jobs()?)?;
        let snapshot = as_stored(table, self.schema())?;
        let (mut delta, mut wrong, mut looked) = (CopyReport::default(), Wrong::default(), 0);
        let (mut last, begun) = (at.position.clone(), Instant::now());
        loop {
            let rows = size.rows.saturating_sub(wrong.rows()).max(1);
            let find = At { kind: self.kind, table, there, number, snapshot: &snapshot, index_mask };
            let (from, step) = (last.as_ref(), StepSize { rows });
            let (end, seen) =
                snapshot.chunk(there, ScanRanges::from(Query::new()), from, step, &mut |_, view| {
                    find.verify_copies(view, &mut delta, &mut wrong)
                })?;
            (last, looked) = (end, looked + seen);
            let is_enough =
                wrong.rows() >= size.rows || looked >= size.looks() || begun.elapsed() >= size.time();
            if last.is_none() || is_enough {
                break;
            }
        }
        drop(snapshot);
        let mended = self.mend(table, index_mask, &wrong, loader)?;
        let mut to = self.with(at, delta, mended);
        to.done += looked;
        Ok(if last.is_some() { JobRecord { position: last, ..to } } else { next(&to) })
    }

    /// Hands over what mends the rows that were found, and returns how many there are. A row that was written meanwhile is left
    /// as it is.
    fn mend(
        &mut self,
        table: &DynamicTable,
        index_mask: IndexMask,
        wrong: &Wrong,
        loader: &mut dyn Loader,
    ) -> Result<u64> {
        self.handed.clear();
        for orphan in &wrong.orphans {
            let epoch = Epoch { kind: self.schema().kind, number: index_mask.epoch };
            if !self.left_out.contains(&orphan.place) {
                let plan = orphan.removal(epoch);
                loader
                    .add(&plan, &SealedAt::NOTHING)
                    .map_err(|refused| plan.explain_refusal(refused).error)?;
                self.handed.push(orphan.place.clone());
            }
        }
        for (partition, row) in wrong.dependents.iter().filter(|keys| !wrong.blobless.has(keys)) {
            let attempt = self.kind.attempt_to_hold_anew(partition, row);
            self.hand_over(table, partition, row, attempt, loader)?;
        }
        wrong.blobless.each(|changes, etag| {
            let keys = (changes.partition_key(), changes.row_key());
            let attempt = self.kind.attempt_to_set(changes, Change::Set(changes, IfMatch::ETag(etag)));
            match self.hand_over(table, keys.0, keys.1, attempt, loader) {
                // An entity whose values can't be opened stays as it is.
                Err(error) if is_closed(&error) => Ok(()),
                done => done,
            }
        })?;
        // A dependent that is written anew above has its copies repaired by the next pass.
        let entities = wrong.entities.difference(&wrong.dependents);
        for (partition, row) in entities.filter(|keys| !wrong.blobless.has(keys)) {
            let attempt = self.kind.attempt(partition, row, Change::RepairCopies);
            self.hand_over(table, partition, row, attempt, loader)?;
        }
        Ok(u64::try_from(self.handed.len()).unwrap_or(u64::MAX))
    }

    /// Hands over the change of the entity of these keys, unless it is left out or another program has written it.
    fn hand_over(
        &mut self,
        table: &DynamicTable,
        partition: &str,
        row: &str,
        mut attempt: EntityAttempt<'_>,
        loader: &mut dyn Loader,
    ) -> Result<()> {
        let place = Place { table: 0, partition: partition.to_owned(), row: row.to_owned() };
        if self.left_out.contains(&place) {
            return Ok(());
        }
        match plan_only::loaded(table, &mut attempt, loader) {
            Ok(true) => self.handed.push(place),
            Ok(false) => {}
            Err(error) if is_another_s(error.kind()) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Returns the record of a job that goes on with the next part.
fn next(at: &JobRecord) -> JobRecord {
    at.in_part(at.phase.saturating_add(1))
}

/// Returns the record of a job that has mended this much more.
fn mended_more(at: &JobRecord, mended: u64) -> JobRecord {
    let mut to = at.clone();
    if let Some(count) = to.counts.get_mut(MENDED) {
        *count = count.saturating_add(mended);
    }
    to.changed = to.changed.saturating_add(mended);
    to
}

/// Returns whether a refusal says that others have written the rows, or claim them.
fn is_another_s(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConditionNotMet
            | ErrorKind::EntityNotFound
            | ErrorKind::EntityAlreadyExists
            | ErrorKind::UniqueConflict
    )
}

impl Work<CopyReport> for Repair {
    fn name(&self) -> String {
        format!("repair {}", self.schema().kind)
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let jobs = table.exec().jobs()?;
        super::check_converted(table, self.schema())?;
        driver::index_mask(Together::alone(table), self.schema(), true)?;
        open_outbox(table, self.schema())?;
        open_blobs(table, self.schema())?;
        if jobs.job(&self.name())?.is_none_or(|begun| begun.asked != self.asked) {
            let begun = JobRecord::new(self.total(table)?, self.asked.clone());
            jobs.keep(&self.name(), Some(&begun))?;
        }
        Ok(true)
    }

    fn step(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<StepOutcome> {
        let at = step.at;
        if at.asked != self.asked {
            let because = "it is repaired by another declaration, which came later";
            return Err(Error::new(ErrorKind::LayoutChanged).because(because));
        }
        self.found.clear();
        self.handed.clear();
        let shared = self.shared.take();
        let index_mask = driver::index_mask(Together::alone(table), self.schema(), true)?;
        let epoch = Epoch { kind: self.schema().kind, number: index_mask.epoch };
        let to = match Part::of(self.schema(), table.family().len(), at.phase) {
            Part::Rows(number) => self.rows(table, number, index_mask, step)?,
            Part::Compare(index) | Part::Mend(index) if !index_mask.is_ready(index) => next(at),
            Part::Compare(index) => match shared_rows::of(self.kind, index) {
                Some(mut rows) => {
                    let mut delta = CopyReport::default();
                    let looked = rows.compare(table, &table.snapshot()?, &mut delta)?;
                    let to = self.with(at, delta, 0);
                    let to = next(&JobRecord { done: to.done + looked, ..to });
                    rows.expect(&to, index_mask.epoch);
                    self.shared = Some(rows);
                    to
                }
                None => next(at),
            },
            Part::Mend(index) => {
                let of_it = shared.filter(|rows| rows.index() == index);
                let Some(mut rows) = of_it.or_else(|| shared_rows::of(self.kind, index)) else {
                    return Ok(StepOutcome::Rows(Some(next(at)), Some(epoch)));
                };
                let then = |mended, _| mended_more(at, mended);
                let made = rows.next(table, &self.name(), epoch, step, &then)?;
                self.shared = Some(rows);
                if let Some(made) = made {
                    return Ok(made);
                }
                next(at)
            }
            Part::End => {
                let of_pass = |number: usize| at.counts.get(number).copied().unwrap_or_default();
                if of_pass(WRONG) == 0 || of_pass(MENDED) == 0 || at.stamp + 1 >= PASSES {
                    return Ok(StepOutcome::Rows(None, Some(epoch)));
                }
                let mut again = JobRecord { phase: 0, done: 0, stamp: at.stamp + 1, ..at.clone() };
                for of_pass in [WRONG, MENDED] {
                    if let Some(count) = again.counts.get_mut(of_pass) {
                        *count = 0;
                    }
                }
                again
            }
        };
        Ok(StepOutcome::Rows(Some(to), Some(epoch)))
    }

    fn leaves_out(&mut self, plan: usize, error: &Error) -> bool {
        if !is_another_s(error.kind()) {
            return false;
        }
        let Some(place) = self.handed.get(plan) else {
            return self.shared.as_mut().is_some_and(|rows| rows.leave_out(plan));
        };
        // After the first refusal the step reads it again, since it may have been written meanwhile.
        if self.refused.insert(place.clone()) {
            return false;
        }
        self.left_out.insert(place.clone());
        true
    }

    fn report(&mut self, now: &JobRecord, report: &mut CopyReport) {
        self.refused.clear();
        self.left_out.clear();
        for (number, count) in report.counts().into_iter().enumerate() {
            *count = now.counts.get(place_of(number)).copied().unwrap_or_default();
        }
        report.mended = now.changed;
        report.name(self.found.drain(..));
    }
}
