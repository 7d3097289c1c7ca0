//! A store in an ordered map: a second executor, which knows rows by their names and nothing of LMDB.
//!
//! It stands for whatever else may carry out reads and plans. As the [service](MapStore::as_the_service) it has no more than
//! Azure Table storage has, and gives rows in small pages.

mod commit;
mod cursor;
#[cfg(feature = "async")]
mod later;
mod request;
mod service;
mod table;

use std::any::Any;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use table_engine::__executor::{
    self as executor, Abilities, Backend, Committed, HasVault, LayoutTexts, Names, OneSnapshotForEachThread,
    Plan, Refused, RetryFairness, SealedAt, TableExec,
};
use table_engine::{Error, ErrorKind, Result, Tables, Ticks, Value};

use self::cursor::MapMoment;
use self::table::MapTable;

/// Rows in the order of their stored keys.
type Rows = BTreeMap<Vec<u8>, Arc<Row>>;

/// A row as the map has it.
#[derive(Debug)]
#[expect(clippy::struct_field_names, reason = "a row's key is its row key")]
struct Row {
    partition: String,
    row: String,
    timestamp: Ticks,
    properties: BTreeMap<String, Value>,
}

/// What is known of a table.
#[derive(Debug)]
struct TableEntry {
    name: String,
    id: u32,
    names: Names,
}

/// Everything, as it is now.
#[derive(Debug, Default)]
struct State {
    /// By their names in small letters.
    tables: BTreeMap<String, Arc<TableEntry>>,
    /// How many tables there have been.
    numbered: u32,
    layouts: BTreeMap<u32, LayoutTexts>,
    /// Service records of the tables and, under 0, of the store, by their names.
    service: BTreeMap<u32, BTreeMap<String, Vec<u8>>>,
    /// Shared with those who read a moment of it.
    rows: Arc<Rows>,
    last: Option<Ticks>,
    /// How many plans have been carried out.
    commits: usize,
}

/// A store in an ordered map.
#[derive(Debug)]
pub struct MapStore {
    abilities: Abilities,
    /// Rows that a walk gives at a time.
    page: usize,
    /// Whether each row of a plan gets a time of its own, and rows are found by texts, as on the service.
    is_service: bool,
    turns: RetryFairness,
    state: Mutex<State>,
    /// Of a store that answers later: the state of the numbers that say how much.
    #[cfg(feature = "async")]
    later: Option<std::sync::atomic::AtomicU64>,
}

impl MapStore {
    /// A store that can do everything but seal, keep queues, and have copies follow.
    pub fn new() -> Arc<Self> {
        Self::with(Abilities { queues: false, eventual: false, ..Abilities::ALL }, 64, false)
    }

    /// A store that can do what the service can: it has no snapshots, and gives no rows from the last to the first.
    pub fn as_the_service() -> Arc<Self> {
        Self::with(Abilities::SERVICE, 3, true)
    }

    fn with(abilities: Abilities, page: usize, is_service: bool) -> Arc<Self> {
        let (turns, state) = (RetryFairness::default(), Mutex::default());
        Arc::new(Self {
            abilities,
            page,
            is_service,
            turns,
            state,
            #[cfg(feature = "async")]
            later: None,
        })
    }

    /// A store that can do what [`new`](Self::new) can, and answers later: its futures are pending at points that the seed says.
    #[cfg(feature = "async")]
    pub fn later(seed: u64) -> Arc<Self> {
        let (turns, state) = (RetryFairness::default(), Mutex::default());
        let abilities = Abilities { queues: false, eventual: false, ..Abilities::ALL };
        Arc::new(Self { abilities, page: 64, is_service: false, turns, state, later: Some(seed.into()) })
    }

    /// Returns the store as the engine holds it.
    pub fn backend(self: Arc<Self>) -> Arc<dyn Backend> {
        self
    }

    /// Its tables as a user holds them.
    pub fn tables(self: &Arc<Self>) -> Tables {
        executor::tables(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rows as they are, and the number of their state.
    fn now(&self) -> (Arc<Rows>, usize) {
        let state = self.state();
        (state.rows.clone(), state.commits)
    }

    fn moment_of(self: &Arc<Self>) -> Box<dyn OneSnapshotForEachThread> {
        Box::new(MapMoment::new(self.clone()))
    }

    fn table(self: &Arc<Self>, entry: &Arc<TableEntry>) -> Arc<dyn TableExec> {
        Arc::new(MapTable { store: self.clone(), entry: entry.clone() })
    }
}

/// The table, if it is one of a map's.
fn own(table: &dyn TableExec) -> Result<&MapTable> {
    let table: &dyn Any = table;
    table
        .downcast_ref()
        .ok_or_else(|| executor::error(ErrorKind::TableNotFound, "the table is of another store"))
}

fn missing() -> Error {
    executor::error(ErrorKind::TableNotFound, "there is no such table; create it first")
}

impl HasVault for MapStore {}

impl Backend for MapStore {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        let mut state = self.state();
        let key = table.to_ascii_lowercase();
        if state.tables.contains_key(&key) {
            return Err(executor::error(ErrorKind::TableAlreadyExists, ""));
        }
        state.numbered += 1;
        let entry = Arc::new(TableEntry { name: table.into(), id: state.numbered, names: Names::default() });
        state.tables.insert(key, entry.clone());
        Ok(self.table(&entry))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        let found = self.state().tables.get(&table.to_ascii_lowercase()).cloned();
        Ok(self.table(&found.ok_or_else(missing)?))
    }

    fn tables(&self) -> Result<Vec<String>> {
        Ok(self.state().tables.values().map(|table| table.name.clone()).collect())
    }

    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        let mut state = self.state();
        let found = tables.iter().map(|table| state.tables.get(&table.to_ascii_lowercase()).cloned());
        let found = found.collect::<Option<Vec<_>>>().ok_or_else(missing)?;
        for (entry, table) in found.iter().zip(tables) {
            let layouts = state.layouts.get(&entry.id).cloned().unwrap_or_default();
            executor::check_drop(tables, layouts.iter().map(|(kind, layout)| (*table, &**kind, &**layout)))?;
        }
        for entry in found {
            state.tables.remove(&entry.name.to_ascii_lowercase());
            state.layouts.remove(&entry.id);
            state.service.remove(&entry.id);
            let prefix = executor::stored_table(entry.id);
            Arc::make_mut(&mut state.rows).retain(|key, _| !key.starts_with(&prefix));
        }
        Ok(())
    }

    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn commit(&self, tables: &[&dyn TableExec], plan: &Plan<'_>, _: &SealedAt) -> Result<Committed, Refused> {
        self.turns.pass();
        commit::commit(self, tables, plan)
    }

    #[cfg(feature = "async")]
    fn async_backend(&self) -> Option<&dyn executor::AsyncBackend> {
        self.later.is_some().then_some(self)
    }

    fn service_records(&self) -> Result<&dyn executor::ServiceRecords> {
        Ok(self)
    }

    fn retry_fairness(&self) -> &RetryFairness {
        &self.turns
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(self.moment_of())
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn path(&self) -> &Path {
        Path::new("")
    }
}

/// Since when something is held.
fn now() -> Instant {
    Instant::now()
}
