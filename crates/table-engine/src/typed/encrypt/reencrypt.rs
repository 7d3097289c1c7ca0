//! Sealing anew what is sealed with older keys, or not yet.
//!
//! The rows keep their ETags and times. So plans compare the rows of their entities by checksums, too: a writer that carries
//! sealed bytes over could otherwise put back those of an old key under an ETag that still fits.

use std::fmt;
use std::time::Instant;

use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, Loader, Position, StepSize};
use crate::handle::table::DynamicTable;
use crate::schema::{self, Schema};
use crate::sealing::job::{SealedRow, SealedValue};
use crate::typed::change::{Change, plan_only};
use crate::typed::entity::Entity;
use crate::typed::job::kind::{JobKind, of_struct};
use crate::typed::job::{Job, Step, StepOutcome, Work};
use crate::typed::table::Table;

/// The most errors that a report keeps.
const FAILURES: usize = 100;

impl<E: Entity> Table<E> {
    /// Returns a job that seals anew, with the keys that are current now, every value of the entities that is sealed with
    /// another key; and values that are plain, where `#[encrypt(dual)]` says that there may be
    /// such. To be run after a rotation, and when a property is to become encrypted.
    ///
    /// The tokens of fields with `#[encrypt(blind)]` are made anew with them, and copies that lie under tokens move along:
    /// a lookup finds them at any time.
    ///
    /// Each entity is changed with its copies in one transaction, which it shares with others. What readers and editors
    /// have of it stays good: the entity is the same, and so are its ETag and its time. How far it has come is kept in the
    /// store: one that was stopped, or killed, goes on from there when it is made again. If a key was rotated since it
    /// began, it begins again at its end.
    ///
    /// An entity that can't be sealed anew does not stop the job: the report says which it was.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use table_core::crypt::{MemoryKeys, Scope};
    /// # use table_core::{Entity, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Payroll", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32, #[encrypt] salary: i64 }
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("payroll.tables");
    /// # let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(&path)?;
    /// let staff = store.table::<Employee>()?;
    /// # for id in 0..1_500 {
    /// #     staff.insert(&Employee { department: "Sales".into(), id, salary: 90_000 })?;
    /// # }
    /// let old = store.encryption()?.keys()?.remove(0);
    /// store.encryption()?.rotate(&Scope::store())?;
    ///
    /// let mut job = staff.reencrypt()?;
    /// while job.step()? {
    ///     println!("{}", job.report()); // 500 rows seen, 1000 left; 500 entities sealed anew, 0 failed
    /// }
    /// assert_eq!((job.report().changed, job.report().failed), (1_500, 0));
    ///
    /// // Nothing is left under the old key, in no row of no table: else this would be refused.
    /// store.encryption()?.destroy(old.handle)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reencrypt(&self) -> Result<Job<'static, ReencryptReport>> {
        reencrypt(self.dynamic(), of_struct::<E>())
    }
}

/// Returns a job that seals anew what is sealed with older keys in the entities of a kind.
pub(crate) fn reencrypt(
    table: &DynamicTable,
    kind: &'static dyn JobKind,
) -> Result<Job<'static, ReencryptReport>> {
    Job::reporting(table, vec![Box::new(Reencrypt::new(kind))]).begun("re-encrypt in")
}

/// How far a job has come that seals values anew; see [`Table::reencrypt`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ReencryptReport {
    /// How many rows were looked at, copies and those of other kinds too; by earlier runs as well, if the job goes on from
    /// where one was broken off.
    pub seen: u64,
    /// How many rows of the table were not looked at yet. Others write meanwhile, so it is about that many.
    pub left: u64,
    /// How many entities were sealed anew, by earlier runs as well.
    pub changed: u64,
    /// How many could not be, since this job was made: their keys are lost, say.
    pub failed: u64,
    /// Why; of the first hundred.
    pub failures: Vec<Error>,
}

/// Seals anew what needs it. In its record the stamp is the generation of the keys when it began, and it was asked for the
/// layout then.
struct Reencrypt {
    kind: &'static dyn JobKind,
    /// Those whose plans were handed over, in the order of these.
    handed: Vec<(String, String)>,
    /// Entities of the step at hand that can't be carried out, and why.
    left_out: Vec<((String, String), Error)>,
    /// Why others of it can't be sealed anew.
    failures: Vec<Error>,
}

impl Reencrypt {
    fn new(kind: &'static dyn JobKind) -> Self {
        let (handed, left_out, failures) = (Vec::new(), Vec::new(), Vec::new());
        Self { kind, handed, left_out, failures }
    }

    fn schema(&self) -> &'static Schema {
        self.kind.schema()
    }

    /// Goes over the next rows, until the step has enough that need to be sealed anew; the last of them, and how many there
    /// were. What others write meanwhile needs nothing, and is passed in large steps.
    fn next(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<Option<(Position, u64)>> {
        let Step { at, size, loader } = step;
        let jobs = table.exec().jobs()?;
        let (begun, mut passed) = (Instant::now(), None::<(Position, u64)>);
        loop {
            let handed = u64::try_from(self.handed.len()).unwrap_or(u64::MAX);
            let size_left = StepSize { rows: size.rows.saturating_sub(handed).max(1) };
            let after = passed.as_ref().map(|(last, _)| last).or(at.position.as_ref());
            let mut sealed = Vec::new();
            let (last, rows) = jobs.rows_after(after, size_left, &mut |view, _| {
                let found = SealedRow::of(self.schema(), view)?;
                let is_asked_for = found.is_some();
                sealed.extend(found);
                Ok(is_asked_for)
            })?;
            self.seal(table, sealed, loader)?;
            let Some(last) = last else { return Ok(passed) };
            let looked = rows + passed.map_or(0, |(_, looked)| looked);
            let handed = u64::try_from(self.handed.len()).unwrap_or(u64::MAX);
            let is_enough = handed >= size.rows || looked >= size.looks() || begun.elapsed() >= size.time();
            passed = Some((last, looked));
            if is_enough {
                return Ok(passed);
            }
        }
    }

    /// Hands over those of the entities that need to be sealed anew.
    fn seal(&mut self, table: &DynamicTable, rows: Vec<SealedRow>, loader: &mut dyn Loader) -> Result<()> {
        let sealer = table.sealer();
        for row in rows {
            let mut is_current = true;
            for SealedValue { field, key, token } in &row.values {
                let field = self.schema().fields.get(*field);
                is_current &= match field.zip(*key) {
                    Some((field, key)) => {
                        sealer.is_current(&row.partition, &row.row, field, key, token.as_deref())?
                    }
                    None => false,
                };
            }
            let entity = (row.partition, row.row);
            if is_current || self.left_out.iter().any(|(left_out, _)| *left_out == entity) {
                continue;
            }
            let mut attempt = self.kind.attempt(&entity.0, &entity.1, Change::Reseal);
            match plan_only::loaded(table, &mut attempt, loader) {
                Ok(true) => self.handed.push(entity),
                // One that is gone needs nothing.
                Ok(false) => {}
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {}
                Err(error) if error.kind().stops() => return Err(error),
                Err(error) => self.failures.push(error),
            }
        }
        Ok(())
    }
}

impl Work<ReencryptReport> for Reencrypt {
    fn name(&self) -> String {
        format!("re-encrypt {}", self.schema().kind)
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        if !self.schema().seals() {
            return Ok(false);
        }
        let (keys, jobs) = (table.exec().resealing()?, table.exec().jobs()?);
        table.index_mask(self.schema(), true)?;
        let (generation, asked) = (keys.generation()?, schema::layout(self.schema()));
        // What lies before it was sealed, or found sealed, with the keys that are current.
        let goes_on = |job: &JobRecord| job.stamp == generation && job.asked == asked;
        if jobs.job(&self.name())?.as_ref().is_some_and(goes_on) {
            return Ok(true);
        }
        // Whatever was sealed before the keys became what they are is in the table by now, or is refused.
        keys.await_writers()?;
        let job = JobRecord { stamp: generation, ..JobRecord::new(jobs.row_count()?, asked) };
        jobs.keep(&self.name(), Some(&job))?;
        Ok(true)
    }

    fn step(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<StepOutcome> {
        let at = step.at;
        let keys = table.exec().resealing()?;
        self.handed.clear();
        self.failures.clear();
        // Rows that come later are sealed with the keys that are current.
        let of_part = at.within(table.exec().jobs()?)?;
        let last = if at.is_at_end() { None } else { self.next(table, step)? };
        let Some((last, rows)) = last else {
            // If a key was rotated meanwhile, the job begins again.
            let generation = keys.generation()?;
            if at.stamp == generation {
                return Ok(StepOutcome::Rows(None, None));
            }
            keys.await_writers()?;
            let again = JobRecord { done: 0, stamp: generation, ..at.in_part(at.phase) };
            return Ok(StepOutcome::Rows(Some(again), None));
        };
        let changed = u64::try_from(self.handed.len()).unwrap_or(u64::MAX);
        let (done, changed) = (at.done + rows, at.changed + changed);
        Ok(StepOutcome::Rows(Some(JobRecord { position: Some(last), done, changed, ..of_part }), None))
    }

    fn leaves_out(&mut self, plan: usize, error: &Error) -> bool {
        let Some(entity) = self.handed.get(plan).filter(|_| !was_overtaken(error.kind())) else {
            return false;
        };
        self.left_out.push((entity.clone(), error.again()));
        true
    }

    fn report(&mut self, now: &JobRecord, report: &mut ReencryptReport) {
        report.seen = now.done;
        report.left = now.total.saturating_sub(now.done);
        report.changed = now.changed;
        let left_out = self.left_out.drain(..).map(|(_, error)| error);
        for error in self.failures.drain(..).chain(left_out) {
            report.failed += 1;
            if report.failures.len() < FAILURES {
                report.failures.push(error);
            }
        }
    }
}

/// Returns whether a refusal says that another writer was quicker, or that a key has gone meanwhile.
fn was_overtaken(kind: ErrorKind) -> bool {
    kind.is_destroyed() || matches!(kind, ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound)
}

impl fmt::Display for ReencryptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seen, left, changed, failed, .. } = self;
        write!(f, "{seen} rows seen, {left} left; {changed} entities sealed anew, {failed} failed")
    }
}
