//! What is said of data keys.

use super::{KeyHandle, Scope};
use crate::model::Ticks;

/// A data key, as a store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyInfo {
    /// Its name.
    pub handle: KeyHandle,
    /// The scope whose values it seals.
    pub scope: Scope,
    /// Its number among the keys of its scope, counted from 1.
    pub version: u32,
    /// When it was made.
    pub made: Ticks,
    /// Whether it seals new values; the others only open what they sealed.
    ///
    /// On a store whose processes learn of a rotation by leases, a key that is newer than the current one will seal, or was
    /// made known by a rotation that was broken off.
    pub current: bool,
}

impl KeyInfo {
    /// Describes a key that does not seal new values.
    #[doc(hidden)]
    #[must_use]
    pub fn new(handle: KeyHandle, scope: Scope, version: u32, made: Ticks) -> Self {
        Self { handle, scope, version, made, current: false }
    }

    /// Says whether it seals new values.
    #[doc(hidden)]
    #[must_use]
    pub fn with_current(self, current: bool) -> Self {
        Self { current, ..self }
    }
}

/// The values in a table that one data key sealed, and the tokens that it made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SealedValues {
    /// The key.
    pub key: KeyHandle,
    /// The table.
    pub table: String,
    /// How many values it sealed, those in copies too.
    pub values: u64,
    /// How many [tokens](trait@crate::Entity) of values it made, those in copies too. A row does not name the key of a token, so
    /// they are counted where the store was opened with a key provider, and are none without.
    pub tokens: u64,
    /// The partition key and the row key of the first row that has one.
    pub first: (String, String),
}
