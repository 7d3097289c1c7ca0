//! What is wrong with the text of a format.

use super::{DIRECTIVES, WIDEST};

/// The formats that are a word.
pub const WORDS: [&str; 7] = ["offset", "inverted", "ticks", "escaped", "lower", "shard", "blind"];

/// All formats, for messages.
pub const ALL: &str = "there are `06` (a width), `offset`, `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, \
                       `blind` and the parts of a time, as in `%Y-%m-%d`";

/// Why a text is no format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake<'t> {
    /// Nothing follows a colon.
    Missing,
    /// A word that is no format.
    Unknown(&'t str),
    /// `inverted:06`, where the width comes first.
    Swapped {
        /// The word before the colon.
        first: &'t str,
        /// The width behind it.
        second: &'t str,
    },
    /// `offset` beside a width.
    OffsetHasWidth,
    /// Two formats of which a part can have one.
    Apart {
        /// The one before the colon.
        first: &'t str,
        /// The one behind it.
        second: &'t str,
        /// Whether the first is a width.
        is_width: bool,
    },
    /// A width of zero.
    NoDigits,
    /// A width of these digits that doesn't stand behind exactly one zero.
    Zeros(&'t str),
    /// A width that is larger than that of any integer.
    Wide(&'t str),
    /// A shard without the number of shards.
    NoCount,
    /// A number of shards that is none of 2 to 100.
    Shards(&'t str),
    /// A character that can't stand in a time.
    TimeBeyondAscii(&'t str),
    /// `%` and a character that is no part of a time.
    TimeUnknown(&'t str),
    /// `%` at the end of a time.
    TimeEnds,
}

impl Mistake<'_> {
    /// Returns what to say of the part of this field, whose format was read.
    pub fn message(self, field: &str) -> String {
        match self {
            Self::Missing => {
                format!(
                    "a format is missing after the colon: write `{{{field}}}`, or a width as in `{{{field}:06}}`"
                )
            }
            Self::Unknown(word) => format!("unknown format `{word}`; {ALL}"),
            Self::Swapped { first, second } => format!("write `{{{field}:{second}:{first}}}`"),
            Self::OffsetHasWidth => format!(
                "`offset` has a width of its own: write `{{{field}:offset}}` of a signed integer, and a width of an unsigned one"
            ),
            Self::Apart { first, second, is_width } => format!(
                "`{first}` and `{second}` don't go together: write one of them, `{{{field}:{first}}}` or `{{{field}:{second}}}`{}",
                if is_width { "; `inverted` can follow a width" } else { "" },
            ),
            Self::NoDigits => "a width of 0 has no room for a digit".to_owned(),
            Self::Zeros(digits) => {
                format!("a width stands behind one zero, which it pads with: `{{{field}:0{digits}}}`")
            }
            Self::Wide(digits) => {
                format!("a width of {digits} is too much: the widest integer has {WIDEST} digits")
            }
            Self::NoCount => format!("a shard says how many there are: `{{{field}:shard(16)}}`"),
            Self::Shards(number) => {
                format!("there can be 2 to 100 shards, which two digits tell apart, and not {number}")
            }
            Self::TimeBeyondAscii(c) => format!("`{c}` can't stand in a time: only ASCII can"),
            Self::TimeUnknown(c) => format!("unknown `%{c}`; a time is written with {DIRECTIVES}"),
            Self::TimeEnds => format!("`%` stands alone; a time is written with {DIRECTIVES}"),
        }
    }
}
