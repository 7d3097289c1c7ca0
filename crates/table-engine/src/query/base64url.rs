//! Base64 with the alphabet of URLs and without padding. Each byte string has one text.

use std::fmt;

use crate::model::text;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Bytes whose text is written at once.
const PIECE: usize = 48;

/// Writes the text of the bytes.
#[inline]
pub(super) fn write(bytes: &[u8], out: &mut impl fmt::Write) -> fmt::Result {
    for piece in bytes.chunks(PIECE) {
        let mut letters = [0; PIECE / 3 * 4];
        let mut length = 0;
        for (chunk, text) in piece.chunks(3).zip(letters.chunks_exact_mut(4)) {
            let group = (0..3).fold(0, |group, i| group << 8 | u32::from(chunk.get(i).copied().unwrap_or(0)));
            for (letter, shift) in text.iter_mut().zip([18, 12, 6, 0]).take(chunk.len() + 1) {
                let sextet = usize::try_from(group >> shift & 0x3f).unwrap_or(0);
                *letter = ALPHABET.get(sextet).copied().unwrap_or_default();
                length += 1;
            }
        }
        out.write_str(letters.get(..length).and_then(text::of).unwrap_or_default())?;
    }
    Ok(())
}

#[cfg(test)]
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    write(bytes, &mut text).unwrap();
    text
}

/// Returns the bytes, or `None` where the text is not what [`write`] gives.
#[inline]
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.as_bytes().chunks(4) {
        let mut group: u32 = 0;
        for letter in chunk {
            let sextet = ALPHABET.iter().position(|known| known == letter)?;
            group = group << 6 | u32::try_from(sextet).ok()?;
        }
        // Bits that no byte takes must be zero, or two texts would give the same bytes.
        let (whole, unused) = match chunk.len() {
            4 => (3, 0),
            3 => (2, 2),
            2 => (1, 4),
            _ => return None,
        };
        if group & ((1 << unused) - 1) != 0 {
            return None;
        }
        let [_, low @ ..] = (group >> unused << (8 * (3 - whole))).to_be_bytes();
        bytes.extend(low.iter().take(whole));
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            (&b""[..], ""),
            (b"f", "Zg"),
            (b"fo", "Zm8"),
            (b"foo", "Zm9v"),
            (b"foob", "Zm9vYg"),
            (b"\xfb\xff\xfe", "-__-"),
        ] {
            assert_eq!(encode(bytes), text);
            assert_eq!(decode(text).as_deref(), Some(bytes));
        }
        for text in ["Z", "Zg==", "Zh", "Zm9", "Zm9v+", "Zm 9v", "Zm9vé"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn one_text_for_one_byte_string(bytes in proptest::collection::vec(any::<u8>(), 0..200), text in "[A-Za-z0-9_-]{0,9}") {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
