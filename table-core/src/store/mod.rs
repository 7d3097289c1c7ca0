//! The store on LMDB.

mod apply;
mod batch;
mod bulk;
mod check;
mod commit;
mod cursor;
mod encode;
#[cfg(feature = "encrypt")]
mod encrypting;
mod filtered;
pub(crate) mod key;
#[cfg(feature = "encrypt")]
mod keys;
mod kind;
mod lanes;
pub(crate) mod lmdb;
mod numbers;
pub(crate) mod open;
mod page;
mod partition;
mod prepare;
mod read;
mod reclaim;
mod records;
pub(crate) mod row;
pub(crate) mod row_write;
mod rows;
mod scan;
mod seal;
#[cfg(feature = "encrypt")]
mod sealed;
mod sign;
mod snapshot;
mod stats;
mod table;
pub(crate) mod view;
mod walk;

#[cfg(test)]
mod format_tests;
#[cfg(test)]
mod tests_time;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::{Duration, Instant};

use self::commit::Writer;
use self::open::Environment;
use self::reclaim::Reclaimer;
use self::records::catalog::{Entry, TableState};
use self::records::dict::Dict;
use self::records::meta::Meta;
use self::snapshot::Live;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::Schema;
use crate::typed::{Egt, Entity, EntitySet, MemberOf, Partition, SetTable, Table};

pub use self::batch::Batch;
pub use self::bulk::{BulkFailure, BulkReport};
pub use self::check::{CheckReport, Problem};
pub(crate) use self::encode::is_as_written;
#[cfg(feature = "encrypt")]
pub use self::encrypting::{EncryptingRows, EncryptingTable};
#[cfg(feature = "encrypt")]
pub use self::keys::{Encryption, KeyInfo, Progress};
pub(crate) use self::lanes::Lanes;
pub(crate) use self::numbers::PropertyNumber;
pub use self::open::{Durability, OpenOptions};
pub use self::page::Page;
#[cfg(feature = "encrypt")]
pub(crate) use self::prepare::Prepared;
pub use self::reclaim::ReclaimFailure;
pub use self::records::mark::Mark;
use self::records::{catalog, counts, layouts};
pub(crate) use self::records::{dict, meta};
pub(crate) use self::rows::Refilling;
pub use self::rows::{Rows, SnapshotRows, Views};
pub(crate) use self::seal::{
    SealedAt, Sealer, generation as keys_generation, looks_sealed, open as open_sealed, tokens as live_tokens,
};
#[cfg(feature = "encrypt")]
pub use self::sealed::SealedValues;
#[cfg(feature = "encrypt")]
pub(crate) use self::sealed::{SealedRow, SealedValue};
pub(crate) use self::sign::check_signed;
pub use self::snapshot::{Snapshot, SnapshotInfo};
pub use self::stats::{OldestSnapshot, SpaceStats, StoreStats, TableStats};
pub use self::table::DynamicTable;
pub use self::view::RowView;

/// Tables of entities in a directory on disk.
///
/// A store is cheap to clone and may be shared between threads; several processes may have it open. Every change is
/// one transaction: it happens whole, or not at all, and when the call returns it is on disk.
///
/// ```
/// use table_core::{DynamicEntity, IfMatch, Store};
///
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("company.tables");
/// let store = Store::open(&path)?;
/// let company = store.create_table("Company")?;
///
/// company.insert(&DynamicEntity::new("Sales", "empid_000001").with("LastName", "Jones"))?;
/// let jones = company.get("Sales", "empid_000001")?.unwrap();
/// assert_eq!(jones.get("LastName").and_then(|name| name.as_str()), Some("Jones"));
///
/// // Only the version that was read is deleted.
/// company.delete("Sales", "empid_000001", jones.etag().unwrap())?;
/// assert_eq!(company.get("Sales", "empid_000001")?, None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// What every handle of a store shares; one for each store that the process has open.
pub(crate) struct Inner {
    environment: Environment,
    tables: RwLock<HashMap<u32, Arc<TableState>>>,
    writer: Writer,
    live: Live,
    reclaimer: Reclaimer,
    #[cfg(feature = "encrypt")]
    encryption: Option<Encryption>,
    /// The store's identity.
    #[cfg(feature = "encrypt")]
    identity: [u8; 16],
    /// Held by the change that others have been too quick for.
    turn: Mutex<()>,
}

impl Inner {
    /// The process's knowledge of a table, shared between its handles.
    fn state(&self, entry: &Entry) -> Arc<TableState> {
        let known = self.tables.read().unwrap_or_else(PoisonError::into_inner).get(&entry.id).cloned();
        known.unwrap_or_else(|| {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            tables.entry(entry.id).or_insert_with(|| Arc::new(self.new_state(entry))).clone()
        })
    }

    fn new_state(&self, entry: &Entry) -> TableState {
        TableState::new(entry, self.new_dict(entry))
    }

    /// A table's dictionary, of which nothing is known yet.
    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn new_dict(&self, _: &Entry) -> Dict {
        Dict::default()
    }

    /// A table's dictionary, of which nothing is known yet.
    #[cfg(feature = "encrypt")]
    fn new_dict(&self, entry: &Entry) -> Dict {
        Dict::with_keys(
            self.encryption.clone(),
            sign::Binding { store: self.identity, table: entry.identity },
        )
    }

    /// Runs a change of the small records in a transaction of its own.
    fn transact<T>(
        &self,
        change: impl FnOnce(&mut lmdb::WriteTxn<'_>, &lmdb::Databases, &mut Meta) -> Result<T>,
    ) -> Result<T> {
        let _lead = self.writer.lead()?;
        let run = || {
            let mut txn = self.environment.write_txn()?;
            let dbs = &self.environment.dbs;
            let mut meta = Meta::begin(dbs.main, &txn)?;
            let done = change(&mut txn, dbs, &mut meta)?;
            meta.write(dbs.main, &mut txn)?;
            self.environment.commit(txn)?;
            Ok(done)
        };
        run().map_err(|error| self.writer.judge(self, error))
    }

    fn forget(&self, table: u32) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(&table);
    }
}

impl Store {
    /// Opens the store in this directory, durable and ready; creates it if there is none.
    ///
    /// A second open of one store in a process gives the same store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::options().open(path)
    }

    /// How to open a store other than with the defaults.
    pub fn options() -> OpenOptions {
        OpenOptions::default()
    }

    /// Creates a table. Names are compared without regard to case and kept as given.
    pub fn create_table(&self, name: &str) -> Result<DynamicTable> {
        let entry = self.inner.transact(|txn, dbs, meta| catalog::create(dbs, txn, meta, name));
        entry.map(|entry| self.handle(&entry)).map_err(|e| e.attempted("create").table(name))
    }

    /// The table of this name.
    pub fn dynamic_table(&self, name: &str) -> Result<DynamicTable> {
        let find = || {
            self.inner.writer.check_running()?;
            let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
            let found = catalog::find(dbs, &txn, &Meta::read(dbs.main, &txn)?, name)?;
            found.ok_or_else(|| {
                Error::new(ErrorKind::TableNotFound).because("there is no such table; create it first")
            })
        };
        find().map(|entry| self.handle(&entry)).map_err(|e| e.attempted("open").table(name))
    }

    /// The table of this name, created if there is none.
    pub fn create_table_if_missing(&self, name: &str) -> Result<DynamicTable> {
        loop {
            match self.dynamic_table(name) {
                Err(e) if e.kind() == ErrorKind::TableNotFound => {}
                found => return found,
            }
            match self.create_table(name) {
                // Somebody else was quicker.
                Err(e) if e.kind() == ErrorKind::TableAlreadyExists => {}
                created => return created,
            }
        }
    }

    /// The table of this entity, created if there is none, for entities of this type.
    ///
    /// The store notes how each kind of entity is laid out. One that is declared otherwise than when it was last
    /// written is [`LayoutChanged`](ErrorKind::LayoutChanged), with the difference: its rows would be read wrongly.
    /// Some changes do no harm: a further `Option` or `#[property(default)]` field, an integer that grows, a field that
    /// becomes an `Option`.
    pub fn table<E: Entity>(&self) -> Result<Table<E>> {
        self.table_of(&[E::SCHEMA]).map(Table::new)
    }

    /// The table of these kinds, created if there is none.
    fn table_of(&self, kinds: &[&'static Schema]) -> Result<DynamicTable> {
        let name = kinds.first().map_or("", |schema| schema.table);
        let table = if self.inner.writer.is_read_only() {
            self.dynamic_table(name)?
        } else {
            self.create_table_if_missing(name)?
        };
        for schema in kinds {
            layouts::register(&self.inner, table.state(), schema)
                .map_err(|e| e.attempted("open").table(name))?;
        }
        Ok(table)
    }

    /// The table of this set's kinds, created if there is none.
    pub fn set<Set: EntitySet>(&self) -> Result<SetTable<Set>> {
        self.table_of(Set::KINDS).map(SetTable::new)
    }

    /// Changes of several entities of one partition, of any kinds of the set, to be made together or not at all; see
    /// [`Egt`]. If the table can't be opened, committing says so.
    pub fn egt<'c, Set: EntitySet>(&self, partition: Partition<impl MemberOf<Set>>) -> Egt<'c, Set> {
        Egt::new(self.table_of(Set::KINDS), partition)
    }

    /// The names of all tables, in alphabetical order without regard to case.
    pub fn tables(&self) -> Result<Vec<String>> {
        let list = || {
            self.inner.writer.check_running()?;
            let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
            catalog::list(dbs, &txn, &Meta::read(dbs.main, &txn)?)
        };
        let entries = list().map_err(|e| e.attempted("list the tables"))?;
        Ok(entries.into_iter().map(|entry| entry.name.into()).collect())
    }

    /// Drops a table with all its entities.
    ///
    /// It takes one small transaction, however many there are, and the name is free at once. The space comes back
    /// in the background, in small steps between other writes; [`reclaim`](Self::reclaim) waits for it, and
    /// [`stats`](Self::stats) tell if it can't.
    ///
    /// A table that is not there is [`TableNotFound`](ErrorKind::TableNotFound), with the [code](Error::code) that the
    /// service has for it here, `ResourceNotFound`.
    pub fn drop_table(&self, name: &str) -> Result<()> {
        let entry = self
            .inner
            .transact(|txn, dbs, meta| {
                // What is vouched for anew was vouched for before.
                self.inner.verify_tables(txn, meta)?;
                let entry = catalog::bury(dbs, txn, meta, name)?;
                self.inner.forget_vouched(txn, meta, &entry)?;
                Ok(entry)
            })
            .map_err(
                |e| if e.kind() == ErrorKind::TableNotFound { e.with_code("ResourceNotFound") } else { e },
            )
            .map_err(|e| e.attempted("drop").table(name))?;
        self.inner.forget(entry.id);
        reclaim::start(&self.inner);
        Ok(())
    }

    /// Frees the space of dropped tables before it returns; returns how many rows that were.
    ///
    /// A store does this by itself in the background, and [`stats`](Self::stats) tell if it can't. Other writers get
    /// their turns in between.
    pub fn reclaim(&self) -> Result<u64> {
        reclaim::run(&self.inner)
    }

    /// A view of all tables at one moment. Reads through it see nothing of later writes, and never wait for a
    /// writer.
    pub fn snapshot(&self) -> Result<Snapshot> {
        Snapshot::new(&self.inner).map_err(|e| e.attempted("take a snapshot"))
    }

    /// Writes a compacted copy of the store, as it is at this moment, into a new directory. Writers go on meanwhile. After
    /// a failure nothing is left behind, but in one case: where the copy is in place and the flush of its directory
    /// fails, it stays as it is, whole and with its keys, and the error says so.
    ///
    /// Free pages are left out, and with them the former bytes of what was overwritten and deleted: so a copy that is
    /// made when every value is sealed by `Table::reencrypt` shows none plain, which the store itself may do for ever. In
    /// one case LMDB can't leave them out: where a crash has lost pages that are neither used nor free. Then the copy
    /// has what they hold. It says nothing of other places: the store's own file, which is to be removed when the copy has
    /// taken its place; older copies; and the disk itself, where a file system or an SSD keeps what was overwritten.
    ///
    /// The keys of encrypted properties are copied too (by a build that has the feature `encrypt`), wrapped as they
    /// are: whoever is to read the copy needs the same key provider.
    pub fn copy_to(&self, target: impl AsRef<Path>) -> Result<()> {
        self.inner.writer.check_running()?;
        let copy = || {
            open::copy_with(&self.inner.environment.env, target.as_ref(), Meta::transaction_of, |copy| {
                copy_keys(&self.inner.environment, copy)
            })
        };
        copy().map_err(|e: Error| e.attempted("copy the store"))
    }

    /// Puts a compacted copy in the place of the store's file, and opens that: what the disk has lost to free pages, it
    /// gets back. [`copy_to`](Self::copy_to) says what the former bytes in them mean.
    ///
    /// Nothing is lost: nobody writes meanwhile, in whatever process. Whoever has the store open elsewhere gets
    /// [`Superseded`](ErrorKind::Superseded) from the next thing that it does, be it a read or a write, and opens it again;
    /// snapshots and iterators that live there go on to their end. Who opens the store meanwhile waits, for ten seconds at
    /// most, and is then [`StoreBusy`](ErrorKind::StoreBusy). A crash at any moment leaves the old file or the new one, and
    /// the store opens as ever.
    ///
    /// In this process the handle must be the last: other handles, tables, snapshots and iterators are
    /// [`StoreInUse`](ErrorKind::StoreInUse), and nothing is done. There must be room for the copy beside the file. After an
    /// error the store is to be opened again. Unix only.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Store};
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("company.tables");
    /// let store = Store::open(&path)?;
    /// let archive = store.create_table("Archive")?;
    /// for row in 0..100 {
    ///     archive.insert(&DynamicEntity::new("p", format!("{row}")).with("Text", "x".repeat(10_000)))?;
    /// }
    /// store.drop_table("Archive")?;
    /// drop(archive);
    /// let before = store.stats()?.file_bytes;
    ///
    /// let store = store.compact()?;
    /// assert!(store.stats()?.file_bytes < before / 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compact(self) -> Result<Self> {
        let compact = || {
            let inner = self.inner;
            inner.writer.check_writable()?;
            // What is dropped is not to be copied; and the thread that frees it has a handle.
            reclaim::run(&inner)?;
            let inner = alone(inner)?;
            let (options, path) = (inner.environment.options.clone(), inner.environment.path.clone());
            open::compact(&inner.environment).map_err(|error| inner.environment.refusal(error))?;
            drop(inner);
            options.open(path)
        };
        compact().map_err(|e: Error| e.attempted("compact the store"))
    }

    /// What seals and opens the encrypted properties of this store, and looks after its keys. An error if the store
    /// was opened without a [key provider](OpenOptions::encryption).
    #[cfg(feature = "encrypt")]
    pub fn encryption(&self) -> Result<&Encryption> {
        self.inner.encryption().map_err(|e| e.attempted("use encrypted properties"))
    }

    /// The directory that the store lies in.
    pub fn path(&self) -> &Path {
        &self.inner.environment.path
    }

    /// Frees the reader slots of processes that died; returns how many there were.
    ///
    /// This happens when a store is opened and when no slot is left. A long-lived process may call it from time to
    /// time: until it happens, space that a dead reader saw is not used again.
    pub fn clear_stale_readers(&self) -> Result<usize> {
        self.inner.environment.clear_stale_readers()
    }

    fn handle(&self, entry: &Entry) -> DynamicTable {
        DynamicTable::new(self.inner.clone(), self.inner.state(entry))
    }
}

impl OpenOptions {
    /// Opens the store in this directory; see [`Store::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Store> {
        let path = path.as_ref();
        let inner = open::open(path, self, |environment| {
            let meta = {
                let txn = environment.read_txn()?;
                Meta::read(environment.dbs.main, &txn)?
            };
            self.not_before.map_or(Ok(()), |mark| mark.check(&meta))?;
            #[cfg(feature = "encrypt")]
            let encryption = keys::open(&environment)?;
            #[cfg_attr(
                not(feature = "encrypt"),
                expect(unused_variables, reason = "keys alone know the store that they are of")
            )]
            let inner = |store: &Weak<Inner>| Inner {
                environment,
                tables: RwLock::default(),
                writer: Writer::new(self.read_only),
                live: Live::default(),
                turn: Mutex::default(),
                reclaimer: Reclaimer::default(),
                #[cfg(feature = "encrypt")]
                encryption: encryption.map(|keys| keys.of_store(store.clone())),
                #[cfg(feature = "encrypt")]
                identity: meta.identity,
            };
            Ok(Arc::new_cyclic(inner))
        })?;
        if let Some(mark) = self.not_before {
            // It may have been open already.
            let txn = inner.environment.read_txn()?;
            mark.check(&Meta::read(inner.environment.dbs.main, &txn)?)
                .map_err(|e| e.attempted("open the store"))?;
        }
        // A process that died may have left dropped tables behind.
        if !self.read_only {
            reclaim::start(&inner);
        }
        Ok(Store { inner })
    }
}

/// What a handle shares, if no other does. A thread in the background, which has one for a moment, is waited for.
fn alone(mut inner: Arc<Inner>) -> Result<Inner> {
    /// A step of freeing space takes no longer, and its thread ends within the first.
    const PATIENCE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
    let [soon, late] = PATIENCE.map(|patience| Instant::now() + patience);
    loop {
        inner = match Arc::try_unwrap(inner) {
            Ok(alone) => return Ok(alone),
            Err(shared) if Instant::now() < if shared.reclaimer.is_running() { late } else { soon } => shared,
            Err(_) => {
                return Err(Error::new(ErrorKind::StoreInUse).because(
                    "this process has other handles of the store: clones, tables, snapshots or iterators; drop \
                     them first",
                ));
            }
        };
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Copies the keys of a store, if it has any.
#[cfg(feature = "encrypt")]
fn copy_keys(store: &Environment, copy: &Path) -> Result<()> {
    keys::copy_to(&store.path, copy, &store.options)
}

#[cfg(not(feature = "encrypt"))]
#[expect(clippy::unnecessary_wraps, reason = "as it is with the feature")]
fn copy_keys(_: &Environment, _: &Path) -> Result<()> {
    Ok(())
}

impl Inner {
    /// What seals and opens encrypted properties.
    #[cfg(feature = "encrypt")]
    pub(crate) fn encryption(&self) -> Result<&Encryption> {
        self.encryption.as_ref().ok_or_else(missing_provider)
    }
}

impl Inner {
    /// Vouches for the tables that are left when one that was vouched for goes.
    #[cfg(feature = "encrypt")]
    fn forget_vouched(&self, txn: &lmdb::WriteTxn<'_>, meta: &mut Meta, gone: &Entry) -> Result<()> {
        if gone.digest.is_none() {
            return Ok(());
        }
        let missing = |error: Error| {
            error.and("; the table holds sealed or signed rows, and to drop it takes the keys that vouch for the others")
        };
        let authority = self.encryption().and_then(Encryption::authority).map_err(missing)?;
        records::vouched::vouch_set(&self.environment.dbs, txn, meta, authority)
    }

    /// Verifies, where the store was opened with keys, which tables hold sealed or signed rows.
    #[cfg(feature = "encrypt")]
    fn verify_tables(&self, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<()> {
        let Some(keys) = &self.encryption else { return Ok(()) };
        records::vouched::verify_tables(&self.environment.dbs, txn, meta, keys.authority()?)
    }

    /// Verifies, where the store was opened with keys, what says that the table's rows are sealed or signed.
    #[cfg(feature = "encrypt")]
    fn verify_table(&self, txn: &heed::RoTxn<'_>, meta: &Meta, entry: &Entry) -> Result<()> {
        let Some(keys) = &self.encryption else { return Ok(()) };
        records::vouched::verify_table(&self.environment.dbs, txn, meta, keys.authority()?, entry)
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
    fn verify_tables(&self, _: &heed::RoTxn<'_>, _: &Meta) -> Result<()> {
        Ok(())
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
    fn verify_table(&self, _: &heed::RoTxn<'_>, _: &Meta, _: &Entry) -> Result<()> {
        Ok(())
    }

    #[cfg(not(feature = "encrypt"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn forget_vouched(&self, _: &lmdb::WriteTxn<'_>, _: &mut Meta, gone: &Entry) -> Result<()> {
        match gone.digest {
            None => Ok(()),
            Some(_) => Err(Error::new(ErrorKind::KeyUnavailable).because(
                "the table holds sealed or signed rows, and to drop it takes the store's keys, and the feature \
                 `encrypt` of `table-core`",
            )),
        }
    }
}

/// What a store without keys says of encrypted properties.
#[cfg(feature = "encrypt")]
#[cold]
fn missing_provider() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("the store was opened without a key provider; give one by `Store::options().encryption(..)`")
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.inner.environment.path).finish_non_exhaustive()
    }
}
