//! Queries, and what they mean.

use std::cmp::Ordering;
use std::ops::Bound;

use table_core::{Filter, Query, Ticks, Value, prop};

use super::oracle::{Entity, Rows};
use super::random::{Place, Random, partition, row};

/// A query, kept in a form of its own that says what it means.
#[derive(Clone, Debug)]
pub struct Search {
    partitions: Vec<Range>,
    rows: Vec<Range>,
    filter: Option<Condition>,
    pub select: Option<Vec<&'static str>>,
    pub top: Option<usize>,
    pub reverse: bool,
    /// Gives the filter as text.
    as_text: bool,
}

#[derive(Clone, Debug)]
enum Range {
    Exactly(String),
    Prefix(String),
    Between(Bound<String>, Bound<String>),
}

#[derive(Clone, Debug)]
enum Condition {
    Compare(String, &'static str, Value),
    IsTrue(String),
    Not(Box<Condition>),
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
}

fn ordinal(a: &str, b: &str) -> Ordering {
    a.encode_utf16().cmp(b.encode_utf16())
}

impl Range {
    fn random(random: &mut Random, keys: &[String]) -> Self {
        match random.below(6) {
            0..=2 => Self::Exactly(random.pick(keys).clone()),
            3 => {
                let text = random.text();
                let cut = text.char_indices().nth(1).map_or(text.len(), |(at, _)| at);
                Self::Prefix(if random.once_in(2) { text[..cut].to_owned() } else { text })
            }
            _ => Self::Between(random.bound(), random.bound()),
        }
    }

    fn holds(&self, key: &str) -> bool {
        match self {
            Self::Exactly(exactly) => key == exactly,
            Self::Prefix(prefix) => key.starts_with(prefix.as_str()),
            Self::Between(low, high) => {
                let above = match low {
                    Bound::Unbounded => true,
                    Bound::Included(low) => ordinal(key, low).is_ge(),
                    Bound::Excluded(low) => ordinal(key, low).is_gt(),
                };
                let below = match high {
                    Bound::Unbounded => true,
                    Bound::Included(high) => ordinal(key, high).is_le(),
                    Bound::Excluded(high) => ordinal(key, high).is_lt(),
                };
                above && below
            }
        }
    }
}

const OPERATORS: [&str; 6] = ["eq", "ne", "gt", "ge", "lt", "le"];

impl Condition {
    fn random(random: &mut Random, depth: usize, etags: &[table_core::ETag]) -> Self {
        let inner = |random: &mut Random| Box::new(Self::random(random, depth - 1, etags));
        match random.below(if depth == 0 { 5 } else { 9 }) {
            0 => Self::IsTrue(match random.below(8) {
                0 => "PartitionKey".into(),
                _ => random.name(),
            }),
            1..=4 => {
                let operator = *random.pick(&OPERATORS);
                let (name, value) = match random.below(6) {
                    0 => ("PartitionKey".into(), Value::String(random.text())),
                    1 => ("RowKey".into(), Value::String(random.text())),
                    2 if random.once_in(2) => {
                        let time = if etags.is_empty() { Ticks::MAX } else { random.pick(etags).timestamp() };
                        ("Timestamp".into(), Value::DateTime(time))
                    }
                    3 if random.once_in(4) => ("RowKey".into(), random.value()),
                    _ => (random.name(), random.value()),
                };
                Self::Compare(name, operator, value)
            }
            5 => Self::Not(inner(random)),
            6 => Self::Or(inner(random), inner(random)),
            _ => Self::And(inner(random), inner(random)),
        }
    }

    fn filter(&self) -> Filter {
        match self {
            Self::Compare(name, operator, value) => {
                let (property, value) = (prop(name), value.clone());
                match *operator {
                    "eq" => property.eq(value),
                    "ne" => property.ne(value),
                    "gt" => property.gt(value),
                    "ge" => property.ge(value),
                    "lt" => property.lt(value),
                    _ => property.le(value),
                }
            }
            Self::IsTrue(name) => prop(name).is_true(),
            Self::Not(inner) => !inner.filter(),
            Self::And(a, b) => a.filter() & b.filter(),
            Self::Or(a, b) => a.filter() | b.filter(),
        }
    }

    fn holds(&self, place: Place, entity: &Entity) -> bool {
        match self {
            Self::Compare(name, operator, constant) => {
                compares(stored(name, place, entity).as_ref(), operator, constant)
            }
            Self::IsTrue(name) => stored(name, place, entity) == Some(Value::Boolean(true)),
            Self::Not(inner) => !inner.holds(place, entity),
            Self::And(a, b) => a.holds(place, entity) && b.holds(place, entity),
            Self::Or(a, b) => a.holds(place, entity) || b.holds(place, entity),
        }
    }
}

fn stored(name: &str, place: Place, entity: &Entity) -> Option<Value> {
    match name {
        "PartitionKey" => Some(partition(place).into()),
        "RowKey" => Some(row(place).into()),
        "Timestamp" => entity.etag.map(|etag| etag.timestamp().into()),
        _ => entity.properties.get(name).cloned(),
    }
}

/// What is missing compares false, and what is of another type is less, but for a constant of a narrower number. Of a NaN
/// nothing holds but that it differs.
fn compares(stored: Option<&Value>, operator: &str, constant: &Value) -> bool {
    use Value::{Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String};
    let Some(stored) = stored else { return false };
    let order = match (stored, constant) {
        (String(a), String(b)) => Some(ordinal(a, b)),
        (Binary(a), Binary(b)) => Some(a.cmp(b)),
        (Boolean(a), Boolean(b)) => Some(a.cmp(b)),
        (DateTime(a), DateTime(b)) => Some(a.cmp(b)),
        (Guid(a), Guid(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Int32(_), Int32(_))
        | (Int64(_), Int32(_) | Int64(_))
        | (Double(_), Int32(_) | Int64(_) | Double(_)) => {
            // Every number that is tried is a multiple of a half, so that twice it is whole.
            let twice = |value: &Value| match value.as_f64() {
                Some(double) if double.is_nan() => None,
                Some(double) => Some((double * 2.0) as i128),
                None => value.as_i64().map(|integer| i128::from(integer) * 2),
            };
            twice(stored).zip(twice(constant)).map(|(a, b)| a.cmp(&b))
        }
        _ => Some(Ordering::Less),
    };
    match (operator, order) {
        ("ne", order) => order != Some(Ordering::Equal),
        (_, None) => false,
        ("eq", Some(order)) => order.is_eq(),
        ("gt", Some(order)) => order.is_gt(),
        ("ge", Some(order)) => order.is_ge(),
        ("lt", Some(order)) => order.is_lt(),
        (_, Some(order)) => order.is_le(),
    }
}

impl Search {
    pub fn random(random: &mut Random, etags: &[table_core::ETag]) -> Self {
        let ranges = |random: &mut Random, keys: &[String]| {
            let count = [0, 1, 1, 1, 2][random.below(5)];
            (0..count).map(|_| Range::random(random, keys)).collect()
        };
        let selections: [&[&'static str]; 4] =
            [&[], &["A"], &["EntityType", "B", "RowKey", "B"], &["Missing", "C"]];
        Self {
            partitions: ranges(random, &super::random::PARTITIONS),
            rows: ranges(random, &super::random::ROWS),
            filter: random.once_in(3).then(|| Condition::random(random, 3, etags)),
            select: random.once_in(4).then(|| random.pick(&selections).to_vec()),
            top: match random.below(8) {
                0 => Some(random.below(4)),
                1 => Some(random.below(60)),
                _ => None,
            },
            reverse: random.once_in(3),
            as_text: random.once_in(2),
        }
    }

    pub fn query(&self) -> Query {
        let mut query = Query::new();
        for range in &self.partitions {
            query = match range {
                Range::Exactly(key) => query.partition(key),
                Range::Prefix(prefix) => query.partition_prefix(prefix),
                Range::Between(low, high) => query.partitions((low.clone(), high.clone())),
            };
        }
        for range in &self.rows {
            query = match range {
                Range::Exactly(key) => query.row(key),
                Range::Prefix(prefix) => query.row_prefix(prefix),
                Range::Between(low, high) => query.rows((low.clone(), high.clone())),
            };
        }
        if let Some(condition) = &self.filter {
            let filter = condition.filter();
            query = query.filter(if self.as_text {
                let read = Filter::parse(&filter.to_string()).unwrap();
                assert_eq!(read, filter);
                read
            } else {
                filter
            });
        }
        if let Some(names) = &self.select {
            query = query.select(names);
        }
        if let Some(top) = self.top {
            query = query.top(top);
        }
        if self.reverse { query.rev() } else { query }
    }

    /// Whether the range that is read holds nothing else than what is found.
    pub fn is_exact(&self) -> bool {
        let point = |range: &Range| matches!(range, Range::Exactly(_));
        self.filter.is_none() && (self.rows.is_empty() || self.partitions.iter().any(point))
    }

    fn holds(&self, place: Place, entity: &Entity) -> bool {
        self.partitions.iter().all(|range| range.holds(partition(place)))
            && self.rows.iter().all(|range| range.holds(row(place)))
            && self.filter.as_ref().is_none_or(|condition| condition.holds(place, entity))
    }

    /// The rows that are found, in order: those after a row, and no more than so many.
    pub fn find(&self, rows: &Rows, after: Option<Place>, most: usize) -> Vec<Place> {
        let beyond = |place: Place| match after {
            None => true,
            Some(after) => {
                if self.reverse {
                    place < after
                } else {
                    place > after
                }
            }
        };
        let wanted = |(place, entity): (&Place, &std::rc::Rc<Entity>)| {
            (beyond(*place) && self.holds(*place, entity)).then_some(*place)
        };
        if self.reverse {
            rows.iter().rev().filter_map(wanted).take(most).collect()
        } else {
            rows.iter().filter_map(wanted).take(most).collect()
        }
    }
}
