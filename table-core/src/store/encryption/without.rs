//! Without the feature `encrypt`: no declaration compiles that seals or signs, and a store has no keys.

use std::path::Path;
use std::sync::{Arc, Weak};

use crate::error::Result;
use crate::model::Name;
use crate::row::vault::{Authority, Vault};
use crate::row::view::RowView;
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

    pub(in crate::store) fn of_table(&self, _: [u8; 16], _: [u8; 16]) -> Option<Arc<dyn Vault>> {
        None
    }

    pub(in crate::store) fn authority(&self) -> Result<Option<&dyn Authority>> {
        Ok(None)
    }

    /// They are left alone.
    pub(in crate::store) fn check(&self, _: &Environment) -> Vec<String> {
        Vec::new()
    }

    pub(in crate::store) fn copy(_: &Environment, _: &Path) -> Result<()> {
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

/// The error where keys are needed.
pub(in crate::store) mod missing {
    use crate::error::{Error, ErrorKind};

    /// For sealed values.
    #[cold]
    pub(in crate::store) fn keys() -> Error {
        Error::new(ErrorKind::KeyUnavailable)
            .because("the program was built without the feature `encrypt` of `table-core`")
    }

    /// For rows that are signed.
    #[cold]
    pub(in crate::store) fn to_sign() -> Error {
        Error::new(ErrorKind::KeyUnavailable)
            .because("the row is signed, which takes the feature `encrypt` of `table-core` to verify")
    }

    /// For dropping a table that is vouched for.
    #[cold]
    pub(in crate::store) fn to_drop(_: Error) -> Error {
        Error::new(ErrorKind::KeyUnavailable).because(
            "the table holds sealed or signed rows, and to drop it takes the store's keys, and the feature \
             `encrypt` of `table-core`",
        )
    }
}
