//! A range of stored keys as partition and row keys: for backends that speak to a service, which takes texts.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Bound;

use crate::model::key;
use crate::row::key::{Number, StoredRange};

/// The rows between two ends, by their keys, in the order in which rows lie.
///
/// A service is asked for `PartitionKey eq 'p' and RowKey ge 'a' and RowKey lt 'b'` where both ends lie in one partition,
/// else for `(PartitionKey gt 'p' or PartitionKey eq 'p' and RowKey ge 'a') and PartitionKey le 'q'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBounds {
    /// Where the rows begin.
    pub lower: RowBound,
    /// Where the rows end.
    pub upper: RowBound,
}

/// An end of a range of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowBound {
    /// The first partition, or the last one.
    pub partition: Bound<String>,
    /// The first row of that partition, or the last one. It counts where the partition is [included](Bound::Included).
    pub row: Bound<String>,
}

/// What stands behind the text of a key in an end of a stored range.
const END: u8 = 0x00;
/// Stands behind all rows of a partition.
const PARTITION_END: u8 = 0x01;

impl RowBounds {
    /// Returns the ends of a stored range of the table of this number; `None` if no row can lie there.
    pub(super) fn of(table: u32, range: &StoredRange) -> Option<Self> {
        let ((start, end), number) = (range, Number::of(table));
        let start = start.strip_prefix(&*number)?;
        let lower = match behind(start) {
            // No partition key is below the empty one.
            (b"", None) => RowBound::whole(Bound::Unbounded),
            (partition, None) => RowBound::whole(Bound::Included(first_from(partition)?)),
            (partition, Some((END, row))) => RowBound {
                partition: Bound::Included(text(partition)?.into_owned()),
                row: match row.split_last() {
                    None => Bound::Unbounded,
                    Some((&END, row)) => Bound::Excluded(text(row)?.into_owned()),
                    Some(_) => match first_from(row) {
                        Some(row) => Bound::Included(row),
                        None => return Self::of(table, &(after(&number, partition), end.clone())),
                    },
                },
            },
            (partition, Some(_)) => RowBound::whole(Bound::Excluded(text(partition)?.into_owned())),
        };
        let upper = match end.strip_prefix(&*number) {
            None => RowBound::whole(Bound::Unbounded),
            Some(end) => match behind(end) {
                (partition, None) => RowBound::whole(match first_from(partition) {
                    Some(partition) => Bound::Excluded(partition),
                    None => Bound::Unbounded,
                }),
                (partition, Some((END, row))) => RowBound {
                    partition: Bound::Included(text(partition)?.into_owned()),
                    row: match row.split_last() {
                        Some((&END, row)) => Bound::Included(text(row)?.into_owned()),
                        _ => first_from(row).map_or(Bound::Unbounded, Bound::Excluded),
                    },
                },
                (partition, Some(_)) => RowBound::whole(Bound::Included(text(partition)?.into_owned())),
            },
        };
        Some(Self { lower, upper })
    }

    /// Returns whether the row of these keys lies between the ends.
    pub fn holds(&self, partition: &str, row: &str) -> bool {
        self.lower.admits(partition, row, Ordering::Greater)
            && self.upper.admits(partition, row, Ordering::Less)
    }

    /// Returns the partition, if both ends lie in one.
    pub fn partition(&self) -> Option<&str> {
        match (&self.lower.partition, &self.upper.partition) {
            (Bound::Included(first), Bound::Included(last)) if first == last => Some(first),
            _ => None,
        }
    }
}

impl RowBound {
    /// The end is that of a partition.
    fn whole(partition: Bound<String>) -> Self {
        Self { partition, row: Bound::Unbounded }
    }

    /// Returns whether the row of these keys is on that side of the end.
    fn admits(&self, partition: &str, row: &str, side: Ordering) -> bool {
        let is_on_side = |bound: &Bound<String>, text: &str| match bound {
            Bound::Unbounded => (true, false),
            Bound::Included(end) => {
                let order = key::compare(text, end);
                (order == side || order.is_eq(), order.is_eq())
            }
            Bound::Excluded(end) => (key::compare(text, end) == side, false),
        };
        match is_on_side(&self.partition, partition) {
            (_, true) => is_on_side(&self.row, row).0,
            (is_on_side, false) => is_on_side,
        }
    }
}

/// Returns the bytes up to the first that no text has in its stored form, that byte, and what follows it.
fn behind(bytes: &[u8]) -> (&[u8], Option<(u8, &[u8])>) {
    let Some(at) = bytes.iter().position(|byte| matches!(*byte, END | PARTITION_END)) else {
        return (bytes, None);
    };
    let (text, rest) = bytes.split_at(at);
    (text, rest.split_first().map(|(byte, rest)| (*byte, rest)))
}

/// Returns the end of a stored range behind all rows of a partition.
fn after(number: &[u8], partition: &[u8]) -> Vec<u8> {
    [number, partition, &[PARTITION_END]].concat()
}

fn text(stored: &[u8]) -> Option<Cow<'_, str>> {
    key::decode(stored)
}

/// Returns the first text whose stored form is not below these bytes: that which they are the form of, or where they are no
/// text, such as where they end in the byte that stands behind every prefix, the next one. `None` if all texts are below.
fn first_from(bytes: &[u8]) -> Option<String> {
    let mut taken = bytes.len();
    loop {
        let (head, rest) = bytes.split_at(taken);
        if let Some(head) = text(head) {
            if rest.is_empty() {
                return Some(head.into_owned());
            }
            if let Some(next) = first_character_from(rest) {
                return Some(head.into_owned() + next.encode_utf8(&mut [0; 4]));
            }
        }
        taken = taken.checked_sub(1)?;
    }
}

/// Returns the first character whose stored form is above these bytes, of which it is none.
fn first_character_from(bytes: &[u8]) -> Option<char> {
    let is_below = |at: u32| {
        let mut stored = Vec::with_capacity(4);
        key::encode(character(at).unwrap_or_default().encode_utf8(&mut [0; 4]), &mut stored);
        // What begins with the character is below as well.
        *stored < *bytes
    };
    let (mut low, mut high) = (0, CHARACTERS);
    while low < high {
        let middle = low.midpoint(high);
        if is_below(middle) { low = middle + 1 } else { high = middle }
    }
    character(low)
}

/// How many characters there are.
const CHARACTERS: u32 = 0x11_0000 - 0x800;

/// Returns the character at this place in the service's order: those that UTF-16 has two units for come before U+E000.
fn character(at: u32) -> Option<char> {
    match at {
        0..0xd800 => char::from_u32(at),
        0xd800..0x10_d800 => char::from_u32(at - 0xd800 + 0x1_0000),
        0x10_d800..CHARACTERS => char::from_u32(at - 0x10_d800 + 0xe000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::executor::{RangeQuery, ScanRanges, range_query};
    use crate::limits;
    use crate::model::EntityKeys;
    use crate::query::tests::ranges::valid;
    use crate::query::{Filter, Query, prop};
    use crate::row::key::stored;

    fn bound(partition: Bound<&str>, row: Bound<&str>) -> RowBound {
        RowBound { partition: partition.map(str::to_owned), row: row.map(str::to_owned) }
    }

    fn bounds(query: &Query) -> Option<RowBounds> {
        RangeQuery::of(query, 7).unwrap().bounds()
    }

    #[test]
    fn ends_are_what_the_query_says() {
        use Bound::{Excluded, Included, Unbounded};
        let of = |query: Query| bounds(&query).unwrap();
        let range = |lower, upper| RowBounds { lower, upper };
        let all = || bound(Unbounded, Unbounded);
        let p = Query::new().partition("p");
        assert_eq!(of(Query::new()), range(all(), all()));
        let whole = range(bound(Included("p"), Unbounded), bound(Included("p"), Unbounded));
        assert_eq!(whole.partition(), Some("p"));
        assert_eq!(of(p.clone()), whole);
        let rows = |from, to| range(bound(Included("p"), from), bound(Included("p"), to));
        assert_eq!(of(p.clone().rows("a".."b")), rows(Included("a"), Excluded("b")));
        assert_eq!(of(p.clone().rows((Excluded("a"), Included("b")))), rows(Excluded("a"), Included("b")));
        assert_eq!(of(p.clone().row_prefix("ab")), rows(Included("ab"), Excluded("ac")));
        assert_eq!(of(p.clone().row_prefix("a\u{ffff}")), rows(Included("a\u{ffff}"), Excluded("b")));
        assert_eq!(of(p.clone().row_prefix("\u{ffff}")), rows(Included("\u{ffff}"), Unbounded));
        assert_eq!(of(p.row_prefix("\u{d7ff}")), rows(Included("\u{d7ff}"), Excluded("\u{10000}")));
        let partitions = range(bound(Excluded("a"), Unbounded), bound(Included("b"), Unbounded));
        assert_eq!(of(Query::new().partitions((Excluded("a"), Included("b")))), partitions);
        let pairs = range(bound(Included("a"), Included("1")), bound(Included("b"), Excluded("2")));
        assert_eq!(of(Query::new().between(("a", "1")..("b", "2"))), pairs);
        assert_eq!(bounds(&Query::new().top(0)), None);
        assert_eq!(bounds(&Query::new().partition("p").rows("b".."a")), None);
    }

    #[test]
    fn ends_longer_than_a_key_leave_the_rows_that_the_bytes_leave() {
        // As many bytes as an end is cut off at, within a character and between two.
        for head in 0..4 {
            let longest = "x".repeat(head) + &"\u{4fff}".repeat(limits::KEY_PAIR_BYTES / 3 + 4);
            for query in [
                Query::new().partition("").rows(..=&*longest),
                Query::new().partition("").rows(&*longest..),
                Query::new().partition("").row_prefix(&longest),
                Query::new().partitions(&*longest..),
            ] {
                let asked = RangeQuery::of(&query, 7).unwrap();
                let bounds = asked.bounds();
                for length in 0..10 {
                    for last in ["", "\u{4ffe}", "\u{5000}", "y"] {
                        let Some((at, _)) = longest.char_indices().rev().nth(length) else { continue };
                        let key = longest[..at].to_owned() + last;
                        for (partition, row) in [("", &*key), (&*key, "")] {
                            if key.len() > limits::KEY_PAIR_BYTES {
                                continue;
                            }
                            let held = bounds.as_ref().is_some_and(|bounds| bounds.holds(partition, row));
                            assert_eq!(
                                held,
                                asked.covers(&stored(7, partition, row)),
                                "{head} {length} {last}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// Builds a query by what it is given in part.
    fn query() -> impl Strategy<Value = Query> {
        let text = || prop_oneof![valid(), "[ab\u{d7ff}\u{e000}\u{ffff}\u{10ffff}]{0,3}"];
        let end = || {
            (text(), 0..3).prop_map(|(text, form)| match form {
                0 => Bound::Unbounded,
                1 => Bound::Included(text),
                _ => Bound::Excluded(text),
            })
        };
        let step = prop_oneof![
            text().prop_map(Step::Partition),
            (end(), end()).prop_map(|(from, to)| Step::Partitions(from, to)),
            text().prop_map(Step::Prefix),
            (end(), end()).prop_map(|(from, to)| Step::Rows(from, to)),
            (text(), text(), text(), text()).prop_map(|(a, b, c, d)| Step::Between((a, b), (c, d))),
            text().prop_map(|text| Step::Filter(prop("RowKey").gt(text))),
            Just(Step::Reverse),
        ];
        proptest::collection::vec(step, 0..4).prop_map(|steps| {
            steps.into_iter().fold(Query::new(), |query, step| match step {
                Step::Partition(text) => query.partition(&text),
                Step::Partitions(from, to) => query.partitions((from, to)),
                Step::Prefix(text) => query.row_prefix(&text),
                Step::Rows(from, to) => query.rows((from, to)),
                Step::Between(from, to) => query.between(from..=to),
                Step::Filter(filter) => query.filter(filter),
                Step::Reverse => query.rev(),
            })
        })
    }

    #[derive(Clone, Debug)]
    enum Step {
        Partition(String),
        Partitions(Bound<String>, Bound<String>),
        Prefix(String),
        Rows(Bound<String>, Bound<String>),
        Between((String, String), (String, String)),
        Filter(Filter),
        Reverse,
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn the_ends_leave_the_rows_that_the_bytes_leave(
            query in query(),
            keys in proptest::collection::vec((valid(), valid()), 1..8),
            table in prop_oneof![Just(0_u32), Just(7), Just(0x3f), Just(0x3fff)],
        ) {
            // An end that is no pair of keys is refused.
            let Ok(whole) = RangeQuery::of(&query, table) else { return Ok(()) };
            let ranges = ScanRanges::from(query.clone());
            let mut rest = [RangeQuery::of(&query, table).unwrap()];
            range_query::go_on(&ranges, &mut rest, table, EntityKeys::new(&keys[0].0, &keys[0].1)).unwrap();
            let [rest] = rest;
            for asked in [whole, rest] {
                let bounds = asked.bounds();
                for (partition, row) in &keys {
                    let held = bounds.as_ref().is_some_and(|bounds| bounds.holds(partition, row));
                    let expected = asked.covers(&stored(table, partition, row));
                    prop_assert_eq!(held, expected, "{:?} {:?} {:?}", partition, row, &bounds);
                }
            }
        }

        #[test]
        fn the_first_text_from_bytes_is_the_first(texts in proptest::collection::vec(valid(), 8), bytes: [u8; 3]) {
            for text in &texts {
                let mut stored = Vec::new();
                key::encode(text, &mut stored);
                prop_assert_eq!(first_from(&stored), Some(text.clone()));
            }
            let first = first_from(&bytes);
            for text in &texts {
                let mut stored = Vec::new();
                key::encode(text, &mut stored);
                let is_above = first.as_ref().is_some_and(|first| key::compare(text, first).is_ge());
                prop_assert_eq!(is_above, *stored >= bytes[..]);
            }
        }
    }
}
