//! A table on LMDB.

use crate::error::Result;
use crate::executor::{Backend, Moment, Read, TableExec, Take};
use crate::row::key::KeyBuffer;
use crate::row::view::RowView;
use crate::schema::Schema;
use crate::store::handle::lmdb_table::LmdbTable;
use crate::store::handle::moment::LmdbMoment;
use crate::store::jobs::declare;
use crate::store::scan::read;

impl LmdbTable {
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

impl TableExec for LmdbTable {
    fn name(&self) -> &str {
        &self.state().name
    }

    fn id(&self) -> u32 {
        self.state().id
    }

    fn get(&self, keys: (&str, &str), read: Read<'_>) -> Result<bool> {
        self.find(keys, |view, state| read(&view, state))
    }

    fn view(&self, keys: (&str, &str), take: Take<'_>) -> Result<bool> {
        self.find(keys, |view, _| take(view))
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        declare::register(&self.inner, &self.state, schema)
    }

    fn store(&self) -> &dyn Backend {
        &*self.inner
    }

    fn moment(&self) -> Result<Box<dyn Moment>> {
        Ok(Box::new(LmdbMoment::new(self.inner())?))
    }
}
