//! Eight bytes of a text looked at at once, as one word: the first of them is the lowest.
//!
//! The processor's wide instructions are no use here, since most keys are shorter than what these look at.

/// The top bit of each byte.
pub(crate) const TOPS: u64 = repeated(0x80);

/// Returns a byte repeated eight times. Where it is not inlined, as between units of code that the compiler makes apart, a
/// constant is computed again for each word.
#[inline]
pub(crate) const fn repeated(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Returns where the byte first occurs, and whether each byte before it is one that any key may hold.
#[inline]
pub(crate) fn find(bytes: &[u8], wanted: u8) -> Option<(usize, bool)> {
    let (mut rest, mut are_plain) = (bytes, true);
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        // The byte is zero where it is found. Of those that this says to be zero the lowest is.
        let differs = word ^ repeated(wanted);
        let found = differs.wrapping_sub(repeated(1)) & !differs & TOPS;
        if found != 0 {
            let at = usize::try_from(found.trailing_zeros() / 8).unwrap_or_default();
            let before = found ^ (found - 1);
            // The topmost bit of those is that of the byte itself.
            let is_plain = others(word) & (before >> 1) == 0;
            return Some((bytes.len() - rest.len() + at, are_plain && is_plain));
        }
        are_plain &= is_plain(word);
        rest = after;
    }
    for (at, byte) in rest.iter().enumerate() {
        if *byte == wanted {
            return Some((bytes.len() - rest.len() + at, are_plain));
        }
        are_plain &= is_plain(repeated(*byte));
    }
    None
}

/// Returns whether each byte is one that any key may hold.
#[inline]
pub(crate) fn are_plain(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        if !is_plain(u64::from_le_bytes(*word)) {
            return false;
        }
        rest = after;
    }
    match (bytes.last_chunk(), rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        // The last word has some bytes that were looked at.
        (Some(last), ..) => rest.is_empty() || is_plain(u64::from_le_bytes(*last)),
        (None, Some([a, b, c, d]), Some([e, f, g, h])) => {
            is_plain(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
        }
        _ => rest.iter().all(|byte| is_plain(repeated(*byte))),
    }
}

/// Returns whether each byte is ASCII. Of so few bytes as keys have, quicker than the standard library's.
///
/// [`text::of`](super::text::of) makes text of what this lets through, without another look: to let another byte through would
/// be undefined behaviour there.
#[inline]
pub(crate) fn are_ascii(bytes: &[u8]) -> bool {
    let (words, _) = bytes.as_chunks();
    let tops = words.iter().fold(0, |tops, word| tops | u64::from_le_bytes(*word));
    // The last word has some bytes that were looked at.
    let last = match bytes.last_chunk() {
        Some(last) => u64::from_le_bytes(*last),
        None => bytes.iter().fold(0, |tops, byte| tops | u64::from(*byte)),
    };
    (tops | last) & TOPS == 0
}

/// Returns whether each byte of a word is printed in ASCII and neither `/`, `\`, `#` nor `?`.
#[inline]
fn is_plain(word: u64) -> bool {
    others(word) == 0
}

/// Returns the top bits of bytes that are none of those: of the lowest such byte for certain, and of none below it.
#[inline]
fn others(word: u64) -> u64 {
    // A top bit: beyond ASCII, or below a space, or U+007F. Below the lowest such byte nothing is carried.
    let is_control = word | word.wrapping_sub(repeated(b' ')) | word.wrapping_add(repeated(1));
    // No top bit: the byte itself. The sixteens apart, `/` is `?`.
    let differs = |word: u64, byte| ((word ^ repeated(byte)) & !TOPS) + repeated(0x7f);
    let is_other = differs(word | repeated(0x10), b'?') & differs(word, b'#') & differs(word, b'\\');
    (is_control | !is_other) & TOPS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_byte_in_every_place_is_ascii_or_not() {
        for length in 0..=40 {
            assert!(are_ascii(&vec![b'a'; length]));
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    assert_eq!(are_ascii(&bytes), byte.is_ascii());
                }
            }
        }
    }

    fn is_plain_byte(byte: u8) -> bool {
        matches!(byte, b' '..=b'~') && !matches!(byte, b'/' | b'\\' | b'#' | b'?')
    }

    #[test]
    fn every_byte_in_every_place_is_found_and_told_to_be_plain_or_not() {
        for length in 1..=20 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'x'; length];
                    text[at] = byte;
                    assert_eq!(are_plain(&text), is_plain_byte(byte), "{byte} at {at} of {length}");
                    assert_eq!(find(&text, byte), Some((if byte == b'x' { 0 } else { at }, true)));
                }
            }
        }
        assert!(are_plain(b""));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn bytes_are_looked_at_as_if_one_by_one(
            bytes in proptest::collection::vec(prop_oneof![4 => b' '..=b'~', 1 => any::<u8>()], 0..40),
            wanted: u8,
        ) {
            prop_assert_eq!(are_plain(&bytes), bytes.iter().copied().all(is_plain_byte));
            for wanted in bytes.iter().copied().chain([wanted]) {
                let at = bytes.iter().position(|byte| *byte == wanted);
                let found = at.map(|at| (at, bytes[..at].iter().copied().all(is_plain_byte)));
                prop_assert_eq!(find(&bytes, wanted), found);
            }
        }
    }
}
