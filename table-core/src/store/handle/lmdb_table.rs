//! A table of an LMDB store, as an executor's.

use std::any::Any;
use std::sync::Arc;

use super::moment::LmdbMoment;
use super::shared::Shared;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Moment, Read, TableExec, Take};
use crate::handle::table::DynamicTable;
use crate::row::key::KeyBuffer;
use crate::row::view::RowView;
use crate::store::records::catalog::TableState;
use crate::store::scan::read;

/// A table of an LMDB store.
pub(in crate::store) struct LmdbTable {
    pub(super) inner: Arc<Shared>,
    pub(super) state: Arc<TableState>,
}

impl LmdbTable {
    pub(in crate::store) fn new(inner: Arc<Shared>, state: Arc<TableState>) -> Self {
        Self { inner, state }
    }

    /// The table, if it is one of LMDB's.
    pub(in crate::store) fn of(table: &dyn TableExec) -> Result<&Self> {
        let table: &dyn Any = table;
        table.downcast_ref().ok_or_else(stranger)
    }

    pub(in crate::store) fn inner(&self) -> &Arc<Shared> {
        &self.inner
    }

    pub(in crate::store) fn state(&self) -> &Arc<TableState> {
        &self.state
    }

    /// Gives `found` the row of these keys and the state that it is read in, and says whether there is one.
    #[inline]
    fn find(&self, keys: (&str, &str), found: impl FnOnce(RowView<'_>, usize) -> Result<()>) -> Result<bool> {
        self.inner.writer.check_running()?;
        let txn = self.inner.environment.read_txn()?;
        let mut key = KeyBuffer::default();
        let Some(view) = read::get_at(&self.inner, &txn, &self.state, keys, &mut key)? else {
            return Ok(false);
        };
        found(view, txn.id()).map(|()| true)
    }
}

#[cold]
fn stranger() -> Error {
    Error::new(ErrorKind::InvalidQuery).because("only a table of a store on LMDB can do that")
}

impl TableExec for LmdbTable {
    fn name(&self) -> &str {
        &self.state.name
    }

    fn id(&self) -> u32 {
        self.state.id
    }

    fn get(&self, keys: (&str, &str), read: Read<'_>) -> Result<bool> {
        self.find(keys, |view, state| read(&view, state))
    }

    fn view(&self, keys: (&str, &str), take: Take<'_>) -> Result<bool> {
        self.find(keys, |view, _| take(view))
    }

    fn moment(&self) -> Result<Box<dyn Moment>> {
        Ok(Box::new(LmdbMoment::new(&self.inner)?))
    }
}

impl DynamicTable {
    /// The table as LMDB's: for what nothing else can.
    pub(in crate::store) fn lmdb(&self) -> Result<&LmdbTable> {
        LmdbTable::of(self.exec()).map_err(|e| e.table(self.name()))
    }

    pub(in crate::store) fn inner(&self) -> Result<&Arc<Shared>> {
        self.lmdb().map(LmdbTable::inner)
    }

    pub(in crate::store) fn state(&self) -> Result<&Arc<TableState>> {
        self.lmdb().map(LmdbTable::state)
    }
}
