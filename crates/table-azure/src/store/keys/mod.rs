//! The keys by which values are sealed: wrapped by the program's provider, in a table of their own.
//!
//! A root key is wrapped by the provider, data keys by the root key, each for one scope: the store, a table, or a partition. They
//! are made when they are first needed, and stay.

mod records;
mod vault;

use std::sync::Arc;

use table_engine::__executor::Names;
use table_engine::crypt::KeyProvider;
use table_engine::row::vault::Vault;
use table_engine::sealing::Sealing;
use table_engine::{Error, ErrorKind, Result};

use self::vault::AzureVault;
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
                let table = format!("{}{}", settings.prefix, KEYS);
                Self::Kept(AzureVault::new(records::Records { client, table }, runner, provider))
            }
        }
    }

    /// Returns the keys; an error if there are none.
    pub(super) fn get(&self) -> Result<&dyn Sealing> {
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

    /// Returns what the rows of a table are packed by, with what opens their values.
    pub(super) fn names(&self) -> Names {
        match self {
            Self::Kept(vault) => {
                let vault: Arc<dyn Vault> = Arc::new(vault.clone());
                Names::of_vault(vault)
            }
            Self::NoProvider | Self::NoNumbers => Names::default(),
        }
    }
}
