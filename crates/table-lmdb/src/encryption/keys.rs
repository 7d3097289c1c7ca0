//! The keys of an opened store.

use std::path::Path;
use std::sync::{Arc, Weak};

use table_engine::crypt::row_digest::Binding;
use table_engine::error::Result;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::sealing::{Sealing, missing};

use super::vault::kept_store::KeptStore;
use super::vault::table_keys::TableVault;
use super::vault::{self, Encryption};
use crate::open::Environment;

/// The keys that seal and open the encrypted properties of a store; none if it was opened without a key provider.
#[derive(Clone, Debug)]
pub(crate) struct Keys(Option<Encryption>);

impl Keys {
    /// Opens the keys of a store that is being opened.
    pub(crate) fn open(environment: &Environment) -> Result<Self> {
        vault::open(environment).map(Self)
    }

    /// Returns the keys, as those of this store.
    pub(crate) fn of_store<S: KeptStore + 'static>(self, store: &Weak<S>) -> Self {
        Self(self.0.map(|keys| keys.of_store(store.clone())))
    }

    /// Returns the keys. An error if there are none.
    pub(crate) fn get(&self) -> Result<&Encryption> {
        self.0.as_ref().ok_or_else(missing::keys)
    }

    /// Returns the keys; `None` if there are none.
    pub(crate) fn any(&self) -> Option<&Encryption> {
        self.0.as_ref()
    }

    /// Returns the keys as a store of any kind has them. An error if there are none.
    pub(crate) fn vault(&self) -> Result<&dyn Sealing> {
        self.get().map(|keys| -> &dyn Sealing { keys })
    }

    /// Returns the keys that open the values of a table's rows and authenticate the rows.
    pub(crate) fn of_table(&self, store: [u8; 16], table: [u8; 16]) -> Option<Arc<dyn Vault>> {
        let keys = self.0.clone()?;
        Some(Arc::new(TableVault { keys, binding: Binding { store, table } }))
    }

    /// Returns the keys that authenticate the small records.
    pub(crate) fn authenticator(&self) -> Result<Option<&dyn Authenticator>> {
        let Some(keys) = &self.0 else { return Ok(None) };
        Ok(Some(keys.authenticator()?))
    }

    /// Returns the faults that a look at the keys finds.
    pub(crate) fn check(&self, environment: &Environment) -> Result<Vec<String>> {
        vault::check(environment, self.0.as_ref())
    }

    /// Returns whether the store says that it has keys.
    pub(crate) fn are_noted(store: &Environment) -> Result<bool> {
        vault::are_noted(store)
    }

    /// Copies the keys of a store, if it has any. The store said before its data were copied whether it had.
    pub(crate) fn copy(store: &Environment, copy: &Path, were_noted: bool) -> Result<()> {
        vault::copy_to(&store.path, copy, &store.options, were_noted)
    }
}
