//! What can be given for the parts of a key in a query, and what has been given.

use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};
use std::sync::Arc;

use super::steps::Ended;
use crate::model::{Ticks, Value, ValueRef};
use crate::plaintext::Plaintext;
use crate::schema::{
    self, Edge, FieldPart, Fixed, Format, KeyPart, Next, PropertyValue, Template, ValueError,
};
use crate::typed::periods::Span;
use crate::typed::read::key::{BlindArg, KeyArg};

/// Text that starts so, as the argument of a step.
#[derive(Clone, Copy, Debug)]
pub struct Prefix<S>(S);

/// Returns every text that starts with this one: `staff.by_name().department("Sales").last_name(prefix("Jo"))`.
pub fn prefix<S: AsRef<str>>(text: S) -> Prefix<S> {
    Prefix(text)
}

/// What can be given for a key part of a query: one value, which leads to the next part, or a range or prefix, which
/// ends the key. `Offers` says which of the latter the part has.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a key part of type `{T}`",
    label = "expected `{T}`, a range of it, or `prefix(..)`"
)]
pub trait PartArg<T, Next, Offers> {
    /// The step that follows.
    type Step;

    #[doc(hidden)]
    fn give(self, field: usize, to: &mut KeyArgs);
}

/// What a key part offers besides single values.
#[derive(Debug)]
pub enum Offers<const RANGE: bool, const PREFIX: bool> {}

/// A part whose keys lie in the order of its values.
#[diagnostic::on_unimplemented(
    message = "this part of the key offers no range",
    label = "its keys are not in the order of its values",
    note = "text that something follows in the key sorts with what follows it: give a value, or a `prefix(..)`",
    note = "names sort by their letters, and parts of a time only from the year on: give a value; `{{field:escaped}}` keeps the order of text wherever it stands"
)]
pub trait OffersRange {}

impl<const PREFIX: bool> OffersRange for Offers<true, PREFIX> {}

/// A part of text that stands in the key letter by letter.
#[diagnostic::on_unimplemented(
    message = "this part of the key offers no prefix",
    label = "a prefix is of text, and this part is printed otherwise: give a value",
    note = "a part that is a number or a time offers ranges, as `1..=9`"
)]
pub trait OffersPrefix {}

impl<const RANGE: bool> OffersPrefix for Offers<RANGE, true> {}

impl<T: KeyPart, Next, O> PartArg<T, Next, O> for T {
    type Step = Next;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.value::<T>(field, &self);
    }
}

impl<T: KeyPart, Next, O> PartArg<T, Next, O> for &T {
    type Step = Next;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.value::<T>(field, &self);
    }
}

impl<Next, O> PartArg<String, Next, O> for &str {
    type Step = Next;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.value::<String>(field, &self);
    }
}

impl<Next, O> PartArg<Box<str>, Next, O> for &str {
    type Step = Next;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.value::<Box<str>>(field, &self);
    }
}

impl<T: KeyPart, Next, O: OffersPrefix, S: AsRef<str>> PartArg<T, Next, O> for Prefix<S> {
    type Step = Ended;

    fn give(self, _: usize, to: &mut KeyArgs) {
        to.prefix(self.0.as_ref());
    }
}

// Each by itself: the compiler shows the impl whose range has the wrong ends.

impl<T: KeyPart, A: KeyArg<T>, Next, O: OffersRange> PartArg<T, Next, O> for Range<A> {
    type Step = Ended;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.range::<T, A>(field, Bound::Included(&self.start), Bound::Excluded(&self.end));
    }
}

impl<T: KeyPart, A: KeyArg<T>, Next, O: OffersRange> PartArg<T, Next, O> for RangeFrom<A> {
    type Step = Ended;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.range::<T, A>(field, Bound::Included(&self.start), Bound::Unbounded);
    }
}

impl<T: KeyPart, A: KeyArg<T>, Next, O: OffersRange> PartArg<T, Next, O> for RangeTo<A> {
    type Step = Ended;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.range::<T, A>(field, Bound::Unbounded, Bound::Excluded(&self.end));
    }
}

impl<T: KeyPart, A: KeyArg<T>, Next, O: OffersRange> PartArg<T, Next, O> for RangeInclusive<A> {
    type Step = Ended;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.range::<T, A>(field, Bound::Included(self.start()), Bound::Included(self.end()));
    }
}

impl<T: KeyPart, A: KeyArg<T>, Next, O: OffersRange> PartArg<T, Next, O> for RangeToInclusive<A> {
    type Step = Ended;

    fn give(self, field: usize, to: &mut KeyArgs) {
        to.range::<T, A>(field, Bound::Unbounded, Bound::Included(&self.end));
    }
}

/// What has been given for the parts of a key, the partition's first.
#[derive(Clone, Debug, Default)]
pub struct KeyArgs {
    /// By field.
    values: Vec<(usize, Value)>,
    /// By the place of the part among all; `None` is every shard.
    pub(super) shards: Vec<(usize, Option<u32>)>,
    /// Values of sealed fields, whose tokens stand in the key, by field.
    sealed: Vec<(usize, Arc<Plaintext>)>,
    bound: Option<Limit>,
    pub(super) refused: Option<ValueError>,
    /// A value was given that no row has.
    pub(super) nothing: bool,
}

/// What is chosen for a part, by its place among all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Shard(u32),
    /// A token, as the key prints it.
    Token(String),
}

/// What was given for the part after those that are fixed.
#[derive(Clone, Debug)]
enum Limit {
    Prefix(String),
    /// Of this field.
    Range(usize, Edge<'static>, Edge<'static>),
}

impl KeyArgs {
    /// Narrows a span to the times that were given for a field: the value, or the range. Returns whether either was given.
    pub(super) fn narrow_times(&self, field: usize, span: &mut Span) -> bool {
        let Span { first, beyond } = span;
        let mut from = |time: Ticks| *first = time.max(*first);
        let mut to = |time: Option<Ticks>| {
            *beyond = time.map_or(*beyond, |time| Some(beyond.map_or(time, |b| b.min(time))));
        };
        let after = |time: Ticks| Ticks::new(time.get() + 1);
        if let Some(time) = self.of(field).and_then(|value| value.as_value_ref().as_ticks()) {
            from(time);
            to(after(time));
            return true;
        }
        let Some((lower, upper)) = self.range_of(field) else { return false };
        let time = |value: &PropertyValue<'static>| value.as_value_ref().and_then(ValueRef::as_ticks);
        match lower {
            Edge::Included(value) => time(value).map_or((), &mut from),
            Edge::Excluded(value) => time(value).and_then(after).map_or((), &mut from),
            Edge::Open | Edge::Nothing => {}
        }
        match upper {
            Edge::Included(value) => to(time(value).and_then(after)),
            Edge::Excluded(value) => to(time(value)),
            Edge::Open | Edge::Nothing => {}
        }
        true
    }

    /// Bounds the part after those that are fixed, which is of this field, by times that lie in what bounded it before.
    pub(super) fn bound_times(&mut self, field: usize, first: Ticks, beyond: Option<Ticks>) {
        let leaves_nothing =
            self.range_of(field).is_some_and(|ends| matches!(ends, (Edge::Nothing, _) | (_, Edge::Nothing)));
        if leaves_nothing {
            return;
        }
        let value = |time| PropertyValue::Owned(Value::DateTime(time));
        let lower = if first == Ticks::MIN { Edge::Open } else { Edge::Included(value(first)) };
        let upper = beyond.map_or(Edge::Open, |beyond| Edge::Excluded(value(beyond)));
        self.bound = Some(Limit::Range(field, lower, upper));
    }

    /// Returns how many of a template's first parts are fixed, by whatever value, shard or token. `before` parts stand before
    /// the template's.
    pub(super) fn count_fixed(&self, template: &Template, before: usize) -> usize {
        let is_fixed = |(at, part): &(usize, &FieldPart)| match part.format {
            Format::Shard(_) if self.shards.iter().any(|(place, _)| *place == before + at) => true,
            Format::Blind => self.sealed(part.field).is_some(),
            _ => self.of(part.field).is_some(),
        };
        schema::fields(template).enumerate().take_while(is_fixed).count()
    }

    /// Returns the values, by field.
    pub(super) fn values(&self) -> &[(usize, Value)] {
        &self.values
    }

    /// Returns the value that was given for a field.
    pub(super) fn of(&self, field: usize) -> Option<&Value> {
        self.values.iter().find(|(given, _)| *given == field).map(|(_, value)| value)
    }

    /// Returns the value that was given for a sealed field.
    pub(super) fn sealed(&self, field: usize) -> Option<ValueRef<'_>> {
        let value = self.sealed.iter().find(|(given, _)| *given == field);
        value.map(|(_, value)| value.expose().as_value_ref())
    }

    /// Returns the values that were given for sealed fields.
    pub(super) fn each_sealed(&self) -> impl Iterator<Item = (usize, ValueRef<'_>)> {
        self.sealed.iter().map(|(field, value)| (*field, value.expose().as_value_ref()))
    }

    /// Returns whether tokens are to be looked up.
    pub(super) fn is_blind(&self) -> bool {
        !self.sealed.is_empty()
    }

    /// Adds the first parts of a template, as far as they were given. `before` parts stand before the template's;
    /// `chosen` has the shards and the tokens.
    pub(super) fn fix<'g>(
        &'g self,
        template: &Template,
        before: usize,
        chosen: &'g [(usize, Chosen)],
        fixed: &mut Vec<Fixed<'g>>,
    ) {
        let part = |(at, part): (usize, &'static FieldPart)| {
            match chosen.iter().find(|(place, _)| *place == before + at) {
                Some((_, Chosen::Shard(shard))) => return Some(Fixed::Shard(*shard)),
                Some((_, Chosen::Token(token))) => {
                    return Some(Fixed::Value(PropertyValue::Borrowed(ValueRef::String(token))));
                }
                None => {}
            }
            let value = self.of(part.field)?.as_value_ref();
            Some(Fixed::Value(PropertyValue::Borrowed(value)))
        };
        for place in schema::fields(template).enumerate() {
            let Some(part) = part(place) else { break };
            fixed.push(part);
        }
    }

    /// Returns what bounds the part after those that are fixed.
    pub(super) fn next(&self) -> Next<'_> {
        match &self.bound {
            None => Next::Any,
            Some(Limit::Prefix(text)) => Next::Prefix(text),
            Some(Limit::Range(_, lower, upper)) => Next::Range(lower.clone(), upper.clone()),
        }
    }

    /// Returns whether a prefix does.
    pub(super) fn has_prefix(&self) -> bool {
        matches!(self.bound, Some(Limit::Prefix(_)))
    }

    /// Returns the range that bounds it.
    pub(super) fn range_given(&self) -> Option<[&Edge<'static>; 2]> {
        match &self.bound {
            Some(Limit::Range(_, lower, upper)) => Some([lower, upper]),
            Some(Limit::Prefix(_)) | None => None,
        }
    }

    /// Returns the range that was given for a field.
    pub(super) fn range_of(&self, field: usize) -> Option<(&Edge<'static>, &Edge<'static>)> {
        match &self.bound {
            Some(Limit::Range(given, lower, upper)) if *given == field => Some((lower, upper)),
            _ => None,
        }
    }

    pub(super) fn value<T>(&mut self, field: usize, value: &impl KeyArg<T>) {
        match value.to_key().map(PropertyValue::into_value) {
            Ok(Some(value)) => self.values.push((field, value)),
            // An absent value has no key: nothing is found.
            Ok(None) => self.nothing = true,
            Err(error) => {
                self.refused.get_or_insert(error);
            }
        }
    }

    pub(super) fn blind<T>(&mut self, field: usize, value: &impl BlindArg<T>) {
        match value.to_value().map(PropertyValue::into_value) {
            Ok(Some(value)) => self.sealed.push((field, Arc::new(Plaintext::new(value)))),
            Ok(None) => self.nothing = true,
            Err(error) => {
                self.refused.get_or_insert(error);
            }
        }
    }

    pub(super) fn prefix(&mut self, text: &str) {
        self.bound = Some(Limit::Prefix(text.to_owned()));
    }

    pub(super) fn range<T: KeyPart, A: KeyArg<T>>(
        &mut self,
        field: usize,
        lower: Bound<&A>,
        upper: Bound<&A>,
    ) {
        let lower = self.edge::<T, A>(lower, ValueError::is_below, ValueError::is_above);
        let upper = self.edge::<T, A>(upper, ValueError::is_above, ValueError::is_below);
        self.bound = Some(Limit::Range(field, lower, upper));
    }

    /// Returns an end of a range: one outside all values is none, and one on the wrong side leaves nothing.
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
