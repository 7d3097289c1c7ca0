//! The words of a filter's text.

use uuid::Uuid;

use crate::error::{Error, ErrorKind};
use crate::model::{ParseTicksError, Ticks, Value, names};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    /// The name of a property, or a word of the language.
    Word(&'a str),
    Constant(Value),
    Null,
    /// A character that the language has no use for.
    Other(char),
    End,
}

/// Returns an error at a byte of the text. It never shows a constant, which may be a value that is to stay secret.
pub(super) fn error(at: usize, because: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidFilter).because(because).at_position(at)
}

pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    peeked: Option<(usize, Token<'a>)>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, peeked: None }
    }

    /// Returns the next token and where it starts.
    #[inline]
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), Error> {
        match self.peeked.take() {
            Some(peeked) => Ok(peeked),
            None => self.read(),
        }
    }

    #[inline]
    pub(super) fn peek(&mut self) -> Result<(usize, &Token<'a>), Error> {
        let peeked = match self.peeked.take() {
            Some(peeked) => peeked,
            None => self.read()?,
        };
        let (at, token) = self.peeked.insert(peeked);
        Ok((*at, token))
    }

    /// Takes the next token if it is this one.
    #[inline]
    pub(super) fn accept(&mut self, token: &Token<'_>) -> Result<bool, Error> {
        let found = self.peek()?.1 == token;
        if found {
            self.peeked = None;
        }
        Ok(found)
    }

    fn rest(&self, from: usize) -> &'a str {
        self.text.get(from..).unwrap_or_default()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    #[inline]
    fn read(&mut self) -> Result<(usize, Token<'a>), Error> {
        let start = self.text.len() - self.rest(self.at).trim_ascii_start().len();
        let rest = self.rest(start);
        let Some(first) = rest.chars().next() else {
            self.at = start;
            return Ok((start, Token::End));
        };
        let mut end = start + first.len_utf8();
        let token = match first {
            '(' => Token::Open,
            ')' => Token::Close,
            '\'' => {
                let (text, after) = self.quoted(start)?;
                end = after;
                Token::Constant(Value::String(text))
            }
            '0'..='9' => {
                let (number, after) = self.number(start)?;
                end = after;
                Token::Constant(number)
            }
            '-' if self.byte(end).is_some_and(|byte| byte.is_ascii_digit()) => {
                let (number, after) = self.number(start)?;
                end = after;
                Token::Constant(number)
            }
            '-' if word(self.rest(end)) == "INF" => {
                end += "INF".len();
                Token::Constant(Value::Double(f64::NEG_INFINITY))
            }
            _ => match word(rest) {
                "" => Token::Other(first),
                word => {
                    end = start + word.len();
                    match word {
                        "true" => Token::Constant(Value::Boolean(true)),
                        "false" => Token::Constant(Value::Boolean(false)),
                        "NaN" => Token::Constant(Value::Double(f64::NAN)),
                        "INF" => Token::Constant(Value::Double(f64::INFINITY)),
                        "null" => Token::Null,
                        _ if self.byte(end) == Some(b'\'') && !super::parse::is_reserved(word) => {
                            let (value, after) = self.typed(start, word)?;
                            end = after;
                            Token::Constant(value)
                        }
                        _ => Token::Word(word),
                    }
                }
            },
        };
        self.at = end;
        Ok((start, token))
    }

    /// Returns the text between quotes, a quote in it doubled, and where it ends.
    #[inline]
    fn quoted(&self, open: usize) -> Result<(String, usize), Error> {
        let mut text = String::new();
        let mut at = open + 1;
        loop {
            let rest = self.rest(at);
            let Some((piece, _)) = rest.split_once('\'') else {
                return Err(error(open, "the quote is not closed; a quote within text is written twice"));
            };
            text.push_str(piece);
            at += piece.len() + 1;
            if self.byte(at) != Some(b'\'') {
                return Ok((text, at));
            }
            text.push('\'');
            at += 1;
        }
    }

    /// Returns a constant whose type stands before its quotes.
    #[inline]
    fn typed(&self, start: usize, prefix: &str) -> Result<(Value, usize), Error> {
        let (text, end) = self.quoted(start + prefix.len())?;
        let value = match prefix {
            "datetime" => match time_of(&text) {
                Ok(ticks) => Value::DateTime(ticks),
                Err(why) => return Err(error(start, why)),
            },
            // A UUID has several forms, of which the service takes one.
            "guid" => match Uuid::try_parse(&text) {
                Ok(guid) if text.len() == 36 => Value::Guid(guid),
                _ => return Err(error(start, "not a UUID such as `c9da6455-213d-42c9-9a79-3e9149a57833`")),
            },
            "X" | "binary" => match bytes_of(&text) {
                Some(bytes) => Value::Binary(bytes),
                None => return Err(error(start, "bytes are written as pairs of hexadecimal digits")),
            },
            _ => {
                return Err(error(
                    start,
                    format!(
                        "found `{}` before a quote, expected `datetime`, `guid`, `X`, `binary` or nothing",
                        short(prefix)
                    ),
                ));
            }
        };
        Ok((value, end))
    }

    #[inline]
    fn digits(&self, from: usize) -> usize {
        from + self.rest(from).bytes().take_while(u8::is_ascii_digit).count()
    }

    #[inline]
    fn number(&self, start: usize) -> Result<(Value, usize), Error> {
        let malformed = || error(start, "a number is written as `34`, `34L`, `1.5` or `1e3`");
        let mut end = self.digits(start + usize::from(self.byte(start) == Some(b'-')));
        let mut whole = true;
        if self.byte(end) == Some(b'.') {
            let after = self.digits(end + 1);
            if after == end + 1 {
                return Err(malformed());
            }
            (end, whole) = (after, false);
        }
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let from = end + 1 + usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            let after = self.digits(from);
            if after == from {
                return Err(malformed());
            }
            (end, whole) = (after, false);
        }
        let digits = self.text.get(start..end).unwrap_or_default();
        let long = whole && self.byte(end) == Some(b'L');
        end += usize::from(long);
        if self.rest(end).starts_with(|next| is_word(next) || next == '.' || next == '\'') {
            return Err(malformed());
        }
        let value = if whole {
            let Ok(integer) = digits.parse::<i64>() else {
                return Err(error(start, "the number is too large for an Int64"));
            };
            match i32::try_from(integer) {
                _ if long => Value::Int64(integer),
                Ok(integer) => Value::Int32(integer),
                Err(_) => {
                    return Err(error(start, "the number is too large for an Int32; an Int64 ends with `L`"));
                }
            }
        } else {
            match digits.parse::<f64>() {
                Ok(double) if double.is_finite() => Value::Double(double),
                _ => return Err(error(start, "the number is too large for a Double")),
            }
        };
        Ok((value, end))
    }
}

/// Characters that a property's name goes on with, and those so like them that an error should show them with the name.
#[inline]
fn is_word(c: char) -> bool {
    names::continues_property(c) || c.is_alphanumeric()
}

/// Returns the word that the text starts with.
#[inline]
fn word(text: &str) -> &str {
    if text.starts_with(|first: char| names::starts_property(first) || first.is_alphabetic()) {
        text.find(|c| !is_word(c)).and_then(|end| text.get(..end)).unwrap_or(text)
    } else {
        ""
    }
}

/// Returns a word as an error shows it.
#[inline]
pub(super) fn short(word: &str) -> &str {
    const SHOWN: usize = 40;
    word.char_indices().nth(SHOWN).and_then(|(end, _)| word.get(..end)).unwrap_or(word)
}

/// Returns a time of day in UTC, or with the offset from it: an offset stands behind a time of day, in place of the `Z`.
#[inline]
pub(crate) fn time_of(text: &str) -> Result<Ticks, String> {
    let Some((local, ahead, minutes)) = with_offset(text) else {
        return text
            .parse()
            .map_err(|why: ParseTicksError| format!("{why}, or an offset such as `+01:00` for the `Z`"));
    };
    let local: Ticks = local.parse().map_err(|why: ParseTicksError| why.to_string())?;
    let offset = minutes * TICKS_A_MINUTE;
    let utc = if ahead { local.get().checked_sub(offset) } else { local.get().checked_add(offset) };
    utc.and_then(Ticks::new).ok_or_else(|| "the time is outside the years 1 to 9999 in UTC".to_owned())
}

const TICKS_A_MINUTE: u64 = 60 * 10_000_000;

/// Returns the text before an offset, whether the offset is ahead of UTC, and by how many minutes.
#[inline]
fn with_offset(text: &str) -> Option<(&str, bool, u64)> {
    const LENGTH: usize = "+00:00".len();
    let (local, offset) = text.split_at_checked(text.len().checked_sub(LENGTH)?)?;
    let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = offset.as_bytes() else { return None };
    let digit = |byte: &u8| char::from(*byte).to_digit(10).map(u64::from);
    let (hours, minutes) = (digit(h1)? * 10 + digit(h2)?, digit(m1)? * 10 + digit(m2)?);
    let is_time_of_day = local.contains('T') && !local.ends_with('Z');
    (is_time_of_day && hours < 24 && minutes < 60).then_some((local, *sign == b'+', hours * 60 + minutes))
}

#[inline]
fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
    let nibble = |digit: &u8| char::from(*digit).to_digit(16).and_then(|nibble| u8::try_from(nibble).ok());
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(nibble(high)? << 4 | nibble(low)?)).collect()
}
