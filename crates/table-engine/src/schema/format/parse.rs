//! Keys taken apart, as bytes: digits and text are looked at eight at a time.

use table_words::Format;
use table_words::format::{BLIND_DIGITS, TimeItem, TimePattern};
use table_words::key::is_forbidden;
use uuid::Uuid;

use super::super::value::PropertyValue;
use super::super::{FieldPartOf, Part, PartOf, Template};
use super::charset::CharSet;
use super::digits::{are_hex, from_hex, number, wide_number};
use super::escape::unescape;
use super::fold::fold_char;
use super::form::{Form, Kind};
use super::key_type::{KeyTypeOf, edm};
use super::print::is_clean;
use crate::model::{EdmType, Ticks, Value, ValueRef, words};

/// Gives `found` the value of every field that the key holds whole. The text of a lossy part is checked and skipped.
/// Returns `false` if the template doesn't print such a key; the values found until then are worth nothing.
pub(crate) fn parse<'a>(
    template: &Template,
    key: &'a str,
    found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    parse_printed(Printed { whole: Some(key), ..Printed::new(template, key.as_bytes()) }, found)
}

/// Parses a key as [`parse`] does, by the parts of a template, which a layout may lend.
#[doc(hidden)]
pub fn parse_parts<'a>(
    parts: &[PartOf<'_>],
    key: &'a str,
    found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    parse_printed(Printed { whole: Some(key), ..Printed::of(parts, key.as_bytes()) }, found)
}

/// Parses a key as [`parse`] does, from the bytes of its text.
#[inline]
pub(crate) fn parse_bytes<'a>(
    template: &Template,
    key: &'a [u8],
    found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    parse_printed(Printed::new(template, key), found)
}

/// Parses, as [`parse`] does, what is left of a key behind its first parts.
#[inline]
pub(crate) fn parse_rest<'a>(
    template: &Template,
    parts: usize,
    rest: &'a [u8],
    found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    let parts = template.parts.get(parts..).unwrap_or_default();
    parse_printed(Printed { parts, ..Printed::new(template, rest) }, found)
}

/// Returns the parts that keys have in common which sort one after another: all before the last field, up to what ends the
/// field before it. `None` if no field is among them.
pub(crate) fn head_of(template: &Template) -> Option<&'static [Part]> {
    let is_field = |part: &Part| matches!(part, PartOf::Field(_));
    let last = template.parts.iter().rposition(is_field)?;
    let end = template.parts.get(..last)?.iter().rposition(|part| !is_field(part))?;
    template.parts.get(..=end).filter(|head| head.iter().any(is_field))
}

/// Gives `found` the values of these parts, with which a key begins. Returns their bytes; `None` if they don't print such a key.
pub(crate) fn parse_head<'a>(
    head: &[Part],
    key: &'a [u8],
    found: impl FnMut(usize, PropertyValue<'a>),
) -> Option<usize> {
    let mut printed = Printed { parts: head, rest: key, whole: None, is_plain: false };
    let fits = take_values(&mut printed, found) && printed.parts.is_empty();
    fits.then(|| key.len() - printed.rest.len())
}

#[inline]
fn parse_printed<'a>(mut parts: Printed<'_, 'a>, found: impl FnMut(usize, PropertyValue<'a>)) -> bool {
    take_values(&mut parts, found) && parts.is_whole()
}

#[inline]
fn take_values<'a>(parts: &mut Printed<'_, 'a>, mut found: impl FnMut(usize, PropertyValue<'a>)) -> bool {
    // One element of a list is not the field.
    while let Some((part, printed)) = parts.next() {
        match part.form {
            Form::Lossy if is_printed(part, printed.bytes) => {}
            Form::Lossy => return false,
            Form::Other => match value_of_any(part, printed.bytes) {
                Some(_) if part.each => {}
                Some(value) => found(part.field, value),
                None => return false,
            },
            form => match value(form, printed) {
                Some(_) if part.each => {}
                Some(value) => found(part.field, PropertyValue::Borrowed(value)),
                None => return false,
            },
        }
    }
    true
}

/// Returns the value of one field that the key holds whole, or `None` if the template doesn't print such a key. Of its other
/// parts the lengths alone are looked at.
pub(crate) fn parse_field<'a>(template: &Template, key: &'a [u8], field: usize) -> Option<PropertyValue<'a>> {
    field_of(Printed::new(template, key), field)
}

/// Returns the value of one field, as [`parse_field`] does, of a key each byte of which is known to be one that any key may
/// hold.
pub(crate) fn parse_plain_field<'a>(
    template: &Template,
    key: &'a str,
    field: usize,
) -> Option<PropertyValue<'a>> {
    // Most partition keys are one text, of which nothing has to be looked for.
    if let [PartOf::Field(FieldPartOf { form: Form::Text, width: None, field: only, .. })] = template.parts
        && *only == field
    {
        return Some(PropertyValue::Borrowed(ValueRef::String(key)));
    }
    let printed = Printed::new(template, key.as_bytes());
    field_of(Printed { whole: Some(key), is_plain: true, ..printed }, field)
}

fn field_of<'a>(mut parts: Printed<'_, 'a>, field: usize) -> Option<PropertyValue<'a>> {
    let mut wanted = None;
    while let Some((part, printed)) = parts.next() {
        if part.field == field && part.is_lossless() {
            wanted = Some(match part.form {
                Form::Other => value_of_any(part, printed.bytes)?,
                form => PropertyValue::Borrowed(value(form, printed)?),
            });
        }
    }
    wanted.filter(|_| parts.is_whole())
}

/// What a part printed.
#[derive(Clone, Copy)]
struct Piece<'a> {
    bytes: &'a [u8],
    /// Whether each byte is known to be one that any key may hold.
    is_plain: bool,
    /// The bytes as text, where the key is known to be text.
    text: Option<&'a str>,
}

impl<'a> Piece<'a> {
    /// Bytes of which nothing is known.
    fn of(bytes: &'a [u8]) -> Self {
        Self { bytes, is_plain: false, text: None }
    }

    #[inline]
    fn text(self) -> Option<&'a str> {
        if self.text.is_some() { self.text } else { text(self.bytes) }
    }

    /// Returns the text, if any key can hold it.
    #[inline]
    fn clean_text(self) -> Option<&'a str> {
        if self.is_plain || words::are_plain(self.bytes) {
            self.text()
        } else {
            self.text().filter(|text| is_clean(text))
        }
    }
}

/// A key as the bytes that the parts of its template printed.
struct Printed<'t, 'a> {
    /// The parts that are to come.
    parts: &'t [PartOf<'t>],
    rest: &'a [u8],
    /// The key, where it is known to be text.
    whole: Option<&'a str>,
    /// Whether each byte is known to be one that any key may hold.
    is_plain: bool,
}

impl<'t, 'a> Printed<'t, 'a> {
    #[inline]
    fn new(template: &Template, key: &'a [u8]) -> Self {
        Self::of(template.parts, key)
    }

    #[inline]
    fn of(parts: &'t [PartOf<'t>], key: &'a [u8]) -> Self {
        Self { parts, rest: key, whole: None, is_plain: false }
    }

    /// The next field, and what it printed. Ends where the key doesn't go on as the template says.
    #[expect(
        clippy::inline_always,
        reason = "for each part of each key, a call costs as much as what it does"
    )]
    #[inline(always)]
    fn next(&mut self) -> Option<(&'t FieldPartOf<'t>, Piece<'a>)> {
        while let [part, after @ ..] = self.parts {
            match part {
                PartOf::Literal(text) => self.rest = self.rest.strip_prefix(text.as_bytes())?,
                PartOf::Field(field) => {
                    let (length, is_plain) = match (field.width, after) {
                        (Some(width), _) => (width, false),
                        (None, []) => (self.rest.len(), false),
                        (None, [PartOf::Literal(text), ..]) => end(self.rest, text)?,
                        (None, [PartOf::Field(_), ..]) => return None,
                    };
                    let (bytes, rest) = self.rest.split_at_checked(length)?;
                    // No part ends within a character.
                    if rest.first().is_some_and(|byte| byte & 0xc0 == 0x80) {
                        return None;
                    }
                    let start = |whole: &str| whole.len() - self.rest.len();
                    let text = self.whole.and_then(|whole| whole.get(start(whole)..start(whole) + length));
                    (self.parts, self.rest) = (after, rest);
                    return Some((field, Piece { bytes, is_plain: is_plain || self.is_plain, text }));
                }
            }
            self.parts = after;
        }
        None
    }

    /// Returns whether the key and the template ended together.
    #[inline]
    fn is_whole(&self) -> bool {
        self.parts.is_empty() && self.rest.is_empty()
    }
}

/// Returns where a part ends that this text follows, and whether each byte of it is known to be one that any key may hold. The
/// text's first character doesn't occur in the part, so the first is the one.
#[inline]
fn end(rest: &[u8], text: &str) -> Option<(usize, bool)> {
    match text.as_bytes() {
        [] => None,
        [end @ ..=0x7f, ..] => words::find(rest, *end),
        _ => {
            let mut end = [0; 4];
            let end = text.chars().next()?.encode_utf8(&mut end).as_bytes();
            rest.windows(end.len()).position(|bytes| bytes == end).map(|at| (at, false))
        }
    }
}

/// Returns the value that prints so.
#[expect(clippy::inline_always, reason = "for each part of each key, a call costs as much as what it does")]
#[inline(always)]
fn value(form: Form, piece: Piece<'_>) -> Option<ValueRef<'_>> {
    let printed = piece.bytes;
    Some(match form {
        Form::Text => ValueRef::String(piece.clean_text()?),
        Form::Number { most, kind } => integer(kind, number(printed).filter(|number| *number <= most)?)?,
        Form::Inverted { from, most, kind } => {
            integer(kind, from.checked_sub(number(printed)?).filter(|number| *number <= most)?)?
        }
        Form::Offset { half, kind } => {
            let offset = number(printed).filter(|number| *number <= half - 1 + half)?;
            signed(kind, offset.wrapping_sub(half).cast_signed())?
        }
        Form::Ticks { inverted: false } => ValueRef::DateTime(Ticks::new(number(printed)?)?),
        Form::Ticks { inverted: true } => ValueRef::DateTime(Ticks::from_inverted(number(printed)?)?),
        Form::Uuid => ValueRef::Guid(Uuid::from_u128(from_hex(printed)?)),
        Form::Bool => ValueRef::Boolean(match printed {
            b"0" => false,
            b"1" => true,
            _ => return None,
        }),
        Form::Lossy | Form::Other => return None,
    })
}

/// Returns the value that prints so, of the parts that have no form of their own.
fn value_of_any<'a>(part: &FieldPartOf<'_>, printed: &'a [u8]) -> Option<PropertyValue<'a>> {
    let key = part.key.of_one();
    let kind = if edm(*key) == EdmType::Int32 { Kind::Int32 } else { Kind::Int64 };
    Some(PropertyValue::Borrowed(match (key, part.format) {
        (KeyTypeOf::Unsigned { max, .. }, format) => {
            let number = match format {
                Format::Inverted => max.checked_sub(number(printed)?)?,
                Format::PadInverted(width) => {
                    let largest = 10_u128.checked_pow(width.into())?.checked_sub(1)?;
                    u64::try_from(largest.checked_sub(wide_number(printed)?)?).ok()?
                }
                _ => number(printed)?,
            };
            integer(kind, Some(number).filter(|number| number <= max)?)?
        }
        (KeyTypeOf::Signed { bits }, format) => {
            let half = 1_i128 << (bits.clamp(&1, &64) - 1);
            let offset = if let Format::Pad(_) = format { 0 } else { half };
            let number = i128::from(number(printed)?) - offset;
            signed(kind, i64::try_from(number).ok().filter(|_| number < half)?)?
        }
        (KeyTypeOf::Text(chars), Format::Escaped) => {
            let text = unescape(text(printed)?).filter(|text| holds(*chars, text))?;
            return Some(PropertyValue::Owned(Value::String(text)));
        }
        (KeyTypeOf::Text(chars), _) => {
            ValueRef::String(Piece::of(printed).clean_text().filter(|text| holds(*chars, text))?)
        }
        (KeyTypeOf::Names(names), _) => {
            ValueRef::String(text(printed).filter(|printed| names.contains(printed))?)
        }
        (KeyTypeOf::Uuid, _) => ValueRef::Guid(Uuid::from_u128(from_hex(printed)?)),
        (KeyTypeOf::Bool, _) => value(Form::Bool, Piece::of(printed))?,
        (KeyTypeOf::Time, format) => {
            let ticks = Form::Ticks { inverted: format == Format::Inverted };
            value(ticks, Piece::of(printed))?
        }
        (KeyTypeOf::Optional(_) | KeyTypeOf::Each(_), _) => return None,
    }))
}

/// Returns whether a lossy part prints such a text for some value.
fn is_printed(part: &FieldPartOf<'_>, printed: &[u8]) -> bool {
    match part.format {
        Format::Shard(shards) => number(printed).is_some_and(|shard| shard < u64::from(shards)),
        Format::Blind => printed.len() == BLIND_DIGITS && are_hex(printed),
        Format::Time(pattern) => is_time(pattern, printed),
        _ if words::are_plain(printed) => !printed.iter().any(u8::is_ascii_uppercase),
        _ => text(printed).is_some_and(|text| text.chars().all(|c| !is_forbidden(c) && fold_char(c) == c)),
    }
}

fn is_time(pattern: TimePattern<'_>, printed: &[u8]) -> bool {
    let mut rest = printed;
    pattern.items().all(|item| {
        let Some((piece, behind)) = rest.split_at_checked(item.width()) else { return false };
        rest = behind;
        match item {
            TimeItem::Char(c) => u8::try_from(c).is_ok_and(|c| piece == [c]),
            _ => piece.iter().all(u8::is_ascii_digit),
        }
    })
}

fn holds(chars: CharSet, text: &str) -> bool {
    chars.is_all() || text.bytes().all(|byte| chars.contains_byte(byte))
}

#[inline]
fn text(printed: &[u8]) -> Option<&str> {
    std::str::from_utf8(printed).ok()
}

#[inline]
fn integer(kind: Kind, number: u64) -> Option<ValueRef<'static>> {
    signed(kind, i64::try_from(number).ok()?)
}

#[inline]
fn signed(kind: Kind, number: i64) -> Option<ValueRef<'static>> {
    Some(match kind {
        Kind::Int32 => ValueRef::Int32(i32::try_from(number).ok()?),
        Kind::Int64 => ValueRef::Int64(number),
    })
}
