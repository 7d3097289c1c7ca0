//! A table as the job that seals values anew goes over it.

use table_engine::__executor::Resealing;
use table_engine::Result;

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
}
