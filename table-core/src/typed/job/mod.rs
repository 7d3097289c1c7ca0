//! Jobs: work that goes over a table in bounded steps, beside those who read and write it.
//!
//! How far a job is lies in the store, and each step writes it in the transaction of its rows. So a job that is dropped, or
//! whose process is killed, goes on from there when anybody asks for it again, and no row is done twice.

mod check;
mod convert;
mod delete;
mod drop;
mod forget;
mod list;
mod look;
mod migration;
mod rebuild;
mod recount;
mod relist;
mod report;
mod sweep;

use std::collections::VecDeque;
use std::fmt;
use std::time::{Duration, Instant};

pub use self::list::JobInfo;
pub use self::migration::Migration;
pub use self::report::{CopyProblem, CopyReport};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, JobStep, Loader, StepSize};
use crate::handle::table::DynamicTable;
use crate::plan::Epoch;
use crate::typed::entity::Entity;

/// The most that a step changes: so little that writers don't wait long for the transaction that it makes.
const STEP: StepSize = StepSize { rows: 500 };
/// The same of a job that gives way, at first.
const GENTLE: StepSize = StepSize { rows: 50 };
/// How many times as long as its step a job that gives way rests after it.
const REST: u32 = 2;
/// So often a step is tried when others write its rows; each time it is half as large.
const ATTEMPTS: u32 = 64;

/// What a job does. The machinery around it keeps how far it is, carries out its steps and tries again.
pub(in crate::typed) trait Work {
    /// Under which name the store keeps how far it is.
    fn name(&self) -> String;

    /// Begins, or goes on with what somebody has begun; `false` if there is nothing to do.
    fn begin(&mut self, table: &DynamicTable) -> Result<bool>;

    /// Gives it up. What it has done stays done; the store knows of it no more.
    fn cancel(&mut self, table: &DynamicTable) -> Result<()> {
        let jobs = table.exec().jobs()?;
        let name = self.name();
        if jobs.job(&name)?.is_some() { jobs.keep(&name, None) } else { Ok(()) }
    }

    /// The table with the others that the next step goes over, if it is not those that the caller knows of.
    fn reach(&self, table: &DynamicTable, _at: &JobRecord) -> Result<DynamicTable> {
        Ok(table.clone())
    }

    /// Hands the loader the plans of the next step, behind where the job is. Nothing else is written here.
    fn step(
        &mut self,
        table: &DynamicTable,
        at: &JobRecord,
        size: StepSize,
        loader: &mut dyn Loader,
    ) -> Result<Made>;

    /// Is told of a step that can't be carried out, however small it is, and says why.
    fn refused(&mut self, table: &DynamicTable, at: &JobRecord, error: Error) -> Error {
        let _ = (table, at);
        error
    }
}

/// What a step has come to.
pub(in crate::typed) enum Made {
    /// The plans were handed over, and this is where the job is once they are carried out in this epoch of the kind; `None`
    /// if that was all.
    Rows(Option<JobRecord>, Option<Epoch>),
    /// One plan was handed over with its step, and this is where the job is then.
    Stepped(JobRecord),
    /// What was to happen to an index has happened, or somebody else was quicker: the store says where the job is.
    Moved,
}

/// Makes sure that every entity is of the version that its struct declares: what is made of its rows as they are stored would
/// be wrong otherwise. What this process knows of the kind may be out of date; a snapshot is not.
fn check_converted<E: Entity>(table: &DynamicTable) -> Result<()> {
    table.snapshot()?.check_rows_as_stored(table, E::SCHEMA)
}

/// A job: work that goes over a table in bounded steps, while others read and write it.
///
/// It lies in the store from its beginning to its end: [`Store::jobs`](crate::Store::jobs) lists it, and whoever asks for it
/// again, in this process or another, goes on from where it is. Two who do so at one time share the work.
#[must_use = "a job does nothing until it is run"]
pub struct Job<'j> {
    table: DynamicTable,
    /// What is left to do, one after another.
    works: VecDeque<Box<dyn Work + 'j>>,
    is_gentle: bool,
    /// The most that a step may change, and how much the next one does.
    most: StepSize,
    size: StepSize,
    last: JobProgress,
    /// When this handle began to work, and how many rows it has looked at since.
    since: Option<(Instant, u64)>,
}

/// How far a job is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobProgress {
    /// How many rows were looked at, by former runs as well, in the part of the job that it is in: an index is first swept
    /// and then filled.
    pub done: u64,
    /// About how many there are.
    pub total: u64,
    /// How many rows or entities were changed, by former runs as well.
    pub changed: u64,
    /// Rows that this handle has looked at in a second; 0 before the first.
    pub rate: u64,
}

impl JobProgress {
    /// About how long the part of the job that it is in will take from now on, at this rate; `None` before it is known.
    pub fn left(&self) -> Option<Duration> {
        let rows = self.total.saturating_sub(self.done);
        rows.saturating_mul(1_000).checked_div(self.rate).map(Duration::from_millis)
    }
}

impl fmt::Display for JobProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { done, total, changed, rate } = self;
        write!(f, "{done} of about {total} rows, {changed} changed, {rate} rows a second")
    }
}

impl<'j> Job<'j> {
    pub(in crate::typed) fn new(table: &DynamicTable, works: Vec<Box<dyn Work + 'j>>) -> Self {
        Self {
            table: table.clone(),
            works: works.into(),
            is_gentle: false,
            most: STEP,
            size: STEP,
            last: JobProgress::default(),
            since: None,
        }
    }

    /// Begins everything at once, so that the store knows of it. What there is nothing to do for is left out.
    pub(in crate::typed) fn begun(mut self) -> Result<Self> {
        for mut work in std::mem::take(&mut self.works) {
            if work.begin(&self.table)? {
                self.works.push_back(work);
            }
        }
        Ok(self)
    }

    /// The same, giving way to others: smaller steps, and a rest after each that is twice as long. A step changes 50 rows at
    /// first, and more where a commit takes long whatever it holds.
    pub fn gentle(mut self) -> Self {
        self.is_gentle = true;
        self.size = StepSize { rows: self.size.rows.min(GENTLE.rows) };
        self
    }

    /// The same in smaller steps, each of which changes so many rows or entities at most, and at least one: 500 otherwise. A
    /// step that finds few looks at forty times as many.
    pub fn steps_of(mut self, rows: u64) -> Self {
        self.most = StepSize { rows: rows.clamp(1, self.most.rows) };
        self.size = StepSize { rows: self.size.rows.min(self.most.rows) };
        self
    }

    /// Runs to the end.
    pub fn run(mut self) -> Result<JobProgress> {
        while self.step()? {}
        Ok(self.last)
    }

    /// Does some of the work, in one short transaction; returns whether there is more to do. After an error the job may go on
    /// with the next step, or be made again.
    pub fn step(&mut self) -> Result<bool> {
        let began = Instant::now();
        let more = self
            .next_step()
            .map_err(|error| error.attempted("go on with a job over").table(self.table.name()))?;
        if more && self.is_gentle {
            std::thread::sleep(began.elapsed().saturating_mul(REST));
        }
        Ok(more)
    }

    /// Gives the job up, whoever has begun it: it is no longer among [`Store::jobs`](crate::Store::jobs), and who runs it
    /// elsewhere finds it ended. What it has done stays done.
    ///
    /// An index that was being made is dropped: from then on nobody keeps it, and
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
    /// # staff.bulk_insert((0..1_200).map(|id| Employee { department: "Sales".into(), id }))?;
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

    /// How far it is.
    pub fn progress(&self) -> &JobProgress {
        &self.last
    }

    fn next_step(&mut self) -> Result<bool> {
        let Some(work) = self.works.front_mut() else { return Ok(false) };
        let name = work.name();
        let mut size = self.size;
        for attempt in 0..ATTEMPTS {
            let Some(at) = self.table.exec().jobs()?.job(&name)? else {
                // It has ended, maybe by somebody else.
                self.works.pop_front();
                return Ok(!self.works.is_empty());
            };
            if self.since.is_none() {
                // What former runs have done.
                self.since = Some((Instant::now(), 0));
                note(&mut self.last, &mut self.since, (&at, None));
            }
            let table = work.reach(&self.table, &at)?;
            let (begun, mut loader) = (Instant::now(), table.loader());
            let to = match work.step(&table, &at, size, &mut *loader)? {
                Made::Moved => return Ok(true),
                Made::Stepped(to) => Some(to),
                Made::Rows(to, epoch) => {
                    let step = JobStep { name: name.clone(), from: at.clone(), to: to.clone(), epoch };
                    loader.add_step(step).map_err(|refused| refused.error)?;
                    to
                }
            };
            let made = begun.elapsed();
            let failed = loader.carry_out()?.into_iter().find_map(Result::err);
            let Some(failed) = failed else {
                if self.is_gentle {
                    self.size = paced(size, self.most, (made, begun.elapsed().saturating_sub(made)));
                }
                note(&mut self.last, &mut self.since, (&at, to.as_ref()));
                if to.is_none() {
                    self.works.pop_front();
                }
                return Ok(!self.works.is_empty());
            };
            let was_overtaken = matches!(
                failed.error.kind(),
                ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound | ErrorKind::EntityAlreadyExists
            );
            if !was_overtaken || attempt + 1 == ATTEMPTS {
                return Err(work.refused(&self.table, &at, failed.error));
            }
            // Somebody wrote one of the rows meanwhile.
            size.rows = (size.rows / 2).max(1);
        }
        Err(Error::new(ErrorKind::ConditionNotMet).because("others were quicker each time"))
    }
}

/// How much the next step of a job that gives way changes, after one that took so long to make and so long to carry out.
///
/// Nobody waits for a step that is being made. Carrying it out, others wait for its rows, which take about as long as to make
/// them, and for a commit, whose flush takes what the disk takes. Where that is most of it, a step of few rows has others wait
/// as long as one of many, and more often for the same work.
fn paced(size: StepSize, most: StepSize, (made, carried_out): (Duration, Duration)) -> StepSize {
    let rows = if carried_out >= made.saturating_mul(4) {
        size.rows.saturating_mul(2)
    } else if carried_out < made.saturating_mul(2) {
        size.rows / 2
    } else {
        size.rows
    };
    StepSize { rows: rows.max(GENTLE.rows).min(most.rows) }
}

/// Takes note of a step that was carried out.
fn note(
    last: &mut JobProgress,
    since: &mut Option<(Instant, u64)>,
    (at, to): (&JobRecord, Option<&JobRecord>),
) {
    let to = to.unwrap_or(at);
    let rate = since.as_mut().map_or(0, |(begun, rows)| {
        *rows += to.done.saturating_sub(at.done);
        let millis = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        rows.saturating_mul(1_000) / millis
    });
    *last = JobProgress { done: to.done, total: to.total.max(to.done), changed: to.changed, rate };
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("table", &self.table.name())
            .field("progress", &self.last)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_gives_way_takes_larger_steps_where_a_commit_takes_long() {
        let took = |rows, made, carried_out| {
            let times = (Duration::from_millis(made), Duration::from_millis(carried_out));
            paced(StepSize { rows }, STEP, times).rows
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
        // Whoever asks for less has less.
        let slow = (Duration::from_millis(1), Duration::from_secs(1));
        assert_eq!(paced(StepSize { rows: 3 }, StepSize { rows: 5 }, slow).rows, 5);
        assert_eq!(paced(StepSize { rows: 60 }, StepSize { rows: 80 }, slow).rows, 80);
    }
}
