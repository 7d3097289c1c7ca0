//! Sealed values as typed reads and writes meet them: sealed before a transaction, opened out of a row.
//!
//! Without the feature `encrypt` no declaration compiles that has any, and what is here has nothing to do.

#[cfg(feature = "encrypt")]
mod with_keys;
#[cfg(not(feature = "encrypt"))]
mod without_keys;

#[cfg(feature = "encrypt")]
pub(crate) use self::with_keys::{Opened, SealedAt, Sealer, open};
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without_keys::{Opened, SealedAt, Sealer, open};
