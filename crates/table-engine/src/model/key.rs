//! Keys as text and as bytes that sort as the service sorts them.
//!
//! The service compares keys by UTF-16 code unit. UTF-8 sorts by code point, and the two differ in one place:
//! U+E000 to U+FFFF come after the characters beyond U+FFFF in UTF-16 (which writes those as surrogates, D800 to
//! DFFF) and before them in UTF-8. So the stored form is UTF-8 with its lead bytes permuted: `F0..=F4` become
//! `EE..=F2`, and `EE`, `EF` become `F3`, `F4`. Comparing bytes then gives the service's order, at no size.

use std::borrow::Cow;
use std::cmp::Ordering;

use table_words::key::{RULE, is_forbidden};

use super::{text, words};
use crate::error::{Error, ErrorKind};
use crate::limits;

/// The first lead byte that is permuted: every byte from here on is one.
const PERMUTED: u8 = 0xee;

/// Returns the stored form of a lead byte.
pub(crate) fn stored_byte(byte: u8) -> u8 {
    match byte {
        0xf0..=0xf4 => byte - 2,
        0xee | 0xef => byte + 5,
        _ => byte,
    }
}

/// Returns the lead byte of a stored form.
fn restore(byte: u8) -> u8 {
    match byte {
        0xee..=0xf2 => byte + 2,
        0xf3 | 0xf4 => byte - 5,
        _ => byte,
    }
}

/// Appends the stored form of `text`, which is as long as its UTF-8.
pub(crate) fn encode(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text.as_bytes());
    if !text.is_ascii() {
        for byte in out.iter_mut().skip(start).filter(|byte| **byte >= PERMUTED) {
            *byte = stored_byte(*byte);
        }
    }
}

/// Returns the text of a stored form, or `None` where the bytes are none.
pub(crate) fn decode(stored: &[u8]) -> Option<Cow<'_, str>> {
    if words::are_ascii(stored) || stored.iter().all(|byte| *byte < PERMUTED) {
        return text::of(stored).map(Cow::Borrowed);
    }
    let bytes = stored.iter().map(|byte| restore(*byte)).collect();
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

/// Compares as the service does: by UTF-16 code unit.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    for (x, y) in a.bytes().zip(b.bytes()) {
        if x != y {
            return stored_byte(x).cmp(&stored_byte(y));
        }
    }
    a.len().cmp(&b.len())
}

/// Returns how many UTF-16 code units the text takes.
pub(crate) fn utf16_units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Which of the two keys an error speaks of.
#[derive(Clone, Copy)]
pub(crate) enum Part {
    Partition,
    Row,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Self::Partition => "partition key",
            Self::Row => "row key",
        }
    }
}

/// Returns whether each byte is a character that any key may hold. If not, it may still be part of one.
#[inline]
pub(crate) fn is_plain(text: &str) -> bool {
    words::are_plain(text.as_bytes())
}

/// Checks one key against the service's rules.
pub(crate) fn check(part: Part, text: &str) -> Result<(), Error> {
    // The common case in one pass over the bytes.
    if text.len() <= limits::KEY_UNITS && is_plain(text) {
        return Ok(());
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| is_forbidden(*c)) {
        return Err(Error::new(ErrorKind::InvalidKey)
            .because(format!("the {} holds {c:?} at byte {at}; a key may hold {RULE}", part.name())));
    }
    let units = utf16_units(text);
    if units > limits::KEY_UNITS {
        return Err(Error::new(ErrorKind::KeyTooLong).because(format!(
            "the {} has {units} UTF-16 units; a key may have {}",
            part.name(),
            limits::KEY_UNITS
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        encode(text, &mut out);
        out
    }

    /// Characters around every border of the two encodings.
    fn text() -> impl Strategy<Value = String> {
        let c = prop_oneof![
            any::<char>(),
            (0xd700_u32..0x1_0100).prop_filter_map("surrogate", char::from_u32),
            (0xe000_u32..0x1_0000).prop_filter_map("surrogate", char::from_u32),
            (0x1_0000_u32..0x11_0000).prop_filter_map("surrogate", char::from_u32),
            proptest::char::range('a', 'c'),
        ];
        proptest::collection::vec(c, 0..6).prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn bytes_sort_by_utf16_code_unit(a in text(), b in text()) {
            let expected = a.encode_utf16().cmp(b.encode_utf16());
            prop_assert_eq!(encoded(&a).cmp(&encoded(&b)), expected);
            prop_assert_eq!(compare(&a, &b), expected);
        }

        #[test]
        fn the_text_comes_back(a in text()) {
            let stored = encoded(&a);
            prop_assert_eq!(stored.len(), a.len());
            let decoded = decode(&stored);
            prop_assert_eq!(decoded.as_deref(), Some(a.as_str()));
            prop_assert_eq!(utf16_units(&a), a.encode_utf16().count());
        }

        #[test]
        fn any_bytes_decode_or_are_refused(bytes in proptest::collection::vec(any::<u8>(), 0..12)) {
            if let Some(text) = decode(&bytes) {
                prop_assert_eq!(encoded(&text), bytes);
            }
        }
    }

    #[test]
    fn keys_are_checked_at_the_limit_and_one_past() {
        let kind = |text: &str| check(Part::Row, text).map_err(|e| e.kind());
        assert_eq!(kind(""), Ok(()));
        assert_eq!(kind(&"x".repeat(512)), Ok(()));
        assert_eq!(kind(&"x".repeat(513)), Err(ErrorKind::KeyTooLong));
        assert_eq!(kind(&"名".repeat(512)), Ok(()));
        assert_eq!(kind(&"\u{1f600}".repeat(256)), Ok(()));
        assert_eq!(kind(&("\u{1f600}".repeat(256) + "x")), Err(ErrorKind::KeyTooLong));
        for c in ['/', '\\', '#', '?', '\0', '\t', '\u{1f}', '\u{7f}', '\u{80}', '\u{9f}'] {
            assert_eq!(kind(&format!("a{c}")), Err(ErrorKind::InvalidKey), "{c:?}");
        }
        for c in [' ', '!', '%', '\'', '~', '\u{a0}', '\u{ffff}', '\u{10ffff}'] {
            assert_eq!(kind(&format!("a{c}")), Ok(()), "{c:?}");
        }
    }
}
