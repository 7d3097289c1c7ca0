//! What this process knows of the store: the generation that an answer has shown last, and what was noted of kinds at it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use table_engine::__executor::PackedRow;
use table_engine::Result;
use tokio_postgres::Row;

use crate::catalog::column;
use crate::error::damaged;
use crate::kinds::Kinds;
use crate::store::PostgresStore;
use crate::table::TableEntry;

impl PostgresStore {
    /// Returns the last generation that an answer has shown: what is noted of kinds, and which tables there are, is what it was at
    /// that one, as far as this process knows.
    pub(crate) fn generation(&self) -> i64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Takes note of the generation at the moment of a statement.
    pub(crate) fn observe_generation(&self, generation: i64) {
        self.generation.fetch_max(generation, Ordering::AcqRel);
    }

    /// Takes note of the generation where a plan was refused that demanded another: it has fallen where the server has become one
    /// that lacks the last changes, a standby or a copy of former times.
    pub(crate) fn correct_generation(&self, generation: i64) {
        self.generation.store(generation, Ordering::Release);
    }

    /// Takes in what was read of a table's kinds.
    pub(crate) fn learn(&self, entry: &TableEntry, kinds: Kinds) -> Arc<Kinds> {
        self.observe_generation(kinds.generation);
        entry.learn(kinds)
    }

    /// Returns the row from an answer whose columns are the store's generation, and the row's time, its kind and its body.
    pub(crate) fn found_now(
        &self,
        entry: &TableEntry,
        partition: &str,
        row: &str,
        answer: &[Row],
    ) -> Result<Option<PackedRow>> {
        let found = answer.first().ok_or_else(|| damaged("the record of the store"))?;
        self.observe_generation(column(found, 0)?);
        let Some(time) = column(found, 1)? else { return Ok(None) };
        self.clock.observe(time);
        entry.pack(partition, row, found, 1).map(Some)
    }
}
