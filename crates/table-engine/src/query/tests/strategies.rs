//! Random filters, and rows that they have something to say about.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

use super::super::eval::{Fields, Predicate};
use super::super::filter::Filter;
use super::super::property::{PropertyRef, declared, prop};
use crate::error::Error;
use crate::model::{Ticks, Value, ValueRef};

/// A row, and the slots of the predicate that is run on it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) partition: String,
    pub(super) key: String,
    pub(super) timestamp: Ticks,
    pub(super) properties: BTreeMap<&'static str, Value>,
}

impl Row {
    pub(super) fn new(properties: &[(&'static str, Value)]) -> Self {
        Self {
            partition: "p".into(),
            key: "r".into(),
            timestamp: Ticks::UNIX_EPOCH,
            properties: properties.iter().cloned().collect(),
        }
    }

    pub(super) fn under<'a>(&'a self, predicate: Option<&'a Predicate>) -> Slots<'a> {
        Slots(self, predicate)
    }
}

pub(super) struct Slots<'a>(&'a Row, Option<&'a Predicate>);

impl Fields for Slots<'_> {
    fn partition_key(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.partition)
    }

    fn row_key(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0.key)
    }

    fn timestamp(&self) -> Ticks {
        self.0.timestamp
    }

    fn property(&self, slot: usize) -> Result<Option<ValueRef<'_>>, Error> {
        let name = &self.1.unwrap().names()[slot];
        Ok(self.0.properties.get(&**name).map(Value::as_value_ref))
    }
}

/// Keys and texts, few enough to meet: one is a prefix of another, and UTF-16 has its own order for some.
const TEXTS: [&str; 9] = ["", "a", "a ", "ab", "b", "\u{d7ff}", "\u{e000}", "\u{10000}", "\u{10000}a"];
const NAMES: [&str; 3] = ["A", "B", "C"];

pub(super) fn key() -> impl Strategy<Value = String> {
    select(&TEXTS[..]).prop_map(str::to_owned)
}

/// Returns what a bound or a constant may be, beside keys.
pub(super) fn key_like() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => key(),
        1 => (key(), select(&["\0", "\u{1}", "\u{1f}", "\u{1}b", "/"][..])).prop_map(|(a, b)| a + b),
    ]
}

/// Values that meet across types.
pub(super) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => key().prop_map(Value::String),
        2 => (-1..2_i32).prop_map(Value::Int32),
        2 => select(&[-1, 0, 1, i64::MAX, (1 << 53) + 1][..]).prop_map(Value::Int64),
        2 => select(&[-0.5, -0.0, 0.0, 1.0, f64::NAN, f64::INFINITY, 9_007_199_254_740_992.0][..])
            .prop_map(Value::Double),
        2 => any::<bool>().prop_map(Value::Boolean),
        1 => (0..3_u64).prop_map(|ticks| Value::DateTime(Ticks::new(ticks).unwrap())),
        1 => (0..3_u128).prop_map(|bits| Value::Guid(Uuid::from_u128(bits << 60))),
        1 => proptest::collection::vec(0..2_u8, 0..3).prop_map(Value::Binary),
    ]
}

fn compared(property: &PropertyRef, operator: usize, constant: Value) -> Filter {
    match operator {
        0 => property.eq(constant),
        1 => property.ne(constant),
        2 => property.gt(constant),
        3 => property.ge(constant),
        4 => property.lt(constant),
        _ => property.le(constant),
    }
}

fn leaf(of: fn(&str) -> PropertyRef) -> impl Strategy<Value = Filter> {
    let key_name = || select(&["PartitionKey", "RowKey"][..]);
    prop_oneof![
        // Equality is what makes ranges, so it is frequent.
        4 => (key_name(), key()).prop_map(move |(name, text)| of(name).eq(text)),
        4 => (key_name(), 0..6_usize, key_like()).prop_map(move |(name, op, text)| compared(&of(name), op, text.into())),
        1 => (key_name(), 0..6_usize, value()).prop_map(move |(name, op, value)| compared(&of(name), op, value)),
        1 => (0..6_usize, 0..3_u64)
            .prop_map(move |(op, ticks)| compared(&of("Timestamp"), op, Ticks::new(ticks).unwrap().into())),
        4 => (select(&NAMES[..]), 0..6_usize, value()).prop_map(move |(name, op, value)| compared(&of(name), op, value)),
        1 => select(&["A", "B", "PartitionKey", "Timestamp"][..]).prop_map(move |name| of(name).is_true()),
    ]
}

/// Makes filters as text has them.
pub(super) fn filter() -> impl Strategy<Value = Filter> {
    of_leaves(leaf(prop))
}

/// Of names and of declared properties.
pub(super) fn any_filter() -> impl Strategy<Value = Filter> {
    of_leaves(prop_oneof![2 => leaf(prop), 1 => leaf(declared)])
}

fn of_leaves(leaf: impl Strategy<Value = Filter> + 'static) -> impl Strategy<Value = Filter> {
    leaf.prop_recursive(5, 24, 4, |inner| {
        prop_oneof![
            3 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a & b),
            2 => (inner.clone(), inner.clone()).prop_map(|(a, b)| a | b),
            2 => inner.prop_map(|a| !a),
        ]
    })
}

pub(super) fn row() -> impl Strategy<Value = Row> {
    let properties = proptest::collection::btree_map(select(&NAMES[..]), value(), 0..3);
    (key(), key(), 0..3_u64, properties).prop_map(|(partition, key, ticks, properties)| Row {
        partition,
        key,
        timestamp: Ticks::new(ticks).unwrap(),
        properties,
    })
}
