//! The texts of tokens: percent-encoding, and Base64 as keys and signatures have it.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends a text as a parameter of a URL has it. What needs no escape there, and `/`, stays.
pub(super) fn escape(text: &str, out: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            for nibble in [byte >> 4, byte & 15] {
                out.extend(char::from_digit(nibble.into(), 16).map(|digit| digit.to_ascii_uppercase()));
            }
        }
    }
}

/// Returns the text that was escaped; `None` if an escape is none, or the bytes are no text.
pub(super) fn unescape(text: &str) -> Option<String> {
    let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
    let (mut bytes, mut out) = (text.bytes(), Vec::with_capacity(text.len()));
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

/// Appends bytes as Base64 with padding.
pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0, |group, at| group << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for (at, shift) in [18, 12, 6, 0].into_iter().enumerate() {
            let sextet = usize::try_from(group >> shift & 0x3f).unwrap_or(0);
            let letter = ALPHABET.get(sextet).copied().map(char::from);
            text.extend(if at <= chunk.len() { letter } else { Some('=') });
        }
    }
    text
}

/// Returns the bytes; `None` where the text is not what [`encode`] gives.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let letters = text.trim_end_matches('=');
    if text.len() - letters.len() > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for chunk in letters.as_bytes().chunks(4) {
        let mut group = 0_u32;
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_texts() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9v\n"] {
            assert_eq!(decode(text), None, "{text}");
        }
        let mut escaped = String::new();
        escape("a b/é'&+=", &mut escaped);
        assert_eq!(escaped, "a%20b/%C3%A9%27%26%2B%3D");
        for text in ["%", "%2", "%zz", "%ff", "%+1"] {
            assert_eq!(unescape(text), None, "{text}");
        }
        assert_eq!(unescape("a+b").as_deref(), Some("a+b"));
    }

    proptest! {
        #[test]
        fn texts_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..40), text in "\\PC{0,20}") {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
            let mut escaped = String::new();
            escape(&text, &mut escaped);
            prop_assert_eq!(unescape(&escaped), Some(text));
        }
    }
}
