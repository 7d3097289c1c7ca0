//! Texts that are refused: each by its kind, with its place, and without the value.

use super::Reader;
use crate::error::{Error, ErrorKind};
use crate::model::DynamicEntity;

/// The error of members that follow the keys, and where those members begin.
fn refusal(members: &str) -> (Error, usize) {
    let keys = r#"{"PartitionKey":"p","RowKey":"r","#;
    let text = format!("{keys}{members}}}");
    let error = Reader::new().entity(text.as_bytes()).expect_err(members);
    assert_eq!((error.kind().status(), error.kind().code()), (400, error.kind().code()));
    (error, keys.len())
}

#[test]
fn a_value_that_is_not_of_its_type_is_named_with_its_place() {
    for (edm, values) in [
        ("Edm.String", &["1", "true"][..]),
        ("Edm.Boolean", &["1", r#""1""#, r#""yes""#, r#""""#]),
        (
            "Edm.Int32",
            &["2147483648", "-2147483649", "1.0", "1e2", "true", r#""+1""#, r#""""#, r#"" 1""#, r#""0x1""#],
        ),
        (
            "Edm.Int64",
            &["9223372036854775808", r#""-9223372036854775809""#, "1.0", r#""+1""#, r#""-""#, r#""1L""#],
        ),
        (
            "Edm.Double",
            &[
                "1e400",
                r#""-1e400""#,
                r#""13e7705""#,
                r#""nan""#,
                r#""inf""#,
                r#""+1""#,
                r#"".5""#,
                r#""1.""#,
                r#""01""#,
                r#""NaN(7ff0000000000000)""#,
                r#""NaN(fff8)""#,
                "true",
            ],
        ),
        (
            "Edm.DateTime",
            &[
                r#""2014-02-29T00:00:00Z""#,
                r#""secret""#,
                "1",
                r#""2014-07-31T18:00:00.12345678Z""#,
                r#""""#,
                r#""0000-01-01T00:00:00Z""#,
                r#""10000-01-01T00:00:00Z""#,
            ],
        ),
        (
            "Edm.Guid",
            &[
                r#""c9da6455213d42c99a793e9149a57833""#,
                r#""{c9da6455-213d-42c9-9a79-3e9149a57833}""#,
                r#""c9da6455-213d-42c9-9a79-3e9149a5783g""#,
                r#""""#,
            ],
        ),
        ("Edm.Binary", &[r#""Zg""#, r#""Zh==""#, r#""-_==""#, r#""Zg==\n""#, "1"]),
    ] {
        for value in values {
            for members in [
                format!(r#""X@odata.type":"{edm}","X":{value}"#),
                format!(r#""X":{value},"X@odata.type":"{edm}""#),
            ] {
                let (error, start) = refusal(&members);
                assert_eq!(error.kind(), ErrorKind::InvalidOData, "{members}");
                let at = start + members.find(&format!(":{value}")).unwrap() + 1;
                assert_eq!(error.position(), Some(at), "{members}: {error}");
                let words = format!("cannot read OData JSON: property `X` is no {edm}");
                assert!(error.to_string().starts_with(&words), "{error}");
            }
        }
    }
}

/// Checks that members are refused with these words and a place within them.
fn assert_refused(members: &str, kind: ErrorKind, words: &str) {
    let (error, start) = refusal(members);
    assert_eq!(error.kind(), kind, "{members}: {error}");
    let words = format!("cannot read OData JSON: {words}");
    assert!(error.to_string().starts_with(&words), "{members}: {error}");
    let places = start..=start + members.len() + 1;
    assert!(error.position().is_some_and(|at| places.contains(&at)), "{members}: {error}");
}

#[test]
fn a_property_says_one_thing_and_has_a_type_of_tables() {
    for (members, words) in [
        (r#""X":9007199254740993"#, "property `X` is a whole number that neither"),
        (&*format!(r#""X":1{}"#, "0".repeat(400)), "property `X` is a whole number that neither"),
        (r#""X":1e999"#, "property `X` is no Edm.Double"),
        (r#""X":1,"Y":2,"X":3"#, "property `X` is there twice"),
        (r#""X":null,"X":null"#, "property `X` is there twice"),
        (r#""X":1,"\u0058":3"#, "property `X` is there twice"),
        (r#""RowKey":"r""#, "property `RowKey` is there twice"),
        (r#""Timestamp":null,"Timestamp":null"#, "property `Timestamp` is there twice"),
        (r#""X@odata.type":"Edm.Int32","X":1,"X@odata.type":"Edm.Int32""#, "property `X` is there twice"),
        (r#""X@odata.type":"Edm.Decimal","X":1"#, "property `X` is of a type that no property has"),
        (r#""X@odata.type":null,"X":1"#, "property `X` is of a type that no property has"),
        (r#""PartitionKey@odata.type":"Edm.Guid""#, "property `PartitionKey` is always an Edm.String"),
        (r#""Timestamp@odata.type":"Edm.String""#, "property `Timestamp` is always an Edm.DateTime"),
        (r#""Timestamp":"now""#, "property `Timestamp` is no time"),
        (r#""odata.etag":1"#, "`odata.etag` is a text"),
    ] {
        assert_refused(members, ErrorKind::InvalidOData, words);
    }
    assert_eq!(refusal(r#""X":1,"X":1"#).0.code(), "DuplicatePropertiesSpecified");
}

#[test]
fn members_are_json() {
    for (members, words) in [
        (r#""X":[1]"#, "property `X`: an array or an object"),
        (r#""X":{}"#, "property `X`: an array or an object"),
        (r#""X":"\ud800""#, "property `X`: a string has an escape"),
        (r#""X":"\ud800\ud800""#, "property `X`: a string has an escape"),
        (r#""X":"\udc00\ud800""#, "property `X`: a string has an escape"),
        (r#""X":"\u00g0""#, "property `X`: a string has an escape"),
        (r#""X":"\x""#, "property `X`: a string has an escape"),
        ("\"X\":\"a\nb\"", "property `X`: a string has a control character"),
        (r#""X":01"#, "property `X`: a number is not as JSON has it"),
        (r#""X":-"#, "property `X`: a number is not as JSON has it"),
        (r#""X":1."#, "property `X`: a number is not as JSON has it"),
        (r#""X":1.e5"#, "property `X`: a number is not as JSON has it"),
        (r#""X":NaN"#, "property `X`: expected a value"),
        (r#""X":"#, "property `X`: expected a value"),
        (r#""X":nul"#, "property `X`: expected a value"),
        (r#""X" 1"#, "expected a colon"),
        ("X:1", "expected a string"),
        (r#""X":1 "Y":1"#, "expected a comma"),
        (r#""X":1,"#, "expected a string"),
        (r#""X":1} {"#, "something follows the end"),
        (&*format!(r#""odata.x":{}1{}"#, "[".repeat(17), "]".repeat(17)), "values lie too deep"),
        (r#""odata.x":[1,]"#, "expected a value"),
        (r#""odata.x":{"a":1"#, "expected a comma or the end"),
    ] {
        assert_refused(members, ErrorKind::InvalidOData, words);
    }
}

#[test]
fn names_and_values_are_those_that_a_table_takes() {
    for (members, kind, words) in [
        (r#""a-b":1"#, ErrorKind::PropertyNameInvalid, "`a-b` is no property name"),
        (r#""":1"#, ErrorKind::PropertyNameInvalid, "`` is no property name"),
        (r#""1a":1"#, ErrorKind::PropertyNameInvalid, "`1a` is no property name"),
        (
            &*format!(r#""{}":1"#, "x".repeat(256)),
            ErrorKind::PropertyNameTooLong,
            "a property's name has 256",
        ),
        (
            &*format!(r#""X":"{}""#, "x".repeat(32_769)),
            ErrorKind::PropertyValueTooLarge,
            "property `X` has 32769 UTF-16 units",
        ),
        (
            &*format!(r#""X@odata.type":"Edm.Binary","X":"{}""#, "AAAA".repeat(21_846)),
            ErrorKind::PropertyValueTooLarge,
            "property `X` has 65538 bytes",
        ),
        (
            r#""X@odata.type":"Edm.DateTime","X":"1600-12-31T23:59:59Z""#,
            ErrorKind::ValueOutOfRange,
            "property `X` is a date and time before 1601",
        ),
    ] {
        assert_refused(members, kind, words);
    }
}

#[test]
fn a_text_that_is_no_entity_says_where() {
    for (text, at, words) in [
        (&b""[..], 0, "expected an entity's object"),
        (b"  ", 2, "expected an entity's object"),
        (b"[]", 0, "expected an entity's object"),
        (b"{", 1, "expected a string"),
        (b"{\"PartitionKey\":\"p", 18, "property `PartitionKey`: a string has no end"),
        (b"{}", 2, "the entity has no `PartitionKey` or no `RowKey`"),
        (b"{\"PartitionKey\":\"p\",\"RowKey\":null}", 34, "the entity has no `PartitionKey` or no `RowKey`"),
        (b"{\"PartitionKey\":1}", 16, "property `PartitionKey` is always an Edm.String"),
        (b"{\"a\":\"\xff\"}", 6, "the text is not UTF-8"),
        (b"\xef\xbb\xbf{}", 0, "expected an entity's object"),
    ] {
        let error = Reader::new().entity(text).unwrap_err();
        let whole = format!("cannot read OData JSON: {words} (at byte {at})");
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidOData, whole));
    }
    assert_eq!(Reader::new().entity(b"{}").unwrap_err().code(), "PropertiesNeedValue");
}

#[test]
fn keys_of_a_request_are_those_of_its_text() {
    let at = |text: &str| Reader::new().entity_at(text.as_bytes(), "p", "r\n");
    for text in ["{}", r#"{"PartitionKey":"p"}"#, r#"{"RowKey":"r\n","PartitionKey":null}"#] {
        assert_eq!(at(text).unwrap(), DynamicEntity::new("p", "r\n"));
    }
    for text in [r#"{"PartitionKey":"q"}"#, r#"{"RowKey":"r"}"#] {
        let error = at(text).unwrap_err();
        assert!(error.to_string().contains("the entity's keys are others"), "{error}");
    }
}

#[test]
fn an_entity_has_as_many_properties_as_a_table_takes() {
    let of = |count: usize, value: &str| {
        let members: Vec<_> = (0..count).map(|at| format!(r#""P{at}":{value}"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    let read = |text: &str| Reader::new().entity_at(text.as_bytes(), "p", "r").map_err(|error| error.kind());
    let whole = read(&of(252, "1")).unwrap();
    assert_eq!(whole.properties().len(), 252);
    assert!(whole.properties().enumerate().all(|(at, (name, _))| name == format!("P{at}")));
    assert_eq!(read(&of(253, "1")), Err(ErrorKind::TooManyProperties));
    assert_eq!(read(&of(1_024, "null")), Ok(DynamicEntity::new("p", "r")));
    assert_eq!(read(&of(1_025, "null")), Err(ErrorKind::InvalidOData));
    // Each name is compared with those before it.
    let twice = of(252, "1").replace("\"P251\"", "\"P3\"");
    assert_eq!(read(&twice), Err(ErrorKind::InvalidOData));
}

#[test]
fn a_page_ends_at_its_first_mistake() {
    let one = r#"{"PartitionKey":"p","RowKey":"r"}"#;
    for (text, whole, words) in [
        (format!("[{one},{one}"), 2, "expected a comma or the end of the page (at byte 68)"),
        (format!("[{one}]x"), 1, "something follows the end (at byte 35)"),
        (format!("[{one},]"), 1, "expected an entity's object (at byte 35)"),
        (format!(r#"{{"value":[{one}],"value":[]}}"#), 1, "the page has two arrays `value` (at byte 45)"),
        (format!(r#"{{"value":[{one}]"#), 1, "expected a comma or the end of the page (at byte 44)"),
        (
            format!(r#"{{"value":[{one},{{"PartitionKey":"q"}}]}}"#),
            1,
            "the entity has no `PartitionKey` or no `RowKey` (at byte 64)",
        ),
        (r#"{"values":[]}"#.to_owned(), 0, "the page has no array `value` (at byte 12)"),
        (r#"{"value":1}"#.to_owned(), 0, "expected an array of entities (at byte 9)"),
        ("1".to_owned(), 0, "expected a page: an array, or an object with an array `value` (at byte 0)"),
    ] {
        let mut read = Reader::new().page(text.as_bytes());
        assert_eq!(read.by_ref().take_while(Result::is_ok).count(), whole, "{text}");
        let error = Reader::new().page(text.as_bytes()).find_map(Result::err).unwrap();
        assert_eq!(error.to_string(), format!("cannot read OData JSON: {words}"));
        assert!(read.next().is_none());
    }
}

#[test]
fn no_error_shows_a_value() {
    let secret = "s3cr3t";
    for edm in ["Boolean", "Int32", "Int64", "Double", "DateTime", "Guid", "Binary", "Duration"] {
        let (error, _) = refusal(&format!(r#""X@odata.type":"Edm.{edm}","X":"{secret}!""#));
        assert!(!format!("{error} {error:?}").contains(secret), "{error}");
    }
    for members in [
        format!(r#""X":"{secret}\x""#),
        format!(r#""X":"{secret}"#),
        format!(r#""X":{secret}"#),
        format!(r#""Timestamp":"{secret}""#),
    ] {
        let (error, _) = refusal(&members);
        assert!(!format!("{error} {error:?}").contains(secret), "{error}");
    }
}

#[test]
fn a_text_that_is_cut_anywhere_is_refused() {
    let text = r#"{"odata.etag":"W/\"a\"","PartitionKey":"p","RowKey":"é","A@odata.type":"Edm.Double","A":"NaN","B":-1.5e+3,"odata.x":[{"a":[]}],"C":true}"#;
    assert!(Reader::new().entity(text.as_bytes()).is_ok());
    for end in 0..text.len() {
        let error = Reader::new().entity(&text.as_bytes()[..end]).unwrap_err();
        assert!(error.position().is_some_and(|at| at <= end), "{end}: {error}");
    }
}
