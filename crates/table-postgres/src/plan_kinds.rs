//! What is noted of the kinds of a plan's tables, and whether the plan is still one that may be carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use table_engine::__executor::{self as executor, LayoutTexts, Refused};
use table_engine::executor::layouts;
use table_engine::schema::{self, Layout};
use table_engine::sealing::sign;
use table_engine::{Error, ErrorKind, Result};

use crate::connection::Connection;
use crate::failed::{Failed, before};
use crate::kinds::{self, Kinds};
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::work::{Work, WorkKinds};

/// How often it is looked again, while others note something of kinds.
const ROUNDS: u32 = 16;

/// What is noted of the kinds in a plan's tables, at one generation of the store.
pub(crate) struct PlanKinds {
    pub(crate) generation: i64,
    /// By the tables' places in the plan.
    tables: BTreeMap<usize, Arc<Kinds>>,
}

impl PlanKinds {
    /// Returns what is noted of the kinds that a plan relies on; `None` if it relies on none. Refuses a plan that was made in
    /// other epochs, or by a declaration that may not write any more.
    ///
    /// That it is so when the plan is carried out its statement demands, by the generation.
    pub(crate) async fn of(
        store: &PostgresStore,
        connection: &Connection,
        work: &Work,
    ) -> Result<Option<Self>, Failed> {
        let mut wanted: Vec<usize> = work.kinds.iter().map(|kinds| kinds.table).collect();
        if work.asks_layouts() {
            wanted.extend(work.rows.iter().filter(|row| !row.is_declared).map(|row| row.table));
        }
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(None);
        }
        for _ in 0..ROUNDS {
            let generation = store.generation();
            let mut found = Self { generation, tables: BTreeMap::new() };
            for table in &wanted {
                let Some(entry) = work.tables.get(*table) else { continue };
                let kinds = Self::of_table(store, connection, entry).await?;
                if kinds.generation == generation {
                    found.tables.insert(*table, kinds);
                }
            }
            if found.tables.len() == wanted.len() {
                found.check(work)?;
                return Ok(Some(found));
            }
        }
        Err(Failed::Again)
    }

    /// Returns what is noted of the kinds in one table, as far as this process knows.
    pub(crate) async fn of_table(
        store: &PostgresStore,
        connection: &Connection,
        entry: &TableEntry,
    ) -> Result<Arc<Kinds>, Failed> {
        if let Some(known) = entry.kinds_at(store.generation()) {
            return Ok(known);
        }
        let answer = connection.query(&kinds::read(&store.catalog, entry.id)).await.map_err(before)?;
        Ok(store.learn(entry, kinds::found(&answer).map_err(Refused::whole)?))
    }

    /// Returns the layouts that say which rows of a table may be written by their properties; `None` if none does.
    pub(crate) fn layouts(&self, table: usize) -> Option<&LayoutTexts> {
        self.tables.get(&table).map(|kinds| &*kinds.layouts).filter(|layouts| !layouts.is_empty())
    }

    /// Refuses to write a row by its properties that only its struct may write: a handle that says so writes any but those that
    /// are signed. `table` is the place of the row's table.
    pub(crate) fn check_by_properties(&self, table: usize, kind: Option<&str>, is_raw: bool) -> Result<()> {
        let (Some(known), Some(kind)) = (self.layouts(table), kind) else { return Ok(()) };
        if !is_raw {
            return executor::check_by_properties(known, kind);
        }
        for (of, layout) in known {
            if signs(&layouts::read(layout, of)?, kind) {
                return Err(sign::needs_its_struct());
            }
        }
        Ok(())
    }

    fn check(&self, work: &Work) -> Result<(), Refused> {
        for of_group in &work.kinds {
            let Some(known) = self.tables.get(&of_group.table) else { continue };
            let checked = self.check_group(work, of_group, known);
            checked.map_err(|error| Refused { error, group: of_group.group, row: None })?;
        }
        Ok(())
    }

    fn check_group(&self, work: &Work, of_group: &WorkKinds, known: &Kinds) -> Result<()> {
        for declared in &of_group.declarations {
            let masks = work.tables.get(of_group.table).map(|entry| &entry.masks);
            if masks.is_some_and(|masks| masks.get(declared, self.generation, true).is_some()) {
                continue;
            }
            if let Some(layout) = known.layout(declared.kind)?
                && let Some(why) = schema::outdated(&layout, declared)
            {
                return Err(layouts::outdated(declared, &why));
            }
        }
        if of_group.epochs.iter().all(|epoch| known.epoch(epoch.kind) == epoch.number) {
            return Ok(());
        }
        Err(another_epoch())
    }
}

/// Returns whether rows of a kind are signed, if they are such as entities of a layout make.
fn signs(layout: &Layout, kind: &str) -> bool {
    let is_part = || (1..=layout.parts()).any(|part| layout.part_kind(part) == kind);
    let is_own = layout.entity_type() == kind || is_part();
    is_own && layout.is_signed()
        || layout.indexes().any(|index| layout.index_kind(index) == kind && layout.always_signs(index))
}

/// Returns the refusal of a plan that keeps other indexes than are to be kept now.
#[cold]
pub(crate) fn another_epoch() -> Error {
    let because = "an index of the kind has come, gone or become ready meanwhile; plan the change again";
    executor::error(ErrorKind::ConditionNotMet, because)
}
