//! An opened store: what its reads and writes have in common.

pub(crate) mod catalog_lookup;
pub(crate) mod live;
pub(crate) mod space;
#[cfg(feature = "tracing")]
mod warnings;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use table_engine::error::Result;
use table_engine::row::dict::Dict;
use table_engine::sealing::missing;
use table_engine::telemetry::Telemetry;

use self::live::Live;
use super::encryption::Keys;
use super::lmdb::WriteTxn;
use super::open::Environment;
use super::records::authenticated;
use super::records::catalog::{Entry, TableState};
use super::records::meta::Meta;

/// Returns the name of a store where its path is not shown: the last part.
pub(crate) fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// LMDB's environment, and what the process knows of the tables in it.
pub(crate) struct StoreState {
    pub(crate) environment: Environment,
    pub(crate) live: Live,
    pub(crate) telemetry: Telemetry,
    #[cfg(feature = "tracing")]
    warnings: warnings::Warnings,
    /// The keys, which seal, open and authenticate.
    pub(crate) keys: Keys,
    /// The store's identity.
    identity: [u8; 16],
    tables: RwLock<HashMap<u32, Arc<TableState>>>,
}

impl StoreState {
    pub(crate) fn new(environment: Environment, keys: Keys, identity: [u8; 16]) -> Self {
        let (live, tables) = (Live::default(), RwLock::default());
        let telemetry = Telemetry::of(&name_of(&environment.path), environment.options.slow());
        Self {
            environment,
            live,
            telemetry,
            #[cfg(feature = "tracing")]
            warnings: warnings::Warnings::default(),
            keys,
            identity,
            tables,
        }
    }

    /// Warns of nothing.
    #[cfg(not(feature = "tracing"))]
    #[expect(clippy::unused_self, reason = "with the feature it looks at the store")]
    #[inline]
    pub(crate) fn warn_of_space(&self) {}

    /// Returns the store's identity.
    pub(crate) fn identity(&self) -> &[u8; 16] {
        &self.identity
    }

    /// Returns the process's knowledge of a table, shared between its handles.
    pub(crate) fn state(&self, entry: &Entry) -> Arc<TableState> {
        let known = self.tables.read().unwrap_or_else(PoisonError::into_inner).get(&entry.id).cloned();
        // The table may have been renamed.
        let is_called_so = |known: &Arc<TableState>| known.name == entry.name;
        known.filter(is_called_so).unwrap_or_else(|| {
            let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(TableState::new(entry, self.new_dict(entry)));
            let state = tables.entry(entry.id).or_insert_with(new);
            if !is_called_so(state) {
                *state = new();
            }
            state.clone()
        })
    }

    /// Returns a table's dictionary, of which nothing is known yet.
    pub(crate) fn new_dict(&self, entry: &Entry) -> Dict {
        Dict::of_vault(self.keys.of_table(self.identity, entry.identity))
    }

    /// Runs a job over the store inside a span of its own.
    #[inline]
    pub(crate) fn run_job<R>(&self, name: &str, run: impl FnOnce() -> Result<R>) -> Result<R> {
        self.telemetry.run(&self.telemetry.begin_job(name, ""), "", run)
    }

    /// Drops what is known of a table.
    pub(crate) fn forget(&self, table: u32) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).remove(&table);
    }

    /// Verifies, where the store was opened with keys, which tables hold sealed or signed rows.
    pub(crate) fn verify_tables(&self, txn: &heed::RoTxn<'_>, meta: &Meta) -> Result<()> {
        let Some(authenticator) = self.keys.authenticator()? else { return Ok(()) };
        authenticated::verify_tables(&self.environment.dbs, txn, meta, authenticator)
    }

    /// Verifies, where the store was opened with keys, the records that say that the table's rows are sealed or signed.
    pub(crate) fn verify_table(&self, txn: &heed::RoTxn<'_>, meta: &Meta, entry: &Entry) -> Result<()> {
        let Some(authenticator) = self.keys.authenticator()? else { return Ok(()) };
        authenticated::verify_table(&self.environment.dbs, txn, meta, authenticator, entry)
    }

    /// Authenticates the tables that are left when one that was authenticated goes.
    pub(crate) fn forget_authenticated(
        &self,
        txn: &WriteTxn<'_>,
        meta: &mut Meta,
        gone: &Entry,
    ) -> Result<()> {
        if gone.digest.is_none() {
            return Ok(());
        }
        let authenticator = self.keys.authenticator().and_then(|found| found.ok_or_else(missing::keys));
        authenticated::authenticate_set(
            &self.environment.dbs,
            txn,
            meta,
            authenticator.map_err(missing::to_drop)?,
        )
    }
}
