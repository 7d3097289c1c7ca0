//! Tokens of JSON as values of their types.

use uuid::Uuid;

use super::cursor::{Token, number_length};
use super::times;
use crate::base64;
use crate::model::{EdmType, Ticks, ValueRef};
use crate::query::time_of;

/// Buffers that values borrow from which do not stand in the text as they are.
#[derive(Default)]
pub(super) struct Scratch {
    text: String,
    bytes: Vec<u8>,
}

/// Why a token is no value, in words that follow the name of the property. They don't show the value.
pub(super) type Why = &'static str;

/// Returns the type of this name.
pub(super) fn edm_of(name: &str) -> Option<EdmType> {
    EdmType::of_short_name(name.strip_prefix("Edm.")?)
}

/// Returns the value of a token; without a type, by what JSON itself says of it. A token that is null has none.
#[inline]
pub(super) fn read<'v>(
    token: Token<'v>,
    edm: Option<EdmType>,
    scratch: &'v mut Scratch,
) -> Result<ValueRef<'v>, Why> {
    let Some(edm) = edm else { return untyped(token, scratch) };
    let Scratch { text: buffer, bytes } = scratch;
    // Numbers are taken as text, too, and whole ones for doubles: clients write them so.
    let text = match token {
        Token::Text(text) => Some(text.unescaped(buffer)),
        Token::Number(number) if is_number(edm) => Some(number),
        Token::Bool(value) if edm == EdmType::Boolean => return Ok(ValueRef::Boolean(value)),
        _ => None,
    };
    let value = text.and_then(|text| match edm {
        EdmType::String => Some(ValueRef::String(text)),
        EdmType::Boolean => boolean(text).map(ValueRef::Boolean),
        EdmType::Int32 => digits(text)?.parse().ok().map(ValueRef::Int32),
        EdmType::Int64 => digits(text)?.parse().ok().map(ValueRef::Int64),
        EdmType::Double => double(text).map(ValueRef::Double),
        EdmType::DateTime => time(text).map(ValueRef::DateTime),
        // A UUID has several forms, of which the service takes one.
        EdmType::Guid => Uuid::try_parse(text).ok().filter(|_| text.len() == 36).map(ValueRef::Guid),
        EdmType::Binary => {
            bytes.clear();
            base64::STANDARD.decode(text.as_bytes(), bytes)?;
            Some(ValueRef::Binary(bytes))
        }
    });
    value.ok_or_else(|| rule(edm))
}

/// Returns the value of a token by JSON's own types.
#[inline]
fn untyped<'v>(token: Token<'v>, scratch: &'v mut Scratch) -> Result<ValueRef<'v>, Why> {
    match token {
        Token::Text(text) => Ok(ValueRef::String(text.unescaped(&mut scratch.text))),
        Token::Bool(value) => Ok(ValueRef::Boolean(value)),
        Token::Number(number) if number.contains(['.', 'e', 'E']) => {
            double(number).map(ValueRef::Double).ok_or_else(|| rule(EdmType::Double))
        }
        Token::Number(number) => match number.parse() {
            Ok(number) => Ok(ValueRef::Int32(number)),
            Err(_) => large(number),
        },
        Token::Null => Err("is null"),
    }
}

/// Returns a whole number beyond Int32 as the service takes it, which is a double. One that would be rounded is refused.
#[cold]
fn large(number: &str) -> Result<ValueRef<'_>, Why> {
    let exact = double(number).filter(|double| format!("{double:.0}") == number);
    exact.map(ValueRef::Double).ok_or(
        "is a whole number that neither an Edm.Int32 nor an Edm.Double can hold; say its type Edm.Int64",
    )
}

fn is_number(edm: EdmType) -> bool {
    matches!(edm, EdmType::Int32 | EdmType::Int64 | EdmType::Double)
}

/// Returns the text if it is a whole number: the standard library takes a plus, too.
#[inline]
fn digits(text: &str) -> Option<&str> {
    (!text.starts_with('+')).then_some(text)
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

#[inline]
fn double(text: &str) -> Option<f64> {
    if number_length(text.as_bytes()) == Some(text.len()) {
        // A number beyond the largest double would become infinite.
        return text.parse().ok().filter(|double: &f64| double.is_finite());
    }
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" | "INF" => Some(f64::INFINITY),
        "-Infinity" | "-INF" => Some(f64::NEG_INFINITY),
        _ => {
            let bits = text.strip_prefix("NaN(")?.strip_suffix(')')?;
            let bits = (bits.len() == 16).then(|| u64::from_str_radix(bits, 16).ok())??;
            Some(f64::from_bits(bits)).filter(|double| double.is_nan())
        }
    }
}

/// Returns the time of a text: in UTC, or with the offset from it.
#[inline]
pub(super) fn time(text: &str) -> Option<Ticks> {
    times::parse(text.as_bytes()).or_else(|| time_of(text).ok())
}

/// Returns what a value of a type is not, and what it would be.
#[cold]
fn rule(edm: EdmType) -> Why {
    match edm {
        EdmType::String => "is no Edm.String, a text",
        EdmType::Boolean => "is no Edm.Boolean, `true` or `false`",
        EdmType::Int32 => "is no Edm.Int32, a whole number from -2147483648 to 2147483647",
        EdmType::Int64 => "is no Edm.Int64, a whole number from -9223372036854775808 to 9223372036854775807",
        EdmType::Double => {
            "is no Edm.Double, a number of JSON below 1.8e308, `\"NaN\"`, `\"Infinity\"` or `\"-Infinity\"`"
        }
        EdmType::DateTime => {
            "is no Edm.DateTime, a time such as `\"2014-07-31T18:00:00Z\"` with at most seven decimals of a second"
        }
        EdmType::Guid => "is no Edm.Guid, a text such as `\"c9da6455-213d-42c9-9a79-3e9149a57833\"`",
        EdmType::Binary => "is no Edm.Binary, base64 with padding",
    }
}
