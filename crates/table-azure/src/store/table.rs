//! A table of an account.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use table_engine::__executor::{
    self as seam, Backend, LayoutTexts, Layouts, Names, OneSnapshotForEachThread, PackedRow, Read, TableExec,
    Take,
};
use table_engine::row::key::NUMBERS;
use table_engine::schema::{IndexMask, Schema};
use table_engine::{DynamicEntity, ErrorKind, Result};

use super::service::pack;
use super::{AzureStore, explain};

/// How long layouts that were read are known without reading them again.
const KNOWN: Duration = Duration::from_secs(5);

/// What is known of a table.
pub(crate) struct TableEntry {
    /// The name that it was created by.
    name: String,
    /// Its name in the account.
    remote: String,
    id: u32,
    pub(super) names: Names,
    is_gone: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The declarations whose layouts are noted, by their addresses: this process need not look again.
    noted: HashSet<usize>,
    /// The layouts as they were read, and when.
    layouts: Option<(LayoutTexts, Instant)>,
}

impl TableEntry {
    pub(super) fn new(name: &str, remote: String, id: u32) -> Self {
        let (names, is_gone) = (Names::default(), AtomicBool::new(false));
        Self { name: name.to_owned(), remote, id, names, is_gone, state: Mutex::default() }
    }

    /// Has its rows packed by these names.
    pub(super) fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Returns a number for a table that has none yet.
    pub(super) fn random_id() -> u32 {
        u32::try_from(RandomState::new().hash_one(0_u8) % u64::from(NUMBERS)).unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn remote(&self) -> &str {
        &self.remote
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether both are of one table.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id && self.name == other.name
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the table was dropped: another may have its name now.
    pub(super) fn drop_table(&self) {
        self.is_gone.store(true, Ordering::Release);
    }

    /// Refuses a table that was dropped, as far as this process knows.
    pub(super) fn check_exists(&self) -> Result<()> {
        if self.is_gone.load(Ordering::Acquire) { Err(explain::missing()) } else { Ok(()) }
    }

    /// Returns the layouts that were read not long ago.
    pub(super) fn known_layouts(&self) -> Option<LayoutTexts> {
        let state = self.state();
        let (texts, read) = state.layouts.as_ref()?;
        (read.elapsed() < KNOWN).then(|| texts.clone())
    }

    /// Notes the layouts that were read; `None`: they have changed.
    pub(super) fn set_layouts(&self, texts: Option<&LayoutTexts>) {
        self.state().layouts = texts.map(|texts| (texts.clone(), Instant::now()));
    }

    pub(super) fn is_noted(&self, schema: &'static Schema) -> bool {
        self.state().noted.contains(&std::ptr::from_ref(schema).addr())
    }

    pub(super) fn set_noted(&self, schema: &'static Schema) {
        self.state().noted.insert(std::ptr::from_ref(schema).addr());
    }

    pub(super) fn pack(&self, row: &DynamicEntity) -> Result<PackedRow> {
        pack(self.id, &self.names, row)
    }
}

/// A handle on a table.
pub(crate) struct AzureTable {
    pub(super) store: Arc<AzureStore>,
    pub(super) entry: Arc<TableEntry>,
}

impl AzureTable {
    /// Returns the row of these keys as it is now.
    pub(super) fn find(&self, partition: &str, row: &str) -> Result<Option<PackedRow>> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        let (partition, row) = (partition.to_owned(), row.to_owned());
        let found = self.store.wait(async move { service.read_row(&entry, &partition, &row).await })?;
        found.map(|row| self.entry.pack(&row)).transpose()
    }
}

impl TableExec for AzureTable {
    fn table_name(&self) -> &str {
        self.entry.name()
    }

    fn id(&self) -> u32 {
        self.entry.id()
    }

    fn get(&self, keys: (&str, &str), read: Read<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.0, keys.1)? else { return Ok(false) };
        read(&row.view()?, 0).map(|()| true)
    }

    fn view(&self, keys: (&str, &str), take: Take<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.0, keys.1)? else { return Ok(false) };
        take(row.view()?).map(|()| true)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        seam::declare(self, self, schema)
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        self.entry.check_exists()?;
        if !writes || self.entry.is_noted(schema) {
            return Ok(IndexMask::NEW);
        }
        let mask = seam::note(self, self, schema)?;
        self.entry.set_noted(schema);
        Ok(mask)
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        match self.store.find(name) {
            Ok(entry) => Ok(Some(self.store.handle(entry))),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn store(&self) -> &dyn Backend {
        &*self.store
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        self.entry.check_exists()?;
        Ok(self.store.snapshot())
    }
}

impl Layouts for AzureTable {
    fn layouts(&self) -> Result<LayoutTexts> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        Ok(self.store.wait(async move { service.layouts(&entry).await })?.texts)
    }

    fn note(&self, known: &LayoutTexts, kind: &str, layout: &str) -> Result<bool> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        let (known, kind, layout) = (known.clone(), kind.to_owned(), layout.to_owned());
        self.store.wait::<bool, _>(async move { service.note(&entry, &known, &kind, &layout).await })
    }
}
