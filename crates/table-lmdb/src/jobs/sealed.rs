//! Counts of sealed values and their tokens, without opening any.

use std::collections::BTreeMap;
use std::sync::Arc;

use lmdb_verify::LeavesAhead;

use table_engine::__executor::{KeyUses, ShownRow};
use table_engine::crypt::{KeyHandle, SealedValues};
use table_engine::error::{Error, Result};
use table_engine::row::dict::Dict;
use table_engine::row::key::{self, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row};
use table_engine::sealing::job::Resealing;

use super::plain::damaged;
use crate::encryption::vault::Encryption;
use crate::encryption::vault::kept_store::KeptStore;
use crate::handle::lmdb_table::LmdbTable;
use crate::handle::shared::Shared;
use crate::handle::store::Store;
use crate::lmdb::{self, Databases};
use crate::records::catalog::{self, TableState};
use crate::records::layouts;
use crate::records::meta::Meta;
use crate::scan::read;

impl Store {
    /// Returns the number of sealed values in each table, by the data key that sealed them: in every row, of whatever
    /// kind, typed or not. No key is needed, and nothing is opened. It reads every row of one snapshot. The tokens of
    /// values are counted too, of the kinds that were declared to have any.
    ///
    /// It counts bytes of the form of a sealed value; a program's own bytes that look the same are among them.
    ///
    /// A key that is no longer current and is not among them, in a store with a key provider, can be
    /// [destroyed](crate::Encryption::destroy).
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
    /// staff.insert(&Employee { department: "Sales".into(), id: 1, salary: 90_000 })?;
    /// let [before] = &store.sealed_values()?[..] else { panic!() };
    /// assert_eq!((before.table.as_str(), before.values), ("Payroll", 1));
    ///
    /// let encryption = store.encryption()?;
    /// let new = encryption.rotate(&Scope::store())?;
    /// staff.reencrypt()?.run()?;
    /// assert!(store.sealed_values()?.iter().all(|values| values.key == new));
    /// encryption.destroy(before.key)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sealed_values(&self) -> Result<Vec<SealedValues>> {
        let counted = self.shared().sealed_values(&|_| true);
        counted.map_err(|e| e.attempted("count sealed values"))
    }
}

impl KeptStore for Shared {
    fn sealed_values(&self, wanted: &dyn Fn(KeyHandle) -> bool) -> Result<Vec<SealedValues>> {
        self.writer.check_running()?;
        let txn = self.environment.read_txn()?;
        let dbs = &self.environment.dbs;
        let entries = catalog::list(dbs, &txn, &Meta::read(dbs.main, &txn)?)?;
        let entries: BTreeMap<_, _> = entries.iter().map(|entry| (entry.id, entry)).collect();
        // Read after the snapshot was taken, so the keys that made its tokens are among them.
        let keys = self.keys.any().map(Encryption::sound_keys).transpose()?;
        let mut uses = KeyUses::new(wanted, keys.unwrap_or_default());
        let mut looked = None::<Looked>;
        let (mut seen, mut last) = (0_u64, None::<&[u8]>);
        let mut ahead =
            LeavesAhead::new(&self.environment.reader, self.environment.rows_tree(&txn, txn.id())?);
        ahead.of_key(&txn, b"").map_err(lmdb::damage)?;
        for pair in dbs.data.iter(&txn).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            ahead.of_entry(&txn, key).map_err(lmdb::damage)?;
            seen += 1;
            // A row that is met twice in the place of another would come to the same number.
            if last.is_some_and(|last| last >= key) {
                return Err(key::locate(read::out_of_order(), key));
            }
            last = Some(key);
            // Only a sound key tells of which table a row is.
            let row = Row::parse(bytes).map_err(damaged(key))?;
            row.verify(row::key_seed(key)).map_err(damaged(key))?;
            let table = StoredKey::parse(key).map(|key| key.table).ok_or_else(read::out_of_order)?;
            // A dropped table can't be read any more.
            let Some(entry) = entries.get(&table) else { continue };
            let mut count = || {
                if looked.as_ref().is_none_or(|looked| looked.table.id != table) {
                    uses.begin_table(table, &entry.name, layouts::all_read(dbs, &txn, table)?);
                    looked = Some(Looked::of(self.state(entry)));
                }
                let Some(looked) = &mut looked else { return Ok(()) };
                let view = looked.view(key, row, dbs, &txn)?;
                let shown =
                    ShownRow { partition: view.partition_key(), row: view.row_key(), kind: view.kind()? };
                uses.add_row(&shown, view.properties())
            };
            count().map_err(|error: Error| key::locate(error, key).table(&entry.name))?;
        }
        // A walk that a damaged page cut short would say that nothing is left.
        if seen != dbs.data.len(&txn).map_err(lmdb::error)? {
            return Err(read::out_of_order());
        }
        Ok(uses.into_found())
    }

    fn await_writers(&self) -> Result<()> {
        let _lead = self.writer.lead()?;
        self.environment.env.write_txn().map(drop).map_err(lmdb::error)
    }

    fn flush(&self) -> Result<()> {
        let _lead = self.writer.lead()?;
        self.environment.flush().map_err(|error| self.writer.explain_failure(self, error))
    }
}

/// A table whose rows are read.
struct Looked {
    table: Arc<TableState>,
    dict: Arc<Dict>,
}

impl Looked {
    fn of(table: Arc<TableState>) -> Self {
        let dict = table.dict();
        Self { table, dict }
    }

    /// Returns a view of a row. The dictionary is read anew if it does not cover the row.
    fn view<'v>(
        &'v mut self,
        key: &'v [u8],
        row: Row<'v>,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
    ) -> Result<RowView<'v>> {
        if !view::covers(&self.dict, &row) {
            self.dict = self.table.reload_for(dbs, txn, &row)?;
        }
        Ok(RowView::new(key, row, &*self.dict, true))
    }
}

impl LmdbTable {
    /// Returns the table as the job that seals values anew goes over it.
    pub(crate) fn job(&self) -> Result<&dyn Resealing> {
        self.inner.keys.get()?;
        Ok(self)
    }
}

impl Resealing for LmdbTable {
    fn generation(&self) -> Result<u64> {
        self.inner.keys.get()?.generation()
    }

    fn await_writers(&self) -> Result<()> {
        self.inner.await_writers()
    }
}
