//! Key templates, each by itself.

use super::{EMPLOYEE, SLUG, TEXT, each, employee, said, sourced, with_partition, with_row};
use crate::schema::checks::{self, KeyOf};
use crate::schema::tests::strategies::field;
use crate::schema::{CharSet, FieldPart, Index, KeyPart, KeyType, Part, Schema};

/// Returns what is said of a row key of these parts. Field 1 is `id`, 3 is `last_name`, 4 is `email`.
fn of_row(parts: Vec<Part>) -> Option<String> {
    let schema = with_row(sourced("{..}", parts));
    said(move || checks::template(&schema, KeyOf::Row))
}

/// Returns what is said of the row key of an index of these parts.
fn of_index(parts: Vec<Part>) -> Option<String> {
    let index = Index { place: employee::at(sourced("{..}", parts)), ..employee::BY_NAME };
    let schema = Schema { indexes: Vec::leak(vec![index]), ..EMPLOYEE };
    said(move || checks::template(&schema, KeyOf::Index(0)))
}

#[test]
fn c2_a_part_says_which_field_has_no_such_format() {
    let of = |source| said(move || _ = FieldPart::new(1, u32::KEY, source)).unwrap();
    assert_eq!(
        of("ofset"),
        "the part of field 1 is printed as `ofset`: unknown format `ofset`; there are `06` (a width), `offset`, \
         `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, `blind` and the parts of a time, as in `%Y-%m-%d`"
    );
    for (source, wrong) in [
        ("06:", "a format is missing after the colon"),
        ("inverted:06", "write `06:inverted`"),
        ("offset:06", "`offset` has a width of its own"),
        ("ticks:lower", "`ticks` and `lower` don't go together: write one of them"),
        ("0", "a width of 0 has no room for a digit"),
        ("6", "a width stands behind one zero, which it pads with: `06`"),
        ("021", "a width of 21 is too much: the widest integer has 20 digits"),
        ("shard", "a shard says how many there are: `shard(16)`"),
        ("shard(1)", "there can be 2 to 100 shards, which two digits tell apart, and not 1"),
        ("%Y\u{ad}", "`\u{ad}` can't stand in a time: only ASCII can"),
        ("%y", "unknown `%y`; a time is written with `%Y`, `%m`, `%d`, `%H`, `%M`, `%S` or `%j`"),
        ("%Y%", "`%` stands alone; a time is written with `%Y`, `%m`, `%d`, `%H`, `%M`, `%S` or `%j`"),
    ] {
        assert_eq!(of(source), format!("the part of field 1 is printed as `{source}`: {wrong}"));
    }
}

#[test]
fn c3_a_part_is_one_value_that_sorts() {
    let optional = KeyType::Optional(&TEXT);
    assert_eq!(
        of_row(vec![field(4, optional, "")]).unwrap(),
        "`email` is an `Option`, which only an index can hold: without its value the entity would have no key"
    );
    assert_eq!(of_index(vec![field(4, optional, "")]), None);
    let several = KeyType::Each(&TEXT);
    assert_eq!(
        of_row(vec![each(4, several)]).unwrap(),
        "`{email[]}` makes a row for each element, and an entity has one primary key: only an index can hold it"
    );
    assert_eq!(of_index(vec![each(4, several)]), None);
    assert_eq!(
        of_index(vec![field(4, several, "")]).unwrap(),
        "`email` has several values: `{email[]}` in an index makes a row for each"
    );
    assert_eq!(
        of_index(vec![each(4, TEXT)]).unwrap(),
        "`email` has one value: write `{email}` without the `[]`"
    );
    assert_eq!(
        of_row(vec![field(1, i8::KEY, "")]).unwrap(),
        "`id` is signed, and the digits of negative numbers sort backwards: \
         write `{id:offset}`, or `{id:03}` if it is never negative"
    );
    assert_eq!(of_row(vec![field(1, i8::KEY, "offset")]), None);
    assert_eq!(of_row(vec![field(1, i8::KEY, "03")]), None);
}

#[test]
fn c4_a_part_that_varies_has_an_end() {
    let id = || field(1, u32::KEY, "06");
    let name = |format| field(3, TEXT, format);
    assert_eq!(
        of_row(vec![name(""), id()]).unwrap(),
        "nothing tells where `{last_name}` ends and `{id:06}` begins: \
         put a character between them that `last_name` never holds"
    );
    assert_eq!(of_row(vec![name(""), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![id(), name("")]), None);
    assert_eq!(
        of_row(vec![name("escaped"), Part::Literal("_"), id()]).unwrap(),
        "`!` must follow `{last_name:escaped}`: it is what sorts before all that escaped text holds"
    );
    assert_eq!(of_row(vec![name("escaped"), Part::Literal("!_"), id()]), None);
    assert_eq!(
        of_row(vec![field(3, SLUG, ""), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, which may hold it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, SLUG, ""), Part::Literal("_-"), id()]), None);
    assert_eq!(of_row(vec![field(3, SLUG, ""), Part::Literal("é"), id()]), None);
    let umlauts = KeyType::Text(CharSet::of("ä"));
    assert_eq!(
        of_row(vec![field(3, umlauts, ""), Part::Literal("é"), id()]).unwrap(),
        "`é` can't end `{last_name}`, which may hold it: put another character there"
    );
    let states = KeyType::Names(&["open", "on-hold"]);
    assert_eq!(
        of_row(vec![field(3, states, ""), Part::Literal("-"), id()]).unwrap(),
        "`-` can't end `{last_name}`, since `on-hold` holds it: put another character there"
    );
    assert_eq!(of_row(vec![field(3, states, ""), Part::Literal("_"), id()]), None);
    assert_eq!(of_row(vec![field(3, KeyType::Names(&["on", "no"]), ""), id()]), None);
    let lower = |chars| vec![field(3, KeyType::Text(chars), "lower"), Part::Literal("A"), id()];
    assert_eq!(of_index(lower(CharSet::of("AB"))), None);
    assert_eq!(of_index(lower(CharSet::ALL)), None);
}

#[test]
fn c6_a_format_is_for_its_types() {
    let said = |key, format| of_index(vec![field(3, key, format)]);
    let day = "%Y-%j";
    for (key, format, expected) in [
        (TEXT, "06", "`{last_name:06}` is for an integer, and `last_name` is text: write `{last_name}`"),
        (
            u8::KEY,
            "offset",
            "`{last_name:offset}` is for a signed integer, and `last_name` is an unsigned integer: \
             write `{last_name}`, or with a width, `{last_name:06}`",
        ),
        (
            KeyType::Bool,
            "inverted",
            "`{last_name:inverted}` is for an unsigned integer or a time, and `last_name` is a truth value: \
             write `{last_name}`",
        ),
        (
            i8::KEY,
            "03:inverted",
            "`{last_name:03:inverted}` is for an unsigned integer, and `last_name` is a signed integer: \
             write `{last_name:offset}`",
        ),
        (
            KeyType::Uuid,
            "ticks",
            "`{last_name:ticks}` is for a time, and `last_name` is a UUID: write `{last_name}`",
        ),
        (TEXT, day, "`{last_name:%Y-%j}` is for a time, and `last_name` is text: write `{last_name}`"),
        (
            KeyType::Names(&["a"]),
            "escaped",
            "`{last_name:escaped}` is for text, and `last_name` is one of a few names: write `{last_name}`",
        ),
        (
            KeyType::Time,
            "lower",
            "`{last_name:lower}` is for text, and `last_name` is a time: write `{last_name:ticks}`",
        ),
        (
            KeyType::Time,
            "",
            "`{last_name}` is a time and does not say how it sorts: \
             `{last_name:ticks}` sorts the oldest first, `{last_name:inverted}` the newest",
        ),
    ] {
        assert_eq!(said(key, format).unwrap(), expected);
    }
    for (key, format) in [
        (KeyType::Time, "ticks"),
        (KeyType::Time, "inverted"),
        (KeyType::Time, day),
        (KeyType::Optional(&KeyType::Time), "ticks"),
        (u64::KEY, "inverted"),
        (u64::KEY, "06:inverted"),
        (i64::KEY, "offset"),
        (TEXT, "lower"),
        (TEXT, "blind"),
        (KeyType::Uuid, "shard(16)"),
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
    let long = |units: usize| vec![Part::Literal("é".repeat(units - 10).leak()), field(1, u32::KEY, "")];
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
    let padded = |units: usize| vec![field(3, names, ""), Part::Literal("_".repeat(units - 2).leak())];
    assert_eq!(of_row(padded(512)), None);
    assert!(of_row(padded(513)).is_some());
}

#[test]
fn c20_a_partition_is_more_than_a_time() {
    let hour = "%Y%H";
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
    assert_eq!(of(vec![literal(), field(3, KeyType::Time, hour), field(1, u32::KEY, "")]), None);
    assert_eq!(of(vec![field(3, KeyType::Time, "shard(16)")]), None);
    assert_eq!(of(vec![literal()]), None);
}
