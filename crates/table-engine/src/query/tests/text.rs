//! Filters as text: both ways, and every way to get it wrong.

use proptest::prelude::*;
use uuid::Uuid;

use super::super::filter::Filter;
use super::super::property::prop;
use super::strategies::filter;
use crate::error::ErrorKind;
use crate::model::{Ticks, Value};

fn parsed(text: &str) -> Filter {
    Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn every_constant_is_read() {
    let guid = Uuid::parse_str("c9da6455-213d-42c9-9a79-3e9149a57833").unwrap();
    let time: Ticks = "2014-07-31T18:00:00Z".parse().unwrap();
    for (text, value) in [
        ("'Jones'", Value::from("Jones")),
        ("''", Value::from("")),
        ("'O''Hara'", Value::from("O'Hara")),
        ("''''", Value::from("'")),
        ("'a and b) eq \u{1f600}'", Value::from("a and b) eq \u{1f600}")),
        ("123", Value::from(123)),
        ("-123", Value::from(-123)),
        ("007", Value::from(7)),
        ("2147483647", Value::from(i32::MAX)),
        ("-2147483648", Value::from(i32::MIN)),
        ("123L", Value::from(123_i64)),
        ("-9223372036854775808L", Value::from(i64::MIN)),
        ("1.5", Value::from(1.5)),
        ("-0.0", Value::from(-0.0)),
        ("1e3", Value::from(1e3)),
        ("1E+3", Value::from(1e3)),
        ("-1.5e-3", Value::from(-1.5e-3)),
        ("NaN", Value::from(f64::NAN)),
        ("INF", Value::from(f64::INFINITY)),
        ("-INF", Value::from(f64::NEG_INFINITY)),
        ("true", Value::from(true)),
        ("false", Value::from(false)),
        ("datetime'2014-07-31T18:00:00Z'", Value::from(time)),
        ("datetime'2014-07-31T18:00:00.0000000Z'", Value::from(time)),
        ("datetime'2014-07-31T18:00'", Value::from(time)),
        ("datetime'2014-07-31T18:00:00+00:00'", Value::from(time)),
        ("datetime'2014-07-31T18:00-00:00'", Value::from(time)),
        ("datetime'2014-07-31T19:00:00+01:00'", Value::from(time)),
        ("datetime'2014-07-31T19:00:00.0000000+01:00'", Value::from(time)),
        ("datetime'2014-07-31T12:30:00-05:30'", Value::from(time)),
        ("datetime'2014-08-01T17:59:00+23:59'", Value::from(time)),
        ("datetime'2014-07-30T18:01-23:59'", Value::from(time)),
        ("datetime'0001-01-01T01:00:00+01:00'", Value::from(Ticks::MIN)),
        ("datetime'9999-12-31T22:59:59.9999999-01:00'", Value::from(Ticks::MAX)),
        ("guid'c9da6455-213d-42c9-9a79-3e9149a57833'", Value::from(guid)),
        ("guid'C9DA6455-213D-42C9-9A79-3E9149A57833'", Value::from(guid)),
        ("X'c0FFee'", Value::from(&[0xc0, 0xff, 0xee][..])),
        ("binary'00'", Value::from(&[0][..])),
        ("X''", Value::from(&[][..])),
    ] {
        assert_eq!(parsed(&format!("A eq {text}")), prop("A").eq(value.clone()), "{text}");
        assert_eq!(parsed(&format!("{text} gt A")), prop("A").lt(value), "{text}");
    }
}

#[test]
fn a_time_with_an_offset_prints_in_utc() {
    for (text, printed) in [
        ("datetime'2014-07-31T18:00:00+01:00'", "datetime'2014-07-31T17:00:00Z'"),
        ("datetime'2014-12-31T23:30:00.5-01:30'", "datetime'2015-01-01T01:00:00.5000000Z'"),
    ] {
        assert_eq!(parsed(&format!("A eq {text}")).to_string(), format!("A eq {printed}"));
    }
}

#[test]
fn every_operator_is_read_and_a_constant_may_stand_first() {
    let a = || prop("A");
    for (text, filter) in [
        ("A eq 1", a().eq(1)),
        ("A ne 1", a().ne(1)),
        ("A gt 1", a().gt(1)),
        ("A ge 1", a().ge(1)),
        ("A lt 1", a().lt(1)),
        ("A le 1", a().le(1)),
        ("1 eq A", a().eq(1)),
        ("1 ne A", a().ne(1)),
        ("1 gt A", a().lt(1)),
        ("1 ge A", a().le(1)),
        ("1 lt A", a().gt(1)),
        ("1 le A", a().ge(1)),
    ] {
        assert_eq!(parsed(text), filter, "{text}");
    }
}

#[test]
fn not_binds_tighter_than_and_tighter_than_or() {
    let (a, b, c) = (|| prop("A").eq(1), || prop("B").is_true(), || prop("C").eq(3));
    for (text, filter, printed) in [
        ("A eq 1 or B and C eq 3", a() | b() & c(), ""),
        ("A eq 1 and B or C eq 3", a() & b() | c(), ""),
        ("(A eq 1 or B) and C eq 3", (a() | b()) & c(), ""),
        ("not A eq 1 and B", !a() & b(), "not (A eq 1) and B"),
        ("not (A eq 1) or B", !a() | b(), ""),
        ("not (A eq 1 and B)", !(a() & b()), ""),
        ("not B and not not C eq 3", !b() & c(), "not B and C eq 3"),
        ("not(not(not(B)))", !b(), "not B"),
        ("((A eq 1))and(B)", a() & b(), "A eq 1 and B"),
        (" \t( A  eq\n1 ) ", a(), "A eq 1"),
        ("A eq 1 and (B and C eq 3)", a() & b() & c(), "A eq 1 and B and C eq 3"),
        ("A eq'x'", prop("A").eq("x"), "A eq 'x'"),
        ("andy eq 1 or nothing", prop("andy").eq(1) | prop("nothing").is_true(), ""),
        ("datetime eq 1 and X", prop("datetime").eq(1) & prop("X").is_true(), ""),
        ("größe eq 1", prop("größe").eq(1), ""),
        ("a\u{301} eq 1 and a\u{203f}b", prop("a\u{301}").eq(1) & prop("a\u{203f}b").is_true(), ""),
    ] {
        assert_eq!(parsed(text), filter, "{text}");
        assert_eq!(filter.to_string(), if printed.is_empty() { text } else { printed });
    }
}

/// That the text is refused at that byte, and so.
fn refused(text: &str, at: usize, why: &str) {
    let error = match Filter::parse(text) {
        Ok(filter) => panic!("{text} was read as {filter}"),
        Err(error) => error,
    };
    assert_eq!(error.kind(), ErrorKind::InvalidFilter, "{text}");
    assert_eq!(error.position(), Some(at), "{text}: {error}");
    let told = error.to_string();
    assert!(told.starts_with("cannot parse the filter: "), "{told}");
    assert!(told.contains(why), "{text}: {told}");
}

#[test]
fn what_is_no_time_is_refused() {
    for (text, at, why) in [
        ("A eq datetime'2014-02-29'", 5, "not a UTC time"),
        ("A eq datetime'2014-07-31T18:00:00+24:00'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'2014-07-31T18:00:00+01:60'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'2014-07-31T18:00:00+0100'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'2014-07-31T18:00:00+1:00'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'2014-07-31T18:00:00Z+01:00'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'2014-07-31+01:00'", 5, "or an offset such as `+01:00`"),
        ("A eq datetime'+01:00'", 5, "not a UTC time"),
        ("A eq datetime'2014-02-29T18:00+01:00'", 5, "not a UTC time"),
        ("A eq datetime'éé:00'", 5, "not a UTC time"),
        ("A eq datetime'0001-01-01T00:59:59+01:00'", 5, "outside the years 1 to 9999"),
        ("A eq datetime'9999-12-31T23:00:00-01:00'", 5, "outside the years 1 to 9999"),
    ] {
        refused(text, at, why);
    }
}

#[test]
fn what_cannot_be_read_is_refused_where_it_stands() {
    let deep = |levels: usize| "(".repeat(levels) + "A eq 1" + &")".repeat(levels);
    let not_deep = "(".repeat(64) + "not A eq 1" + &")".repeat(64);
    for (text, at, why) in [
        ("", 0, "the filter is empty"),
        (" \t", 0, "the filter is empty"),
        ("eq", 0, "found `eq`, expected a property, a constant, `not` or `(`"),
        ("A eq", 4, "found the end, expected a constant"),
        ("A eq  ", 6, "found the end"),
        ("A EQ 1", 2, "found `EQ`, expected a comparison: `eq`, `ne`, `gt`, `ge`, `lt` or `le`"),
        ("A = 1", 2, "found `=`, expected a comparison"),
        ("A B", 2, "found `B`, expected a comparison"),
        ("A 1", 2, "found a constant of type Edm.Int32, expected a comparison"),
        ("A eq 1 B eq 2", 7, "found `B`, expected `and`, `or` or the end"),
        ("A eq 1 && B", 7, "found `&`, expected `and`, `or` or the end"),
        ("A eq 1 AND B", 7, "found `AND`"),
        ("A eq 1 and", 10, "found the end, expected a property, a constant, `not` or `(`"),
        ("A eq 1 and and B", 11, "found `and`"),
        ("A eq 1 or )", 10, "found `)`"),
        ("or A eq 1", 0, "found `or`"),
        ("not", 3, "found the end"),
        ("not and", 4, "found `and`"),
        ("(A eq 1", 7, "found the end, expected `and`, `or` or `)`"),
        ("A eq 1)", 6, "found `)`, expected `and`, `or` or the end"),
        ("()", 1, "found `)`"),
        ("(A) eq 1", 4, "found `eq`, expected `and`, `or` or the end"),
        ("(A 1)", 3, "found a constant"),
        ("A eq B", 5, "found `B`, expected a constant: one side must be a constant"),
        ("1 eq 1", 5, "expected a property: one side must be a property"),
        ("1", 1, "found the end, expected a comparison"),
        ("true", 4, "found the end, expected a comparison"),
        ("'a' and B", 4, "found `and`, expected a comparison"),
        ("A eq (1)", 5, "found `(`, expected a constant"),
        ("A eq eq", 5, "found `eq`, expected a constant"),
        ("A eq null", 5, "found `null`"),
        ("null ne A", 0, "found `null`"),
        ("A eq 'x", 5, "the quote is not closed"),
        ("A eq 'x''", 5, "the quote is not closed"),
        ("A eq 'x' 'y'", 9, "found a constant of type Edm.String"),
        ("A eq \"x\"", 5, "found `\\\"`, expected a constant"),
        ("A eq 1.", 5, "a number is written"),
        ("A eq .5", 5, "found `.`"),
        ("A eq 1e", 5, "a number is written"),
        ("A eq 1e+", 5, "a number is written"),
        ("A eq 1.5L", 5, "a number is written"),
        ("A eq 1.5d", 5, "a number is written"),
        ("A eq 1l", 5, "a number is written"),
        ("A eq 1LL", 5, "a number is written"),
        ("A eq 1.2.3", 5, "a number is written"),
        ("A eq 0x1f", 5, "a number is written"),
        ("A eq 2147483648", 5, "too large for an Int32; an Int64 ends with `L`"),
        ("A eq -2147483649", 5, "too large for an Int32"),
        ("A eq 9223372036854775808", 5, "too large for an Int64"),
        ("A eq 9223372036854775808L", 5, "too large for an Int64"),
        ("A eq 1e999", 5, "too large for a Double"),
        ("A eq datetime'", 13, "the quote is not closed"),
        ("A eq guid'c9da6455213d42c99a793e9149a57833'", 5, "not a UUID"),
        ("A eq guid'x'", 5, "not a UUID"),
        ("A eq X'abc'", 5, "pairs of hexadecimal digits"),
        ("A eq X'zz'", 5, "pairs of hexadecimal digits"),
        ("A eq binary'é'", 5, "pairs of hexadecimal digits"),
        ("A eq x'00'", 5, "found `x` before a quote"),
        ("A eq time'PT1H'", 5, "found `time` before a quote"),
        ("startswith(Name,'S')", 0, "found the function `startswith`; a filter has none"),
        ("A eq 1 and substringof('S',Name)", 11, "found the function `substringof`"),
        ("A eq tolower (B)", 5, "found the function `tolower`"),
        ("1 eq length(B)", 5, "found the function `length`"),
        ("A add 1 eq 2", 2, "found `add`; a filter has no arithmetic"),
        ("A eq 1 mul 2", 7, "found `mul`; a filter has no arithmetic"),
        ("A eq -INFx", 5, "found `-`; a filter has no arithmetic"),
        ("A eq -B", 5, "found `-`; a filter has no arithmetic"),
        ("A eq 1 + 1", 7, "found `+`; a filter has no arithmetic"),
        ("A/B eq 1", 1, "found `/`; a filter has no arithmetic"),
        ("größe = 1", 8, "found `=`"),
        ("A eq 1\0", 6, "found `\\0`"),
        ("a\u{2f800} eq", 8, "found the end"),
        ("\u{aa}b eq 1", 0, "is no property name"),
        ("a\u{2153} eq 1", 0, "`a\u{2153}` is no property name"),
        ("A eq 1 or a\u{2081}", 10, "`a\u{2081}` is no property name"),
        ("\u{903} eq 1", 0, "is no property name"),
        ("\u{203f}a eq 1", 0, "found `\u{203f}`"),
        (&format!("{} eq 1", "x".repeat(256)), 0, "a property's name has 256 UTF-16 units; it may have 255"),
        (&deep(65), 64, "the brackets are nested more than 64 deep"),
        (&not_deep, 64, "the brackets are nested more than 64 deep"),
        (&"(".repeat(1_000_000), 64, "the brackets are nested more than 64 deep"),
    ] {
        refused(text, at, why);
    }
    assert_eq!(parsed(&deep(64)), prop("A").eq(1));
    assert_eq!(parsed(&("not ".repeat(1_000_001) + "A eq 1")), !prop("A").eq(1));
}

#[test]
fn no_error_shows_a_constant() {
    for text in ["'secret' eq 'secret'", "A 'secret'", "A eq 1 'secret'", "A eq 'secret", "A eq X'secret'"] {
        let error = Filter::parse(text).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}

/// Text that is nearly a filter.
fn nearly() -> impl Strategy<Value = String> {
    let words = [
        "A",
        "B ",
        "RowKey",
        " eq ",
        " ne ",
        " lt",
        "and ",
        " or ",
        "not ",
        "(",
        ")",
        "'",
        "''",
        "'x'",
        "1",
        "1L",
        "-",
        ".5",
        "e3",
        "INF",
        "NaN",
        "true",
        "null",
        "datetime'2014-07-31'",
        "guid'",
        "X'00'",
        "binary'",
        "é",
        "\u{1f600}",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..10)
        .prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn what_is_printed_is_read_as_the_same(filter in filter()) {
        prop_assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
    }

    #[test]
    fn any_constant_survives(
        text: String, bytes: Vec<u8>, int: i32, long: i64, double: f64, ticks in 0..=Ticks::MAX.get(), bits: u128,
    ) {
        for value in [
            Value::from(text),
            Value::from(bytes),
            Value::from(int),
            Value::from(long),
            Value::from(double),
            Value::from(Ticks::new(ticks).unwrap()),
            Value::from(Uuid::from_u128(bits)),
        ] {
            let filter = prop("A").ge(value);
            prop_assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
        }
    }

    #[test]
    fn any_text_is_read_or_refused_within_it(text in prop_oneof![nearly(), any::<String>()]) {
        match Filter::parse(&text) {
            Ok(filter) => {
                prop_assert!(filter.check().is_ok());
                prop_assert_eq!(Filter::parse(&filter.to_string()).unwrap(), filter);
            }
            Err(error) => {
                let at = error.position().unwrap();
                prop_assert!(text.is_char_boundary(at), "{} {}", at, error);
            }
        }
    }
}
