//! Numbers and UUIDs as the bytes of their digits: eight at once, in one word.
//!
//! A word has the first of eight bytes lowest, as [`u64::from_le_bytes`] reads them on any machine.

use std::fmt::Write;

use crate::model::words::{TOPS, repeated};

/// A word of `0`.
const ZEROS: u64 = repeated(b'0');

/// The digits of a word, and one more than the number that they are at most.
const WORD: usize = 8;
const WORD_END: u64 = 100_000_000;

/// The most digits whose number always fits into 64 bits.
const SHORT: usize = 19;
const SHORT_END: u64 = 10_000_000_000_000_000_000;

/// Returns the number that these digits are: one at least, and no sign, no space. `None` where it takes more than 64 bits.
#[inline]
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    match digits.len() {
        0 => None,
        1..=SHORT => short_number(digits),
        _ => long_number(digits),
    }
}

/// Returns the number that at most [`SHORT`] digits are.
#[inline]
fn short_number(mut digits: &[u8]) -> Option<u64> {
    let mut number = 0;
    while let Some((word, rest)) = digits.split_first_chunk() {
        number = number * WORD_END + eight(*word)?;
        digits = rest;
    }
    if let Some((&[a, b, c, d], rest)) = digits.split_first_chunk() {
        number = number * 10_000 + eight([b'0', b'0', b'0', b'0', a, b, c, d])?;
        digits = rest;
    }
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number * 10 + u64::from(digit);
    }
    Some(number)
}

/// Returns the number that more than [`SHORT`] digits are.
fn long_number(digits: &[u8]) -> Option<u64> {
    let (first, last) = digits.split_at_checked(digits.len().checked_sub(SHORT)?)?;
    // A type's numbers have one digit more at most. What is longer begins with zeros, if it is one.
    let first = if first.len() > SHORT { wide_number(first)?.try_into().ok()? } else { short_number(first)? };
    first.checked_mul(SHORT_END)?.checked_add(short_number(last)?)
}

/// Returns the number that digits are, where it may take up to 128 bits.
pub(crate) fn wide_number(digits: &[u8]) -> Option<u128> {
    let are_digits = digits.iter().all(u8::is_ascii_digit);
    if are_digits { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

#[inline]
fn eight(digits: [u8; WORD]) -> Option<u64> {
    let word = u64::from_le_bytes(digits);
    let digits = word.wrapping_sub(ZEROS);
    // The lowest byte that is no digit has its top bit in one of the two, since digits below it carry nothing.
    if (word.wrapping_add(repeated(0x7f - b'9')) | digits) & TOPS != 0 {
        return None;
    }
    // Each byte and the one after it become a number below a hundred, two of these one below ten thousand.
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// Returns the digits of a number below [`WORD_END`].
#[inline]
fn eight_digits(number: u64) -> [u8; WORD] {
    // The same backwards. A product shifted is a quotient: of what is below ten thousand by 100, of what is below a
    // hundred by 10.
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    ((tens | ((pairs - tens * 10) << 8)) + ZEROS).to_le_bytes()
}

/// Appends the number in decimal, in at least so many digits.
#[inline]
pub(crate) fn push_digits(number: u64, width: usize, out: &mut Vec<u8>) {
    let count =
        number.checked_ilog10().map_or(1, |log| usize::try_from(log + 1).unwrap_or_default()).max(width);
    if count <= WORD {
        out.extend_from_slice(eight_digits(number).get(WORD - count..).unwrap_or_default());
    } else {
        push_more_digits(number, count, out);
    }
}

/// Appends a number of more digits than a word has.
fn push_more_digits(number: u64, count: usize, out: &mut Vec<u8>) {
    /// Three words.
    const MOST: usize = 24;
    let (first, last) = (number / WORD_END, number % WORD_END);
    let mut digits = [0; MOST];
    for (word, of) in digits.chunks_exact_mut(WORD).zip([first / WORD_END, first % WORD_END, last]) {
        word.copy_from_slice(&eight_digits(of));
    }
    out.resize(out.len() + count.saturating_sub(MOST), b'0');
    out.extend_from_slice(digits.get(MOST.saturating_sub(count)..).unwrap_or_default());
}

/// Appends the number in decimal, in at least so many digits.
pub(crate) fn push_wide_digits(number: u128, width: usize, out: &mut Vec<u8>) {
    if let Ok(number) = u64::try_from(number) {
        return push_digits(number, width, out);
    }
    let mut text = String::new();
    // Writing into a `String` can't fail.
    let _ = write!(text, "{number:0width$}");
    out.extend_from_slice(text.as_bytes());
}

/// The hex digits of 128 bits.
pub(crate) const HEX: usize = 32;

/// Returns the bits that so many hex digits are, in small letters.
pub(crate) fn from_hex(digits: &[u8]) -> Option<u128> {
    let mut bits = 0;
    let digits: &[u8; HEX] = digits.try_into().ok()?;
    for word in digits.chunks_exact(WORD) {
        bits = bits << 32 | u128::from(eight_from_hex(word.try_into().ok()?)?);
    }
    Some(bits)
}

/// Returns whether these are hex digits in small letters.
pub(crate) fn are_hex(digits: &[u8]) -> bool {
    digits.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Appends 128 bits in hex.
pub(crate) fn push_hex(bits: u128, out: &mut Vec<u8>) {
    let mut digits = [0; HEX];
    for (word, four) in digits.chunks_exact_mut(WORD).zip(bits.to_be_bytes().chunks_exact(4)) {
        let four = four.try_into().map_or(0, u32::from_be_bytes);
        word.copy_from_slice(&hex(nibbles(four)).to_le_bytes());
    }
    out.extend_from_slice(&digits);
}

/// Returns four bits in each byte as hex digits.
fn hex(nibbles: u64) -> u64 {
    let is_letter = ((nibbles + repeated(6)) >> 4) & repeated(1);
    nibbles + ZEROS + is_letter * u64::from(b'a' - b'9' - 1)
}

/// Returns the bits of a number, four in each byte, the topmost in the first.
fn nibbles(number: u32) -> u64 {
    let bits = u64::from(number.swap_bytes());
    let pairs = (bits | (bits << 16)) & 0x0000_ffff_0000_ffff;
    let bytes = (pairs | (pairs << 8)) & 0x00ff_00ff_00ff_00ff;
    ((bytes >> 4) | (bytes << 8)) & repeated(0x0f)
}

fn eight_from_hex(digits: [u8; WORD]) -> Option<u32> {
    let word = u64::from_le_bytes(digits);
    // Letters have a bit that digits lack, and begin at 1.
    let nibbles = (word & repeated(0x0f)) + ((word >> 6) & repeated(1)) * 9;
    let nibbles = nibbles & repeated(0x0f);
    // What was no digit does not come back.
    if hex(nibbles) != word {
        return None;
    }
    let bytes = ((nibbles << 4) | (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
    let pairs = (bytes | (bytes >> 8)) & 0x0000_ffff_0000_ffff;
    let [a, b, c, d, ..] = (pairs | (pairs >> 16)).to_le_bytes();
    Some(u32::from_be_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of each length, and those about each power of ten and of two.
    fn numbers() -> impl Strategy<Value = u64> {
        let near = |power: u64| (0_u64..3).prop_map(move |by| power.wrapping_add(by).wrapping_sub(1));
        prop_oneof![
            (0_u32..=64).prop_flat_map(|bits| 0..=1_u64.checked_shl(bits).map_or(u64::MAX, |end| end - 1)),
            (0_u32..20).prop_flat_map(move |tens| near(10_u64.pow(tens))),
            (0_u32..64).prop_flat_map(move |bits| near(1 << bits)),
        ]
    }

    /// Bytes that are digits but for some.
    fn noise(digits: &'static str) -> impl Strategy<Value = Vec<u8>> {
        let digit = proptest::sample::select(digits.as_bytes());
        let byte =
            prop_oneof![12 => digit, 1 => any::<u8>(), 1 => proptest::sample::select(&b"/:@`gGAF \x80"[..])];
        proptest::collection::vec(byte, 0..48)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn numbers_are_printed_as_formatting_prints_them_and_come_back(n in numbers(), width in 0_usize..48) {
            let mut out = b"before".to_vec();
            push_digits(n, width, &mut out);
            prop_assert_eq!(out[6..].to_vec(), format!("{n:0width$}").into_bytes());
            prop_assert_eq!(number(&out[6..]), Some(n));
            prop_assert_eq!(wide_number(&out[6..]), Some(n.into()));
        }

        #[test]
        fn wide_numbers_are_printed_as_formatting_prints_them(n: u128, few in numbers(), width in 0_usize..48) {
            for n in [n, few.into()] {
                let mut out = Vec::new();
                push_wide_digits(n, width, &mut out);
                prop_assert_eq!(out, format!("{n:0width$}").into_bytes());
            }
        }

        #[test]
        fn digits_alone_are_read_and_each_of_them(noise in noise("0123456789")) {
            let plain = Some(&noise).filter(|noise| noise.iter().all(u8::is_ascii_digit));
            let plain = plain.and_then(|digits| std::str::from_utf8(digits).unwrap().parse().ok());
            prop_assert_eq!(number(&noise), plain);
        }

        #[test]
        fn hex_digits_alone_are_read_and_each_of_them(mut noise in noise("0123456789abcdef"), bits: u128) {
            noise.resize(HEX, b'0');
            let text = std::str::from_utf8(&noise).ok().filter(|_| are_hex(&noise));
            prop_assert_eq!(from_hex(&noise), text.map(|text| u128::from_str_radix(text, 16).unwrap()));
            let mut out = Vec::new();
            push_hex(bits, &mut out);
            prop_assert_eq!(out.clone(), format!("{bits:032x}").into_bytes());
            prop_assert_eq!(from_hex(&out), Some(bits));
            prop_assert_eq!(from_hex(&out[1..]), None);
        }
    }

    #[test]
    fn every_byte_in_every_place_is_a_digit_or_refused() {
        for length in 1..=40 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut digits = vec![b'0'; length];
                    digits[at] = byte;
                    // Of numbers of twenty digits, those that begin with a one may fit into 64 bits.
                    let fits = byte == b'0' || length - at < 20 || (length - at == 20 && byte == b'1');
                    assert_eq!(number(&digits).is_some(), byte.is_ascii_digit() && fits);
                }
            }
        }
    }

    #[test]
    fn the_largest_fits_and_one_more_does_not() {
        assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"000018446744073709551615"), Some(u64::MAX));
        assert_eq!(number(b"18446744073709551616"), None);
        assert_eq!(number(b"99999999999999999999"), None);
        assert_eq!(number(&[b'0'; 255]), Some(0));
        assert_eq!(number(b""), None);
        assert_eq!(wide_number(b""), None);
    }

    #[test]
    fn every_four_digits_are_printed() {
        for n in (0..10_000).chain((0..10_000).map(|n| n * 10_000)) {
            assert_eq!(eight_digits(n), format!("{n:08}").as_bytes());
        }
    }
}
