//! Bounds and predicate together keep exactly the rows that the query describes.

use std::cmp::Ordering;
use std::ops::Bound;

use proptest::prelude::*;

use super::super::compare::{Operator, Rule};
use super::super::explain::QueryClass;
use super::super::filter::Filter;
use super::super::node::{Comparison, Join, Node};
use super::super::{Query, plan};
use super::strategies::{Row, any_filter, filter, key_like, row};
use crate::model::Value;
use crate::row::key::{self, StoredRange, stored};

/// Returns the filter on a row, said again as plainly as can be: no planning, no slots, no shared comparison.
fn satisfies(node: &Node, row: &Row) -> bool {
    match node {
        Node::Compare(comparison) => compared(comparison, row),
        Node::IsTrue(is) => row.properties.get(&*is.property) == Some(&Value::Boolean(true)),
        Node::Not(inner) => !satisfies(inner, row),
        Node::Join(Join::And, terms) => terms.iter().all(|term| satisfies(term, row)),
        Node::Join(Join::Or, terms) => terms.iter().any(|term| satisfies(term, row)),
        Node::Sealed(_) | Node::Refused(_) => unreachable!(),
    }
}

fn compared(comparison: &Comparison, row: &Row) -> bool {
    let stored = match &*comparison.property {
        "PartitionKey" => Some(Value::from(&*row.partition)),
        "RowKey" => Some(Value::from(&*row.key)),
        "Timestamp" => Some(Value::from(row.timestamp)),
        name => row.properties.get(name).cloned(),
    };
    let Some(stored) = stored else { return false };
    let width = |value: &Value| match value {
        Value::Int32(_) => 1,
        Value::Int64(_) => 2,
        Value::Double(_) => 3,
        _ => 0,
    };
    let by_name = comparison.rule == Rule::Named;
    let order = match (&stored, &comparison.constant) {
        (a, b) if by_name && width(a) < width(b) => Some(Ordering::Less),
        (Value::String(a), Value::String(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
        (Value::Binary(a), Value::Binary(b)) => Some(a.cmp(b)),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        (Value::DateTime(a), Value::DateTime(b)) => Some(a.cmp(b)),
        (Value::Guid(a), Value::Guid(b)) => Some(a.cmp(b)),
        (a, b) => match (halves(a), halves(b)) {
            (Some(a), Some(b)) => a.partial_cmp(&b),
            _ if by_name => Some(Ordering::Less),
            _ => return false,
        },
    };
    match (comparison.operator, order) {
        (Operator::Ne, order) => order != Some(Ordering::Equal),
        (_, None) => false,
        (Operator::Eq, Some(order)) => order.is_eq(),
        (Operator::Gt, Some(order)) => order.is_gt(),
        (Operator::Ge, Some(order)) => order.is_ge(),
        (Operator::Lt, Some(order)) => order.is_lt(),
        (Operator::Le, Some(order)) => order.is_le(),
    }
}

#[derive(PartialEq)]
enum Number {
    Nan,
    Halves(i128),
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Halves(a), Self::Halves(b)) => Some(a.cmp(b)),
            _ => None,
        }
    }
}

/// In halves, the numbers of these tests are whole, or infinite and saturate.
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "whole or infinite")]
fn halves(value: &Value) -> Option<Number> {
    match value {
        Value::Int32(v) => Some(Number::Halves(i128::from(*v) * 2)),
        Value::Int64(v) => Some(Number::Halves(i128::from(*v) * 2)),
        Value::Double(v) if v.is_nan() => Some(Number::Nan),
        Value::Double(v) => Some(Number::Halves((*v * 2.0) as i128)),
        _ => None,
    }
}

#[derive(Clone, Debug)]
enum Given {
    Exactly(String),
    Prefix(String),
    Between(Bound<String>, Bound<String>),
}

impl Given {
    fn holds(&self, key: &str) -> bool {
        let order = |bound: &str| key.encode_utf16().cmp(bound.encode_utf16());
        match self {
            Self::Exactly(exact) => key == exact,
            Self::Prefix(prefix) => key.starts_with(prefix.as_str()),
            Self::Between(low, high) => {
                let above = match low {
                    Bound::Included(low) => order(low).is_ge(),
                    Bound::Excluded(low) => order(low).is_gt(),
                    Bound::Unbounded => true,
                };
                let below = match high {
                    Bound::Included(high) => order(high).is_le(),
                    Bound::Excluded(high) => order(high).is_lt(),
                    Bound::Unbounded => true,
                };
                above && below
            }
        }
    }
}

fn given() -> impl Strategy<Value = Given> {
    let bound = || {
        prop_oneof![
            Just(Bound::Unbounded),
            key_like().prop_map(Bound::Included),
            key_like().prop_map(Bound::Excluded),
        ]
    };
    prop_oneof![
        3 => key_like().prop_map(Given::Exactly),
        1 => key_like().prop_map(Given::Prefix),
        2 => (bound(), bound()).prop_map(|(low, high)| Given::Between(low, high)),
    ]
}

/// What one step adds to a query.
#[derive(Clone, Debug)]
enum Step {
    Partition(Given),
    Row(Given),
    Filter(Filter),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => given().prop_map(Step::Partition),
        1 => given().prop_map(Step::Row),
        3 => any_filter().prop_map(Step::Filter),
    ]
}

impl Step {
    fn add_to(&self, query: Query) -> Query {
        match self.clone() {
            Self::Partition(Given::Exactly(text)) => query.partition(text),
            Self::Partition(Given::Prefix(text)) => query.partition_prefix(text),
            Self::Partition(Given::Between(low, high)) => query.partitions((low, high)),
            Self::Row(Given::Exactly(text)) => query.row(text),
            Self::Row(Given::Prefix(text)) => query.row_prefix(text),
            Self::Row(Given::Between(low, high)) => query.rows((low, high)),
            Self::Filter(filter) => query.filter(filter),
        }
    }

    fn holds(&self, row: &Row) -> bool {
        match self {
            Self::Partition(given) => given.holds(&row.partition),
            Self::Row(given) => given.holds(&row.key),
            Self::Filter(filter) => satisfies(filter.node(), row),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn a_plan_keeps_the_rows_that_the_query_describes(
        steps in proptest::collection::vec(step(), 0..4),
        rows in proptest::collection::vec(row(), 12),
        reverse: bool,
    ) {
        let mut query = steps.iter().fold(Query::new(), |query, step| step.add_to(query));
        if reverse {
            query = query.rev();
        }
        let plan = plan(&query).unwrap();
        let bytes = key::range(1, &plan);
        prop_assert!(plan.class != QueryClass::Nothing || bytes.is_none());
        let within = |bytes: &Option<StoredRange>, row: &Row| {
            let key = stored(1, &row.partition, &row.key);
            bytes.as_ref().is_some_and(|(start, end)| *start <= key && key < *end)
        };
        let resumed = key::range_from(1, &plan, stored(1, &rows[0].partition, &rows[0].key), true);
        for row in &rows {
            let kept = within(&bytes, row) && plan.accepts(&row.under(plan.predicate.as_ref())).unwrap();
            let expected = steps.iter().all(|step| step.holds(row));
            prop_assert_eq!(kept, expected, "{:?} {:?}", plan.explain().to_string(), row);

            let key = |row: &Row| -> Vec<Vec<u16>> {
                [&row.partition, &row.key].map(|key| key.encode_utf16().collect()).to_vec()
            };
            let ahead = key(row).cmp(&key(&rows[0]));
            let ahead = if reverse { ahead.is_lt() } else { ahead.is_gt() };
            prop_assert_eq!(within(&resumed, row), within(&bytes, row) && ahead);
        }
    }

    #[test]
    fn one_filter_keeps_what_its_text_keeps(filter in filter(), row in row()) {
        let again = Filter::parse(&filter.to_string()).unwrap();
        prop_assert_eq!(satisfies(again.node(), &row), satisfies(filter.node(), &row));
    }
}

#[test]
fn only_top_level_terms_narrow() {
    let planned = |text: &str| plan(&Query::new().filter(Filter::parse(text).unwrap())).unwrap();
    for (text, partition, row, residual) in [
        ("PartitionKey eq 'p'", "\"p\"", "all", None),
        ("'p' eq PartitionKey and 'r' le RowKey", "\"p\"", "from \"r\"", None),
        ("RowKey eq 'r'", "all", "\"r\"", None),
        ("not (RowKey lt 'r') and PartitionKey eq 'p'", "\"p\"", "from \"r\"", None),
        ("not (PartitionKey lt 'a' or PartitionKey ge 'b')", "from \"a\" before \"b\"", "all", None),
        ("not (PartitionKey ne 'p')", "\"p\"", "all", None),
        ("not (PartitionKey eq 'p')", "all", "all", Some("PartitionKey ne 'p'")),
        ("PartitionKey ge 'p' and PartitionKey le 'p' and A eq 1", "\"p\"", "all", Some("A eq 1")),
        ("PartitionKey eq 'p' or A eq 1", "all", "all", Some("PartitionKey eq 'p' or A eq 1")),
        ("not (A lt 1) and not (RowKey gt 'r' or A gt 2)", "all", "through \"r\"", {
            Some("not (A lt 1) and not (A gt 2)")
        }),
        ("PartitionKey gt 'b' and PartitionKey lt 'a'", "none", "all", None),
        ("PartitionKey eq 5", "none", "all", None),
        ("PartitionKey lt 5 and RowKey ne 5", "all", "all", None),
        ("not (PartitionKey ne 5)", "none", "all", None),
        ("not (PartitionKey ge 5) and not RowKey", "all", "all", None),
        ("Timestamp ge datetime'2014-07-31' and (A eq 1 and RowKey eq 'r')", "all", "\"r\"", {
            Some("Timestamp ge datetime'2014-07-31T00:00:00Z' and A eq 1")
        }),
    ] {
        let plan = planned(text);
        assert_eq!(plan.within.ranges().0.to_string(), partition, "{text}");
        assert_eq!(plan.within.ranges().1.to_string(), row, "{text}");
        assert_eq!(plan.residual.map(|filter| filter.to_string()).as_deref(), residual, "{text}");
    }
}

#[test]
fn what_no_query_may_ask_is_refused() {
    use crate::error::ErrorKind;
    let refused = |query: Query| plan(&query).unwrap_err();
    let name = |i: usize| format!("P{i}");
    assert!(plan(&Query::new().select((0..255).map(name))).is_ok());
    let error = refused(Query::new().select((0..256).map(name)));
    assert_eq!(error.kind(), ErrorKind::InvalidQuery);
    assert_eq!(error.to_string(), "cannot plan the query: the select has 256 names; it may have 255");
    assert_eq!(refused(Query::new().select(["a b"])).kind(), ErrorKind::PropertyNameInvalid);
    let bad = super::super::prop("a b").eq(1);
    assert_eq!(refused(Query::new().filter(bad)).kind(), ErrorKind::InvalidFilter);
    let deep = (0..100).fold(super::super::prop("A").eq(1), |f, _| !(f & super::super::prop("A").eq(1)));
    let error = refused(Query::new().filter(deep).filter(super::super::prop("A").eq(1)));
    assert_eq!(error.kind(), ErrorKind::InvalidFilter);
    assert_eq!(error.to_string(), "cannot plan the query: the brackets are nested more than 64 deep");
}
