//! Times in parts: `%Y%m%d`.

use super::Mistake;
use crate::key::first_character;

/// What a time can be made of, for messages.
pub const DIRECTIVES: &str = "`%Y`, `%m`, `%d`, `%H`, `%M`, `%S` or `%j`";

/// A time in parts: `%Y%m%d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePattern<'t> {
    text: &'t str,
}

/// A piece of a time in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeItem {
    /// `%Y`: `0001` to `9999`.
    Year,
    /// `%m`: `01` to `12`.
    Month,
    /// `%d`: `01` to `31`.
    Day,
    /// `%H`: `00` to `23`.
    Hour,
    /// `%M`: `00` to `59`.
    Minute,
    /// `%S`: `00` to `59`.
    Second,
    /// `%j`: the day of the year, `001` to `366`.
    DayOfYear,
    /// A character of ASCII between them.
    Char(char),
}

impl<'t> TimePattern<'t> {
    /// Reads a pattern: directives, and characters of ASCII between them.
    pub const fn parse(text: &'t str) -> Result<Self, Mistake<'t>> {
        let mut rest = text;
        while !rest.is_empty() {
            rest = match Self::first(rest) {
                Ok((_, rest)) => rest,
                Err(mistake) => return Err(mistake),
            };
        }
        Ok(Self { text })
    }

    /// Returns the pattern as it was written.
    #[inline]
    pub const fn text(self) -> &'t str {
        self.text
    }

    /// Returns the first item, and the pattern of those behind it.
    #[inline]
    pub const fn split_first(self) -> Option<(TimeItem, Self)> {
        match Self::first(self.text) {
            Ok((item, text)) => Some((item, Self { text })),
            // Each item was read before: this is the end.
            Err(_) => None,
        }
    }

    /// Returns the items, one after the other.
    #[inline]
    pub fn items(self) -> impl Iterator<Item = TimeItem> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let (item, behind) = rest.split_first()?;
            rest = behind;
            Some(item)
        })
    }

    /// Returns the bytes that the pattern prints.
    pub const fn width(self) -> usize {
        let mut width = 0;
        let mut rest = self;
        while let Some((item, behind)) = rest.split_first() {
            width += item.width();
            rest = behind;
        }
        width
    }

    /// Returns whether later times never print a smaller text: the pattern goes from the year on and leaves nothing out.
    pub const fn is_ordered(self) -> bool {
        // The item that came last, as its rank.
        let mut rank = 0;
        let mut rest = self;
        while let Some((item, behind)) = rest.split_first() {
            rank = match (rank, item) {
                (_, TimeItem::Char(_)) => rank,
                (0, TimeItem::Year) => 1,
                (1, TimeItem::Month) => 2,
                (1, TimeItem::DayOfYear) | (2, TimeItem::Day) => 3,
                (3, TimeItem::Hour) => 4,
                (4, TimeItem::Minute) => 5,
                (5, TimeItem::Second) => 6,
                _ => return false,
            };
            rest = behind;
        }
        rank > 0
    }

    /// Reads the item that the text begins with. Of an empty text there is none.
    #[expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]
    #[inline]
    const fn first(text: &'t str) -> Result<(TimeItem, &'t str), Mistake<'t>> {
        let (item, length) = match text.as_bytes() {
            [] | [b'%'] => return Err(Mistake::TimeEnds),
            [b'%', directive, ..] => {
                let item = match directive {
                    b'Y' => TimeItem::Year,
                    b'm' => TimeItem::Month,
                    b'd' => TimeItem::Day,
                    b'H' => TimeItem::Hour,
                    b'M' => TimeItem::Minute,
                    b'S' => TimeItem::Second,
                    b'j' => TimeItem::DayOfYear,
                    _ => {
                        let (_, directive) = text.split_at(1);
                        return Err(Mistake::TimeUnknown(first_character(directive)));
                    }
                };
                (item, 2)
            }
            [byte, ..] if byte.is_ascii() => (TimeItem::Char(*byte as char), 1),
            _ => return Err(Mistake::TimeBeyondAscii(first_character(text))),
        };
        let (_, behind) = text.split_at(length);
        Ok((item, behind))
    }
}

impl TimeItem {
    /// Returns the bytes that the item prints.
    #[inline]
    pub const fn width(self) -> usize {
        match self {
            Self::Year => 4,
            Self::DayOfYear => 3,
            Self::Char(_) => 1,
            Self::Month | Self::Day | Self::Hour | Self::Minute | Self::Second => 2,
        }
    }
}
