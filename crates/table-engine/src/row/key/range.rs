//! Ranges of keys as ranges of stored keys.
//!
//! Every byte of an encoded key is at least 0x20 and below 0xff. So 0x00 ends a partition key before any longer
//! one, 0x01 stands after all rows of a partition, and 0xff after all that starts with a prefix.

use std::ops::Bound;

use super::{Number, SEPARATOR, TABLE};
use crate::limits;
use crate::model::key;
use crate::query::{
    KeyPair, KeyRange, Lower, PairEnd, PairRange, Printed, PrintedRows, QueryPlan, Upper, Within,
    before_control,
};

/// Stored keys: the first, and the first after them.
pub type StoredRange = (Vec<u8>, Vec<u8>);

/// In the separator's place, it stands after every row of the partition and before the next partition.
const PARTITION_END: u8 = 0x01;
/// After every character.
const PREFIX_END: u8 = 0xff;

/// Returns the stored keys among which a query's rows lie in the table of this number, or `None` if there is nothing to read.
pub fn range(table: u32, plan: &QueryPlan) -> Option<StoredRange> {
    let mut range = match plan.bounds()? {
        Within::Ranges(partition, row) => between(table, partition, row)?,
        Within::Printed(keys) => printed(table, keys)?,
    };
    if let Some(PairRange { lower, upper }) = &plan.pairs {
        let stored = |pair: &KeyPair, is_behind| pair_end(table, &pair.partition, Some(&pair.row), is_behind);
        let first = match lower {
            Bound::Unbounded => None,
            Bound::Included(pair) => Some(stored(pair, false)),
            Bound::Excluded(pair) => Some(stored(pair, true)),
        };
        let last = match upper {
            Bound::Unbounded => None,
            Bound::Included(pair) => Some(stored(pair, true)),
            Bound::Excluded(pair) => Some(stored(pair, false)),
        };
        range = narrowed(range, first, last)?;
    }
    match plan.ends() {
        [None, None] => Some(range),
        [first, last] => {
            let stored = |end: PairEnd<'_>, is_behind| pair_end(table, end.0, end.1, is_behind);
            narrowed(range, first.map(|end| stored(end, false)), last.map(|end| stored(end, true)))
        }
    }
}

/// Returns the first stored key that is not below a pair of keys, or the first behind it. Without a row key the pair stands for
/// its whole partition.
///
/// No valid key lies between a text and its continuation by a control character: such a text stands behind its valid head.
fn pair_end(table: u32, partition: &str, row: Option<&str>, is_behind: bool) -> Vec<u8> {
    let mut end = Vec::with_capacity(TYPICAL);
    end.extend_from_slice(&Number::of(table));
    let head = before_control(partition);
    key::encode(head.unwrap_or(partition), &mut end);
    match row {
        Some(row) if head.is_none() => {
            let head = before_control(row);
            end.push(SEPARATOR);
            key::encode(head.unwrap_or(row), &mut end);
            if is_behind || head.is_some() {
                end.push(SEPARATOR);
            }
        }
        None if head.is_none() && !is_behind => end.push(SEPARATOR),
        _ => end.push(PARTITION_END),
    }
    fit(&mut end);
    end
}

/// Returns the part of a range from the first of two ends on and before the second.
fn narrowed(range: StoredRange, first: Option<Vec<u8>>, last: Option<Vec<u8>>) -> Option<StoredRange> {
    let (start, end) = range;
    let start = if let Some(first) = first { start.max(first) } else { start };
    let end = if let Some(last) = last { end.min(last) } else { end };
    (start < end).then_some((start, end))
}

/// Returns the part of that range that comes, in the query's direction, after this stored key, or at it and after it.
pub fn range_from(table: u32, plan: &QueryPlan, row: Vec<u8>, is_after: bool) -> Option<StoredRange> {
    // Each direction leaves out the end that it doesn't start from.
    beyond(range(table, plan)?, row, plan.reverse, is_after)
}

/// Bytes that few ends of a range have more of.
const TYPICAL: usize = 64;

/// Returns the stored keys between these bounds, or `None` if nothing can lie there.
///
/// The row bounds count only where the partition is a point. Neither end is longer than a stored key can be.
fn between(table: u32, partition: &KeyRange, row: &KeyRange) -> Option<StoredRange> {
    if partition.is_empty() {
        return None;
    }
    let table_prefix = Number::of(table);
    let (mut start, mut end) = (Vec::with_capacity(TYPICAL), Vec::with_capacity(TYPICAL));
    for bytes in [&mut start, &mut end] {
        bytes.extend_from_slice(&table_prefix);
    }
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
            end = successor(&table_prefix);
        } else {
            upper(partition, PARTITION_END, &mut end);
        }
    }
    fit(&mut start);
    fit(&mut end);
    (start < end).then_some((start, end))
}

/// Returns the stored range of keys that a template has printed.
fn printed(table: u32, keys: &Printed) -> Option<StoredRange> {
    let (partition, row) = keys.keys();
    let (lower, upper) = match keys.rows() {
        PrintedRows::One | PrintedRows::Starting => (row, ""),
        PrintedRows::Between(lower, _) => row.split_at_checked(lower)?,
    };
    let mut start = Vec::with_capacity(TABLE + partition.len() + lower.len() + 3);
    start.extend_from_slice(&Number::of(table));
    key::encode(partition, &mut start);
    start.push(SEPARATOR);
    let in_partition = start.len();
    key::encode(lower, &mut start);
    let mut end = Vec::with_capacity(start.capacity() + upper.len());
    match keys.rows() {
        PrintedRows::Starting if row.is_empty() => {
            end.extend_from_slice(start.get(..in_partition - 1)?);
            end.push(PARTITION_END);
        }
        PrintedRows::Starting => {
            end.extend_from_slice(&start);
            end.push(PREFIX_END);
        }
        PrintedRows::One => {
            end.extend_from_slice(&start);
            end.push(SEPARATOR);
        }
        PrintedRows::Between(_, [has_lower, has_upper]) => {
            end.extend_from_slice(start.get(..in_partition)?);
            key::encode(upper, &mut end);
            if has_upper {
                end.push(SEPARATOR);
            }
            if !has_lower {
                start.push(SEPARATOR);
            }
        }
    }
    fit(&mut start);
    fit(&mut end);
    (start < end).then_some((start, end))
}

/// Returns the part of a range that comes after a row, or before it in a reversed query; without the row itself, or with it.
fn beyond(range: StoredRange, mut row: Vec<u8>, reverse: bool, is_after: bool) -> Option<StoredRange> {
    let (start, end) = range;
    // The first key behind the row lies after it going up, and with it going down.
    if reverse != is_after {
        row.push(0x00);
    }
    fit(&mut row);
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

/// Returns the first byte string after every key of the table with this number.
fn successor(table_prefix: &[u8]) -> Vec<u8> {
    let mut next = table_prefix.to_vec();
    if !increment(&mut next) {
        next.clear();
        next.extend_from_slice(table_prefix);
        next.push(PREFIX_END);
    }
    next
}

/// Returns the number after this one in as many bytes; false if there is none.
fn increment(bytes: &mut [u8]) -> bool {
    for byte in bytes.iter_mut().rev() {
        *byte = byte.wrapping_add(1);
        if *byte != 0 {
            return true;
        }
    }
    false
}

/// Makes an end of a range that is longer than any stored key one that is not: the keys at or after it are those
/// above its head. LMDB refuses to seek a longer key.
fn fit(bytes: &mut Vec<u8>) {
    let longest = TABLE + 1 + limits::KEY_PAIR_BYTES;
    if bytes.len() > longest {
        bytes.truncate(longest);
        increment(bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::super::{NUMBERS, stored};
    use super::*;
    use crate::query::tests::ranges::{Given, any_text, given, valid};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn the_bytes_hold_what_the_range_holds(
            partitions in proptest::collection::vec(given(), 0..3),
            rows in proptest::collection::vec(given(), 0..3),
            keys in proptest::collection::vec((valid(), valid()), 8),
            table in prop_oneof![Just(0_u32), Just(7), Just(0x3f), Just(0x3fff), Just(NUMBERS - 1)],
        ) {
            let partition = partitions.iter().map(Given::range).fold(KeyRange::all(), KeyRange::intersect);
            let row = rows.iter().map(Given::range).fold(KeyRange::all(), KeyRange::intersect);
            let bytes = between(table, &partition, &row);
            for (pk, rk) in &keys {
                let key = stored(table, pk, rk);
                let expected = partitions.iter().all(|bound| bound.holds(pk))
                    && (partition.as_point().is_none() || rows.iter().all(|bound| bound.holds(rk)));
                let held = bytes.as_ref().is_some_and(|(start, end)| *start <= key && key < *end);
                prop_assert_eq!(held, expected, "{:?} {:?} {:?} {:?}", pk, rk, &partition, &row);
                for other in [(table + 1) % NUMBERS, table.checked_sub(1).unwrap_or(NUMBERS - 1)] {
                    let key = stored(other, pk, rk);
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
            let key = |(pk, rk): &(String, String)| stored(1, pk, rk);
            let last = key(&keys[0]);
            if let Some(whole) = between(1, &partition, &row) {
                let rest = beyond(whole.clone(), last.clone(), reverse, is_after);
                for key in keys.iter().map(key) {
                    let ahead = if reverse { key < last } else { key > last } || (key == last && !is_after);
                    let expected = ahead && whole.0 <= key && key < whole.1;
                    let held = rest.as_ref().is_some_and(|(start, end)| *start <= key && key < *end);
                    prop_assert_eq!(held, expected);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn an_end_lies_where_its_pair_of_keys_does(
            (partition, row) in (any_text(), proptest::option::of(any_text())),
            (pk, rk) in (valid(), valid()),
            table in prop_oneof![Just(0_u32), Just(7), Just(NUMBERS - 1)],
        ) {
            let of_row = row.as_deref().map_or(Ordering::Equal, |row| key::compare(&rk, row));
            let of_pair = key::compare(&pk, &partition).then(of_row);
            let key = stored(table, &pk, &rk);
            for (is_behind, expected) in [(false, of_pair.is_lt()), (true, of_pair.is_le())] {
                let end = pair_end(table, &partition, row.as_deref(), is_behind);
                prop_assert_eq!(key < end, expected, "{:?} {:?} {:?} {:?}", pk, rk, partition, row);
            }
        }

        #[test]
        fn what_is_printed_has_the_bytes_of_its_ranges(
            partition in valid(),
            (lower, upper) in (valid(), valid()),
            are_in: [bool; 2],
            form in 0..3,
            table in prop_oneof![Just(0_u32), Just(7), Just(NUMBERS - 1)],
        ) {
            let rows = match form {
                0 => PrintedRows::One,
                1 => PrintedRows::Starting,
                _ => PrintedRows::Between(lower.len(), are_in),
            };
            let upper = if form == 2 { upper } else { String::new() };
            match Printed::new(format!("{partition}{lower}{upper}"), partition.len(), rows) {
                None => prop_assert!(form == 2 && stored(7, "", &lower) >= stored(7, "", &upper)),
                Some(keys) => {
                    let within = Within::Printed(keys.clone());
                    let (partitions, rows) = within.ranges();
                    let bytes = printed(table, &keys);
                    prop_assert!(bytes.is_some());
                    prop_assert_eq!(bytes, between(table, &partitions, &rows));
                }
            }
        }
    }

    #[test]
    fn the_bytes_are_those_of_the_format() {
        let range = |partition: KeyRange, row: KeyRange| between(7, &partition, &row).unwrap();
        let bytes = |start: &[u8], end: &[u8]| (start.to_vec(), end.to_vec());
        let all = KeyRange::all;
        assert_eq!(range(all(), all()), bytes(b"\x07", b"\x08"));
        assert_eq!(range(KeyRange::exactly("p"), all()), bytes(b"\x07p\0", b"\x07p\x01"));
        assert_eq!(range(KeyRange::exactly("p"), KeyRange::exactly("r")), bytes(b"\x07p\0r", b"\x07p\0r\0"));
        assert_eq!(range(KeyRange::exactly("p"), KeyRange::prefix("r")), bytes(b"\x07p\0r", b"\x07p\0r\xff"));
        assert_eq!(range(KeyRange::prefix("p"), KeyRange::exactly("r")), bytes(b"\x07p", b"\x07p\xff"));
        let last = between(NUMBERS - 1, &all(), &all()).unwrap();
        assert_eq!(last, bytes(&[0xff; 4], &[0xff; 5]));
        assert_eq!(between(0x3f, &all(), &all()).unwrap(), bytes(b"\x3f", b"\x40"));
        assert_eq!(between(0x3fff, &all(), &all()).unwrap(), bytes(b"\x7f\xff", b"\x80\0"));
    }

    #[test]
    fn no_end_is_longer_than_a_stored_key() {
        const TABLE: u32 = NUMBERS - 1;
        let longest = "x".repeat(limits::KEY_PAIR_BYTES);
        let longer = "x".repeat(limits::KEY_PAIR_BYTES + 1_000);
        let empty = KeyRange::exactly("");
        let held = |row: &KeyRange| {
            between(TABLE, &empty, row).is_some_and(|(start, end)| {
                assert!(start.len() <= 1_982 && end.len() <= 1_982);
                let key = stored(TABLE, "", &longest);
                start <= key && key < end
            })
        };
        assert!(held(&KeyRange::exactly(&longest)));
        assert!(!held(&KeyRange::exactly(&longer)));
        assert!(held(&KeyRange::new(Bound::Unbounded, Bound::Excluded(&longer))));
        assert!(!held(&KeyRange::new(Bound::Included(&longer), Bound::Unbounded)));
        assert!(held(&KeyRange::prefix(&longest)));
        assert!(!held(&KeyRange::prefix(&longer)));
        let whole = between(TABLE, &empty, &KeyRange::all()).unwrap();
        let last = stored(TABLE, "", &longest);
        let (start, _) = beyond(whole, last.clone(), false, true).unwrap();
        assert!(start > last && start.len() <= 1_982);
    }
}
