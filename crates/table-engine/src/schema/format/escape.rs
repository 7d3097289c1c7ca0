//! Any text as text that a key can hold.
//!
//! | character | is written |
//! | --- | --- |
//! | U+0000 to U+0024: controls, space, `!`, `"`, `#`, `$` | `$` and two hex digits, `$00` to `$24` |
//! | `.` and `/` | `.0` and `.1` |
//! | `>` and `?` | `>0` and `>1` |
//! | `[` and `\` | `[0` and `[1` |
//! | `~` and U+007F to U+009F | `~` and one of `0` to `9`, `A` to `X` |
//! | any other | itself |
//!
//! So the dots of an e-mail address become `.0`, and names, numbers and dates stay as they are. The texts keep their
//! order, since each character gives way to one just below it. Prefixes stay prefixes, and different texts stay
//! different. `!` is never written and sorts before everything that is, so it can end the text.

use super::print::in_bytes;

/// Appends the text, escaped.
pub fn escape(text: &str, out: &mut String) {
    in_bytes(out, |out| push_escaped(text, out));
}

/// Appends the text, escaped, as bytes.
pub(crate) fn push_escaped(text: &str, out: &mut Vec<u8>) {
    let mut bytes = text.as_bytes();
    while let Some((byte, rest)) = bytes.split_first() {
        bytes = rest;
        let (first, second) = match byte {
            0..=0x24 => {
                out.push(b'$');
                (hex(byte / 16), hex(byte % 16))
            }
            b'.' => (b'.', b'0'),
            b'/' => (b'.', b'1'),
            b'>' => (b'>', b'0'),
            b'?' => (b'>', b'1'),
            b'[' => (b'[', b'0'),
            b'\\' => (b'[', b'1'),
            b'~' | 0x7f => (b'~', after_tilde(byte - b'~')),
            // U+0080 to U+009F have two bytes, of which the second is the number.
            0xc2 if matches!(rest, [0x80..=0x9f, ..]) => {
                let step = rest.first().map_or(0, |second| second - b'~');
                bytes = rest.get(1..).unwrap_or_default();
                (b'~', after_tilde(step))
            }
            _ => {
                out.push(*byte);
                continue;
            }
        };
        out.extend_from_slice(&[first, second]);
    }
}

/// Returns `0` to `9` and `A` to `X` for 0 to 33.
fn after_tilde(step: u8) -> u8 {
    if step < 10 { b'0' + step } else { b'A' + (step - 10) }
}

/// Returns a hex digit of a number below 16.
fn hex(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + (nibble - 10) }
}

/// Returns the text of an escaped form, or `None` if [`escape`] never writes it.
pub fn unescape(escaped: &str) -> Option<String> {
    let mut text = String::with_capacity(escaped.len());
    let mut chars = escaped.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '$' => {
                let code = from_hex(chars.next()?)? * 16 + from_hex(chars.next()?)?;
                char::from_u32(code).filter(|c| *c <= '\u{24}')?
            }
            '.' => one_of(chars.next()?, '.', '/')?,
            '>' => one_of(chars.next()?, '>', '?')?,
            '[' => one_of(chars.next()?, '[', '\\')?,
            '~' => {
                let step = chars.next().filter(|c| !c.is_ascii_lowercase())?.to_digit(34)?;
                char::from_u32(u32::from('~') + step)?
            }
            '\0'..='\u{24}' | '/' | '?' | '\\' | '\u{7f}'..='\u{9f}' => return None,
            _ => c,
        });
    }
    Some(text)
}

fn from_hex(c: char) -> Option<u32> {
    if c.is_ascii_uppercase() { None } else { c.to_digit(16) }
}

fn one_of(code: char, zero: char, one: char) -> Option<char> {
    match code {
        '0' => Some(zero),
        '1' => Some(one),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::key;
    use table_words::key::is_forbidden;

    const END: char = '!';

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        escape(text, &mut out);
        out
    }

    /// Returns the characters around every border of the table and of UTF-16's order.
    fn text() -> impl Strategy<Value = String> {
        let c = prop_oneof![
            3 => (0_u32..0xa2).prop_filter_map("surrogate", char::from_u32),
            1 => any::<char>(),
            1 => proptest::sample::select(vec![
                '!', '$', '%', '-', '.', '/', '0', '=', '>', '?', '@', 'Z', '[', '\\', ']', '}', '~', '\u{7f}',
                '\u{9f}', '\u{a0}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}',
            ]),
        ];
        proptest::collection::vec(c, 0..6).prop_map(String::from_iter)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn order_prefixes_and_difference_survive(a in text(), b in text()) {
            let (x, y) = (escaped(&a), escaped(&b));
            prop_assert_eq!(key::compare(&x, &y), key::compare(&a, &b), "{:?} {:?}", x, y);
            // And with `!` behind them: the whole keys have the order of the texts.
            let (x_ended, y_ended) = (format!("{x}{END}"), format!("{y}{END}"));
            prop_assert_eq!(key::compare(&x_ended, &y_ended), key::compare(&a, &b));
            prop_assert_eq!(y.starts_with(&x), b.starts_with(&a));
            let longer = escaped(&format!("{a}{b}"));
            prop_assert_eq!(longer, format!("{x}{y}"));
        }

        #[test]
        fn the_text_comes_back(a in text()) {
            let x = escaped(&a);
            prop_assert!(!x.contains(is_forbidden) && !x.contains([END, ' ', '"']), "{:?}", x);
            let back = unescape(&x);
            prop_assert_eq!(back.as_deref(), Some(a.as_str()));
        }

        #[test]
        fn what_is_never_written_is_never_read(x in text()) {
            if let Some(text) = unescape(&x) {
                prop_assert_eq!(escaped(&text), x);
            }
        }
    }

    #[test]
    fn the_escapes_are_those_of_the_format() {
        for (text, expected) in [
            ("", ""),
            ("jonesj@contoso.com", "jonesj@contoso.0com"),
            ("O'Neil & Sons, 50%", "O'Neil$20&$20Sons,$2050%"),
            ("a/b\\c?d#e", "a.1b[1c>1d$23e"),
            ("\0\t\u{1f} !\"$", "$00$09$1f$20$21$22$24"),
            ("~\u{7f}\u{87}\u{88}\u{9f}\u{a0}", "~0~1~9~A~X\u{a0}"),
            (".>[", ".0>0[0"),
            ("größe \u{1f600}", "größe$20\u{1f600}"),
        ] {
            assert_eq!(escaped(text), expected);
        }
        for never in
            ["$", "$0", "$25", "$1F", ".", ".2", ">2", "[2", "~", "~Y", "~a", "a b", "!", "a/b", "\u{80}"]
        {
            assert_eq!(unescape(never), None, "{never:?}");
        }
    }
}
