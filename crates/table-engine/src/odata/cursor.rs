//! JSON, token by token. A value stays the piece of text that it is until its type is known.

use super::text::{name_length, plain_length};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::NAME_UNITS;

/// How deep values may lie in one another. Those of properties do not; those of annotations may, and are skipped.
const DEPTH: usize = 16;

/// A value that is neither an array nor an object.
#[derive(Clone, Copy)]
pub(super) enum Token<'t> {
    Null,
    Bool(bool),
    /// As JSON has it.
    Number(&'t str),
    Text(Text<'t>),
}

/// What stands between the quotes of a string, whose escapes are sound.
#[derive(Clone, Copy)]
pub(super) struct Text<'t> {
    pub(super) raw: &'t str,
    pub(super) has_escapes: bool,
}

impl<'t> Text<'t> {
    /// Returns what the string says; if it has escapes, from the buffer.
    #[inline]
    pub(super) fn unescaped<'b>(self, buffer: &'b mut String) -> &'b str
    where
        't: 'b,
    {
        if !self.has_escapes {
            return self.raw;
        }
        buffer.clear();
        unescape(self.raw, buffer);
        buffer
    }
}

/// A place in a text.
pub(super) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    /// Makes a cursor at the start of a text, which has to be UTF-8.
    pub(super) fn new(text: &'t [u8]) -> Result<Self> {
        match str::from_utf8(text) {
            Ok(text) => Ok(Self { text, at: 0 }),
            Err(why) => Err(malformed(why.valid_up_to(), "the text is not UTF-8")),
        }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Returns the text from a place to the cursor.
    #[inline]
    fn since(&self, from: usize) -> &'t str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    /// Skips white space, and returns the byte behind it.
    #[inline]
    pub(super) fn next_byte(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Goes past a byte, if it comes next behind white space; returns whether it does.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.next_byte() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Goes past a byte that has to come next.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8, what: &'static str) -> Result<()> {
        if self.take(byte) { Ok(()) } else { Err(malformed(self.at, what)) }
    }

    /// Checks that nothing but white space follows.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(malformed(self.at, "something follows the end")),
        }
    }

    /// Goes past the name of a member and its colon, where that is a name of ASCII of a property, or of the annotation of its
    /// type; returns the property's name, and whether it is the annotation. Other names are left to [`string`](Self::string).
    #[inline]
    pub(super) fn plain_name(&mut self) -> Option<(&'t str, bool)> {
        self.next_byte();
        let rest = self.rest().strip_prefix(b"\"")?;
        let (name, behind) = rest.split_at_checked(name_length(rest))?;
        let (is_type, length) = match behind {
            [b'"', b':', ..] => (false, 2),
            _ if behind.starts_with(b"@odata.type\":") => (true, 13),
            _ => return None,
        };
        if name.is_empty() || name.len() > NAME_UNITS || name.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let from = self.at + 1;
        self.at = from + name.len() + length;
        Some((self.text.get(from..from + name.len())?, is_type))
    }

    /// Reads a string, whose first quote comes next.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Text<'t>> {
        self.expect(b'"', "expected a string")?;
        let from = self.at;
        let mut has_escapes = false;
        loop {
            self.at += plain_length(self.rest());
            match self.peek() {
                Some(b'"') => {
                    let raw = self.since(from);
                    self.at += 1;
                    return Ok(Text { raw, has_escapes });
                }
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += escape_length(self.rest())
                        .ok_or_else(|| malformed(self.at, "a string has an escape that is none"))?;
                }
                Some(_) => return Err(malformed(self.at, "a string has a control character")),
                None => return Err(malformed(self.at, "a string has no end")),
            }
        }
    }

    /// Reads a value that is neither an array nor an object.
    #[inline]
    pub(super) fn token(&mut self) -> Result<Token<'t>> {
        match self.next_byte() {
            Some(b'"') => self.string().map(Token::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Token::Bool(true)),
            Some(b'f') => self.word("false", Token::Bool(false)),
            Some(b'n') => self.word("null", Token::Null),
            Some(b'{' | b'[') => Err(malformed(self.at, "an array or an object is no value of a property")),
            _ => Err(malformed(self.at, "expected a value")),
        }
    }

    #[inline]
    fn word(&mut self, word: &str, token: Token<'t>) -> Result<Token<'t>> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(malformed(self.at, "expected a value"));
        }
        self.at += word.len();
        Ok(token)
    }

    #[inline]
    fn number(&mut self) -> Result<Token<'t>> {
        let from = self.at;
        self.at +=
            number_length(self.rest()).ok_or_else(|| malformed(from, "a number is not as JSON has it"))?;
        Ok(Token::Number(self.since(from)))
    }

    /// Skips a value of any kind.
    pub(super) fn skip(&mut self) -> Result<()> {
        self.skip_within(DEPTH)
    }

    fn skip_within(&mut self, depth: usize) -> Result<()> {
        let (open, close) = match self.next_byte() {
            Some(b'{') => (b'{', b'}'),
            Some(b'[') => (b'[', b']'),
            _ => return self.token().map(|_| ()),
        };
        let inner =
            depth.checked_sub(1).ok_or_else(|| malformed(self.at, "values lie too deep in one another"))?;
        self.at += 1;
        if self.take(close) {
            return Ok(());
        }
        loop {
            if open == b'{' {
                self.next_byte();
                self.string()?;
                self.expect(b':', "expected a colon")?;
            }
            self.skip_within(inner)?;
            if !self.take(b',') {
                return self.expect(close, "expected a comma or the end");
            }
        }
    }
}

/// Returns the length of the number that bytes begin with, if it is one of JSON.
#[inline]
pub(super) fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let count = bytes.get(from..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(from + count)
    };
    let first = usize::from(bytes.first() == Some(&b'-'));
    let mut end = digits(first)?;
    if bytes.get(first) == Some(&b'0') && end > first + 1 {
        return None;
    }
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = digits(end + 1 + signed)?;
    }
    Some(end)
}

/// Returns the length of the escape that bytes begin with, if it is one of JSON. That of a character beyond the first 65,536
/// is a pair; a half of such a pair alone is no character.
fn escape_length(bytes: &[u8]) -> Option<usize> {
    match bytes.get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => escaped_char(bytes).map(|(_, length)| length),
        _ => None,
    }
}

/// Returns the character of an escape by its number, and the length of the escape.
fn escaped_char(bytes: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let [b'\\', b'u', digits @ ..] = bytes.get(at..at + 6)? else { return None };
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    };
    let first = unit(0)?;
    if let Some(character) = char::from_u32(first) {
        return Some((character, 6));
    }
    let second = unit(6).filter(|second| (0xdc00..0xe000).contains(second) && first < 0xdc00)?;
    let character = char::from_u32(0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff))?;
    Some((character, 12))
}

/// Appends what a string says whose escapes are sound.
fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let (character, length) = match escape.as_bytes().get(1) {
            Some(b'b') => ('\u{8}', 2),
            Some(b'f') => ('\u{c}', 2),
            Some(b'n') => ('\n', 2),
            Some(b'r') => ('\r', 2),
            Some(b't') => ('\t', 2),
            Some(b'u') => escaped_char(escape.as_bytes()).unwrap_or((char::REPLACEMENT_CHARACTER, 2)),
            Some(byte) => (char::from(*byte), 2),
            None => return,
        };
        out.push(character);
        rest = escape.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Returns the error of a text that is no OData JSON, with the place where it is none.
#[cold]
pub(super) fn malformed(at: usize, why: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOData).attempted("read OData JSON").because(why).at_position(at)
}
