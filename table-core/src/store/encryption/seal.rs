//! Sealed values as typed reads and writes meet them: sealed before a transaction, opened out of a row.
//!
//! Without the feature `encrypt` no declaration compiles that has any, and what is here has nothing to do.

#[cfg(feature = "encrypt")]
mod with_keys;
#[cfg(not(feature = "encrypt"))]
mod without_keys;

#[cfg(feature = "encrypt")]
pub(crate) use self::with_keys::{SealedAt, Sealer, generation, generation_of, looks_sealed, open, tokens};
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without_keys::{
    SealedAt, Sealer, generation, generation_of, looks_sealed, open, tokens,
};
use crate::schema::TOKEN_BYTES;

/// The tokens of a value.
#[derive(Clone, Debug)]
pub(crate) struct FoundTokens {
    /// The one to be written.
    pub(crate) current: [u8; TOKEN_BYTES],
    /// Those under which another entity may have been filed before the key was rotated.
    pub(crate) others: Vec<[u8; TOKEN_BYTES]>,
}

/// What a stored value is by the keys that are current now.
#[derive(Debug)]
pub(crate) struct Resealed {
    /// Its bytes, if others than those that are stored.
    pub(crate) value: Option<Vec<u8>>,
    /// Its token, if the field has any.
    pub(crate) token: Option<[u8; TOKEN_BYTES]>,
}
