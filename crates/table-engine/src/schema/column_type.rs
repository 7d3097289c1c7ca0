//! How columns of stored rows hold what properties are.

use crate::model::EdmType;

/// How a column of a stored row holds the values of a property: what its type is, and how many bytes of it there are.
///
/// It follows the field's own type, so that a `u32` takes four bytes, though its property is an Edm.Int64. The numbers are the
/// format's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// Edm.Boolean, in a byte.
    Bool,
    /// Edm.Int32, as an `i8`.
    I8,
    /// Edm.Int32, as a `u8`.
    U8,
    /// Edm.Int32, as an `i16`.
    I16,
    /// Edm.Int32, as a `u16`.
    U16,
    /// Edm.Int32.
    I32,
    /// Edm.Int64, as a `u32`.
    U32,
    /// Edm.Int64.
    I64,
    /// Edm.Double.
    F64,
    /// Edm.DateTime.
    Time,
    /// Edm.Guid.
    Guid,
    /// Edm.String, of any length.
    Text,
    /// Edm.Binary, of any length. A sealed value is one.
    Bytes,
}

impl ColumnType {
    const ALL: [Self; 13] = [
        Self::Bool,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::U16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::F64,
        Self::Time,
        Self::Guid,
        Self::Text,
        Self::Bytes,
    ];

    /// Returns what holds every value of a property of the type.
    #[must_use]
    pub const fn of(edm: EdmType) -> Self {
        match edm {
            EdmType::Boolean => Self::Bool,
            EdmType::Int32 => Self::I32,
            EdmType::Int64 => Self::I64,
            EdmType::Double => Self::F64,
            EdmType::DateTime => Self::Time,
            EdmType::Guid => Self::Guid,
            EdmType::String => Self::Text,
            EdmType::Binary => Self::Bytes,
        }
    }

    #[doc(hidden)]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Bool => 0,
            Self::I8 => 1,
            Self::U8 => 2,
            Self::I16 => 3,
            Self::U16 => 4,
            Self::I32 => 5,
            Self::U32 => 6,
            Self::I64 => 7,
            Self::F64 => 8,
            Self::Time => 9,
            Self::Guid => 10,
            Self::Text => 11,
            Self::Bytes => 12,
        }
    }

    /// Returns how many bytes each value takes; `None` where that differs.
    pub(crate) const fn width(self) -> Option<u16> {
        match self {
            Self::Bool | Self::I8 | Self::U8 => Some(1),
            Self::I16 | Self::U16 => Some(2),
            Self::I32 | Self::U32 => Some(4),
            Self::I64 | Self::F64 | Self::Time => Some(8),
            Self::Guid => Some(16),
            Self::Text | Self::Bytes => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_as_they_are_written() {
        for code in 0..=u8::MAX {
            assert_eq!(ColumnType::from_code(code).map(ColumnType::code), (code < 13).then_some(code));
        }
    }
}
