//! The keys by which values are sealed: wrapped by the program's provider, in a table of their own.
//!
//! A root key is wrapped by the provider, data keys by the root key, each for one scope: the store, a table, or a partition. They
//! are made when they are first needed.

mod at_work;
mod change;
mod encryption;
mod in_use;
mod key_store;
mod key_table;
#[cfg(test)]
mod model_tests;
mod reseal;
mod rewrap;
mod root;
mod rows;

use std::sync::Arc;
use std::time::Instant;

use table_engine::crypt::KeyProvider;
use table_engine::row::vault::Vault;
use table_engine::sealing::Sealing;
use table_engine::{Error, ErrorKind, Result};

use self::at_work::{AzureVault, TableVault};
pub use self::encryption::Encryption;
use self::key_store::KeyStore;
use self::key_table::KeyTable;
use super::layouts::KEYS;
use super::service::Settings;
use crate::client::Client;
use crate::runner::Runner;

/// What wraps the root key.
pub(crate) type Provider = Arc<dyn KeyProvider>;

/// The keys of a store; none if it was opened without a provider, or can't have any.
#[derive(Clone, Debug)]
pub(super) enum SealingKeys {
    /// These.
    Kept(AzureVault),
    /// No provider was given.
    NoProvider,
    /// Tables have no numbers of their own, to which sealed values are bound.
    NoNumbers,
}

impl SealingKeys {
    /// Makes the keys of a store. None is read before it is needed.
    pub(super) fn new(
        client: Arc<Client>,
        runner: Arc<Runner>,
        settings: &Settings,
        provider: Option<Provider>,
    ) -> Self {
        match provider {
            None => Self::NoProvider,
            Some(_) if !settings.has_layouts => Self::NoNumbers,
            Some(provider) => {
                let table = KeyTable::new(client, format!("{}{}", settings.prefix, KEYS), settings.lease);
                Self::Kept(AzureVault(Arc::new(KeyStore::new(Arc::new(table), runner, provider))))
            }
        }
    }

    /// Returns the keys; an error if there are none.
    pub(super) fn get(&self) -> Result<&dyn Sealing> {
        self.vault().map(|vault| -> &dyn Sealing { vault })
    }

    fn vault(&self) -> Result<&AzureVault> {
        match self {
            Self::Kept(vault) => Ok(vault),
            Self::NoProvider => Err(Error::new(ErrorKind::KeyUnavailable).because(
                "the tables were opened without a key provider; give one by `AzureOptions::encryption`",
            )),
            Self::NoNumbers => Err(Error::new(ErrorKind::Unsupported).because(
                "a sealed value is bound to the number of its table, which is noted in the table `TcLayouts`: by \
                 `AzureOptions::assume_layouts` nothing is sealed",
            )),
        }
    }

    /// Returns what tells the store from every other, if it has keys.
    pub(super) fn identity(&self) -> Option<&[u8; 16]> {
        self.vault().ok()?.0.identity()
    }

    /// Returns what opens the values of a table's rows, and signs them.
    pub(super) fn of_table(&self, name: &str, id: u32) -> Option<Arc<dyn Vault>> {
        let vault = self.vault().ok()?.clone();
        Some(Arc::new(TableVault::new(vault, name, id)))
    }

    /// Makes sure that this process goes by the generation of the keys at which values were sealed; returns until when it does.
    pub(super) async fn rely(&self, generation: u64) -> Result<Instant> {
        let leased = self.vault()?.0.table.leased().await?;
        if leased.generation() == generation {
            return Ok(leased.until);
        }
        Err(Error::new(ErrorKind::ConditionNotMet)
            .because("a key came, was rotated or was destroyed while values were being sealed"))
    }
}
