//! Service records: small values under names that a server keeps with the store, or with one of its tables or queues.
//!
//! A process that serves the store keeps here what must outlive it and what other processes over the same store must know: the
//! policies of a table, the properties of the service, the keys of the account. Rows would not do: programs see those, copies
//! and queries of tables go over them, and a table has one key for each.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};

/// The most bytes of a record's name.
pub const RECORD_NAME_BYTES: usize = 64;

/// The most bytes of a record's value.
pub const RECORD_VALUE_BYTES: usize = 64 * 1024;

/// The most records that the store has, and each of its tables and queues.
pub const RECORDS: usize = 16;

/// What a service record belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordOwner<'o> {
    /// The store as a whole.
    Store,
    /// The table of this name, without regard to case. The record keeps to the table when that is renamed, and goes when it is
    /// dropped: another table of the name has none of it.
    Table(&'o str),
    /// The queue of this name. The record goes when it is dropped.
    Queue(&'o str),
}

impl<'o> RecordOwner<'o> {
    /// Returns the name of the table that the record belongs to, if it does to one.
    pub fn table(self) -> Option<&'o str> {
        match self {
            Self::Store | Self::Queue(_) => None,
            Self::Table(name) => Some(name),
        }
    }
}

/// What a record must be for its replacement to take place.
#[derive(Clone, Copy)]
pub enum Expected<'e> {
    /// Whatever it is.
    Any,
    /// There is none of the name.
    Absent,
    /// It has this value.
    Value(&'e [u8]),
}

/// Shows no value, which may be secret.
impl fmt::Debug for Expected<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "Any",
            Self::Absent => "Absent",
            Self::Value(_) => "Value(..)",
        })
    }
}

impl Expected<'_> {
    /// Returns whether what was found is what is expected.
    pub fn is_met(self, found: Option<&[u8]>) -> bool {
        match self {
            Self::Any => true,
            Self::Absent => found.is_none(),
            Self::Value(value) => found == Some(value),
        }
    }
}

/// Where a backend keeps service records. Names and values have been [checked](check_name) by the handle that asks.
///
/// Tables are found as [`Backend::open`](super::Backend::open) finds them, and queues as
/// [`Queues::find`](super::Queues::find) does; they are missed by the errors that opening one has.
pub trait ServiceRecords: Send + Sync {
    /// Returns the value of a record; `None` if there is none of the name.
    fn get(&self, owner: RecordOwner<'_>, name: &str) -> Result<Option<Vec<u8>>>;

    /// Gives a record another value, or removes it with `None`, if it is what is expected; returns whether it was. The look and
    /// the change are one step, whatever other processes do, and the change is durable when this returns.
    fn replace(
        &self,
        owner: RecordOwner<'_>,
        name: &str,
        expected: Expected<'_>,
        value: Option<&[u8]>,
    ) -> Result<bool>;
}

/// Checks the name of a record: ASCII letters, digits, `-`, `_` and `.`.
pub fn check_name(name: &str) -> Result<()> {
    if name.len() > RECORD_NAME_BYTES {
        let because = format!(
            "the name of the service record has {} bytes, and may have {RECORD_NAME_BYTES}",
            name.len()
        );
        return Err(Error::new(ErrorKind::KeyTooLong).because(because));
    }
    let is_right = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !name.is_empty() && name.bytes().all(is_right) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::InvalidKey).because(format!(
        "the service record `{}` has a name that is none: 1 to {RECORD_NAME_BYTES} ASCII letters, digits, `-`, `_` and `.`",
        name.escape_debug()
    )))
}

/// Checks the length of a record's value. The value itself may be secret, and is not shown.
pub fn check_value(name: &str, value: &[u8]) -> Result<()> {
    if value.len() <= RECORD_VALUE_BYTES {
        return Ok(());
    }
    Err(Error::new(ErrorKind::PropertyValueTooLarge).because(format!(
        "the value of the service record `{name}` has {} bytes, and may have {RECORD_VALUE_BYTES}",
        value.len()
    )))
}

/// Returns the error of a record more than its owner may have.
#[cold]
pub fn too_many(owner: RecordOwner<'_>, name: &str) -> Error {
    let whose = match owner {
        RecordOwner::Store => "the store".to_owned(),
        RecordOwner::Table(table) => format!("the table `{table}`"),
        RecordOwner::Queue(queue) => format!("the queue `{queue}`"),
    };
    Error::new(ErrorKind::Unsupported).because(format!(
        "{whose} has {RECORDS} service records, as many as it may, and `{name}` would be one more: remove one that is not needed"
    ))
}

/// Returns the error of a store that keeps no service records.
#[cold]
pub(super) fn no_service_records() -> Error {
    Error::new(ErrorKind::Unsupported).because("the store keeps no service records")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_bounded_and_errors_show_no_value() {
        for name in ["a", "acl", "account-keys", "v2.Properties_x", &"n".repeat(RECORD_NAME_BYTES)] {
            check_name(name).unwrap();
        }
        for name in ["", "a b", "a/b", "é", "a\0", "a\n"] {
            let error = check_name(name).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidKey, "{name:?}");
            assert!(error.to_string().contains("ASCII letters"), "{error}");
        }
        let error = check_name(&"n".repeat(RECORD_NAME_BYTES + 1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::KeyTooLong);
        assert!(error.to_string().contains("65 bytes"), "{error}");

        check_value("acl", &vec![b'x'; RECORD_VALUE_BYTES]).unwrap();
        let error = check_value("acl", &vec![b'x'; RECORD_VALUE_BYTES + 1]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PropertyValueTooLarge);
        assert!(error.to_string().contains("65537") && !error.to_string().contains("xx"), "{error}");
    }

    #[test]
    fn what_is_expected_is_met_by_that_alone() {
        assert_eq!(format!("{:?}", Expected::Value(b"secret")), "Value(..)");
        let (a, b): (&[u8], &[u8]) = (b"a", b"b");
        let all = [None, Some(a), Some(b), Some(&[][..])];
        let met = |expected: Expected<'_>| all.map(|found| expected.is_met(found));
        assert_eq!(met(Expected::Any), [true; 4]);
        assert_eq!(met(Expected::Absent), [true, false, false, false]);
        assert_eq!(met(Expected::Value(a)), [false, true, false, false]);
        assert_eq!(met(Expected::Value(&[])), [false, false, false, true]);
    }
}
