//! A table of an LMDB store, as an executor's.

use std::any::Any;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::TableExec;

use super::shared::Shared;
use crate::records::catalog::TableState;

/// A table of an LMDB store.
pub(crate) struct LmdbTable {
    pub(crate) inner: Arc<Shared>,
    pub(crate) state: Arc<TableState>,
}

impl LmdbTable {
    pub(crate) fn new(inner: Arc<Shared>, state: Arc<TableState>) -> Self {
        Self { inner, state }
    }

    /// Returns the table, if it is one of LMDB's.
    pub(crate) fn of(table: &dyn TableExec) -> Result<&Self> {
        let table: &dyn Any = table;
        table.downcast_ref().ok_or_else(stranger)
    }

    pub(crate) fn inner(&self) -> &Arc<Shared> {
        &self.inner
    }

    pub(crate) fn state(&self) -> &Arc<TableState> {
        &self.state
    }
}

#[cold]
fn stranger() -> Error {
    Error::new(ErrorKind::Unsupported).because("only a table of a store on LMDB can do that")
}
