//! Ranges of keys as ranges of bytes, for an executor whose key is `table | PartitionKey | 0x00 | RowKey`.
//!
//! Every byte of an encoded key is at least 0x20 and below 0xff. So 0x00 ends a partition key before any longer
//! one, 0x01 stands after all rows of a partition, and 0xff after all that starts with a prefix.

use super::bounds::{KeyRange, Lower, Upper};
use crate::limits;
use crate::model::key;

/// The byte between the keys.
const SEPARATOR: u8 = 0x00;
/// In the separator's place, it stands after every row of the partition and before the next partition.
const PARTITION_END: u8 = 0x01;
/// After every character.
const PREFIX_END: u8 = 0xff;

/// The first byte string of the range and the first after it, or `None` if nothing can lie between.
///
/// The row bounds count only where the partition is a point. Neither end is longer than a stored key can be.
pub(crate) fn byte_range(
    partition: &KeyRange,
    row: &KeyRange,
    table_prefix: &[u8],
) -> Option<(Vec<u8>, Vec<u8>)> {
    if partition.is_empty() {
        return None;
    }
    let (mut start, mut end) = (table_prefix.to_vec(), table_prefix.to_vec());
    if let Some(point) = partition.as_point() {
        if row.is_empty() {
            return None;
        }
        for bytes in [&mut start, &mut end] {
            key::encode(point, bytes);
        }
        start.push(SEPARATOR);
        lower(row, SEPARATOR, &mut start);
        if *row.upper() == Upper::Unbounded {
            end.push(PARTITION_END);
        } else {
            end.push(SEPARATOR);
            upper(row, SEPARATOR, &mut end);
        }
    } else {
        lower(partition, PARTITION_END, &mut start);
        if *partition.upper() == Upper::Unbounded {
            end = successor(table_prefix);
        } else {
            upper(partition, PARTITION_END, &mut end);
        }
    }
    fit(&mut start, table_prefix);
    fit(&mut end, table_prefix);
    (start < end).then_some((start, end))
}

/// The stored form of a pair of keys.
pub(crate) fn stored_key(table_prefix: &[u8], partition: &str, row: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(table_prefix.len() + partition.len() + 1 + row.len());
    bytes.extend_from_slice(table_prefix);
    key::encode(partition, &mut bytes);
    bytes.push(SEPARATOR);
    key::encode(row, &mut bytes);
    bytes
}

/// The part of a range that comes after a row, or before it in a reversed query; without the row itself, or with it.
pub(super) fn beyond(
    (start, end): (Vec<u8>, Vec<u8>),
    mut row: Vec<u8>,
    reverse: bool,
    is_after: bool,
    table_prefix: &[u8],
) -> Option<(Vec<u8>, Vec<u8>)> {
    // The first key behind the row lies after it going up, and with it going down.
    if reverse != is_after {
        row.push(0x00);
    }
    fit(&mut row, table_prefix);
    let (start, end) = if reverse { (start, end.min(row)) } else { (start.max(row), end) };
    (start < end).then_some((start, end))
}

/// `after` is the byte that stands after all that continues an excluded key.
fn lower(range: &KeyRange, after: u8, out: &mut Vec<u8>) {
    match range.lower() {
        Lower::Unbounded => {}
        Lower::Included(text) => key::encode(text, out),
        Lower::Excluded(text) => {
            key::encode(text, out);
            out.push(after);
        }
    }
}

fn upper(range: &KeyRange, after: u8, out: &mut Vec<u8>) {
    match range.upper() {
        Upper::Unbounded => out.push(PREFIX_END),
        Upper::Excluded(text) => key::encode(text, out),
        Upper::Included(text) => {
            key::encode(text, out);
            out.push(after);
        }
        Upper::Prefix(text) => {
            key::encode(text, out);
            out.push(PREFIX_END);
        }
    }
}

/// The first byte string after every key of the table, whose number is big-endian.
fn successor(table_prefix: &[u8]) -> Vec<u8> {
    let mut next = table_prefix.to_vec();
    if !increment(&mut next) {
        next.clear();
        next.extend_from_slice(table_prefix);
        next.push(PREFIX_END);
    }
    next
}

/// The number after this one in as many bytes; false if there is none.
fn increment(bytes: &mut [u8]) -> bool {
    for byte in bytes.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return true;
        }
    }
    false
}

/// An end of a range that is longer than any stored key, as one that is not: the keys at or after it are those
/// above its head. LMDB refuses to seek a longer key.
fn fit(bytes: &mut Vec<u8>, table_prefix: &[u8]) {
    let longest = table_prefix.len() + 1 + limits::KEY_PAIR_BYTES;
    if bytes.len() > longest {
        bytes.truncate(longest);
        increment(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::ops::Bound;

    use proptest::prelude::*;

    use super::*;

    /// A bound as the user gave it, to be judged without this module's means.
    #[derive(Clone, Debug)]
    enum Given {
        All,
        Exactly(String),
        Prefix(String),
        Between(Bound<String>, Bound<String>),
    }

    impl Given {
        fn range(&self) -> KeyRange {
            match self {
                Self::All => KeyRange::all(),
                Self::Exactly(text) => KeyRange::exactly(text),
                Self::Prefix(text) => KeyRange::prefix(text),
                Self::Between(low, high) => {
                    KeyRange::new(low.as_ref().map(String::as_str), high.as_ref().map(String::as_str))
                }
            }
        }

        fn holds(&self, text: &str) -> bool {
            let compare = |bound: &str| text.encode_utf16().cmp(bound.encode_utf16());
            match self {
                Self::All => true,
                Self::Exactly(exact) => text == exact,
                Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
                Self::Between(low, high) => {
                    (match low {
                        Bound::Unbounded => true,
                        Bound::Included(low) => compare(low) != Ordering::Less,
                        Bound::Excluded(low) => compare(low) == Ordering::Greater,
                    }) && match high {
                        Bound::Unbounded => true,
                        Bound::Included(high) => compare(high) != Ordering::Greater,
                        Bound::Excluded(high) => compare(high) == Ordering::Less,
                    }
                }
            }
        }
    }

    const VALID: &[char] =
        &[' ', '!', 'a', 'b', '~', '\u{a0}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}'];
    const INVALID: &[char] = &['\0', '\u{1}', '\u{2}', '\u{1f}', '\u{7f}', '\u{9f}', '/', '#'];

    fn text_of(chars: Vec<char>) -> impl Strategy<Value = String> {
        proptest::collection::vec(proptest::sample::select(chars), 0..4).prop_map(String::from_iter)
    }

    fn valid() -> impl Strategy<Value = String> {
        text_of(VALID.to_vec())
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![3 => valid(), 2 => text_of([VALID, INVALID].concat()), 1 => any::<String>()]
    }

    fn bound() -> impl Strategy<Value = Bound<String>> {
        prop_oneof![
            Just(Bound::Unbounded),
            any_text().prop_map(Bound::Included),
            any_text().prop_map(Bound::Excluded),
        ]
    }

    fn given() -> impl Strategy<Value = Given> {
        prop_oneof![
            1 => Just(Given::All),
            2 => any_text().prop_map(Given::Exactly),
            2 => any_text().prop_map(Given::Prefix),
            3 => (bound(), bound()).prop_map(|(low, high)| Given::Between(low, high)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn a_range_holds_what_its_bounds_say(
            bounds in proptest::collection::vec(given(), 0..4),
            keys in proptest::collection::vec(valid(), 8),
        ) {
            let range = bounds.iter().map(Given::range).fold(KeyRange::all(), KeyRange::intersect);
            for key in &keys {
                let expected = bounds.iter().all(|bound| bound.holds(key));
                prop_assert_eq!(range.contains(key), expected, "{:?} in {:?}", key, range);
                prop_assert!(!(expected && range.is_empty()), "{:?}", range);
                if let Some(point) = range.as_point() {
                    prop_assert_eq!(expected, point == key);
                }
            }
        }

        #[test]
        fn the_bytes_hold_what_the_range_holds(
            partitions in proptest::collection::vec(given(), 0..3),
            rows in proptest::collection::vec(given(), 0..3),
            keys in proptest::collection::vec((valid(), valid()), 8),
            table in prop_oneof![Just(0_u32), Just(7), Just(0xff), Just(u32::MAX)],
        ) {
            let partition = partitions.iter().map(Given::range).fold(KeyRange::all(), KeyRange::intersect);
            let row = rows.iter().map(Given::range).fold(KeyRange::all(), KeyRange::intersect);
            let bytes = byte_range(&partition, &row, &table.to_be_bytes());
            for (pk, rk) in &keys {
                let key = stored_key(&table.to_be_bytes(), pk, rk);
                let expected = partitions.iter().all(|bound| bound.holds(pk))
                    && (partition.as_point().is_none() || rows.iter().all(|bound| bound.holds(rk)));
                let held = bytes.as_ref().is_some_and(|(start, end)| *start <= key && key < *end);
                prop_assert_eq!(held, expected, "{:?} {:?} {:?} {:?}", pk, rk, &partition, &row);
                for other in [table.wrapping_add(1), table.wrapping_sub(1)] {
                    let key = stored_key(&other.to_be_bytes(), pk, rk);
                    prop_assert!(!bytes.as_ref().is_some_and(|(start, end)| *start <= key && key < *end));
                }
            }
        }

        #[test]
        fn a_range_is_left_behind_row_by_row(
            partition in given(),
            rows in given(),
            keys in proptest::collection::vec((valid(), valid()), 1..8),
            reverse: bool,
            is_after: bool,
        ) {
            let (partition, row) = (partition.range(), rows.range());
            let key = |(pk, rk): &(String, String)| stored_key(&[0, 0, 0, 1], pk, rk);
            let last = key(&keys[0]);
            if let Some(whole) = byte_range(&partition, &row, &[0, 0, 0, 1]) {
                let rest = beyond(whole.clone(), last.clone(), reverse, is_after, &[0, 0, 0, 1]);
                for key in keys.iter().map(key) {
                    let ahead = if reverse { key < last } else { key > last } || (key == last && !is_after);
                    let expected = ahead && whole.0 <= key && key < whole.1;
                    let held = rest.as_ref().is_some_and(|(start, end)| *start <= key && key < *end);
                    prop_assert_eq!(held, expected);
                }
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let range = |partition: KeyRange, row: KeyRange| byte_range(&partition, &row, b"\0\0\0\x07").unwrap();
        let bytes = |start: &[u8], end: &[u8]| (start.to_vec(), end.to_vec());
        let all = KeyRange::all;
        assert_eq!(range(all(), all()), bytes(b"\0\0\0\x07", b"\0\0\0\x08"));
        assert_eq!(range(KeyRange::exactly("p"), all()), bytes(b"\0\0\0\x07p\0", b"\0\0\0\x07p\x01"));
        assert_eq!(
            range(KeyRange::exactly("p"), KeyRange::exactly("r")),
            bytes(b"\0\0\0\x07p\0r", b"\0\0\0\x07p\0r\0")
        );
        assert_eq!(
            range(KeyRange::exactly("p"), KeyRange::prefix("r")),
            bytes(b"\0\0\0\x07p\0r", b"\0\0\0\x07p\0r\xff")
        );
        assert_eq!(
            range(KeyRange::prefix("p"), KeyRange::exactly("r")),
            bytes(b"\0\0\0\x07p", b"\0\0\0\x07p\xff")
        );
        let last = byte_range(&all(), &all(), &[0xff; 4]).unwrap();
        assert_eq!(last, bytes(&[0xff; 4], &[0xff; 5]));
        assert_eq!(byte_range(&all(), &all(), b"\0\0\0\xff").unwrap().1, b"\0\0\x01\0");
    }

    #[test]
    fn no_end_is_longer_than_a_stored_key() {
        let longest = "x".repeat(limits::KEY_PAIR_BYTES);
        let longer = "x".repeat(limits::KEY_PAIR_BYTES + 1_000);
        let empty = KeyRange::exactly("");
        let held = |row: &KeyRange| {
            byte_range(&empty, row, &[0; 4]).is_some_and(|(start, end)| {
                assert!(start.len() <= 1_982 && end.len() <= 1_982);
                let key = stored_key(&[0; 4], "", &longest);
                start <= key && key < end
            })
        };
        assert!(held(&KeyRange::exactly(&longest)));
        assert!(!held(&KeyRange::exactly(&longer)));
        assert!(held(&KeyRange::new(Bound::Unbounded, Bound::Excluded(&longer))));
        assert!(!held(&KeyRange::new(Bound::Included(&longer), Bound::Unbounded)));
        assert!(held(&KeyRange::prefix(&longest)));
        assert!(!held(&KeyRange::prefix(&longer)));
        let whole = byte_range(&empty, &KeyRange::all(), &[0; 4]).unwrap();
        let last = stored_key(&[0; 4], "", &longest);
        let (start, _) = beyond(whole, last.clone(), false, true, &[0; 4]).unwrap();
        assert!(start > last && start.len() <= 1_982);
    }

    #[test]
    fn ranges_read_well() {
        let text = |range: KeyRange| range.to_string();
        assert_eq!(text(KeyRange::all()), "all");
        assert_eq!(text(KeyRange::exactly("")), "\"\"");
        assert_eq!(text(KeyRange::prefix("S")), "starting with \"S\"");
        assert_eq!(text(KeyRange::prefix("")), "all");
        assert_eq!(
            text(KeyRange::new(Bound::Included("a"), Bound::Excluded("b"))),
            "from \"a\" before \"b\""
        );
        assert_eq!(text(KeyRange::new(Bound::Excluded("a"), Bound::Unbounded)), "after \"a\"");
        assert_eq!(
            text(KeyRange::new(Bound::Included("a"), Bound::Unbounded).intersect(KeyRange::prefix(""))),
            "from \"a\""
        );
        assert_eq!(text(KeyRange::new(Bound::Unbounded, Bound::Included("b\u{1}"))), "through \"b\"");
    }
}
