//! A row's place in the data database: table number, partition key, 0x00, row key.
//!
//! Keys hold no control characters, so 0x00 separates without escaping and a partition ends at 0x01.

mod number;
mod range;

use std::borrow::Cow;
use std::ops::Range;

pub use self::number::{NUMBERS, Number};
pub use self::range::{StoredRange, range, range_from};
use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::key::{self, Part};
use crate::model::{text, words};

/// The most bytes that a table's number takes.
pub const TABLE: usize = number::LONGEST;
const SEPARATOR: u8 = 0;

/// Appends the stored key of a row.
#[inline]
pub fn encode(table: u32, partition: &str, row: &str, out: &mut Vec<u8>) {
    out.reserve(TABLE + partition.len() + 1 + row.len());
    encode_partition(table, partition, out);
    key::encode(row, out);
}

/// Appends a stored key up to its row key: what the rows of a partition begin with.
fn encode_partition(table: u32, partition: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(&Number::of(table));
    key::encode(partition, out);
    out.push(SEPARATOR);
}

/// The stored keys of rows of one partition, one after another: what they begin with is put into bytes once.
#[derive(Clone, Debug, Default)]
pub struct InPartition {
    /// Where that last stood in the bytes that keys are appended to.
    prefix: Range<usize>,
}

impl InPartition {
    /// Appends the stored key of a row, and returns where it stands. Once keys are taken away again, begin anew.
    #[inline]
    pub fn encode(&mut self, table: u32, partition: &str, row: &str, out: &mut Vec<u8>) -> Range<usize> {
        let from = out.len();
        if self.prefix.is_empty() || self.prefix.end > from {
            encode_partition(table, partition, out);
            self.prefix = from..out.len();
        } else {
            out.extend_from_within(self.prefix.clone());
        }
        key::encode(row, out);
        from..out.len()
    }
}

/// Returns the stored key of a row.
#[inline]
pub fn stored(table: u32, partition: &str, row: &str) -> Vec<u8> {
    let mut key = Vec::new();
    encode(table, partition, row, &mut key);
    key
}

/// Where the stored key of a row that is looked for is put: most need no memory of their own.
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub struct KeyBuffer {
    short: [u8; SHORT],
    long: Vec<u8>,
}

/// Bytes that few stored keys have more of.
const SHORT: usize = 96;

impl Default for KeyBuffer {
    fn default() -> Self {
        Self { short: [0; SHORT], long: Vec::new() }
    }
}

impl KeyBuffer {
    /// Returns the stored key of a row.
    #[inline]
    pub fn encode(&mut self, table: u32, partition: &str, row: &str) -> &[u8] {
        if let Some(length) = self.encode_short(table, partition, row) {
            return self.short.get(..length).unwrap_or_default();
        }
        self.long.clear();
        encode(table, partition, row, &mut self.long);
        &self.long
    }

    /// Returns how many bytes the key has, if it is short and stands as it is.
    fn encode_short(&mut self, table: u32, partition: &str, row: &str) -> Option<usize> {
        if !words::are_ascii(partition.as_bytes()) || !words::are_ascii(row.as_bytes()) {
            return None;
        }
        let number = Number::of(table);
        let separator = number.len() + partition.len();
        let length = separator + 1 + row.len();
        let (before, of_row) = self.short.get_mut(..length)?.split_at_mut_checked(separator)?;
        let (of_number, of_partition) = before.split_at_mut_checked(number.len())?;
        of_number.copy_from_slice(&number);
        of_partition.copy_from_slice(partition.as_bytes());
        let (end, of_row) = of_row.split_first_mut()?;
        *end = SEPARATOR;
        of_row.copy_from_slice(row.as_bytes());
        Some(length)
    }
}

/// Returns the bytes of stored keys, behind the table's number, that have the same place in each: the partition key's, and so
/// many of the row key's.
pub(crate) fn shared(partition: usize, of_row: usize) -> usize {
    partition + 1 + of_row
}

/// Returns what follows so many bytes of a stored key behind the table's number.
pub(crate) fn behind_shared(stored: &[u8], shared: usize) -> &[u8] {
    stored.get(number::length(stored) + shared..).unwrap_or_default()
}

/// Checks a pair of keys that is to be written.
pub fn check(partition: &str, row: &str) -> Result<(), Error> {
    check_partition(partition)?;
    check_row(partition, row)
}

/// Checks a partition key that is to be written.
#[inline]
pub fn check_partition(partition: &str) -> Result<(), Error> {
    key::check(Part::Partition, partition)
}

/// Checks a row key that is to be written, and how long it is together with a partition key that has been checked.
pub fn check_row(partition: &str, row: &str) -> Result<(), Error> {
    key::check(Part::Row, row)?;
    if fits(partition, row) {
        Ok(())
    } else {
        Err(Error::new(ErrorKind::KeyTooLong).because(format!(
            "the partition key and the row key have {} bytes together; the store takes {}",
            partition.len() + row.len(),
            limits::KEY_PAIR_BYTES
        )))
    }
}

/// Checks a row key that a template has printed: it holds nothing that a key may not, and is not too long by itself.
#[inline]
pub fn check_printed_row(partition: &str, row: &str) -> Result<(), Error> {
    debug_assert!(key::check(Part::Row, row).is_ok(), "a template printed {row:?}");
    if fits(partition, row) { Ok(()) } else { check_row(partition, row) }
}

/// Returns whether a row can have these keys at all, as far as their length goes.
pub fn fits(partition: &str, row: &str) -> bool {
    partition.len() + row.len() <= limits::KEY_PAIR_BYTES
}

/// A stored key taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredKey<'a> {
    pub table: u32,
    partition: &'a [u8],
    row: &'a [u8],
    /// Both, with what separates them.
    pair: &'a [u8],
}

impl<'a> StoredKey<'a> {
    pub fn parse(stored: &'a [u8]) -> Option<Self> {
        let (table, rest) = number::split(stored)?;
        let (at, _) = words::find(rest, SEPARATOR)?;
        let (partition, row) = rest.split_at_checked(at)?;
        Some(Self { table, partition, row: row.get(1..)?, pair: rest })
    }

    /// Returns both keys as they are stored, where they are ASCII alone: that is their text.
    pub(crate) fn plain(&self) -> Option<(&'a [u8], &'a [u8])> {
        words::are_ascii(self.pair).then_some((self.partition, self.row))
    }

    /// Returns both keys; `None` where the bytes are no text.
    pub fn texts(&self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        // Looked at as one text, which they mostly are as they stand.
        match key::decode(self.pair)? {
            Cow::Borrowed(pair) => {
                let (partition, row) = pair.split_at_checked(self.partition.len())?;
                Some((partition.into(), row.get(1..)?.into()))
            }
            Cow::Owned(_) => Some((self.partition()?, self.row()?)),
        }
    }

    /// Returns the partition key, or `None` where the bytes are no text.
    pub fn partition(&self) -> Option<Cow<'a, str>> {
        key::decode(self.partition)
    }

    /// Returns the row key, or `None` where the bytes are no text.
    pub fn row(&self) -> Option<Cow<'a, str>> {
        key::decode(self.row)
    }
}

/// Returns a stored key up to its row key.
#[inline]
pub fn partition_of(stored: &[u8]) -> &[u8] {
    match StoredKey::parse(stored) {
        Some(key) => stored.get(..stored.len() - key.row.len()).unwrap_or_default(),
        None => &[],
    }
}

/// Returns the text of the partition key of a stored key, if each byte of it is one that any key may hold.
#[inline]
pub fn plain_partition(stored: &[u8]) -> Option<&str> {
    let partition = StoredKey::parse(stored)?.partition;
    if words::are_plain(partition) { text::of(partition) } else { None }
}

/// Names the row of a stored key in an error.
#[cold]
pub fn locate(error: Error, stored: &[u8]) -> Error {
    match StoredKey::parse(stored) {
        None => error,
        Some(key) => {
            let shown = |bytes| key::decode(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes));
            error.partition(&shown(key.partition)).row(&shown(key.row))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_apart_again() {
        for (partition, row) in [("", ""), ("Sales", "empid_000001"), ("\u{e000}", "\u{1f600}")] {
            let mut stored = Vec::new();
            encode(7, partition, row, &mut stored);
            let key = StoredKey::parse(&stored).unwrap();
            assert_eq!(key.table, 7);
            assert_eq!(key.partition().as_deref(), Some(partition));
            assert_eq!(key.row().as_deref(), Some(row));
        }
    }

    #[test]
    fn keys_of_one_partition_are_those_that_stand_alone() {
        for partition in ["Sales", "", "\u{e000}\u{1f600}"] {
            let (mut keys, mut bytes) = (InPartition::default(), b"before".to_vec());
            for row in ["", "empid_000001", "\u{e000}", "x"] {
                let key = keys.encode(7, partition, row, &mut bytes);
                assert_eq!(bytes[key.clone()], stored(7, partition, row));
                assert_eq!(key.end, bytes.len());
                bytes.extend_from_slice(b"a row");
            }
            // Bytes that were taken away after all are written again.
            bytes.truncate(6);
            let key = keys.encode(7, partition, "again", &mut bytes);
            assert_eq!(bytes[key], stored(7, partition, "again"));
        }
    }

    #[test]
    fn a_buffer_gives_the_stored_key_whatever_it_held_before() {
        let mut buffer = KeyBuffer::default();
        let long = "x".repeat(SHORT);
        for (partition, row) in [
            ("Sales", "empid_000001"),
            (&*long, "r"),
            ("", ""),
            ("p", &long[..SHORT - 3]),
            ("p", &long[..SHORT - 2]),
            ("\u{e000}", "r"),
            ("Sales", "\u{1f600}"),
        ] {
            let mut stored = Vec::new();
            encode(7, partition, row, &mut stored);
            assert_eq!(buffer.encode(7, partition, row), stored);
        }
    }

    #[test]
    fn the_pair_is_checked_at_the_limit_and_one_past() {
        let (partition, row) = ("名".repeat(512), "x".repeat(512));
        assert_eq!(partition.len() + row.len(), 2_048);
        assert_eq!(check(&partition, &row).unwrap_err().kind(), ErrorKind::KeyTooLong);
        let row = "x".repeat(limits::KEY_PAIR_BYTES - partition.len());
        check(&partition, &row).unwrap();
        assert_eq!(check(&partition, &(row + "x")).unwrap_err().kind(), ErrorKind::KeyTooLong);
    }
}
