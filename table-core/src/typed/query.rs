//! Typed queries: one step for each key part, in order, then whatever narrows the answer.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};

use super::{KeyArg, Path};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Value;
use crate::plan;
use crate::query::{Explain, Filter, Query, prop};
use crate::schema::{
    Edge, FieldPart, Fixed, Format, KeyPart, KeySpan, Next as NextPart, PropertyValue, Schema, Template,
    ValueError, bounds, unoffered,
};
use crate::store::{DynamicTable, Refilling};

/// The step at which so many parts have been given.
#[derive(Debug)]
pub enum At<const PARTS: usize> {}

/// The step after a range or a prefix: nothing of the key is left to fix.
#[derive(Debug)]
pub enum Ended {}

/// A step at which the partition is known, so that the query can run.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is not complete",
    label = "give every part of the partition key first",
    note = "key parts are given from left to right, and a query runs within one partition"
)]
pub trait Ready<P> {}

impl<P> Ready<P> for Ended {}

/// Text that starts so, as the argument of a step.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<S>(S);

/// Every text that starts with this one: `staff.by_name().department("Sales").last_name(prefix("Jo"))`.
pub fn prefix<S: AsRef<str>>(text: S) -> Prefix<S> {
    Prefix(text)
}

/// What can be given for a key part of a query: one value, which leads to the next part, or a range or prefix, which
/// ends the key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a key part of type `{T}`",
    label = "expected `{T}`, a range of it, or `prefix(..)`"
)]
pub trait PartArg<T, Next> {
    /// The step that follows.
    type Step;

    #[doc(hidden)]
    fn give(self, field: usize, to: &mut Given);
}

/// What has been given for the parts of a key.
#[derive(Debug, Default)]
pub struct Given {
    values: Vec<(usize, Value)>,
    bound: Option<Limit>,
    refused: Option<ValueError>,
}

/// What was given for the part after those that are fixed.
#[derive(Debug)]
enum Limit {
    Prefix(String),
    /// Of this field.
    Range(usize, Edge<'static>, Edge<'static>),
}

impl Given {
    /// The value that was given for a field.
    fn of(&self, field: usize) -> Option<&Value> {
        self.values.iter().find(|(given, _)| *given == field).map(|(_, value)| value)
    }

    /// The first parts of a template, as far as their fields were given.
    fn fixed(&self, template: &Template) -> Vec<Fixed<'_>> {
        let value = |part: &FieldPart| self.of(part.field).map(Value::as_value_ref);
        plan::fields(template).map_while(value).map(|v| Fixed::Value(PropertyValue::Borrowed(v))).collect()
    }

    fn value<T>(&mut self, field: usize, value: &impl KeyArg<T>) {
        match value.to_key().map(PropertyValue::into_value) {
            Ok(Some(value)) => self.values.push((field, value)),
            // An absent value has no key: nothing is found.
            Ok(None) => self.bound = Some(Limit::Range(field, Edge::Nothing, Edge::Nothing)),
            Err(error) => {
                self.refused.get_or_insert(error);
            }
        }
    }

    fn range<T: KeyPart, A: KeyArg<T>>(&mut self, field: usize, lower: Bound<&A>, upper: Bound<&A>) {
        let lower = self.edge::<T, A>(lower, ValueError::is_below, ValueError::is_above);
        let upper = self.edge::<T, A>(upper, ValueError::is_above, ValueError::is_below);
        self.bound = Some(Limit::Range(field, lower, upper));
    }

    /// An end of a range: one outside all values is none, and one on the wrong side leaves nothing.
    fn edge<T: KeyPart, A: KeyArg<T>>(
        &mut self,
        bound: Bound<&A>,
        is_outside: fn(ValueError) -> bool,
        is_nothing: fn(ValueError) -> bool,
    ) -> Edge<'static> {
        let (value, is_included) = match bound {
            Bound::Unbounded => return Edge::Open,
            Bound::Included(value) => (value, true),
            Bound::Excluded(value) => (value, false),
        };
        match value.to_key().map(PropertyValue::into_value) {
            Ok(Some(value)) if is_included => Edge::Included(PropertyValue::Owned(value)),
            Ok(Some(value)) => Edge::Excluded(PropertyValue::Owned(value)),
            Err(error) if is_outside(error) => Edge::Open,
            Err(error) if !is_nothing(error) => {
                self.refused.get_or_insert(error);
                Edge::Nothing
            }
            Ok(None) | Err(_) => Edge::Nothing,
        }
    }
}

impl<T: KeyPart, Next> PartArg<T, Next> for T {
    type Step = Next;

    fn give(self, field: usize, to: &mut Given) {
        to.value::<T>(field, &self);
    }
}

impl<T: KeyPart, Next> PartArg<T, Next> for &T {
    type Step = Next;

    fn give(self, field: usize, to: &mut Given) {
        to.value::<T>(field, &self);
    }
}

impl<Next> PartArg<String, Next> for &str {
    type Step = Next;

    fn give(self, field: usize, to: &mut Given) {
        to.value::<String>(field, &self);
    }
}

impl<Next, S: AsRef<str>> PartArg<String, Next> for Prefix<S> {
    type Step = Ended;

    fn give(self, _: usize, to: &mut Given) {
        to.bound = Some(Limit::Prefix(self.0.as_ref().to_owned()));
    }
}

macro_rules! ranges {
    ($($range:ident($this:ident) => $lower:expr, $upper:expr;)*) => {$(
        impl<T: KeyPart, A: KeyArg<T>, Next> PartArg<T, Next> for $range<A> {
            type Step = Ended;

            fn give(self, field: usize, to: &mut Given) {
                let $this = &self;
                to.range::<T, A>(field, $lower, $upper);
            }
        }
    )*};
}

ranges! {
    Range(r) => Bound::Included(&r.start), Bound::Excluded(&r.end);
    RangeFrom(r) => Bound::Included(&r.start), Bound::Unbounded;
    RangeTo(r) => Bound::Unbounded, Bound::Excluded(&r.end);
    RangeInclusive(r) => Bound::Included(r.start()), Bound::Included(r.end());
    RangeToInclusive(r) => Bound::Unbounded, Bound::Included(&r.end);
}

/// A query on its way: what the steps of every path carry.
pub struct PathQuery<P> {
    table: DynamicTable,
    given: Given,
    query: Query,
    path: PhantomData<fn() -> P>,
}

impl<P: Path> PathQuery<P> {
    #[doc(hidden)]
    pub fn new(table: DynamicTable) -> Self {
        Self { table, given: Given::default(), query: Query::new(), path: PhantomData }
    }

    /// Takes a field of the partition key, which is one value.
    #[doc(hidden)]
    #[must_use]
    pub fn fixed<T>(mut self, field: usize, argument: &impl KeyArg<T>) -> Self {
        self.given.value::<T>(field, argument);
        self
    }

    /// Takes a field of the row key.
    #[doc(hidden)]
    #[must_use]
    pub fn part<T, Next>(mut self, field: usize, argument: impl PartArg<T, Next>) -> Self {
        argument.give(field, &mut self.given);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn rev(mut self) -> Self {
        self.query = self.query.rev();
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn top(mut self, entities: usize) -> Self {
        self.query = self.query.top(entities);
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn filter(mut self, filter: Filter) -> Self {
        self.query = self.query.filter(filter);
        self
    }

    /// The query in terms of keys and properties.
    fn plan(&self) -> Result<Query> {
        let schema = <P::Entity as super::Entity>::SCHEMA;
        if let Some(error) = self.given.refused {
            return Err(Error::new(ErrorKind::InvalidQuery).because(error.to_string()));
        }
        let (partition, row) = (&schema.partition, P::template());
        let (in_partition, in_row) = (self.given.fixed(partition), self.given.fixed(row));
        let next = match &self.given.bound {
            None => NextPart::Any,
            Some(Limit::Prefix(text)) => NextPart::Prefix(text),
            Some(Limit::Range(_, lower, upper)) => NextPart::Range(lower.clone(), upper.clone()),
        };
        if let Some(part) = unoffered(row, in_row.len(), &next) {
            let name = schema.fields.get(part.field).map_or("", |field| field.name);
            let because = format!(
                "`{name}` offers no such range in the key `{}`: inside a key, text sorts with what follows it, and \
                 names sort by their letters; give a value, or a `prefix(..)` of text",
                row.source
            );
            return Err(Error::new(ErrorKind::InvalidQuery).because(because));
        }
        let partition_bounds = bounds(partition, &in_partition, &NextPart::Any);
        let row_bounds = bounds(row, &in_row, &next);
        let mut query = self.query.clone().filter(prop("EntityType").eq(P::kind()));
        if !partition_bounds.exact || !row_bounds.exact {
            for part in plan::fields(partition).chain(plan::fields(row)) {
                query = exactly(query, schema, part, &self.given);
            }
        }
        query = match partition_bounds.keys {
            KeySpan::Exactly(key) => query.partition(key),
            // Every step before the query can run has given a part.
            _ => query.top(0),
        };
        Ok(match row_bounds.keys {
            KeySpan::Nothing => query.top(0),
            KeySpan::Exactly(key) => query.row(key),
            KeySpan::Prefix(start) => query.row_prefix(start),
            KeySpan::Between(lower, upper) => query.rows((lower, upper)),
        })
    }

    #[doc(hidden)]
    pub fn explain(&self) -> Result<Explain> {
        self.table.explain(&self.plan()?)
    }

    #[doc(hidden)]
    pub fn count(self) -> Result<u64> {
        let query = self.plan()?;
        let mut rows = self.table.refilling(&query)?;
        let mut count = 0;
        while rows.next_by(|_, _| Ok(())).transpose()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    #[doc(hidden)]
    pub fn rows(self) -> TypedRows<P> {
        TypedRows(self.plan().and_then(|query| self.table.refilling(&query)).map_err(Some))
    }
}

/// The query with what was given for a part asked of its property too, where the key has lost some of it.
fn exactly(query: Query, schema: &Schema, part: &FieldPart, given: &Given) -> Query {
    // Folded text is asked for as folded; every other part gives the value back.
    if !matches!(part.format, Format::Time(_) | Format::Shard(_)) {
        return query;
    }
    let Some(property) = schema.fields.get(part.field).map(|field| prop(field.property)) else {
        return query;
    };
    if let Some(value) = given.of(part.field) {
        return query.filter(property.eq(value.clone()));
    }
    let Some(Limit::Range(field, lower, upper)) = &given.bound else { return query };
    if *field != part.field {
        return query;
    }
    let query = match lower.clone() {
        Edge::Included(value) => filtered(query, value, |value| property.ge(value)),
        Edge::Excluded(value) => filtered(query, value, |value| property.gt(value)),
        Edge::Open | Edge::Nothing => query,
    };
    match upper.clone() {
        Edge::Included(value) => filtered(query, value, |value| property.le(value)),
        Edge::Excluded(value) => filtered(query, value, |value| property.lt(value)),
        Edge::Open | Edge::Nothing => query,
    }
}

fn filtered(query: Query, value: PropertyValue<'_>, filter: impl FnOnce(Value) -> Filter) -> Query {
    match value.into_value() {
        Some(value) => query.filter(filter(value)),
        None => query,
    }
}

impl<P> fmt::Debug for PathQuery<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathQuery").field("table", &self.table).finish_non_exhaustive()
    }
}

/// What a typed query finds, in order: an iterator that owns its snapshot.
///
/// An error, of the query itself too, comes as an item, and ends it.
pub struct TypedRows<P: Path>(Result<Refilling<P::Item>, Option<Error>>);

impl<P: Path> Iterator for TypedRows<P> {
    type Item = Result<P::Item>;

    fn next(&mut self) -> Option<Result<P::Item>> {
        match &mut self.0 {
            Ok(rows) => rows.next_by(|_, view| P::read(view)),
            Err(error) => error.take().map(Err),
        }
    }
}

impl<P: Path> fmt::Debug for TypedRows<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedRows").finish_non_exhaustive()
    }
}
