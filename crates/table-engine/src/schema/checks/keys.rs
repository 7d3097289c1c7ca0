//! Rules about a key as a whole.

#![expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]

use table_words::key::{is_forbidden, utf16_units};

use super::super::format::key_type::{Format, KeyType, width};
use super::super::message::Message;
use super::super::{Part, Schema, Template};
use super::{KeyOf, field_name};
use crate::limits;

/// C14: literal text holds what a key can hold.
pub(super) const fn literal(schema: &Schema, place: KeyOf, text: &str) -> Option<Message> {
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        let code = match (*byte, rest) {
            // U+0080 to U+009F.
            (0xc2, [second @ 0x80..=0x9f, ..]) => *second,
            (byte, _) if byte.is_ascii() && is_forbidden(byte as char) => byte,
            _ => {
                bytes = rest;
                continue;
            }
        };
        let message = place.named(schema, Message::new("")).text(" holds ").character(code);
        return Some(message.text(", which no key can hold"));
    }
    None
}

/// C15: what a template always prints is no longer than a key can be.
#[inline]
pub(super) const fn length(schema: &Schema, place: KeyOf) -> Option<Message> {
    let mut units = 0;
    let mut parts = place.template(schema).parts;
    while let [part, rest @ ..] = parts {
        units += match part {
            Part::Literal(text) => utf16_units(text),
            Part::Field(part) => match (part.key.single(), width(part.key, part.format)) {
                (KeyType::Names(names), _) => shortest(names),
                (_, Some(width)) => width,
                (_, None) => 0,
            },
        };
        parts = rest;
    }
    if units <= limits::KEY_UNITS {
        return None;
    }
    let message = place.named(schema, Message::new("")).text(" has at least ").number(units as u64);
    Some(message.text(" UTF-16 units; a key has at most ").number(limits::KEY_UNITS as u64))
}

#[inline]
const fn shortest(names: &[&str]) -> usize {
    let [first, rest @ ..] = names else { return 0 };
    let mut least = utf16_units(first);
    let mut rest = rest;
    while let [name, others @ ..] = rest {
        if utf16_units(name) < least {
            least = utf16_units(name);
        }
        rest = others;
    }
    least
}

/// C20: a partition key of time alone sends all writes of a time to one partition.
#[inline]
pub(super) const fn hot_partition(schema: &Schema) -> Option<Message> {
    let mut has_time = false;
    let mut parts = schema.place().partition.parts;
    while let [part, rest @ ..] = parts {
        if let Part::Field(part) = part {
            if !matches!(part.key.single(), KeyType::Time) || matches!(part.format, Format::Shard(_)) {
                return None;
            }
            has_time = true;
        }
        parts = rest;
    }
    if !has_time {
        return None;
    }
    let message = Message::new("the partition key ").template(&schema.place().partition);
    Some(message.text(
        " is a time alone, so that all that is written at a time goes to one partition: \
         put what tells entities apart into it, or say `allow(hot_partition)`",
    ))
}

/// C22: another part of the primary key keeps what a lossy part forgets. Folded text and blind tokens are for an
/// index.
#[inline]
pub(super) const fn identity(schema: &Schema) -> Option<Message> {
    let place = schema.place();
    match lossy(schema, &place.partition) {
        None => lossy(schema, &place.row),
        mistake => mistake,
    }
}

#[inline]
const fn lossy(schema: &Schema, template: &Template) -> Option<Message> {
    let mut parts = template.parts;
    while let [part, rest @ ..] = parts {
        parts = rest;
        let Part::Field(part) = part else { continue };
        let name = field_name(schema, part.field);
        if matches!(part.format, Format::Lower | Format::Blind) {
            let message = Message::new("`").part(name, part);
            return Some(message.text("` can stand in an index only: a primary key tells entities apart"));
        }
        let is_kept = part.format.is_lossless() || schema.place().gives_back(part.field);
        if !is_kept {
            let format = if matches!(part.key.single(), KeyType::Time) { "ticks" } else { "" };
            return Some(
                Message::new("`")
                    .part(name, part)
                    .text("` does not give `")
                    .text(name)
                    .text("` back, and nothing else in the primary key does, so that two entities could have one \
                           key: add `")
                    .part_as(name, part, format)
                    .text("`"),
            );
        }
    }
    None
}
