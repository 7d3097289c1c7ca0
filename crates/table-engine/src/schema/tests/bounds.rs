//! What a typed query finds, against the rows it means.

use std::cmp::Ordering;
use std::ops::Bound;

use proptest::prelude::*;
use proptest::sample::Index;

use super::strategies::{Case, Values, case, compare, field, template};
use crate::model::{Value, key};
use crate::schema::format::bounds::{Bounds, bounds, offers_prefix, offers_range, successor, unoffered};
use crate::schema::{
    CharSet, Edge, FieldPart, Fixed, Format, KeyPart, KeySpan, KeyType, Next, Part, PropertyValue, fold_char,
    print,
};

impl KeySpan {
    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::Exactly(key) => key == text,
            Self::Prefix(prefix) => text.starts_with(prefix),
            Self::Between(low, high) => {
                (match low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => key::compare(text, low).is_ge(),
                    Bound::Excluded(low) => key::compare(text, low).is_gt(),
                }) && match high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => key::compare(text, high).is_le(),
                    Bound::Excluded(high) => key::compare(text, high).is_lt(),
                }
            }
        }
    }
}

/// A query: some fixed parts, and something about the next, taken from rows so that it finds any.
#[derive(Clone, Debug)]
struct Asked {
    row: Index,
    fixed: Index,
    what: u8,
    ends: [(Index, u8); 2],
}

fn asked() -> impl Strategy<Value = Asked> {
    let end = || (any::<Index>(), 0_u8..4);
    (any::<Index>(), any::<Index>(), any::<u8>(), end(), end()).prop_map(|(row, fixed, what, a, b)| Asked {
        row,
        fixed,
        what,
        ends: [a, b],
    })
}

/// Returns what a part that folds keeps of the difference between values.
fn seen(part: &FieldPart, value: &Value) -> Value {
    match (part.format, value.as_str()) {
        (Format::Lower, Some(text)) => Value::String(text.chars().map(fold_char).collect()),
        _ => value.clone(),
    }
}

fn borrowed(value: &Value) -> PropertyValue<'_> {
    PropertyValue::Borrowed(value.as_value_ref())
}

fn edge(kind: u8, value: &Value) -> Edge<'_> {
    match kind {
        0 => Edge::Open,
        1 => Edge::Excluded(borrowed(value)),
        _ => Edge::Included(borrowed(value)),
    }
}

/// Returns whether a value is on the inner side of an end.
fn inside(kind: u8, order: Ordering) -> bool {
    match kind {
        0 => true,
        1 => order.is_gt(),
        _ => order.is_ge(),
    }
}

fn check(case: &Case, asked: &Asked) -> Result<(), TestCaseError> {
    let fields = case.fields();
    let row = asked.row.get(&case.rows);
    let count = asked.fixed.index(fields.len() + 1);
    let fixed: Vec<_> = row.iter().take(count).map(|value| Fixed::Value(borrowed(value))).collect();
    let part = fields.get(count);
    let value = |index: &Index| index.get(&case.rows).get(count);
    let ends = asked.ends.each_ref().map(|(index, kind)| (value(index), *kind));
    let is_last = matches!(case.template.parts.last(), Some(Part::Field(last)) if Some(last) == part);
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let prefix: String = text(ends[0].0).chars().take(usize::from(ends[0].1)).collect();
    let next = match (part, &ends) {
        (Some(part), [(Some(low), from), (Some(high), to)])
            if asked.what % 3 == 1 && offers_range(part, is_last) =>
        {
            Next::Range(edge(*from, low), edge(*to, high))
        }
        (Some(part), _) if asked.what % 3 == 2 && offers_prefix(part) => Next::Prefix(&prefix),
        _ => Next::Any,
    };
    let Bounds { keys, exact } = bounds(&case.template, &fixed, &next);
    for candidate in &case.rows {
        let mut key = String::new();
        if print(&case.template, &Values(candidate), &mut key).is_err() {
            continue;
        }
        let equal = fields.iter().take(count).zip(row.iter().zip(candidate));
        let mut expected =
            equal.into_iter().all(|(part, (asked, value))| seen(part, asked) == seen(part, value));
        if let (Some(part), Some(value)) = (part, candidate.get(count)) {
            let value = seen(part, value);
            expected &= match (&next, &ends) {
                (Next::Range(..), [(Some(low), from), (Some(high), to)]) => {
                    inside(*from, compare(&value, &seen(part, low)))
                        && inside(*to, compare(&seen(part, high), &value))
                }
                (Next::Prefix(_), _) => value
                    .as_str()
                    .unwrap()
                    .starts_with(seen(part, &Value::String(prefix.clone())).as_str().unwrap()),
                _ => true,
            };
        }
        let held = keys.holds(&key);
        prop_assert!(held || !expected, "{:?} is not in {:?} for {:?}", key, keys, next);
        prop_assert!(expected || !held || !exact, "{:?} is in {:?} for {:?}", key, keys, next);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_query_finds_the_rows_that_it_means(case in case(), asked in proptest::collection::vec(asked(), 12)) {
        for asked in &asked {
            check(&case, asked)?;
        }
    }
}

const TEXT: KeyType = KeyType::Text(CharSet::ALL);

fn name_and_id() -> crate::schema::Template {
    template(vec![
        Part::Literal("name_"),
        field(0, TEXT, "escaped"),
        Part::Literal("!"),
        field(1, u32::KEY, "06"),
    ])
}

#[test]
fn an_end_holds_all_that_continues_it() {
    let jones = Value::from("Jones");
    let range = |from: Edge<'_>, to: Edge<'_>| bounds(&name_and_id(), &[], &Next::Range(from, to)).keys;
    let included = || Edge::Included(borrowed(&jones));
    let excluded = || Edge::Excluded(borrowed(&jones));
    let between = |low: &str, high: &str| {
        KeySpan::Between(Bound::Included(low.to_owned()), Bound::Excluded(high.to_owned()))
    };
    assert_eq!(range(Edge::Open, included()), between("name_", "name_Jones\""));
    assert_eq!(range(Edge::Open, excluded()), between("name_", "name_Jones!"));
    assert_eq!(range(included(), Edge::Open), between("name_Jones!", "name`"));
    assert_eq!(range(excluded(), Edge::Open), between("name_Jones\"", "name`"));
    assert_eq!(range(Edge::Open, Edge::Open), KeySpan::Prefix("name_".to_owned()));
    assert_eq!(range(Edge::Nothing, Edge::Open), KeySpan::Nothing);
    assert_eq!(
        bounds(&name_and_id(), &[Fixed::Value(borrowed(&jones))], &Next::Any).keys,
        KeySpan::Prefix("name_Jones!".to_owned())
    );
    assert_eq!(bounds(&name_and_id(), &[], &Next::Prefix("J.")).keys, KeySpan::Prefix("name_J.0".to_owned()));
}

#[test]
fn what_reaches_beyond_the_keys_ends_with_them() {
    let name = Value::from("a");
    let number = Value::Int64;
    let range = |from: Edge<'_>, to: Edge<'_>| {
        bounds(&name_and_id(), &[Fixed::Value(borrowed(&name))], &Next::Range(from, to)).keys
    };
    let (low, high) = (number(-1), number(1_000_000));
    let all = KeySpan::Prefix("name_a!".to_owned());
    assert_eq!(range(Edge::Included(borrowed(&low)), Edge::Included(borrowed(&high))), all);
    assert_eq!(range(Edge::Included(borrowed(&high)), Edge::Open), KeySpan::Nothing);
    assert_eq!(range(Edge::Open, Edge::Excluded(borrowed(&low))), KeySpan::Nothing);
    let too_wide = [Fixed::Value(borrowed(&name)), Fixed::Value(borrowed(&high))];
    assert_eq!(bounds(&name_and_id(), &too_wide, &Next::Any).keys, KeySpan::Nothing);
}

#[test]
fn a_shard_is_asked_for_by_its_number_or_by_the_field() {
    let sharded = template(vec![
        Part::Literal("s"),
        field(0, TEXT, "shard(16)"),
        Part::Literal("_"),
        field(0, TEXT, ""),
    ]);
    let keys = |fixed: &[Fixed<'_>]| bounds(&sharded, fixed, &Next::Any);
    let seventh = keys(&[Fixed::Shard(7)]);
    assert_eq!(seventh, Bounds { keys: KeySpan::Prefix("s07_".to_owned()), exact: true });
    assert_eq!(keys(&[Fixed::Shard(16)]).keys, KeySpan::Nothing);
    let name = Value::from("a");
    let value = || Fixed::Value(borrowed(&name));
    assert!(!keys(&[value()]).exact);
    assert!(keys(&[value(), value()]).exact);
}

#[test]
fn what_is_not_offered_is_answered_by_too_many_keys() {
    let text = |format| field(0, TEXT, format);
    let inner = template(vec![text(""), Part::Literal("_"), field(1, u32::KEY, "")]);
    let a = Value::from("a");
    let range = || Next::Range(Edge::Included(borrowed(&a)), Edge::Open);
    assert!(unoffered(&inner, 0, &range()).is_some());
    assert!(unoffered(&inner, 0, &Next::Prefix("a")).is_none());
    assert!(unoffered(&inner, 1, &range()).is_none());
    assert!(unoffered(&inner, 1, &Next::Prefix("1")).is_some());
    assert!(unoffered(&inner, 2, &Next::Any).is_none());
    let every = Bounds { keys: KeySpan::Prefix(String::new()), exact: false };
    assert_eq!(bounds(&inner, &[], &range()), every);
    let twice = template(vec![text(""), Part::Literal("_"), text("")]);
    assert!(unoffered(&twice, 0, &range()).is_some());
    assert!(unoffered(&twice, 1, &range()).is_none());
    let closed = template(vec![text(""), Part::Literal("_")]);
    assert!(unoffered(&closed, 0, &range()).is_some());
    assert!(unoffered(&template(vec![text("")]), 0, &range()).is_none());
}

#[test]
fn the_next_text_is_one_that_a_key_can_hold() {
    for (text, next) in [
        ("a", Some("b")),
        ("a!", Some("a\"")),
        ("a\"", Some("a$")),
        (".", Some("0")),
        (">", Some("@")),
        ("[", Some("]")),
        ("~", Some("\u{a0}")),
        ("\u{d7ff}", Some("\u{10000}")),
        ("\u{10ffff}", Some("\u{e000}")),
        ("a\u{ffff}\u{ffff}", Some("b")),
        ("\u{ffff}", None),
        ("", None),
    ] {
        assert_eq!(successor(text).as_deref(), next, "{text:?}");
    }
}
