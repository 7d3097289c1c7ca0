//! Sealing anew what is sealed with keys of former times, or not yet.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, JobStep, Loader, Position};
use crate::handle::table::DynamicTable;
use crate::schema;
use crate::sealing::job::{Resealing, SealedRow, SealedValue};
use crate::typed::change::Change;
use crate::typed::change::driver;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::entity::Entity;
use crate::typed::read::key::Key;
use crate::typed::table::Table;

/// The most rows that a step looks at: so few that writers don't wait long for the transaction that it makes.
const ROWS: u64 = 500;

/// So often a step is tried when others write its rows; each time it is half as large.
const ATTEMPTS: u32 = 64;

/// The most errors that a report keeps.
const FAILURES: usize = 100;

impl<E: Entity> Table<E> {
    /// A job that seals anew, with the keys that are current now, every value of the entities that is sealed with
    /// another key; and values that are plain, where [`#[encrypt(dual)]`](derive@crate::Entity) says that there may be
    /// such. To be run after a rotation, and when a property is to become encrypted.
    ///
    /// The tokens of fields with `#[encrypt(blind)]` are made anew with them, and copies that lie under tokens move along:
    /// a lookup finds them at any time.
    ///
    /// Each entity is changed with its copies in one transaction, which it shares with others. What readers and editors
    /// have of it stays good: the entity is the same, and so are its ETag and its time. A job may run beside readers
    /// and writers, and gives way to them between its [steps](Reencryption::step). How far it has come is kept in the
    /// store: one that was stopped, or killed, goes on from there when it is made again.
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
    /// let mut job = staff.reencrypt();
    /// while job.step()? {
    ///     println!("{}", job.report()); // 500 rows seen, 1000 left; 500 entities sealed anew, 0 failed
    /// }
    /// assert_eq!((job.report().changed, job.report().failed), (1_500, 0));
    ///
    /// // Nothing is left under the old key, in no row of no table: else this would be refused.
    /// store.encryption()?.destroy(old.handle)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reencrypt(&self) -> Reencryption<E> {
        Reencryption {
            table: self.clone(),
            has_begun: false,
            left_out: Vec::new(),
            ahead: 0,
            has_ended: false,
            report: ReencryptReport::default(),
        }
    }
}

/// A job that seals values anew; see [`Table::reencrypt`].
#[must_use = "a job does nothing until it is run"]
pub struct Reencryption<E: Entity> {
    table: Table<E>,
    has_begun: bool,
    /// Entities of the step at hand that can't be sealed anew, and why.
    left_out: Vec<((String, String), Error)>,
    /// How many were sealed anew though their step failed.
    ahead: u64,
    has_ended: bool,
    report: ReencryptReport,
}

/// How far a job has come.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ReencryptReport {
    /// How many rows were looked at, copies and those of other kinds too; by former runs as well, if the job goes on
    /// from where one was broken off.
    pub seen: u64,
    /// How many rows of the table were not looked at yet. Others write meanwhile, so it is about that many.
    pub left: u64,
    /// How many entities were sealed anew, by former runs as well.
    pub changed: u64,
    /// How many could not be, since this job was made: their keys are lost, say.
    pub failed: u64,
    /// Why; of the first hundred.
    pub failures: Vec<Error>,
}

impl<E: Entity> Reencryption<E> {
    /// Goes on to the end.
    ///
    /// An entity that can't be sealed anew does not stop the job: the report says which it was.
    pub fn run(mut self) -> Result<ReencryptReport> {
        while self.step()? {}
        Ok(self.report)
    }

    /// Looks at the next 500 rows and seals anew what needs it, in one transaction, which keeps how far the job is; returns
    /// whether there is more to do. After an error the job may go on with the next step.
    ///
    /// If a key was rotated since the job began, it begins again at its end.
    pub fn step(&mut self) -> Result<bool> {
        if self.has_ended || !const { E::SCHEMA.seals() } {
            return Ok(false);
        }
        let table = self.table.dynamic().clone();
        self.next_stretch(&table).map_err(|error| error.attempted("re-encrypt in").table(table.name()))
    }

    /// How far the job has come.
    pub fn report(&self) -> &ReencryptReport {
        &self.report
    }

    /// Gives the job up: what it has sealed anew stays so, and the next begins from the start.
    pub fn cancel(self) -> Result<()> {
        let table = self.table.dynamic();
        let cancel = || table.exec().jobs()?.keep(&name::<E>(), None);
        cancel().map_err(|error: Error| error.attempted("give up a job over").table(table.name()))
    }

    fn next_stretch(&mut self, table: &DynamicTable) -> Result<bool> {
        let (keys, jobs) = (table.exec().resealing()?, table.exec().jobs()?);
        let name = name::<E>();
        if !self.has_begun {
            begin::<E>(table, keys, &name)?;
            self.has_begun = true;
        }
        let mut most = ROWS;
        for _ in 0..ATTEMPTS {
            let Some(at) = jobs.job(&name)? else {
                // Somebody else has brought it to its end.
                self.has_ended = true;
                return Ok(false);
            };
            let mut loader = table.loader();
            let (to, mut made) = self.make(table, &at, most, &mut *loader)?;
            let step = JobStep { name: name.clone(), from: at.clone(), to: to.clone(), epoch: None };
            loader.add_step(step).map_err(|refused| refused.error)?;
            let mut has_failed = false;
            for (number, done) in loader.carry_out()?.into_iter().enumerate() {
                let Err(refused) = done else {
                    // Those of a step that fails all the same are found sealed by the next.
                    self.ahead += u64::from(number < made.entities.len());
                    continue;
                };
                has_failed = true;
                let kind = refused.error.kind();
                if was_overtaken(kind) {
                    continue;
                }
                if kind.stops() || number >= made.entities.len() {
                    return Err(refused.error);
                }
                if let Some(entity) = made.entities.get(number) {
                    self.left_out.push((entity.clone(), refused.error));
                }
            }
            if !has_failed {
                self.note(to.as_ref().unwrap_or(&at), keys.row_count()?, std::mem::take(&mut made.failures));
                self.has_ended = to.is_none();
                return Ok(!self.has_ended);
            }
            most = (most / 2).max(1);
        }
        Err(Error::new(ErrorKind::ConditionNotMet).because("others were quicker each time"))
    }

    /// Hands over what is to be sealed anew behind where the job is.
    fn make(
        &self,
        table: &DynamicTable,
        at: &JobRecord,
        most: u64,
        loader: &mut dyn Loader,
    ) -> Result<(Option<JobRecord>, Made)> {
        let keys = table.exec().resealing()?;
        let (mut to, mut made) = (at.clone(), Made::default());
        let after = to.position.as_ref().map(|at| (at.partition.clone(), at.row.clone()));
        let stretch = keys.sealed_rows_after(E::SCHEMA, after.as_ref(), most)?;
        let Some((partition, row)) = stretch.last else {
            // If a key was rotated meanwhile, the job begins again.
            let generation = keys.generation()?;
            if to.stamp == generation {
                return Ok((None, made));
            }
            keys.await_writers()?;
            return Ok((Some(JobRecord { position: None, done: 0, stamp: generation, ..to }), made));
        };
        self.seal(table, stretch.entities, loader, &mut made)?;
        to.position = Some(Position { partition, row });
        to.done += stretch.rows;
        to.changed += self.ahead + u64::try_from(made.entities.len()).unwrap_or(u64::MAX);
        Ok((Some(to), made))
    }

    /// Hands over those of the entities that need to be sealed anew.
    fn seal(
        &self,
        table: &DynamicTable,
        rows: Vec<SealedRow>,
        loader: &mut dyn Loader,
        made: &mut Made,
    ) -> Result<()> {
        let sealer = table.sealer();
        for row in rows {
            let mut is_current = true;
            for SealedValue { field, key, token } in &row.values {
                let field = E::SCHEMA.fields.get(*field);
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
            let key = Key::<E>::stored(&entity.0, &entity.1);
            match driver::loaded(table, &mut EntityAttempt::new(key, Change::<E>::Reseal), loader) {
                Ok(()) => made.entities.push(entity),
                // One that is gone needs nothing.
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {}
                Err(error) if error.kind().stops() => return Err(error),
                Err(error) => made.failures.push(error),
            }
        }
        Ok(())
    }

    /// Takes note of a step that was carried out.
    fn note(&mut self, now: &JobRecord, rows: u64, failures: Vec<Error>) {
        self.report.seen = now.done;
        self.report.changed = now.changed;
        self.report.left = rows.saturating_sub(now.done);
        self.ahead = 0;
        let left_out = std::mem::take(&mut self.left_out).into_iter().map(|(_, error)| error);
        for error in failures.into_iter().chain(left_out) {
            self.report.failed += 1;
            if self.report.failures.len() < FAILURES {
                self.report.failures.push(error);
            }
        }
    }
}

/// What a step is about to do.
#[derive(Default)]
struct Made {
    /// The entities that are sealed anew, in the order in which their plans were handed over.
    entities: Vec<(String, String)>,
    /// Why others can't be.
    failures: Vec<Error>,
}

/// Whether a refusal says that somebody else was quicker, or that a key has gone meanwhile.
fn was_overtaken(kind: ErrorKind) -> bool {
    kind.is_destroyed()
        || matches!(kind, ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound | ErrorKind::KeySuperseded)
}

/// Under which name the store keeps how far the job is.
fn name<E: Entity>() -> String {
    format!("re-encrypt {}", E::SCHEMA.kind)
}

/// Goes on where a job of former times was broken off, or begins one.
fn begin<E: Entity>(table: &DynamicTable, keys: &dyn Resealing, name: &str) -> Result<()> {
    table.standing(E::SCHEMA, true)?;
    let (jobs, generation) = (table.exec().jobs()?, keys.generation()?);
    let asked = schema::layout(E::SCHEMA);
    // What lies before it was sealed, or found sealed, with the keys that are current.
    let goes_on = |job: &JobRecord| job.stamp == generation && job.asked == asked;
    let begun = jobs.job(name)?;
    if begun.as_ref().is_some_and(goes_on) {
        return Ok(());
    }
    // Whatever was sealed before the keys became what they are is in the table by now, or is refused.
    keys.await_writers()?;
    let job = JobRecord { stamp: generation, ..JobRecord::new(keys.row_count()?, asked) };
    jobs.keep(name, Some(&job))
}

impl fmt::Display for ReencryptReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seen, left, changed, failed, .. } = self;
        write!(f, "{seen} rows seen, {left} left; {changed} entities sealed anew, {failed} failed")
    }
}

impl<E: Entity> fmt::Debug for Reencryption<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reencryption")
            .field("table", &self.table.dynamic().name())
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
