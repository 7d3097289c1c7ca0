//! Formats from their text.

use super::{Format, Mistake, TimePattern, WIDEST};

impl<'t> Format<'t> {
    /// Reads what follows the colon in `{field:..}`. An empty text is the format of `{field}`.
    // C2: a format is one of those there are.
    pub const fn parse(text: &'t str) -> Result<Self, Mistake<'t>> {
        if text.is_empty() {
            return Ok(Self::Plain);
        }
        if let [b'%', ..] = text.as_bytes() {
            return match TimePattern::parse(text) {
                Ok(pattern) => Ok(Self::Time(pattern)),
                Err(mistake) => Err(mistake),
            };
        }
        let Some((first, second)) = split_at_colon(text) else { return Self::word(text) };
        match (Self::word(first), Self::word(second)) {
            (Err(mistake), _) | (_, Err(mistake)) => Err(mistake),
            (Ok(Self::Pad(width)), Ok(Self::Inverted)) => Ok(Self::PadInverted(width)),
            (Ok(Self::Inverted), Ok(Self::Pad(_))) => Err(Mistake::Swapped { first, second }),
            (Ok(Self::Offset), Ok(Self::Pad(_))) | (Ok(Self::Pad(_)), Ok(Self::Offset)) => {
                Err(Mistake::OffsetHasWidth)
            }
            (Ok(Self::Pad(_)), _) => Err(Mistake::Apart { first, second, is_width: true }),
            _ => Err(Mistake::Apart { first, second, is_width: false }),
        }
    }

    /// Reads one word of a format.
    const fn word(word: &'t str) -> Result<Self, Mistake<'t>> {
        match word.as_bytes() {
            b"offset" => Ok(Self::Offset),
            b"inverted" => Ok(Self::Inverted),
            b"ticks" => Ok(Self::Ticks),
            b"escaped" => Ok(Self::Escaped),
            b"lower" => Ok(Self::Lower),
            b"blind" => Ok(Self::Blind),
            [] => Err(Mistake::Missing),
            bytes if are_digits(bytes) => Self::padded(word),
            [b's', b'h', b'a', b'r', b'd', b'(', count @ .., b')'] if are_digits(count) => {
                let (_, count) = word.split_at("shard(".len());
                let (count, _) = count.split_at(count.len() - 1);
                match number(count) {
                    shards @ 2..=100 => Ok(Self::Shard(shards)),
                    _ => Err(Mistake::Shards(count)),
                }
            }
            [b's', b'h', b'a', b'r', b'd'] | [b's', b'h', b'a', b'r', b'd', b'(', ..] => {
                Err(Mistake::NoCount)
            }
            _ => Err(Mistake::Unknown(word)),
        }
    }

    /// Reads the width in `{n:06}`.
    // C5: a width is 1 to 20 behind a zero.
    #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "at most 20, in a const fn")]
    const fn padded(word: &'t str) -> Result<Self, Mistake<'t>> {
        let mut digits = word;
        while let [b'0', ..] = digits.as_bytes() {
            (_, digits) = digits.split_at(1);
        }
        match number(digits) {
            0 => Err(Mistake::NoDigits),
            width if width > WIDEST as u32 => Err(Mistake::Wide(digits)),
            width if word.len() == digits.len() + 1 => Ok(Self::Pad(width as u8)),
            _ => Err(Mistake::Zeros(digits)),
        }
    }
}

/// Returns what stands before the first colon and behind it.
const fn split_at_colon(text: &str) -> Option<(&str, &str)> {
    let mut length = 0;
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        if *byte == b':' {
            let (first, rest) = text.split_at(length);
            let (_, second) = rest.split_at(1);
            return Some((first, second));
        }
        length += 1;
        rest = behind;
    }
    None
}

/// Returns whether these are digits, and one at least.
const fn are_digits(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let [byte, behind @ ..] = rest {
        if !byte.is_ascii_digit() {
            return false;
        }
        rest = behind;
    }
    !bytes.is_empty()
}

/// Returns the number that these digits are, or the largest if it is too large.
#[expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]
const fn number(digits: &str) -> u32 {
    let mut number: u32 = 0;
    let mut rest = digits.as_bytes();
    while let [digit, behind @ ..] = rest {
        number = number.saturating_mul(10).saturating_add((*digit - b'0') as u32);
        rest = behind;
    }
    number
}
