//! A table as the job that seals values anew goes over it.

use table_engine::__executor::{Chunk, Jobs, Position, Resealing, SealedRow, StepSize};
use table_engine::Result;
use table_engine::schema::Schema;

use super::super::table::AzureTable;

impl AzureTable {
    /// Returns the table, if its store has keys.
    pub(crate) fn with_keys(&self) -> Result<&dyn Resealing> {
        self.store.service.keys.vault()?;
        Ok(self)
    }
}

impl Resealing for AzureTable {
    fn generation(&self) -> Result<u64> {
        // The job compares it with the one at its beginning: another process may have rotated a key since.
        Ok(self.store.service.keys.vault()?.0.leased_now()?.generation())
    }

    /// Waits until nothing is under way that was sealed by a state of the keys before the one that is.
    fn await_writers(&self) -> Result<()> {
        self.store.service.keys.vault()?.0.settle().map(drop)
    }

    fn sealed_rows_after(
        &self,
        schema: &'static Schema,
        after: Option<&Position>,
        size: StepSize,
    ) -> Result<Chunk> {
        let mut entities = Vec::new();
        let walked = self.rows_after(after, size, &mut |view, _| {
            let found = SealedRow::of(schema, view)?;
            let is_asked_for = found.is_some();
            entities.extend(found);
            Ok(is_asked_for)
        });
        let (last, rows) =
            walked.map_err(|error| error.attempted("re-encrypt in").table(self.entry.name()))?;
        Ok(Chunk { rows, last, entities })
    }
}
