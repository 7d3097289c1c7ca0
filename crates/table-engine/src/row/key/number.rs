//! A table's number, as the keys of its rows begin with it: in as few bytes as hold it.
//!
//! The high two bits of the first byte say how many bytes follow, so keys of tables with higher numbers come later,
//! and no number's bytes begin with those of another.

use std::ops::Deref;

/// Numbers of tables are below this. A catalog gives out none beyond, and has none.
pub const NUMBERS: u32 = 1 << 30;
/// The most bytes that a number takes.
pub(crate) const LONGEST: usize = 4;

/// The bytes of a number.
#[derive(Clone, Copy, Debug)]
pub struct Number {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Number {
    /// Returns a table's number as keys have it. It must be below [`NUMBERS`].
    #[inline]
    pub fn of(table: u32) -> Self {
        let (length, more) = match table {
            0..0x40 => (1, 0_u32),
            0x40..0x4000 => (2, 1),
            0x4000..0x40_0000 => (3, 2),
            _ => (4, 3),
        };
        let word = (table & (NUMBERS - 1)) << (8 * (3 - more)) | more << 30;
        Self { bytes: word.to_be_bytes(), length }
    }
}

impl Deref for Number {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Returns how many bytes the number takes with which a stored key begins.
#[inline]
pub(super) fn length(stored: &[u8]) -> usize {
    stored.first().map_or(0, |first| usize::from(first >> 6) + 1)
}

/// Returns the number with which a stored key begins, and what follows it. `None` if it takes more bytes than it needs, or is
/// cut short.
#[inline]
pub(super) fn split(stored: &[u8]) -> Option<(u32, &[u8])> {
    let (first, rest) = stored.split_first()?;
    if *first < 0x40 {
        return Some((u32::from(*first), rest));
    }
    let more = usize::from(first >> 6);
    let (bytes, rest) = rest.split_at_checked(more)?;
    let number = bytes.iter().fold(u32::from(first & 0x3f), |high, byte| high << 8 | u32::from(*byte));
    // One byte less would hold so many bits.
    let fewer = 8 * more - 2;
    (number >> fewer != 0).then_some((number, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(table: u32) -> Vec<u8> {
        Number::of(table).to_vec()
    }

    #[test]
    fn numbers_are_these_bytes() {
        for (table, expected) in [
            (0, &[0x00][..]),
            (1, &[0x01]),
            (0x3f, &[0x3f]),
            (0x40, &[0x40, 0x40]),
            (0x3fff, &[0x7f, 0xff]),
            (0x4000, &[0x80, 0x40, 0x00]),
            (0x3f_ffff, &[0xbf, 0xff, 0xff]),
            (0x40_0000, &[0xc0, 0x40, 0x00, 0x00]),
            (NUMBERS - 1, &[0xff; 4]),
        ] {
            assert_eq!(bytes(table), expected, "{table}");
            assert_eq!(split(expected), Some((table, &[][..])));
            assert_eq!(length(expected), expected.len());
        }
        assert_eq!((length(&[]), split(&[])), (0, None));
    }

    #[test]
    fn a_number_in_more_bytes_than_it_needs_is_none() {
        for bytes in [
            &[0x40, 0x00][..],
            &[0x40, 0x3f],
            &[0x80, 0x3f, 0xff],
            &[0xc0, 0x3f, 0xff, 0xff],
            &[0xc0, 0, 0, 0],
        ] {
            assert_eq!(split(bytes), None, "{bytes:02x?}");
        }
        for cut in [&[0x40][..], &[0x80, 0x40], &[0xff, 0xff, 0xff]] {
            assert_eq!(split(cut), None, "{cut:02x?}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_bytes_is_that_of_numbers(a in 0..NUMBERS, b in 0..NUMBERS, shift in 0_u32..30) {
            for (a, b) in [(a, b), (a >> shift, b >> shift), (a >> shift, b)] {
                prop_assert_eq!(bytes(a).cmp(&bytes(b)), a.cmp(&b));
                prop_assert!(a == b || !bytes(b).starts_with(&bytes(a)));
            }
        }

        #[test]
        fn what_is_read_is_what_was_written(table in 0..NUMBERS, shift in 0_u32..30, rest: Vec<u8>) {
            let table = table >> shift;
            let stored = [&bytes(table)[..], &rest].concat();
            prop_assert_eq!(split(&stored), Some((table, &rest[..])));
            if let Some((read, after)) = split(&rest) {
                prop_assert_eq!([&bytes(read)[..], after].concat(), rest);
            }
        }
    }
}
