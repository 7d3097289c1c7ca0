//! What rows ask of the keys of their store.

use std::fmt;

use super::DIGEST;
use crate::error::Result;
use crate::model::{EntityKeys, ValueRef};
use crate::plaintext::Plaintext;

/// Opens what is sealed in a table's rows, signs them, and authenticates the records that say that they are sealed or signed.
pub trait Vault: fmt::Debug + Send + Sync {
    /// Opens the value of a property that was sealed for the entity of these keys, in the table of this number.
    fn open(&self, table: u32, keys: EntityKeys<'_>, property: &str, sealed: &[u8]) -> Result<Plaintext>;

    /// Returns a number that rises whenever a key stops being current or is destroyed.
    fn generation(&self) -> Result<u64>;

    /// Returns the keyed digest of a row of these keys with these properties, in whatever order.
    fn sign(&self, keys: EntityKeys<'_>, properties: Vec<(&str, ValueRef<'_>)>) -> Result<[u8; DIGEST]>;

    /// Returns whether this is that digest. How much of it is right does not show in the time it takes.
    fn is_genuine(
        &self,
        keys: EntityKeys<'_>,
        properties: Vec<(&str, ValueRef<'_>)>,
        digest: &[u8; DIGEST],
    ) -> Result<bool>;

    /// Returns the key that authenticates the small records.
    fn authenticator(&self) -> Result<&dyn Authenticator>;
}

/// Makes keyed digests.
pub trait Authenticator {
    /// Returns the digest of these parts for the purpose that the label names.
    fn digest(&self, label: &str, parts: &[&[u8]]) -> [u8; DIGEST];
}

#[cfg(feature = "encrypt")]
impl Authenticator for crate::crypt::mac::MacKey {
    fn digest(&self, label: &str, parts: &[&[u8]]) -> [u8; DIGEST] {
        Self::digest(self, label, parts)
    }
}
