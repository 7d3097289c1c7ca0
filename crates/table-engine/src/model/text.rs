//! Bytes as text.

use super::words;

/// Returns the text that the bytes are, or `None` where they are none.
///
/// What a row holds is mostly ASCII, of some dozens of bytes. The standard library looks at those before the first whole
/// word and behind the last one by one, and the processor can't foresee how many they are: four times what this takes.
#[allow(unsafe_code, reason = "the standard library's own check takes four times as long")]
#[inline]
pub(crate) fn of(bytes: &[u8]) -> Option<&str> {
    if words::are_ascii(bytes) {
        // SAFETY: Text must be UTF-8, as ASCII is. That each byte is ASCII has just been found: `are_ascii` looks at all words
        // of the bytes, and at the last word or, of fewer than eight bytes, at each. Its test has every byte at every
        // place of every length up to 40. The bytes are borrowed, so they don't change while the text lasts.
        return Some(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn as_the_standard_library_says(bytes: &[u8]) {
        assert_eq!(of(bytes), std::str::from_utf8(bytes).ok(), "{bytes:?}");
    }

    #[test]
    fn every_byte_in_every_place_makes_text_of_it_or_not() {
        for length in 0..=20 {
            for at in 0..length {
                for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 51 } else { 1 }) {
                    let mut bytes = vec![b'a'; length];
                    bytes[at] = byte;
                    as_the_standard_library_says(&bytes);
                }
            }
        }
    }

    #[test]
    fn every_character_is_text_wherever_it_begins_and_none_that_is_cut() {
        for character in
            ['\0', '\u{7f}', '\u{80}', '\u{7ff}', '\u{800}', '\u{ffff}', '\u{10000}', '\u{10ffff}']
        {
            for before in 0..20 {
                let text = format!("{}{character}{}", "x".repeat(before), "y".repeat(9));
                assert_eq!(of(text.as_bytes()), Some(text.as_str()));
                for end in 0..text.len() {
                    as_the_standard_library_says(&text.as_bytes()[..end]);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 5_000 }))]

        #[test]
        fn bytes_are_text_where_the_standard_library_says_so(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..40),
                proptest::collection::vec(prop_oneof![9 => 0..0x80_u8, 1 => any::<u8>()], 0..40),
                any::<String>().prop_map(String::into_bytes),
            ],
        ) {
            as_the_standard_library_says(&bytes);
        }
    }
}
