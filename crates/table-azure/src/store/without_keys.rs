//! What is kept of keys where the program was built without the feature `encrypt`: nothing.

use std::sync::Arc;

use table_engine::__executor::Names;
use table_engine::Result;
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

    /// Returns what the rows of a table are packed by.
    pub(super) fn names(&self) -> Names {
        Names::default()
    }
}
