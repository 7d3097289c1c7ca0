//! The formats of key parts: what stands behind the colon in `{id:06}`.
//!
//! The text is the specification. The macro hands it on as it was written, and messages and layouts quote it; a
//! [`Format`] is what it means.

mod mistake;
mod parse;
#[cfg(test)]
mod tests;
mod time;

pub use mistake::{ALL, Mistake, WORDS};
pub use time::{DIRECTIVES, TimeItem, TimePattern};

/// The digits of a time in ticks.
pub const TICKS_DIGITS: usize = 19;

/// The hex digits of a blind token: a byte that names the key's version, and 16 of the token.
pub const BLIND_DIGITS: usize = 34;

/// The digits of the widest integer, `u64::MAX`.
pub const WIDEST: u8 = 20;

/// How a key part is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format<'t> {
    /// `{x}`: integers padded to the width of their type, text verbatim, UUIDs as 32 hex digits, truth values as
    /// `0` and `1`.
    Plain,
    /// `{n:06}`: padded to so many digits. A value that needs more is an error, and so is a negative one.
    Pad(u8),
    /// `{n:offset}`: a signed integer plus 2<sup>bits - 1</sup>, padded to the width of its type.
    Offset,
    /// `{n:inverted}`, `{t:inverted}`: the largest value of the type less the value, padded; the largest sorts
    /// first.
    Inverted,
    /// `{n:06:inverted}`: 999999 - n.
    PadInverted(u8),
    /// `{t:ticks}`: 19 digits of ticks.
    Ticks,
    /// `{t:%Y%m%d}`: parts of a time, in UTC.
    Time(TimePattern<'t>),
    /// `{s:escaped}`: any text, in characters that a key may hold and that sort as the text does.
    Escaped,
    /// `{s:lower}`: text folded by a table that never changes.
    Lower,
    /// `{x:shard(16)}`: a stable hash of the value modulo so many, in two digits or as many as that takes.
    Shard(u32),
    /// `{s:blind}`: the keyed token of an encrypted field.
    Blind,
}

impl Format<'_> {
    /// Returns the bytes that the format prints of every value, or `None` if that is a matter of the type.
    #[expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]
    #[inline]
    pub const fn width(self) -> Option<usize> {
        match self {
            Self::Pad(width) | Self::PadInverted(width) => Some(width as usize),
            Self::Ticks => Some(TICKS_DIGITS),
            Self::Shard(shards) => Some(shard_digits(shards)),
            Self::Blind => Some(BLIND_DIGITS),
            Self::Time(pattern) => Some(pattern.width()),
            Self::Plain | Self::Offset | Self::Inverted | Self::Escaped | Self::Lower => None,
        }
    }

    /// Returns whether the printed text gives the value back, if its type allows the format at all.
    #[inline]
    pub const fn is_lossless(self) -> bool {
        !matches!(self, Self::Time(_) | Self::Lower | Self::Shard(_) | Self::Blind)
    }

    /// Returns the values that the format is for, as rule C6 names them, or `None` if it is for all.
    pub const fn is_for(self) -> Option<&'static str> {
        Some(match self {
            Self::Plain | Self::Shard(_) | Self::Blind => return None,
            Self::Pad(_) => "an integer",
            Self::Offset => "a signed integer",
            Self::Inverted => "an unsigned integer or a time",
            Self::PadInverted(_) => "an unsigned integer",
            Self::Ticks | Self::Time(_) => "a time",
            Self::Escaped | Self::Lower => "text",
        })
    }
}

/// Returns the digits of a shard's number, where there are so many shards.
pub const fn shard_digits(shards: u32) -> usize {
    let mut digits = 2;
    let mut rest = shards.saturating_sub(1) / 100;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    digits
}
