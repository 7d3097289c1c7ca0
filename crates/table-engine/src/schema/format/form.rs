//! How a part of a key is read. It is worked out while the program compiles, so that reading a key looks at no type and
//! no format again.

use table_words::Format;

use super::key_type::{KeyTypeOf, edm};
use crate::model::EdmType;

/// What the bytes of a part say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Text as it stands, of any characters that a key may hold.
    Text,
    /// The number itself, up to this one.
    Number { most: u64, kind: Kind },
    /// What the number lacks of this one.
    Inverted { from: u64, most: u64, kind: Kind },
    /// The number and this one: half of how many numbers its type has.
    Offset { half: u64, kind: Kind },
    /// Ticks, or what they lack of the last ones.
    Ticks { inverted: bool },
    /// The hex digits of a UUID.
    Uuid,
    /// `0` or `1`.
    Bool,
    /// Not the value, which can't be had back.
    Lossy,
    /// What the rarer formats say, which are looked at.
    Other,
}

/// The property that a number becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Int32,
    Int64,
}

impl Form {
    /// Returns the form of a part of this type.
    pub(crate) const fn of(key: KeyTypeOf<'_>, format: Format<'_>) -> Self {
        if !format.is_lossless() {
            return Self::Lossy;
        }
        let kind = if matches!(edm(key), EdmType::Int32) { Kind::Int32 } else { Kind::Int64 };
        match (key.single(), format) {
            (KeyTypeOf::Text(chars), Format::Plain) if chars.is_all() => Self::Text,
            (KeyTypeOf::Unsigned { max, .. }, Format::Plain | Format::Pad(_)) => {
                Self::Number { most: max, kind }
            }
            (KeyTypeOf::Unsigned { max, .. }, Format::Inverted) => {
                Self::Inverted { from: max, most: max, kind }
            }
            (KeyTypeOf::Unsigned { max, .. }, Format::PadInverted(digits @ 0..=19)) => {
                Self::Inverted { from: below_power(digits), most: max, kind }
            }
            (KeyTypeOf::Signed { bits: bits @ 1..=64 }, Format::Offset | Format::Plain) => {
                Self::Offset { half: 1 << (bits - 1), kind }
            }
            (KeyTypeOf::Signed { bits: bits @ 1..=64 }, Format::Pad(_)) => {
                Self::Number { most: (1 << (bits - 1)) - 1, kind }
            }
            (KeyTypeOf::Time, Format::Ticks) => Self::Ticks { inverted: false },
            (KeyTypeOf::Time, Format::Inverted) => Self::Ticks { inverted: true },
            (KeyTypeOf::Uuid, Format::Plain) => Self::Uuid,
            (KeyTypeOf::Bool, Format::Plain) => Self::Bool,
            _ => Self::Other,
        }
    }
}

/// Returns the largest number of so many digits, up to 19.
const fn below_power(digits: u8) -> u64 {
    let (mut number, mut left) = (0, digits);
    while left > 0 {
        number = number * 10 + 9;
        left -= 1;
    }
    number
}
