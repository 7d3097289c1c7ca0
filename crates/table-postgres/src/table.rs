//! A table of the store.

use std::any::Any;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use table_engine::__executor::{
    self as executor, Backend, LayoutTexts, Layouts, Named, Names, OneSnapshotForEachThread, PackedRow,
    Packer, Read, TableExec, Take,
};
use table_engine::schema::{IndexMask, Schema};
use table_engine::{ErrorKind, Result, Ticks};
use tokio_postgres::Row;

use crate::body::{self, Property};
use crate::catalog::{Catalog, column};
use crate::clock::ticks;
use crate::connection::Call;
use crate::error::{damaged, of_server};
use crate::keys::escape;
use crate::param::{JsonText, Param, Params};
use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;
use crate::views;

/// What this process knows of a table.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub(crate) id: u32,
    pub(crate) name: String,
    /// The name of the table with its rows.
    pub(crate) rows: String,
    names: Names,
    /// By which declarations writers have noted what they write, by their addresses.
    noted: Mutex<HashSet<usize>>,
    /// What was read last of its layouts, and its generation then.
    layouts: Mutex<Option<(i64, Arc<LayoutTexts>)>>,
}

/// A handle on a table.
pub(crate) struct PostgresTable {
    pub(crate) store: Arc<PostgresStore>,
    pub(crate) entry: Arc<TableEntry>,
}

/// The state of the store in which rows are found: there is one, as long as no index is ever made.
pub(crate) const STATE: usize = 1;

impl TableEntry {
    pub(crate) fn new(id: u32, name: String, rows: String) -> Self {
        Self { id, name, rows, names: Names::default(), noted: Mutex::default(), layouts: Mutex::default() }
    }

    /// Returns the statement that reads the row of these keys.
    pub(crate) fn get(&self, partition: &str, row: &str) -> Call {
        let mut params = Params::default();
        let partition = params.add(Param::Text(escape(partition).into_owned()));
        let row = params.add(Param::Text(escape(row).into_owned()));
        let sql = format!("SELECT ts, kind, body FROM {} WHERE pk = {partition} AND rk = {row}", self.rows);
        Call { sql, params }
    }

    /// Returns the row of these keys from an answer whose columns from this one on are its time, its kind and its body.
    pub(crate) fn pack(&self, partition: &str, row: &str, answer: &Row, at: usize) -> Result<PackedRow> {
        let (time, properties) = content(answer, at).map_err(|error| error.partition(partition).row(row))?;
        self.names.pack(self.id, partition, row, time, &named(&properties))
    }

    /// Returns what packs the rows of an answer one after another.
    pub(crate) fn packer(&self) -> RowPacker<'_> {
        RowPacker(self.names.packer(self.id))
    }

    pub(crate) fn names(&self) -> &Names {
        &self.names
    }

    /// Returns the layouts that were read last, and the generation then.
    pub(crate) fn known_layouts(&self) -> Option<(i64, Arc<LayoutTexts>)> {
        self.layouts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes in what was read of the layouts.
    pub(crate) fn learn(&self, generation: i64, layouts: LayoutTexts) -> Arc<LayoutTexts> {
        let layouts = Arc::new(layouts);
        let mut known = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|(of, _)| *of < generation) {
            *known = Some((generation, layouts.clone()));
        }
        layouts
    }
}

/// Packs the rows of a table from answers, one after another.
#[derive(Debug)]
pub(crate) struct RowPacker<'t>(Packer<'t>);

impl RowPacker<'_> {
    /// Returns the row of these keys, as [`TableEntry::pack`] does. It is lent until the next.
    pub(crate) fn pack(&mut self, partition: &str, row: &str, answer: &Row, at: usize) -> Result<&PackedRow> {
        let (time, properties) = content(answer, at).map_err(|error| error.partition(partition).row(row))?;
        self.0.pack(partition, row, time, &named(&properties))
    }
}

fn content(answer: &Row, at: usize) -> Result<(Ticks, Vec<Property<'_>>)> {
    Ok((ticks(column(answer, at)?), properties(answer, at + 1)?))
}

fn named<'p>(properties: &'p [Property<'_>]) -> Vec<Named<'p>> {
    properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
}

/// Returns the properties of a row whose kind is in this column of an answer, and its body in the next.
pub(crate) fn properties(answer: &Row, at: usize) -> Result<Vec<Property<'_>>> {
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
        let asked = self.store.query(&self.entry.get(partition, row));
        let answer = asked.map_err(|error| self.store.say_new_name(&self.entry, error))?;
        answer.first().map(|found| self.store.packed(&self.entry, partition, row, found)).transpose()
    }
}

impl TableExec for PostgresTable {
    fn table_name(&self) -> &str {
        &self.entry.name
    }

    fn id(&self) -> u32 {
        self.entry.id
    }

    fn get(&self, keys: (&str, &str), read: Read<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.0, keys.1)? else { return Ok(false) };
        read(&row.view()?, STATE).map(|()| true)
    }

    fn view(&self, keys: (&str, &str), take: Take<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.0, keys.1)? else { return Ok(false) };
        take(row.view()?).map(|()| true)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        executor::declare(self, self, schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        if !writes {
            return Ok(IndexMask::NEW);
        }
        // What is noted of a kind is only ever added to, so what was noted once says this declaration for good.
        let of = std::ptr::from_ref(schema).addr();
        let noted = || self.entry.noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted().contains(&of) {
            return Ok(IndexMask::NEW);
        }
        let mask = executor::note(self, self, schema)?;
        noted().insert(of);
        Ok(mask)
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        match self.store.clone().open(name) {
            Ok(table) => Ok(Some(table)),
            Err(error) if matches!(error.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(PostgresSnapshot::of_first_read(self.store.clone())?))
    }
}

impl Layouts for PostgresTable {
    fn layouts(&self) -> Result<LayoutTexts> {
        let answer = self.store.query(&self.store.catalog.layouts(self.entry.id))?;
        let (generation, layouts) = Catalog::found_layouts(&answer)?;
        Ok((*self.entry.learn(generation, layouts)).clone())
    }

    fn note(&self, known: &LayoutTexts, kind: &str, layout: &str) -> Result<bool> {
        let catalog = &self.store.catalog;
        let (read, note) = (catalog.layouts(self.entry.id), catalog.note_layout(self.entry.id, kind, layout));
        // Waits for all that write by the former layouts: each of them holds the table until it has committed.
        let begin =
            format!("{}; LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", catalog.begin_change(), self.entry.rows);
        let noted = self.store.transaction(&begin, |connection| {
            let answer = connection.wait(connection.query(&read)).map_err(of_server)?;
            let (generation, noted) = Catalog::found_layouts(&answer)?;
            if noted != *known {
                return Ok(None);
            }
            connection.wait(connection.query(&note)).map_err(of_server)?;
            if let Some(view) = views::of_kind(catalog, &self.entry, kind, layout) {
                connection.wait(connection.attempt(&view)).map_err(of_server)?;
            }
            Ok(Some((generation, noted)))
        })?;
        let Some((generation, mut noted)) = noted else { return Ok(false) };
        match noted.iter_mut().find(|(of, _)| of == kind) {
            Some((_, before)) => layout.clone_into(before),
            None => noted.push((kind.into(), layout.into())),
        }
        self.entry.learn(generation.saturating_add(1), noted);
        Ok(true)
    }
}
