//! One of the keys of a declaration, or of its other pieces, by their places.

use super::super::format::bounds;
use super::super::message::Message;
use super::super::{Field, FieldPart, Index, Part, Place, Schema, Template};

/// One of an entity's key templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyOf {
    /// The partition key.
    Partition,
    /// The row key.
    Row,
    /// The row key of this part of a wide entity.
    Part(usize),
    /// The row key of the index at this place among [`Schema::indexes`].
    Index(usize),
    /// The partition key of that index, if it lies elsewhere than its entities.
    IndexPartition(usize),
}

impl KeyOf {
    pub(super) const fn is_primary(self) -> bool {
        matches!(self, Self::Partition | Self::Row)
    }

    pub(super) const fn template(self, schema: &Schema) -> &Template {
        match self {
            Self::Partition | Self::IndexPartition(_) => &self.place(schema).partition,
            Self::Row | Self::Part(_) | Self::Index(_) => &self.place(schema).row,
        }
    }

    /// Returns the place that it is a template of.
    pub(crate) const fn place(self, schema: &Schema) -> &Place {
        match self {
            Self::Partition | Self::Row => schema.place(),
            Self::Part(part) => part_place(schema, part),
            Self::Index(at) | Self::IndexPartition(at) => &index(schema, at).place,
        }
    }

    /// Returns the kind of its rows.
    pub(crate) const fn kind(self, schema: &Schema) -> &'static str {
        match self {
            Self::Partition | Self::Row | Self::Part(_) => schema.kind,
            Self::Index(at) | Self::IndexPartition(at) => index(schema, at).kind,
        }
    }

    /// Returns the rows of an entity by number: its own, those of its indexes, those of its parts.
    pub(crate) const fn nth(schema: &Schema, number: usize) -> Option<Self> {
        let indexes = schema.indexes.len();
        if number == 0 {
            Some(Self::Row)
        } else if number <= indexes {
            Some(Self::Index(number - 1))
        } else if number <= indexes + schema.parts.len() {
            Some(Self::Part(number - indexes))
        } else {
            None
        }
    }

    /// Appends what it is.
    pub(super) const fn named(self, schema: &Schema, message: Message) -> Message {
        match self {
            Self::Partition => message.text("the partition key"),
            Self::Row => message.text("the row key"),
            Self::Part(part) => message.text("the row key of part ").count(part),
            Self::Index(at) => message.text("the index `").text(index(schema, at).name).text("`"),
            Self::IndexPartition(at) => {
                message.text("the partition key of the index `").text(index(schema, at).name).text("`")
            }
        }
    }

    /// Appends what it is, and its template.
    pub(crate) const fn drawn(self, schema: &Schema, message: Message) -> Message {
        self.named(schema, message).text(" (").template(self.template(schema)).text(")")
    }
}

/// Returns whether a range of the values of a field's part is a range of keys; the parts that are fields are counted from 0.
#[must_use]
pub const fn offers_range(schema: &'static Schema, place: KeyOf, part: usize) -> bool {
    match nth(parts_of(schema, place), part) {
        Some((part, is_last)) => bounds::offers_range(part, is_last),
        None => true,
    }
}

/// Returns whether the values of a field's part that start with a text are a range of keys.
#[inline]
#[must_use]
pub const fn offers_prefix(schema: &'static Schema, place: KeyOf, part: usize) -> bool {
    match nth(parts_of(schema, place), part) {
        Some((part, _)) => bounds::offers_prefix(part),
        None => true,
    }
}

/// Returns the parts of a template; none if it isn't there, as in an entity whose declaration has mistakes.
const fn parts_of(schema: &'static Schema, place: KeyOf) -> &'static [Part] {
    match place {
        KeyOf::Index(at) | KeyOf::IndexPartition(at) if at >= schema.indexes.len() => &[],
        _ => place.template(schema).parts,
    }
}

/// Returns the part, and whether nothing follows it.
const fn nth(mut parts: &'static [Part], mut at: usize) -> Option<(&'static FieldPart, bool)> {
    while let [part, rest @ ..] = parts {
        if let Part::Field(part) = part {
            if at == 0 {
                return Some((part, rest.is_empty()));
            }
            at -= 1;
        }
        parts = rest;
    }
    None
}

#[expect(clippy::indexing_slicing, reason = "an index that isn't there stops the compiler")]
pub(super) const fn index(schema: &Schema, at: usize) -> &Index {
    &schema.indexes[at]
}

#[expect(clippy::indexing_slicing, reason = "a part that isn't there stops the compiler")]
const fn part_place(schema: &Schema, part: usize) -> &Place {
    &schema.places[part]
}

#[expect(clippy::indexing_slicing, reason = "a field that isn't there stops the compiler")]
pub(super) const fn field_at(schema: &Schema, at: usize) -> &Field {
    &schema.fields[at]
}

pub(super) const fn field_name(schema: &Schema, at: usize) -> &'static str {
    field_at(schema, at).name
}
