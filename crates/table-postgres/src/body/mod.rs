//! What a row holds besides its keys, its time and its kind: a JSON object, as a person would write it.
//!
//! Texts, booleans and 32-bit integers are JSON's own. The type of any other value stands under `@`, by the property's name:
//! `{"@": {"Salary": "Int64"}, "Name": "Jones", "Salary": 5}`. It comes first, and types come in the order of the values.
//!
//! The column is `json` and not `jsonb`: the server keeps the text as it is and sends it so, where a `jsonb` is taken apart for
//! each write and put together for each read. A range of 100 rows takes three quarters of the time. A query that asks for more
//! than `->>` casts it.
//!
//! The server's functions know no NUL, and JSON has no number that is none. A text with NUL is written in Base64, of the type
//! `String`; a number that is none, or has many digits, as a text.

mod read;
mod write;

use table_engine::ValueRef;
use table_engine::model::names::ENTITY_TYPE;

pub(crate) use self::read::{Property, ReadBody, decode};
use self::write::{begin_member, put_bytes, put_text, put_value};

#[cfg(feature = "blob")]
use crate::blobs::{ListText, Reference, of_properties};
use crate::param::Json;

/// The member with the types.
const TYPES: &str = "@";

/// The member with the keyed digest of a row that is signed, in Base64.
const DIGEST_NAME: &str = "@digest";

/// The content of a row, for its columns.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// What the row calls itself; `None` if it doesn't, or not by a text that a column can hold.
    pub(crate) kind: Option<String>,
    /// All other properties.
    pub(crate) json: Json,
    /// The blobs that the properties refer to.
    #[cfg(feature = "blob")]
    pub(crate) references: Vec<Reference>,
    /// The text of a list that the row has no room for.
    #[cfg(feature = "blob")]
    pub(crate) list: Option<ListText>,
}

impl Body {
    pub(crate) fn of<'p>(properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>) -> Self {
        Self::signed(properties, None)
    }

    /// Makes the content of a row that has this keyed digest, if it has one.
    pub(crate) fn signed<'p>(
        properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
        digest: Option<&[u8]>,
    ) -> Self {
        // Most rows have no more, and a text that grows by and by is copied as often.
        let (mut kind, mut types, mut values) = (None, String::new(), String::with_capacity(192));
        #[cfg(feature = "blob")]
        let mut references = Vec::new();
        values.push('{');
        for (name, value) in properties {
            match value {
                ValueRef::String(text) if name == ENTITY_TYPE && !text.contains('\0') => {
                    kind = Some(text.to_owned());
                    continue;
                }
                #[cfg(feature = "blob")]
                ValueRef::Binary(_) => references.extend(of_properties(std::iter::once((name, value)))),
                _ => {}
            }
            begin_member(&mut values, name);
            if let Some(mark) = put_value(&mut values, value) {
                begin_member(&mut types, name);
                put_text(&mut types, mark);
            }
        }
        values.push('}');
        let mut json = values;
        if digest.is_some() || !types.is_empty() {
            json = with_marks(&types, digest, &json);
        }
        Self {
            kind,
            json: Json(json.into_bytes().into()),
            #[cfg(feature = "blob")]
            references,
            #[cfg(feature = "blob")]
            list: None,
        }
    }
}

/// Returns an object with what stands before the values: the keyed digest, and the types.
fn with_marks(types: &str, digest: Option<&[u8]>, object: &str) -> String {
    let mut json = String::with_capacity(types.len() + object.len() + 64);
    json.push('{');
    if let Some(digest) = digest {
        begin_member(&mut json, DIGEST_NAME);
        put_bytes(&mut json, digest);
    }
    if !types.is_empty() {
        begin_member(&mut json, TYPES);
        json.push('{');
        json.push_str(types);
        json.push('}');
    }
    let values = object.strip_prefix('{').unwrap_or(object);
    if values != "}" {
        json.push(',');
    }
    json.push_str(values);
    json
}

#[cfg(test)]
mod tests {
    use table_engine::{Ticks, Value};

    use super::*;

    fn there_and_back(properties: &[(&str, Value)]) {
        let body = Body::of(properties.iter().map(|(name, value)| (*name, value.as_value_ref())));
        let read = decode(body.kind.as_deref(), &body.json.0).unwrap().properties;
        let text = String::from_utf8_lossy(&body.json.0);
        assert_eq!(read.len(), properties.len(), "{text}");
        for (name, value) in properties {
            let (_, found) = read.iter().find(|(of, _)| of == name).unwrap();
            match (found.as_value_ref(), value) {
                (ValueRef::Double(found), Value::Double(value)) => {
                    assert_eq!(found.to_bits(), value.to_bits(), "{text}");
                }
                (found, value) => assert_eq!(found, value.as_value_ref(), "{text}"),
            }
        }
    }

    #[test]
    fn every_value_is_read_as_it_was_written() {
        let texts = ["", "a\0b", "quote \" and \\ and \n\t\u{1}\u{7f}", "Zürich \u{1f600}\u{ffff}", "}{,:"];
        for text in texts {
            there_and_back(&[("Text", text.into()), ("EntityType", text.into())]);
        }
        for value in
            [0.0, -0.0, 1.5, 1e300, -1e-300, f64::MIN_POSITIVE, f64::MAX, f64::INFINITY, f64::NEG_INFINITY]
        {
            there_and_back(&[("A", Value::Double(value)), ("B", Value::Double(-value))]);
        }
        for bits in [f64::NAN.to_bits(), 0x7ff8_0000_0000_0001, 0xfff0_0000_0000_0001] {
            there_and_back(&[("NaN", Value::Double(f64::from_bits(bits)))]);
        }
        there_and_back(&[]);
        there_and_back(&[
            ("Bytes", Value::Binary(vec![0, 1, 255])),
            ("No", Value::Boolean(false)),
            ("Small", Value::Int32(i32::MIN)),
            ("Large", Value::Int64(i64::MIN)),
            ("When", Value::DateTime(Ticks::MIN)),
            ("Id", "00112233-4455-6677-8899-aabbccddeeff".parse().map(Value::Guid).unwrap()),
            ("EntityType", Value::Int32(5)),
        ]);
    }

    #[test]
    fn the_form_is_what_a_person_would_write() {
        let body = Body::of(
            [
                ("EntityType", ValueRef::String("employee")),
                ("Name", ValueRef::String("Jones")),
                ("Salary", ValueRef::Int64(5)),
                ("Age", ValueRef::Int32(41)),
            ]
            .into_iter(),
        );
        assert_eq!(body.kind.as_deref(), Some("employee"));
        assert_eq!(&*body.json.0, br#"{"@":{"Salary":"Int64"},"Name":"Jones","Salary":5,"Age":41}"#);
    }

    #[test]
    fn a_digest_stands_beside_the_properties() {
        for properties in [&[][..], &[("A", ValueRef::Int32(1))], &[("A", ValueRef::Int64(1))]] {
            let body = Body::signed(properties.iter().copied(), Some(&[7; 16]));
            let read = decode(None, &body.json.0).unwrap();
            assert_eq!((read.properties.len(), read.digest), (properties.len(), Some(vec![7; 16])));
        }
    }

    #[test]
    fn what_was_not_written_so_is_refused_and_ends_no_process() {
        let right = br#"{"@": {"A": "Int64", "B": "Double"}, "A": 1, "B": "NaN 7ff8000000000000", "Text": "x\u0001\"y"}"#;
        assert!(decode(None, right).is_some());
        for length in 0..right.len() {
            assert!(decode(None, &right[..length]).is_none(), "{length}");
            for byte in [0, b'"', b'\\', b'{', b'}', 0xff] {
                let mut damaged = right.to_vec();
                damaged[length] = byte;
                drop(decode(None, &damaged));
            }
        }
        for wrong in
            [r#"{"A": 1.5}"#, r#"{"A": null}"#, r#"{"A": [1]}"#, r#"{"@": {"A": "Int8"}, "A": 1}"#, "[]"]
        {
            assert!(decode(None, wrong.as_bytes()).is_none(), "{wrong}");
        }
    }
}
