//! What the keys have to know of the store whose values they seal.

use table_engine::crypt::{KeyHandle, SealedValues};
use table_engine::error::Result;

/// The store whose values the keys seal, as they see it.
pub(crate) trait KeptStore: Send + Sync {
    /// Makes every commit so far durable, by whatever process and at whatever level.
    fn flush(&self) -> Result<()>;

    /// Waits until every transaction that had begun has ended, in whatever process. Writes that passed a look at the keys'
    /// generation before can then be seen.
    fn await_writers(&self) -> Result<()>;

    /// Returns the values that the wanted keys sealed, and the tokens that they made.
    fn sealed_values(&self, wanted: &dyn Fn(KeyHandle) -> bool) -> Result<Vec<SealedValues>>;
}
