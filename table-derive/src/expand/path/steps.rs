//! The steps of a query, from part to part: what can come next, and where that leads.

use crate::model::Template;
use crate::template::{FieldPart, Format};

/// A step at which a query can be.
pub(super) struct Step {
    /// The part that comes next; `None` if all are given.
    pub(super) next: Option<Next>,
    /// Whether the partition is complete.
    pub(super) ready: bool,
}

/// What can be given at a step.
pub(super) struct Next {
    /// The field.
    pub(super) field: usize,
    /// The place of the part among all, the partition's first.
    pub(super) place: usize,
    /// The step to which a value leads.
    pub(super) step: usize,
    /// Which `[]` part of the row key it is, if it is one.
    pub(super) each: Option<usize>,
    pub(super) kind: Kind,
    /// Whether its format is one of numbers and times, whose keys are in their order.
    pub(super) is_number: bool,
    /// Whether it is printed as it is, and once.
    pub(super) is_plain: bool,
}

/// What a part takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A value: it is part of the partition key.
    Value,
    /// A value, from which the shard is computed; or the shard itself or all shards, which lead to this step.
    Shard { step: usize, shards: u32 },
    /// A value, whose token stands in the key.
    Blind,
    /// A value, a range or a prefix.
    Any {
        /// Whether the first in the order of the key are the latest.
        latest: bool,
    },
}

impl Kind {
    /// Returns whether the one method that it has takes the part itself.
    pub(super) fn takes_a_part_alone(self) -> bool {
        matches!(self, Self::Value | Self::Blind | Self::Any { .. })
    }
}

/// The parts of a path's keys with what has been given of them.
struct Parts<'m> {
    all: Vec<&'m FieldPart>,
    /// How many stand in the partition key.
    width: usize,
}

/// Where a query is: the part that comes next, and the fields that are given.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    part: usize,
    given: Vec<usize>,
}

/// Returns every step that a query of this path can be at. Giving one field after another leads from the first to the second
/// and so on.
pub(super) fn steps(partition: &Template, row: &Template) -> Vec<Step> {
    let all: Vec<_> = partition.fields().chain(row.fields()).collect();
    let parts = Parts { all, width: partition.fields().count() };
    let mut places = vec![parts.skip(Place { part: 0, given: Vec::new() })];
    let mut steps = Vec::new();
    // The way by fields comes first, and so has the first numbers.
    while let Some(part) = places.last().and_then(|place| parts.all.get(place.part)) {
        let Some(mut place) = places.last().cloned() else { break };
        place.part += 1;
        place.given.push(part.field);
        places.push(parts.skip(place));
    }
    let mut at = 0;
    while let Some(place) = places.get(at).cloned() {
        steps.push(parts.step(&place, &mut places));
        at += 1;
    }
    steps
}

impl Parts<'_> {
    /// Returns the next part whose field is not given.
    fn skip(&self, mut place: Place) -> Place {
        while self.all.get(place.part).is_some_and(|part| place.given.contains(&part.field)) {
            place.part += 1;
        }
        place
    }

    fn step(&self, place: &Place, places: &mut Vec<Place>) -> Step {
        let ready = place.part >= self.width;
        let Some(part) = self.all.get(place.part) else { return Step { next: None, ready } };
        let mut with = place.clone();
        with.part += 1;
        with.given.push(part.field);
        let mut number = |place: Place| {
            let place = self.skip(place);
            places.iter().position(|known| *known == place).unwrap_or_else(|| {
                places.push(place);
                places.len() - 1
            })
        };
        let step = number(with);
        let kind = match part.format() {
            Format::Shard(shards) => {
                let without = Place { part: place.part + 1, given: place.given.clone() };
                Kind::Shard { step: number(without), shards }
            }
            _ if !ready => Kind::Value,
            Format::Blind => Kind::Blind,
            Format::Inverted | Format::PadInverted(_) => Kind::Any { latest: true },
            _ => Kind::Any { latest: false },
        };
        let each = part.each.then(|| {
            let before = self.all.iter().skip(self.width).take(place.part - self.width);
            before.filter(|part| part.each).count()
        });
        let is_number = matches!(
            part.format(),
            Format::Pad(_) | Format::Offset | Format::Inverted | Format::PadInverted(_) | Format::Ticks
        );
        let is_plain = part.format() == Format::Plain && !part.each;
        let next = Next { field: part.field, place: place.part, step, each, kind, is_number, is_plain };
        Step { next: Some(next), ready }
    }
}
