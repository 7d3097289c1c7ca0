//! Series in entities: fields of which each slot is a property.
//!
//! What generated code does with a series is one call for the whole of it, however many slots there are.

mod column;
mod patch;
mod view;

pub use self::column::{SeriesColumn, SlotColumns};
pub use self::patch::{SeriesPatch, Slots, exchange_slots};
pub use self::view::SeriesView;

use super::entity::source::Source;
use crate::error::{Error, ErrorKind, Result};
use crate::plan::Values;
use crate::schema::{Property, SeriesOf};

/// Gives the slots of a series in order.
pub fn give_slots<'a, S: SeriesOf>(series: &'a S, values: &mut Values<'a>) {
    for slot in series.slots() {
        values.push(slot.to_property());
    }
}

/// Takes the slots of a series in order.
pub fn take_slots<S: SeriesOf>(source: &mut Source<'_>) -> Result<S> {
    filled(|| source.next(S::Slot::from_property))
}

/// The same; an absent one is its type's default.
pub fn take_slots_or_default<S: SeriesOf<Slot: Default>>(source: &mut Source<'_>) -> Result<S> {
    filled(|| source.next_or_default(S::Slot::from_property))
}

/// The same; an absent one is what `default` makes.
pub fn take_slots_or<S: SeriesOf>(source: &mut Source<'_>, default: fn() -> S::Slot) -> Result<S> {
    filled(|| source.next_or(S::Slot::from_property, default))
}

/// Takes as many slots as the type has, from the field at this place on.
pub fn slots_at<S: SeriesOf>(source: &Source<'_>, first: usize) -> Result<S> {
    let mut places = first..;
    filled(|| source.field(places.next().unwrap_or_default(), S::Slot::from_property))
}

/// The same; an absent one is what `default` makes.
pub fn slots_at_or<S: SeriesOf>(source: &Source<'_>, first: usize, default: fn() -> S::Slot) -> Result<S> {
    let mut places = first..;
    filled(|| source.field_or(places.next().unwrap_or_default(), S::Slot::from_property, default))
}

/// The places of fields, given as those of the first and how many there are.
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

/// A series of what `next` gives, one after another; the first error ends it.
fn filled<S: SeriesOf>(mut next: impl FnMut() -> Result<S::Slot>) -> Result<S> {
    let mut slots = Vec::with_capacity(S::SLOTS);
    for _ in 0..S::SLOTS {
        slots.push(next()?);
    }
    // There are as many.
    S::of_slots(slots).ok_or_else(|| Error::new(ErrorKind::SchemaMismatch))
}
