//! Fields of a projection beside those of its entity.

use std::ops::Range;

use super::super::message::Message;
use super::super::{Field, Schema};
use crate::model::EdmType;

/// Returns the place of the field of this name, or one after all fields.
pub(super) const fn place(schema: &Schema, name: &str) -> usize {
    let mut at = 0;
    let mut fields = schema.fields;
    while let [field, rest @ ..] = fields {
        if equal(field.name.as_bytes(), name.as_bytes()) {
            return at;
        }
        fields = rest;
        at += 1;
    }
    at
}

/// Returns the place of a slot of the series of this name, or one after all fields.
pub(super) const fn place_of_slot(schema: &Schema, name: &str, slot: usize) -> usize {
    let mut at = 0;
    let mut fields = schema.fields;
    while let [field, rest @ ..] = fields {
        if let Some(found) = field.series
            && found.at == slot
            && equal(found.of.name.as_bytes(), name.as_bytes())
        {
            return at;
        }
        fields = rest;
        at += 1;
    }
    at
}

/// Returns why the projection can't have these slots of the series of this name.
#[inline]
pub(super) const fn mistake_in_slots(
    schema: &Schema,
    name: &str,
    slots: Range<usize>,
    edm: EdmType,
    takes_absent: bool,
) -> Option<Message> {
    if schema.entity.is_empty() {
        return None;
    }
    let (_, found) = schema.fields.split_at(place_of_slot(schema, name, 0));
    let [field, ..] = found else {
        return Some(Message::new("`").text(schema.entity).text("` has no series `").text(name).text("`"));
    };
    let Some(slot) = field.series else { return None };
    if slots.start >= slots.end || slots.end > slot.of.slots {
        let message =
            Message::new("the series `").text(name).text("` of `").text(schema.entity).text("` has ");
        let message =
            message.count(slot.of.slots).text(" slots, and the slots ").count(slots.start).text("..");
        return Some(message.count(slots.end).text(" are not all among them"));
    }
    misfit(schema, field, edm, takes_absent)
}

/// Returns why the projection can't have this field as what it is declared. Of a name that is none [`unknown`] tells.
#[inline]
pub(super) const fn mistake(
    schema: &Schema,
    name: &str,
    edm: EdmType,
    takes_absent: bool,
) -> Option<Message> {
    let (_, from) = schema.fields.split_at(place(schema, name));
    match from {
        [field, ..] => misfit(schema, field, edm, takes_absent),
        [] => None,
    }
}

/// Returns why the projection can't have a field of this name.
#[inline]
pub(super) const fn unknown(schema: &Schema, name: &str) -> Option<Message> {
    // The declaration of the entity does not compile, and its own messages say so.
    if schema.entity.is_empty() || place(schema, name) < schema.fields.len() {
        return None;
    }
    let message = Message::new("`").text(schema.entity).text("` has no field `").text(name).text("`");
    Some(match nearest(schema.fields, name) {
        Some(meant) => message.text("; did you mean `").text(meant).text("`?"),
        None => and_there_are(message, schema.fields),
    })
}

/// Returns the fields that there are.
const fn and_there_are(mut message: Message, mut fields: &[Field]) -> Message {
    let mut between = "; there are `";
    while let [field, rest @ ..] = fields {
        message = message.text(between).text(field.name).text("`");
        between = if rest.len() == 1 { " and `" } else { ", `" };
        fields = rest;
    }
    message
}

#[inline]
const fn misfit(schema: &Schema, field: &Field, edm: EdmType, takes_absent: bool) -> Option<Message> {
    let message = Message::new("`").text(field.name).text("` of `").text(schema.entity).text("` is ");
    // Integers widen as they are read.
    let fits = same(field.edm, edm) || same(field.edm, EdmType::Int32) && same(edm, EdmType::Int64);
    if !fits {
        let message = message.text(field.edm.name()).text(", which `").text(type_of(field.edm));
        return Some(
            message.text("` takes, and not ").text(edm.name()).text(": write the type that it has there"),
        );
    }
    if field.optional && !takes_absent {
        return Some(message.text("optional: take it as an `Option`, or with `#[property(default)]`"));
    }
    None
}

/// Returns a type of Rust that takes every value of the property's.
const fn type_of(edm: EdmType) -> &'static str {
    match edm {
        EdmType::Binary => "Vec<u8>",
        EdmType::Boolean => "bool",
        EdmType::DateTime => "Ticks",
        EdmType::Double => "f64",
        EdmType::Guid => "Uuid",
        EdmType::Int32 => "i32",
        EdmType::Int64 => "i64",
        EdmType::String => "String",
    }
}

#[expect(clippy::as_conversions, reason = "`PartialEq` can't be called in a const fn")]
const fn same(a: EdmType, b: EdmType) -> bool {
    a as u8 == b as u8
}

const fn equal(mut a: &[u8], mut b: &[u8]) -> bool {
    while let ([x, a_rest @ ..], [y, b_rest @ ..]) = (a, b) {
        if *x != *y {
            return false;
        }
        (a, b) = (a_rest, b_rest);
    }
    a.is_empty() && b.is_empty()
}

/// Returns the field whose name takes the fewest changes to make of this one, if a third of it may be wrong.
#[inline]
const fn nearest(mut fields: &[Field], name: &str) -> Option<&'static str> {
    let mut best = None;
    let mut least = name.len() / 3 + 1;
    while let [field, rest @ ..] = fields {
        let changes = distance(field.name.as_bytes(), name.as_bytes());
        if changes < least {
            (best, least) = (Some(field.name), changes);
        }
        fields = rest;
    }
    best
}

/// Names that are longer are not compared.
const LONGEST: usize = 64;

/// Returns how many bytes must be put in, taken out or replaced to make one of the other.
#[inline]
#[expect(clippy::indexing_slicing, reason = "a name is no longer than the row")]
const fn distance(a: &[u8], b: &[u8]) -> usize {
    if a.len() > LONGEST || b.len() > LONGEST {
        return usize::MAX;
    }
    // One row of the usual table, rewritten from the left.
    let mut row = [0; LONGEST + 1];
    let mut j = 0;
    while j <= b.len() {
        row[j] = j;
        j += 1;
    }
    let mut i = 0;
    while i < a.len() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut j = 0;
        while j < b.len() {
            let replaced = if a[i] == b[j] { diagonal } else { diagonal + 1 };
            diagonal = row[j + 1];
            row[j + 1] = least(replaced, least(row[j], row[j + 1]) + 1);
            j += 1;
        }
        i += 1;
    }
    row[b.len()]
}

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_changes() {
        for (a, b, changes) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("", "abc", 3),
            ("first_name", "frist_name", 2),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), changes, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes()), changes, "{b} {a}");
        }
    }
}
