//! Denormalised copies: fields of another entity that an entity holds, and what both sides say of it.
//!
//! The *source* is the entity that is copied, and the *holder* the one that has the copy. Neither names the other's declaration
//! in its own: each may hold copies of the other.

use std::fmt;

use super::{Arrival, Format, Index, KeyValues, Part, Place, Schema, Template, print};

/// A copy of some fields of another entity, in a field of this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CopiedFields {
    /// The field's name in the struct.
    pub name: &'static str,
    /// With what the names of its properties begin.
    pub property: &'static str,
    /// The place of the first of its properties among [`Schema::fields`].
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// The fields that the key of the source is made of, in the order of the arguments of its constructor.
    pub key: &'static [usize],
    /// Said of a source that lies in another partition or table.
    pub arrival: Option<Arrival>,
}

impl CopiedFields {
    /// Makes a copy in the field of this name, whose properties' names begin so, of the source with a key of these fields.
    #[must_use]
    pub const fn new(
        [name, property]: [&'static str; 2],
        [first, count]: [usize; 2],
        key: &'static [usize],
    ) -> Self {
        Self { name, property, first, count, key, arrival: None }
    }

    /// Returns the copy as one of a source that lies elsewhere: both change in one transaction.
    #[must_use]
    pub const fn atomic(mut self) -> Self {
        self.arrival = Some(Arrival::Atomic);
        self
    }

    /// Returns the copy as one of a source that lies elsewhere, whose changes it follows in transactions of their own.
    #[must_use]
    pub const fn eventual(mut self) -> Self {
        self.arrival = Some(Arrival::Eventual);
        self
    }

    /// Returns whether it follows changes of its source.
    pub(crate) const fn is_eventual(&self) -> bool {
        matches!(self.arrival, Some(Arrival::Eventual))
    }

    /// Returns whether the field at this place is one of its properties.
    pub(crate) const fn has(&self, field: usize) -> bool {
        field >= self.first && field - self.first < self.count
    }

    /// Returns whether the key of the source is made of this field.
    pub(crate) const fn is_by(&self, field: usize) -> bool {
        self.argument(field).is_some()
    }

    /// Returns which of the arguments of the source's key the field is.
    pub(crate) const fn argument(&self, field: usize) -> Option<usize> {
        let mut at = 0;
        let mut key = self.key;
        while let [known, rest @ ..] = key {
            if *known == field {
                return Some(at);
            }
            key = rest;
            at += 1;
        }
        None
    }
}

/// The declarations of the entities that this one holds copies of, and of those that hold copies of it. A function, since
/// each may be one of the other's.
#[derive(Clone, Copy)]
pub struct Kin(fn() -> Vec<&'static Schema>);

impl Kin {
    pub(super) const NONE: Self = Self(Vec::new);

    /// Returns what this function tells.
    #[must_use]
    pub const fn new(kin: fn() -> Vec<&'static Schema>) -> Self {
        Self(kin)
    }
}

/// Two declarations differ by what they say: the same function may have several addresses.
impl PartialEq for Kin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Kin {}

impl fmt::Debug for Kin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Kin")
    }
}

/// An entity whose changes keep the copies that another holds of it. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say that it is copied into `{H}`",
    label = "a change of it would leave this copy as it was",
    note = "add `#[copied_into({H})]` to `{Self}`"
)]
pub trait CopiedInto<H, Projection, By> {}

/// How an entity says where it is copied: by the entity that holds the copy.
#[derive(Debug)]
pub enum ByDependent {}

/// By the projection that says what is copied. That is a mistake, which is reported where it is said, and not once more by who
/// holds the copy.
#[derive(Debug)]
pub enum ByProjection {}

/// By which rows of an entity those are found that refer to one source: its own, or those of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The index; `None` is the entity's own rows.
    pub(crate) index: Option<usize>,
    /// Where they lie.
    pub(crate) place: Place,
    /// So many parts of the row key's template come before the first field that the source's key doesn't say.
    pub(crate) parts: usize,
}

impl Way {
    /// Returns what the row keys begin with, as a template.
    pub(crate) fn prefix(&self) -> Template {
        let parts = self.place.row.parts.get(..self.parts).unwrap_or_default();
        Template { parts, ..self.place.row }
    }

    /// Returns the partition key of those who refer to a source, and with what their row keys begin, by the values of the
    /// fields that refer to it; `None` if such rows can't be.
    pub(crate) fn print(&self, known: &dyn KeyValues) -> Option<(String, String)> {
        let (mut partition, mut prefix) = (String::new(), String::new());
        let is_printed = |printed| matches!(printed, Ok(true));
        let is_whole = is_printed(print(&self.place.partition, known, &mut partition))
            && is_printed(print(&self.prefix(), known, &mut prefix));
        is_whole.then_some((partition, prefix))
    }
}

impl Schema {
    /// Returns the entity as one that holds these copies.
    #[must_use]
    pub const fn copied(mut self, copied: &'static [CopiedFields]) -> Self {
        self.copied = copied;
        self
    }

    /// Returns the entity as one copies of which are held by entities of these kinds.
    #[must_use]
    pub const fn dependents(mut self, dependents: &'static [&'static str]) -> Self {
        self.dependents = dependents;
        self
    }

    /// Returns the entity with the declarations on the other sides.
    #[must_use]
    pub const fn kin(mut self, kin: Kin) -> Self {
        self.kin = kin;
        self
    }

    /// Returns the declarations of its sources and its dependents.
    pub(crate) fn relatives(&self) -> Vec<&'static Self> {
        (self.kin.0)()
    }

    /// Returns whether it holds a copy that follows.
    pub(crate) const fn holds_eventual(&self) -> bool {
        let mut copied = self.copied;
        while let [copy, rest @ ..] = copied {
            if copy.is_eventual() {
                return true;
            }
            copied = rest;
        }
        false
    }

    /// Returns whether it holds a copy in the field at this place.
    pub(crate) const fn is_copied(&self, field: usize) -> bool {
        self.copy_of(field).is_some()
    }

    /// Returns the copy of another entity that a field is of.
    pub(crate) const fn copy_of(&self, field: usize) -> Option<&'static CopiedFields> {
        let mut copied = self.copied;
        while let [copy, rest @ ..] = copied {
            if copy.has(field) {
                return Some(copy);
            }
            copied = rest;
        }
        None
    }

    /// Returns by which rows the entities are found that refer to one source by this copy; `None` if by none: some entities
    /// have no such row, or other fields stand before those of the key.
    #[expect(clippy::indexing_slicing, reason = "an index that isn't there stops the loop")]
    pub(crate) const fn way_back(&self, copy: &CopiedFields) -> Option<Way> {
        if let Some(parts) = begins(self.place(), copy) {
            return Some(Way { index: None, place: *self.place(), parts });
        }
        let mut at = 0;
        while at < self.indexes.len() {
            let index: &Index = &self.indexes[at];
            if !index.sparse
                && !index.is_eventual()
                && !index.is_shared()
                && let Some(parts) = begins(&index.place, copy)
            {
                return Some(Way { index: Some(at), place: index.place, parts });
            }
            at += 1;
        }
        None
    }
}

/// Returns how many parts of the row key come before the first field that is not the copy's key, if the keys there begin with
/// all of that.
const fn begins(place: &Place, copy: &CopiedFields) -> Option<usize> {
    let mut parts = place.partition.parts;
    while let [part, rest @ ..] = parts {
        if !is_known(part, copy) {
            return None;
        }
        parts = rest;
    }
    let mut known = 0;
    let mut parts = place.row.parts;
    while let [part, rest @ ..] = parts {
        if !is_known(part, copy) {
            break;
        }
        known += 1;
        parts = rest;
    }
    let (before, _) = place.row.parts.split_at(known);
    let mut key = copy.key;
    while let [field, rest @ ..] = key {
        if !stands_in(place.partition.parts, *field) && !stands_in(before, *field) {
            return None;
        }
        key = rest;
    }
    Some(known)
}

/// Returns whether the source's key says what the part prints.
const fn is_known(part: &Part, copy: &CopiedFields) -> bool {
    match part {
        Part::Literal(_) => true,
        Part::Field(part) => !part.each && !matches!(part.format, Format::Blind) && copy.is_by(part.field),
    }
}

const fn stands_in(mut parts: &[Part], field: usize) -> bool {
    while let [part, rest @ ..] = parts {
        if let Part::Field(part) = part
            && part.field == field
        {
            return true;
        }
        parts = rest;
    }
    false
}
