//! Counts of sealed values and their tokens, without opening any.

use std::collections::BTreeMap;
use std::sync::Arc;

use lmdb_verify::LeavesAhead;

use table_engine::crypt::{KeyHandle, KeyScope, Scope, Token};
use table_engine::error::{Error, Result};
use table_engine::executor::{Jobs, Position, StepSize};
use table_engine::model::ValueRef;
use table_engine::row::dict::Dict;
use table_engine::row::key::{self, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row};
use table_engine::schema::{LayoutProperty, Schema, TOKEN_BYTES};
use table_engine::sealing::job::{Chunk, Resealing, SealedRow};

use super::plain::{damaged, texts};
use crate::encryption::vault::Encryption;
use crate::encryption::vault::key_usage::{KeptStore, SealedValues};
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
        let makers = Makers::list(self.keys.any(), wanted)?;
        let mut looked = None::<(u32, Looked)>;
        let mut found = BTreeMap::<(u32, KeyHandle), SealedValues>::new();
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
            let mut add = |handle, values, tokens| {
                let of_key = found.entry((table, handle)).or_insert_with(|| SealedValues {
                    key: handle,
                    table: entry.name.to_string(),
                    values: 0,
                    tokens: 0,
                    first: texts(key),
                });
                of_key.values += values;
                of_key.tokens += tokens;
            };
            let mut count = || {
                if !matches!(&looked, Some((of, _)) if *of == table) {
                    looked = Some((table, Looked::of(self.state(entry), dbs, &txn)?));
                }
                let Some((_, looked)) = &mut looked else { return Ok(()) };
                let (view, kinds) = looked.view(key, row, dbs, &txn)?;
                for property in view.properties() {
                    if let (_, ValueRef::Binary(value)) = property?
                        && let Some(handle) = KeyHandle::of(value)
                        && wanted(handle)
                    {
                        add(handle, 1, 0);
                    }
                }
                kinds.each(&view, |scope, token| {
                    if let Some(handle) = makers.find(scope, token) {
                        add(handle, 0, 1);
                    }
                })
            };
            count().map_err(|error: Error| key::locate(error, key).table(&entry.name))?;
        }
        // A walk that a damaged page cut short would say that nothing is left.
        if seen != dbs.data.len(&txn).map_err(lmdb::error)? {
            return Err(read::out_of_order());
        }
        Ok(found.into_values().collect())
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

/// The data keys whose tokens are looked for.
struct Makers(BTreeMap<Scope, Vec<(u8, KeyHandle)>>);

impl Makers {
    fn list(keys: Option<&Encryption>, wanted: impl Fn(KeyHandle) -> bool) -> Result<Self> {
        let mut makers = BTreeMap::<_, Vec<_>>::new();
        let Some(keys) = keys else { return Ok(Self(makers)) };
        for key in keys.sound_keys()?.into_iter().filter(|key| wanted(key.handle)) {
            makers.entry(key.scope).or_default().push((Token::version_byte(key.version), key.handle));
        }
        Ok(Self(makers))
    }

    /// Returns the key that made a token, among those of its scope: no two living keys share a version byte.
    fn find(&self, scope: &Scope, token: &[u8]) -> Option<KeyHandle> {
        let version = token.first().filter(|_| token.len() == TOKEN_BYTES)?;
        let of_scope = self.0.get(scope)?;
        of_scope.iter().find(|(of_key, _)| of_key == version).map(|(_, handle)| *handle)
    }
}

/// A table whose rows are read, and the properties of them that hold tokens.
struct Looked {
    table: Arc<TableState>,
    dict: Arc<Dict>,
    kinds: Kinds,
}

impl Looked {
    fn of(table: Arc<TableState>, dbs: &Databases, txn: &heed::RoTxn<'_>) -> Result<Self> {
        let mut kinds = BTreeMap::new();
        for layout in layouts::all_read(dbs, txn, table.id)? {
            let token = |property: &LayoutProperty| {
                Some((property.token()?, property.tokens()?.key_scope(property.scope())))
            };
            let tokens: Vec<_> = layout.properties.iter().filter_map(token).collect();
            if !tokens.is_empty() {
                kinds.extend(layout.indexes().map(|index| (layout.index_kind(index), tokens.clone())));
                kinds.insert(layout.entity_type(), tokens);
            }
        }
        let dict = table.dict();
        Ok(Self { table, dict, kinds: Kinds(kinds) })
    }

    /// Returns a view of a row. The dictionary is read anew if it does not cover the row.
    fn view<'v>(
        &'v mut self,
        key: &'v [u8],
        row: Row<'v>,
        dbs: &Databases,
        txn: &heed::RoTxn<'_>,
    ) -> Result<(RowView<'v>, &'v Kinds)> {
        if !view::covers(&self.dict, &row) {
            self.dict = self.table.reload_for(dbs, txn, &row)?;
        }
        Ok((RowView::new(key, row, &*self.dict, true), &self.kinds))
    }
}

/// The properties of tokens by the kinds of rows, and whose key makes what they hold.
#[derive(Default)]
struct Kinds(BTreeMap<String, Vec<(String, KeyScope)>>);

impl Kinds {
    /// Gives each token of a row, and the scope whose key made it.
    fn each(&self, view: &RowView<'_>, mut take: impl FnMut(&Scope, &[u8])) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let Some(kind) = view.kind()? else { return Ok(()) };
        for (property, keys) in self.0.get(kind).into_iter().flatten() {
            let Some(token) = view.get(property)?.and_then(ValueRef::as_bytes) else { continue };
            let scope = keys.bytes(view.table(), &view.partition_key());
            if let Some(scope) = Scope::from_bytes(&scope) {
                take(&scope, token);
            }
        }
        Ok(())
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

    fn sealed_rows_after(
        &self,
        schema: &'static Schema,
        after: Option<&Position>,
        size: StepSize,
    ) -> Result<Chunk> {
        let mut entities = Vec::new();
        let walked = self.rows_after(after, size, &mut |view, _| {
            let found = SealedRow::of(schema, view)?;
            let is_asked_for = found.is_some();
            entities.extend(found);
            Ok(is_asked_for)
        });
        let (last, rows) =
            walked.map_err(|error| error.attempted("re-encrypt in").table(&self.state.name))?;
        Ok(Chunk { rows, last, entities })
    }
}
