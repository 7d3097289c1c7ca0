//! Jobs, awaited: streams of their progress.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;

use super::{AsyncTable, AsyncTables, BoxFuture, Sleep, pool};
use crate::error::{Error, ErrorKind, Result};
use crate::typed::entity::{Entity, InOneTable};
use crate::typed::job::{CopyReport, Job, JobInfo, JobProgress, QueryOfEntities};
use crate::typed::read::key::Partition;
use crate::typed::table::Table;

/// A job whose steps are awaited: each runs on a thread of a pool, and between them the task rests without a thread.
///
/// It is a [`Stream`] of how far the job is, one item for each step, and has a [`next`](Self::next) of its own. Dropped, it stays
/// where it is: a step that was begun comes to its end, and the job goes on when it is asked for again, as any [`Job`] does.
///
/// ```
/// use table_core::asynchronous::block_on;
/// use table_core::{Entity, Store};
///
/// # #[derive(Entity)]
/// # #[entity(table = "Company", kind = "employee")]
/// # #[key(partition = "{department}", row = "empid_{id:06}")]
/// # struct Employee { department: String, id: u32 }
/// # block_on(async {
/// let store = Store::temporary()?.to_async();
/// let staff = store.table::<Employee>().await?;
/// staff.bulk_insert((0..1_200).map(|id| Employee { department: "Sales".into(), id })).await?;
///
/// let mut job = staff.delete_partition(Employee::partition("Sales")).await?;
/// while let Some(progress) = job.next().await? {
///     println!("{progress}"); // 500 of about 1200 rows, 500 changed, 90000 rows a second
/// }
/// assert_eq!(staff.all().count().await?, 0);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
#[must_use = "a job does nothing until it is run"]
pub struct AsyncJob<R = JobProgress> {
    state: State<R>,
    progress: JobProgress,
}

enum State<R> {
    /// Between two steps.
    Idle(Box<Job<'static, R>>),
    /// In a step.
    Running(BoxFuture<'static, Stepped<R>>),
    Resting(Box<Job<'static, R>>, Sleep),
    /// At its end.
    Ended(Box<Job<'static, R>>),
    /// A step has panicked.
    Lost,
}

/// A job behind a step, and how long it rests if there is more to do.
type Stepped<R> = (Box<Job<'static, R>>, Result<Option<Duration>>);

impl<R: Send + 'static> Job<'static, R> {
    /// Returns the job with steps that are awaited.
    pub fn to_async(self) -> AsyncJob<R> {
        AsyncJob { progress: self.progress().clone(), state: State::Idle(Box::new(self)) }
    }
}

impl<R: Send + 'static> AsyncJob<R> {
    /// Has the job give way to others; see [`Job::gentle`]. It counts before the first step.
    pub fn gentle(self) -> Self {
        self.changed(Job::gentle)
    }

    /// Makes the steps smaller; see [`Job::steps_of`]. It counts before the first step.
    pub fn steps_of(self, rows: u64) -> Self {
        self.changed(|job| job.steps_of(rows))
    }

    fn changed(self, change: impl FnOnce(Job<'static, R>) -> Job<'static, R>) -> Self {
        match self.state {
            State::Idle(job) => Self { state: State::Idle(Box::new(change(*job))), ..self },
            state => Self { state, ..self },
        }
    }

    /// Does some of the work, and says how far the job is then; `None` behind the last step. After an error the job may go on
    /// with the next step, or be made again.
    ///
    /// A future that is dropped leaves the step running: the next call waits for it.
    pub async fn next(&mut self) -> Result<Option<JobProgress>> {
        poll_fn(|context| self.poll_step(context)).await
    }

    /// Runs to the end, and says what was done.
    pub async fn run(mut self) -> Result<R> {
        while self.next().await?.is_some() {}
        match self.state {
            State::Ended(job) => Ok(job.into_report()),
            _ => Err(lost()),
        }
    }

    /// Gives the job up, whichever program began it, behind the step that runs now; see [`Job::cancel`].
    pub async fn cancel(mut self) -> Result<()> {
        let job = match std::mem::replace(&mut self.state, State::Lost) {
            State::Running(running) => running.await.0,
            State::Idle(job) | State::Resting(job, _) | State::Ended(job) => job,
            State::Lost => return Err(lost()),
        };
        pool::run(move || job.cancel()).await
    }

    /// Returns how far it is, as far as is known.
    pub fn progress(&self) -> &JobProgress {
        &self.progress
    }

    /// Returns what it says of what it has done so far; `None` while a step runs whose future was dropped.
    pub fn report(&self) -> Option<&R> {
        match &self.state {
            State::Idle(job) | State::Resting(job, _) | State::Ended(job) => Some(job.report()),
            State::Running(_) | State::Lost => None,
        }
    }

    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<JobProgress>>> {
        if let State::Resting(_, rest) = &mut self.state {
            // If there is no timer, it does not rest.
            drop(ready!(Pin::new(rest).poll(context)));
        }
        match std::mem::replace(&mut self.state, State::Lost) {
            State::Ended(job) => {
                self.state = State::Ended(job);
                return Poll::Ready(Ok(None));
            }
            State::Idle(mut job) | State::Resting(mut job, _) => {
                self.state = State::Running(Box::pin(pool::run(move || {
                    let rest = job.step_before_rest();
                    (job, rest)
                })));
            }
            running => self.state = running,
        }
        let State::Running(running) = &mut self.state else { return Poll::Ready(Err(lost())) };
        let (job, rest) = ready!(running.as_mut().poll(context));
        self.progress = job.progress().clone();
        let (state, done) = match rest {
            Ok(None) => (State::Ended(job), Ok(Some(self.progress.clone()))),
            Ok(Some(rest)) if rest.is_zero() => (State::Idle(job), Ok(Some(self.progress.clone()))),
            Ok(Some(rest)) => (State::Resting(job, Sleep::lasting(rest)), Ok(Some(self.progress.clone()))),
            Err(error) => (State::Idle(job), Err(error)),
        };
        self.state = state;
        Poll::Ready(done)
    }
}

#[cold]
fn lost() -> Error {
    let because = "a step of it has panicked; make the job again: it goes on from where it is";
    Error::new(ErrorKind::WriterPanicked).because(because).attempted("go on with a job")
}

impl<R: Send + 'static> Stream for AsyncJob<R> {
    type Item = Result<JobProgress>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_step(context).map(Result::transpose)
    }
}

impl<R> Unpin for AsyncJob<R> {}

impl<R> fmt::Debug for AsyncJob<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncJob").field("progress", &self.progress).finish_non_exhaustive()
    }
}

impl<E: Entity<Patch: Send> + Send + Sync> AsyncTable<E> {
    /// Returns a job that makes the indexes which are not ready; see [`Table::rebuild`].
    pub async fn rebuild(&self) -> Result<AsyncJob> {
        self.job(Table::rebuild).await
    }

    /// Returns a job that removes an index that is declared no more; see [`Table::drop_index`].
    pub async fn drop_index(&self, name: &str) -> Result<AsyncJob> {
        let name = name.to_owned();
        self.job(move |table| table.drop_index(&name)).await
    }

    /// Returns a job that deletes every entity that the query finds, each with its copies; see [`Table::delete_where`].
    pub async fn delete_where(&self, query: impl QueryOfEntities<E> + Send + 'static) -> Result<AsyncJob> {
        self.job(move |table| table.delete_where(query)).await
    }

    /// Returns a job that deletes every entity of a partition, each with its copies.
    pub async fn delete_partition(&self, partition: Partition<E>) -> Result<AsyncJob> {
        self.job(move |table| table.delete_partition(partition)).await
    }

    /// Returns a job that puts right what [`check`](Self::check) finds; see [`Table::repair`].
    pub async fn repair(&self) -> Result<AsyncJob<CopyReport>> {
        self.job(Table::repair).await
    }

    /// Returns a job that seals values anew under the newest keys; see [`Table::reencrypt`].
    #[cfg(feature = "encrypt")]
    pub async fn reencrypt(&self) -> Result<AsyncJob<crate::typed::ReencryptReport>> {
        self.job(Table::reencrypt).await
    }

    /// Compares every copy of the entities with the entity that it is of, on a thread of the pool; see [`Table::check`].
    pub async fn check(&self) -> Result<CopyReport> {
        self.run(Table::check).await
    }

    async fn job<R: Send + 'static>(
        &self,
        begin: impl FnOnce(&Table<E>) -> Result<Job<'static, R>> + Send + 'static,
    ) -> Result<AsyncJob<R>> {
        self.run(move |table| begin(table).map(Job::to_async)).await
    }
}

impl AsyncTables {
    /// Begins the migration of a kind to the version that its struct declares, as a job; see
    /// [`Tables::migration`](crate::Tables::migration), which says before how much there is to do.
    pub async fn migrate<E: InOneTable>(&self) -> Result<AsyncJob> {
        self.run(|tables| Ok(tables.migration::<E>()?.steps()?.to_async())).await
    }

    /// Returns the jobs that were begun and have not ended, of every table; see [`Tables::jobs`](crate::Tables::jobs).
    pub async fn jobs(&self) -> Result<Vec<JobInfo>> {
        self.run(crate::Tables::jobs).await
    }

    /// Gives up a job that was listed; see [`Tables::cancel_job`](crate::Tables::cancel_job).
    pub async fn cancel_job(&self, job: &JobInfo) -> Result<()> {
        let job = job.clone();
        self.run(move |tables| tables.cancel_job(&job)).await
    }
}
