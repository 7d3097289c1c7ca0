//! A table of a map.

use std::sync::Arc;

use table_engine::__executor::{
    self as executor, Backend, LayoutTexts, Layouts, OneSnapshotForEachThread, PackedRow, Read, TableExec,
    Take,
};
use table_engine::model::EntityKeys;
use table_engine::schema::{IndexMask, Schema};
use table_engine::{Result, Value, ValueRef};

use super::{MapStore, Row, State, TableEntry, missing};

/// A handle on a table.
pub(super) struct MapTable {
    pub(super) store: Arc<MapStore>,
    pub(super) entry: Arc<TableEntry>,
}

impl MapTable {
    /// Refuses a table that was dropped.
    pub(super) fn check_exists(&self, state: &State) -> Result<()> {
        let is_there = state.tables.values().any(|table| table.id == self.entry.id);
        if is_there { Ok(()) } else { Err(missing()) }
    }

    /// The row of these keys, and the state that it is in.
    pub(super) fn find(&self, partition: &str, row: &str) -> Result<Option<(PackedRow, usize)>> {
        let state = self.store.state();
        self.check_exists(&state)?;
        let found = state.rows.get(&executor::stored_key(self.entry.id, partition, row));
        found.map(|row| Ok((pack(&self.entry, row)?, state.commits))).transpose()
    }
}

/// The row in the form that readers know.
pub(super) fn pack(table: &TableEntry, row: &Row) -> Result<PackedRow> {
    let value = |(name, value): (&'_ String, &'_ Value)| -> (String, Value) { (name.clone(), value.clone()) };
    let owned: Vec<_> = row.properties.iter().map(value).collect();
    let named: Vec<(&str, ValueRef<'_>)> =
        owned.iter().map(|(name, value)| (name.as_str(), value.as_value_ref())).collect();
    table.names.pack(table.id, &row.partition, &row.row, row.timestamp, &named)
}

impl TableExec for MapTable {
    fn table_name(&self) -> &str {
        &self.entry.name
    }

    fn id(&self) -> u32 {
        self.entry.id
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        let Some((row, state)) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        read(&row.view()?, state).map(|()| true)
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        let Some((row, _)) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        take(row.view()?).map(|()| true)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        executor::declare(self, self, schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        self.check_exists(&self.store.state())?;
        if writes { executor::note(self, self, schema) } else { Ok(IndexMask::NEW) }
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        let found = self.store.state().tables.get(&name.to_ascii_lowercase()).cloned();
        let table = |entry| -> Arc<dyn TableExec> { Arc::new(Self { store: self.store.clone(), entry }) };
        Ok(found.map(table))
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        self.check_exists(&self.store.state())?;
        Ok(self.store.moment_of())
    }
}

impl Layouts for MapTable {
    fn layouts(&self) -> Result<LayoutTexts> {
        Ok(self.store.state().layouts.get(&self.entry.id).cloned().unwrap_or_default())
    }

    fn note(&self, known: &LayoutTexts, kind: &str, layout: &str) -> Result<bool> {
        let mut state = self.store.state();
        let noted = state.layouts.entry(self.entry.id).or_default();
        if noted != known {
            return Ok(false);
        }
        noted.retain(|(other, _)| other != kind);
        noted.push((kind.into(), layout.into()));
        Ok(true)
    }
}
