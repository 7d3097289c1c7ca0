//! A table of an account.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

#[cfg(feature = "encrypt")]
use table_engine::__executor::Resealing;
use table_engine::__executor::{
    Backend, Jobs, Loader, Names, OneSnapshotForEachThread, PackedRow, Read, TableExec, Take,
};
use table_engine::model::EntityKeys;
use table_engine::row::key::NUMBERS;
use table_engine::row::vault::Vault;
use table_engine::schema::{IndexMask, Schema};
use table_engine::sealing::missing;
use table_engine::{DynamicEntity, Error, ErrorKind, Result, ValueRef};

use super::kinds::{Lease, Noted};
use super::loader::AzureLoader;
use super::service::pack;
use super::{AzureStore, explain};

/// What is known of a table.
pub(crate) struct TableEntry {
    /// The name that it was created by.
    name: String,
    /// Its name in the account.
    remote: String,
    id: u32,
    pub(super) names: Names,
    /// What opens the values of its rows and signs them, if the store has keys.
    vault: Option<Arc<dyn Vault>>,
    is_gone: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What was read last of what is noted of the table, and until when it is gone by.
    known: Option<(Arc<Noted>, Lease)>,
    /// What is gone by for each declaration, by its address.
    masks: HashMap<usize, KnownMask>,
}

/// What is gone by for a declaration.
#[derive(Clone)]
struct KnownMask {
    /// By what was noted when it was so; nothing once it was forgotten.
    noted: Weak<Noted>,
    mask: IndexMask,
    /// Whether it may write; else it may read.
    may_write: bool,
    /// Whether it was allowed to write at some time.
    has_written: bool,
}

impl TableEntry {
    pub(super) fn new(name: &str, remote: String, id: u32) -> Self {
        let (names, is_gone) = (Names::default(), AtomicBool::new(false));
        Self { name: name.to_owned(), remote, id, names, vault: None, is_gone, state: Mutex::default() }
    }

    /// Has the values of its rows opened by this, if by anything, and its rows signed.
    pub(super) fn with_vault(self, vault: Option<Arc<dyn Vault>>) -> Self {
        let names = vault.clone().map(Names::of_vault).unwrap_or_default();
        Self { names, vault, ..self }
    }

    /// Returns the keyed digest of a row of these keys.
    pub(super) fn sign(
        &self,
        keys: EntityKeys<'_>,
        properties: Vec<(&str, ValueRef<'_>)>,
    ) -> Result<Vec<u8>> {
        let vault = self.vault.as_ref().ok_or_else(missing::keys)?;
        Ok(vault.sign(keys, properties)?.to_vec())
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

    /// Returns what was read last of what is noted of the table, and until when it is gone by.
    pub(super) fn known(&self) -> Option<(Arc<Noted>, Lease)> {
        self.state().known.clone()
    }

    /// Takes in what was read of what is noted of the table, which was asked for at this time.
    pub(super) fn learn(&self, noted: Noted, asked: Instant) -> Arc<Noted> {
        let lease = Lease::of(&noted, asked);
        let mut state = self.state();
        let known = state.known.as_ref().map(|(known, _)| known);
        // What goes by a note that is still there need not be found anew.
        let noted = match known.filter(|known| known.etag.is_some() && known.etag == noted.etag) {
            Some(known) => known.clone(),
            None => Arc::new(noted),
        };
        state.known = Some((noted.clone(), lease));
        noted
    }

    /// Takes over what another handle of the table has read.
    pub(super) fn learn_of(&self, other: &Self) {
        if let Some(known) = other.known() {
            self.state().known = Some(known);
        }
    }

    /// Forgets what was read of what is noted of the table, which has changed.
    pub(super) fn forget(&self) {
        self.state().known = None;
    }

    /// Returns what a declaration goes by; `None` if that is not known of what is noted now.
    pub(super) fn mask(
        &self,
        schema: &'static Schema,
        noted: &Arc<Noted>,
        writes: bool,
    ) -> Option<IndexMask> {
        let state = self.state();
        let known = state.masks.get(&address(schema))?;
        let is_of_it = std::ptr::eq(known.noted.as_ptr(), Arc::as_ptr(noted));
        (is_of_it && (known.may_write || !writes)).then_some(known.mask)
    }

    /// Takes note of what a declaration goes by.
    pub(super) fn set_mask(
        &self,
        schema: &'static Schema,
        noted: &Arc<Noted>,
        mask: IndexMask,
        may_write: bool,
    ) {
        let has_written = may_write || self.has_written(schema);
        let known = KnownMask { noted: Arc::downgrade(noted), mask, may_write, has_written };
        self.state().masks.insert(address(schema), known);
    }

    /// Returns whether a declaration has been one that may write.
    pub(super) fn has_written(&self, schema: &'static Schema) -> bool {
        self.state().masks.get(&address(schema)).is_some_and(|known| known.has_written)
    }

    pub(super) fn pack(&self, row: &DynamicEntity) -> Result<PackedRow> {
        pack(self.id, &self.names, row)
    }
}

fn address(schema: &'static Schema) -> usize {
    std::ptr::from_ref(schema).addr()
}

/// A handle on a table.
pub(crate) struct AzureTable {
    pub(super) store: Arc<AzureStore>,
    pub(super) entry: Arc<TableEntry>,
}

impl AzureTable {
    /// Returns what a declaration goes by, if no request is needed to know it.
    pub(super) fn known_mask(&self, schema: &'static Schema, writes: bool) -> Result<Option<IndexMask>> {
        self.entry.check_exists()?;
        let known = self.entry.known().filter(|(_, lease)| lease.holds());
        Ok(known.and_then(|(noted, _)| self.entry.mask(schema, &noted, writes)))
    }

    /// Returns what is noted of the table, as it was a lease ago at the earliest.
    pub(super) fn noted(&self) -> Result<Arc<Noted>> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        self.store.wait(async move { Ok(service.leased(&entry).await?.0) })
    }

    /// Reads what is noted of the table now.
    pub(super) fn noted_now(&self) -> Result<Arc<Noted>> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        self.store.wait(async move { service.read_noted(&entry).await })
    }

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

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        read(&row.view()?, 0).map(|()| true)
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        let Some(row) = self.find(keys.partition, keys.row)? else { return Ok(false) };
        take(row.view()?).map(|()| true)
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        self.store.wait(async move { service.declare(&entry, schema).await })
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        if let Some(mask) = self.known_mask(schema, writes)? {
            return Ok(mask);
        }
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        self.store.wait(async move { service.mask(&entry, schema, writes).await })
    }

    fn loader<'a>(&'a self, tables: &[&'a dyn TableExec]) -> Option<Box<dyn Loader + 'a>> {
        AzureLoader::of(self, tables).map(|loader| -> Box<dyn Loader> { Box::new(loader) })
    }

    fn jobs(&self) -> Result<&dyn Jobs> {
        if self.store.service.settings.has_layouts { Ok(self) } else { Err(explain::keeps_no_jobs()) }
    }

    #[cfg(feature = "encrypt")]
    fn resealing(&self) -> Result<&dyn Resealing> {
        self.with_keys()
    }

    fn unread(&self, schema: &'static Schema, index: usize, _: usize) -> Error {
        let (service, entry) = (self.store.service.clone(), self.entry.clone());
        let found = self.store.wait(async move { service.unread_index(&entry, schema, index).await });
        found.unwrap_or_else(|error| error)
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
