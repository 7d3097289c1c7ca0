//! What a plan asks of the owner of the keys.

use crate::error::Result;
use crate::model::ValueRef;
use crate::schema::{Blind, Field, TOKEN_BYTES};

/// Seals values for the rows that are planned, with the keys that are current now.
pub(crate) trait Seals {
    /// Returns the value, sealed for a field of the entity of these keys.
    fn seal(&self, partition: &str, row: &str, field: &Field, value: ValueRef<'_>) -> Result<Vec<u8>>;

    /// Returns the tokens of a field's value in a partition.
    fn tokens(
        &self,
        partition: &str,
        field: &Field,
        blind: Blind,
        value: ValueRef<'_>,
    ) -> Result<FoundTokens>;

    /// Returns a value as it is stored, sealed with the key that is current now, and its token by the current one of its own.
    fn reseal(&self, partition: &str, row: &str, field: &Field, stored: ValueRef<'_>) -> Result<Resealed>;
}

/// The tokens of a value.
#[derive(Clone, Debug)]
pub(crate) struct FoundTokens {
    /// The one to be written.
    pub(crate) current: [u8; TOKEN_BYTES],
    /// The tokens under which another entity may have been filed before the key was rotated.
    pub(crate) others: Vec<[u8; TOKEN_BYTES]>,
}

/// A stored value under the keys that are current now.
#[derive(Debug)]
pub(crate) struct Resealed {
    /// Its bytes, if others than those that are stored.
    pub(crate) value: Option<Vec<u8>>,
    /// Its token, if the field has any.
    pub(crate) token: Option<[u8; TOKEN_BYTES]>,
}
