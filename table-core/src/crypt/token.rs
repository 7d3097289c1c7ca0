//! Blind tokens: what equal values have in common, for who has the key.

use std::fmt;

use super::cell::{Cell, framed};
use super::data_key::DataKey;
use super::plain::{self, Plain};
use super::scope::KeyScope;
use crate::model::{EdmType, ValueRef};

/// Within what equal values have equal tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TokenScope {
    /// Within a partition: who sees the tokens can't tell that two partitions hold one value.
    #[default]
    Partition,
    /// Within a table: a value can be looked up without knowing its partition.
    Table,
}

impl TokenScope {
    /// Whose key makes the tokens of a property whose values have keys of this scope: a partition's key can't make
    /// tokens that other partitions know.
    pub(crate) fn key_scope(self, values: KeyScope) -> KeyScope {
        match (self, values) {
            (Self::Table, KeyScope::Partition) => KeyScope::Table,
            (_, values) => values,
        }
    }
}

/// A keyed hash of an encrypted value, which can stand in a key in the value's place: equal values of a property
/// have equal tokens, and a token says nothing else of its value to who lacks the key.
///
/// It prints as 34 hex digits: two that tell the versions of the key apart, and 32 of the hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token([u8; 17]);

impl Token {
    pub(crate) fn new(key: &DataKey, scope: TokenScope, cell: &Cell<'_>, value: ValueRef<'_>) -> Self {
        // A field may grow from `i32` to `i64`, and is to be found by the tokens that it has.
        let value = value.as_i64().map_or(value, ValueRef::Int64);
        let plain = Plain::of(value);
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
        let mut token = [0; 17];
        if let Some((version, rest)) = token.split_first_mut() {
            *version = Self::version_byte(key.version());
            rest.copy_from_slice(&hash);
        }
        Self(token)
    }

    /// Which of a scope's keys made it, modulo 256: of the keys that are alive no two have the same.
    pub(crate) fn version_byte(version: u32) -> u8 {
        let [low, ..] = version.to_le_bytes();
        low
    }
}

/// 34 hex digits.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({self})")
    }
}
