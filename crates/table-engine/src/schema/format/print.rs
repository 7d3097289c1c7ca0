//! Keys from values.

use std::ops::Range;

use table_words::Format;
use table_words::format::{BLIND_DIGITS, TICKS_DIGITS, TimeItem, shard_digits};
use table_words::key::is_forbidden;

use crate::hash::xxh3_64;

use super::super::key_error::{KeyError, Reason};
use super::super::value::{PropertyValue, ValueError};
use super::super::{FieldPart, FieldPartOf, PartOf, Template};
use super::charset::CharSet;
use super::digits::{are_hex, push_digits, push_hex, push_wide_digits};
use super::escape::push_escaped;
use super::fold::fold_char;
use super::form::Form;
use super::key_type::{self, KeyTypeOf, offset_digits};
use crate::model::ticks::Civil;
use crate::model::{Value, ValueRef, key, words};
use crate::sorted_map::SortedMap;
use crate::{limits, sorting};

/// The source of a key's values: an entity, the arguments of a key's constructor, or a stored row.
#[doc(hidden)]
pub trait KeyValues {
    /// Returns the value of the part's field. For `{s:blind}` it is the token.
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError>;

    /// Returns the elements of the part's field, for `{v[]}`.
    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        self.value(part).map(|value| vec![value])
    }
}

/// The bytes that are kept free for a key: most are shorter.
pub(crate) const KEY_BYTES: usize = 48;

/// Lets bytes of text be appended to a text. That they are text is looked at once, when all of them are there.
pub(crate) fn in_bytes<T>(out: &mut String, append: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let mut bytes = std::mem::take(out).into_bytes();
    let done = append(&mut bytes);
    *out = into_text(bytes);
    done
}

/// Returns the text that bytes are.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into())
}

/// Appends the key, or appends nothing and returns `false` if a field is `None`: then there is no such row.
pub(crate) fn print(template: &Template, values: &dyn KeyValues, out: &mut String) -> Result<bool, KeyError> {
    in_bytes(out, |out| print_bytes(template, values, out))
}

/// Appends the key to a text that is written as bytes. Appends nothing and returns `false` if a field is `None`.
pub(crate) fn print_bytes(
    template: &Template,
    values: &dyn KeyValues,
    out: &mut Vec<u8>,
) -> Result<bool, KeyError> {
    let start = out.len();
    let mut field = 0;
    for (at, part) in template.parts.iter().enumerate() {
        match part {
            PartOf::Literal(text) => out.extend_from_slice(text.as_bytes()),
            PartOf::Field(part) => {
                field = part.field;
                let error = |reason| KeyError { field, reason };
                let value = values.value(part).map_err(|e| error(Reason::Value(e)))?;
                let Some(value) = value.as_value_ref() else {
                    out.truncate(start);
                    return Ok(false);
                };
                print_part(part, value, ended_by(template.parts, at), out).map_err(error)?;
            }
        }
        // No text has more units than bytes.
        if out.len() - start > limits::KEY_UNITS {
            let units = units_from(out, start);
            if units > limits::KEY_UNITS {
                return Err(KeyError { field, reason: Reason::Long(units) });
            }
        }
    }
    Ok(true)
}

/// Returns the key that the parts of a template print, which a layout may lend, of the values of fields. `None` if one has no
/// value, or can't be printed.
#[doc(hidden)]
pub fn print_parts<'v>(
    parts: &[PartOf<'_>],
    value: impl Fn(usize) -> Option<ValueRef<'v>>,
) -> Option<String> {
    let mut out = Vec::with_capacity(KEY_BYTES);
    for (at, part) in parts.iter().enumerate() {
        match part {
            PartOf::Literal(text) => out.extend_from_slice(text.as_bytes()),
            PartOf::Field(part) => {
                print_part(part, value(part.field)?, ended_by(parts, at), &mut out).ok()?;
            }
        }
    }
    Some(into_text(out)).filter(|key| key::utf16_units(key) <= limits::KEY_UNITS)
}

/// Returns what every key begins with that the parts of a template print, as far as it follows from the values that are known;
/// and whether it is the whole key.
#[cfg(feature = "access")]
pub(crate) fn print_start<'v>(
    parts: &[PartOf<'_>],
    value: impl Fn(usize) -> Option<ValueRef<'v>>,
) -> (String, bool) {
    let mut out = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let known = out.len();
        let is_printed = match part {
            PartOf::Literal(text) => {
                out.extend_from_slice(text.as_bytes());
                true
            }
            PartOf::Field(part) => value(part.field)
                .is_some_and(|value| print_part(part, value, ended_by(parts, at), &mut out).is_ok()),
        };
        if !is_printed {
            out.truncate(known);
            return (into_text(out), false);
        }
    }
    (into_text(out), true)
}

/// Returns the key that the parts of a template print, as [`print_parts`] does, or the number of the part that can't be printed,
/// and why.
#[inline]
pub(crate) fn try_print_parts(
    parts: &[PartOf<'_>],
    values: &[ValueRef<'_>],
) -> Result<String, (usize, Reason)> {
    let (mut out, mut values) = (Vec::with_capacity(KEY_BYTES), values.iter());
    for (at, part) in parts.iter().enumerate() {
        match part {
            PartOf::Literal(text) => out.extend_from_slice(text.as_bytes()),
            PartOf::Field(part) => {
                let value = values.next().copied().ok_or_else(|| {
                    (at, Reason::Value(ValueError::mistyped(key_type::edm(part.key), None)))
                })?;
                print_part(part, value, ended_by(parts, at), &mut out).map_err(|reason| (at, reason))?;
            }
        }
        let units = units_from(&out, 0);
        if units > limits::KEY_UNITS {
            return Err((at, Reason::Long(units)));
        }
    }
    Ok(into_text(out))
}

/// Returns how many UTF-16 code units the text from there on takes.
#[cold]
fn units_from(out: &[u8], start: usize) -> usize {
    out.get(start..).map_or(0, |printed| key::utf16_units(&String::from_utf8_lossy(printed)))
}

/// Appends the bytes of every key of an index with `[]` in it, each once and in order, and gives `take` its place: one for each
/// choice of elements. Without `[]` it is the one key, or none if a field is `None`.
pub(crate) fn print_all(
    template: &Template,
    values: &dyn KeyValues,
    out: &mut Vec<u8>,
    take: &mut dyn FnMut(Range<usize>),
) -> Result<(), KeyError> {
    if template.parts.iter().all(|part| !matches!(part, PartOf::Field(FieldPartOf { each: true, .. }))) {
        let start = out.len();
        if print_bytes(template, values, out)? {
            take(start..out.len());
        }
        return Ok(());
    }
    let mut choices: Vec<Choice> = Vec::new();
    for part in template.parts {
        if let PartOf::Field(part) = part
            && part.each
            && choices.iter().all(|choice| choice.field != part.field)
        {
            choices.push(Choice::of(part, values)?);
        }
    }
    // A transaction can't hold more rows, and a product of lists is soon beyond counting.
    let mut rows = 1_usize;
    for choice in &choices {
        rows = rows.saturating_mul(choice.elements.len());
        if rows > limits::BATCH_OPERATIONS {
            return Err(KeyError { field: choice.field, reason: Reason::Rows(rows) });
        }
    }
    let mut keys = Vec::with_capacity(rows);
    for row in 0..rows {
        let mut rest = row;
        let chosen = choices.iter().filter_map(|choice| {
            let at = rest % choice.elements.len();
            rest /= choice.elements.len();
            choice.elements.get(at).map(|value| (choice.field, value))
        });
        let mut text = Vec::with_capacity(KEY_BYTES);
        if print_bytes(template, &Chosen { values, chosen: chosen.collect() }, &mut text)? {
            keys.push(text);
        }
    }
    sorting::sort(&mut keys);
    keys.dedup();
    for key in keys {
        let start = out.len();
        out.extend_from_slice(&key);
        take(start..out.len());
    }
    Ok(())
}

/// The distinct elements of a field.
struct Choice {
    field: usize,
    elements: Vec<Value>,
}

impl Choice {
    fn of(part: &FieldPart, values: &dyn KeyValues) -> Result<Self, KeyError> {
        let error = |reason| KeyError { field: part.field, reason };
        let mut distinct = SortedMap::new();
        for element in values.elements(part).map_err(|e| error(Reason::Value(e)))? {
            if let Some(value) = element.as_value_ref() {
                distinct.insert(plain(part.key, value).map_err(error)?, value.to_value());
            }
        }
        Ok(Self { field: part.field, elements: distinct.into_values().collect() })
    }
}

/// Values with one element in the place of each list.
struct Chosen<'a> {
    values: &'a dyn KeyValues,
    chosen: Vec<(usize, &'a Value)>,
}

impl KeyValues for Chosen<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        if part.each
            && let Some((_, value)) = self.chosen.iter().find(|(field, _)| *field == part.field)
        {
            return Ok(PropertyValue::Borrowed(value.as_value_ref()));
        }
        self.values.value(part)
    }
}

/// Returns the character that ends this part in its template, if it is one of varying width that is not the last.
pub(crate) fn ended_by(parts: &[PartOf<'_>], at: usize) -> Option<char> {
    match (parts.get(at), parts.get(at + 1)) {
        (Some(PartOf::Field(part)), Some(PartOf::Literal(text))) if part.width.is_none() => {
            text.chars().next()
        }
        _ => None,
    }
}

/// Appends what one part prints; `end` is the character that ends it.
#[inline]
pub(crate) fn print_part(
    part: &FieldPartOf<'_>,
    value: ValueRef<'_>,
    end: Option<char>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    match print_by_form(part, value, end, out) {
        Some(()) => Ok(()),
        None => print_any(part, value, end, out),
    }
}

/// Appends what one part prints of most values. Appends nothing and gives `None` where there is more to say of the part or of
/// the value.
#[inline]
fn print_by_form(
    part: &FieldPartOf<'_>,
    value: ValueRef<'_>,
    end: Option<char>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let unsigned = |most| u64::try_from(value.as_i64()?).ok().filter(|number| *number <= most);
    let number = match part.form {
        Form::Text => {
            let text = value.as_str()?;
            if !words::are_plain(text.as_bytes()) || end.is_some_and(|end| occurs(end, text)) {
                return None;
            }
            out.extend_from_slice(text.as_bytes());
            return Some(());
        }
        Form::Number { most, .. } => unsigned(most)?,
        Form::Inverted { from, most, .. } => from.checked_sub(unsigned(most)?)?,
        Form::Offset { half, .. } => {
            let offset = value.as_i64()?.cast_unsigned().wrapping_add(half);
            Some(offset).filter(|offset| *offset <= half - 1 + half)?
        }
        Form::Ticks { inverted: false } => value.as_ticks()?.get(),
        Form::Ticks { inverted: true } => value.as_ticks()?.inverted(),
        Form::Uuid => {
            push_hex(value.as_uuid()?.as_u128(), out);
            return Some(());
        }
        Form::Bool => value.as_bool()?.into(),
        Form::Lossy | Form::Other => return None,
    };
    let width = part.width?;
    if u32::try_from(width).ok().and_then(|width| 10_u64.checked_pow(width)).is_some_and(|end| number >= end)
    {
        return None;
    }
    push_digits(number, width, out);
    Some(())
}

fn occurs(c: char, text: &str) -> bool {
    match u8::try_from(c) {
        Ok(byte) if byte.is_ascii() => text.as_bytes().contains(&byte),
        _ => text.contains(c),
    }
}

/// Appends what a part of any form prints of any value.
fn print_any(
    part: &FieldPartOf<'_>,
    value: ValueRef<'_>,
    end: Option<char>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let key = part.key.single();
    match (key, part.format) {
        (_, Format::Shard(shards)) => print_shard(shard_of(key, value, shards)?, shards, out),
        (_, Format::Blind) => out.extend_from_slice(token(text(key, value)?)?.as_bytes()),
        (KeyTypeOf::Unsigned { digits: width, max }, format) => {
            print_unsigned(unsigned(key, value, max)?, width, max, format, out)?;
        }
        (KeyTypeOf::Signed { bits }, format) => print_signed(integer(key, value)?, bits, format, out)?,
        (KeyTypeOf::Text(chars), format) => print_text(text(key, value)?, chars, format, end, out)?,
        (KeyTypeOf::Names(names), _) => {
            let name = text(key, value)?;
            if !names.contains(&name) {
                return Err(Reason::Unnamed);
            }
            out.extend_from_slice(name.as_bytes());
        }
        (KeyTypeOf::Uuid, _) => {
            let id = value.as_uuid().ok_or_else(|| mistyped(key, value))?;
            push_hex(id.as_u128(), out);
        }
        (KeyTypeOf::Bool, _) => {
            out.push(if value.as_bool().ok_or_else(|| mistyped(key, value))? { b'1' } else { b'0' });
        }
        (KeyTypeOf::Time, format) => {
            let time = value.as_ticks().ok_or_else(|| mistyped(key, value))?;
            match format {
                Format::Inverted => push_digits(time.inverted(), TICKS_DIGITS, out),
                Format::Time(pattern) => {
                    let civil = time.civil();
                    pattern.items().for_each(|item| print_item(&civil, item, out));
                }
                _ => push_digits(time.get(), TICKS_DIGITS, out),
            }
        }
        // `single` leaves neither.
        (KeyTypeOf::Optional(_) | KeyTypeOf::Each(_), _) => return Err(mistyped(key, value)),
    }
    Ok(())
}

fn print_unsigned(
    number: u64,
    width: u8,
    max: u64,
    format: Format<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    let (width, inverted) = match format {
        Format::Inverted => {
            push_digits(max - number, width.into(), out);
            return Ok(());
        }
        Format::Pad(width) => (width, false),
        Format::PadInverted(width) => (width, true),
        _ => (width, false),
    };
    // Ten to the twentieth is more than 64 bits hold.
    let above = 10_u64.checked_pow(width.into());
    if above.is_some_and(|above| number >= above) {
        return Err(Reason::Wide { value: number, digits: width });
    }
    if inverted {
        let largest = above.map_or_else(|| 10_u128.saturating_pow(width.into()), u128::from) - 1;
        push_wide_digits(largest - u128::from(number), width.into(), out);
    } else {
        push_digits(number, width.into(), out);
    }
    Ok(())
}

fn print_signed(number: i64, bits: u8, format: Format<'_>, out: &mut Vec<u8>) -> Result<(), Reason> {
    if let Format::Pad(_) = format {
        let number = u64::try_from(number).map_err(|_| Reason::Negative(number))?;
        return print_unsigned(number, 0, u64::MAX, format, out);
    }
    let half = 1_i128 << (bits.clamp(1, 64) - 1);
    let offset = i128::from(number) + half;
    if !(0..2 * half).contains(&offset) {
        return Err(Reason::Beyond(number));
    }
    push_wide_digits(offset.unsigned_abs(), offset_digits(bits), out);
    Ok(())
}

/// Returns whether any key can hold the text.
pub(crate) fn is_clean(text: &str) -> bool {
    key::is_plain(text) || !text.contains(is_forbidden)
}

fn print_text(
    text: &str,
    chars: CharSet,
    format: Format<'_>,
    end: Option<char>,
    out: &mut Vec<u8>,
) -> Result<(), Reason> {
    if !chars.is_all()
        && let Some(c) = text.chars().find(|c| !chars.contains(*c))
    {
        return Err(Reason::Outside(c));
    }
    let refused = |c, printed| {
        if is_forbidden(printed) {
            Some(Reason::Forbidden(c))
        } else if end == Some(printed) {
            Some(Reason::Separator(c))
        } else {
            None
        }
    };
    match format {
        Format::Escaped => push_escaped(text, out),
        Format::Lower => {
            for c in text.chars() {
                let printed = fold_char(c);
                if let Some(reason) = refused(c, printed) {
                    return Err(reason);
                }
                push_char(printed, out);
            }
        }
        _ => {
            let may_be_refused = !is_clean(text) || end.is_some_and(|end| text.contains(end));
            if may_be_refused && let Some(reason) = text.chars().find_map(|c| refused(c, c)) {
                return Err(reason);
            }
            out.extend_from_slice(text.as_bytes());
        }
    }
    Ok(())
}

/// Appends a character.
pub(crate) fn push_char(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn print_item(civil: &Civil, item: TimeItem, out: &mut Vec<u8>) {
    let number = match item {
        TimeItem::Year => civil.year,
        TimeItem::Month => civil.month,
        TimeItem::Day => civil.day,
        TimeItem::Hour => civil.hour,
        TimeItem::Minute => civil.minute,
        TimeItem::Second => civil.second,
        TimeItem::DayOfYear => civil.day_of_year(),
        TimeItem::Char(c) => return push_char(c, out),
        // There is no other item: the two crates come in one version.
        _ => return,
    };
    push_digits(number, item.width(), out);
}

/// Returns the shard that a value belongs to: XXH3 of its plain text, modulo the number of shards.
pub(crate) fn shard_of(key: KeyTypeOf<'_>, value: ValueRef<'_>, shards: u32) -> Result<u32, Reason> {
    let hash = xxh3_64(plain(key, value)?.as_bytes());
    Ok(u32::try_from(hash % u64::from(shards.max(1))).unwrap_or_default())
}

/// Appends a shard's number.
pub(crate) fn print_shard(shard: u32, shards: u32, out: &mut Vec<u8>) {
    push_digits(shard.into(), shard_digits(shards), out);
}

/// Returns a value's text as a hash sees it: numbers in decimal without padding, so that a field that grows stays in its
/// shard; times in ticks; the rest as `{x}` prints it, but any text at all.
fn plain(key: KeyTypeOf<'_>, value: ValueRef<'_>) -> Result<String, Reason> {
    Ok(match (key.single(), value) {
        (KeyTypeOf::Text(_) | KeyTypeOf::Names(_), ValueRef::String(text)) => text.to_owned(),
        (KeyTypeOf::Unsigned { .. } | KeyTypeOf::Signed { .. }, _) => integer(key, value)?.to_string(),
        (KeyTypeOf::Uuid, ValueRef::Guid(id)) => id.as_simple().to_string(),
        (KeyTypeOf::Bool, ValueRef::Boolean(truth)) => u8::from(truth).to_string(),
        (KeyTypeOf::Time, ValueRef::DateTime(time)) => format!("{:019}", time.get()),
        _ => return Err(mistyped(key, value)),
    })
}

fn token(text: &str) -> Result<&str, Reason> {
    if text.len() == BLIND_DIGITS && are_hex(text.as_bytes()) { Ok(text) } else { Err(Reason::Token) }
}

fn unsigned(key: KeyTypeOf<'_>, value: ValueRef<'_>, max: u64) -> Result<u64, Reason> {
    let number = integer(key, value)?;
    let unsigned = u64::try_from(number).map_err(|_| Reason::Negative(number))?;
    if unsigned > max { Err(Reason::Beyond(number)) } else { Ok(unsigned) }
}

fn integer(key: KeyTypeOf<'_>, value: ValueRef<'_>) -> Result<i64, Reason> {
    value.as_i64().ok_or_else(|| mistyped(key, value))
}

fn text<'v>(key: KeyTypeOf<'_>, value: ValueRef<'v>) -> Result<&'v str, Reason> {
    value.as_str().ok_or_else(|| mistyped(key, value))
}

fn mistyped(key: KeyTypeOf<'_>, value: ValueRef<'_>) -> Reason {
    Reason::Value(ValueError::mistyped(key_type::edm(key), Some(value)))
}
