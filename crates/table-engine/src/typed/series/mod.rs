//! Series in entities: fields of which each slot is a property.
//!
//! What generated code does with a series is one call for the whole of it, however many slots there are.

mod add;
mod column;
mod patch;
mod view;

pub use self::add::{Additions, AddsTo, add_to_slot};
pub use self::column::{SeriesColumn, SlotColumns};
pub use self::patch::{SeriesPatch, Slots};
pub use self::view::SeriesView;

use super::entity::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::model::EdmType;
use crate::plan::Values;
use crate::schema::{Content, Field, Property};

/// A type that a series can have: an array of properties.
///
/// Generated code calls all of it through the trait, on the type's own token: then the compiler says once, and there, that a
/// type is no series.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a series",
    label = "no array",
    note = "a series is an array, `[Option<f64>; 24]`: each slot is a property of its own, and there are as many as the type says"
)]
pub trait SeriesOf: Sized {
    /// What a slot holds.
    type Slot: Property;

    /// How many slots there are.
    const SLOTS: usize;

    /// A field of the type of a slot, for declarations to name.
    const FIELD: Field = <Self::Slot as Property>::FIELD;

    /// The type of each property.
    const EDM: EdmType = <Self::Slot as Property>::EDM;

    /// Whether a slot may be absent.
    const OPTIONAL: bool = <Self::Slot as Property>::OPTIONAL;

    /// Whether a slot is an `Option` of an `Option`.
    const NESTED: bool = <Self::Slot as Property>::NESTED;

    /// Whether rows may hold a slot as it is.
    const CONTENT: Content = <Self::Slot as Property>::CONTENT;

    /// Whether every value comes back as it was.
    const EXACT: bool = <Self::Slot as Property>::EXACT;

    /// Returns the slots.
    fn slots(&self) -> &[Self::Slot];

    /// Returns the slots, to be changed.
    fn slots_mut(&mut self) -> &mut [Self::Slot];

    /// Returns a series of these slots, if they are as many as it has.
    fn of_slots(slots: Vec<Self::Slot>) -> Option<Self>;

    /// Gives the slots in order.
    fn values<'a>(&'a self, values: &mut Values<'a>) {
        for slot in self.slots() {
            values.push(slot.to_property());
        }
    }

    /// Takes the slots in order.
    fn take(source: &mut Source<'_>) -> Result<Self> {
        filled(|| source.next(Self::Slot::TAKE))
    }

    /// Takes the slots in order; an absent one is what `default` makes.
    fn take_or(source: &mut Source<'_>, default: fn() -> Self::Slot) -> Result<Self> {
        filled(|| source.next_or(Self::Slot::TAKE, default))
    }

    /// Takes as many slots as the type has, from the field at this place on.
    fn take_at(source: &Source<'_>, first: usize) -> Result<Self> {
        let mut places = first..;
        filled(|| source.field(places.next().unwrap_or_default(), Self::Slot::TAKE))
    }

    /// Takes as many slots as the type has, from the field at this place on; an absent one is what `default` makes.
    fn take_at_or(source: &Source<'_>, first: usize, default: fn() -> Self::Slot) -> Result<Self> {
        let mut places = first..;
        filled(|| source.field_or(places.next().unwrap_or_default(), Self::Slot::TAKE, default))
    }

    /// Exchanges the slots with what the patch sets for them. Done twice, it changes nothing.
    fn exchange(&mut self, patch: &mut SeriesPatch<Self::Slot>) {
        for (slot, value) in patch.slots_set() {
            if let Some(place) = self.slots_mut().get_mut(*slot) {
                std::mem::swap(place, value);
            }
        }
    }
}

impl<T: Property, const SLOTS: usize> SeriesOf for [T; SLOTS] {
    type Slot = T;
    const SLOTS: usize = SLOTS;

    fn slots(&self) -> &[T] {
        self
    }

    fn slots_mut(&mut self) -> &mut [T] {
        self
    }

    fn of_slots(slots: Vec<T>) -> Option<Self> {
        slots.try_into().ok()
    }
}

/// Returns a series of what `next` gives, one after another; the first error ends it.
fn filled<S: SeriesOf>(mut next: impl FnMut() -> Result<S::Slot>) -> Result<S> {
    let mut slots = Vec::with_capacity(S::SLOTS);
    for _ in 0..S::SLOTS {
        slots.push(next()?);
    }
    // There are as many.
    S::of_slots(slots).ok_or_else(|| Error::new(ErrorKind::SchemaMismatch))
}

/// Returns the places of fields, given as those of the first and how many there are.
#[must_use]
#[expect(clippy::indexing_slicing, reason = "a place that isn't there stops the compiler")]
pub const fn slot_places<const COUNT: usize>(runs: &[(usize, usize)]) -> [usize; COUNT] {
    let mut all = [0; COUNT];
    let (mut free, mut run) = (0, 0);
    while run < runs.len() {
        let (first, count) = runs[run];
        let mut at = 0;
        while at < count {
            all[free] = first + at;
            free += 1;
            at += 1;
        }
        run += 1;
    }
    all
}
