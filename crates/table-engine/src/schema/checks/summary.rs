//! Rules about summaries and the entities that they are of.

use super::super::message::Message;
use super::super::place::is_one_table;
use super::super::summary::position;
use super::super::{Field, Index, Part, Schema, SumOf, Template};
use super::rows::same;
use super::{field_at, index};
use crate::model::EdmType;

/// A field of the summary's key is one of its source, of the same type, which is always there and not encrypted.
#[inline]
pub(super) const fn key_field(source: &Schema, summary: &Schema, field: usize) -> Option<Message> {
    if source.entity.is_empty() || summary.entity.is_empty() {
        return None;
    }
    let own = field_at(summary, field);
    let Some(at) = position(source.fields, own.name) else { return Some(missing(source, own.name)) };
    let of = field_at(source, at);
    let message = Message::new("`").text(of.name).text("` of `").text(source.entity);
    if of.encrypted {
        return Some(message.text("` is encrypted: a summary by it would tell it"));
    }
    if of.optional {
        return Some(
            message.text("` may be absent: a summary's row is found by a value that is always there"),
        );
    }
    if !is_one_type(of, own) {
        let message = message.text("` is ").text(of.edm.name()).text(", and `").text(own.name);
        let message = message.text("` of `").text(summary.entity).text("` is ").text(own.edm.name());
        return Some(message.text(": they are of one type"));
    }
    if !summary.place().gives_back(field) {
        let message =
            Message::new("the key of `").text(summary.entity).text("` doesn't give `").text(own.name);
        return Some(message.text(
            "` back: entities that differ in it would have one row, which could not say of which it is",
        ));
    }
    None
}

/// A field that is added up is an integer of the source that is not encrypted.
#[inline]
pub(super) const fn summed(source: &Schema, name: &str) -> Option<Message> {
    if source.entity.is_empty() {
        return None;
    }
    let Some(at) = position(source.fields, name) else { return Some(missing(source, name)) };
    let of = field_at(source, at);
    let message = Message::new("`").text(of.name).text("` of `").text(source.entity);
    if of.encrypted {
        return Some(message.text("` is encrypted: a sum of it would tell of it"));
    }
    if !matches!(of.edm, EdmType::Int32 | EdmType::Int64) {
        let message = message.text("` is ").text(of.edm.name());
        return Some(
            message.text(": integers alone add up exactly, so that what one gave can be taken again"),
        );
    }
    None
}

/// A number of a summary is an integer of 64 bits.
pub(super) const fn number(summary: &Schema, field: usize) -> Option<Message> {
    if summary.entity.is_empty() {
        return None;
    }
    let own = field_at(summary, field);
    if matches!(own.edm, EdmType::Int64) && !own.optional && !is_narrow(own) {
        return None;
    }
    let message = Message::new("`").text(own.name);
    Some(message.text("` is a number of a summary: its type is `i64`, or `u64` for a count"))
}

const fn is_narrow(field: &Field) -> bool {
    matches!(field.column, super::super::ColumnType::U32)
}

#[inline]
const fn is_one_type(a: &Field, b: &Field) -> bool {
    a.column.code() == b.column.code() && same(a.edm.name(), b.edm.name())
}

/// Where the rows lie, and when they come; and what a count that a function picks from needs.
#[inline]
pub(super) const fn of_source(source: &Schema, summary: &Schema, at: &Index) -> Option<Message> {
    if source.entity.is_empty() || summary.entity.is_empty() {
        return None;
    }
    let message = Message::new("`").text(summary.entity);
    if source.summary_of.is_some() {
        let message =
            Message::new("`").text(source.entity).text("` is a summary itself: `").text(summary.entity);
        return Some(message.text("` can be one of the entities that it is of"));
    }
    let own = source.place();
    let is_beside = is_one_table(at.place.table.source(), own.table.source())
        && is_one_template(&own.partition, &at.place.partition);
    if is_beside && at.arrival.is_some() {
        return Some(
            message.text(
                "` is in the partition of its entities, where it changes with them: leave out `atomic`",
            ),
        );
    }
    if !is_beside && at.arrival.is_none() {
        return Some(message.text(
            "` is in another partition than its entities: say `atomic`, so that it changes with them in one transaction",
        ));
    }
    if let Some(sums) = at.summary {
        let mut sums = sums.sums;
        while let [sum, rest @ ..] = sums {
            if matches!(sum.of, SumOf::CountWhen) && source.seals() {
                let message = message.text("` counts by a function of `").text(source.entity);
                return Some(message.text(
                    "`, which has encrypted fields: an entity that can't be opened any more could not be taken out; leave out `when`",
                ));
            }
            sums = rest;
        }
    }
    None
}

/// The name of a summary among the indexes of its source is no other's.
pub(super) const fn name_taken(schema: &Schema, at: usize) -> Option<Message> {
    let name = index(schema, at).name;
    let mut other = 0;
    while other < at {
        if same(index(schema, other).name, name) {
            let message = Message::new("there is already an index or a summary `").text(name);
            return Some(message.text("`: give the summary another kind"));
        }
        other += 1;
    }
    if same(schema.kind, name) {
        return Some(Message::new("the summary has the kind `").text(name).text("` of its own entities"));
    }
    None
}

const fn missing(source: &Schema, name: &str) -> Message {
    Message::new("`").text(source.entity).text("` has no field `").text(name).text("`")
}

/// Returns whether both templates print one text for each entity.
#[inline]
const fn is_one_template(a: &Template, b: &Template) -> bool {
    let (mut a, mut b) = (a.parts, b.parts);
    while let ([x, rest_of_a @ ..], [y, rest_of_b @ ..]) = (a, b) {
        let is_one = match (x, y) {
            (Part::Literal(x), Part::Literal(y)) => same(x, y),
            (Part::Field(x), Part::Field(y)) => x.field == y.field && same(x.source, y.source),
            _ => false,
        };
        if !is_one {
            return false;
        }
        (a, b) = (rest_of_a, rest_of_b);
    }
    a.is_empty() && b.is_empty()
}
