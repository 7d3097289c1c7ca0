//! Indexes whose copies lie in other tables than their entities: their layouts there, and where copies of former declarations
//! may lie.

use std::sync::Arc;

use table_engine::__executor::JobRecord;
use table_engine::executor::layouts::{check_apart, compare};
use table_engine::schema::{IndexStates, Layout, Schema};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use crate::catalog::Catalog;
use crate::change::{Change, Trouble};
use crate::connection::Call;
use crate::kinds;
use crate::table::{PostgresTable, TableEntry};

/// Returns the table in which the copies of an index lie; `None` if it is that of the entities.
pub(super) fn table_of(schema: &Schema, name: &str) -> Option<&'static str> {
    let index = schema.indexes.iter().find(|index| index.name == name)?;
    let table = index.place.table.source();
    (index.is_elsewhere() && !table.is_empty() && !table.eq_ignore_ascii_case(schema.table()))
        .then_some(table)
}

/// Returns the tables in which copies of an index may lie: by what is noted, by what is declared, and those that a job which
/// was broken off has yet to purge. The first is that of the entities only if copies may lie there.
pub(super) fn may_lie_in(
    own: &str,
    layouts: [Option<&Layout>; 2],
    index: &str,
    jobs: &[JobRecord],
) -> Vec<String> {
    let of_layout = |layout: &Layout| {
        let index = layout.index(index)?;
        Some(layout.table_of(index).unwrap_or(own).to_owned())
    };
    let mut found = Vec::new();
    let of_jobs = jobs.iter().flat_map(JobRecord::tables).map(str::to_owned);
    for name in layouts.into_iter().flatten().filter_map(of_layout).chain(of_jobs) {
        add(&mut found, name);
    }
    found
}

/// Adds the name of a table, unless it is there.
pub(super) fn add(tables: &mut Vec<String>, name: String) {
    if tables.iter().all(|known| !known.eq_ignore_ascii_case(&name)) {
        tables.push(name);
    }
}

/// Returns a table of the store; `None` if there is none of this name.
pub(crate) fn find(change: &Change<'_>, name: &str) -> Result<Option<Arc<TableEntry>>, Trouble> {
    match Catalog::found(name, &change.ask(&change.store.catalog.find(name))?) {
        Ok(found) => Ok(Some(change.store.entry(&found)?)),
        Err(error) if matches!(error.kind(), ErrorKind::TableNotFound | ErrorKind::TableRenamed) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Holds a table and those of these names, as far as they are there.
pub(super) fn lock_all(
    change: &Change<'_>,
    own: &PostgresTable,
    names: impl Iterator<Item = String>,
) -> Result<(), Trouble> {
    let mut others = Vec::new();
    for name in names {
        if let Some(entry) = find(change, &name)?.filter(|entry| entry.id != own.entry.id) {
            others.push(entry);
        }
    }
    others.dedup_by_key(|entry| entry.id);
    let mut all: Vec<&TableEntry> = others.iter().map(|entry| &**entry).chain([&*own.entry]).collect();
    change.lock(&mut all)
}

/// What other tables say of a kind of which nothing is noted in the table of its entities: its indexes are ready, but for those
/// in which copies are left of the entities of a table that was dropped.
#[derive(Default)]
pub(crate) struct Inherited {
    pub(crate) states: IndexStates,
    /// The numbers and layouts of the tables that say so.
    tables: Vec<(u32, String)>,
}

impl Inherited {
    /// Returns what the tables say in which copies of a kind lie, asked by `ask`; `None` if they say nothing.
    pub(crate) fn find<E: From<Error>>(
        catalog: &Catalog,
        schema: &'static Schema,
        ask: impl Fn(Call) -> Result<Vec<Row>, E>,
    ) -> Result<Option<Self>, E> {
        let mut inherited = Self::default();
        for name in schema.other_tables() {
            let answer = ask(catalog.find(name))?;
            let Ok(found) = Catalog::found(name, &answer) else { continue };
            let table = found.number()?;
            let kinds = kinds::found(&ask(kinds::read(catalog, table))?)?;
            let left = kinds.states(schema.kind);
            let Some((_, layout)) = kinds.layouts.iter().find(|(kind, _)| kind == schema.kind) else {
                continue;
            };
            if left == IndexStates::default() {
                continue;
            }
            let lies_there =
                |index: &str| table_of(schema, index).is_some_and(|table| table.eq_ignore_ascii_case(name));
            inherited.states.indexes.extend(left.indexes.into_iter().filter(|(index, _)| lies_there(index)));
            inherited.tables.push((table, layout.clone()));
        }
        Ok(Some(inherited).filter(|inherited| !inherited.tables.is_empty()))
    }

    /// Takes out of the tables what they say of the kind, which is noted in the table of its entities from now on. Returns its
    /// states there.
    pub(crate) fn take_over(
        self,
        change: &Change<'_>,
        schema: &'static Schema,
    ) -> Result<IndexStates, Trouble> {
        for (table, layout) in &self.tables {
            let catalog = &change.store.catalog;
            change.ask(&kinds::put(catalog, *table, schema.kind, layout, &IndexStates::default()))?;
        }
        Ok(IndexStates { epoch: self.states.epoch + 1, ..self.states })
    }
}

/// A kind with the layout that is noted of it in the table of its entities.
pub(super) struct NotedKind<'k> {
    pub(super) table: &'k TableEntry,
    pub(super) schema: &'static Schema,
    pub(super) layout: &'k Layout,
}

impl NotedKind<'_> {
    /// Notes the layout in the other table where an index is to lie, if it does not lie with the entities.
    pub(super) fn note_elsewhere(&self, change: &Change<'_>, index: &str) -> Result<(), Trouble> {
        let Self { schema, layout, .. } = *self;
        let Some(name) = table_of(schema, index) else { return Ok(()) };
        let Some(entry) = find(change, name)? else { return Ok(()) };
        let catalog = &change.store.catalog;
        let there = kinds::found(&change.ask(&kinds::read(catalog, entry.id))?)?;
        // Copies of another table's entities are refused.
        let located = |error: Error| error.table(&entry.name);
        compare(&entry.name, there.layout(schema.kind)?.as_ref(), schema).map_err(located)?;
        let known = there.layouts.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
        check_apart(&entry.name, known, schema).map_err(located)?;
        let layout = layout.noted_elsewhere(schema.table()).to_string();
        change.ask(&kinds::put(catalog, entry.id, schema.kind, &layout, &IndexStates::default()))?;
        Ok(())
    }

    /// Removes the layout from those of these tables where no index of the kind lies any more.
    pub(super) fn forget_elsewhere(&self, change: &Change<'_>, names: &[String]) -> Result<(), Trouble> {
        let Self { table, schema, layout } = *self;
        for name in names.iter().filter(|name| !name.eq_ignore_ascii_case(&table.name)) {
            if layout.other_tables().iter().any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            let Some(entry) = find(change, name)? else { continue };
            let catalog = &change.store.catalog;
            let there = kinds::found(&change.ask(&kinds::read(catalog, entry.id))?)?;
            let of_it = there.layout(schema.kind)?;
            if of_it.is_some_and(|there| there.table().eq_ignore_ascii_case(&table.name)) {
                change.ask(&kinds::remove(catalog, entry.id, schema.kind))?;
            }
        }
        Ok(())
    }
}
