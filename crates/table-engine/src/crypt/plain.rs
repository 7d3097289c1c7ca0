//! A value's bytes before they are sealed.
//!
//! Numbers keep their full width, so that the length of a sealed number does not tell how large it is.

use uuid::Uuid;
use zeroize::{Zeroize, Zeroizing};

use crate::model::{EdmType, Ticks, Value, ValueRef};

/// Returns a type's number in a sealed value.
#[doc(hidden)]
pub const fn tag(edm: EdmType) -> u8 {
    match edm {
        EdmType::String => 0,
        EdmType::Binary => 1,
        EdmType::Boolean => 2,
        EdmType::Int32 => 3,
        EdmType::Int64 => 4,
        EdmType::Double => 5,
        EdmType::DateTime => 6,
        EdmType::Guid => 7,
    }
}

pub(crate) const fn edm_of(tag: u8) -> Option<EdmType> {
    Some(match tag {
        0 => EdmType::String,
        1 => EdmType::Binary,
        2 => EdmType::Boolean,
        3 => EdmType::Int32,
        4 => EdmType::Int64,
        5 => EdmType::Double,
        6 => EdmType::DateTime,
        7 => EdmType::Guid,
        _ => return None,
    })
}

/// A value as bytes: borrowed where it is text, and wiped after use where it is not.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "no program sees it")]
pub enum PlainBytes<'a> {
    Lent(&'a [u8]),
    Short(Zeroizing<[u8; 16]>, usize),
}

impl<'a> PlainBytes<'a> {
    pub fn of(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::String(v) => Self::Lent(v.as_bytes()),
            ValueRef::Binary(v) => Self::Lent(v),
            ValueRef::Boolean(v) => Self::short([u8::from(v)]),
            ValueRef::Int32(v) => Self::short(v.to_le_bytes()),
            ValueRef::Int64(v) => Self::short(v.to_le_bytes()),
            ValueRef::Double(v) => Self::short(v.to_bits().to_le_bytes()),
            ValueRef::DateTime(v) => Self::short(v.get().to_le_bytes()),
            ValueRef::Guid(v) => Self::short(*v.as_bytes()),
        }
    }

    fn short<const N: usize>(mut bytes: [u8; N]) -> Self {
        const { assert!(N <= 16, "no value of fixed width is wider") };
        let mut short = Zeroizing::new([0; 16]);
        for (to, from) in short.iter_mut().zip(bytes) {
            *to = from;
        }
        bytes.zeroize();
        Self::Short(short, N)
    }

    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Short(bytes, length) => bytes.get(..*length).unwrap_or_default(),
        }
    }
}

/// Returns the value of these bytes; `None` if the type has no such value. The bytes become the value, or are wiped.
pub(crate) fn value_of(edm: EdmType, bytes: Vec<u8>) -> Option<Value> {
    let mut bytes = Zeroizing::new(bytes);
    match edm {
        EdmType::String => match String::from_utf8(std::mem::take(&mut *bytes)) {
            Ok(text) => return Some(Value::String(text)),
            Err(error) => *bytes = error.into_bytes(),
        },
        EdmType::Binary => return Some(Value::Binary(std::mem::take(&mut *bytes))),
        _ => {}
    }
    Some(match edm {
        EdmType::String | EdmType::Binary => return None,
        EdmType::Boolean => Value::Boolean(match **bytes {
            [0] => false,
            [1] => true,
            _ => return None,
        }),
        EdmType::Int32 => Value::Int32(i32::from_le_bytes(fixed(&bytes)?)),
        EdmType::Int64 => Value::Int64(i64::from_le_bytes(fixed(&bytes)?)),
        EdmType::Double => Value::Double(f64::from_bits(u64::from_le_bytes(fixed(&bytes)?))),
        EdmType::DateTime => Value::DateTime(Ticks::new(u64::from_le_bytes(fixed(&bytes)?))?),
        EdmType::Guid => Value::Guid(Uuid::from_bytes(fixed(&bytes)?)),
    })
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}
