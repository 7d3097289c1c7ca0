//! Values as the slots of a row have them: in as few bytes as hold them.

use uuid::Uuid;

use super::Damaged;
use crate::model::{Ticks, ValueRef, text};

/// How a value is written; the numbers are the format's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    String,
    Binary,
    False,
    True,
    Int32,
    Int64,
    Double,
    DateTime,
    Guid,
    /// A string that stands in the table's dictionary.
    Symbol,
}

impl Tag {
    const ALL: [Self; 10] = [
        Self::String,
        Self::Binary,
        Self::False,
        Self::True,
        Self::Int32,
        Self::Int64,
        Self::Double,
        Self::DateTime,
        Self::Guid,
        Self::Symbol,
    ];

    #[inline]
    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::String => 0,
            Self::Binary => 1,
            Self::False => 2,
            Self::True => 3,
            Self::Int32 => 4,
            Self::Int64 => 5,
            Self::Double => 6,
            Self::DateTime => 7,
            Self::Guid => 8,
            Self::Symbol => 9,
        }
    }
}

/// Splits a payload into the name that stands before the value, and the value.
pub fn inline_name(payload: &[u8]) -> Result<(&str, &[u8]), Damaged> {
    const BAD: Damaged = Damaged("a property's name can't be read");
    let (length, rest) = payload.split_first_chunk::<2>().ok_or(BAD)?;
    let (name, value) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length))).ok_or(BAD)?;
    Ok((text::of(name).ok_or(BAD)?, value))
}

/// The value of a payload; a symbol's text is looked up by the caller.
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub enum Decoded<'a> {
    Value(ValueRef<'a>),
    Symbol(u16),
}

/// Reads a value.
#[inline(always)]
pub fn decode(tag: u8, payload: &[u8]) -> Result<Decoded<'_>, Damaged> {
    const BAD: Damaged = Damaged("a property's value can't be read");
    let tag = Tag::from_code(tag).ok_or(BAD)?;
    let value = match tag {
        Tag::String => text::of(payload).map(ValueRef::String),
        Tag::Binary => Some(ValueRef::Binary(payload)),
        Tag::False | Tag::True => payload.is_empty().then_some(ValueRef::Boolean(tag == Tag::True)),
        Tag::Int32 => integer(payload).and_then(|v| i32::try_from(v).ok()).map(ValueRef::Int32),
        Tag::Int64 => integer(payload).map(ValueRef::Int64),
        Tag::Double => exactly(payload).map(|bytes| ValueRef::Double(f64::from_le_bytes(bytes))),
        Tag::DateTime => {
            exactly(payload).and_then(|bytes| Ticks::new(u64::from_le_bytes(bytes))).map(ValueRef::DateTime)
        }
        Tag::Guid => exactly(payload).map(|bytes| ValueRef::Guid(Uuid::from_bytes(bytes))),
        Tag::Symbol => {
            return exactly(payload).map(|bytes| Decoded::Symbol(u16::from_le_bytes(bytes))).ok_or(BAD);
        }
    };
    value.map(Decoded::Value).ok_or(BAD)
}

#[inline]
fn exactly<const N: usize>(payload: &[u8]) -> Option<[u8; N]> {
    payload.try_into().ok()
}

/// Returns a signed integer in the fewest of 0, 1, 2, 4 and 8 bytes that hold it: in more it is refused, so that one value
/// has one form.
#[inline]
fn integer(payload: &[u8]) -> Option<i64> {
    let (value, fewest) = match *payload {
        [] => (0, true),
        [a] => (i64::from(i8::from_le_bytes([a])), a != 0),
        [a, b] => {
            let value = i16::from_le_bytes([a, b]);
            (i64::from(value), i8::try_from(value).is_err())
        }
        [a, b, c, d] => {
            let value = i32::from_le_bytes([a, b, c, d]);
            (i64::from(value), i16::try_from(value).is_err())
        }
        _ => {
            let value = i64::from_le_bytes(exactly(payload)?);
            (value, i32::try_from(value).is_err())
        }
    };
    fewest.then_some(value)
}
