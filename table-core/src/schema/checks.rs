//! The rules of a declaration that need a type's constants, for `const _: () = ..` in generated code.
//!
//! Each rule is a function that gives the message of the first mistake it sees, with its number and its English
//! above it. The functions here run them and stop the compiler, at the place in the user's code from which they
//! are called. After a mistake in a template the rules that build on templates keep silent, so that one mistake
//! gives one message.

#![expect(clippy::large_types_passed_by_value, reason = "the compiler builds the messages, not the program")]

mod keys;
mod parts;
mod rows;

use super::message::Message;
use super::{Index, Part, Schema, Template};

/// One of an entity's key templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The partition key.
    Partition,
    /// The row key.
    Row,
    /// The row key of the index at this place among [`Schema::indexes`].
    Index(usize),
}

impl Place {
    const fn is_primary(self) -> bool {
        matches!(self, Self::Partition | Self::Row)
    }

    const fn template(self, schema: &Schema) -> &Template {
        match self {
            Self::Partition => &schema.partition,
            Self::Row => &schema.row,
            Self::Index(at) => &index(schema, at).row,
        }
    }

    /// Appends what it is.
    const fn named(self, schema: &Schema, message: Message) -> Message {
        match self {
            Self::Partition => message.text("the partition key"),
            Self::Row => message.text("the row key"),
            Self::Index(at) => message.text("the index `").text(index(schema, at).name).text("`"),
        }
    }

    /// Appends what it is, and its template.
    const fn drawn(self, schema: &Schema, message: Message) -> Message {
        self.named(schema, message).text(" (").template(self.template(schema)).text(")")
    }
}

#[expect(clippy::indexing_slicing, reason = "an index that isn't there stops the compiler")]
const fn index(schema: &Schema, at: usize) -> &Index {
    &schema.indexes[at]
}

#[expect(clippy::indexing_slicing, reason = "a field that isn't there stops the compiler")]
const fn field_name(schema: &Schema, at: usize) -> &'static str {
    schema.fields[at].name
}

/// C21, as far as it takes more than the bound: a property is there or absent, and nothing between.
/// `is_nested` is [`Property::NESTED`](super::Property::NESTED) of the field's type.
#[track_caller]
pub const fn property(name: &str, is_nested: bool) {
    if is_nested {
        let message = Message::new("`").text(name).text("` is an `Option` of an `Option`");
        message.text(", and a property is there or absent: write one `Option`").refuse();
    }
}

/// C10 and C12, where fields are flattened: properties have names of their own, and a row holds all of them.
#[track_caller]
pub const fn properties(schema: &Schema) {
    if let Some(message) = rows::properties(schema) {
        message.refuse();
    }
}

/// C3, C4, C5, C6, C14 and C15: what one key template says.
#[track_caller]
pub const fn template(schema: &Schema, place: Place) {
    if let Some(message) = template_mistake(schema, place) {
        message.refuse();
    }
}

/// C22: the primary key tells entities apart.
#[track_caller]
pub const fn identity(schema: &Schema) {
    if let Some(message) = sound(schema, keys::identity(schema)) {
        message.refuse();
    }
}

/// C20: the partition key is more than a time. Not called for `allow(hot_partition)`.
#[track_caller]
pub const fn hot_partition(schema: &Schema) {
    if let Some(message) = sound(schema, keys::hot_partition(schema)) {
        message.refuse();
    }
}

/// C7: no row of the index can have the key of another row of the entity's.
#[track_caller]
pub const fn disjoint(schema: &Schema, index: usize) {
    if let Some(message) = sound(schema, rows::disjoint(schema, index)) {
        message.refuse();
    }
}

/// C25: the kinds of a set are of one table and have names of their own. C7, of two kinds in one table: no row of
/// one can have the key of a row of the other.
#[track_caller]
pub const fn kinds(a: &Schema, b: &Schema) {
    if let Some(message) = rows::apart(a, b) {
        message.refuse();
    }
    if let Some(message) = sound(a, sound(b, rows::disjoint_kinds(a, b))) {
        message.refuse();
    }
}

/// C8: the index tells entities apart, or says `unique`.
#[track_caller]
pub const fn determined(schema: &Schema, index: usize) {
    if let Some(message) = sound(schema, rows::determined(schema, index)) {
        message.refuse();
    }
}

/// C7, for kinds that meet when the program runs: what is wrong, if anything is.
#[allow(dead_code, reason = "for `Store::table`, which is not written yet")]
pub(crate) fn kinds_that_meet(a: &Schema, b: &Schema) -> Option<String> {
    rows::disjoint_kinds(a, b).map(|message| message.as_str().to_owned())
}

/// The mistake, if the templates have none.
const fn sound(schema: &Schema, mistake: Option<Message>) -> Option<Message> {
    if mistake.is_none() {
        return None;
    }
    let mut is_sound = template_mistake(schema, Place::Partition).is_none()
        && template_mistake(schema, Place::Row).is_none();
    let mut at = 0;
    while is_sound && at < schema.indexes.len() {
        is_sound = template_mistake(schema, Place::Index(at)).is_none();
        at += 1;
    }
    if is_sound { mistake } else { None }
}

const fn template_mistake(schema: &Schema, place: Place) -> Option<Message> {
    let mut parts = place.template(schema).parts;
    while let [part, rest @ ..] = parts {
        let mistake = match part {
            Part::Literal(text) => keys::literal(schema, place, text),
            Part::Field(part) => {
                let name = field_name(schema, part.field);
                let is_primary = place.is_primary();
                first(
                    first(parts::elements(name, part, is_primary), parts::optional(name, part, is_primary)),
                    first(
                        first(parts::format(name, part), parts::signed(name, part)),
                        first(parts::width(name, part), parts::separated(schema, part, rest)),
                    ),
                )
            }
        };
        if mistake.is_some() {
            return mistake;
        }
        parts = rest;
    }
    keys::length(schema, place)
}

const fn first(a: Option<Message>, b: Option<Message>) -> Option<Message> {
    if a.is_some() { a } else { b }
}
