//! Sealed values as reads and writes of any backend meet them: sealed before a plan is carried out, opened
//! out of a row; and digests of rows that are signed.
//!
//! Without the feature `encrypt` no declaration compiles that has any, and what is here has nothing to do.

#[cfg(feature = "encrypt")]
pub mod job;
#[cfg(feature = "encrypt")]
pub mod key_uses;
mod plain_values;
pub mod sign;
#[cfg(feature = "encrypt")]
mod with_keys;
#[cfg(not(feature = "encrypt"))]
mod without_keys;

use std::fmt;
#[cfg(feature = "encrypt")]
use std::sync::Arc;

pub use self::plain_values::PlainValues;
#[cfg(feature = "encrypt")]
pub use self::with_keys::{SealedAt, looks_sealed};
#[cfg(feature = "encrypt")]
pub(crate) use self::with_keys::{Sealer, generation};
#[cfg(not(feature = "encrypt"))]
pub use self::without_keys::{SealedAt, looks_sealed};
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without_keys::{Sealer, generation};
#[cfg(feature = "encrypt")]
use crate::crypt::{Cell, KeyHandle, Token, TokenScope};
use crate::error::{Error, ErrorKind, Result};
use crate::model::EntityKeys;
#[cfg(feature = "encrypt")]
use crate::model::{Value, ValueRef};
use crate::plaintext::Plaintext;
use crate::row::view::RowView;

/// A store, by what seals its values.
pub trait HasVault: Send + Sync {
    /// Returns its keys; an error if it has none, or can seal nothing at all.
    fn vault(&self) -> Result<&dyn Sealing> {
        Err(Error::new(ErrorKind::Unsupported).because("the store seals no values and signs no rows"))
    }

    /// Returns what tells the store from every other; `None` of a store that has no keys of its own.
    fn identity(&self) -> Option<&[u8; 16]> {
        None
    }
}

/// What seals and opens values, and makes their tokens, with the keys of one store.
pub trait Sealing: fmt::Debug + Send + Sync {
    /// Returns the keys, to be kept.
    #[cfg(feature = "encrypt")]
    fn share(&self) -> Arc<dyn Sealing>;

    /// Returns a number that rises whenever a key stops being current or is destroyed.
    #[cfg(feature = "encrypt")]
    fn generation(&self) -> Result<u64>;

    /// Returns the value, sealed for a cell with the key that is current there.
    #[cfg(feature = "encrypt")]
    fn seal(&self, cell: &Cell<'_>, value: ValueRef<'_>) -> Result<Vec<u8>>;

    /// Returns the value that was sealed for a cell.
    #[cfg(feature = "encrypt")]
    fn open(&self, cell: &Cell<'_>, sealed: &[u8]) -> Result<Value>;

    /// Returns the key that is current for a cell.
    #[cfg(feature = "encrypt")]
    fn current(&self, cell: &Cell<'_>) -> Result<KeyHandle>;

    /// Returns the token of a value, by the key that is current.
    #[cfg(feature = "encrypt")]
    fn token(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Token>;

    /// Returns the tokens of a value, newest first: one for each key that is alive.
    #[cfg(feature = "encrypt")]
    fn tokens(&self, cell: &Cell<'_>, scope: TokenScope, value: ValueRef<'_>) -> Result<Vec<Token>>;

    /// Returns whether the key that is current made this token.
    #[cfg(feature = "encrypt")]
    fn makes_token(&self, cell: &Cell<'_>, scope: TokenScope, token: Option<&[u8]>) -> Result<bool>;
}

/// Opens a property of a row; `row` is the key of the entity's own row, also where this one is a copy of it.
pub fn open(view: &RowView<'_>, row: &str, property: &str, sealed: &[u8]) -> Result<Plaintext> {
    let partition = view.partition_key();
    let vault = view.dict().vault().ok_or_else(|| missing::keys().partition(&partition).row(row))?;
    vault.open(view.table(), EntityKeys::new(&partition, row), property, sealed)
}

/// Returns the generation of the keys that open a row's values.
pub fn generation_of(view: &RowView<'_>) -> Result<u64> {
    view.dict().vault().ok_or_else(missing::keys)?.generation()
}

#[cfg(feature = "encrypt")]
/// What is said where keys are needed and there are none.
pub mod missing {
    use crate::error::{Error, ErrorKind};

    /// Returns the error of a sealed value.
    #[cold]
    pub fn keys() -> Error {
        Error::new(ErrorKind::KeyUnavailable)
            .because("the store was opened without a key provider; give its options one by `.encryption(..)`")
    }

    /// Returns the error of a signed row.
    #[cold]
    pub(crate) fn to_sign() -> Error {
        keys()
    }

    /// Returns the error of dropping a table whose records are authenticated.
    #[cold]
    pub fn to_drop(error: Error) -> Error {
        error.and("; the table holds sealed or signed rows, and to drop it takes the keys that authenticate the others")
    }
}

#[cfg(not(feature = "encrypt"))]
/// What is said where keys are needed.
pub mod missing {
    use crate::error::{Error, ErrorKind};

    /// Returns the error of a sealed value.
    #[cold]
    pub fn keys() -> Error {
        Error::new(ErrorKind::KeyUnavailable)
            .because("the program was built without the feature `encrypt` of `table-core`")
    }

    /// Returns the error of a signed row.
    #[cold]
    pub(crate) fn to_sign() -> Error {
        Error::new(ErrorKind::KeyUnavailable)
            .because("the row is signed, which takes the feature `encrypt` of `table-core` to verify")
    }

    /// Returns the error of dropping a table whose records are authenticated.
    #[cold]
    pub fn to_drop(_: Error) -> Error {
        Error::new(ErrorKind::KeyUnavailable).because(
            "the table holds sealed or signed rows, and to drop it takes the store's keys, and the feature \
             `encrypt` of `table-core`",
        )
    }
}
