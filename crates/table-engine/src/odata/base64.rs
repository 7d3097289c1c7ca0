//! Base64 with the standard alphabet and padding, as RFC 4648 has it. Each byte string has one text.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What stands for a byte that is no letter of the alphabet.
const NONE: u8 = 0xff;

/// The place of each letter in the alphabet.
const SEXTETS: [u8; 256] = {
    let mut sextets = [NONE; 256];
    let (mut rest, mut sextet) = (ALPHABET.as_slice(), 0);
    while let [letter, after @ ..] = rest {
        let mut place = sextets.as_mut_slice();
        let mut at = 0;
        while let [first, others @ ..] = place {
            if at == *letter {
                *first = sextet;
                break;
            }
            place = others;
            at += 1;
        }
        rest = after;
        sextet += 1;
    }
    sextets
};

#[inline]
fn letter(sextet: u8) -> u8 {
    ALPHABET.get(usize::from(sextet & 0x3f)).copied().unwrap_or_default()
}

#[inline]
fn sextet(letter: u8) -> u8 {
    SEXTETS.get(usize::from(letter)).copied().unwrap_or(NONE)
}

/// Appends the text of some bytes.
pub(super) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len().div_ceil(3) * 4);
    let (groups, rest) = bytes.as_chunks::<3>();
    let four =
        |[a, b, c]: [u8; 3]| [letter(a >> 2), letter(a << 4 | b >> 4), letter(b << 2 | c >> 6), letter(c)];
    for group in groups {
        out.extend_from_slice(&four(*group));
    }
    match rest {
        [a] => {
            let [first, second, ..] = four([*a, 0, 0]);
            out.extend_from_slice(&[first, second, b'=', b'=']);
        }
        [a, b] => {
            let [first, second, third, _] = four([*a, *b, 0]);
            out.extend_from_slice(&[first, second, third, b'=']);
        }
        _ => {}
    }
}

/// Appends the bytes of a text. Returns `None`, with some of them appended, where the text is not what [`encode`] gives.
pub(super) fn decode(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (groups, rest) = text.as_chunks::<4>();
    if !rest.is_empty() {
        return None;
    }
    let Some((last, groups)) = groups.split_last() else { return Some(()) };
    out.reserve(text.len() / 4 * 3);
    for group in groups {
        out.extend_from_slice(&three(*group)?);
    }
    // Bits that no byte takes must be zero, or two texts would give the same bytes.
    match *last {
        [a, b, b'=', b'='] => {
            let [first, second, third] = three([a, b, b'A', b'A'])?;
            out.push(first);
            (second == 0 && third == 0).then_some(())
        }
        [a, b, c, b'='] => {
            let [first, second, third] = three([a, b, c, b'A'])?;
            out.extend_from_slice(&[first, second]);
            (third == 0).then_some(())
        }
        whole => {
            out.extend_from_slice(&three(whole)?);
            Some(())
        }
    }
}

#[inline]
fn three(letters: [u8; 4]) -> Option<[u8; 3]> {
    let [a, b, c, d] = letters.map(sextet);
    // No sextet has either of the top bits; what stands for none has both.
    ((a | b | c | d) & 0xc0 == 0).then_some([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(bytes: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        encode(bytes, &mut text);
        text
    }

    fn decoded(text: &[u8]) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        decode(text, &mut bytes).map(|()| bytes)
    }

    #[test]
    fn known_texts() {
        for (bytes, text) in [
            (&b""[..], &b""[..]),
            (b"f", b"Zg=="),
            (b"fo", b"Zm8="),
            (b"foo", b"Zm9v"),
            (b"foob", b"Zm9vYg=="),
            (b"fooba", b"Zm9vYmE="),
            (b"foobar", b"Zm9vYmFy"),
            (b"\xfb\xff\xfe", b"+//+"),
        ] {
            assert_eq!(encoded(bytes), text);
            assert_eq!(decoded(text).as_deref(), Some(bytes));
        }
        for text in [
            "Z", "Zg", "Zg=", "Zh==", "Zm9=", "=Zg=", "Zg==Zg==", "Zm 9v===", "-__-", "Zm9v\n", "====",
            "Z===",
        ] {
            assert_eq!(decoded(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn one_text_for_one_byte_string(bytes: Vec<u8>, text in "([A-Za-z0-9+/]{4}){0,2}[A-Za-z0-9+/]{0,3}={0,2}") {
            prop_assert_eq!(decoded(&encoded(&bytes)), Some(bytes));
            if let Some(bytes) = decoded(text.as_bytes()) {
                prop_assert_eq!(encoded(&bytes), text.as_bytes());
            }
        }
    }
}
