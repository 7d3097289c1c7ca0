//! What is kept of keys where the program was built without the feature `encrypt`: nothing.

use std::sync::Arc;
use std::time::Instant;

use table_engine::Result;
use table_engine::row::vault::Vault;
use table_engine::sealing::{Sealing, missing};

use super::service::Settings;
use crate::client::Client;
use crate::runner::Runner;

/// What wraps the root key: there is none.
#[derive(Clone, Debug)]
pub(crate) enum Provider {}

/// The keys of a store: none.
#[derive(Clone, Debug)]
pub(super) struct SealingKeys;

#[expect(
    clippy::unused_self,
    reason = "it has the methods of the keys that there are with the feature `encrypt`"
)]
impl SealingKeys {
    pub(super) fn new(_: Arc<Client>, _: Arc<Runner>, _: &Settings, _: Option<Provider>) -> Self {
        Self
    }

    /// Returns the error that there are none.
    pub(super) fn get(&self) -> Result<&dyn Sealing> {
        Err(missing::keys())
    }

    pub(super) fn identity(&self) -> Option<&[u8; 16]> {
        None
    }

    pub(super) fn of_table(&self, _: &str, _: u32) -> Option<Arc<dyn Vault>> {
        None
    }

    #[expect(clippy::unused_async, reason = "it is awaited as it is with the feature")]
    pub(super) async fn rely(&self, _: u64) -> Result<Instant> {
        Err(missing::keys())
    }
}
