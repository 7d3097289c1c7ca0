//! Keys printed and taken apart.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;
use uuid::Uuid;

use super::strategies::{Values, case, field, template, unwritten};
use crate::error::ErrorKind;
use crate::model::{EdmType, Ticks, Value, ValueRef, key};
use crate::schema::{
    CharSet, Field, FieldPart, Format, KeyPart, KeyType, KeyValues, Part, Property, PropertyValue, Template,
    ValueError, parse, parse_field, print, print_all,
};

fn taken_apart(template: &Template, text: &str) -> Option<BTreeMap<usize, Value>> {
    let mut found = BTreeMap::new();
    parse(template, text, |field, value| {
        found.insert(field, value.into_value().unwrap());
    })
    .then_some(found)
}

/// Templates of one part; `n` is field 0.
fn one(key: KeyType, source: &'static str) -> Template {
    template(vec![field(0, key, source)])
}

fn printed(template: &Template, values: &[Value]) -> Result<String, String> {
    const FIELDS: &[Field] = &[
        Field { name: "n", property: "N", edm: EdmType::String, optional: false, ..Field::PLAIN },
        Field { name: "m", property: "M", edm: EdmType::String, optional: false, ..Field::PLAIN },
    ];
    let mut key = String::new();
    match print(template, &Values(values), &mut key) {
        Ok(_) => Ok(key),
        Err(error) => Err(error.into_error(template, FIELDS).to_string()),
    }
}

#[test]
fn one_field_is_read_only_of_a_key_that_has_the_template_s_literals_and_lengths() {
    let digits = field(1, u32::KEY, "03");
    let wanted = template(vec![Part::Literal("e_"), digits, Part::Literal("_"), field(0, String::KEY, "")]);
    let read = |key| parse_field(&wanted, str::as_bytes(key), 1).and_then(PropertyValue::into_value);
    assert_eq!(read("e_007_x"), Some(Value::Int64(7)));
    for key in ["", "e", "e_", "e_07", "e_007", "e_0070x", "f_007_x", "e_é7_x", "e_00x_x"] {
        assert_eq!(read(key), None, "{key}");
    }
    assert_eq!(parse_field(&template(vec![digits]), b"0071", 1), None);
    assert_eq!(parse_field(&wanted, b"e_007_x", 2), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_printed_is_taken_apart_and_is_a_key(case in case()) {
        let fields = case.fields();
        for row in &case.rows {
            let mut text = String::from("before");
            if print(&case.template, &Values(row), &mut text).is_err() {
                continue;
            }
            let text = text.strip_prefix("before").unwrap();
            prop_assert!(key::check(key::Part::Row, text).is_ok(), "{:?}", text);
            let found = taken_apart(&case.template, text);
            let expected: BTreeMap<_, _> = fields
                .iter()
                .filter(|part| part.format.is_lossless())
                .map(|part| (part.field, row[part.field].clone()))
                .collect();
            for (field, value) in &expected {
                let one = parse_field(&case.template, text.as_bytes(), *field).and_then(PropertyValue::into_value);
                prop_assert_eq!(one.as_ref(), Some(value), "{:?}", text);
            }
            prop_assert_eq!(found, Some(expected), "{:?}", text);
        }
    }

    /// Lossless keys that can be read are just those that can be written.
    #[test]
    fn what_is_read_is_what_is_written(case in case(), noise in "[0-9a-f_!~.$éABab-]{0,24}") {
        let fields = case.fields();
        if !fields.iter().all(|part| part.format.is_lossless()) {
            return Ok(());
        }
        if let Some(found) = taken_apart(&case.template, &noise) {
            let row: Vec<Value> = found.into_values().collect();
            let mut text = String::new();
            prop_assert_eq!(print(&case.template, &Values(&row), &mut text), Ok(true));
            prop_assert_eq!(text, noise);
        }
    }
}

#[test]
fn keys_are_those_of_the_format() {
    let time: Ticks = "2014-07-31T18:05:09Z".parse().unwrap();
    let id = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    let text = KeyType::Text(CharSet::ALL);
    for (key, format, value, expected) in [
        (u8::KEY, "", Value::Int32(7), "007"),
        (u32::KEY, "", Value::Int64(7), "0000000007"),
        (u64::KEY, "", Value::Int64(i64::MAX), "09223372036854775807"),
        (u32::KEY, "06", Value::Int64(223), "000223"),
        (u32::KEY, "020", Value::Int64(223), "00000000000000000223"),
        (u16::KEY, "inverted", Value::Int32(1), "65534"),
        (u64::KEY, "inverted", Value::Int64(0), "18446744073709551615"),
        (u32::KEY, "06:inverted", Value::Int64(223), "999776"),
        (u32::KEY, "020:inverted", Value::Int64(1), "99999999999999999998"),
        (i8::KEY, "offset", Value::Int32(-128), "000"),
        (i16::KEY, "offset", Value::Int32(0), "32768"),
        (i32::KEY, "offset", Value::Int32(-1), "2147483647"),
        (i64::KEY, "offset", Value::Int64(i64::MAX), "18446744073709551615"),
        (i32::KEY, "04", Value::Int32(12), "0012"),
        (KeyType::Time, "ticks", Value::DateTime(time), "0635424267090000000"),
        (KeyType::Time, "inverted", Value::DateTime(time), "2519954708909999999"),
        (KeyType::Time, "%Y%m%dT%H%M%S.%j", Value::DateTime(time), "20140731T180509.212"),
        (KeyType::Uuid, "", Value::Guid(id), "0123456789abcdef0123456789abcdef"),
        (KeyType::Bool, "", Value::Boolean(true), "1"),
        (KeyType::Names(&["open", "closed"]), "", Value::from("open"), "open"),
        (text, "", Value::from("O'Neil & Co."), "O'Neil & Co."),
        (text, "escaped", Value::from("a/b c"), "a.1b$20c"),
        (text, "lower", Value::from("Ärger"), "ärger"),
    ] {
        let template = one(key, format);
        assert_eq!(printed(&template, std::slice::from_ref(&value)).as_deref(), Ok(expected), "{format:?}");
        let found = taken_apart(&template, expected).unwrap();
        assert_eq!(found.get(&0), Format::parse(format).unwrap().is_lossless().then_some(&value));
    }
}

/// Frozen: a change would look for entities in other partitions than they are in.
#[test]
fn shards_are_those_of_the_format() {
    let text = KeyType::Text(CharSet::ALL);
    let time = Value::DateTime(Ticks::UNIX_EPOCH);
    for (key, value, sixteen, thousand) in [
        (text, Value::from(""), "02", "138"),
        (text, Value::from("jonesj@contoso.com"), "15", "143"),
        (text, Value::from("a/b"), "04", "148"),
        (u32::KEY, Value::Int64(223), "08", "200"),
        // A field that grows stays in its shard.
        (u8::KEY, Value::Int32(223), "08", "200"),
        (i32::KEY, Value::Int32(-223), "06", "174"),
        (KeyType::Bool, Value::Boolean(true), "08", "464"),
        (KeyType::Uuid, Value::Guid(Uuid::from_u128(1)), "00", "568"),
        (KeyType::Time, time, "00", "520"),
    ] {
        let shards = |of| {
            printed(&template(vec![unwritten(0, key, Format::Shard(of))]), std::slice::from_ref(&value))
                .unwrap()
        };
        assert_eq!((shards(16).as_str(), shards(1_000).as_str()), (sixteen, thousand), "{value:?}");
        assert_eq!(shards(1), "00");
    }
}

#[test]
fn what_a_key_cannot_hold_is_an_error_that_says_what_can() {
    let refused = |key, format, value: Value| printed(&one(key, format), &[value]).unwrap_err();
    let text = KeyType::Text(CharSet::ALL);
    assert_eq!(
        refused(u32::KEY, "06", Value::Int64(1_000_000)),
        "`n` is 1000000, and `{n:06}` in the key `{..}` has 6 digits; give it as many as the largest number will have"
    );
    assert_eq!(
        refused(i32::KEY, "06", Value::Int32(-5)),
        "`n` is -5, and `{n:06}` in the key `{..}` is for numbers from zero; `{n:offset}` takes a signed number"
    );
    assert_eq!(
        refused(text, "", Value::from("a/b")),
        "`n` holds '/', and the key `{..}` may hold neither `/`, `\\`, `#`, `?` nor control characters; \
         `{n:escaped}` takes any text"
    );
    assert_eq!(
        refused(text, "", Value::from("x".repeat(513).as_str())),
        "`n` takes the key `{..}` to 513 UTF-16 units; a key may have 512"
    );
    assert_eq!(refused(u8::KEY, "", Value::Int32(256)), "`n` is 256, which its type can't hold");
    assert_eq!(
        refused(KeyType::Text(CharSet::of("ab")), "", Value::from("abc")),
        "`n` holds 'c', which its type says it never does"
    );
    assert_eq!(
        refused(KeyType::Names(&["open"]), "", Value::from("shut")),
        "`n` is none of the names of its type"
    );
    assert_eq!(refused(text, "blind", Value::from("ab")), "`n` has no token for `{n:blind}`");
    assert_eq!(refused(u8::KEY, "", Value::from("a")), "`n`: expected Edm.Int32, found Edm.String");
    let pair = template(vec![field(0, text, ""), Part::Literal("_"), field(1, text, "")]);
    assert_eq!(
        printed(&pair, &[Value::from("x_y"), Value::from("z")]).unwrap_err(),
        "`n` holds '_', which ends it in the key `{..}`; choose another separator, or `{n:escaped}!`, which takes \
         any text"
    );
    assert_eq!(printed(&pair, &[Value::from("x"), Value::from("y_z")]).as_deref(), Ok("x_y_z"));
    let mut key = String::new();
    let error = print(&one(u32::KEY, "01"), &Values(&[Value::Int64(10)]), &mut key).unwrap_err();
    assert_eq!(error.field, 0);
    assert_eq!(error.into_error(&pair, &[]).kind(), ErrorKind::ValueOutOfRange);
}

/// An article with tags and languages.
struct Article(Vec<&'static str>, Vec<i32>, Option<u8>);

impl KeyValues for Article {
    fn value(&self, _: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        self.2.to_property()
    }

    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        Ok(match part.field {
            0 => self.0.iter().map(|tag| PropertyValue::Borrowed(ValueRef::String(tag))).collect(),
            _ => self.1.iter().map(|n| PropertyValue::Borrowed(ValueRef::Int32(*n))).collect(),
        })
    }
}

#[test]
fn each_element_gives_a_key_and_none_gives_no_key() {
    let each = |field, key, format| Part::Field(FieldPart::each(field, key, format));
    let tags = KeyType::Each(&KeyType::Text(CharSet::ALL));
    let index = template(vec![
        each(0, tags, "lower"),
        Part::Literal("_"),
        each(1, KeyType::Each(&u16::KEY), "02"),
        Part::Literal("_"),
        field(2, KeyType::Optional(&u8::KEY), ""),
    ]);
    let all = |template: &Template, article: &Article| {
        let (mut text, mut places) = (b"before".to_vec(), Vec::new());
        let printed = print_all(template, article, &mut text, &mut |place| places.push(place));
        let key = |place: &Range<usize>| String::from_utf8(text[place.clone()].to_vec()).unwrap();
        let keys = || places.iter().map(key).collect::<Vec<_>>();
        printed.map(|()| keys()).map_err(|e| e.into_error(template, &[]).kind())
    };
    let keys = |article: &Article| all(&index, article);
    assert_eq!(
        keys(&Article(vec!["b", "a", "b", "B"], vec![2, 1, 2], Some(7))).unwrap(),
        ["a_01_007", "a_02_007", "b_01_007", "b_02_007"]
    );
    assert!(keys(&Article(vec!["a"], vec![1], None)).unwrap().is_empty());
    assert!(keys(&Article(vec!["a"], vec![], Some(1))).unwrap().is_empty());
    assert_eq!(keys(&Article(vec!["a"], vec![100], Some(1))), Err(ErrorKind::ValueOutOfRange));
    let many = Article(vec!["a", "b"], (0..51).collect(), Some(1));
    assert_eq!(keys(&many), Err(ErrorKind::BatchLength));
    assert_eq!(all(&one(u8::KEY, ""), &Article(vec![], vec![], Some(1))).unwrap(), ["001"]);
}

#[test]
fn what_no_key_prints_is_not_read() {
    let text = KeyType::Text(CharSet::ALL);
    for (key, format, never) in [
        (u8::KEY, "", vec!["", "7", "0007", "256", "-01", "+01", " 01", "00a", "é1"]),
        (u32::KEY, "02:inverted", vec!["100", "1", "a0"]),
        (u64::KEY, "", vec!["18446744073709551615", "99999999999999999999"]),
        (i8::KEY, "offset", vec!["256", "999"]),
        (i8::KEY, "03", vec!["128", "999", "-01"]),
        (KeyType::Bool, "", vec!["", "2", "10"]),
        (KeyType::Uuid, "", vec!["0123456789ABCDEF0123456789abcdef", "0123"]),
        (KeyType::Time, "ticks", vec!["3155378976000000000"]),
        (KeyType::Names(&["a", "ab"]), "", vec!["", "b", "abc"]),
        (text, "escaped", vec!["a b", "$", "~a"]),
        (text, "", vec!["a/b", "\u{80}"]),
        (text, "lower", vec!["A", "a#"]),
        (KeyType::Text(CharSet::of("a")), "", vec!["b"]),
        (text, "shard(16)", vec!["16", "1", "ab", "001"]),
        (text, "blind", vec!["", "0123456789abcdef0123456789abcdef0"]),
        (KeyType::Time, "%Y-", vec!["2014", "2014.", "201a-"]),
    ] {
        for never in never {
            assert_eq!(taken_apart(&one(key, format), never), None, "{format:?} {never:?}");
        }
    }
}
