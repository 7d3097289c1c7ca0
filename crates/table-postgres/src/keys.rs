//! Keys as texts whose bytes have the service's order, by which `COLLATE "C"` sorts.

use std::borrow::Cow;

/// The service compares keys by their UTF-16 units, where U+E000 to U+FFFF come behind all other characters; in UTF-8 the
/// characters beyond U+FFFF do. So those of U+E000 to U+FFFF get this character before them, and this character itself a space
/// behind it. No other key is changed.
const LAST: char = '\u{10ffff}';

/// A text that is no stored key's.
#[cfg(feature = "blob")]
pub(crate) const NO_KEY: char = LAST;

/// The first byte of U+E000 in UTF-8, but for that of characters from U+E000 down to U+D800, which no text has.
const FIRST_BYTE: u8 = 0xee;

/// Returns the stored text of a key. One with NUL is no row's, and the server takes no such text: it becomes another that is no
/// row's, in the same place among those that are.
pub(crate) fn escape(key: &str) -> Cow<'_, str> {
    if key.bytes().all(|byte| byte < FIRST_BYTE && byte != 0) {
        return Cow::Borrowed(key);
    }
    let mut stored = String::with_capacity(key.len() + 8);
    for character in key.chars() {
        if matches!(character, '\u{e000}'..='\u{ffff}') {
            stored.push(LAST);
        }
        stored.push(if character == '\0' { '\u{1}' } else { character });
        if character == LAST {
            stored.push(' ');
        }
    }
    Cow::Owned(stored)
}

/// Returns the key of a stored text.
pub(crate) fn unescape(stored: &str) -> Cow<'_, str> {
    if !stored.contains(LAST) {
        return Cow::Borrowed(stored);
    }
    let (mut key, mut rest) = (String::with_capacity(stored.len()), stored.chars());
    while let Some(character) = rest.next() {
        let meant = if character == LAST { rest.next().filter(|next| *next != ' ') } else { Some(character) };
        key.push(meant.unwrap_or(LAST));
    }
    Cow::Owned(key)
}

/// Returns the first stored text behind all that begin with this one; `None` if there is none.
pub(crate) fn behind_prefix(stored: &str) -> Option<String> {
    let mut text = stored.to_owned();
    while let Some(last) = text.pop() {
        let next = match last {
            '\u{d7ff}' => Some('\u{e000}'),
            last => u32::from(last).checked_add(1).and_then(char::from_u32),
        };
        if let Some(next) = next {
            text.push(next);
            return Some(text);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 12] = [
        "",
        "a",
        "a b",
        "\u{d7ff}",
        "\u{e000}",
        "\u{ffff}",
        "\u{10000}",
        "\u{10ffff}",
        "\u{10ffff} ",
        "\u{10ffff}\u{e000}",
        "x\u{ee00}y\u{1f600}",
        "\u{fffd}\u{10ffff}\u{ffff}",
    ];

    #[test]
    fn stored_texts_are_read_back_and_sort_as_the_service_sorts_keys() {
        for key in TEXTS {
            assert_eq!(unescape(&escape(key)), key);
            for other in TEXTS {
                let expected = key.encode_utf16().cmp(other.encode_utf16());
                assert_eq!(
                    escape(key).as_bytes().cmp(escape(other).as_bytes()),
                    expected,
                    "{key:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_key_with_nul_becomes_one_that_no_row_has() {
        let stored = escape("a\0\u{e000}");
        assert_eq!(stored, "a\u{1}\u{10ffff}\u{e000}");
        assert!(*"a" < *stored && *stored < *"a b");
    }

    #[test]
    fn what_begins_with_a_prefix_lies_before_its_end() {
        for prefix in TEXTS {
            let (start, end) = (escape(prefix), behind_prefix(&escape(prefix)));
            for text in TEXTS {
                let stored = escape(text);
                let lies_there = *stored >= *start && end.as_ref().is_none_or(|end| *stored < **end);
                assert_eq!(lies_there, stored.starts_with(&*start), "{prefix:?} {text:?}");
            }
        }
    }
}
