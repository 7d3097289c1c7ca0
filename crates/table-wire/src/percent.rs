//! Escapes of addresses.

use std::borrow::Cow;
use std::fmt;

/// An escape that is no UTF-8, or is not two hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadEscape;

impl fmt::Display for BadEscape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an escape is no UTF-8, or is not two hexadecimal digits")
    }
}

impl std::error::Error for BadEscape {}

/// Reads a text with escapes, such as a path or a value of a query, once.
pub fn decode(text: &str) -> Result<Cow<'_, str>, BadEscape> {
    if !text.contains('%') {
        return Ok(text.into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (Some(high), Some(low)) = (rest.next().and_then(hex), rest.next().and_then(hex)) else {
            return Err(BadEscape);
        };
        bytes.push(high << 4 | low);
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| BadEscape)
}

/// Appends a text in which all is escaped but letters, digits and `-._~`.
pub fn encode(text: &str, out: &mut String) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or('0');
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.extend(['%', digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_once_and_never_repaired() {
        assert_eq!(decode("a%20b%2525+%C3%A9").unwrap(), "a b%25+é");
        for bad in ["%", "%2", "%zz", "%+1", "%C3", "%C3x", "%ff", "a%e9"] {
            assert_eq!(decode(bad), Err(BadEscape), "{bad}");
        }
        let mut text = String::new();
        encode("a b'é/", &mut text);
        assert_eq!(text, "a%20b%27%C3%A9%2F");
        assert_eq!(decode(&text).unwrap(), "a b'é/");
    }
}
