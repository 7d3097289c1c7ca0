//! Ranges of keys hold what the bounds say that they were made of.

use std::cmp::Ordering;
use std::ops::Bound;

use proptest::prelude::*;

use super::super::KeyRange;

/// A bound as the user gave it, to be judged without the means of a range.
#[derive(Clone, Debug)]
pub(crate) enum Given {
    All,
    Exactly(String),
    Prefix(String),
    Between(Bound<String>, Bound<String>),
}

impl Given {
    pub(crate) fn range(&self) -> KeyRange {
        match self {
            Self::All => KeyRange::all(),
            Self::Exactly(text) => KeyRange::exactly(text),
            Self::Prefix(text) => KeyRange::prefix(text),
            Self::Between(low, high) => {
                KeyRange::new(low.as_ref().map(String::as_str), high.as_ref().map(String::as_str))
            }
        }
    }

    pub(crate) fn holds(&self, text: &str) -> bool {
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

pub(crate) fn valid() -> impl Strategy<Value = String> {
    text_of(VALID.to_vec())
}

pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![3 => valid(), 2 => text_of([VALID, INVALID].concat()), 1 => any::<String>()]
}

fn bound() -> impl Strategy<Value = Bound<String>> {
    prop_oneof![
        Just(Bound::Unbounded),
        any_text().prop_map(Bound::Included),
        any_text().prop_map(Bound::Excluded),
    ]
}

pub(crate) fn given() -> impl Strategy<Value = Given> {
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
}

#[test]
fn ranges_read_well() {
    let text = |range: KeyRange| range.to_string();
    assert_eq!(text(KeyRange::all()), "all");
    assert_eq!(text(KeyRange::exactly("")), "\"\"");
    assert_eq!(text(KeyRange::prefix("S")), "starting with \"S\"");
    assert_eq!(text(KeyRange::prefix("")), "all");
    assert_eq!(text(KeyRange::new(Bound::Included("a"), Bound::Excluded("b"))), "from \"a\" before \"b\"");
    assert_eq!(text(KeyRange::new(Bound::Excluded("a"), Bound::Unbounded)), "after \"a\"");
    assert_eq!(
        text(KeyRange::new(Bound::Included("a"), Bound::Unbounded).intersect(KeyRange::prefix(""))),
        "from \"a\""
    );
    assert_eq!(text(KeyRange::new(Bound::Unbounded, Bound::Included("b\u{1}"))), "through \"b\"");
}
