//! Strings and numbers in JSON.

use crate::error::{Error, Result};
use crate::limits;
use crate::model::names;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const TOPS: u64 = ONES << 7;

/// Returns how many bytes stand before the first that can't stand in a string of JSON as it is: a quote, a backslash or a
/// control character.
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((word, after)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*word);
        // Zero where such a byte stands. Of the bytes that this finds the lowest is one; others may be none.
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        let found = found & TOPS;
        if found != 0 {
            let at = usize::try_from(found.trailing_zeros() / 8).unwrap_or_default();
            return bytes.len() - rest.len() + at;
        }
        rest = after;
    }
    let plain = rest.iter().take_while(|byte| **byte >= 0x20 && **byte != b'"' && **byte != b'\\').count();
    bytes.len() - rest.len() + plain
}

/// Appends a text as a string in JSON.
#[inline]
pub(super) fn string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let plain = plain_length(bytes);
    if plain == bytes.len() {
        out.extend_from_slice(bytes);
    } else {
        escaped(bytes, plain, out);
    }
    out.push(b'"');
}

/// Appends a text, of which so many bytes are plain.
#[cold]
fn escaped(bytes: &[u8], plain: usize, out: &mut Vec<u8>) {
    let (mut rest, mut plain) = (bytes, plain);
    while let Some((before, [byte, after @ ..])) = rest.split_at_checked(plain) {
        out.extend_from_slice(before);
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            control => {
                let hex = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
                out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(control >> 4), hex(control & 0xf)]);
            }
        }
        rest = after;
        plain = plain_length(rest);
    }
    out.extend_from_slice(rest);
}

/// Checks that a name is one of a property, and so stands in JSON as it is.
#[inline]
pub(super) fn check_name(name: &str) -> Result<()> {
    if is_plain_name(name.as_bytes()) && !names::SYSTEM.contains(&name) {
        return Ok(());
    }
    check_odd_name(name)
}

#[cold]
fn check_odd_name(name: &str) -> Result<()> {
    names::check_property(name).map_err(|error: Error| error.attempted("write OData JSON"))
}

/// Returns whether a name is a short one of ASCII that is an identifier.
#[inline]
pub(super) fn is_plain_name(name: &[u8]) -> bool {
    name.len() <= limits::NAME_UNITS
        && name.first().is_some_and(|first| !first.is_ascii_digit())
        && name_length(name) == name.len()
}

/// Returns how many bytes stand before the first that no name of ASCII goes on with. By a table, since each name is looked at.
#[inline]
pub(super) fn name_length(bytes: &[u8]) -> usize {
    const NAME_BYTES: [bool; 256] = {
        let mut bytes = [false; 256];
        let (mut rest, mut byte) = (bytes.as_mut_slice(), 0_u8);
        while let [first, others @ ..] = rest {
            *first = byte.is_ascii_alphanumeric() || byte == b'_';
            rest = others;
            byte = byte.wrapping_add(1);
        }
        bytes
    };
    let goes_on = |byte: &&u8| NAME_BYTES.get(usize::from(**byte)).copied().unwrap_or(false);
    bytes.iter().take_while(goes_on).count()
}

/// Appends a whole number.
#[inline]
pub(super) fn integer(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    digits(number.unsigned_abs(), 1, out);
}

/// Appends the digits of a number, at least so many.
fn digits(number: u64, least: usize, out: &mut Vec<u8>) {
    let (mut rest, mut text, mut count) = (number, [b'0'; 20], 0);
    for place in text.iter_mut().rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or_default();
        rest /= 10;
        count += 1;
        if rest == 0 {
            break;
        }
    }
    let from = text.len() - count.max(least);
    out.extend_from_slice(text.get(from..).unwrap_or_default());
}

/// Appends a finite double as the shortest decimal that reads back to it, with a decimal point.
pub(super) fn double(number: f64, out: &mut Vec<u8>) {
    if short_double(number, out) {
        return;
    }
    let text = format!("{number:?}");
    match text.split_once('e') {
        // `1e16`: readers that look for a point alone would take it for a whole number.
        Some((digits, exponent)) if !digits.contains('.') => {
            out.extend_from_slice(format!("{digits}.0e{exponent}").as_bytes());
        }
        _ => out.extend_from_slice(text.as_bytes()),
    }
}

/// Appends a double that has at most fifteen digits, six of them behind the point; returns whether it has.
///
/// A whole number below 10^15 and a power of ten below 10^22 are exact, so that the quotient is the double that is next to the
/// decimal: what a reader makes of it. The first that fits has the fewest decimals.
#[inline]
fn short_double(number: f64, out: &mut Vec<u8>) -> bool {
    /// Above it, adding it to a whole number below it leaves the number in the lowest bits.
    const SHIFT: f64 = 4_503_599_627_370_496.0;
    const MANTISSA: u64 = (1 << 52) - 1;
    const POWERS: [(f64, u64); 7] =
        [(1.0, 1), (10.0, 10), (100.0, 100), (1e3, 1_000), (1e4, 10_000), (1e5, 100_000), (1e6, 1_000_000)];
    let size = number.abs();
    for (decimals, (power, divisor)) in POWERS.into_iter().enumerate() {
        let scaled = (size * power).round();
        if scaled >= 1e15 {
            return false;
        }
        if (scaled / power).to_bits() == size.to_bits() {
            let all = (scaled + SHIFT).to_bits() & MANTISSA;
            if number.is_sign_negative() {
                out.push(b'-');
            }
            digits(all / divisor, 1, out);
            out.push(b'.');
            digits(all % divisor, decimals.max(1), out);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: f64) -> String {
        let mut out = Vec::new();
        double(number, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn doubles_have_a_point_and_as_few_digits_as_they_can() {
        for (number, text) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-52_000.25, "-52000.25"),
            (0.1, "0.1"),
            (0.3, "0.3"),
            (0.1 + 0.2, "0.30000000000000004"),
            (0.000_001, "0.000001"),
            (1e-7, "1.0e-7"),
            (1e15, "1000000000000000.0"),
            (1e16, "1.0e16"),
            (1.5e300, "1.5e300"),
            (f64::MAX, "1.7976931348623157e308"),
            (5e-324, "5.0e-324"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (999_999_999_999_999.9, "999999999999999.9"),
        ] {
            assert_eq!(written(number), text);
        }
    }

    #[test]
    fn integers_have_all_their_digits() {
        for number in [0, 7, 10, -1, i64::from(i32::MIN), i64::MAX, i64::MIN, 1_000_000] {
            let mut out = Vec::new();
            integer(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }

    proptest! {
        #[test]
        fn a_double_reads_back_to_itself(bits: u64, whole in -1_000_000_000_000_i64..1_000_000_000_000, decimals in 0..9_i32) {
            let whole = f64::from(i32::try_from(whole / 1_000).unwrap_or(7)) * 1e3;
            for number in [f64::from_bits(bits), whole, whole / 10_f64.powi(decimals)] {
                if number.is_finite() {
                    let text = written(number);
                    prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), number.to_bits());
                    prop_assert!(text.contains('.'));
                    let digits = |text: &str| {
                        let text = text.split('e').next().unwrap_or_default();
                        text.trim_matches(|c| "-0.".contains(c)).chars().filter(char::is_ascii_digit).count()
                    };
                    prop_assert!(digits(&text) <= digits(&format!("{number:?}")), "{} {:?}", text, number);
                }
            }
        }

        #[test]
        fn plain_lengths_are_those_of_a_look_at_each_byte(text in "[ -~é\u{0}-\u{2}\"\\\\]{0,40}") {
            let odd = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
            let first = text.as_bytes().iter().position(odd).unwrap_or(text.len());
            prop_assert_eq!(plain_length(text.as_bytes()), first);
        }
    }
}
