//! The values and tokens left under a key, which keep it from being destroyed.

use table_engine::crypt::KeyHandle;
use table_engine::error::{Error, ErrorKind, Result};

/// The values in a table that one data key sealed, and the tokens that it made; see [`Store::sealed_values`](crate::Store::sealed_values).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedValues {
    /// The key.
    pub key: KeyHandle,
    /// The table.
    pub table: String,
    /// How many values it sealed, those in copies too.
    pub values: u64,
    /// How many [tokens](trait@table_engine::Entity) of values it made, those in copies too. A row does not name the key of a
    /// token, so they are counted where the store was opened with a key provider, and are none without.
    pub tokens: u64,
    /// The partition key and the row key of the first row that has one.
    pub first: (String, String),
}

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

#[cold]
pub(super) fn in_use(handle: KeyHandle, first: &SealedValues, found: &[SealedValues]) -> Error {
    let (values, tokens) = found.iter().fold((0, 0), |(v, t), found| (v + found.values, t + found.tokens));
    let tokens = if tokens == 0 { String::new() } else { format!(", and {tokens} tokens are made with it") };
    let tables: Vec<_> = found
        .iter()
        .map(|found| format!("{} in table `{}`", found.values + found.tokens, found.table))
        .collect();
    let (partition, row) = &first.first;
    Error::new(ErrorKind::KeyInUse)
        .because(format!(
            "{values} values are still sealed with the data key {handle}{tokens}: {}; the first is in this row. Seal them \
             anew by `Table::reencrypt`, or give them up with their scope by `shred`",
            tables.join(", ")
        ))
        .table(&first.table)
        .partition(partition)
        .row(row)
}
