//! Data keys, which seal values.

use std::fmt;

use super::key::{Derivation, SecretKey};
use super::scope::Scope;
use super::value::Sealed;

/// The name of a data key, in the values that it sealed and among the keys: a random number that is no secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHandle(pub u64);

impl KeyHandle {
    /// Returns the key that sealed a value, by what the value says; `None` if the bytes are no sealed value.
    ///
    /// It takes no key, so a job can count what is left under an old one.
    pub fn of(sealed: &[u8]) -> Option<Self> {
        Sealed::parse(sealed).map(|sealed| sealed.key)
    }
}

impl fmt::Display for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for KeyHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHandle({self})")
    }
}

/// A data key in memory, ready to seal and open.
#[doc(hidden)]
#[derive(Debug)]
pub struct DataKey {
    handle: KeyHandle,
    version: u32,
    scope: Scope,
    derivation: Derivation,
}

impl DataKey {
    pub fn new(handle: KeyHandle, version: u32, scope: Scope, key: &SecretKey) -> Self {
        Self { handle, version, scope, derivation: key.derivation() }
    }

    pub fn handle(&self) -> KeyHandle {
        self.handle
    }

    /// Returns its number among the keys of its scope, counted from 1.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Returns the scope whose values it seals.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(crate) fn derivation(&self) -> &Derivation {
        &self.derivation
    }
}
