//! Without the feature `encrypt`: no declaration compiles that seals or signs, and a store has no keys.

use std::path::Path;
use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::model::Name;
use crate::row::vault::{Authority, Vault};
use crate::row::view::RowView;
use crate::sealing::{Sealing, missing};
use crate::store::lmdb::Databases;
use crate::store::open::Environment;
use crate::store::records::catalog::TableState;

/// There are none.
#[derive(Clone, Debug)]
pub(in crate::store) struct Keys;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
impl Keys {
    pub(in crate::store) fn open(_: &Environment) -> Result<Self> {
        Ok(Self)
    }

    pub(in crate::store) fn of_store<S>(self, _: &Weak<S>) -> Self {
        self
    }

    pub(in crate::store) fn vault(&self) -> Result<&dyn Sealing> {
        Err(missing::keys())
    }

    pub(in crate::store) fn of_table(&self, _: [u8; 16], _: [u8; 16]) -> Option<Arc<dyn Vault>> {
        None
    }

    pub(in crate::store) fn authority(&self) -> Result<Option<&dyn Authority>> {
        Ok(None)
    }

    /// They are left alone.
    pub(in crate::store) fn check(&self, _: &Environment) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    pub(in crate::store) fn are_noted(_: &Environment) -> Result<bool> {
        Ok(false)
    }

    pub(in crate::store) fn copy(_: &Environment, _: &Path, _: bool) -> Result<()> {
        Ok(())
    }
}

/// No rows are looked at through one.
#[derive(Debug)]
pub(in crate::store) enum Lens {}

impl Lens {
    pub(in crate::store) fn check_filter(
        &self,
        _: (&Databases, &heed::RoTxn<'_>, &TableState),
        _: &RowView<'_>,
        _: &[Name],
    ) -> Result<()> {
        match *self {}
    }
}
