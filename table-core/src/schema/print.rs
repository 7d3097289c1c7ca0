//! Keys from values.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use super::charset::{CharSet, forbidden};
use super::escape::escape;
use super::fold::fold_char;
use super::key_error::{KeyError, Reason};
use super::key_type::{
    self, BLIND_DIGITS, Format, KeyType, TICKS_DIGITS, TimeItem, offset_digits, shard_digits,
};
use super::value::{PropertyValue, ValueError};
use super::{FieldPart, Part, Template};
use crate::limits;
use crate::model::{Ticks, Value, ValueRef, key};

/// The source of a key's values: an entity, the arguments of a key's constructor, or a stored row.
pub(crate) trait KeyValues {
    /// The value of the part's field. For `{s:blind}` it is the token.
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError>;

    /// The elements of the part's field, for `{v[]}`.
    fn elements(&self, part: &FieldPart) -> Result<Vec<PropertyValue<'_>>, ValueError> {
        self.value(part).map(|value| vec![value])
    }
}

/// The bytes that are kept free for a key: most are shorter.
pub(crate) const KEY_BYTES: usize = 48;

/// Appends the key, or appends nothing and returns `false` if a field is `None`: then there is no such row.
pub(crate) fn print(template: &Template, values: &dyn KeyValues, out: &mut String) -> Result<bool, KeyError> {
    let start = out.len();
    let mut field = 0;
    for (at, part) in template.parts.iter().enumerate() {
        match part {
            Part::Literal(text) => out.push_str(text),
            Part::Field(part) => {
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
        let printed = out.get(start..).unwrap_or_default();
        // No text has more units than bytes.
        if printed.len() > limits::KEY_UNITS {
            let units = key::utf16_units(printed);
            if units > limits::KEY_UNITS {
                return Err(KeyError { field, reason: Reason::Long(units) });
            }
        }
    }
    Ok(true)
}

/// Appends every key of an index with `[]` in it, each once and in order, and gives `take` its place: one for each
/// choice of elements. Without `[]` it is the one key, or none if a field is `None`.
pub(crate) fn print_all(
    template: &Template,
    values: &dyn KeyValues,
    out: &mut String,
    take: &mut dyn FnMut(Range<usize>),
) -> Result<(), KeyError> {
    if template.parts.iter().all(|part| !matches!(part, Part::Field(FieldPart { each: true, .. }))) {
        let start = out.len();
        if print(template, values, out)? {
            take(start..out.len());
        }
        return Ok(());
    }
    let mut choices: Vec<Choice> = Vec::new();
    for part in template.parts {
        if let Part::Field(part) = part
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
        let mut text = String::new();
        if print(template, &Chosen { values, chosen: chosen.collect() }, &mut text)? {
            keys.push(text);
        }
    }
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let start = out.len();
        out.push_str(&key);
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
        let mut distinct = BTreeMap::new();
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

/// The character that ends this part in its template, if it is one of varying width that is not the last.
pub(super) fn ended_by(parts: &[Part], at: usize) -> Option<char> {
    match (parts.get(at), parts.get(at + 1)) {
        (Some(Part::Field(part)), Some(Part::Literal(text)))
            if key_type::width(part.key, part.format).is_none() =>
        {
            text.chars().next()
        }
        _ => None,
    }
}

/// Appends what one part prints; `end` is the character that ends it.
pub(super) fn print_part(
    part: &FieldPart,
    value: ValueRef<'_>,
    end: Option<char>,
    out: &mut String,
) -> Result<(), Reason> {
    let key = part.key.single();
    match (key, part.format) {
        (_, Format::Shard(shards)) => print_shard(shard_of(key, value, shards)?, shards, out),
        (_, Format::Blind) => out.push_str(token(text(key, value)?)?),
        (KeyType::Unsigned { digits: width, max }, format) => {
            print_unsigned(unsigned(key, value, max)?, width, max, format, out)?;
        }
        (KeyType::Signed { bits }, format) => print_signed(integer(key, value)?, bits, format, out)?,
        (KeyType::Text(chars), format) => print_text(text(key, value)?, chars, format, end, out)?,
        (KeyType::Names(names), _) => {
            let name = text(key, value)?;
            if !names.contains(&name) {
                return Err(Reason::Unnamed);
            }
            out.push_str(name);
        }
        (KeyType::Uuid, _) => {
            let id = value.as_uuid().ok_or_else(|| mistyped(key, value))?;
            out.push_str(id.as_simple().encode_lower(&mut Uuid::encode_buffer()));
        }
        (KeyType::Bool, _) => {
            out.push(if value.as_bool().ok_or_else(|| mistyped(key, value))? { '1' } else { '0' });
        }
        (KeyType::Time, format) => {
            let time = value.as_ticks().ok_or_else(|| mistyped(key, value))?;
            match format {
                Format::Inverted => digits(time.inverted(), TICKS_DIGITS, out),
                Format::Time(items) => items.iter().for_each(|item| print_item(time, *item, out)),
                _ => digits(time.get(), TICKS_DIGITS, out),
            }
        }
        // `single` leaves neither.
        (KeyType::Optional(_) | KeyType::Each(_), _) => return Err(mistyped(key, value)),
    }
    Ok(())
}

fn print_unsigned(number: u64, width: u8, max: u64, format: Format, out: &mut String) -> Result<(), Reason> {
    let (width, inverted) = match format {
        Format::Inverted => {
            digits(max - number, width.into(), out);
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
        digits(largest - u128::from(number), width.into(), out);
    } else {
        digits(number, width.into(), out);
    }
    Ok(())
}

fn print_signed(number: i64, bits: u8, format: Format, out: &mut String) -> Result<(), Reason> {
    if let Format::Pad(_) = format {
        let number = u64::try_from(number).map_err(|_| Reason::Negative(number))?;
        return print_unsigned(number, 0, u64::MAX, format, out);
    }
    let half = 1_i128 << (bits.clamp(1, 64) - 1);
    let offset = i128::from(number) + half;
    if !(0..2 * half).contains(&offset) {
        return Err(Reason::Beyond(number));
    }
    digits(offset.unsigned_abs(), offset_digits(bits), out);
    Ok(())
}

/// Whether any key can hold the text.
pub(super) fn is_clean(text: &str) -> bool {
    key::is_plain(text) || !text.contains(forbidden)
}

fn print_text(
    text: &str,
    chars: CharSet,
    format: Format,
    end: Option<char>,
    out: &mut String,
) -> Result<(), Reason> {
    if !chars.is_all()
        && let Some(c) = text.chars().find(|c| !chars.contains(*c))
    {
        return Err(Reason::Outside(c));
    }
    let refused = |c, printed| {
        if forbidden(printed) {
            Some(Reason::Forbidden(c))
        } else if end == Some(printed) {
            Some(Reason::Separator(c))
        } else {
            None
        }
    };
    match format {
        Format::Escaped => escape(text, out),
        Format::Lower => {
            for c in text.chars() {
                let printed = fold_char(c);
                if let Some(reason) = refused(c, printed) {
                    return Err(reason);
                }
                out.push(printed);
            }
        }
        _ => {
            let may_be_refused = !is_clean(text) || end.is_some_and(|end| text.contains(end));
            if may_be_refused && let Some(reason) = text.chars().find_map(|c| refused(c, c)) {
                return Err(reason);
            }
            out.push_str(text);
        }
    }
    Ok(())
}

fn print_item(time: Ticks, item: TimeItem, out: &mut String) {
    let civil = time.civil();
    let number = match item {
        TimeItem::Year => civil.year,
        TimeItem::Month => civil.month,
        TimeItem::Day => civil.day,
        TimeItem::Hour => civil.hour,
        TimeItem::Minute => civil.minute,
        TimeItem::Second => civil.second,
        TimeItem::DayOfYear => day_of_year(civil.year, civil.month, civil.day),
        TimeItem::Char(c) => return out.push(c),
    };
    digits(number, item.width(), out);
}

/// The first of January is day 1.
fn day_of_year(year: u64, month: u64, day: u64) -> u64 {
    const LENGTHS: [u64; 11] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30];
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let before: u64 = (1..month).zip(LENGTHS).map(|(_, length)| length).sum();
    before + u64::from(leap && month > 2) + day
}

/// The shard that a value belongs to: XXH3 of its plain text, modulo the number of shards.
pub(crate) fn shard_of(key: KeyType, value: ValueRef<'_>, shards: u32) -> Result<u32, Reason> {
    let hash = xxh3_64(plain(key, value)?.as_bytes());
    Ok(u32::try_from(hash % u64::from(shards.max(1))).unwrap_or_default())
}

/// Appends a shard's number.
pub(crate) fn print_shard(shard: u32, shards: u32, out: &mut String) {
    digits(shard, shard_digits(shards), out);
}

/// A value's text as a hash sees it: numbers in decimal without padding, so that a field that grows stays in its
/// shard; times in ticks; the rest as `{x}` prints it, but any text at all.
fn plain(key: KeyType, value: ValueRef<'_>) -> Result<String, Reason> {
    Ok(match (key.single(), value) {
        (KeyType::Text(_) | KeyType::Names(_), ValueRef::String(text)) => text.to_owned(),
        (KeyType::Unsigned { .. } | KeyType::Signed { .. }, _) => integer(key, value)?.to_string(),
        (KeyType::Uuid, ValueRef::Guid(id)) => id.as_simple().to_string(),
        (KeyType::Bool, ValueRef::Boolean(truth)) => u8::from(truth).to_string(),
        (KeyType::Time, ValueRef::DateTime(time)) => format!("{:019}", time.get()),
        _ => return Err(mistyped(key, value)),
    })
}

/// Appends the number in decimal, in at least so many digits. By hand, since formatting is the larger part of a key.
fn digits(number: impl Into<u128>, width: usize, out: &mut String) {
    /// Of the largest of 64 bits.
    const MOST: usize = 20;
    let number = number.into();
    let (Ok(mut rest), true) = (u64::try_from(number), width <= MOST) else {
        // Writing into a `String` can't fail.
        let _ = write!(out, "{number:0width$}");
        return;
    };
    let mut text = [b'0'; MOST];
    let mut printed = 0;
    for digit in text.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *digit = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        printed += 1;
    }
    let (_, text) = text.split_at(MOST - printed.max(width).max(1));
    out.push_str(std::str::from_utf8(text).unwrap_or_default());
}

fn token(text: &str) -> Result<&str, Reason> {
    let is_hex = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if text.len() == BLIND_DIGITS && text.bytes().all(is_hex) { Ok(text) } else { Err(Reason::Token) }
}

fn unsigned(key: KeyType, value: ValueRef<'_>, max: u64) -> Result<u64, Reason> {
    let number = integer(key, value)?;
    let unsigned = u64::try_from(number).map_err(|_| Reason::Negative(number))?;
    if unsigned > max { Err(Reason::Beyond(number)) } else { Ok(unsigned) }
}

fn integer(key: KeyType, value: ValueRef<'_>) -> Result<i64, Reason> {
    value.as_i64().ok_or_else(|| mistyped(key, value))
}

fn text(key: KeyType, value: ValueRef<'_>) -> Result<&str, Reason> {
    value.as_str().ok_or_else(|| mistyped(key, value))
}

fn mistyped(key: KeyType, value: ValueRef<'_>) -> Reason {
    Reason::Value(ValueError::mistyped(key_type::edm(key), Some(value)))
}
