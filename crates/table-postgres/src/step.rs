//! A step of a job with its plans: all of it in one transaction, or nothing.
//!
//! The transaction holds the tables as writers do before it looks at anything, so nothing that is noted of their kinds changes
//! until it ends. Plans that touch no row of each other are one statement; when that is refused, each is tried by itself, so that
//! it is known which of them can't be carried out.

use std::sync::Arc;

use table_engine::__executor::{self as executor, JobStep, Refused};
use table_engine::{Error, ErrorKind};

use crate::attempt::put_rows;
use crate::catalog::column;
use crate::connection::{Call, Connection};
use crate::diagnosis::Diagnosis;
use crate::error::{is_conflict, is_lost, of_server};
use crate::failed::{Failed, before};
use crate::jobs::record;
use crate::locks;
use crate::param::{Param, Params};
use crate::plan_kinds::{PlanKinds, another_epoch};
use crate::reading::Reading;
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::token::Token;
use crate::transaction::BEGIN;
#[cfg(feature = "blob")]
use crate::unreferenced;
use crate::work::Work;

/// A step of a job in its table.
pub(crate) struct StepWork {
    pub(crate) table: Arc<TableEntry>,
    pub(crate) step: JobStep,
    /// Whether it was taken in with the plan before it, so that one outcome is of both.
    pub(crate) is_with_its_plan: bool,
}

/// What is carried out together.
#[derive(Clone, Copy)]
pub(crate) struct StepAttempt<'a> {
    pub(crate) store: &'a PostgresStore,
    pub(crate) connection: &'a Connection,
    pub(crate) works: &'a [Work],
    pub(crate) step: &'a StepWork,
    /// Whether the rows that must be those that were read are looked at.
    pub(crate) looks: bool,
}

/// What has become of plans and the step that goes with them.
pub(crate) struct StepOutcome {
    /// Why each plan can't be carried out, if it can't.
    pub(crate) works: Vec<Result<(), Refused>>,
    /// Why the step can't be carried out with them.
    pub(crate) step: Result<(), Error>,
}

impl StepOutcome {
    /// Returns the outcome of so many plans that have happened, and the step with them.
    pub(crate) fn done(works: usize) -> Self {
        Self { works: (0..works).map(|_| Ok(())).collect(), step: Ok(()) }
    }

    /// Returns whether all of it has happened.
    pub(crate) fn is_done(&self) -> bool {
        self.step.is_ok() && self.works.iter().all(Result::is_ok)
    }
}

impl StepAttempt<'_> {
    /// Carries the plans and the step out, if nothing is refused. `is_open` says whether the connection is left in a transaction
    /// that is to be ended.
    pub(crate) async fn run(self, is_open: &mut bool) -> Result<StepOutcome, Failed> {
        let mut outcome = StepOutcome { works: Vec::new(), step: Ok(()) };
        let generation = self.store.generation();
        let mut kinds = Vec::with_capacity(self.works.len());
        for work in self.works {
            #[cfg(feature = "blob")]
            unreferenced::announce(self.connection, work, &self.store.blobs.references).await?;
            let found = match PlanKinds::of(self.store, self.connection, work).await {
                Ok(found) => found,
                Err(Failed::Refused(refused)) => {
                    outcome.works.push(Err(refused));
                    kinds.push(None);
                    continue;
                }
                Err(failed) => return Err(failed),
            };
            if found.as_ref().is_some_and(|found| found.generation != generation) {
                return Err(Failed::Again);
            }
            outcome.works.push(Ok(()));
            kinds.push(found);
        }
        outcome.step = self.check_epoch(generation).await?;
        if !outcome.is_done() {
            return Ok(outcome);
        }
        outcome.step = self.begin(generation, is_open).await?;
        if !outcome.is_done() {
            return Ok(outcome);
        }
        for ((work, kinds), done) in self.works.iter().zip(&kinds).zip(&mut outcome.works) {
            let reading = Reading::new(self.store, work, kinds.as_ref(), self.looks);
            *done = self.carry_out(reading).await?;
        }
        if outcome.is_done() {
            // Where it fails before the server is asked to commit, the transaction is still to be ended.
            self.end().await?;
            *is_open = false;
        }
        Ok(outcome)
    }

    /// Refuses a step that was made in another epoch of its kind.
    async fn check_epoch(self, generation: i64) -> Result<Result<(), Error>, Failed> {
        let StepWork { table, step, .. } = self.step;
        let Some(epoch) = step.epoch else { return Ok(Ok(())) };
        let kinds = PlanKinds::of_table(self.store, self.connection, table).await?;
        if kinds.generation != generation {
            return Err(Failed::Again);
        }
        Ok(if kinds.epoch(epoch.kind) == epoch.number { Ok(()) } else { Err(another_epoch()) })
    }

    /// Begins the transaction: holds the tables and the partitions, and looks where the job is.
    async fn begin(self, generation: i64, is_open: &mut bool) -> Result<Result<(), Error>, Failed> {
        let StepWork { table, step, .. } = self.step;
        let mut tables: Vec<_> = self.works.iter().flat_map(|work| &work.tables).chain([table]).collect();
        // In the order of their numbers, as others take these locks.
        tables.sort_unstable_by_key(|table| table.id);
        tables.dedup_by_key(|table| table.id);
        let mut begin = BEGIN.to_owned();
        for table in tables {
            begin += &format!("; LOCK TABLE {} IN ROW EXCLUSIVE MODE", table.rows);
        }
        let catalog = &self.store.catalog;
        let mut calls = vec![catalog.generation(), record::one(catalog, table.id, &step.name, true)];
        let mut partitions: Vec<_> = self.works.iter().flat_map(|work| &work.partitions).cloned().collect();
        partitions.sort_unstable();
        partitions.dedup();
        if !partitions.is_empty() {
            let is_alone = self.works.iter().any(Work::demands_absence);
            calls.push(locks::take(&partitions, self.store.identity.cast_signed(), is_alone));
        }
        *is_open = true;
        let answers = self.connection.begin_and_query(&begin, &calls).await.map_err(before)?;
        let mut answers = answers.iter();
        let found = answers.next().and_then(|rows| rows.first());
        let now = found.map(|row| column::<i64>(row, 0)).transpose().map_err(Refused::whole)?;
        if now != Some(generation) {
            self.store.correct_generation(now.unwrap_or_default());
            return Err(Failed::Again);
        }
        let job = answers.next().map(|rows| record::found(rows)).transpose().map_err(Refused::whole)?;
        let job = job.and_then(|mut jobs| jobs.pop());
        Ok(match job {
            Some((_, now)) if now == step.from => Ok(()),
            _ => Err(overtaken(&step.name)),
        })
    }

    /// Carries out a plan in the transaction, which goes on if the plan is refused and others come behind it.
    async fn carry_out(self, reading: Reading<'_>) -> Result<Result<(), Refused>, Failed> {
        let is_one_of_several = self.works.len() > 1;
        if is_one_of_several {
            self.connection.execute("SAVEPOINT plan").await.map_err(before)?;
        }
        let refused = match put_rows(self.connection, reading).await {
            Ok(true) => return Ok(Ok(())),
            Ok(false) => None,
            Err(Failed::Refused(refused)) => Some(refused),
            Err(failed) => return Err(failed),
        };
        let back = if is_one_of_several { "ROLLBACK TO SAVEPOINT plan" } else { "ROLLBACK" };
        self.connection.execute(back).await.map_err(before)?;
        if let Some(refused) = refused {
            return Ok(Err(refused));
        }
        let diagnosis = Diagnosis { connection: self.connection, reading, is_within: is_one_of_several };
        match diagnosis.failure().await {
            Failed::Refused(refused) => Ok(Err(refused)),
            failed => Err(failed),
        }
    }

    /// Notes where the job is, and commits.
    async fn end(self) -> Result<(), Failed> {
        let StepWork { table, step, .. } = self.step;
        let token = Token { time: self.store.clock.next(), ..self.store.token() };
        let mut params = Params::default();
        let values = [token.session, token.number, token.time].map(|value| params.add(Param::Number(value)));
        let sql = format!(
            "INSERT INTO {} (session, number, time) VALUES ({})",
            self.store.commits,
            values.join(", ")
        );
        let put = record::put(&self.store.catalog, table.id, &step.name, step.to.as_ref());
        match self.connection.query_all_and_commit(&[Call { sql, params }, put]).await {
            Ok(()) => {
                self.store.tokens.remove_old(self.connection, &self.store.commits, token).await;
                Ok(())
            }
            Err(error) if is_lost(&error) => Err(Failed::Lost(token)),
            Err(error) if is_conflict(&error) => Err(Failed::Again),
            Err(error) => Err(Refused::whole(of_server(error)).into()),
        }
    }
}

/// Returns the refusal of a step that another process has carried out, or of a job that has ended meanwhile.
#[cold]
fn overtaken(name: &str) -> Error {
    let because =
        format!("somebody else goes on with the job `{name}`, or it has ended; look again at how far it is");
    executor::error(ErrorKind::ConditionNotMet, because)
}
