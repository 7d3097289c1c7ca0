//! Without the feature `encrypt`: no declaration compiles that seals or signs, and a store has no keys.

use std::path::Path;
use std::sync::{Arc, Weak};

use table_engine::error::Result;
use table_engine::row::vault::{Authenticator, Vault};
use table_engine::sealing::{Sealing, missing};

use crate::open::Environment;

/// The keys of a store, of which there are none without the feature.
#[derive(Clone, Debug)]
pub(crate) struct Keys;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
impl Keys {
    pub(crate) fn open(_: &Environment) -> Result<Self> {
        Ok(Self)
    }

    pub(crate) fn of_store<S>(self, _: &Weak<S>) -> Self {
        self
    }

    pub(crate) fn vault(&self) -> Result<&dyn Sealing> {
        Err(missing::keys())
    }

    pub(crate) fn of_table(&self, _: [u8; 16], _: [u8; 16]) -> Option<Arc<dyn Vault>> {
        None
    }

    pub(crate) fn authenticator(&self) -> Result<Option<&dyn Authenticator>> {
        Ok(None)
    }

    /// Finds no faults: keys that the store may have are left alone.
    pub(crate) fn check(&self, _: &Environment) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    pub(crate) fn are_noted(_: &Environment) -> Result<bool> {
        Ok(false)
    }

    pub(crate) fn copy(_: &Environment, _: &Path, _: bool) -> Result<()> {
        Ok(())
    }
}
