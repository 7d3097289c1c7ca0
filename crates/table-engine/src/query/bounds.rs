//! Ranges of keys, kept symbolic: an executor turns them into its own bytes or strings.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Bound, Range, RangeBounds, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

use super::compare::Operator;
use crate::model::key;

/// Where a range of keys starts. The texts are shared: a plan has those of its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lower {
    Unbounded,
    Included(Arc<str>),
    Excluded(Arc<str>),
}

/// Where a range of keys ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Upper {
    Unbounded,
    Included(Arc<str>),
    Excluded(Arc<str>),
    /// After the last key that starts with the text. Such a place has no text, only bytes. The lower bound is
    /// never below that text.
    Prefix(Arc<str>),
}

/// A set of keys that lie side by side in the service's order.
///
/// It is a set of *valid* keys, which hold no control characters. A bound that holds one is replaced by what it means,
/// and from here on a bound holds no character below U+0020.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    lower: Lower,
    upper: Upper,
}

impl Lower {
    /// Returns where a range starts or ends. No valid key lies between a text and its continuation by a control character.
    fn of(bound: Bound<&str>) -> Self {
        match bound {
            Bound::Unbounded | Bound::Included("") => Self::Unbounded,
            Bound::Included(text) => match before_control(text) {
                Some(head) => Self::Excluded(head.into()),
                None => Self::Included(text.into()),
            },
            Bound::Excluded(text) => Self::Excluded(before_control(text).unwrap_or(text).into()),
        }
    }

    /// Returns the first byte string that is not below the range.
    fn cut(&self) -> Cut<'_> {
        match self {
            Self::Unbounded => Cut("", None),
            Self::Included(text) => Cut(text, None),
            Self::Excluded(text) => Cut(text, Some(0x00)),
        }
    }
}

impl Upper {
    fn of(bound: Bound<&str>) -> Self {
        match bound {
            Bound::Unbounded => Self::Unbounded,
            Bound::Included(text) => Self::Included(before_control(text).unwrap_or(text).into()),
            Bound::Excluded(text) => match before_control(text) {
                Some(head) => Self::Included(head.into()),
                None => Self::Excluded(text.into()),
            },
        }
    }

    /// Returns the first byte string that is above the range. No encoded character has the byte 0xff.
    fn cut(&self) -> Cut<'_> {
        match self {
            Self::Unbounded => Cut("", Some(0xff)),
            Self::Included(text) => Cut(text, Some(0x00)),
            Self::Excluded(text) => Cut(text, None),
            Self::Prefix(text) => Cut(text, Some(0xff)),
        }
    }
}

/// Returns the text up to its first control character, if it has one.
pub(crate) fn before_control(text: &str) -> Option<&str> {
    if key::is_plain(text) {
        return None;
    }
    text.get(..text.bytes().position(|byte| byte < 0x20)?)
}

/// A byte string: a text as keys are stored, and a byte after it that no such text has.
struct Cut<'t>(&'t str, Option<u8>);

impl Cut<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        if a.iter().zip(b).any(|(a, b)| a != b) {
            return key::compare(self.0, other.0);
        }
        // One goes on where the other ends, with a byte that is none of those after it.
        let next =
            |bytes: &[u8], at: usize, after| bytes.get(at).map(|byte| key::stored_byte(*byte)).or(after);
        next(a, b.len(), self.1).cmp(&next(b, a.len(), other.1))
    }
}

impl KeyRange {
    /// Returns the range of every key.
    pub(crate) fn all() -> Self {
        Self { lower: Lower::Unbounded, upper: Upper::Unbounded }
    }

    /// Returns the range of no key.
    pub(crate) fn none() -> Self {
        Self { lower: Lower::Unbounded, upper: Upper::Excluded("".into()) }
    }

    /// This key alone.
    pub(crate) fn exactly(text: &str) -> Self {
        if text.is_empty() || before_control(text).is_some() {
            return Self::new(Bound::Included(text), Bound::Included(text));
        }
        let text = Arc::from(text);
        Self { lower: Lower::Included(Arc::clone(&text)), upper: Upper::Included(text) }
    }

    /// Returns the range of every key that starts with the text.
    pub(crate) fn prefix(text: &str) -> Self {
        if let Some(head) = before_control(text) {
            return Self { lower: Lower::of(Bound::Included(text)), upper: Upper::Included(head.into()) };
        }
        if text.is_empty() {
            return Self::all();
        }
        let text = Arc::from(text);
        Self { lower: Lower::Included(Arc::clone(&text)), upper: Upper::Prefix(text) }
    }

    pub(crate) fn new(lower: Bound<&str>, upper: Bound<&str>) -> Self {
        Self { lower: Lower::of(lower), upper: Upper::of(upper) }
    }

    /// Returns the keys that compare so with the text; all keys but one are no range.
    pub(super) fn comparing(operator: Operator, text: &str) -> Option<Self> {
        use Bound::{Excluded, Included, Unbounded};
        Some(match operator {
            Operator::Eq => Self::exactly(text),
            Operator::Ne => return None,
            Operator::Gt => Self::new(Excluded(text), Unbounded),
            Operator::Ge => Self::new(Included(text), Unbounded),
            Operator::Lt => Self::new(Unbounded, Excluded(text)),
            Operator::Le => Self::new(Unbounded, Included(text)),
        })
    }

    pub(crate) fn lower(&self) -> &Lower {
        &self.lower
    }

    pub(crate) fn upper(&self) -> &Upper {
        &self.upper
    }

    /// Returns the keys that both ranges hold.
    #[must_use]
    pub(crate) fn intersect(self, other: Self) -> Self {
        if self.is_all() {
            return other;
        }
        let is_above = other.lower.cut().cmp(&self.lower.cut()).is_gt();
        let is_below = other.upper.cut().cmp(&self.upper.cut()).is_lt();
        let lower = if is_above { other.lower } else { self.lower };
        let upper = if is_below { other.upper } else { self.upper };
        Self { lower, upper }
    }

    /// Returns whether no bound is set.
    pub(crate) fn is_all(&self) -> bool {
        matches!((&self.lower, &self.upper), (Lower::Unbounded, Upper::Unbounded))
    }

    /// Returns whether the bounds contradict each other.
    pub(crate) fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Lower::Included(first), Upper::Included(last) | Upper::Prefix(last)) if first == last => false,
            (lower, upper) => lower.cut().cmp(&upper.cut()).is_ge(),
        }
    }

    /// Returns the key, if the bounds leave one alone.
    pub(crate) fn as_point(&self) -> Option<&str> {
        match (&self.lower, &self.upper) {
            (Lower::Included(first), Upper::Included(last)) if first == last => Some(last),
            // Nothing sorts before the empty key, so its lower bound is none.
            (Lower::Unbounded, Upper::Included(last)) if last.is_empty() => Some(last),
            _ => None,
        }
    }

    /// Returns the text that every key must start with, if any key that starts with it is in the range.
    pub(crate) fn as_prefix(&self) -> Option<&str> {
        match (&self.lower, &self.upper) {
            (Lower::Included(first), Upper::Prefix(prefix)) if first == prefix => Some(prefix),
            _ => None,
        }
    }

    /// Returns whether the range holds a valid key.
    pub(crate) fn contains(&self, text: &str) -> bool {
        let above = match &self.lower {
            Lower::Unbounded => true,
            Lower::Included(first) => key::compare(text, first).is_ge(),
            Lower::Excluded(bound) => key::compare(text, bound).is_gt(),
        };
        above
            && match &self.upper {
                Upper::Unbounded => true,
                Upper::Included(last) => key::compare(text, last).is_le(),
                Upper::Excluded(bound) => key::compare(text, bound).is_lt(),
                // A key that is not below the prefix and does not start with it is above.
                Upper::Prefix(prefix) => text.starts_with(&**prefix),
            }
    }
}

/// For people: `"Sales"`, `from "a" before "b"`, `starting with "S"`, `all`, `none`.
impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        if let Some(point) = self.as_point() {
            return write!(f, "{point:?}");
        }
        if let Some(prefix) = self.as_prefix() {
            return write!(f, "starting with {prefix:?}");
        }
        let separator = match &self.lower {
            Lower::Unbounded => "",
            Lower::Included(text) => {
                write!(f, "from {text:?}")?;
                " "
            }
            Lower::Excluded(text) => {
                write!(f, "after {text:?}")?;
                " "
            }
        };
        match &self.upper {
            Upper::Unbounded if separator.is_empty() => f.write_str("all"),
            Upper::Unbounded => Ok(()),
            Upper::Included(text) => write!(f, "{separator}through {text:?}"),
            Upper::Excluded(text) => write!(f, "{separator}before {text:?}"),
            Upper::Prefix(text) => write!(f, "{separator}through all that start with {text:?}"),
        }
    }
}

/// A range of keys: `"a".."b"`, `"a"..="b"`, `"a"..`, `..`, or a pair of [`Bound`]s; over `&str`, `String` or
/// whatever else is text.
///
/// Keys sort by UTF-16 code unit, as the service's do.
///
/// ```
/// use std::ops::Bound;
/// use table_core::query::KeyBounds;
/// use table_core::Query;
///
/// let last = String::from("empid_000199");
/// let staff = Query::new().partition("Sales").rows("empid_000100"..=&last);
/// let rest = Query::new().partition("Sales").rows((Bound::Excluded(&last), Bound::Unbounded));
/// assert_eq!((.."x").key_bounds(), (Bound::Unbounded, Bound::Excluded("x")));
/// ```
pub trait KeyBounds {
    /// Returns where the range starts and where it ends.
    fn key_bounds(&self) -> (Bound<&str>, Bound<&str>);
}

// Not for every `RangeBounds<S>`: `Range<&String>` is that of two `S`, and `..` of any.
macro_rules! key_bounds {
    ($($range:ty)*) => {$(
        impl<S: AsRef<str>> KeyBounds for $range {
            fn key_bounds(&self) -> (Bound<&str>, Bound<&str>) {
                (self.start_bound().map(AsRef::as_ref), self.end_bound().map(AsRef::as_ref))
            }
        }
    )*};
}

key_bounds! { Range<S> RangeFrom<S> RangeInclusive<S> RangeTo<S> RangeToInclusive<S> (Bound<S>, Bound<S>) }

impl KeyBounds for RangeFull {
    fn key_bounds(&self) -> (Bound<&str>, Bound<&str>) {
        (Bound::Unbounded, Bound::Unbounded)
    }
}
