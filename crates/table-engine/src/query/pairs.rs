//! Ranges over pairs of keys, in the order in which rows lie.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

use super::bounds::{KeyRange, Lower, Upper};
use crate::error::Error;
use crate::model::key::{self, Part};

/// A range over pairs of a partition key and a row key: `("a", "1")..("b", "2")`, `..=`, `..`, or a pair of [`Bound`]s; over
/// `&str`, `String` or whatever else is text.
///
/// A pair comes before another if its partition key does, or if they have one partition key and its row key does: the order in
/// which a query gives rows.
///
/// ```
/// use std::ops::Bound;
/// use table_core::query::PairBounds;
///
/// let range = ("Sales", "empid_000100")..("Sales", "empid_000200");
/// assert_eq!(range.start_pair(), Bound::Included(("Sales", "empid_000100")));
/// assert_eq!(range.end_pair(), Bound::Excluded(("Sales", "empid_000200")));
/// ```
pub trait PairBounds {
    /// Returns where the range starts.
    fn start_pair(&self) -> Bound<(&str, &str)>;

    /// Returns where the range ends.
    fn end_pair(&self) -> Bound<(&str, &str)>;
}

macro_rules! pair_bounds {
    ($($range:ty)*) => {$(
        impl<P: AsRef<str>, R: AsRef<str>> PairBounds for $range {
            fn start_pair(&self) -> Bound<(&str, &str)> {
                self.start_bound().map(|(partition, row)| (partition.as_ref(), row.as_ref()))
            }

            fn end_pair(&self) -> Bound<(&str, &str)> {
                self.end_bound().map(|(partition, row)| (partition.as_ref(), row.as_ref()))
            }
        }
    )*};
}

pair_bounds! {
    Range<(P, R)> RangeFrom<(P, R)> RangeInclusive<(P, R)> RangeTo<(P, R)> RangeToInclusive<(P, R)>
    (Bound<(P, R)>, Bound<(P, R)>)
}

impl PairBounds for RangeFull {
    fn start_pair(&self) -> Bound<(&str, &str)> {
        Bound::Unbounded
    }

    fn end_pair(&self) -> Bound<(&str, &str)> {
        Bound::Unbounded
    }
}

/// A partition key and a row key. The texts are shared: a plan has those of its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyPair {
    pub(crate) partition: Arc<str>,
    pub(crate) row: Arc<str>,
}

impl KeyPair {
    fn new(partition: &str, row: &str) -> Self {
        Self { partition: partition.into(), row: row.into() }
    }

    fn check(&self) -> Result<(), Error> {
        key::check(Part::Partition, &self.partition).and_then(|()| key::check(Part::Row, &self.row))
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let order = key::compare(&self.partition, &other.partition);
        order.then_with(|| key::compare(&self.row, &other.row))
    }
}

/// The pairs of keys between two ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PairRange {
    pub(crate) lower: Bound<KeyPair>,
    pub(crate) upper: Bound<KeyPair>,
}

impl PairRange {
    pub(super) fn of(range: &impl PairBounds) -> Self {
        let pair = |(partition, row)| KeyPair::new(partition, row);
        Self { lower: range.start_pair().map(pair), upper: range.end_pair().map(pair) }
    }

    /// Returns the pairs that all these ranges hold; an error if an end is no pair of keys.
    pub(super) fn all_of(ranges: &[Self]) -> Result<Option<Self>, Error> {
        for range in ranges {
            for end in [&range.lower, &range.upper] {
                if let Bound::Included(pair) | Bound::Excluded(pair) = end {
                    pair.check().map_err(|error| {
                        let because = format!("an end of `between` is no pair of keys: {}", error.reason());
                        error.because(because)
                    })?;
                }
            }
        }
        Ok(ranges.iter().cloned().reduce(Self::intersect))
    }

    fn intersect(self, other: Self) -> Self {
        Self {
            lower: tighter(self.lower, other.lower, Ordering::Greater),
            upper: tighter(self.upper, other.upper, Ordering::Less),
        }
    }

    /// Narrows ranges of partition keys and of row keys to these pairs. Returns what of the pairs the ranges do not say: the ends
    /// that lie inside a partition, unless there is one partition alone.
    pub(super) fn narrow(self, partition: KeyRange, row: KeyRange) -> (KeyRange, KeyRange, Option<Self>) {
        let partitions = KeyRange::new(self.first_partition(), self.last_partition());
        let partition = partition.intersect(partitions);
        if let Some(point) = partition.as_point() {
            let of_point = |end: &Bound<KeyPair>| match end {
                Bound::Included(pair) if *pair.partition == *point => Bound::Included(Arc::clone(&pair.row)),
                Bound::Excluded(pair) if *pair.partition == *point => Bound::Excluded(Arc::clone(&pair.row)),
                _ => Bound::Unbounded,
            };
            let (lower, upper) = (of_point(&self.lower), of_point(&self.upper));
            let rows = KeyRange::new(text(&lower), text(&upper));
            return (partition, row.intersect(rows), None);
        }
        let Self { mut lower, mut upper } = self;
        // Of a partition that is left out, or wholly in, no end is inside.
        let first = match partition.lower() {
            Lower::Unbounded => Some(""),
            Lower::Included(first) => Some(&**first),
            Lower::Excluded(_) => None,
        };
        if !matches!(&lower, Bound::Included(pair) | Bound::Excluded(pair) if Some(&*pair.partition) == first)
            || matches!(&lower, Bound::Included(pair) if pair.row.is_empty())
        {
            lower = Bound::Unbounded;
        }
        let last = if let Upper::Included(last) = partition.upper() { Some(&**last) } else { None };
        if !matches!(&upper, Bound::Included(pair) | Bound::Excluded(pair) if Some(&*pair.partition) == last)
        {
            upper = Bound::Unbounded;
        }
        let inside = Self { lower, upper };
        let is_needed = inside != Self { lower: Bound::Unbounded, upper: Bound::Unbounded };
        (partition, row, is_needed.then_some(inside))
    }

    fn first_partition(&self) -> Bound<&str> {
        match &self.lower {
            Bound::Included(pair) | Bound::Excluded(pair) => Bound::Included(&pair.partition),
            Bound::Unbounded => Bound::Unbounded,
        }
    }

    fn last_partition(&self) -> Bound<&str> {
        match &self.upper {
            // No row comes before the empty key.
            Bound::Excluded(pair) if pair.row.is_empty() => Bound::Excluded(&pair.partition),
            Bound::Included(pair) | Bound::Excluded(pair) => Bound::Included(&pair.partition),
            Bound::Unbounded => Bound::Unbounded,
        }
    }
}

fn text(end: &Bound<Arc<str>>) -> Bound<&str> {
    end.as_ref().map(|text| &**text)
}

/// Returns the end that leaves less: the one of these that compares so with the other.
fn tighter(one: Bound<KeyPair>, other: Bound<KeyPair>, wanted: Ordering) -> Bound<KeyPair> {
    let order = match (&one, &other) {
        (Bound::Unbounded, _) => return other,
        (_, Bound::Unbounded) => return one,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a.cmp(b),
    };
    let is_one = order == wanted || (order.is_eq() && matches!(one, Bound::Excluded(_)));
    if is_one { one } else { other }
}

/// For people: `from ("A", "5") before ("C", "9")`.
impl fmt::Display for PairRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (end, included, excluded) in [(&self.lower, "from", "after"), (&self.upper, "through", "before")]
        {
            let (word, KeyPair { partition, row }) = match end {
                Bound::Unbounded => continue,
                Bound::Included(pair) => (included, pair),
                Bound::Excluded(pair) => (excluded, pair),
            };
            write!(f, "{separator}{word} ({partition:?}, {row:?})")?;
            separator = " ";
        }
        Ok(())
    }
}
