//! Keys read and printed as bytes, compared with the rules taken one character at a time.

use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

use super::plainly;
use super::strategies::{Values, case, template, time, unwritten};
use crate::model::{Ticks, Value, words};
use crate::schema::format::print::{ended_by, print_part};
use crate::schema::{
    CharSet, FieldPart, Format, KeyPart, KeyType, Part, PropertyValue, Template, parse, parse_bytes,
    parse_field, parse_plain_field,
};

const TIMES: [&str; 3] = ["%Y%m%d", "%j-%H%M%S", ""];

fn types() -> impl Strategy<Value = KeyType> {
    select(vec![
        u8::KEY,
        u16::KEY,
        u32::KEY,
        u64::KEY,
        i8::KEY,
        i16::KEY,
        i32::KEY,
        i64::KEY,
        KeyType::Unsigned { digits: 1, max: 100 },
        KeyType::Text(CharSet::ALL),
        KeyType::Text(CharSet::range('a', 'z').or(CharSet::of("-"))),
        KeyType::Text(CharSet::BEYOND),
        KeyType::Uuid,
        KeyType::Bool,
        KeyType::Time,
        KeyType::Names(&["a", "ab", "a/b", "é"]),
        KeyType::Optional(&u32::KEY),
        KeyType::Each(&KeyType::Text(CharSet::ALL)),
        KeyType::Optional(&KeyType::Time),
    ])
}

/// Returns every format, for every type: what no declaration may have, too.
fn formats() -> impl Strategy<Value = Format> {
    prop_oneof![
        4 => Just(Format::Plain),
        2 => (0_u8..=42).prop_map(Format::Pad),
        1 => Just(Format::Offset),
        2 => Just(Format::Inverted),
        2 => (0_u8..=42).prop_map(Format::PadInverted),
        1 => Just(Format::Ticks),
        1 => select(TIMES.to_vec()).prop_map(time),
        1 => Just(Format::Escaped),
        1 => Just(Format::Lower),
        1 => select(vec![1, 16, 100, 101, u32::MAX]).prop_map(Format::Shard),
        1 => Just(Format::Blind),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let c = prop_oneof![
        6 => proptest::char::range('a', 'f'),
        3 => proptest::char::range(' ', '~'),
        2 => select(vec!['_', '/', '\\', '#', '?', 'A', 'é', 'É', '\u{7f}', '\u{80}', '\u{9f}', '\u{a0}', '\u{e000}', '\u{10000}', '\0', '\u{1f}']),
    ];
    proptest::collection::vec(c, 0..24).prop_map(String::from_iter)
}

/// Values of every type, at every bound and about it.
fn values() -> impl Strategy<Value = Value> {
    let near = |bits: u32| (-2_i64..=2).prop_map(move |by| (1_i64 << bits).wrapping_add(by));
    let number = prop_oneof![
        0_i64..12,
        (0_u32..=63).prop_flat_map(near),
        (0_u32..=62).prop_flat_map(near).prop_map(|n| -n),
        (0_u32..19, -2_i64..=2).prop_map(|(tens, by)| 10_i64.pow(tens) + by),
        any::<i64>(),
    ];
    prop_oneof![
        3 => number.prop_map(Value::Int64),
        1 => any::<i32>().prop_map(Value::Int32),
        3 => text().prop_map(Value::String),
        1 => "[0-9a-f]{34}".prop_map(Value::String),
        1 => any::<u128>().prop_map(|id| Value::Guid(Uuid::from_u128(id))),
        1 => any::<bool>().prop_map(Value::Boolean),
        2 => prop_oneof![0..=Ticks::MAX.get(), Just(0), Just(Ticks::MAX.get())]
            .prop_map(|ticks| Value::DateTime(Ticks::new(ticks).unwrap())),
        1 => any::<f64>().prop_map(Value::Double),
    ]
}

/// Returns a template of one part, closed by a text or not.
fn closed(key: KeyType, format: Format, end: Option<&'static str>) -> Template {
    let mut parts = vec![unwritten(0, key, format)];
    parts.extend(end.map(Part::Literal));
    template(parts)
}

fn ends() -> impl Strategy<Value = Option<&'static str>> {
    select(vec![None, None, Some("_"), Some("!x"), Some("é_"), Some("\u{10000}"), Some("")])
}

fn printed_part(template: &Template, value: &Value) -> Result<String, String> {
    let Some(Part::Field(part)) = template.parts.first() else { panic!("a field") };
    let value = value.as_value_ref();
    let (mut plainly, mut quickly) = (String::from("before"), b"before".to_vec());
    let expected = plainly::print_part(part, value, plainly::ended_by(template.parts, 0), &mut plainly);
    let found = print_part(part, value, ended_by(template.parts, 0), &mut quickly);
    assert_eq!(found, expected, "{part:?} {value:?}");
    if expected.is_ok() {
        assert_eq!(String::from_utf8(quickly).unwrap(), plainly, "{part:?} {value:?}");
    }
    expected.map(|()| plainly["before".len()..].to_owned()).map_err(|reason| format!("{reason:?}"))
}

type Read = Option<Vec<(usize, Value)>>;

/// Returns what is read of a key, which both ways do alike.
fn read(template: &Template, key: &str) -> Read {
    let (mut slow, mut quick, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let owned = |field, value: PropertyValue<'_>| (field, value.into_value().unwrap());
    let expected =
        plainly::parse(template, key, |field, value| slow.push(owned(field, value))).then_some(slow);
    let found = parse(template, key, |field, value| quick.push(owned(field, value))).then_some(quick);
    assert_eq!(found, expected, "{template:?} {key:?}");
    let of_bytes = parse_bytes(template, key.as_bytes(), |field, value| bytes.push(owned(field, value)));
    assert_eq!(of_bytes.then_some(bytes), expected, "{template:?} {key:?}");
    for (field, value) in expected.iter().flatten() {
        let one = parse_field(template, key.as_bytes(), *field).and_then(PropertyValue::into_value);
        assert_eq!(one.as_ref(), Some(value), "{template:?} {key:?}");
        if words::are_plain(key.as_bytes()) {
            let one = parse_plain_field(template, key, *field).and_then(PropertyValue::into_value);
            assert_eq!(one.as_ref(), Some(value), "{template:?} {key:?}");
        }
    }
    expected
}

/// Returns the key with one character in another's place, put in or left out.
fn spoiled(key: &str, at: usize, with: &str, leave_out: usize) -> String {
    let count = key.chars().count();
    let at = at % (count + 1);
    let before: String = key.chars().take(at).collect();
    let after: String = key.chars().skip(at + leave_out).collect();
    format!("{before}{with}{after}")
}

fn spoil() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "0",
        "9",
        "1",
        ":",
        "/",
        "g",
        "f",
        "A",
        "-",
        "+",
        " ",
        "é",
        "\u{80}",
        "\u{e000}",
        "\u{10000}",
        "_",
        "!",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6_000))]

    #[test]
    fn every_part_is_printed_and_refused_alike(
        key in types(), format in formats(), end in ends(), value in values(),
    ) {
        drop(printed_part(&closed(key, format, end), &value));
    }

    #[test]
    fn every_part_is_read_and_refused_alike(
        key in types(), format in formats(), end in ends(), value in values(),
        noise in prop_oneof!["[0-9]{0,44}", "[0-9a-fA-F]{0,36}", text()],
        (at, with, leave_out) in (0_usize..64, spoil(), 0_usize..2),
    ) {
        let template = closed(key, format, end);
        let close = end.unwrap_or_default();
        if let Ok(text) = printed_part(&template, &value) {
            let key = format!("{text}{close}");
            read(&template, &key);
            read(&template, &spoiled(&key, at, with, leave_out));
        }
        read(&template, &noise);
        read(&template, &format!("{noise}{close}"));
    }

    #[test]
    fn whole_keys_are_read_and_refused_alike(
        case in case(), (at, with, leave_out) in (0_usize..64, spoil(), 0_usize..2),
    ) {
        for row in &case.rows {
            let mut text = String::new();
            if crate::schema::print(&case.template, &Values(row), &mut text).is_ok() {
                read(&case.template, &text);
                read(&case.template, &spoiled(&text, at, with, leave_out));
            }
        }
    }
}

/// The digits of a part of each width, one digit of which is another character, at each place.
#[test]
fn no_character_but_a_digit_is_read_as_one() {
    let padded =
        (0..=42_u8).flat_map(|width| [(u64::KEY, Format::Pad(width)), (i64::KEY, Format::Pad(width))]);
    // What is inverted in more digits takes more than 128 bits.
    let parts = padded.chain((0..=38).map(|width| (u64::KEY, Format::PadInverted(width))));
    let fixed = [u8::KEY, u16::KEY, u32::KEY, u64::KEY].map(|key| (key, Format::Inverted)).into_iter();
    let signed = [i8::KEY, i16::KEY, i32::KEY, i64::KEY].map(|key| (key, Format::Offset));
    let times =
        [(KeyType::Time, Format::Ticks), (KeyType::Time, Format::Inverted), (KeyType::Uuid, Format::Plain)];
    for (key, format) in parts.chain(fixed).chain(signed).chain(times) {
        let template = closed(key, format, None);
        let Some(width) = FieldPart::printed(0, key, "", format).width else { panic!("{format:?}") };
        let mut is_read = 0;
        for digit in ['0', '1', '9'] {
            let digits = String::from(digit).repeat(width);
            is_read += usize::from(read(&template, &digits).is_some());
            for at in 0..width {
                for c in ['/', ':', ' ', '+', '-', '`', 'g', 'G', '\0', '\u{7f}', '\u{80}', '\u{10ffff}'] {
                    assert_eq!(read(&template, &spoiled(&digits, at, &c.to_string(), 1)), None);
                }
            }
        }
        assert!(width == 0 || is_read > 0, "{key:?} {format:?}");
    }
}
