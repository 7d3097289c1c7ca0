//! Keys taken apart.

use uuid::Uuid;

use super::charset::{CharSet, forbidden};
use super::escape::unescape;
use super::fold::fold_char;
use super::key_type::{self, BLIND_DIGITS, Format, KeyType, TimeItem, is_lossless};
use super::print::{ended_by, is_clean};
use super::value::PropertyValue;
use super::{FieldPart, Part, Template};
use crate::model::{EdmType, Ticks, Value, ValueRef};

/// Gives `found` the value of every field that the key holds whole. The text of a lossy part is checked and skipped.
/// Returns `false` if the template doesn't print such a key; the values found until then are worth nothing.
pub(crate) fn parse<'a>(
    template: &Template,
    key: &'a str,
    mut found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    let mut parts = Printed::new(template, key);
    while let Some((part, printed)) = parts.next() {
        if !is_lossless(part.format) {
            if !is_printed(part, printed) {
                return false;
            }
        } else if let Some(value) = value(part, printed) {
            // One element of a list is not the field.
            if !part.each {
                found(part.field, value);
            }
        } else {
            return false;
        }
    }
    parts.is_whole()
}

/// The value of one field that the key holds whole, or `None` if the template doesn't print such a key. Of its other
/// parts the lengths alone are looked at.
pub(crate) fn parse_field<'a>(template: &Template, key: &'a str, field: usize) -> Option<PropertyValue<'a>> {
    let mut parts = Printed::new(template, key);
    let mut wanted = None;
    while let Some((part, printed)) = parts.next() {
        if part.field == field && part.is_lossless() {
            wanted = Some(value(part, printed)?);
        }
    }
    wanted.filter(|_| parts.is_whole())
}

/// A key as the texts that the parts of its template printed.
struct Printed<'t, 'a> {
    /// The parts that are to come.
    parts: &'t [Part],
    rest: &'a str,
}

impl<'t, 'a> Printed<'t, 'a> {
    fn new(template: &Template, key: &'a str) -> Self {
        Self { parts: template.parts, rest: key }
    }

    /// The next field, and what it printed. Ends where the key doesn't go on as the template says.
    #[expect(
        clippy::inline_always,
        reason = "for each part of each key, a call costs as much as what it does"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<(&'t FieldPart, &'a str)> {
        while let [part, after @ ..] = self.parts {
            match part {
                Part::Literal(text) => self.rest = self.rest.strip_prefix(text)?,
                Part::Field(field) => {
                    let length = match key_type::width(field.key, field.format) {
                        Some(width) => width,
                        None => match (ended_by(self.parts, 0), after) {
                            // The character doesn't occur in the part, so the first is the one that ends it.
                            (Some(end), _) => find(self.rest, end)?,
                            (None, []) => self.rest.len(),
                            (None, _) => return None,
                        },
                    };
                    let (printed, rest) = self.rest.split_at_checked(length)?;
                    (self.parts, self.rest) = (after, rest);
                    return Some((field, printed));
                }
            }
            self.parts = after;
        }
        None
    }

    /// Whether the key and the template ended together.
    fn is_whole(&self) -> bool {
        self.parts.is_empty() && self.rest.is_empty()
    }
}

/// Where the character first occurs. Byte by byte: most parts are too short for a search that looks at many at once.
fn find(text: &str, c: char) -> Option<usize> {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => text.bytes().position(|found| found == byte),
        _ => text.find(c),
    }
}

/// The value that prints so.
#[inline]
fn value<'a>(part: &FieldPart, printed: &'a str) -> Option<PropertyValue<'a>> {
    // Most keys are made of these.
    match (&part.key, part.format) {
        (KeyType::Text(CharSet::ALL), Format::Plain) if is_clean(printed) => {
            Some(PropertyValue::Borrowed(ValueRef::String(printed)))
        }
        (key @ KeyType::Unsigned { max, .. }, Format::Plain | Format::Pad(_)) => {
            let number = number(printed).filter(|number| number <= max)?;
            Some(PropertyValue::Borrowed(integer(key, i64::try_from(number).ok()?)?))
        }
        _ => value_of_any(part, printed),
    }
}

/// The same of parts of every form.
fn value_of_any<'a>(part: &FieldPart, printed: &'a str) -> Option<PropertyValue<'a>> {
    let key = part.key.of_one();
    Some(PropertyValue::Borrowed(match (key, part.format) {
        (KeyType::Unsigned { max, .. }, format) => {
            let number = match format {
                Format::Inverted => max.checked_sub(number(printed)?)?,
                Format::PadInverted(width) => {
                    let largest = 10_u128.checked_pow(width.into())?.checked_sub(1)?;
                    u64::try_from(largest.checked_sub(wide_number(printed)?)?).ok()?
                }
                _ => number(printed)?,
            };
            if number > *max {
                return None;
            }
            integer(key, i64::try_from(number).ok()?)?
        }
        (KeyType::Signed { bits }, format) => {
            let half = match format {
                Format::Pad(_) => 0,
                _ => 1_i128 << (bits.clamp(&1, &64) - 1),
            };
            let number = i64::try_from(i128::from(number(printed)?) - half).ok()?;
            let fits = i128::from(number) < 1_i128 << (bits.clamp(&1, &64) - 1);
            integer(key, number).filter(|_| fits)?
        }
        (KeyType::Text(chars), Format::Escaped) => {
            let text = unescape(printed).filter(|text| holds(*chars, text))?;
            return Some(PropertyValue::Owned(Value::String(text)));
        }
        (KeyType::Text(chars), _) if holds(*chars, printed) && is_clean(printed) => ValueRef::String(printed),
        (KeyType::Names(names), _) if names.contains(&printed) => ValueRef::String(printed),
        (KeyType::Uuid, _) if is_hex(printed, 32) => ValueRef::Guid(Uuid::try_parse(printed).ok()?),
        (KeyType::Bool, _) if printed == "1" => ValueRef::Boolean(true),
        (KeyType::Bool, _) if printed == "0" => ValueRef::Boolean(false),
        (KeyType::Time, format) => {
            let ticks = number(printed)?;
            ValueRef::DateTime(match format {
                Format::Inverted => Ticks::from_inverted(ticks)?,
                _ => Ticks::new(ticks)?,
            })
        }
        _ => return None,
    }))
}

/// Whether a lossy part prints such a text for some value.
fn is_printed(part: &FieldPart, printed: &str) -> bool {
    match part.format {
        Format::Shard(shards) => number(printed).is_some_and(|shard| shard < u64::from(shards)),
        Format::Blind => is_hex(printed, BLIND_DIGITS),
        Format::Time(items) => is_time(items, printed).is_some(),
        _ => printed.chars().all(|c| !forbidden(c) && fold_char(c) == c),
    }
}

fn is_time(items: &[TimeItem], printed: &str) -> Option<()> {
    let mut rest = printed;
    for item in items {
        let piece;
        (piece, rest) = rest.split_at_checked(item.width())?;
        match item {
            TimeItem::Char(c) => piece.strip_prefix(*c).map(|_| ())?,
            _ => number(piece).map(|_| ())?,
        }
    }
    Some(())
}

fn holds(chars: CharSet, text: &str) -> bool {
    chars.is_all() || text.chars().all(|c| chars.contains(c))
}

fn integer(key: &KeyType, number: i64) -> Option<ValueRef<'static>> {
    Some(match key_type::edm(*key) {
        EdmType::Int32 => ValueRef::Int32(i32::try_from(number).ok()?),
        _ => ValueRef::Int64(number),
    })
}

/// The most digits that 64 bits hold, whatever they are.
const SHORT: usize = 19;

/// Digits alone: no sign, no space.
fn number(text: &str) -> Option<u64> {
    if text.len() > SHORT {
        return wide_number(text).and_then(|number| u64::try_from(number).ok());
    }
    let digit = |number: u64, b: u8| b.is_ascii_digit().then(|| number * 10 + u64::from(b - b'0'));
    text.bytes().try_fold(0, digit).filter(|_| !text.is_empty())
}

/// The same of more digits.
fn wide_number(text: &str) -> Option<u128> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
