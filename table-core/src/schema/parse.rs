//! Keys taken apart again.

use uuid::Uuid;

use super::charset::{CharSet, forbidden};
use super::escape::unescape;
use super::fold::fold_char;
use super::key_type::{self, BLIND_DIGITS, Format, KeyType, TimeItem, is_lossless};
use super::print::{ended_by, is_clean};
use super::value::PropertyValue;
use super::{FieldPart, Part, Template};
use crate::model::{EdmType, Ticks, Value, ValueRef};

/// Gives `found` the value of every field that the key holds whole; what a lossy part printed is checked and
/// skipped. Returns `false` if the template doesn't print such a key: then what was found is worth nothing.
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

/// The value of one field that the key holds whole, or `None` where the template doesn't print such a key; of what its
/// other parts printed, the lengths alone are looked at.
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

/// A key as what the parts of its template printed.
struct Printed<'t, 'a> {
    parts: &'t [Part],
    at: usize,
    rest: &'a str,
}

impl<'t, 'a> Printed<'t, 'a> {
    fn new(template: &Template, key: &'a str) -> Self {
        Self { parts: template.parts, at: 0, rest: key }
    }

    /// The next field, and what it printed. Ends where the key doesn't go on as the template says.
    #[inline]
    fn next(&mut self) -> Option<(&'t FieldPart, &'a str)> {
        loop {
            let part = self.parts.get(self.at)?;
            match part {
                Part::Literal(text) => self.rest = self.rest.strip_prefix(text)?,
                Part::Field(part) => {
                    let end = ended_by(self.parts, self.at);
                    let is_last = self.at + 1 == self.parts.len();
                    let length = match (key_type::width(part.key, part.format), end) {
                        (Some(width), _) => width,
                        // The character doesn't occur in the part, so the first is the one that ends it.
                        (None, Some(end)) => self.rest.find(end)?,
                        (None, None) if is_last => self.rest.len(),
                        (None, None) => return None,
                    };
                    let printed;
                    (printed, self.rest) = self.rest.split_at_checked(length)?;
                    self.at += 1;
                    return Some((part, printed));
                }
            }
            self.at += 1;
        }
    }

    /// Whether the template had a part for everything that the key has, and the key everything of the template's.
    fn is_whole(&self) -> bool {
        self.at == self.parts.len() && self.rest.is_empty()
    }
}

/// The value that prints so.
fn value<'a>(part: &FieldPart, printed: &'a str) -> Option<PropertyValue<'a>> {
    let key = part.key.single();
    Some(PropertyValue::Borrowed(match (key, part.format) {
        (KeyType::Unsigned { max, .. }, format) => {
            let shown = number(printed)?;
            let number = match format {
                Format::Inverted => u128::from(max).checked_sub(shown)?,
                Format::PadInverted(width) => {
                    10_u128.checked_pow(width.into())?.checked_sub(1)?.checked_sub(shown)?
                }
                _ => shown,
            };
            if number > u128::from(max) {
                return None;
            }
            integer(key, i64::try_from(number).ok()?)?
        }
        (KeyType::Signed { bits }, format) => {
            let half = match format {
                Format::Pad(_) => 0,
                _ => 1_i128 << (bits.clamp(1, 64) - 1),
            };
            let number = i64::try_from(i128::try_from(number(printed)?).ok()? - half).ok()?;
            let fits = i128::from(number) < 1_i128 << (bits.clamp(1, 64) - 1);
            integer(key, number).filter(|_| fits)?
        }
        (KeyType::Text(chars), Format::Escaped) => {
            let text = unescape(printed).filter(|text| holds(chars, text))?;
            return Some(PropertyValue::Owned(Value::String(text)));
        }
        (KeyType::Text(chars), _) if holds(chars, printed) && is_clean(printed) => ValueRef::String(printed),
        (KeyType::Names(names), _) if names.contains(&printed) => ValueRef::String(printed),
        (KeyType::Uuid, _) if is_hex(printed, 32) => ValueRef::Guid(Uuid::try_parse(printed).ok()?),
        (KeyType::Bool, _) if printed == "1" => ValueRef::Boolean(true),
        (KeyType::Bool, _) if printed == "0" => ValueRef::Boolean(false),
        (KeyType::Time, format) => {
            let ticks = u64::try_from(number(printed)?).ok()?;
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
        Format::Shard(shards) => number(printed).is_some_and(|shard| shard < u128::from(shards)),
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

fn integer(key: KeyType, number: i64) -> Option<ValueRef<'static>> {
    Some(match key_type::edm(key) {
        EdmType::Int32 => ValueRef::Int32(i32::try_from(number).ok()?),
        _ => ValueRef::Int64(number),
    })
}

/// Digits alone: no sign, no space.
fn number(text: &str) -> Option<u128> {
    // No more digits than 64 bits hold, whatever they are.
    if text.len() <= 19 {
        let digit = |number: u64, b: u8| b.is_ascii_digit().then(|| number * 10 + u64::from(b - b'0'));
        return text.bytes().try_fold(0, digit).filter(|_| !text.is_empty()).map(u128::from);
    }
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}
