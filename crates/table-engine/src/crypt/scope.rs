//! Scopes: the values that share a data key.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::key;
pub use crate::schema::KeyScope;

/// One scope, which has data keys of its own.
///
/// Made by [`store`](Self::store), and by [`DynamicTable::key_scope`](crate::DynamicTable::key_scope) and
/// [`partition_key_scope`](crate::DynamicTable::partition_key_scope), which know the table's number.
///
/// One that a table's handle made is of that table's store: another one refuses to rotate or to shred by it. Scopes are
/// compared by their bytes, and not by the store that they are of.
#[derive(Clone)]
pub struct Scope {
    bytes: Box<[u8]>,
    /// The identity of the store that it is of, if a table's handle made it.
    of: Option<[u8; 16]>,
}

const STORE: u8 = 0;
const TABLE: u8 = 1;
const PARTITION: u8 = 2;

impl Scope {
    /// Returns the store's scope.
    pub fn store() -> Self {
        Self::said(&[STORE])
    }

    fn said(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), of: None }
    }

    /// Returns the scope as one of the store of this identity.
    pub(crate) fn of_store(self, identity: Option<&[u8; 16]>) -> Self {
        Self { of: identity.copied(), ..self }
    }

    /// Refuses one of another store than that of this identity: its table may be any other here.
    #[doc(hidden)]
    pub fn check_of(&self, identity: &[u8; 16]) -> Result<()> {
        if self.of.is_none_or(|of| of == *identity) {
            return Ok(());
        }
        let because =
            format!("the scope, {self}, is of a table of another store; take it of this store's table");
        Err(Error::new(ErrorKind::TableNotFound).because(because))
    }

    #[doc(hidden)]
    pub fn table(table: u32) -> Self {
        Self::said(&KeyScope::Table.bytes(table, ""))
    }

    pub(crate) fn partition(table: u32, partition: &str) -> Result<Self> {
        check_partition(partition)?;
        Ok(Self::said(&KeyScope::Partition.bytes(table, partition)))
    }

    /// Returns the scope of these stored bytes; `None` if they are no scope's.
    #[doc(hidden)]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let right = match bytes {
            [STORE] | [TABLE, _, _, _, _] => true,
            [PARTITION, _, _, _, _, partition @ ..] => std::str::from_utf8(partition).is_ok(),
            _ => false,
        };
        right.then(|| Self::said(bytes))
    }

    #[doc(hidden)]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the table's number, unless the scope is the store's.
    pub fn table_number(&self) -> Option<u32> {
        match &*self.bytes {
            [_, a, b, c, d, ..] => Some(u32::from_be_bytes([*a, *b, *c, *d])),
            _ => None,
        }
    }

    /// Returns the partition key, if the scope is one partition's.
    pub fn partition_key(&self) -> Option<&str> {
        match &*self.bytes {
            [PARTITION, _, _, _, _, partition @ ..] => std::str::from_utf8(partition).ok(),
            _ => None,
        }
    }
}

impl PartialEq for Scope {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for Scope {}

impl PartialOrd for Scope {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Scope {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl Hash for Scope {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl KeyScope {
    /// Returns the scope's bytes: a tag, the table's number and the partition key, as far as they tell scopes apart.
    #[doc(hidden)]
    pub fn bytes(self, table: u32, partition: &str) -> Cow<'static, [u8]> {
        let tag = match self {
            Self::Store => return Cow::Borrowed(&[STORE]),
            Self::Table => TABLE,
            Self::Partition => PARTITION,
        };
        let partition = if self == Self::Partition { partition } else { "" };
        let mut bytes = Vec::with_capacity(5 + partition.len());
        bytes.push(tag);
        bytes.extend_from_slice(&table.to_be_bytes());
        bytes.extend_from_slice(partition.as_bytes());
        Cow::Owned(bytes)
    }
}

/// Refuses a partition key that no entity can have. It has no data keys either, and would not fit LMDB's keys.
#[doc(hidden)]
pub fn check_partition(partition: &str) -> Result<()> {
    let units = key::utf16_units(partition);
    if units <= limits::KEY_UNITS {
        return Ok(());
    }
    Err(Error::new(ErrorKind::KeyTooLong)
        .partition(partition)
        .because(format!("the partition key has {units} UTF-16 units; a key may have {}", limits::KEY_UNITS)))
}

/// `the store`, `table 7`, ``partition `Sales` of table 7``.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.table_number(), self.partition_key()) {
            (Some(table), Some(partition)) => {
                write!(f, "partition `{}` of table {table}", partition.escape_debug())
            }
            (Some(table), None) => write!(f, "table {table}"),
            _ => f.write_str("the store"),
        }
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scope({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_survives_its_bytes_and_names_itself() {
        let scopes = [
            (Scope::store(), "the store"),
            (Scope::table(7), "table 7"),
            (Scope::partition(7, "Sales").unwrap(), "partition `Sales` of table 7"),
            (Scope::partition(7, "").unwrap(), "partition `` of table 7"),
        ];
        for (scope, text) in &scopes {
            assert_eq!(scope.to_string(), *text);
            assert_eq!(format!("{scope:?}"), format!("Scope({text})"));
            assert_eq!(Scope::from_bytes(scope.as_bytes()).as_ref(), Some(scope));
        }
        for bytes in
            [&[][..], &[0, 0], &[1], &[1, 0, 0, 0, 7, 8], &[2, 0, 0, 0], &[2, 0, 0, 0, 7, 0xff], &[3]]
        {
            assert_eq!(Scope::from_bytes(bytes), None, "{bytes:?}");
        }
        assert_eq!(Scope::partition(7, &"x".repeat(513)).unwrap_err().kind(), ErrorKind::KeyTooLong);
    }
}
