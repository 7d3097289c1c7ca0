//! Tables that are dropped, one or several in one transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_engine::Result;
use table_engine::model::names;

use crate::catalog::Catalog;
use crate::change::{Change, Trouble};
use crate::error::missing;
use crate::jobs::{self, find};
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::transaction::LONGEST_DROP_WAIT;

/// Drops these tables, or none. Of a kind whose entities or copies stay in another table it is noted there what has become of its
/// indexes.
pub(crate) fn drop_tables(store: &PostgresStore, tables: &[&str]) -> Result<()> {
    for table in tables {
        names::check_table(table)?;
    }
    let begin = format!("{}; SET LOCAL lock_timeout = '{LONGEST_DROP_WAIT}'", store.catalog.begin_change());
    let dropped = store.transaction(&begin, |connection| {
        let change = Change::new(store, connection);
        carry_out(&change, tables).map(Some).map_err(Trouble::into_error)
    })?;
    for id in dropped.into_iter().flatten() {
        store.forget(id);
    }
    Ok(())
}

/// A table that a drop holds.
struct Held {
    entry: Arc<TableEntry>,
    /// Whether it goes; else it has the entities of copies that go.
    goes: bool,
}

/// Drops the tables in a transaction that has begun; returns their numbers.
fn carry_out(change: &Change<'_>, tables: &[&str]) -> Result<Vec<u32>, Trouble> {
    let catalog = &change.store.catalog;
    let stays = |name: &str| tables.iter().all(|table| !table.eq_ignore_ascii_case(name));
    let mut held = BTreeMap::new();
    for table in tables {
        let found = Catalog::found(table, &change.ask(&catalog.find(table))?)?;
        let entry = change.store.entry(&found)?;
        let id = entry.id;
        if held.insert(id, Held { entry, goes: true }).is_some_and(|twice| twice.goes) {
            return Err(missing().into());
        }
        for name in jobs::sources_of_copies(change, id)?.into_iter().filter(|name| stays(name)) {
            if let Some(entry) = find(change, &name)? {
                held.entry(entry.id).or_insert(Held { entry, goes: false });
            }
        }
    }
    // In the order of their numbers, as others take these locks. Nothing is noted of kinds meanwhile: such transactions follow one
    // another.
    for Held { entry, goes } in held.values() {
        if *goes { change.lock_for_drop(entry)? } else { change.lock(&mut [&**entry])? }
    }
    let (mut statements, mut dropped) = (String::new(), Vec::new());
    for Held { entry, .. } in held.values().filter(|held| held.goes) {
        jobs::table_is_dropped(change, entry, &stays)?;
        statements += &catalog.drop_table(entry);
        dropped.push(entry.id);
    }
    change.execute(&statements)?;
    Ok(dropped)
}
