//! The characters that a key may hold, and how the service counts them.

/// What a key may hold, behind "a key holds" or "a key may hold".
pub const RULE: &str = "neither `/`, `\\`, `#`, `?` nor control characters";

/// Returns whether no key may hold the character.
#[inline]
pub const fn is_forbidden(c: char) -> bool {
    matches!(c, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

/// Returns how many UTF-16 code units the text takes, which is what the service counts.
pub const fn utf16_units(text: &str) -> usize {
    let mut units = 0;
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        units += match *byte {
            0x80..0xc0 => 0,
            0xf0.. => 2,
            _ => 1,
        };
        bytes = rest;
    }
    units
}

/// Returns the first character of a text, or nothing of an empty one.
pub const fn first_character(text: &str) -> &str {
    let length = match text.as_bytes() {
        [] => 0,
        [0..0x80, ..] => 1,
        [0..0xe0, ..] => 2,
        [0..0xf0, ..] => 3,
        _ => 4,
    };
    let (first, _) = text.split_at(length);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_and_taken_whole() {
        for text in ["", "a", "é_", "名前", "\u{10400}x", "\u{ffff}\u{10000}"] {
            assert_eq!(utf16_units(text), text.encode_utf16().count(), "{text}");
            let first = text.chars().next().map(String::from);
            assert_eq!(first_character(text), first.unwrap_or_default(), "{text}");
        }
    }

    #[test]
    fn control_characters_and_four_others_are_forbidden() {
        for c in '\0'..=char::MAX {
            assert_eq!(is_forbidden(c), c.is_control() || "/\\#?".contains(c), "{c:?}");
        }
    }
}
