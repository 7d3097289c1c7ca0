//! The rules of keys, one character and one digit at a time: what the quick ways are compared with.

use std::fmt::Write;

use table_words::format::{BLIND_DIGITS, TICKS_DIGITS, TimeItem, TimePattern, shard_digits};
use table_words::key::is_forbidden;
use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::{EdmType, Ticks, Value, ValueRef};
use crate::schema::format::charset::CharSet;
use crate::schema::format::fold::fold_char;
use crate::schema::format::key_type::{self, Format, KeyType, offset_digits};
use crate::schema::key_error::Reason;
use crate::schema::value::{PropertyValue, ValueError};
use crate::schema::{FieldPart, Part, Template, escape, unescape};

/// Gives `found` the value of every field that the key holds whole; what a lossy part printed is checked and
/// skipped. Returns `false` if the template doesn't print such a key: then what was found is worth nothing.
pub(super) fn parse<'a>(
    template: &Template,
    key: &'a str,
    mut found: impl FnMut(usize, PropertyValue<'a>),
) -> bool {
    let mut parts = Printed::new(template, key);
    while let Some((part, printed)) = parts.next() {
        if !part.format.is_lossless() {
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

/// A key as what the parts of its template printed.
struct Printed<'t, 'a> {
    /// The parts that are to come.
    parts: &'t [Part],
    rest: &'a str,
}

impl<'t, 'a> Printed<'t, 'a> {
    fn new(template: &Template, key: &'a str) -> Self {
        Self { parts: template.parts, rest: key }
    }

    /// Returns the next field, and what it printed. Ends where the key doesn't go on as the template says.
    fn next(&mut self) -> Option<(&'t FieldPart, &'a str)> {
        while let [part, after @ ..] = self.parts {
            match part {
                Part::Literal(text) => self.rest = self.rest.strip_prefix(text)?,
                Part::Field(field) => {
                    let length = match key_type::width(field.key, field.format) {
                        Some(width) => width,
                        None => match (ended_by(self.parts, 0), after) {
                            // The character doesn't occur in the part, so the first is the one that ends it.
                            (Some(end), _) => self.rest.find(end)?,
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

    /// Returns whether the template had a part for everything that the key has, and the key everything of the template's.
    fn is_whole(&self) -> bool {
        self.parts.is_empty() && self.rest.is_empty()
    }
}

/// Returns the value that prints so.
fn value<'a>(part: &FieldPart, printed: &'a str) -> Option<PropertyValue<'a>> {
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
            whole(key, i64::try_from(number).ok()?)?
        }
        (KeyType::Signed { bits }, format) => {
            let half = match format {
                Format::Pad(_) => 0,
                _ => 1_i128 << (bits.clamp(&1, &64) - 1),
            };
            let number = i64::try_from(i128::from(number(printed)?) - half).ok()?;
            let fits = i128::from(number) < 1_i128 << (bits.clamp(&1, &64) - 1);
            whole(key, number).filter(|_| fits)?
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

/// Returns whether a lossy part prints such a text for some value.
fn is_printed(part: &FieldPart, printed: &str) -> bool {
    match part.format {
        Format::Shard(shards) => number(printed).is_some_and(|shard| shard < u64::from(shards)),
        Format::Blind => is_hex(printed, BLIND_DIGITS),
        Format::Time(pattern) => is_time(pattern, printed).is_some(),
        _ => printed.chars().all(|c| !is_forbidden(c) && fold_char(c) == c),
    }
}

fn is_time(pattern: TimePattern<'_>, printed: &str) -> Option<()> {
    let mut rest = printed;
    for item in pattern.items() {
        let piece;
        (piece, rest) = rest.split_at_checked(item.width())?;
        match item {
            TimeItem::Char(c) => piece.strip_prefix(c).map(|_| ())?,
            _ => number(piece).map(|_| ())?,
        }
    }
    Some(())
}

fn holds(chars: CharSet, text: &str) -> bool {
    chars.is_all() || text.chars().all(|c| chars.contains(c))
}

fn whole(key: &KeyType, number: i64) -> Option<ValueRef<'static>> {
    Some(match key_type::edm(*key) {
        EdmType::Int32 => ValueRef::Int32(i32::try_from(number).ok()?),
        _ => ValueRef::Int64(number),
    })
}

/// Digits alone: no sign, no space.
fn number(text: &str) -> Option<u64> {
    wide_number(text).and_then(|number| u64::try_from(number).ok())
}

/// Reads digits alone, which may take up to 128 bits.
fn wide_number(text: &str) -> Option<u128> {
    if text.bytes().all(|b| b.is_ascii_digit()) { text.parse().ok() } else { None }
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Returns the character that ends this part in its template, if it is one of varying width that is not the last.
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
                Format::Time(pattern) => pattern.items().for_each(|item| print_item(time, item, out)),
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

/// Returns whether any key can hold the text.
fn is_clean(text: &str) -> bool {
    !text.contains(is_forbidden)
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
        if is_forbidden(printed) {
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
        _ => unreachable!("there is no other item"),
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

/// Returns the shard that a value belongs to: XXH3 of its plain text, modulo the number of shards.
fn shard_of(key: KeyType, value: ValueRef<'_>, shards: u32) -> Result<u32, Reason> {
    let hash = xxh3_64(plain(key, value)?.as_bytes());
    Ok(u32::try_from(hash % u64::from(shards.max(1))).unwrap_or_default())
}

/// Appends a shard's number.
fn print_shard(shard: u32, shards: u32, out: &mut String) {
    digits(shard, shard_digits(shards), out);
}

/// Returns a value's text as a hash sees it: numbers in decimal without padding, so that a field that grows stays in its
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

/// Appends the number in decimal, in at least so many digits.
fn digits(number: impl Into<u128>, width: usize, out: &mut String) {
    write!(out, "{:0width$}", number.into()).unwrap();
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
