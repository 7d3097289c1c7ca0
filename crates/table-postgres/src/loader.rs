//! Loads: many plans, those that touch no row of each other together.

use std::mem;
use std::sync::Arc;

use table_engine::__executor::{self as executor, JobStep, Loader, Plan, Refused, SealedAt, TableExec};
use table_engine::{Error, ErrorKind, Result};

use crate::commit::{self, ATTEMPTS, Settled, outrun, settle};
use crate::copying::{self, Piece};
use crate::failed::Failed;
use crate::merge::batches;
use crate::step::{StepAttempt, StepOutcome, StepWork};
use crate::store::{ABILITIES, PostgresStore};
use crate::table::{PostgresTable, own};
use crate::work::{Work, WorkRow};

/// The most plans that are taken in before they are carried out, and about the most bytes of their rows.
const MOST_PLANS: usize = 4_096;
const MOST_BYTES: usize = 8 << 20;

/// Takes plans in, and carries them out.
pub(crate) struct PostgresLoader<'t> {
    store: &'t PostgresStore,
    /// Of which the plans are, unless each brings its own.
    tables: Vec<&'t dyn TableExec>,
    works: Vec<Work>,
    /// How many bytes the rows of those have.
    bytes: usize,
    step: Option<StepWork>,
}

impl<'t> PostgresLoader<'t> {
    /// Returns one for plans that bring their tables.
    pub(crate) fn new(store: &'t PostgresStore) -> Self {
        Self { store, tables: Vec::new(), works: Vec::new(), bytes: 0, step: None }
    }

    /// Returns one for plans of rows in these tables, of which this is the first; `None` if they are not of one store.
    pub(crate) fn of_tables(table: &'t PostgresTable, tables: &[&'t dyn TableExec]) -> Option<Self> {
        let is_of_it =
            |other: &&dyn TableExec| own(*other).is_ok_and(|other| Arc::ptr_eq(&other.store, &table.store));
        let is_of_one = tables.iter().all(is_of_it);
        is_of_one.then(|| Self { tables: tables.to_vec(), ..Self::new(&table.store) })
    }

    fn take(
        &mut self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<(), Refused> {
        ABILITIES.check(plan)?;
        let work = Work::of(self.store, tables, plan, sealed_at)?;
        self.bytes += work.rows.iter().map(WorkRow::bytes).sum::<usize>();
        self.works.push(work);
        Ok(())
    }

    /// Says of the refusal of a plan where it is.
    #[cold]
    fn located(&self, work: &Work, refused: Refused) -> Refused {
        work.located(work.say_new_name(self.store, refused))
    }

    /// Carries out plans of which each happens or fails by itself.
    fn carry_out_each(&self, works: &[Work]) -> Result<Vec<Result<(), Refused>>> {
        let mut done = Vec::with_capacity(works.len());
        for piece in copying::pieces(works) {
            match piece {
                Piece::Copied(works) => self.copy(works, &mut done)?,
                Piece::Other(works) => self.carry_out_some(works, &mut done)?,
            }
        }
        Ok(done)
    }

    /// Carries out plans that may be copied together.
    fn copy(&self, works: &[Work], done: &mut Vec<Result<(), Refused>>) -> Result<()> {
        let copied = copying::carry_out(self.store, works)?;
        if copied.iter().all(|copied| !copied) {
            return self.carry_out_some(works, done);
        }
        for (work, copied) in works.iter().zip(copied) {
            done.push(if copied { Ok(()) } else { self.carry_out_one(work) });
        }
        Ok(())
    }

    /// Carries out plans, those together that one statement may carry out.
    fn carry_out_some(&self, works: &[Work], done: &mut Vec<Result<(), Refused>>) -> Result<()> {
        for batch in batches(works) {
            if batch.len() > 1 {
                match commit::commit(self.store, &Work::together(batch)) {
                    Ok(_) => {
                        done.extend(batch.iter().map(|_| Ok(())));
                        continue;
                    }
                    // None of them is to be carried out twice.
                    Err(refused) if refused.error.kind() == ErrorKind::OutcomeUnknown => {
                        return Err(refused.error);
                    }
                    // Something of one of them is refused.
                    Err(_) => {}
                }
            }
            done.extend(batch.iter().map(|work| self.carry_out_one(work)));
        }
        Ok(())
    }

    fn carry_out_one(&self, work: &Work) -> Result<(), Refused> {
        let committed = commit::commit(self.store, work);
        if committed.is_ok() {
            self.store.tell_of(work);
        }
        committed.map(drop).map_err(|refused| self.located(work, refused))
    }

    /// Carries out plans and the step that goes with them, or nothing.
    fn carry_out_step(&self, works: &[Work], step: &StepWork) -> Result<StepOutcome> {
        let together: Vec<_> = batches(works).into_iter().map(Work::together).collect();
        if together.len() < works.len() {
            let outcome = self.attempt(&together, step)?;
            if outcome.is_done() {
                return Ok(StepOutcome::done(works.len()));
            }
            // What of it is refused is not known yet; unless it is the step.
            if outcome.works.iter().all(Result::is_ok) {
                return Ok(StepOutcome { step: outcome.step, ..StepOutcome::done(works.len()) });
            }
        }
        self.attempt(works, step)
    }

    fn attempt(&self, works: &[Work], step: &StepWork) -> Result<StepOutcome> {
        let (store, mut looks) = (self.store, false);
        for _ in 0..ATTEMPTS {
            let mut connection = store.pool.blocking()?;
            let mut is_open = false;
            let attempt = StepAttempt { store, connection: &connection, works, step, looks };
            let outcome = connection.wait(attempt.run(&mut is_open));
            if is_open && !connection.end_transaction() {
                connection.spend();
            }
            match outcome {
                Ok(outcome) => return Ok(outcome),
                Err(Failed::Refused(refused)) => return Err(refused.error),
                Err(Failed::Again) => {}
                Err(Failed::Hidden) => looks = true,
                Err(Failed::Lost(token)) => {
                    connection.spend();
                    drop(connection);
                    if let Settled::Done(_) = settle(&store.pool, &store.commits, token)? {
                        return Ok(StepOutcome::done(works.len()));
                    }
                }
            }
        }
        Err(outrun())
    }
}

impl Loader for PostgresLoader<'_> {
    fn add_of(
        &mut self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<(), Refused> {
        self.take(tables, plan, sealed_at)
    }

    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        let tables = mem::take(&mut self.tables);
        let taken = self.take(&tables, plan, sealed_at);
        self.tables = tables;
        taken
    }

    fn add_step(&mut self, step: JobStep) -> Result<(), Refused> {
        let none = || Refused::whole(executor::error(ErrorKind::TableNotFound, "a step is of one table"));
        let table = self.tables.first().ok_or_else(none)?;
        let table = own(*table).map_err(Refused::whole)?.entry.clone();
        self.step = Some(StepWork { table, step, is_with_its_plan: false });
        Ok(())
    }

    fn add_with_step(&mut self, plan: &Plan<'_>, step: JobStep) -> Result<(), Refused> {
        self.add(plan, &SealedAt::NOTHING)?;
        // One outcome is of both.
        self.add_step(step).inspect_err(|_| drop(self.works.pop()))?;
        if let Some(step) = &mut self.step {
            step.is_with_its_plan = true;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.works.len() >= MOST_PLANS || self.bytes >= MOST_BYTES
    }

    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>> {
        let works = mem::take(&mut self.works);
        self.bytes = 0;
        let Some(step) = self.step.take() else { return self.carry_out_each(&works) };
        let StepOutcome { works: done, step: of_step } = self.carry_out_step(&works, &step)?;
        let is_refused = done.iter().any(Result::is_err);
        if !is_refused && of_step.is_ok() {
            for work in &works {
                self.store.tell_of(work);
            }
        }
        let mut all: Vec<_> = works
            .iter()
            .zip(done)
            .map(|(work, done)| done.map_err(|refused| self.located(work, refused)))
            .collect();
        let of_step = match of_step {
            Ok(()) if is_refused => Err(refused_with_others()),
            of_step => of_step,
        };
        let of_step = of_step.map_err(|error| Refused::whole(error.table(&step.table.name)));
        match all.last_mut() {
            // The plan's own refusal says more.
            Some(last) if step.is_with_its_plan => {
                if last.is_ok() {
                    *last = of_step;
                }
            }
            _ => all.push(of_step),
        }
        Ok(all)
    }
}

/// Returns the refusal of a step with which something else is refused.
#[cold]
fn refused_with_others() -> Error {
    executor::error(ErrorKind::ConditionNotMet, "something of the step was refused")
}
