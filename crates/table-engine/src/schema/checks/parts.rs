//! Rules about a field's part of a template.

use table_words::key::first_character;

use super::super::format::charset::CharSet;
use super::super::format::key_type::{Format, KeyType, offset_digits, width as printed_width};
use super::super::message::Message;
use super::super::{FieldPart, Part, Schema};
use super::field_name;

/// Returns the first mistake in a part, before the `rest` of the template.
#[inline]
pub(super) const fn mistake(
    schema: &Schema,
    part: &FieldPart,
    rest: &[Part],
    is_primary: bool,
) -> Option<Message> {
    let name = field_name(schema, part.field);
    if let mistake @ Some(_) = elements(name, part, is_primary) {
        return mistake;
    }
    if let mistake @ Some(_) = optional(name, part, is_primary) {
        return mistake;
    }
    if let mistake @ Some(_) = format(name, part) {
        return mistake;
    }
    if let mistake @ Some(_) = signed(name, part) {
        return mistake;
    }
    separated(schema, part, rest)
}

/// C3: `[]` is for a collection, a collection needs it, and only an index can have several rows.
const fn elements(name: &str, part: &FieldPart, is_primary: bool) -> Option<Message> {
    let is_collection = matches!(part.key, KeyType::Each(_));
    Some(match (is_collection, part.each) {
        (true, true) if is_primary => Message::new("`").part(name, part).text(
            "` makes a row for each element, and an entity has one primary key: only an index can hold it",
        ),
        (true, false) => Message::new("`")
            .text(name)
            .text("` has several values: `{")
            .text(name)
            .text("[]}` in an index makes a row for each"),
        (false, true) => Message::new("`")
            .text(name)
            .text("` has one value: write `{")
            .text(name)
            .text("}` without the `[]`"),
        _ => return None,
    })
}

/// C3: a primary key has no part that may be missing.
const fn optional(name: &str, part: &FieldPart, is_primary: bool) -> Option<Message> {
    if is_primary && matches!(part.key, KeyType::Optional(_)) {
        let message = Message::new("`").text(name);
        return Some(message.text(
            "` is an `Option`, which only an index can hold: without its value the entity would have no key",
        ));
    }
    None
}

/// C3: a signed number says how it sorts.
#[inline]
const fn signed(name: &str, part: &FieldPart) -> Option<Message> {
    let (KeyType::Signed { bits }, Format::Plain) = (part.key.single(), part.format) else { return None };
    let pad = Message::new("0").count(offset_digits(bits));
    Some(
        Message::new("`")
            .text(name)
            .text("` is signed, and the digits of negative numbers sort backwards: write `")
            .part_as(name, part, "offset")
            .text("`, or `")
            .part_as(name, part, pad.as_str())
            .text("` if it is never negative"),
    )
}

/// C6: a format is for its types. And a time says how it is printed.
#[inline]
const fn format(name: &str, part: &FieldPart) -> Option<Message> {
    let key = part.key.single();
    let is_taken = match (part.format, key) {
        (Format::Plain, KeyType::Time) => {
            let message =
                Message::new("`").part(name, part).text("` is a time and does not say how it sorts: `");
            return Some(
                message
                    .part_as(name, part, "ticks")
                    .text("` sorts the oldest first, `")
                    .part_as(name, part, "inverted")
                    .text("` the newest"),
            );
        }
        (Format::Pad(_), KeyType::Unsigned { .. } | KeyType::Signed { .. })
        | (Format::Offset, KeyType::Signed { .. })
        | (Format::Inverted, KeyType::Unsigned { .. } | KeyType::Time)
        | (Format::PadInverted(_), KeyType::Unsigned { .. })
        | (Format::Ticks | Format::Time(_), KeyType::Time)
        | (Format::Escaped | Format::Lower, KeyType::Text(_)) => true,
        _ => false,
    };
    let is_for = match part.format.is_for() {
        Some(is_for) if !is_taken => is_for,
        _ => return None,
    };
    let is = match key {
        KeyType::Unsigned { .. } => "an unsigned integer",
        KeyType::Signed { .. } => "a signed integer",
        KeyType::Text(_) => "text",
        KeyType::Uuid => "a UUID",
        KeyType::Bool => "a truth value",
        KeyType::Time => "a time",
        KeyType::Names(_) => "one of a few names",
        KeyType::Optional(_) | KeyType::Each(_) => "",
    };
    let message = Message::new("`").part(name, part).text("` is for ").text(is_for);
    let message = message.text(", and `").text(name).text("` is ").text(is).text(": write `");
    Some(match key {
        KeyType::Unsigned { .. } => {
            message.part_as(name, part, "").text("`, or with a width, `").part_as(name, part, "06").text("`")
        }
        KeyType::Signed { .. } => message.part_as(name, part, "offset").text("`"),
        KeyType::Time => message.part_as(name, part, "ticks").text("`"),
        _ => message.part_as(name, part, "").text("`"),
    })
}

/// C4: a part of varying width that is not the last is followed by text whose first character can't occur in it.
/// Where nothing is known of the characters, the write checks it.
#[inline]
const fn separated(schema: &Schema, part: &FieldPart, rest: &[Part]) -> Option<Message> {
    let name = field_name(schema, part.field);
    let key = part.key.single();
    if printed_width(key, part.format).is_some() {
        return None;
    }
    let text = match rest {
        [] => return None,
        [Part::Literal(text), ..] if !text.is_empty() => text,
        [Part::Literal(_), ..] => "",
        [Part::Field(next), ..] => {
            return Some(
                Message::new("nothing tells where `")
                    .part(name, part)
                    .text("` ends and `")
                    .part(field_name(schema, next.field), next)
                    .text("` begins: put a character between them that `")
                    .text(name)
                    .text("` never holds"),
            );
        }
    };
    let end = first_character(text);
    match (key, part.format) {
        (_, Format::Escaped) => {
            if matches!(end.as_bytes(), b"!") {
                return None;
            }
            let message = Message::new("`!` must follow `").part(name, part);
            Some(message.text("`: it is what sorts before all that escaped text holds"))
        }
        (KeyType::Text(chars), _) => {
            let chars = if matches!(part.format, Format::Lower) { chars.folded() } else { chars };
            if is_unknown(chars) || chars.and(CharSet::of(end)).is_none() {
                return None;
            }
            let message = Message::new("`").text(end).text("` can't end `").part(name, part);
            Some(message.text("`, which may hold it: put another character there"))
        }
        (KeyType::Names(names), _) => {
            let mut rest = names;
            while let [one, others @ ..] = rest {
                if !CharSet::of(one).and(CharSet::of(end)).is_none() {
                    let message = Message::new("`").text(end).text("` can't end `").part(name, part);
                    return Some(
                        message.text("`, since `").text(one).text("` holds it: put another character there"),
                    );
                }
                rest = others;
            }
            None
        }
        _ => None,
    }
}

/// Text of a type that says nothing of its characters, folded or not.
const fn is_unknown(chars: CharSet) -> bool {
    chars.or(CharSet::CAPITALS).is_all()
}
