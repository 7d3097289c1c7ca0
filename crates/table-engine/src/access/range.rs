//! A range of pairs of keys: partition key first, then row key, as rows lie in a table.

use std::cmp::Ordering;
use std::fmt;

use crate::model::key;

/// One end of a range: a partition key, and a row key or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) partition: Box<str>,
    pub(crate) row: Option<Box<str>>,
}

/// The pairs from a start to an end, both included. An end without a row key takes in its whole partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairRange {
    pub(crate) start: Option<End>,
    pub(crate) end: Option<End>,
}

impl End {
    pub(crate) fn new(partition: &str, row: Option<&str>) -> Self {
        Self { partition: partition.into(), row: row.map(Into::into) }
    }

    /// Returns the keys.
    pub(crate) fn pair(&self) -> (&str, Option<&str>) {
        (&self.partition, self.row.as_deref())
    }

    /// Compares a pair of keys with this end; equal where the end names no row of the partition.
    fn compare(&self, partition: &str, row: &str) -> Ordering {
        let partitions = key::compare(partition, &self.partition);
        partitions.then_with(|| self.row.as_deref().map_or(Ordering::Equal, |end| key::compare(row, end)))
    }
}

impl PairRange {
    /// Returns whether every pair of keys is in it.
    pub(crate) fn is_all(&self) -> bool {
        self.start.is_none() && self.end.is_none()
    }

    /// Returns whether a pair of keys is in it.
    pub(crate) fn contains(&self, partition: &str, row: &str) -> bool {
        self.start.as_ref().is_none_or(|start| start.compare(partition, row).is_ge())
            && self.end.as_ref().is_none_or(|end| end.compare(partition, row).is_le())
    }

    /// Returns whether every pair is in it whose row key begins so, in this partition.
    pub(crate) fn contains_rows(&self, partition: &str, prefix: &str) -> bool {
        // A row key that begins so is not below the prefix. It is above each end that does not begin so, or it is below all.
        let is_below = |end: &End| match key::compare(partition, &end.partition) {
            Ordering::Equal => end
                .row
                .as_deref()
                .is_none_or(|row| !row.starts_with(prefix) && key::compare(prefix, row).is_lt()),
            order => order.is_lt(),
        };
        self.start.as_ref().is_none_or(|start| start.compare(partition, prefix).is_ge())
            && self.end.as_ref().is_none_or(is_below)
    }

    /// Returns whether every pair is in it whose partition key begins so.
    pub(crate) fn contains_partitions(&self, prefix: &str) -> bool {
        let is_above = |start: &End| match key::compare(prefix, &start.partition) {
            // The partition of this very key may have rows before the start.
            Ordering::Equal => start.row.as_deref().is_none_or(str::is_empty),
            order => order.is_gt(),
        };
        let is_below =
            |end: &End| !end.partition.starts_with(prefix) && key::compare(prefix, &end.partition).is_lt();
        self.start.as_ref().is_none_or(is_above) && self.end.as_ref().is_none_or(is_below)
    }
}

impl PairRange {
    /// Returns the pairs that are in both.
    pub(crate) fn both(&self, other: &Self) -> Self {
        let start = narrower(self.start.as_ref(), other.start.as_ref(), |a, b| {
            a.compare(&b.partition, b.row.as_deref().unwrap_or_default()).is_ge()
        });
        let end = narrower(self.end.as_ref(), other.end.as_ref(), |a, b| match &b.row {
            // Without a row key it is the last one of its partition.
            None => key::compare(&b.partition, &a.partition).is_lt(),
            Some(row) => a.compare(&b.partition, row).is_le(),
        });
        Self { start, end }
    }
}

/// Returns the one of two ends that leaves less: the second, if `gives_way` says so of the first.
fn narrower(a: Option<&End>, b: Option<&End>, gives_way: impl Fn(&End, &End) -> bool) -> Option<End> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if gives_way(a, b) { b.clone() } else { a.clone() }),
        (a, b) => a.or(b).cloned(),
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition `{}`", self.partition.escape_debug())?;
        match &self.row {
            Some(row) => write!(f, ", row `{}`", row.escape_debug()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for PairRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.start, &self.end) {
            (None, None) => f.write_str("all keys"),
            (Some(start), None) => write!(f, "from {start}"),
            (None, Some(end)) => write!(f, "through {end}"),
            (Some(start), Some(end)) if start == end => start.fmt(f),
            (Some(start), Some(end)) => write!(f, "from {start} through {end}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(start: Option<(&str, Option<&str>)>, end: Option<(&str, Option<&str>)>) -> PairRange {
        let of = |end: Option<(&str, Option<&str>)>| end.map(|(partition, row)| End::new(partition, row));
        PairRange { start: of(start), end: of(end) }
    }

    #[test]
    fn both_ends_belong_to_it_and_pairs_compare_by_partition_first() {
        let pairs = range(Some(("a b", Some("1"))), Some(("é'&", Some("9"))));
        for (inside, pair) in [
            (true, ("a b", "1")),
            (false, ("a b", "0")),
            (true, ("a c", "0")),
            (true, ("é'&", "9")),
            (false, ("é'&", "90")),
            (false, ("é'&a", "")),
        ] {
            assert_eq!(pairs.contains(pair.0, pair.1), inside, "{pair:?}");
        }
        assert!(range(None, Some(("z", None))).contains("z", "\u{ffff}"));
        assert!(!range(None, Some(("z", None))).contains("z ", ""));
        // By UTF-16 unit: a surrogate pair comes before U+E000.
        assert!(range(None, Some(("\u{e000}", None))).contains("\u{1f600}", ""));
    }

    fn texts() -> impl Strategy<Value = String> {
        proptest::string::string_regex("[ab]{0,3}").unwrap()
    }

    fn ends() -> impl Strategy<Value = Option<(String, Option<String>)>> {
        proptest::option::of((texts(), proptest::option::of(texts())))
    }

    proptest! {
        #[test]
        fn a_prefix_is_inside_if_all_of_its_keys_are(start in ends(), end in ends(), at in texts(), prefix in texts()) {
            fn lent(end: Option<&(String, Option<String>)>) -> Option<(&str, Option<&str>)> {
                end.map(|(partition, row)| (partition.as_str(), row.as_deref()))
            }
            let pairs = range(lent(start.as_ref()), lent(end.as_ref()));
            let (mut all_rows, mut all_partitions) = (true, true);
            for more in ["", "a", "b", "aaaa", "bbbb", "\u{ffff}"] {
                let longer = format!("{prefix}{more}");
                all_rows &= pairs.contains(&at, &longer);
                all_partitions &= pairs.contains(&longer, "") && pairs.contains(&longer, "\u{ffff}");
            }
            let other = range(Some((&at, Some(&prefix))), Some((&prefix, None)));
            let both = [pairs.both(&other), other.both(&pairs)];
            for (partition, row) in [(&at, &prefix), (&prefix, &at), (&at, &at)] {
                let is_in_both = pairs.contains(partition, row) && other.contains(partition, row);
                prop_assert!(both.iter().all(|both| both.contains(partition, row) == is_in_both));
            }
            prop_assert_eq!(pairs.contains_rows(&at, &prefix), all_rows);
            prop_assert_eq!(pairs.contains_partitions(&prefix), all_partitions);
        }
    }
}
