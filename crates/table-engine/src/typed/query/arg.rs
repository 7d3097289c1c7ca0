//! What can be given for a key part of a query.

use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};

use super::key_args::KeyArgs;
use super::steps::Ended;
use crate::schema::KeyPart;
use crate::typed::read::key::KeyArg;

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
