//! Percent-encoding, as the parameters of tokens have it.

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_texts() {
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
        fn texts_come_back(text in "\\PC{0,20}") {
            let mut escaped = String::new();
            escape(&text, &mut escaped);
            prop_assert_eq!(unescape(&escaped), Some(text));
        }
    }
}
