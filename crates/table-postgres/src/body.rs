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

use std::borrow::Cow;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_engine::model::names::ENTITY_TYPE;
use table_engine::{Ticks, Value, ValueRef};

#[cfg(feature = "blob")]
use crate::blobs::{ListText, Reference, of_properties};
use crate::param::Json;

/// The member with the types.
const TYPES: &str = "@";

/// The member with the keyed digest of a row that is signed, in Base64.
const DIGEST_NAME: &str = "@digest";

/// The finite numbers that are written as numbers lie between these, or are 0: others would fill lines with digits.
const PLAIN: std::ops::Range<f64> = 1e-7..1e17;

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
        let (mut kind, mut types, mut values) = (None, String::new(), String::new());
        #[cfg(feature = "blob")]
        let mut references = Vec::new();
        for (name, value) in properties {
            #[cfg(feature = "blob")]
            references.extend(of_properties(std::iter::once((name, value))));
            match value {
                ValueRef::String(text) if name == ENTITY_TYPE && !text.contains('\0') => {
                    kind = Some(text.to_owned());
                    continue;
                }
                _ => {}
            }
            begin_member(&mut values, name);
            if let Some(mark) = put_value(&mut values, value) {
                begin_member(&mut types, name);
                put_text(&mut types, mark);
            }
        }
        let mut json = String::with_capacity(types.len() + values.len() + 8);
        json.push('{');
        if let Some(digest) = digest {
            begin_member(&mut json, DIGEST_NAME);
            put_bytes(&mut json, digest);
        }
        if !types.is_empty() {
            begin_member(&mut json, TYPES);
            json.push('{');
            json.push_str(&types);
            json.push('}');
        }
        if json.len() > 1 && !values.is_empty() {
            json.push(',');
        }
        json.push_str(&values);
        json.push('}');
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

fn begin_member(out: &mut String, name: &str) {
    // Behind an opening brace nothing comes between.
    if !out.is_empty() && !out.ends_with('{') {
        out.push(',');
    }
    put_text(out, name);
    out.push(':');
}

/// Writes a value, and returns the name of its type, unless JSON has it.
fn put_value(out: &mut String, value: ValueRef<'_>) -> Option<&'static str> {
    // To write to a text never fails.
    let written = match value {
        ValueRef::String(text) if text.contains('\0') => {
            put_bytes(out, text.as_bytes());
            return Some("String");
        }
        ValueRef::String(text) => {
            put_text(out, text);
            return None;
        }
        ValueRef::Boolean(value) => {
            out.push_str(if value { "true" } else { "false" });
            return None;
        }
        ValueRef::Int32(value) => {
            let _ = write!(out, "{value}");
            return None;
        }
        ValueRef::Binary(bytes) => {
            put_bytes(out, bytes);
            return Some("Binary");
        }
        ValueRef::Int64(value) => write!(out, "{value}").map(|()| "Int64"),
        ValueRef::Double(value) => put_double(out, value).map(|()| "Double"),
        ValueRef::DateTime(value) => write!(out, "\"{value}\"").map(|()| "DateTime"),
        ValueRef::Guid(value) => write!(out, "\"{value}\"").map(|()| "Guid"),
    };
    written.ok()
}

fn put_double(out: &mut String, value: f64) -> std::fmt::Result {
    let is_zero = value == 0.0 && value.is_sign_positive();
    if is_zero || PLAIN.contains(&value.abs()) {
        return write!(out, "{value}");
    }
    if value.is_nan() {
        // One NaN is not another.
        return write!(out, "\"NaN {:016x}\"", value.to_bits());
    }
    write!(out, "\"{value:e}\"")
}

fn put_bytes(out: &mut String, bytes: &[u8]) {
    out.push('"');
    STANDARD.encode_string(bytes, out);
    out.push('"');
}

fn put_text(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    let needs_escape = |character: char| character < ' ' || matches!(character, '"' | '\\');
    while let Some((before, from)) = rest.find(needs_escape).and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let mut characters = from.chars();
        if let Some(character) = characters.next() {
            // To write to a text never fails.
            let _ = match character {
                '"' => out.write_str("\\\""),
                '\\' => out.write_str("\\\\"),
                control => write!(out, "\\u{:04x}", u32::from(control)),
            };
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// A value as it was read.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    /// A text, lent where nothing in it is escaped.
    Text(Cow<'a, str>),
    /// Any other value.
    Other(Value),
}

impl Held<'_> {
    pub(crate) fn as_value_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Text(text) => ValueRef::String(text),
            Self::Other(value) => value.as_value_ref(),
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Other(value) => value,
        }
    }
}

/// A property as it was read.
pub(crate) type Property<'a> = (Cow<'a, str>, Held<'a>);

/// A row's content as it was read.
#[derive(Debug)]
pub(crate) struct ReadBody<'a> {
    pub(crate) properties: Vec<Property<'a>>,
    /// Its keyed digest, if it is signed.
    pub(crate) digest: Option<Vec<u8>>,
}

/// Returns the content of a row with these columns; `None` if the object is none that was written so.
pub(crate) fn decode<'a>(kind: Option<&'a str>, json: &'a [u8]) -> Option<ReadBody<'a>> {
    let mut digest = None;
    let mut reader = Reader { text: std::str::from_utf8(json).ok()?, at: 0 };
    let mut properties = Vec::with_capacity(16);
    if let Some(kind) = kind {
        properties.push((Cow::Borrowed(ENTITY_TYPE), Held::Text(Cow::Borrowed(kind))));
    }
    let mut types: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::new();
    let mut next = 0;
    reader.sign(b'{')?;
    let mut is_first = true;
    while let Member::Named(name) = reader.member(&mut is_first)? {
        if name == DIGEST_NAME {
            digest = Some(reader.bytes()?);
            continue;
        }
        if name == TYPES {
            reader.sign(b'{')?;
            let mut is_first = true;
            while let Member::Named(of) = reader.member(&mut is_first)? {
                types.push((of, reader.string()?));
            }
            continue;
        }
        // Mostly the next one: both were written in one order.
        let mark = match types.get(next) {
            Some((of, mark)) if *of == name => {
                next += 1;
                Some(&**mark)
            }
            _ => types.iter().find(|(of, _)| *of == name).map(|(_, mark)| &**mark),
        };
        let value = reader.value(mark)?;
        properties.push((name, value));
    }
    Some(ReadBody { properties, digest })
}

/// What comes next in an object.
enum Member<'a> {
    Named(Cow<'a, str>),
    End,
}

/// The text of an object, and how far it is read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while matches!(self.next(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// Reads the sign if it is what comes next.
    fn has(&mut self, sign: u8) -> bool {
        // The library writes no spaces.
        if self.next() != Some(sign) {
            self.skip_spaces();
        }
        let is_next = self.next() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        self.has(sign).then_some(())
    }

    /// Returns the next member, up to its value.
    fn member(&mut self, is_first: &mut bool) -> Option<Member<'a>> {
        if self.has(b'}') {
            return Some(Member::End);
        }
        if !std::mem::take(is_first) {
            self.sign(b',')?;
        }
        let name = self.string()?;
        self.sign(b':')?;
        Some(Member::Named(name))
    }

    /// Returns the text up to the next of the bytes that end it. What ends it is not read yet.
    fn up_to(&mut self, ends: impl Fn(&u8) -> bool) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let head = rest.get(..rest.as_bytes().iter().position(ends)?)?;
        self.at += head.len();
        Some(head)
    }

    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.sign(b'"')?;
        let ends = |byte: &u8| matches!(byte, b'"' | b'\\');
        let head = self.up_to(ends)?;
        if self.next() == Some(b'"') {
            self.at += 1;
            return Some(Cow::Borrowed(head));
        }
        let mut text = head.to_owned();
        loop {
            text.push_str(self.up_to(ends)?);
            self.at += 1;
            match self.text.as_bytes().get(self.at - 1)? {
                b'"' => return Some(Cow::Owned(text)),
                _ => text.push(self.escaped()?),
            }
        }
    }

    fn escaped(&mut self) -> Option<char> {
        let character = self.text.get(self.at..)?.chars().next()?;
        self.at += character.len_utf8();
        Some(match character {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                // The server escapes control characters so, which are no halves of pairs.
                let digits = self.text.get(self.at..self.at + 4)?;
                self.at += 4;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            character => character,
        })
    }

    /// Returns what stands up to the next comma or brace: a number or a word.
    fn word(&mut self) -> Option<&'a str> {
        self.skip_spaces();
        self.up_to(|byte| matches!(byte, b',' | b'}')).map(str::trim_end)
    }

    fn value(&mut self, mark: Option<&str>) -> Option<Held<'a>> {
        self.skip_spaces();
        let is_text = self.next() == Some(b'"');
        Some(Held::Other(match mark {
            None if is_text => return self.string().map(Held::Text),
            None => match self.word()? {
                "true" => Value::Boolean(true),
                "false" => Value::Boolean(false),
                number => Value::Int32(number.parse().ok()?),
            },
            Some("Int64") => Value::Int64(self.word()?.parse().ok()?),
            Some("Double") if is_text => Value::Double(double(&self.string()?)?),
            Some("Double") => Value::Double(self.word()?.parse().ok()?),
            Some("DateTime") => Value::DateTime(self.string()?.parse::<Ticks>().ok()?),
            Some("Guid") => Value::Guid(self.string()?.parse().ok()?),
            Some("Binary") => Value::Binary(self.bytes()?),
            Some("String") => Value::String(String::from_utf8(self.bytes()?).ok()?),
            Some(_) => return None,
        }))
    }

    fn bytes(&mut self) -> Option<Vec<u8>> {
        STANDARD.decode(&*self.string()?).ok()
    }
}

fn double(text: &str) -> Option<f64> {
    match text.strip_prefix("NaN ") {
        Some(bits) => {
            Some(f64::from_bits(u64::from_str_radix(bits, 16).ok()?)).filter(|value| value.is_nan())
        }
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
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
