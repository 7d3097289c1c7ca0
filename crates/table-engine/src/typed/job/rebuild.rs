//! Making an index: first the rows that an earlier index left are removed, then the copies of the stored entities are added.

use super::kind::{JobKind, of_struct};
use super::repair_summaries::RepairSummaries;
use super::shared_rows::SharedRows;
use super::{Job, Step, StepOutcome, Work, purge, verify_copies};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, Position, Transition};
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, Ticks};
use crate::plan::Epoch;
use crate::schema::{Blocked, IndexEvent, IndexState, IndexStates, KindState, Schema};
use crate::typed::change::driver::Together;
use crate::typed::change::{Change, driver, plan_only};
use crate::typed::entity::Entity;
use crate::typed::table::Table;

impl<E: Entity> Table<E> {
    /// Returns a job that makes every index of the entity which is not ready: one that was added to the struct since the
    /// table has entities, or that is declared otherwise now.
    ///
    /// Until an index is ready, what reads by it is [`IndexBuilding`](crate::ErrorKind::IndexBuilding); all else goes on as
    /// ever, reads and writes. Programs that don't declare the index can't write the kind any more once it begins to be filled.
    ///
    /// While a unique index is being made, it refuses a claim of a key that is in it already. A claim of one that another
    /// entity has which the job has not come to is accepted, and so it is after the index's table was dropped, until the
    /// index is made again. Two entities that claim one key stop the job with
    /// [`UniqueConflict`](crate::ErrorKind::UniqueConflict), which names both, and reads by the index go on to be
    /// `IndexBuilding`, which says so. When one of them is changed or deleted, `rebuild` goes on.
    ///
    /// It ends beside writers that never stop: what is written behind the row that was the table's last when the index began
    /// to be filled is put into the index by the change that writes it.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store};
    /// # mod before {
    /// #     use table_core::Entity;
    /// #     #[derive(Entity)]
    /// #     #[entity(table = "Company", kind = "employee")]
    /// #     #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #     pub struct Employee { pub department: String, pub id: u32, pub email: String }
    /// # }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # store.table::<before::Employee>()?.bulk_insert((0..1_000).map(|id| before::Employee {
    /// #     department: "Sales".into(), id, email: format!("{id}@contoso.com"),
    /// # }))?.into_result()?;
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee")]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #[index(by_email, row = "email_{email}", unique)] // new
    /// struct Employee { department: String, id: u32, email: String }
    ///
    /// let staff = store.table::<Employee>()?;
    /// let by_email = || staff.get(Employee::by_email("Sales", "7@contoso.com"));
    /// assert_eq!(by_email().err().map(|e| e.kind()), Some(ErrorKind::IndexBuilding));
    ///
    /// let mut job = staff.rebuild()?;
    /// while job.step()? {
    ///     println!("{}", job.progress()); // 500 of about 1000 rows, 500 changed, 90000 rows a second
    /// }
    /// assert_eq!(by_email()?.unwrap().id, 7);
    /// assert!(store.jobs()?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rebuild(&self) -> Result<Job<'static>> {
        let table = self.dynamic();
        rebuild(table, of_struct::<E>())
    }
}

/// Returns a job that makes every index of a kind which is not ready.
pub(crate) fn rebuild(table: &DynamicTable, kind: &'static dyn JobKind) -> Result<Job<'static>> {
    super::check_converted(table, kind.schema())?;
    let work = |index| -> Box<dyn Work> { Box::new(Rebuild::of(kind, index)) };
    let works = (0..kind.schema().indexes.len()).map(work).collect();
    Job::new(table, works).begun("rebuild the indexes of")
}

/// An entity that a step of the backfill has met.
struct FoundEntity {
    partition: String,
    row: String,
    /// How many rows the step had looked at with it.
    looked: u64,
    /// Whether it was written since the backfill began.
    is_new: bool,
}

/// The part of the job in which copies are added. Before, they are removed, of one table after another.
const BACKFILLING: u8 = u8::MAX;

/// The work that makes an index.
pub(super) struct Rebuild {
    kind: &'static dyn JobKind,
    index: usize,
    /// Of a summary: what it still lacks.
    summary: RepairSummaries,
}

impl Rebuild {
    pub(super) fn of(kind: &'static dyn JobKind, index: usize) -> Self {
        Self { kind, index, summary: RepairSummaries::of(kind, index) }
    }

    fn schema(&self) -> &'static Schema {
        self.kind.schema()
    }

    fn index(&self) -> &'static str {
        self.schema().indexes.get(self.index).map_or("", |index| index.name)
    }

    fn is_summary(&self) -> bool {
        self.schema().indexes.get(self.index).is_some_and(|index| index.summary.is_some())
    }

    /// Has this happen to the index. Returns the state that it is in then; `None` if another program was quicker.
    fn transit(
        &self,
        table: &DynamicTable,
        epoch: u64,
        event: IndexEvent,
        record: Option<&JobRecord>,
    ) -> Result<Option<IndexState>> {
        let (name, schema, index) = (self.name(), self.schema(), self.index());
        let job = (name.as_str(), record);
        table.exec().jobs()?.transit(&Transition { schema, index, event, epoch, job })
    }

    fn epoch(&self, index_states: &IndexStates) -> Epoch {
        Epoch { kind: self.schema().kind, number: index_states.epoch }
    }

    /// Adds the copies of the next entities; `None` if no row is left to look at.
    fn backfill(
        &self,
        table: &DynamicTable,
        index_states: &IndexStates,
        step: Step<'_>,
    ) -> Result<Option<StepOutcome>> {
        let Step { at, size, loader } = step;
        if at.is_at_end() {
            return Ok(None);
        }
        let (schema, jobs, mut found) = (self.schema(), table.exec().jobs()?, Vec::new());
        // What comes behind the row where the table ends now is written in an epoch in which writers keep the index.
        let of_part = at.within(jobs)?;
        let mut looked = 0;
        let (mut last, mut rows) = jobs.rows_after(at.position.as_ref(), size, &mut |view, _| {
            looked += 1;
            if view.kind()? != Some(schema.entity_type) {
                return Ok(false);
            }
            let (partition, row) = view.keys();
            let (partition, row) = (partition.into_owned(), row.into_owned());
            // A writer since then keeps the index, and most of what is ahead may be such rows.
            let is_new = view.timestamp().get() > at.stamp;
            found.push(FoundEntity { partition, row, looked, is_new });
            Ok(!is_new)
        })?;
        if last.is_none() {
            return Ok(None);
        }
        let index_mask = driver::index_mask(Together::alone(table), schema, false)?.comparing(self.index);
        let (kind, snapshot) = (self.kind, &table.snapshot()?);
        let copies = verify_copies::At { kind, table, there: table, number: 0, snapshot, index_mask };
        let (mut changed, mut before) = (0, None);
        for FoundEntity { partition, row, looked, is_new } in found {
            if is_new && copies.is_filed(self.index, &partition, &row)? {
                before = Some((partition, row, looked));
                continue;
            }
            if changed >= size.rows
                && let Some((partition, row, looked)) = before
            {
                (last, rows) = (Some(Position { partition, row }), looked);
                break;
            }
            before = Some((partition.clone(), row.clone(), looked));
            let mut attempt = kind.attempt(&partition, &row, Change::Backfill(self.index));
            match plan_only::loaded(table, &mut attempt, loader) {
                Ok(_) => changed += 1,
                // It is gone by now, and so are its copies.
                Err(error) if error.kind() == ErrorKind::EntityNotFound => continue,
                Err(error) => return Err(error),
            }
            if let Some((key, has)) = attempt.taken() {
                let owned = |keys: EntityKeys<'_>| (keys.partition.to_owned(), keys.row.to_owned());
                let blocked = Blocked { key: owned(key), has: owned(has), wants: (partition, row) };
                if super::is_still_at(table, &self.name(), at)? {
                    self.transit(table, index_states.epoch, IndexEvent::Block(blocked), Some(at))?;
                }
                return Ok(Some(StepOutcome::Moved));
            }
        }
        let to = JobRecord { position: last, done: at.done + rows, changed: at.changed + changed, ..of_part };
        Ok(Some(StepOutcome::Rows(Some(to), Some(self.epoch(index_states)))))
    }
}

impl Work for Rebuild {
    fn name(&self) -> String {
        format!("rebuild {} {}", self.schema().kind, self.index())
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let jobs = table.exec().jobs()?;
        if matches!(jobs.index_states(self.schema(), self.index())?, (_, IndexState::Ready { .. }, true)) {
            return Ok(false);
        }
        // What the index is made of is noted first. Other indexes may keep the program from writing.
        match table.index_mask(self.schema(), true) {
            Err(error) if !matches!(error.kind(), ErrorKind::LayoutChanged | ErrorKind::MigrationPending) => {
                return Err(error);
            }
            _ => {}
        }
        loop {
            let (index_states, state, is_same) = jobs.index_states(self.schema(), self.index())?;
            if is_same && matches!(state, IndexState::Ready { .. }) {
                return Ok(false);
            }
            let record = jobs.job(&self.name())?;
            let (event, record) = match (&state, record) {
                (IndexState::Purge | IndexState::Backfill, Some(_)) if is_same => return Ok(true),
                (IndexState::Blocked(_), Some(record)) if is_same => (IndexEvent::Unblock, record),
                _ => (IndexEvent::Rebuild, JobRecord::new(jobs.row_count()?, String::new())),
            };
            if self.transit(table, index_states.epoch, event, Some(&record))?.is_some() {
                return Ok(true);
            }
            // Another program was quicker.
        }
    }

    fn cancel(&mut self, table: &DynamicTable) -> Result<()> {
        let jobs = table.exec().jobs()?;
        let (schema, index) = (self.schema(), self.index());
        let name = format!("drop {} {index}", schema.kind);
        loop {
            let (index_states, state, _) = jobs.index_states(schema, index)?;
            // Another program has brought it to its end.
            if jobs.job(&self.name())?.is_none() || !(state == IndexState::Purge || state.may_lack()) {
                return Ok(());
            }
            let record = JobRecord::new(jobs.row_count()?, String::new());
            let (event, epoch) = (IndexEvent::Drop, index_states.epoch);
            let dropped = Transition { schema, index, event, epoch, job: (&name, Some(&record)) };
            if jobs.transit(&dropped)?.is_some() {
                return Ok(());
            }
        }
    }

    fn reach(&self, table: &DynamicTable, at: &JobRecord) -> Result<DynamicTable> {
        if at.phase == BACKFILLING { Ok(table.clone()) } else { purge::reach(table, at) }
    }

    fn step(&mut self, table: &DynamicTable, mut step: Step<'_>) -> Result<StepOutcome> {
        let at = step.at;
        let (index_states, state, is_same) =
            table.exec().jobs()?.index_states(self.schema(), self.index())?;
        if index_states.kind != KindState::Stable {
            super::check_converted(table, self.schema())?;
        }
        let kind = self.schema().indexes.get(self.index).map_or("", |index| index.kind);
        if !is_same && state != IndexState::Absent {
            let because = format!(
                "the index `{}` is being made by another declaration, which came later",
                self.index()
            );
            return Err(Error::new(ErrorKind::LayoutChanged).because(because));
        }
        match state {
            IndexState::Purge => {
                let epoch = self.epoch(&index_states);
                if let Some(made) = purge::step(table, self.schema(), kind, epoch, &mut step)? {
                    return Ok(made);
                }
                let begun = JobRecord {
                    done: 0,
                    total: table.exec().jobs()?.row_count()?,
                    stamp: Ticks::now().get(),
                    ..at.in_part(BACKFILLING)
                };
                if super::is_still_at(table, &self.name(), at)? {
                    self.transit(table, index_states.epoch, IndexEvent::Purged, Some(&begun))?;
                }
                Ok(StepOutcome::Moved)
            }
            IndexState::Backfill => {
                let made = if self.is_summary() {
                    let then = |changed, looked| JobRecord {
                        done: looked,
                        changed: at.changed + changed,
                        ..at.clone()
                    };
                    self.summary.next(table, &self.name(), self.epoch(&index_states), step, &then)?
                } else {
                    self.backfill(table, &index_states, step)?
                };
                if let Some(made) = made {
                    return Ok(made);
                }
                if super::is_still_at(table, &self.name(), at)? {
                    self.transit(table, index_states.epoch, IndexEvent::Backfilled { since: 0 }, None)?;
                }
                Ok(StepOutcome::Moved)
            }
            IndexState::Blocked(blocked) => {
                let because = format!(
                    "the index `{}` can't be made: {blocked}; a claim is refused only where the other is in the index already, and that is being made: \
                     change or delete one of them and call `Table::rebuild` again",
                    self.index()
                );
                let error = Error::new(ErrorKind::UniqueConflict).because(because);
                Err(error.partition(&blocked.wants.0).row(&blocked.wants.1))
            }
            // It was dropped meanwhile, or has become ready.
            IndexState::Absent | IndexState::Ready { .. } | IndexState::Dropping => {
                Ok(StepOutcome::Rows(None, None))
            }
        }
    }
}
