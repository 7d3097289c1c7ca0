//! Blind tokens, which tell that values are equal to a holder of the key.

use std::fmt;

use super::cell::{Cell, framed};
use super::data_key::DataKey;
use super::plain::{self, PlainBytes};
use super::scope::KeyScope;
use crate::model::{EdmType, ValueRef};
pub use crate::schema::TokenScope;
use crate::schema::{TOKEN_BYTES, token_text};

impl TokenScope {
    /// Returns the scope whose key makes the tokens of a property, if this scope's keys seal its values. A partition's key can't
    /// make tokens that other partitions know.
    #[doc(hidden)]
    pub fn key_scope(self, values: KeyScope) -> KeyScope {
        match (self, values) {
            (Self::Table, KeyScope::Partition) => KeyScope::Table,
            (_, values) => values,
        }
    }
}

/// A keyed hash of an encrypted value, which can stand in a key in the value's place. Equal values of a property have
/// equal tokens. Without the key, a token says nothing else of its value.
///
/// It prints as 34 hex digits: two that tell the versions of the key apart, and 32 of the hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token([u8; TOKEN_BYTES]);

impl Token {
    #[doc(hidden)]
    pub fn new(key: &DataKey, scope: TokenScope, cell: &Cell<'_>, value: ValueRef<'_>) -> Self {
        // A field may grow from `i32` to `i64`, and must still be found by its tokens.
        let value = value.as_i64().map_or(value, ValueRef::Int64);
        let plain = PlainBytes::of(value);
        let edm: EdmType = value.edm_type();
        let mut place = Vec::with_capacity(16 + cell.property.len() + cell.partition.len());
        place.extend_from_slice(&cell.table.to_le_bytes());
        framed(&mut place, cell.property);
        match scope {
            TokenScope::Table => place.push(0),
            TokenScope::Partition => {
                place.push(1);
                framed(&mut place, cell.partition);
            }
        }
        place.push(plain::tag(edm));
        let hash: [u8; 16] = key.derivation().expand(&[b"table-derive token 1", &place, plain.as_slice()]);
        let mut token = [0; TOKEN_BYTES];
        if let Some((version, rest)) = token.split_first_mut() {
            *version = Self::version_byte(key.version());
            rest.copy_from_slice(&hash);
        }
        Self(token)
    }

    /// Returns the bytes that a row holds.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 17] {
        self.0
    }

    /// Returns the number of the scope's key that made it, modulo 256. No two living keys of a scope share it.
    #[doc(hidden)]
    pub fn version_byte(version: u32) -> u8 {
        let [low, ..] = version.to_le_bytes();
        low
    }
}

/// 34 hex digits.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&token_text(&self.0))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}
