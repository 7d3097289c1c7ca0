//! Encrypted properties: keys, sealed values, blind tokens.
//!
//! A [`KeyProvider`] keeps the key that all others hang on, away from the data. It wraps one root key for each
//! store; under the root key lie the data keys, one for the store, or for each table or partition
//! ([`KeyScope`]); from a data key comes a key of its own for each value.
//!
//! A value is sealed with AES-256-GCM for one [`Cell`]: it opens in its place alone. So whoever can write the file
//! can destroy a value, and can't change one, move it, or pass another's off as it.
//!
//! What is here knows no store. The store keeps the wrapped keys, and does the sealing, as [`Encryption`].

mod aead;
pub(crate) mod cell;
pub(crate) mod data_key;
pub(crate) mod envelope;
pub(crate) mod files;
pub(crate) mod key;
mod memory;
mod plain;
mod provider;
mod ring;
pub(crate) mod scope;
mod secret;
pub(crate) mod token;
pub(crate) mod value;

pub use self::cell::Cell;
pub use self::data_key::KeyHandle;
pub use self::key::SecretKey;
pub use self::memory::MemoryKeys;
pub use self::provider::{KeyError, KeyId, KeyProvider};
pub use self::ring::KeyRing;
pub use self::scope::{KeyScope, Scope};
pub use self::secret::{Secret, Wipe};
pub use self::token::{Token, TokenScope};
pub use crate::store::{Encryption, KeyInfo, Progress};
