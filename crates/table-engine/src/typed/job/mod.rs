//! Jobs: work that goes over a table in bounded steps, beside readers and writers.
//!
//! How far a job is lies in the store, and each step writes it in the transaction of its rows. So a job that is dropped, or
//! whose process is killed, goes on from there when it is asked for again, and no row is done twice.

mod blobs;
mod check;
mod convert;
mod delete;
mod drop;
mod forget;
pub(crate) mod kind;
mod list;
mod migration;
mod progress;
mod purge;
pub(crate) mod rebuild;
pub(crate) mod repair;
mod repair_lists;
mod repair_summaries;
mod report;
mod shared_rows;
mod verify_copies;

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

pub use self::delete::QueryOfEntities;
pub use self::list::JobInfo;
pub use self::migration::Migration;
use self::progress::Clock;
pub use self::progress::JobProgress;
pub use self::report::{CopyProblem, CopyReport};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{
    ATTEMPTS, JobRecord, JobStep, LONGEST_WAIT, LOSSES_BORNE, Loader, StepSize, telemetry,
};
use crate::handle::table::DynamicTable;
use crate::plan::{Epoch, Refused};
use crate::schema::Schema;
use crate::telemetry::Operation;

/// The most that a step changes: so little that writers don't wait long for the transaction that it makes.
const STEP: StepSize = StepSize { rows: 500 };
/// The most that a step of a job that gives way changes at first.
const GENTLE: StepSize = StepSize { rows: 50 };
/// How many times as long as its step a job rests after it that gives way, or beside other writers.
const REST: u32 = 2;

/// What a job does, and what it says of it. The machinery around it keeps how far it is, carries out its steps and tries again.
pub(crate) trait Work<R = JobProgress>: Send {
    /// Returns the name under which the store keeps how far it is.
    fn name(&self) -> String;

    /// Begins, or goes on with what was begun before; `false` if there is nothing to do.
    fn begin(&mut self, table: &DynamicTable) -> Result<bool>;

    /// Gives it up. What it has done stays done; the store knows of it no more.
    fn cancel(&mut self, table: &DynamicTable) -> Result<()> {
        let jobs = table.exec().jobs()?;
        let name = self.name();
        if jobs.job(&name)?.is_some() { jobs.keep(&name, None) } else { Ok(()) }
    }

    /// Returns the table with the others that the next step goes over, if it is not those that the caller knows of.
    fn reach(&self, table: &DynamicTable, _at: &JobRecord) -> Result<DynamicTable> {
        Ok(table.clone())
    }

    /// Hands over the plans of the next step, behind where the job is. Nothing else is written here.
    fn step(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<StepOutcome>;

    /// Returns whether the step is to be made again without what the plan of this number was to do, of those that it has
    /// handed over. It was refused for this, and the whole step with it.
    fn leaves_out(&mut self, plan: usize, error: &Error) -> bool {
        let _ = (plan, error);
        false
    }

    /// Takes the error of a step that can't be carried out, however small it is, and returns what to report of it.
    fn refused(&mut self, table: &DynamicTable, at: &JobRecord, error: Error) -> Error {
        let _ = (table, at);
        error
    }

    /// Says how far the job is: at first, and when a step was carried out.
    fn report(&mut self, now: &JobRecord, report: &mut R) {
        let _ = (now, report);
    }
}

/// What a step begins with.
pub(crate) struct Step<'j> {
    /// Where the job is.
    pub(crate) at: &'j JobRecord,
    /// How much the step changes at most.
    pub(crate) size: StepSize,
    /// What takes the plans.
    pub(crate) loader: &'j mut dyn Loader,
}

/// What a step has come to.
pub(crate) enum StepOutcome {
    /// The plans were handed over, and this is where the job is once they are carried out in this epoch of the kind; `None`
    /// if that was all.
    Rows(Option<JobRecord>, Option<Epoch>),
    /// One plan was handed over with its step, and this is where the job is then.
    Stepped(JobRecord),
    /// What was to happen to an index has happened, or another program was quicker: the store says where the job is.
    Moved,
}

/// Makes sure that every entity is of the version that its struct declares: what is made of its rows as they are stored would
/// be wrong otherwise. What this process knows of the kind may be out of date; a snapshot is not.
fn check_converted(table: &DynamicTable, schema: &'static Schema) -> Result<()> {
    table.snapshot()?.check_rows_as_stored(table, schema)
}

/// Returns whether a job is where a step has read it.
///
/// A step reads the job first and the states of its kind afterwards, and another program may go on to the next part between:
/// the position at the end of the one would be taken for the end of the other, though nothing of that is done. So a part is
/// ended only if the job is still there after the states were read; the epoch of those sees to what comes later.
fn is_still_at(table: &DynamicTable, name: &str, at: &JobRecord) -> Result<bool> {
    Ok(table.exec().jobs()?.job(name)?.as_ref() == Some(at))
}

/// A job: work that goes over a table in bounded steps, while others read and write it.
///
/// It lies in the store from its beginning to its end: [`Store::jobs`](crate::Tables::jobs) lists it, and a program
/// that asks for it again, this one or another, goes on from where it is. Two that do so at one time share the work.
///
/// At its end it says what it has done: most jobs how many rows, as a [`JobProgress`], and others in a report of their own.
#[must_use = "a job does nothing until it is run"]
pub struct Job<'j, R = JobProgress> {
    table: DynamicTable,
    /// What is left to do, one after another.
    works: VecDeque<Box<dyn Work<R> + 'j>>,
    is_gentle: bool,
    /// The most that a step may change, and how much the next one does.
    most: StepSize,
    size: StepSize,
    clock: Clock,
    /// How far behind its table the last step has found the job; see [`JobRecord::times_behind`].
    times_behind: u32,
    /// The number of the store's state after the last step.
    state: Option<usize>,
    report: R,
    /// What the report says of the progress alone.
    copies: fn(&mut R, &JobProgress),
    /// The whole of it, from its first step on.
    operation: Option<Operation>,
}

impl<'j> Job<'j> {
    /// Makes a job that says how far it is, and nothing else.
    #[inline]
    pub(crate) fn new(table: &DynamicTable, works: Vec<Box<dyn Work + 'j>>) -> Self {
        Self { copies: JobProgress::clone_from, ..Self::reporting(table, works) }
    }
}

impl<'j, R: Default> Job<'j, R> {
    /// Makes a job with a report, which its works [report](Work::report).
    #[inline]
    pub(crate) fn reporting(table: &DynamicTable, works: Vec<Box<dyn Work<R> + 'j>>) -> Self {
        Self {
            table: table.clone(),
            works: works.into(),
            is_gentle: false,
            most: STEP,
            size: STEP,
            clock: Clock::default(),
            times_behind: 0,
            state: None,
            report: R::default(),
            copies: |_, _| {},
            operation: None,
        }
    }
}

impl<R> Job<'_, R> {
    /// Begins everything at once, so that the store knows of it. What there is nothing to do for is left out. An error says that
    /// this was `attempted`.
    pub(crate) fn begun(mut self, attempted: &'static str) -> Result<Self> {
        for mut work in std::mem::take(&mut self.works) {
            let begun = work.begin(&self.table);
            if begun.map_err(|error| error.attempted(attempted).table(self.table.name()))? {
                self.works.push_back(work);
            }
        }
        Ok(self)
    }

    /// Has the job give way to others: smaller steps, and a rest after each that is twice as long, which other jobs take only
    /// while others write. A step changes 50 rows at first, and more where a commit takes long whatever it holds.
    pub fn gentle(mut self) -> Self {
        self.is_gentle = true;
        self.size = StepSize { rows: self.size.rows.min(GENTLE.rows) };
        self
    }

    /// Makes the steps smaller: each changes so many rows or entities at most, and at least one, instead of 500. A
    /// step that finds few looks at forty times as many.
    pub fn steps_of(mut self, rows: u64) -> Self {
        self.most = StepSize { rows: rows.clamp(1, self.most.rows) };
        self.size = StepSize { rows: self.size.rows.min(self.most.rows) };
        self
    }

    /// Runs to the end, and says what was done.
    pub fn run(mut self) -> Result<R> {
        while self.step()? {}
        Ok(self.report)
    }

    /// Does some of the work, in one short transaction; returns whether there is more to do. After an error the job may go on
    /// with the next step, or be made again.
    pub fn step(&mut self) -> Result<bool> {
        let rest = self.step_before_rest()?;
        if let Some(rest) = rest {
            std::thread::sleep(rest);
        }
        Ok(rest.is_some())
    }

    /// Does some of the work; returns how long to rest before the next step, if there is more to do.
    pub(crate) fn step_before_rest(&mut self) -> Result<Option<Duration>> {
        let began = Instant::now();
        let more = self
            .traced_step()
            .map_err(|error| error.attempted("go on with a job over").table(self.table.name()))?;
        if more { self.rest(began.elapsed()).map(Some) } else { Ok(None) }
    }

    /// Gives the job up, whichever program began it: it is no longer among [`Store::jobs`](crate::Tables::jobs), and another
    /// program that runs it finds it ended. What it has done stays done.
    ///
    /// An index that was being made is dropped: from then on no program keeps it, and
    /// [`Table::drop_index`](crate::Table::drop_index) removes the copies that were made, or
    /// [`Table::rebuild`](crate::Table::rebuild) makes it again from the start. A drop of an index is not given up, since some
    /// of its copies are gone: that is [`Unsupported`](crate::ErrorKind::Unsupported), and so is a migration to another
    /// version whose entities are being converted.
    ///
    /// ```
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.table::<Employee>()?;
    /// # staff.bulk_insert((0..1_200).map(|id| Employee { department: "Sales".into(), id }))?.into_result()?;
    /// let mut job = staff.delete_partition(Employee::partition("Sales"))?;
    /// job.step()?;
    /// job.cancel()?;
    /// assert!(store.jobs()?.is_empty());
    /// assert_eq!(staff.all().count()?, 700);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cancel(mut self) -> Result<()> {
        let cancelled = self.works.iter_mut().try_for_each(|work| work.cancel(&self.table));
        cancelled.map_err(|error| error.attempted("give up a job over").table(self.table.name()))
    }

    /// Returns how far it is.
    pub fn progress(&self) -> &JobProgress {
        self.clock.last()
    }

    /// Returns what it says of what it has done, at its end.
    #[cfg(feature = "async")]
    pub(crate) fn into_report(self) -> R {
        self.report
    }

    /// Returns what it says of what it has done so far.
    pub fn report(&self) -> &R {
        &self.report
    }

    /// Returns how long to rest after a step that took so long: other writers come to little during a step, and are to keep
    /// half of their rate. The further the job is behind, the shorter it rests, so that it comes to its end however fast they
    /// write.
    fn rest(&mut self, took: Duration) -> Result<Duration> {
        let state = self.table.snapshot()?.state();
        // A step is one transaction.
        let others_write = self.state.replace(state).is_some_and(|before| state > before.saturating_add(1));
        if self.is_gentle || others_write {
            return Ok(took.saturating_mul(REST) / self.times_behind.saturating_add(1));
        }
        Ok(Duration::ZERO)
    }

    /// Makes the next step inside the job's span.
    fn traced_step(&mut self) -> Result<bool> {
        let (table, works) = (self.table.exec(), &self.works);
        let name = || works.front().map(|work| work.name()).unwrap_or_default();
        let operation = self.operation.get_or_insert_with(|| telemetry::job(table, name)).clone();
        let _entered = operation.enter();
        let done = self.next_step();
        done.inspect_err(|error| telemetry::job_failed(self.table.exec(), &operation, error.kind()))
    }

    fn next_step(&mut self) -> Result<bool> {
        let Some(work) = self.works.front_mut() else { return Ok(false) };
        let (name, own) = (work.name(), self.table.clone());
        let (mut size, mut turn) = (self.size, None);
        for attempt in 0..ATTEMPTS {
            let Some(at) = self.table.exec().jobs()?.job(&name)? else {
                // It has ended, maybe by another program.
                self.works.pop_front();
                return Ok(!self.works.is_empty());
            };
            if self.clock.is_new() {
                self.clock.begin(&at);
                (self.copies)(&mut self.report, self.clock.last());
                work.report(&at, &mut self.report);
            }
            self.times_behind = at.times_behind();
            if turn.is_none() && (attempt >= LOSSES_BORNE || self.times_behind > 0) {
                turn = own.precedence(LONGEST_WAIT);
            }
            let table = work.reach(&own, &at)?;
            let (begun, mut loader) = (Instant::now(), table.loader());
            let to = match work.step(&table, Step { at: &at, size, loader: &mut *loader })? {
                StepOutcome::Moved => return Ok(true),
                StepOutcome::Stepped(to) => Some(to),
                StepOutcome::Rows(to, epoch) => {
                    let step = JobStep { name: name.clone(), from: at.clone(), to: to.clone(), epoch };
                    loader.add_step(step).map_err(|refused| refused.error)?;
                    to
                }
            };
            let made = begun.elapsed();
            let failed = failures(loader.carry_out()?);
            if failed.is_empty() {
                self.size = if self.is_gentle {
                    paced(size, self.most, made, begun.elapsed().saturating_sub(made))
                } else {
                    // Writers that were quicker before may be again.
                    StepSize { rows: size.rows.saturating_mul(2).min(self.most.rows) }
                };
                let now = to.as_ref().unwrap_or(&at);
                self.clock.note(&at, now);
                (self.copies)(&mut self.report, self.clock.last());
                work.report(now, &mut self.report);
                if to.is_none() {
                    self.works.pop_front();
                }
                return Ok(!self.works.is_empty());
            }
            let mut first_overtaken = None::<usize>;
            for (plan, error) in failed {
                if attempt + 1 < ATTEMPTS && !error.kind().stops() {
                    if work.leaves_out(plan, &error) {
                        continue;
                    }
                    if is_overtaken(error.kind()) {
                        first_overtaken = first_overtaken.into_iter().chain([plan]).min();
                        continue;
                    }
                }
                return Err(work.refused(&own, &at, error));
            }
            if let Some(plan) = first_overtaken {
                // The next attempt ends before this plan. A row has one plan at most, so this many rows have no more plans.
                size.rows = u64::try_from(plan).unwrap_or(u64::MAX).clamp(1, size.rows);
            }
        }
        Err(Error::new(ErrorKind::ConditionNotMet).because("others were quicker each time"))
    }
}

/// Returns the plans of a step that were refused, and why; if none was, the step itself.
#[inline]
fn failures(outcomes: Vec<Result<(), Refused>>) -> Vec<(usize, Error)> {
    let last = outcomes.len().saturating_sub(1);
    let refused = outcomes.into_iter().enumerate().filter_map(|(number, done)| Some((number, done.err()?)));
    let mut failed: Vec<_> = refused.map(|(number, refused)| (number, refused.error)).collect();
    if failed.len() > 1 {
        // The step is refused for the others.
        failed.retain(|(number, _)| *number != last);
    }
    failed
}

/// Returns whether a refusal says that a row was written meanwhile, or that a key has gone.
fn is_overtaken(kind: ErrorKind) -> bool {
    kind.is_destroyed()
        || matches!(
            kind,
            ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound | ErrorKind::EntityAlreadyExists
        )
}

/// Returns how much the next step of a job that gives way changes, after one that took so long to make and so long to carry
/// out.
///
/// No writer waits for a step that is being made. While it is carried out, others wait for its rows, which take about as long
/// as it takes to make them, and for a commit, whose flush takes what the disk takes. Where that is most of it, a step of few
/// rows has others wait as long as one of many, and more often for the same work.
#[inline]
fn paced(size: StepSize, most: StepSize, made: Duration, carried_out: Duration) -> StepSize {
    let rows = if carried_out >= made.saturating_mul(4) {
        size.rows.saturating_mul(2)
    } else if carried_out < made.saturating_mul(2) {
        size.rows / 2
    } else {
        size.rows
    };
    StepSize { rows: rows.max(GENTLE.rows).min(most.rows) }
}

impl<R> fmt::Debug for Job<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("table", &self.table.name())
            .field("progress", self.clock.last())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_gives_way_takes_larger_steps_where_a_commit_takes_long() {
        let took = |rows, made, carried_out| {
            let [made, carried_out] = [made, carried_out].map(Duration::from_millis);
            paced(StepSize { rows }, STEP, made, carried_out).rows
        };
        // A disk on which each commit takes 40 ms, and rows of which fifty take one.
        assert_eq!(
            [took(50, 1, 41), took(100, 2, 42), took(200, 4, 44), took(400, 8, 48)],
            [100, 200, 400, 500]
        );
        assert_eq!(took(500, 10, 50), 500);
        assert_eq!(took(500, 20, 60), 500);
        // In memory.
        assert_eq!([took(500, 10, 10), took(250, 5, 5), took(100, 2, 3), took(50, 1, 1)], [250, 125, 50, 50]);
        // A job of smaller steps keeps to them.
        let (made, slow) = (Duration::from_millis(1), Duration::from_secs(1));
        assert_eq!(paced(StepSize { rows: 3 }, StepSize { rows: 5 }, made, slow).rows, 5);
        assert_eq!(paced(StepSize { rows: 60 }, StepSize { rows: 80 }, made, slow).rows, 80);
    }
}
