//! What it takes to bring the entities of a kind to the version that a struct declares.
//!
//! While entities are converted no index is kept, and uniqueness is found out when the indexes are filled. The pass removes
//! copies by their kinds alone, whatever index they were of, because a previous version's struct declares none. A later version
//! may take over from one whose conversion is under way; rows of three versions are read then.

use std::fmt;
use std::marker::PhantomData;

use super::convert::{Convert, renews};
use super::kind::of_struct;
use super::rebuild::Rebuild;
use super::{Job, JobProgress, STEP, Work};
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::schema::{KindState, Schema};
use crate::typed::entity::{Entity, InOneTable};

impl Tables {
    /// Returns what it takes to bring the entities of a kind to the version that its struct declares; nothing is begun yet.
    ///
    /// Rows of a previous version are read as soon as a program knows what they become, each converted when it is read. The
    /// migration writes them anew, in steps, while others read and write; then it makes the indexes. From its beginning on
    /// programs of previous versions write the kind no more.
    ///
    /// ```
    /// # use table_core::{Entity, ErrorKind, Store};
    /// # mod before {
    /// #     use table_core::Entity;
    /// #     #[derive(Entity)]
    /// #     #[entity(table = "Company", kind = "employee")]
    /// #     #[key(partition = "{department}", row = "empid_{id:06}")]
    /// #     pub struct Employee { pub department: String, pub id: u32, pub name: String }
    /// # }
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// # store.table::<before::Employee>()?.bulk_insert((0..1_000).map(|id| before::Employee {
    /// #     department: "Sales".into(), id, name: "Jun Cao".into(),
    /// # }))?.into_result()?;
    /// // The struct as it was, by which rows are read that are not converted yet.
    /// #[derive(Entity)]
    /// #[entity(kind = "employee", version = 1, former)]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// struct EmployeeV1 { department: String, id: u32, name: String }
    ///
    /// #[derive(Entity)]
    /// #[entity(table = "Company", kind = "employee", version = 2, from = EmployeeV1)]
    /// #[key(partition = "{department}", row = "empid_{id:06}")]
    /// struct Employee { department: String, id: u32, first_name: String, last_name: String }
    ///
    /// impl From<EmployeeV1> for Employee {
    ///     fn from(former: EmployeeV1) -> Self {
    ///         let (first, last) = former.name.split_once(' ').unwrap_or((&former.name, ""));
    ///         let (first_name, last_name) = (first.to_owned(), last.to_owned());
    ///         Self { department: former.department, id: former.id, first_name, last_name }
    ///     }
    /// }
    ///
    /// let staff = store.table::<Employee>()?;
    /// assert_eq!(staff.get(Employee::key("Sales", 7))?.unwrap().last_name, "Cao");
    /// let rename = || staff.update(Employee::key("Sales", 7), |employee| employee.last_name = "Jones".into());
    /// assert_eq!(rename().err().map(|e| e.kind()), Some(ErrorKind::MigrationPending));
    ///
    /// let migration = store.migration::<Employee>()?;
    /// println!("{migration}");
    /// assert_eq!((migration.from(), migration.rows()), (Some(1), 1_000));
    /// migration.run()?;
    /// assert_eq!(rename()?.last_name, "Jones");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn migration<E: InOneTable>(&self) -> Result<Migration<E>> {
        let table = self.table::<E>()?.dynamic().clone();
        Migration::of(table)
            .map_err(|error| error.attempted("plan the migration of").table(E::SCHEMA.table()))
    }
}

/// What it takes to bring the entities of a kind to the version that its struct declares; see
/// [`Store::migration`](crate::Tables::migration).
///
/// Its `Display` says so for people: how much there is to do, and what is served meanwhile.
#[must_use = "a migration does nothing until it is run"]
pub struct Migration<E> {
    table: DynamicTable,
    from: Option<u32>,
    state: KindState,
    rows: u64,
    bytes: u64,
    keeps_keys: bool,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> Migration<E> {
    fn of(table: DynamicTable) -> Result<Self> {
        let jobs = table.exec().jobs()?;
        let (index_states, noted) = jobs.version(E::SCHEMA)?;
        let (rows, bytes) = (jobs.row_count()?, jobs.byte_count()?);
        let from = match &index_states.kind {
            KindState::Stable => noted.filter(|version| *version != E::SCHEMA.version),
            KindState::Converting { from } | KindState::Stopped { from, .. } => Some(*from),
        };
        let keeps_keys = from.is_none_or(|from| E::SCHEMA.keeps_keys_since(from));
        let state = index_states.kind;
        Ok(Self { table, from, state, rows, bytes, keeps_keys, entity: PhantomData })
    }

    /// Returns the earliest version that rows may be of, if that is not the struct's own.
    pub fn from(&self) -> Option<u32> {
        self.from
    }

    /// Returns the version that they become.
    pub fn to(&self) -> u32 {
        E::SCHEMA.version
    }

    /// Returns how many rows the table has: each is looked at once to be converted, and twice for each index that is made.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns how many bytes they and their keys have.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns in about how many transactions they are converted.
    pub fn transactions(&self) -> u64 {
        if self.is_needed() {
            self.rows.div_ceil(STEP.rows).max(self.bytes.div_ceil(STEP.bytes()))
        } else {
            0
        }
    }

    /// Returns whether there are, or may be, rows to be written anew: of a previous version, or with a property under the
    /// name that it had. Of a property with a previous name, by `was`, there may always be some: a run says how many it has
    /// changed.
    pub fn is_needed(&self) -> bool {
        self.from.is_some() || renews(E::SCHEMA)
    }

    /// Returns whether entities are written while it runs: not those whose key changes.
    pub fn writes_meanwhile(&self) -> bool {
        self.keeps_keys
    }

    /// Converts everything, and makes the indexes that are not ready then.
    ///
    /// An entity that can't be converted stops it with [`NotConverted`](crate::ErrorKind::NotConverted), which says which
    /// and why. When that is mended, or the conversion, it goes on where it was.
    pub fn run(self) -> Result<JobProgress> {
        self.steps()?.run()
    }

    /// Returns the migration as a job, which is run step by step. This call begins it: from here on programs of previous
    /// versions write no more.
    pub fn steps(self) -> Result<Job<'static>> {
        let mut works: Vec<Box<dyn Work>> = vec![Box::new(Convert::<E>::new())];
        works.extend(
            (0..E::SCHEMA.indexes.len())
                .map(|index| -> Box<dyn Work> { Box::new(Rebuild::of(of_struct::<E>(), index)) }),
        );
        Job::new(&self.table, works).begun("begin the migration of")
    }
}

impl<E: Entity> fmt::Display for Migration<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Schema { kind, version, indexes, .. } = E::SCHEMA;
        let Some(from) = self.from else {
            if !self.is_needed() {
                return write!(f, "`{kind}` is of version {version}: nothing is to be converted");
            }
            return write!(
                f,
                "`{kind}` is of version {version}: of {} rows, {} bytes, those with a property under its former name, or one that is to go, are \
                 written anew, in about {} transactions; all is read and written meanwhile",
                self.rows,
                self.bytes,
                self.transactions()
            );
        };
        writeln!(
            f,
            "`{kind}` becomes version {version} from version {from} on: {} rows, {} bytes, in about {} transactions",
            self.rows,
            self.bytes,
            self.transactions()
        )?;
        match &self.state {
            KindState::Stable => writeln!(f, "it is not begun, and programs of version {from} still write")?,
            KindState::Converting { .. } => writeln!(f, "it is begun, and goes on where it is")?,
            KindState::Stopped { entity: (partition, row), why, .. } => writeln!(
                f,
                "it has stopped at partition `{}`, row `{}`: {why}",
                partition.escape_debug(),
                row.escape_debug()
            )?,
        }
        if self.keeps_keys {
            writeln!(f, "meanwhile entities are read, each converted, and written in version {version}")?;
        } else {
            writeln!(
                f,
                "their key changes: meanwhile one is read by its key, if that tells the former one, and none is written"
            )?;
        }
        write!(f, "programs of previous versions write no more once it is begun")?;
        let names: Vec<_> = indexes.iter().map(|index| format!("`{}`", index.name)).collect();
        if names.is_empty() {
            return Ok(());
        }
        write!(f, "\nthen these indexes are made, which are not read until they are: {}", names.join(", "))
    }
}

impl<E: Entity> fmt::Debug for Migration<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Migration")
            .field("kind", &E::SCHEMA.kind)
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}
