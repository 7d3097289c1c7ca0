//! A table on LMDB.

use table_engine::error::{Error, Result};
use table_engine::executor::{Backend, Jobs, Loader, OneSnapshotForEachThread, Read, TableExec, Take};
use table_engine::model::{ETag, EntityKeys};
use table_engine::plan::RowWrite;
use table_engine::row::key::KeyBuffer;
use table_engine::row::view::RowView;
use table_engine::schema::{IndexMask, Schema};
#[cfg(feature = "encrypt")]
use table_engine::sealing::job::Resealing;

use crate::handle::bulk::LmdbLoader;
use crate::handle::lmdb_snapshot::LmdbSnapshot;
use crate::handle::lmdb_table::LmdbTable;
use crate::jobs::declare;
use crate::scan::read;
use crate::write::encoded::EncodedPlan;
use crate::write::prepare;

impl LmdbTable {
    /// Gives `found` the row of these keys and the number of the state that it is read in. Returns whether there is
    /// one.
    #[inline]
    fn find(
        &self,
        keys: EntityKeys<'_>,
        found: impl FnOnce(RowView<'_>, usize) -> Result<()>,
    ) -> Result<bool> {
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
    fn table_name(&self) -> &str {
        &self.state().name
    }

    fn id(&self) -> u32 {
        self.state().id
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        self.find(keys, |view, state| read(&view, state))
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        self.find(keys, |view, _| take(view))
    }

    fn declare(&self, schema: &'static Schema) -> Result<()> {
        declare::compare(&self.inner, &self.state, schema)
    }

    #[inline]
    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        match self.state.index_mask(schema, writes) {
            Some(index_mask) => Ok(index_mask),
            None => declare::index_mask(&self.inner, &self.state, schema, writes),
        }
    }

    /// Encodes the row's change directly, without a plan.
    fn write(&self, partition: &str, row: &RowWrite<'_>, is_raw: bool) -> Option<Result<ETag>> {
        let submit = |mut prepared: Box<EncodedPlan>| {
            prepared.is_raw = is_raw;
            let done = self.inner.writer.commit(&self.inner, prepared);
            done.map(ETag::from_timestamp).map_err(|refused| refused.error)
        };
        Some(prepare::single(self.inner.writer.blank(), &self.state, partition, row).and_then(submit))
    }

    fn loader<'a>(&'a self, tables: &[&'a dyn TableExec]) -> Option<Box<dyn Loader + 'a>> {
        LmdbLoader::of(self, tables).map(|loader| -> Box<dyn Loader> { Box::new(loader) })
    }

    fn jobs(&self) -> Result<&dyn Jobs> {
        Ok(self)
    }

    fn unread(&self, schema: &'static Schema, index: usize, state: usize) -> Error {
        LmdbTable::unread(self, schema, index, state)
    }

    #[cfg(feature = "encrypt")]
    fn resealing(&self) -> Result<&dyn Resealing> {
        self.job()
    }

    fn store(&self) -> &dyn Backend {
        &*self.inner
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(LmdbSnapshot::new(self.inner())?))
    }
}
