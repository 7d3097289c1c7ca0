//! A table of the store.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "encrypt")]
use table_engine::__executor::Resealing;
use table_engine::__executor::{
    self as executor, Backend, Jobs, Loader, Named, Names, OneSnapshotForEachThread, PackedRow, Packer, Read,
    RowHead, TableExec, Take,
};
use table_engine::model::EntityKeys;
use table_engine::row::vault::Vault;
use table_engine::schema::{IndexMask, Schema};
use table_engine::sealing::{missing, sign};
use table_engine::{Error, ErrorKind, Result, ValueRef};
use tokio_postgres::Row;

use crate::body::{self, Property, ReadBody};
use crate::catalog::column;
use crate::clock::ticks;
use crate::connection::Call;
use crate::error::damaged;
use crate::keys::escape;
use crate::kinds::{Kinds, Masks};
use crate::loader::PostgresLoader;
use crate::param::{JsonText, Param, Params};
use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;
#[cfg(feature = "blob")]
use crate::unreferenced::HasReferences;

/// What this process knows of a table.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// The name of the table with its rows.
    pub(crate) rows: String,
    names: Names,
    /// What signs its rows and opens what is sealed in them, if the store has keys.
    vault: Option<Arc<dyn Vault>>,
    /// What was read last of its kinds.
    kinds: Mutex<Option<Arc<Kinds>>>,
    /// What this process goes by when it reads and writes them.
    pub(crate) masks: Masks,
    #[cfg(feature = "blob")]
    pub(crate) has_references: HasReferences,
}

/// A handle on a table.
#[derive(Clone)]
pub(crate) struct PostgresTable {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) entry: Arc<TableEntry>,
}

/// The state of the store in which rows are found. There is one: what a reader goes by is checked at the moment that it reads.
pub(crate) const STATE: usize = 1;

impl TableEntry {
    pub(crate) fn new(id: u32, name: String, rows: String, vault: Option<Arc<dyn Vault>>) -> Self {
        let names = vault.clone().map_or_else(Names::default, Names::of_vault);
        Self {
            id,
            name,
            rows,
            names,
            vault,
            kinds: Mutex::default(),
            masks: Masks::default(),
            #[cfg(feature = "blob")]
            has_references: HasReferences::default(),
        }
    }

    /// Returns the statement that reads the row of these keys.
    pub(crate) fn get(&self, partition: &str, row: &str) -> Call {
        let mut params = Params::default();
        let partition = params.add(Param::Text(escape(partition).into_owned()));
        let row = params.add(Param::Text(escape(row).into_owned()));
        let sql = format!("SELECT ts, kind, body FROM {} WHERE pk = {partition} AND rk = {row}", self.rows);
        Call { sql, params }
    }

    /// Returns the statement that reads the row of these keys, and the store's generation at that moment, which the first column
    /// has; the others are empty if there is no such row. `store` is the table with the generation.
    pub(crate) fn get_now(&self, store: &str, partition: &str, row: &str) -> Call {
        let mut params = Params::default();
        let partition = params.add(Param::Text(escape(partition).into_owned()));
        let row = params.add(Param::Text(escape(row).into_owned()));
        let sql = format!(
            "SELECT s.value::bigint, t.ts, t.kind, t.body FROM {store} AS s
             LEFT JOIN {} AS t ON t.pk = {partition} AND t.rk = {row} WHERE s.name = 'generation'",
            self.rows
        );
        Call { sql, params }
    }

    /// Returns the statement that reads rows of these stored keys, and locks them.
    pub(crate) fn lock_rows(&self, keys: &[(&str, &str)]) -> Call {
        let mut params = Params::default();
        let sql = if let [(partition, row)] = keys {
            let (partition, row) = (params.add((*partition).into()), params.add((*row).into()));
            format!(
                "SELECT pk, rk, ts, kind, body, again FROM {} WHERE pk = {partition} AND rk = {row} FOR UPDATE",
                self.rows
            )
        } else {
            let (partitions, rows) =
                keys.iter().map(|(partition, row)| ((*partition).to_owned(), (*row).to_owned())).unzip();
            let (partitions, rows) = (params.add(Param::Texts(partitions)), params.add(Param::Texts(rows)));
            format!(
                "SELECT t.pk, t.rk, t.ts, t.kind, t.body, t.again FROM unnest({partitions}, {rows}) AS n(a, b), {} AS t \
                 WHERE t.pk = a AND t.rk = b ORDER BY t.pk, t.rk FOR UPDATE OF t",
                self.rows
            )
        };
        Call { sql, params }
    }

    /// Returns the row of these keys from an answer whose columns from this one on are its time, its kind and its body.
    pub(crate) fn pack(&self, partition: &str, row: &str, answer: &Row, at: usize) -> Result<PackedRow> {
        let (head, properties) = head(answer, at).map_err(|error| error.partition(partition).row(row))?;
        let packed =
            self.names.pack_signed(self.id, EntityKeys::new(partition, row), &head, &named(&properties))?;
        verify(&head, &packed)?;
        Ok(packed)
    }

    /// Returns the keyed digest of a row of these keys.
    pub(crate) fn sign(
        &self,
        keys: EntityKeys<'_>,
        properties: Vec<(&str, ValueRef<'_>)>,
    ) -> Result<Vec<u8>> {
        let vault = self.vault.as_ref().ok_or_else(missing::keys)?;
        Ok(vault.sign(keys, properties)?.to_vec())
    }

    /// Returns what packs the rows of an answer one after another.
    pub(crate) fn packer(&self) -> RowPacker<'_> {
        RowPacker(self.names.packer(self.id))
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns what is noted of the table's kinds at this generation of the store, if it was read.
    pub(crate) fn kinds_at(&self, generation: i64) -> Option<Arc<Kinds>> {
        let known = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|known| known.generation == generation).cloned()
    }

    /// Takes in what was read of the table's kinds.
    pub(crate) fn learn(&self, kinds: Kinds) -> Arc<Kinds> {
        let kinds = Arc::new(kinds);
        // Of two threads that have read it, one may have read a former state: then it is read once more.
        *self.kinds.lock().unwrap_or_else(PoisonError::into_inner) = Some(kinds.clone());
        kinds
    }
}

/// Packs the rows of a table from answers, one after another.
#[derive(Debug)]
pub(crate) struct RowPacker<'t>(Packer<'t>);

impl RowPacker<'_> {
    /// Returns the row of these keys, as [`TableEntry::pack`] does. It is lent until the next.
    pub(crate) fn pack(&mut self, partition: &str, row: &str, answer: &Row, at: usize) -> Result<&PackedRow> {
        let (head, properties) = head(answer, at).map_err(|error| error.partition(partition).row(row))?;
        let packed = self.0.pack(partition, row, &head, &named(&properties))?;
        verify(&head, packed)?;
        Ok(packed)
    }
}

fn head(answer: &Row, at: usize) -> Result<(RowHead, Vec<Property<'_>>)> {
    let ReadBody { properties, digest } = content(answer, at + 1)?;
    let digest = digest.map(TryInto::try_into).transpose().map_err(|_| damaged("the digest of the row"))?;
    Ok((RowHead { timestamp: ticks(column(answer, at)?), digest }, properties))
}

/// Refuses a row whose keyed digest, if it has one, is not that of what it holds.
fn verify(head: &RowHead, packed: &PackedRow) -> Result<()> {
    if head.digest.is_some() { sign::verify(&packed.view()?) } else { Ok(()) }
}

fn named<'p>(properties: &'p [Property<'_>]) -> Vec<Named<'p>> {
    properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
}

/// Returns the content of a row whose kind is in this column of an answer, and its body in the next.
pub(crate) fn content(answer: &Row, at: usize) -> Result<ReadBody<'_>> {
    let body: JsonText<'_> = column(answer, at + 1)?;
    body::decode(column(answer, at)?, body.0).ok_or_else(|| damaged("the row"))
}

/// Returns the table, if it is one of this kind of store.
pub(crate) fn own(table: &dyn TableExec) -> Result<&PostgresTable> {
    let table: &dyn Any = table;
    let foreign = || executor::error(ErrorKind::TableNotFound, "the table is of another store");
    table.downcast_ref().ok_or_else(foreign)
}

impl PostgresTable {
    fn find(&self, partition: &str, row: &str) -> Result<Option<PackedRow>> {
        let asked = self.store.read(self.entry.get_now(&self.store.state, partition, row));
        let answer = asked.map_err(|error| self.store.say_new_name(&self.entry, error))?;
        self.store.found_now(&self.entry, partition, row, &answer)
    }
}

impl TableExec for PostgresTable {
    fn table_name(&self) -> &str {
        &self.entry.name
    }

    fn id(&self) -> u32 {
        self.entry.id
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        read(&row.view()?, STATE).map(|()| true)
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        take(row.view()?).map(|()| true)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        self.declare_kind(schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        self.mask(schema, writes)
    }

    fn loader<'a>(&'a self, tables: &[&'a dyn TableExec]) -> Option<Box<dyn Loader + 'a>> {
        PostgresLoader::of_tables(self, tables).map(|loader| -> Box<dyn Loader> { Box::new(loader) })
    }

    fn jobs(&self) -> Result<&dyn Jobs> {
        Ok(self)
    }

    #[cfg(feature = "encrypt")]
    fn resealing(&self) -> Result<&dyn Resealing> {
        self.with_keys()
    }

    fn unread(&self, schema: &'static Schema, index: usize, _: usize) -> Error {
        self.unread_index(schema, index)
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(PostgresSnapshot::of_first_read(self.store.clone())?))
    }
}
