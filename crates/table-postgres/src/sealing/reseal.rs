//! A table as the job that seals values anew goes over it.

use table_engine::__executor::Resealing;
use table_engine::Result;

use super::destroy;
use crate::table::PostgresTable;

impl PostgresTable {
    /// Returns the table, if its store has keys.
    pub(crate) fn with_keys(&self) -> Result<&dyn Resealing> {
        self.store.keys.get()?;
        Ok(self)
    }
}

impl Resealing for PostgresTable {
    fn generation(&self) -> Result<u64> {
        let keys = &self.store.keys.get()?.0;
        // The job compares it with the one at its beginning: another process may have rotated a key since.
        keys.refresh()?;
        Ok(keys.known_generation())
    }

    fn await_writers(&self) -> Result<()> {
        destroy::await_writers(&self.store)
    }
}
