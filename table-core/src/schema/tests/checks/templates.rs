//! Key templates, each by itself.

use super::{EMPLOYEE, SLUG, TEXT, each, employee, said, sourced, with_partition, with_row};
use crate::schema::checks::{self, KeyOf};
use crate::schema::tests::strategies::field;
use crate::schema::{CharSet, Format, Index, KeyPart, KeyType, Part, Schema, TimeItem};

/// What is said of a row key of these parts. Field 1 is `id`, 3 is `last_name`, 4 is `email`.
fn of_row(parts: Vec<Part>) -> Option<String> {
    let schema = with_row(sourced("{..}", parts));
    said(move || checks::template(&schema, KeyOf::Row))
}

/// The same, of an index.
fn of_index(parts: Vec<Part>) -> Option<String> {
    let index = Index { place: employee::at(sourced("{..}", parts)), ..employee::BY_NAME };
    let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
    said(move || checks::template(&schema, KeyOf::Index(0)))
}

#[test]
fn c3_a_part_is_one_value_that_sorts() {
    let optional = KeyType::Optional(&TEXT);
    assert_eq!(
        of_row(vec![field(4, optional, Format::Plain)]).unwrap(),
        "`email` is an `Option`, which only an index can hold: without its value the entity would have no key"
    );
    assert_eq!(of_index(vec![field(4, optional, Format::Plain)]), None);
    let several = KeyType::Each(&TEXT);
    assert_eq!(
        of_row(vec![each(4, several)]).unwrap(),
        "`{email[]}` makes a row for each element, and an entity has one primary key: only an index can hold it"
    );
    assert_eq!(of_index(vec![each(4, several)]), None);
    assert_eq!(
        of_index(vec![field(4, several, Format::Plain)]).unwrap(),
        "`email` has several values: `{email[]}` in an index makes a row for each"
    );
    assert_eq!(
        of_index(vec![each(4, TEXT)]).unwrap(),
        "`email` has one value: write `{email}` without the `[]`"
    );
    assert_eq!(
        of_row(vec![field(1, i8::KEY, Format::Plain)]).unwrap(),
        "`id` is signed, and the digits of negative numbers sort backwards: \
         write `{id:offset}`, or `{id:03}` if it is never negative"
    );
    assert_eq!(of_row(vec![field(1, i8::KEY, Format::Offset)]), None);
    assert_eq!(of_row(vec![field(1, i8::KEY, Format::Pad(3))]), None);
}

#[test]
fn c4_a_part_that_varies_has_an_end() {
    let id = || field(1, u32::KEY, Format::Pad(6));
    let name = |format| field(3, TEXT, format);
    assert_eq!(
        of_row(vec![name(Format::Plain), id()]).unwrap(),
        "nothing tells where `{last_name}` ends and `{id:06}` begins: \
         put a character between them that `last_name` never holds"
    );
    assert_eq!(of_row(vec![name(Format::Plain), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![id(), name(Format::Plain)]), None);
    assert_eq!(
        of_row(vec![name(Format::Escaped), Part::Literal("_"), id()]).unwrap(),
        "`!` must follow `{last_name:escaped}`: it is what sorts before all that escaped text holds"
    );
    assert_eq!(of_row(vec![name(Format::Escaped), Part::Literal("!_"), id()]), None);
    assert_eq!(
        of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, which may hold it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("_-"), id()]), None);
    assert_eq!(of_row(vec![field(3, SLUG, Format::Plain), Part::Literal("é"), id()]), None);
    let umlauts = KeyType::Text(CharSet::of("ä"));
    assert_eq!(
        of_row(vec![field(3, umlauts, Format::Plain), Part::Literal("é"), id()]).unwrap(),
        "`é` can't end `{last_name}`, which may hold it: put another character there"
    );
    let states = KeyType::Names(&["open", "on-hold"]);
    assert_eq!(
        of_row(vec![field(3, states, Format::Plain), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, since `on-hold` holds it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, states, Format::Plain), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![field(3, KeyType::Names(&["on", "no"]), Format::Plain), id()]), None);
    let lower = |chars| vec![field(3, KeyType::Text(chars), Format::Lower), Part::Literal("A"), id()];
    assert_eq!(of_index(lower(CharSet::of("AB"))), None);
    assert_eq!(of_index(lower(CharSet::ALL)), None);
}

#[test]
fn c5_a_width_is_one_to_twenty_digits() {
    for (format, expected) in [
        (Format::Pad(0), Some("the width in `{id:00}` must be from 1 to 20 digits")),
        (Format::Pad(21), Some("the width in `{id:021}` must be from 1 to 20 digits")),
        (Format::PadInverted(21), Some("the width in `{id:021:inverted}` must be from 1 to 20 digits")),
        (Format::Shard(1), Some("`{id:shard(1)}` makes no shards: say at least `shard(2)`")),
        (Format::Pad(1), None),
        (Format::PadInverted(20), None),
        (Format::Shard(2), None),
    ] {
        assert_eq!(of_row(vec![field(1, u32::KEY, format)]).as_deref(), expected);
    }
}

#[test]
fn c6_a_format_is_for_its_types() {
    let said = |key, format| of_index(vec![field(3, key, format)]);
    let day = Format::Time(&[TimeItem::Year, TimeItem::Char('-'), TimeItem::DayOfYear]);
    for (key, format, expected) in [
        (
            TEXT,
            Format::Pad(6),
            "`{last_name:06}` is for an integer, and `last_name` is text: write `{last_name}`",
        ),
        (
            u8::KEY,
            Format::Offset,
            "`{last_name:offset}` is for a signed integer, and `last_name` is an unsigned integer: \
             write `{last_name}`, or with a width, `{last_name:06}`",
        ),
        (
            KeyType::Bool,
            Format::Inverted,
            "`{last_name:inverted}` is for an unsigned integer or a time, and `last_name` is a truth value: \
             write `{last_name}`",
        ),
        (
            i8::KEY,
            Format::PadInverted(3),
            "`{last_name:03:inverted}` is for an unsigned integer, and `last_name` is a signed integer: \
             write `{last_name:offset}`",
        ),
        (
            KeyType::Uuid,
            Format::Ticks,
            "`{last_name:ticks}` is for a time, and `last_name` is a UUID: write `{last_name}`",
        ),
        (TEXT, day, "`{last_name:%Y-%j}` is for a time, and `last_name` is text: write `{last_name}`"),
        (
            KeyType::Names(&["a"]),
            Format::Escaped,
            "`{last_name:escaped}` is for text, and `last_name` is one of a few names: write `{last_name}`",
        ),
        (
            KeyType::Time,
            Format::Lower,
            "`{last_name:lower}` is for text, and `last_name` is a time: write `{last_name:ticks}`",
        ),
        (
            KeyType::Time,
            Format::Plain,
            "`{last_name}` is a time and does not say how it sorts: \
             `{last_name:ticks}` sorts the oldest first, `{last_name:inverted}` the newest",
        ),
    ] {
        assert_eq!(said(key, format).unwrap(), expected);
    }
    for (key, format) in [
        (KeyType::Time, Format::Ticks),
        (KeyType::Time, Format::Inverted),
        (KeyType::Time, day),
        (KeyType::Optional(&KeyType::Time), Format::Ticks),
        (u64::KEY, Format::Inverted),
        (u64::KEY, Format::PadInverted(6)),
        (i64::KEY, Format::Offset),
        (TEXT, Format::Lower),
        (TEXT, Format::Blind),
        (KeyType::Uuid, Format::Shard(16)),
    ] {
        assert_eq!(said(key, format), None);
    }
}

#[test]
fn c14_literal_text_is_what_a_key_can_hold() {
    assert_eq!(of_row(vec![Part::Literal("a/b")]).unwrap(), "the row key holds `/`, which no key can hold");
    assert_eq!(
        of_index(vec![Part::Literal("a\tb")]).unwrap(),
        "the index `by_name` holds a character of code 9, which no key can hold"
    );
    assert_eq!(
        of_row(vec![Part::Literal("a\u{9f}")]).unwrap(),
        "the row key holds a character of code 159, which no key can hold"
    );
    assert_eq!(of_row(vec![Part::Literal(" !~é\u{a0}\u{10000}")]), None);
}

#[test]
fn c15_a_template_leaves_room_for_its_values() {
    let long =
        |units: usize| vec![Part::Literal("é".repeat(units - 10).leak()), field(1, u32::KEY, Format::Plain)];
    assert_eq!(of_row(long(512)), None);
    assert_eq!(
        of_row(long(513)).unwrap(),
        "the row key has at least 513 UTF-16 units; a key has at most 512"
    );
    assert_eq!(
        of_row(vec![Part::Literal("\u{10000}".repeat(257).leak())]).unwrap(),
        "the row key has at least 514 UTF-16 units; a key has at most 512"
    );
    let names = KeyType::Names(&["open", "on"]);
    let padded =
        |units: usize| vec![field(3, names, Format::Plain), Part::Literal("_".repeat(units - 2).leak())];
    assert_eq!(of_row(padded(512)), None);
    assert!(of_row(padded(513)).is_some());
}

#[test]
fn c20_a_partition_is_more_than_a_time() {
    let hour = Format::Time(&[TimeItem::Year, TimeItem::Hour]);
    let of = |parts| {
        let schema = with_partition(sourced("log_{at:%Y%H}", parts));
        said(move || checks::hot_partition(&schema))
    };
    let literal = || Part::Literal("log_");
    assert_eq!(
        of(vec![literal(), field(3, KeyType::Time, hour)]).unwrap(),
        "the partition key `log_{at:%Y%H}` is a time alone, so that all that is written at a time goes to one \
         partition: put what tells entities apart into it, or say `allow(hot_partition)`"
    );
    assert_eq!(of(vec![literal(), field(3, KeyType::Time, hour), field(1, u32::KEY, Format::Plain)]), None);
    assert_eq!(of(vec![field(3, KeyType::Time, Format::Shard(16))]), None);
    assert_eq!(of(vec![literal()]), None);
}
