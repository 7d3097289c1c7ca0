//! The eight types of a property.

use std::fmt;

use uuid::Uuid;

use super::Ticks;
use crate::error::{Error, ErrorKind};
use crate::limits;

/// The type of a property's value, by the service's name for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EdmType {
    /// Text of up to 32,768 UTF-16 units.
    String,
    /// Up to 65,536 bytes.
    Binary,
    /// True or false.
    Boolean,
    /// A signed integer of 32 bits.
    Int32,
    /// A signed integer of 64 bits.
    Int64,
    /// An IEEE 754 double, infinities and NaN among them.
    Double,
    /// A time from 1601 to 9999 in UTC, to 100 ns.
    DateTime,
    /// A UUID of 128 bits.
    Guid,
}

impl EdmType {
    /// Returns the service's name: `Edm.Int32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::String => "Edm.String",
            Self::Binary => "Edm.Binary",
            Self::Boolean => "Edm.Boolean",
            Self::Int32 => "Edm.Int32",
            Self::Int64 => "Edm.Int64",
            Self::Double => "Edm.Double",
            Self::DateTime => "Edm.DateTime",
            Self::Guid => "Edm.Guid",
        }
    }

    /// Returns the type whose name this is, without the `Edm.` before it.
    #[inline]
    pub(crate) fn of_short_name(name: &str) -> Option<Self> {
        Some(match name {
            "String" => Self::String,
            "Binary" => Self::Binary,
            "Boolean" => Self::Boolean,
            "Int32" => Self::Int32,
            "Int64" => Self::Int64,
            "Double" => Self::Double,
            "DateTime" => Self::DateTime,
            "Guid" => Self::Guid,
            _ => return None,
        })
    }
}

/// `Edm.Int32`.
impl fmt::Display for EdmType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A property's value.
///
/// Two values are equal if they have one type and the same bits, so that what was stored is what is read: a NaN
/// equals itself and `0.0` differs from `-0.0`. [Filters](crate::Filter) compare as the service does instead.
///
/// ```
/// use table_core::Value;
///
/// let name = Value::from("Jones");
/// assert_eq!(name.as_str(), Some("Jones"));
/// assert_eq!(Value::from(34).as_i64(), Some(34)); // an Int32 reads as a wider integer too
/// assert_ne!(Value::from(34), Value::from(34_i64));
/// ```
#[derive(Clone)]
pub enum Value {
    /// Text.
    String(String),
    /// Bytes.
    Binary(Vec<u8>),
    /// True or false.
    Boolean(bool),
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A double.
    Double(f64),
    /// A point in time.
    DateTime(Ticks),
    /// A UUID.
    Guid(Uuid),
}

/// A property's value, borrowed from a stored row or from a [`Value`].
#[derive(Clone, Copy)]
pub enum ValueRef<'a> {
    /// Text.
    String(&'a str),
    /// Bytes.
    Binary(&'a [u8]),
    /// True or false.
    Boolean(bool),
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A double.
    Double(f64),
    /// A point in time.
    DateTime(Ticks),
    /// A UUID.
    Guid(Uuid),
}

impl Value {
    /// Returns the value, borrowed.
    #[inline]
    pub fn as_value_ref(&self) -> ValueRef<'_> {
        match self {
            Self::String(v) => ValueRef::String(v),
            Self::Binary(v) => ValueRef::Binary(v),
            Self::Boolean(v) => ValueRef::Boolean(*v),
            Self::Int32(v) => ValueRef::Int32(*v),
            Self::Int64(v) => ValueRef::Int64(*v),
            Self::Double(v) => ValueRef::Double(*v),
            Self::DateTime(v) => ValueRef::DateTime(*v),
            Self::Guid(v) => ValueRef::Guid(*v),
        }
    }

    /// Returns the value's type.
    pub fn edm_type(&self) -> EdmType {
        self.as_value_ref().edm_type()
    }

    /// Returns the text, if the value is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the bytes, if the value is binary.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Binary(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the truth value, if the value is boolean.
    pub fn as_bool(&self) -> Option<bool> {
        self.as_value_ref().as_bool()
    }

    /// Returns the integer, if the value is an Int32.
    pub fn as_i32(&self) -> Option<i32> {
        self.as_value_ref().as_i32()
    }

    /// Returns the integer, if the value is an Int32 or an Int64.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_value_ref().as_i64()
    }

    /// Returns the number, if the value is a double.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_value_ref().as_f64()
    }

    /// Returns the time, if the value is a date and time.
    pub fn as_ticks(&self) -> Option<Ticks> {
        self.as_value_ref().as_ticks()
    }

    /// Returns the UUID, if the value is one.
    pub fn as_uuid(&self) -> Option<Uuid> {
        self.as_value_ref().as_uuid()
    }

    /// Returns the bytes that the value counts for in the size of an entity.
    pub(crate) fn size(&self) -> usize {
        self.as_value_ref().size()
    }
}

impl<'a> ValueRef<'a> {
    /// Checks the value against the service's range of its type.
    #[inline]
    pub(crate) fn check(self, name: &str) -> Result<(), Error> {
        match self {
            // A text has at most as many units as bytes.
            Self::String(v) if v.len() > limits::STRING_UNITS => {
                let units = super::key::utf16_units(v);
                if units > limits::STRING_UNITS {
                    return Err(Error::new(ErrorKind::PropertyValueTooLarge).because(format!(
                        "property `{name}` has {units} UTF-16 units; a string may have {}",
                        limits::STRING_UNITS
                    )));
                }
            }
            Self::Binary(v) if v.len() > limits::BINARY_BYTES => {
                return Err(Error::new(ErrorKind::PropertyValueTooLarge).because(format!(
                    "property `{name}` has {} bytes; a binary value may have {}",
                    v.len(),
                    limits::BINARY_BYTES
                )));
            }
            Self::DateTime(v) if v < Ticks::MIN_PROPERTY => {
                // The message leaves the time out: no error shows a value.
                return Err(Error::new(ErrorKind::ValueOutOfRange).because(format!(
                    "property `{name}` is a date and time before {}",
                    Ticks::MIN_PROPERTY
                )));
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the value's type.
    pub fn edm_type(self) -> EdmType {
        match self {
            Self::String(_) => EdmType::String,
            Self::Binary(_) => EdmType::Binary,
            Self::Boolean(_) => EdmType::Boolean,
            Self::Int32(_) => EdmType::Int32,
            Self::Int64(_) => EdmType::Int64,
            Self::Double(_) => EdmType::Double,
            Self::DateTime(_) => EdmType::DateTime,
            Self::Guid(_) => EdmType::Guid,
        }
    }

    /// Returns the value, owned.
    pub fn to_value(self) -> Value {
        match self {
            Self::String(v) => Value::String(v.to_owned()),
            Self::Binary(v) => Value::Binary(v.to_owned()),
            Self::Boolean(v) => Value::Boolean(v),
            Self::Int32(v) => Value::Int32(v),
            Self::Int64(v) => Value::Int64(v),
            Self::Double(v) => Value::Double(v),
            Self::DateTime(v) => Value::DateTime(v),
            Self::Guid(v) => Value::Guid(v),
        }
    }

    /// Returns the text, if the value is a string.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            Self::String(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the bytes, if the value is binary.
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Binary(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the truth value, if the value is boolean.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self::Boolean(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the integer, if the value is an Int32.
    pub fn as_i32(self) -> Option<i32> {
        match self {
            Self::Int32(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the integer, if the value is an Int32 or an Int64.
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Int32(v) => Some(i64::from(v)),
            Self::Int64(v) => Some(v),
            _ => None,
        }
    }

    /// Returns whether both say one value: a number that was written before its field grew is the same number.
    #[doc(hidden)]
    pub fn says_same(self, other: ValueRef<'_>) -> bool {
        self == other || self.as_i64().is_some_and(|number| other.as_i64() == Some(number))
    }

    /// Returns the number, if the value is a double.
    pub fn as_f64(self) -> Option<f64> {
        match self {
            Self::Double(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the time, if the value is a date and time.
    pub fn as_ticks(self) -> Option<Ticks> {
        match self {
            Self::DateTime(v) => Some(v),
            _ => None,
        }
    }

    /// Returns the UUID, if the value is one.
    pub fn as_uuid(self) -> Option<Uuid> {
        match self {
            Self::Guid(v) => Some(v),
            _ => None,
        }
    }

    #[doc(hidden)]
    #[inline]
    pub fn size(self) -> usize {
        match self {
            Self::String(v) => 4 + 2 * super::key::utf16_units(v),
            Self::Binary(v) => 4 + v.len(),
            Self::Boolean(_) => 1,
            Self::Int32(_) => 4,
            Self::Int64(_) | Self::Double(_) | Self::DateTime(_) => 8,
            Self::Guid(_) => 16,
        }
    }
}

impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Binary(a), Self::Binary(b)) => a == b,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Int32(a), Self::Int32(b)) => a == b,
            (Self::Int64(a), Self::Int64(b)) => a == b,
            (Self::Double(a), Self::Double(b)) => a.to_bits() == b.to_bits(),
            (Self::DateTime(a), Self::DateTime(b)) => a == b,
            (Self::Guid(a), Self::Guid(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for ValueRef<'_> {}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_value_ref() == other.as_value_ref()
    }
}

impl Eq for Value {}

/// The value as Rust writes it: `"Jones"`, `34`, `2014-07-31T18:00:00Z`.
impl fmt::Debug for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String(v) => write!(f, "{v:?}"),
            Self::Binary(v) => {
                f.write_str("X'")?;
                for byte in *v {
                    write!(f, "{byte:02x}")?;
                }
                f.write_str("'")
            }
            Self::Boolean(v) => write!(f, "{v}"),
            Self::Int32(v) => write!(f, "{v}"),
            Self::Int64(v) => write!(f, "{v}L"),
            Self::Double(v) => write!(f, "{v:?}"),
            Self::DateTime(v) => write!(f, "{v}"),
            Self::Guid(v) => write!(f, "{v}"),
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_value_ref().fmt(f)
    }
}

macro_rules! from {
    ($($from:ty => $variant:ident),* $(,)?) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(value.into())
            }
        }
    )*};
}

from! {
    &str => String,
    String => String,
    &[u8] => Binary,
    Vec<u8> => Binary,
    bool => Boolean,
    i16 => Int32,
    i32 => Int32,
    u8 => Int32,
    u16 => Int32,
    i64 => Int64,
    u32 => Int64,
    f32 => Double,
    f64 => Double,
    Ticks => DateTime,
    Uuid => Guid,
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        value.as_value_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_is_of_type_and_bits() {
        assert_eq!(Value::Double(f64::NAN), Value::Double(f64::NAN));
        assert_ne!(Value::Double(0.0), Value::Double(-0.0));
        assert_ne!(Value::Int32(1), Value::Int64(1));
        assert_ne!(Value::from("1"), Value::from(1));
    }

    #[test]
    fn integers_widen_and_nothing_else_does() {
        assert_eq!(Value::from(u32::MAX), Value::Int64(4_294_967_295));
        assert_eq!(Value::Int32(-1).as_i64(), Some(-1));
        assert_eq!(Value::Int64(-1).as_i32(), None);
        assert_eq!(Value::Int32(1).as_f64(), None);
    }

    #[test]
    fn values_are_checked_at_the_limit_and_one_past() {
        let kind = |value: &Value| value.as_value_ref().check("P").map_err(|e| e.kind());
        assert_eq!(kind(&Value::String("x".repeat(32_768))), Ok(()));
        assert_eq!(kind(&Value::String("x".repeat(32_769))), Err(ErrorKind::PropertyValueTooLarge));
        assert_eq!(kind(&Value::String("\u{1f600}".repeat(16_384))), Ok(()));
        assert_eq!(
            kind(&Value::String("\u{1f600}".repeat(16_384) + "x")),
            Err(ErrorKind::PropertyValueTooLarge)
        );
        assert_eq!(kind(&Value::Binary(vec![0; 65_536])), Ok(()));
        assert_eq!(kind(&Value::Binary(vec![0; 65_537])), Err(ErrorKind::PropertyValueTooLarge));
        assert_eq!(kind(&Value::DateTime(Ticks::MIN_PROPERTY)), Ok(()));
        let early = Ticks::new(Ticks::MIN_PROPERTY.get() - 1).unwrap();
        assert_eq!(kind(&Value::DateTime(early)), Err(ErrorKind::ValueOutOfRange));
    }
}
