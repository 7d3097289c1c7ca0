//! The format behind the colon of a part.

use crate::suggest;

/// How a field is printed in a key. The variants are those of `table_core::schema::Format`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `{n}`: as the type has it.
    Plain,
    /// `{n:06}`: padded with zeros to so many digits.
    Pad(u8),
    /// `{n:offset}`: a signed integer, moved so that its text sorts.
    Offset,
    /// `{n:inverted}`, `{t:inverted}`: the largest first, the newest first.
    Inverted,
    /// `{n:06:inverted}`: the largest first, in so many digits.
    PadInverted(u8),
    /// `{t:ticks}`: 19 digits of ticks.
    Ticks,
    /// `{t:%Y%m%d}`: the time in parts.
    Time(TimePattern),
    /// `{s:escaped}`: any text.
    Escaped,
    /// `{s:lower}`: folded.
    Lower,
    /// `{s:shard(16)}`: a hash modulo so many, 2 to 100.
    Shard(u32),
    /// `{s:blind}`: the keyed token of a field with `#[encrypt(blind)]`.
    Blind,
}

/// A time in parts: `%Y%m%d`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimePattern {
    /// As written.
    pub(crate) text: String,
    /// What it prints, one after the other.
    pub(crate) items: Vec<TimeItem>,
}

/// An item of a [`TimePattern`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimeItem {
    /// `%Y`: four digits.
    Year,
    /// `%m`: two digits.
    Month,
    /// `%d`: two digits.
    Day,
    /// `%H`: two digits.
    Hour,
    /// `%M`: two digits.
    Minute,
    /// `%S`: two digits.
    Second,
    /// `%j`: three digits.
    DayOfYear,
    /// A character of ASCII between them.
    Char(char),
}

/// The formats that are a word.
const WORDS: [&str; 7] = ["offset", "inverted", "ticks", "escaped", "lower", "shard", "blind"];

/// All formats, for messages.
const FORMATS: &str = "there are `06` (a width), `offset`, `inverted`, `ticks`, `escaped`, `lower`, `shard(16)`, \
                       `blind` and the parts of a time, as in `%Y-%m-%d`";

/// What a time can be made of, for messages.
const DIRECTIVES: &str = "`%Y`, `%m`, `%d`, `%H`, `%M`, `%S` or `%j`";

/// The digits of the widest integer, `u64::MAX`.
const WIDEST: u32 = 20;

impl Format {
    /// Reads what follows the colon in `{field:..}`.
    // C2: a format is one of those there are.
    pub(crate) fn parse(text: &str, field: &str) -> Result<Self, String> {
        if text.starts_with('%') {
            return TimePattern::parse(text).map(Self::Time);
        }
        match text.split_once(':') {
            None => Self::word(text, field),
            Some((first, second)) => match (Self::word(first, field)?, Self::word(second, field)?) {
                (Self::Pad(width), Self::Inverted) => Ok(Self::PadInverted(width)),
                (Self::Inverted, Self::Pad(_)) => Err(format!("write `{{{field}:{second}:{first}}}`")),
                (Self::Offset, Self::Pad(_)) | (Self::Pad(_), Self::Offset) => Err(format!(
                    "`offset` has a width of its own: write `{{{field}:offset}}` of a signed integer, and a width of an unsigned one"
                )),
                (written, _) => Err(format!(
                    "`{first}` and `{second}` don't go together: write one of them, `{{{field}:{first}}}` or `{{{field}:{second}}}`{}",
                    if matches!(written, Self::Pad(_)) { "; `inverted` can follow a width" } else { "" },
                )),
            },
        }
    }

    /// One word of a format.
    fn word(word: &str, field: &str) -> Result<Self, String> {
        match word {
            "offset" => Ok(Self::Offset),
            "inverted" => Ok(Self::Inverted),
            "ticks" => Ok(Self::Ticks),
            "escaped" => Ok(Self::Escaped),
            "lower" => Ok(Self::Lower),
            "blind" => Ok(Self::Blind),
            "" => Err(format!(
                "a format is missing after the colon: write `{{{field}}}`, or a width as in `{{{field}:06}}`"
            )),
            _ if word.bytes().all(|b| b.is_ascii_digit()) => width(word, field).map(Self::Pad),
            _ => match word.strip_prefix("shard") {
                Some(count) if count.is_empty() || count.starts_with('(') => {
                    shards(count, field).map(Self::Shard)
                }
                _ => Err(unknown(word)),
            },
        }
    }

    /// Whether the value can be read back from what is printed, if its type allows the format at all.
    pub(crate) fn lossless(&self) -> bool {
        !matches!(self, Self::Time(_) | Self::Lower | Self::Shard(_) | Self::Blind)
    }
}

/// What to say of a word that is no format: the one that is meant, or all there are.
fn unknown(word: &str) -> String {
    // What other libraries call it.
    let meant = match word {
        "reverse" | "reversed" | "rev" | "desc" | "descending" => Some("inverted"),
        "lowercase" => Some("lower"),
        "escape" | "encoded" => Some("escaped"),
        _ => suggest::nearest(word, WORDS),
    };
    match meant {
        Some(meant) => format!("unknown format `{word}`; did you mean `{meant}`?"),
        None => format!("unknown format `{word}`; {FORMATS}"),
    }
}

/// The width in `{n:06}`.
// C5: a width is 1 to 20 behind a zero.
fn width(word: &str, field: &str) -> Result<u8, String> {
    let digits = word.trim_start_matches('0');
    let shown = if digits.is_empty() { "0" } else { digits };
    match digits.parse::<u8>() {
        Err(_) if digits.is_empty() => Err("a width of 0 has no room for a digit".to_owned()),
        Ok(width) if u32::from(width) <= WIDEST && word.len() == digits.len() + 1 => Ok(width),
        Ok(width) if u32::from(width) <= WIDEST => {
            Err(format!("a width stands behind one zero, which it pads with: `{{{field}:0{shown}}}`"))
        }
        _ => Err(format!("a width of {shown} is too much: the widest integer has {WIDEST} digits")),
    }
}

/// The number of shards in `(16)`.
fn shards(count: &str, field: &str) -> Result<u32, String> {
    let number = count.strip_prefix('(').and_then(|count| count.strip_suffix(')')).unwrap_or_default();
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("a shard says how many there are: `{{{field}:shard(16)}}`"));
    }
    match number.parse() {
        Ok(shards @ 2..=100) => Ok(shards),
        _ => Err(format!("there can be 2 to 100 shards, which two digits tell apart, and not {number}")),
    }
}

impl TimePattern {
    fn parse(text: &str) -> Result<Self, String> {
        let mut items = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                if !c.is_ascii() {
                    return Err(format!("`{c}` can't stand in a time: only ASCII can"));
                }
                items.push(TimeItem::Char(c));
                continue;
            }
            items.push(match chars.next() {
                Some('Y') => TimeItem::Year,
                Some('m') => TimeItem::Month,
                Some('d') => TimeItem::Day,
                Some('H') => TimeItem::Hour,
                Some('M') => TimeItem::Minute,
                Some('S') => TimeItem::Second,
                Some('j') => TimeItem::DayOfYear,
                Some(other) => {
                    return Err(format!("unknown `%{other}`; a time is written with {DIRECTIVES}"));
                }
                None => return Err(format!("`%` stands alone; a time is written with {DIRECTIVES}")),
            });
        }
        Ok(Self { text: text.to_owned(), items })
    }
}
