//! Base64 (RFC 4648), in which each byte string has one text.

use crate::model::text;

/// The form with the alphabet of URLs and file names, without padding.
pub(crate) static URL: Base64 =
    Base64::new(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", false);

/// The form with the standard alphabet, with padding.
#[cfg(any(test, feature = "odata", feature = "sas"))]
pub(crate) static STANDARD: Base64 =
    Base64::new(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", true);

/// In the place of a sextet: the byte is no letter of the alphabet.
const NONE: u8 = 0xff;

/// How many bytes are encoded at once, and their letters.
const PIECE: usize = 48;
const LETTERS: usize = PIECE / 3 * 4;

/// A form of Base64.
pub(crate) struct Base64 {
    alphabet: &'static [u8; 64],
    /// The place of each letter in the alphabet.
    sextets: [u8; 256],
    is_padded: bool,
}

/// The text of up to 48 bytes.
pub(crate) struct Piece {
    letters: [u8; LETTERS],
    length: usize,
}

impl Piece {
    #[inline]
    pub(crate) fn as_str(&self) -> &str {
        self.letters.get(..self.length).and_then(text::of).unwrap_or_default()
    }
}

impl Base64 {
    const fn new(alphabet: &'static [u8; 64], is_padded: bool) -> Self {
        let mut sextets = [NONE; 256];
        let (mut rest, mut sextet) = (alphabet.as_slice(), 0);
        while let [letter, after @ ..] = rest {
            // A byte is no `usize` without a cast, so the slots are counted.
            let (mut slots, mut at) = (sextets.as_mut_slice(), 0);
            while let [slot, others @ ..] = slots {
                if at == *letter {
                    *slot = sextet;
                    break;
                }
                slots = others;
                at += 1;
            }
            rest = after;
            sextet += 1;
        }
        Self { alphabet, sextets, is_padded }
    }

    /// Returns the text of the bytes, in pieces. Nothing is allocated.
    #[inline]
    pub(crate) fn encode(&self, bytes: &[u8]) -> impl Iterator<Item = Piece> {
        bytes.chunks(PIECE).map(|bytes| self.piece(bytes))
    }

    fn piece(&self, bytes: &[u8]) -> Piece {
        let mut piece = Piece { letters: [b'='; LETTERS], length: 0 };
        let (groups, rest) = bytes.as_chunks::<3>();
        let (places, _) = piece.letters.as_chunks_mut::<4>();
        let mut places = places.iter_mut();
        for (group, place) in groups.iter().zip(&mut places) {
            *place = self.four(*group);
        }
        piece.length = groups.len() * 4;
        let of_rest = match *rest {
            [a] => [a, 0, 0],
            [a, b] => [a, b, 0],
            _ => return piece,
        };
        let letters = rest.len() + 1;
        if let Some(place) = places.next() {
            let four = self.four(of_rest);
            place.iter_mut().zip(four).take(letters).for_each(|(place, letter)| *place = letter);
        }
        piece.length += if self.is_padded { 4 } else { letters };
        piece
    }

    #[inline]
    fn four(&self, [a, b, c]: [u8; 3]) -> [u8; 4] {
        [a >> 2, a << 4 | b >> 4, b << 2 | c >> 6, c]
            .map(|sextet| self.alphabet.get(usize::from(sextet & 0x3f)).copied().unwrap_or_default())
    }

    /// Appends the bytes of a text. Returns `None`, with some of them appended, where the text is not what
    /// [`encode`](Self::encode) gives.
    ///
    /// The vector grows at most once, so that a secret is not left in memory that is given back.
    #[inline]
    pub(crate) fn decode(&self, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let letters = if self.is_padded { without_padding(text)? } else { text };
        out.reserve(letters.len().div_ceil(4) * 3);
        let (groups, rest) = letters.as_chunks::<4>();
        for group in groups {
            out.extend_from_slice(&self.three(*group)?);
        }
        // Bits that no byte takes must be zero, or two texts would give the same bytes.
        match *rest {
            [] => Some(()),
            [a, b] => {
                let [first, second, _] = self.three([a, b, b'A', b'A'])?;
                out.push(first);
                (second == 0).then_some(())
            }
            [a, b, c] => {
                let [first, second, third] = self.three([a, b, c, b'A'])?;
                out.extend_from_slice(&[first, second]);
                (third == 0).then_some(())
            }
            _ => None,
        }
    }

    #[inline]
    fn three(&self, letters: [u8; 4]) -> Option<[u8; 3]> {
        let [a, b, c, d] =
            letters.map(|letter| self.sextets.get(usize::from(letter)).copied().unwrap_or(NONE));
        // No sextet has either of the top bits; `NONE` has both.
        ((a | b | c | d) & 0xc0 == 0).then_some([a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d])
    }
}

/// Returns the letters of a text of whole groups.
fn without_padding(text: &[u8]) -> Option<&[u8]> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    Some(text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn encoded(form: &Base64, bytes: &[u8]) -> String {
        form.encode(bytes).map(|piece| piece.as_str().to_owned()).collect()
    }

    fn decoded(form: &Base64, text: &str) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        form.decode(text.as_bytes(), &mut bytes).map(|()| bytes)
    }

    #[test]
    fn known_texts() {
        for (bytes, standard, url) in [
            (&b""[..], "", ""),
            (b"f", "Zg==", "Zg"),
            (b"fo", "Zm8=", "Zm8"),
            (b"foo", "Zm9v", "Zm9v"),
            (b"foob", "Zm9vYg==", "Zm9vYg"),
            (b"fooba", "Zm9vYmE=", "Zm9vYmE"),
            (b"foobar", "Zm9vYmFy", "Zm9vYmFy"),
            (b"\xfb\xff\xfe", "+//+", "-__-"),
        ] {
            for (form, text) in [(&STANDARD, standard), (&URL, url)] {
                assert_eq!(encoded(form, bytes), text);
                assert_eq!(decoded(form, text).as_deref(), Some(bytes));
            }
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "Z",
            "Zg",
            "Zg=",
            "Zh==",
            "Zm9=",
            "=Zg=",
            "Zg==Zg==",
            "Zm9v=",
            "Zm9v==",
            "Zm9v====",
            "Zm 9v===",
            "-__-",
            "Zm9v\n",
            "====",
            "===",
            "Z===",
            "Zm9v\u{e9}==",
        ] {
            assert_eq!(decoded(&STANDARD, text), None, "{text}");
        }
        for text in ["Z", "Zg==", "Zh", "Zm9", "Zm9v+", "+//+", "Zm 9v", "Zm9v\u{e9}", "Zm9vZ"] {
            assert_eq!(decoded(&URL, text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn one_text_for_one_byte_string(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            standard in "([A-Za-z0-9+/]{4}){0,2}[A-Za-z0-9+/]{0,3}={0,2}",
            url in "[A-Za-z0-9_-]{0,9}",
        ) {
            for (form, text) in [(&STANDARD, standard), (&URL, url)] {
                prop_assert_eq!(decoded(form, &encoded(form, &bytes)), Some(bytes.clone()));
                if let Some(bytes) = decoded(form, &text) {
                    prop_assert_eq!(encoded(form, &bytes), text);
                }
            }
        }
    }
}
