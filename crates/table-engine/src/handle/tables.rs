//! The tables of a store as the user holds them.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::snapshot::Snapshot;
use super::table::DynamicTable;
use crate::error::{ErrorKind, Result};
use crate::executor::{Backend, no_snapshots};

/// The tables of a store, whatever carries out its reads and writes.
///
/// A store on LMDB, `Store`, lends this handle: its methods are called on the store. Code that is to run on any store takes
/// `&Tables`, to which `&Store` coerces. It is cheap to clone, may be shared between threads, and keeps the store open.
///
/// ```
/// use table_core::{DynamicEntity, Result, Store, Tables};
///
/// fn hire(tables: &Tables, name: &str) -> Result<()> {
///     let company = tables.create_table_if_missing("Company")?;
///     company.insert(&DynamicEntity::new("Sales", "empid_000001").with("LastName", name)).map(drop)
/// }
///
/// let store = Store::temporary()?;
/// hire(&store, "Jones")?;
/// assert_eq!(store.tables()?, ["Company"]);
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Tables {
    backend: Arc<dyn Backend>,
}

impl Tables {
    #[doc(hidden)]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    /// Returns what carries out its reads and writes.
    #[doc(hidden)]
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Creates a table. Names are compared without regard to case and kept as given.
    pub fn create_table(&self, name: &str) -> Result<DynamicTable> {
        let created = self.backend.clone().create(name);
        created.map(DynamicTable::new).map_err(|e| e.attempted("create").table(name))
    }

    /// Returns the table of this name.
    pub fn dynamic_table(&self, name: &str) -> Result<DynamicTable> {
        let found = self.backend.clone().open(name);
        found.map(DynamicTable::new).map_err(|e| e.attempted("open").table(name))
    }

    /// Returns the table of this name, created if there is none.
    pub fn create_table_if_missing(&self, name: &str) -> Result<DynamicTable> {
        loop {
            match self.dynamic_table(name) {
                Err(e) if e.kind() == ErrorKind::TableNotFound => {}
                found => return found,
            }
            match self.create_table(name) {
                // Another thread or process was quicker.
                Err(e) if e.kind() == ErrorKind::TableAlreadyExists => {}
                created => return created,
            }
        }
    }

    /// Returns the names of all tables, in alphabetical order without regard to case.
    pub fn tables(&self) -> Result<Vec<String>> {
        self.backend.tables().map_err(|e| e.attempted("list the tables"))
    }

    /// Drops a table with all its entities.
    ///
    /// It takes one small transaction, however many there are, and the name is free at once. The space comes back
    /// in the background, in small steps between other writes. Of a store on LMDB, `Store::reclaim` waits for it, and
    /// `Store::stats` tell if it can't.
    ///
    /// A table that is not there is [`TableNotFound`](ErrorKind::TableNotFound), with the
    /// [code](crate::Error::code) that the service has for it here, `ResourceNotFound`.
    ///
    /// One that holds entities whose copies are in another table, or such copies, goes with the other by
    /// [`drop_tables`](Self::drop_tables). Where it goes alone, the index is to be made again: what reads by it is
    /// [`IndexBuilding`](ErrorKind::IndexBuilding) until [`Table::rebuild`](crate::Table::rebuild) is through, so that copies
    /// of entities that are gone are never found. A store without jobs refuses it by
    /// [`CopiesElsewhere`](ErrorKind::CopiesElsewhere).
    pub fn drop_table(&self, name: &str) -> Result<()> {
        self.backend.clone().drop_tables(&[name]).map_err(|e| {
            let e = if e.kind() == ErrorKind::TableNotFound { e.with_code("ResourceNotFound") } else { e };
            e.attempted("drop").table(name)
        })
    }

    /// Drops tables with all their entities, together or not at all, as [`drop_table`](Self::drop_table) does.
    pub fn drop_tables(&self, names: &[&str]) -> Result<()> {
        self.backend.clone().drop_tables(names).map_err(|e| {
            let e = if e.kind() == ErrorKind::TableNotFound { e.with_code("ResourceNotFound") } else { e };
            e.attempted("drop")
        })
    }

    /// Gives a table another name, with all that is in it, in one small transaction.
    ///
    /// Structs that lie there, or have copies there, are to name it so from then on: `#[entity(table = "..")]`. What is noted
    /// of them says it already. Handles of the table, in whatever process, are [`TableNotFound`](ErrorKind::TableNotFound),
    /// and say what it is called now. To open it by the old name is [`TableRenamed`](ErrorKind::TableRenamed) and makes no
    /// table, for a struct that declares it and for [`create_table_if_missing`](Self::create_table_if_missing). The last
    /// eight names are kept, until [`create_table`](Self::create_table) makes a table of the name, or another is renamed to
    /// it.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let store = Store::open(dir.path().join("company.tables"))?;
    /// let staff = store.create_table("Staff")?;
    /// staff.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
    /// store.rename_table("Staff", "Employees")?;
    /// assert!(store.dynamic_table("Employees")?.get("Sales", "empid_000001")?.is_some());
    /// assert_eq!(store.dynamic_table("Staff").unwrap_err().kind(), table_core::ErrorKind::TableRenamed);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rename_table(&self, table: &str, name: &str) -> Result<()> {
        self.backend.rename_table(table, name).map_err(|e| e.attempted("rename").table(table))
    }

    /// Returns a view of all tables at one moment. Reads through it see nothing of later writes, and never wait for a
    /// writer.
    ///
    /// A store that can't show one state to several reads, as the Table service can't, refuses it:
    /// [`Unsupported`](ErrorKind::Unsupported).
    pub fn snapshot(&self) -> Result<Snapshot> {
        if !self.backend.abilities().snapshot {
            return Err(no_snapshots().attempted("take a snapshot"));
        }
        self.read_snapshot()
    }

    /// Returns what the engine reads by for itself: on a store without snapshots, each read is of what is there then.
    pub(crate) fn read_snapshot(&self) -> Result<Snapshot> {
        let snapshot = self.backend.clone().read_snapshot();
        snapshot.map(Snapshot::new).map_err(|e| e.attempted("take a snapshot"))
    }

    /// Returns what the store has done since this process opened it; [`Unsupported`](ErrorKind::Unsupported) if its backend does
    /// not count.
    #[cfg(feature = "metrics")]
    pub fn metrics(&self) -> Result<crate::metrics::Metrics> {
        self.backend.metrics().map_err(|e| e.attempted("read the metrics"))
    }

    /// Returns whether it was opened for reading only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.backend.is_read_only()
    }

    /// Returns the directory that the store lies in.
    pub fn path(&self) -> &Path {
        self.backend.path()
    }
}

impl fmt::Debug for Tables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tables").field("path", &self.path()).finish_non_exhaustive()
    }
}
