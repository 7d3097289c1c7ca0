//! The content of a row as it is read.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use table_engine::model::names::ENTITY_TYPE;
use table_engine::{Ticks, Value, ValueRef};

use super::{DIGEST_NAME, TYPES};

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
