//! Sealed values as typed reads and writes meet them: sealed before a transaction, opened out of a row.
//!
//! Without the feature `encrypt` no declaration with sealed values compiles, and nothing here has work to do.

#[cfg(feature = "encrypt")]
mod with_keys;
#[cfg(not(feature = "encrypt"))]
mod without_keys;

#[cfg(feature = "encrypt")]
pub(crate) use self::with_keys::{SealedAt, Sealer, looks_sealed};
#[cfg(feature = "encrypt")]
pub(in crate::store) use self::with_keys::{generation, tokens};
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without_keys::{SealedAt, Sealer, looks_sealed};
#[cfg(not(feature = "encrypt"))]
pub(in crate::store) use self::without_keys::{generation, tokens};
use super::missing;
use crate::error::Result;
use crate::opened::Opened;
use crate::row::view::RowView;

/// Opens a property of a row; `row` is the key of the entity's own row, also where this one is a copy of it.
pub(crate) fn open(view: &RowView<'_>, row: &str, property: &str, sealed: &[u8]) -> Result<Opened> {
    let partition = view.partition_key();
    let vault = view.dict().vault().ok_or_else(|| missing::keys().partition(&partition).row(row))?;
    vault.open(view.table(), (&partition, row), property, sealed)
}

/// The generation of the keys that open a row's values.
pub(crate) fn generation_of(view: &RowView<'_>) -> Result<u64> {
    view.dict().vault().ok_or_else(missing::keys)?.generation()
}
