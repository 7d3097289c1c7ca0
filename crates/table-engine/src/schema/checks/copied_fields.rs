//! Rules about copies of other entities' fields.

use super::super::message::Message;
use super::super::{Arrival, CopiedFields, Field, FieldPart, Part, Schema};
use super::rows::same;
use super::{field_at, field_name};

/// The source is one whose changes can keep the copy, in a place that the copy says.
#[inline]
pub(super) const fn source(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> Option<Message> {
    let message = Message::new("`").text(source.entity);
    if source.summary_of.is_some() {
        return Some(message.text(
            "` is a summary, whose rows change in no change that could keep a copy: read it beside, in one snapshot",
        ));
    }
    if source.previous.is_some() || dependent.previous.is_some() {
        let message =
            if source.previous.is_some() { message } else { Message::new("`").text(dependent.entity) };
        return Some(message.text("` is made from a previous version of itself, and is no part of a copy: leave out `from` and the version, where `was`, `default` \
             or an `Option` say what has changed, or the copy, whose fields the program keeps itself then"));
    }
    if dependent.summary_of.is_some() {
        return Some(Message::new("a summary holds no copies: nobody writes it who could keep them"));
    }
    let given = copy.key.len();
    let wanted = count(source);
    if given != wanted {
        let message = Message::new("the key of `").text(source.entity).text("` is made of ").count(wanted);
        return Some(message.text(" fields, `key(..)` names ").count(given));
    }
    match (is_beside(dependent, source, copy), copy.arrival) {
        (true, Some(arrival)) => {
            let message = Message::new("a `").text(source.entity).text("` lies in the partition of the `");
            let message = message.text(dependent.entity).text(
                "` that it is copied into: both change in one transaction in any case, without `",
            );
            Some(message.text(if matches!(arrival, Arrival::Eventual) { "eventual`" } else { "atomic`" }))
        }
        (false, None) if names_another_order(dependent, source, copy) => {
            let message = Message::new("`key(..)` names the fields of the key of `").text(source.entity);
            Some(in_order(source, message.text("`, and not in its order: ")))
        }
        (false, None) => Some(
            Message::new("a `").text(source.entity).text("` lies in another table or partition than the `").text(dependent.entity).text(
                "` that it is copied into: say `atomic`, so that both change in one transaction, which the service can't, or \
                 `eventual`, so that the copy follows",
            ),
        ),
        _ => None,
    }
}

/// Returns how many fields the key of an entity is made of.
const fn count(schema: &Schema) -> usize {
    let mut count = 0;
    while argument(schema, count).is_some() {
        count += 1;
    }
    count
}

/// Returns the part that stands first for an argument of the constructor of an entity's key.
const fn argument(schema: &Schema, wanted: usize) -> Option<&FieldPart> {
    let mut seen = 0;
    let mut nth = 0;
    while let Some(part) = part(schema, nth) {
        if is_first(schema, nth, part.field) {
            if seen == wanted {
                return Some(part);
            }
            seen += 1;
        }
        nth += 1;
    }
    None
}

/// Returns the part at this place among the fields of the partition key and then the row key.
const fn part(schema: &Schema, wanted: usize) -> Option<&FieldPart> {
    let place = schema.place();
    let mut seen = 0;
    let mut parts = place.partition.parts;
    let mut is_row = false;
    loop {
        match parts {
            [Part::Field(part), rest @ ..] => {
                if seen == wanted {
                    return Some(part);
                }
                seen += 1;
                parts = rest;
            }
            [_, rest @ ..] => parts = rest,
            [] if is_row => return None,
            [] => {
                is_row = true;
                parts = place.row.parts;
            }
        }
    }
}

const fn is_first(schema: &Schema, nth: usize, field: usize) -> bool {
    let mut before = 0;
    while before < nth {
        match part(schema, before) {
            Some(part) if part.field == field => return false,
            _ => before += 1,
        }
    }
    true
}

/// Returns whether the source lies in the dependent's partition, whatever both hold.
#[inline]
const fn is_beside(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> bool {
    let (here, there) = (dependent.place(), source.place());
    if !here.table.source().eq_ignore_ascii_case(there.table.source()) {
        return false;
    }
    let mut here = here.partition.parts;
    let mut there = there.partition.parts;
    loop {
        match (here, there) {
            ([], []) => return true,
            ([Part::Literal(a), a_rest @ ..], [Part::Literal(b), b_rest @ ..]) if same(a, b) => {
                (here, there) = (a_rest, b_rest);
            }
            ([Part::Field(a), a_rest @ ..], [Part::Field(b), b_rest @ ..]) => {
                if !refers(source, b.field, copy, a.field) || !same(a.source, b.source) {
                    return false;
                }
                (here, there) = (a_rest, b_rest);
            }
            _ => return false,
        }
    }
}

/// Returns whether the source's field has the value of this field of the dependent.
const fn refers(source: &Schema, of: usize, copy: &CopiedFields, field: usize) -> bool {
    let mut at = 0;
    let mut key = copy.key;
    while let [known, rest @ ..] = key {
        match argument(source, at) {
            Some(part) if part.field == of => return *known == field,
            _ => {}
        }
        key = rest;
        at += 1;
    }
    false
}

/// A field of the dependent and the one of the source that it is the value of are of one type. Where all would be in another
/// order, the first says so.
#[inline]
pub(super) const fn key(
    dependent: &Schema,
    source: &Schema,
    copy: &CopiedFields,
    at: usize,
) -> Option<Message> {
    if !is_mistyped(dependent, source, copy, at) {
        return None;
    }
    let (Some(place), Some(part)) = (nth(copy.key, at), argument(source, at)) else { return None };
    let (own, theirs) = (field_at(dependent, place), field_at(source, part.field));
    let message = Message::new("`").text(field_name(dependent, place)).text("` is ").text(own.edm.name());
    let message =
        message.text(", and `").text(field_name(source, part.field)).text("` of `").text(source.entity);
    let message = message.text("`, whose key it stands in, is ").text(theirs.edm.name());
    if !is_in_another_order(dependent, source, copy) {
        return Some(message);
    }
    if at > first_mistyped(dependent, source, copy) {
        return None;
    }
    Some(in_order(source, message.text(": `key(..)` names the fields in the order of that key, ")))
}

/// Returns whether some field in `key(..)` is of another type than the one in the source's key, which is said of the field.
pub(super) const fn is_any_mistyped(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> bool {
    first_mistyped(dependent, source, copy) < copy.key.len()
}

const fn first_mistyped(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> usize {
    let mut at = 0;
    while at < copy.key.len() && !is_mistyped(dependent, source, copy, at) {
        at += 1;
    }
    at
}

/// Returns whether the field that is named at this place is of another type than the one there in the source's key.
const fn is_mistyped(dependent: &Schema, source: &Schema, copy: &CopiedFields, at: usize) -> bool {
    match (nth(copy.key, at), argument(source, at)) {
        (Some(place), Some(part)) => !is_one_type(field_at(dependent, place), field_at(source, part.field)),
        _ => false,
    }
}

const fn is_one_type(a: &Field, b: &Field) -> bool {
    same(a.edm.name(), b.edm.name())
}

/// Returns whether the fields that are named would be of the right types in another order: of each type there are as many as in
/// the source's key.
#[inline]
const fn is_in_another_order(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> bool {
    let mut at = 0;
    while let Some(place) = nth(copy.key, at) {
        let of = field_at(dependent, place);
        let (mut own, mut theirs, mut other) = (0, 0, 0);
        while let (Some(place), Some(part)) = (nth(copy.key, other), argument(source, other)) {
            if is_one_type(of, field_at(dependent, place)) {
                own += 1;
            }
            if is_one_type(of, field_at(source, part.field)) {
                theirs += 1;
            }
            other += 1;
        }
        if own != theirs || other != copy.key.len() {
            return false;
        }
        at += 1;
    }
    true
}

/// Returns whether the fields that are named are called as those of the source's key, and stand in another order.
#[inline]
const fn names_another_order(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> bool {
    let (mut at, mut is_other) = (0, false);
    while let Some(place) = nth(copy.key, at) {
        let name = field_name(dependent, place);
        let (mut other, mut found) = (0, false);
        while let Some(part) = argument(source, other) {
            if same(field_name(source, part.field), name) {
                found = true;
                is_other |= other != at;
            }
            other += 1;
        }
        if !found {
            return false;
        }
        at += 1;
    }
    is_other
}

/// Returns the fields of the source's key, in its order.
const fn in_order(source: &Schema, mut message: Message) -> Message {
    let mut at = 0;
    while let Some(part) = argument(source, at) {
        message = message.text(if at == 0 { "`" } else { ", `" });
        message = message.text(field_name(source, part.field)).text("`");
        at += 1;
    }
    message
}

const fn nth(mut all: &[usize], mut at: usize) -> Option<usize> {
    while let [one, rest @ ..] = all {
        if at == 0 {
            return Some(*one);
        }
        at -= 1;
        all = rest;
    }
    None
}

/// What is copied is the source's own, readable, and shows that there is a copy.
#[inline]
pub(super) const fn fields(source: &Schema, mut copied: &[usize]) -> Option<Message> {
    let mut shows = false;
    while let [place, rest @ ..] = copied {
        let field: &Field = field_at(source, *place);
        let message = Message::new("`").text(field.name).text("` of `").text(source.entity).text("` is ");
        if field.encrypted {
            return Some(message.text("encrypted: a value opens in its own row alone, and can't be copied"));
        }
        if field.blob {
            return Some(message.text("a blob's: a copy would have to count who refers to it; leave it out"));
        }
        if source.is_copied(*place) {
            return Some(message.text("a copy itself: copy it from where it comes from"));
        }
        shows |= !field.optional;
        copied = rest;
    }
    if shows {
        return None;
    }
    let message = Message::new("every field that is copied of `").text(source.entity);
    Some(
        message.text("` may be absent: a copy holds one that is always there, which shows that there is one"),
    )
}

/// A change of the source finds who refers to it.
#[inline]
pub(super) const fn way_back(dependent: &Schema, source: &Schema, copy: &CopiedFields) -> Option<Message> {
    if dependent.way_back(copy).is_some() {
        return None;
    }
    let mut message = Message::new("a change of a `").text(source.entity).text("` could not find the `");
    message = message.text(dependent.entity).text("`s that hold a copy of it: no index of them begins with ");
    let mut key = copy.key;
    let mut is_first = true;
    while let [field, rest @ ..] = key {
        message = message.text(if is_first {
            "`"
        } else if rest.is_empty() {
            " and `"
        } else {
            ", `"
        });
        message = message.text(field_name(dependent, *field)).text("`");
        is_first = false;
        key = rest;
    }
    Some(message.text("; add `#[index(.., row = \"..\", copy = keys)]`, with those fields before all others and without `when` or `eventual`"))
}
