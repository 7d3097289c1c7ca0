//! The store: the engine's seam over the client.

mod additions;
#[cfg(test)]
mod chance;
mod commit;
mod cursor;
mod explain;
mod filter;
mod jobs;
#[cfg(feature = "encrypt")]
mod keys;
#[cfg(not(feature = "encrypt"))]
#[path = "without_keys.rs"]
mod keys;
mod kinds;
mod later;
mod layouts;
mod loader;
mod marks;
mod masks;
mod outbox;
mod periods;
mod planned;
mod recognise;
mod records;
mod rings;
mod service;
mod snapshot;
mod table;
mod transitions;

use std::any::Any;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use table_engine::__executor::{
    self as seam, Abilities, AsyncBackend, Backend, Committed, Dropped, HasVault, OneSnapshotForEachThread,
    Outbox, Plan, Refused, RetryFairness, SealedAt, Sealing, ServiceRecords, TableExec,
};
use table_engine::model::names::check_table;
use table_engine::schema::{PeriodTables, Schema};
use table_engine::telemetry::Telemetry;
use table_engine::{Error, ErrorKind, Propagate, Result, Ticks};

#[cfg(feature = "encrypt")]
pub use self::keys::Encryption;
pub(crate) use self::keys::Provider;
use self::keys::SealingKeys;
use self::outbox::{EntryWork, OutboxState};
use self::planned::Planned;
use self::service::Service;
pub(crate) use self::service::{LEASE, Settings};
use self::snapshot::AzureSnapshot;
use self::table::{AzureTable, TableEntry};
use crate::client::Client;
use crate::runner::Runner;

/// Tells the store's continuations from those of other kinds of stores.
const TAG: u64 = 0x617a_7572_6574;

/// What the service can do: additions are written under the versions that they were read in, and what must be there is merged
/// with nothing.
pub const ABILITIES: Abilities =
    Abilities { additions: true, eventual: true, expects_present: true, ..Abilities::SERVICE };

/// A store in an account.
pub(crate) struct AzureStore {
    service: Arc<Service>,
    runner: Arc<Runner>,
    /// Tables that were opened, by their names in small letters.
    tables: Mutex<HashMap<String, Arc<TableEntry>>>,
    outbox: Arc<OutboxState>,
    telemetry: Telemetry,
}

impl AzureStore {
    /// Makes a store; `provider` wraps the key of its keys, if values are to be sealed.
    pub(crate) fn new(client: Client, settings: Settings, provider: Option<Provider>) -> Result<Arc<Self>> {
        let outbox = Arc::new(OutboxState::new(settings.propagate == Propagate::Manual));
        let telemetry = Telemetry::of(client.endpoint().account(), None);
        let (client, runner) = (Arc::new(client), Arc::new(Runner::new()?));
        let keys = SealingKeys::new(client.clone(), runner.clone(), &settings, provider);
        let service = Arc::new(Service::new(client, settings, keys));
        Ok(Arc::new(Self { service, runner, tables: Mutex::default(), outbox, telemetry }))
    }

    pub(crate) fn client(&self) -> &Client {
        &self.service.client
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, Arc<TableEntry>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a table that was opened, by its number.
    fn numbered(&self, id: u32) -> Option<Arc<TableEntry>> {
        self.tables().values().find(|table| table.id() == id).cloned()
    }

    /// Encodes a plan, and returns what carries it out, which holds nothing of it.
    fn carrying_out(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<impl Future<Output = Result<Committed, Refused>> + Send + 'static, Refused> {
        let sealed_at = sealed_at.generation();
        let work = EntryWork::of(self, tables, plan, sealed_at)?;
        let planned = if work.is_none() {
            Some(Planned { sealed_at, ..Planned::of(&self.service, tables, plan)? })
        } else {
            None
        };
        let (service, outbox) = (self.service.clone(), self.outbox.clone());
        Ok(async move {
            match (work, planned) {
                (Some(work), _) => service.work(work).await,
                (None, Some(planned)) => service.carry_out(&outbox, planned).await,
                (None, None) => Err(Refused::whole(explain::missing())),
            }
        })
    }

    /// Runs what is asked of the service while this thread waits.
    fn wait<T: Send + 'static, F: Future<Output = Result<T>> + Send + 'static>(
        &self,
        future: F,
    ) -> Result<T> {
        self.runner.wait(future)?
    }

    fn handle(self: &Arc<Self>, entry: Arc<TableEntry>) -> Arc<dyn TableExec> {
        Arc::new(AzureTable { store: self.clone(), entry })
    }

    fn snapshot(self: &Arc<Self>) -> Box<dyn OneSnapshotForEachThread> {
        Box::new(AzureSnapshot::new(self.clone()))
    }

    /// Returns what is known of a table that was found: that of the handles which are there already, if it is that table.
    fn entered(&self, found: TableEntry) -> Arc<TableEntry> {
        let mut tables = self.tables();
        let key = found.name().to_ascii_lowercase();
        if let Some(known) = tables.get(&key) {
            if known.is_same(&found) {
                known.learn_of(&found);
                return known.clone();
            }
            // Another process has dropped it and made another.
            known.drop_table();
        }
        let found = Arc::new(found);
        tables.insert(key, found.clone());
        found
    }

    /// Finds a table.
    fn find(&self, table: &str) -> Result<Arc<TableEntry>> {
        check_table(table)?;
        let (service, name) = (self.service.clone(), table.to_owned());
        let found = self.wait(async move { service.find_table(&name).await });
        if let Err(error) = &found
            && error.kind() == ErrorKind::TableNotFound
            && let Some(gone) = self.tables().remove(&table.to_ascii_lowercase())
        {
            gone.drop_table();
        }
        Ok(self.entered(found?))
    }
}

/// Returns the table, if it is one of a store's in an account.
fn own(table: &dyn TableExec) -> Result<&AzureTable> {
    let table: &dyn Any = table;
    table.downcast_ref().ok_or_else(|| seam::error(ErrorKind::TableNotFound, "the table is of another store"))
}

impl HasVault for AzureStore {
    fn vault(&self) -> Result<&dyn Sealing> {
        self.service.keys.get()
    }

    fn identity(&self) -> Option<&[u8; 16]> {
        self.service.keys.identity()
    }
}

impl Drop for AzureStore {
    fn drop(&mut self) {
        self.outbox.over();
    }
}

impl Backend for AzureStore {
    fn create(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        let (service, name) = (self.service.clone(), table.to_owned());
        let made = self.wait(async move { service.make_table(&name).await })?;
        let made = self.entered(made);
        Ok(self.handle(made))
    }

    fn open(self: Arc<Self>, table: &str) -> Result<Arc<dyn TableExec>> {
        let found = self.find(table)?;
        Ok(self.handle(found))
    }

    fn tables(&self) -> Result<Vec<String>> {
        let service = self.service.clone();
        self.wait(async move { service.table_names().await })
    }

    /// Drops one after another: the service has no way to drop several together, and a failure leaves those that are behind it.
    fn drop_tables(self: Arc<Self>, tables: &[&str]) -> Result<()> {
        let found = tables.iter().map(|table| self.find(table)).collect::<Result<Vec<_>>>()?;
        for (entry, table) in found.iter().zip(tables) {
            let (service, of) = (self.service.clone(), entry.clone());
            let noted = self.wait(async move { service.read_noted(&of).await })?;
            let layouts = noted.texts.iter().map(|(kind, layout)| (*table, &**kind, &**layout));
            seam::check_drop(tables, layouts)?;
        }
        for entry in found {
            let (service, of) = (self.service.clone(), entry.clone());
            self.wait(async move { service.drop_table(&of).await })
                .map_err(|error| error.table(entry.name()))?;
            entry.drop_table();
            self.tables().remove(&entry.name().to_ascii_lowercase());
        }
        Ok(())
    }

    fn make_period(
        self: Arc<Self>,
        tables: &'static PeriodTables,
        start: Ticks,
        schema: &'static Schema,
    ) -> Result<Arc<dyn TableExec>> {
        self.make_period_of(tables, start, schema)
    }

    fn drop_periods(self: Arc<Self>, tables: &'static PeriodTables, floor: Ticks) -> Result<Dropped> {
        self.drop_periods_of(tables, floor)
    }

    fn abilities(&self) -> Abilities {
        ABILITIES
    }

    fn commit(
        &self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<Committed, Refused> {
        let committed = self.runner.wait(self.carrying_out(tables, plan, sealed_at)?);
        committed.unwrap_or_else(|error| Err(Refused::whole(lost(&error))))
    }

    fn async_backend(&self) -> Option<&dyn AsyncBackend> {
        self.service.settings.awaits.then_some(self)
    }

    fn retry_fairness(&self) -> &RetryFairness {
        &self.service.turns
    }

    fn read_snapshot(self: Arc<Self>) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(self.snapshot())
    }

    fn outbox(&self) -> Result<&dyn Outbox> {
        Ok(self)
    }

    fn service_records(&self) -> Result<&dyn ServiceRecords> {
        Ok(self)
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        Some(&self.telemetry)
    }

    fn is_read_only(&self) -> bool {
        false
    }

    fn path(&self) -> &Path {
        Path::new("")
    }
}

/// Returns the error of a change whose task has ended before its answer came.
#[cold]
fn lost(error: &Error) -> Error {
    Error::new(ErrorKind::OutcomeUnknown)
        .because(format!("{error}: it is unknown whether the change was carried out"))
}
