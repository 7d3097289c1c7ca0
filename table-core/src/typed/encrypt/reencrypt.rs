//! Sealing anew what is sealed with keys of former times, or not yet.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::handle::bulk::load;
use crate::handle::table::DynamicTable;
use crate::schema;
use crate::sealing::job::{self, Progress, Resealing, SealedRow, SealedValue};
use crate::typed::change::Change;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::entity::Entity;
use crate::typed::read::key::Key;
use crate::typed::table::Table;

/// The most rows that a step looks at: so few that writers don't wait long for the transaction that it makes.
const ROWS: u64 = 500;

/// How many steps that had nothing to do may be done again after a crash: saving the progress waits for the disk.
const UNSAVED: u32 = 20;

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
            begun: None,
            has_ended: false,
            report: ReencryptReport::default(),
        }
    }
}

/// A job that seals values anew; see [`Table::reencrypt`].
#[must_use = "a job does nothing until it is run"]
pub struct Reencryption<E: Entity> {
    table: Table<E>,
    begun: Option<Begun>,
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

struct Begun {
    /// Under which the progress is kept.
    name: String,
    progress: Progress,
    /// How many steps it is ahead of what is kept.
    unsaved: u32,
}

impl<E: Entity> Reencryption<E> {
    /// Goes on to the end.
    ///
    /// An entity that can't be sealed anew does not stop the job: the report says which it was.
    pub fn run(mut self) -> Result<ReencryptReport> {
        while self.step()? {}
        Ok(self.report)
    }

    /// Looks at the next 500 rows, and seals anew what needs it, in one transaction or few; returns whether there
    /// is more to do. After an error the job may go on with the next step.
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

    fn next_stretch(&mut self, table: &DynamicTable) -> Result<bool> {
        let keys = table.exec().resealing()?;
        let Begun { name, mut progress, mut unsaved } = match self.begun.take() {
            Some(begun) => begun,
            None => begin::<E>(table, keys)?,
        };
        let stretch = keys.sealed_rows_after(E::SCHEMA, progress.position.as_ref(), ROWS)?;
        let changed = self.seal(table, stretch.entities)?;
        progress.seen += stretch.rows;
        progress.changed += changed;
        self.report.seen = progress.seen;
        self.report.changed = progress.changed;
        self.report.left = keys.row_count()?.saturating_sub(progress.seen);
        if stretch.last.is_some() {
            progress.position = stretch.last;
            unsaved += 1;
            if changed > 0 || unsaved >= UNSAVED {
                keys.save_progress(&name, Some(&progress))?;
                unsaved = 0;
            }
            self.begun = Some(Begun { name, progress, unsaved });
        } else if progress.generation == keys.generation()? {
            keys.save_progress(&name, None)?;
            self.has_ended = true;
        } else {
            // A key was rotated meanwhile.
            let progress = Progress { changed: progress.changed, ..from_the_start(keys)? };
            self.begun = Some(Begun { name, progress, unsaved: 0 });
        }
        Ok(!self.has_ended)
    }

    /// Seals anew the entities that need it; returns how many those were.
    fn seal(&mut self, table: &DynamicTable, rows: Vec<SealedRow>) -> Result<u64> {
        let sealer = table.sealer();
        let mut entities = Vec::new();
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
            if !is_current {
                entities.push(row);
            }
        }
        if entities.is_empty() {
            return Ok(0);
        }
        let key = |row: &SealedRow| Key::<E>::stored(&row.partition, &row.row);
        let done = load(
            &mut *table.loader(),
            entities,
            |row, loader| {
                driver::loaded(table, &mut EntityAttempt::new(key(row), Change::<E>::Reseal), loader)
            },
            |row, _| {
                // Somebody wrote it while it was being sealed.
                let mut attempt = EntityAttempt::new(key(row), Change::<E>::Reseal);
                driver::commit(Together::alone(table), &mut [&mut attempt]).map(drop)
            },
        )?;
        for failure in done.failures {
            // One that is gone needs nothing.
            if failure.error.kind() != ErrorKind::EntityNotFound {
                self.report.failed += 1;
                if self.report.failures.len() < FAILURES {
                    self.report.failures.push(failure.error);
                }
            }
        }
        Ok(done.committed)
    }
}

/// Where a job of former times was broken off, or the start.
fn begin<E: Entity>(table: &DynamicTable, keys: &dyn Resealing) -> Result<Begun> {
    table.standing(E::SCHEMA, true)?;
    let name = job::name("reencrypt", table.exec().id(), E::SCHEMA.kind, &schema::layout(E::SCHEMA));
    let progress = match keys.progress(&name)? {
        // What lies before it was sealed, or found sealed, with the keys that are current.
        Some(progress) if progress.generation == keys.generation()? => progress,
        _ => from_the_start(keys)?,
    };
    Ok(Begun { name, progress, unsaved: 0 })
}

/// Before the first row. Whatever was sealed before the keys became what they are is in the table by now, or is refused.
fn from_the_start(keys: &dyn Resealing) -> Result<Progress> {
    let progress = Progress { generation: keys.generation()?, ..Progress::default() };
    keys.await_writers()?;
    Ok(progress)
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
