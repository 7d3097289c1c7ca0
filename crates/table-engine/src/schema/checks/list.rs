//! Rules about index lists.

use super::super::message::Message;
use super::super::{Part, Schema, Template};
use super::{field_name, index};

/// An id, the list's own key and, beside the entities, their partition say which entity it is.
#[inline]
pub(super) const fn determined(schema: &Schema, at: usize) -> Option<Message> {
    let place = schema.place();
    let partition =
        if index(schema, at).is_elsewhere() { forgotten(schema, at, &place.partition) } else { None };
    match partition {
        None => forgotten(schema, at, &place.row),
        mistake => mistake,
    }
}

/// Returns the first part of a primary key whose field neither an id nor the list's key gives back.
#[inline]
const fn forgotten(schema: &Schema, at: usize, primary: &Template) -> Option<Message> {
    let index = index(schema, at);
    let Some(list) = index.list else { return None };
    let mut parts = primary.parts;
    while let [part, rest @ ..] = parts {
        parts = rest;
        let Part::Field(part) = part else { continue };
        if !list.lists(part.field) && !index.place.gives_back(part.field) {
            return Some(
                Message::new("entities that differ in `")
                    .text(field_name(schema, part.field))
                    .text("` alone would have one id in the list `")
                    .text(index.name)
                    .text("`: add it to `of`"),
            );
        }
    }
    None
}
