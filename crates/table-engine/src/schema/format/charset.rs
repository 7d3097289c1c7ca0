//! Sets of characters that a piece of a key may hold.

#![expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]

/// A set of characters: any of ASCII, and all beyond ASCII or none of it.
///
/// The fewer characters a type's text may hold, the more the compiler knows: that a separator never occurs in it, say.
///
/// ```
/// use table_core::schema::CharSet;
///
/// const SLUG: CharSet = CharSet::range('a', 'z').or(CharSet::range('0', '9')).or(CharSet::of("-"));
/// assert!(SLUG.contains('-') && !SLUG.contains('_') && !SLUG.contains('é'));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CharSet {
    ascii: u128,
    beyond: bool,
}

impl CharSet {
    /// Every character, of a text that nothing is known of.
    pub const ALL: Self = Self { ascii: u128::MAX, beyond: true };

    /// No character.
    pub const NONE: Self = Self { ascii: 0, beyond: false };

    /// What a key may hold: neither `/`, `\`, `#`, `?` nor control characters. (It may not hold those from U+0080 to
    /// U+009F either; here all beyond ASCII counts as one character.)
    pub(crate) const KEY: Self = Self::range(' ', '~').without(Self::of("/\\#?")).or(Self::BEYOND);

    /// The capitals of ASCII.
    pub(crate) const CAPITALS: Self = Self::range('A', 'Z');

    /// All beyond ASCII.
    pub const BEYOND: Self = Self { ascii: 0, beyond: true };

    /// Returns every character of the text; one beyond ASCII stands for all of them.
    pub const fn of(text: &str) -> Self {
        let mut set = Self::NONE;
        let mut bytes = text.as_bytes();
        while let [first, rest @ ..] = bytes {
            set = set.or(Self::byte(*first));
            bytes = rest;
        }
        set
    }

    /// Returns the characters of ASCII from the first to the last.
    pub const fn range(first: char, last: char) -> Self {
        let mut set = Self::NONE;
        let mut at = first as u32;
        while at <= last as u32 && at < 128 {
            set.ascii |= 1 << at;
            at += 1;
        }
        set
    }

    /// Returns the characters of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self { ascii: self.ascii | other.ascii, beyond: self.beyond || other.beyond }
    }

    /// Returns the characters of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self { ascii: self.ascii & other.ascii, beyond: self.beyond && other.beyond }
    }

    /// Returns the characters of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self { ascii: self.ascii & !other.ascii, beyond: self.beyond && !other.beyond }
    }

    /// Returns whether the set holds the character.
    pub const fn contains(self, c: char) -> bool {
        if c.is_ascii() { self.ascii >> (c as u32) & 1 == 1 } else { self.beyond }
    }

    /// Returns whether the set holds the character that this byte is, or is a byte of.
    pub(crate) const fn contains_byte(self, byte: u8) -> bool {
        if byte < 128 { self.ascii >> byte & 1 == 1 } else { self.beyond }
    }

    /// Returns whether nothing is known.
    pub const fn is_all(self) -> bool {
        self.ascii == u128::MAX && self.beyond
    }

    /// Returns whether it holds nothing.
    pub const fn is_none(self) -> bool {
        self.ascii == 0 && !self.beyond
    }

    /// Returns the characters after [folding](super::super::fold_char): capitals become small letters.
    pub(crate) const fn folded(self) -> Self {
        let mut folded = self.without(Self::CAPITALS);
        // Small letters are 32 above their capitals.
        folded.ascii |= (self.ascii & Self::CAPITALS.ascii) << 32;
        // `\u{17f}`, the long s, becomes an `s`.
        if self.beyond { folded.or(Self::of("s")) } else { folded }
    }

    /// Returns the set of the character that this byte is, or is a byte of.
    pub(crate) const fn byte(byte: u8) -> Self {
        if byte < 128 { Self { ascii: 1 << byte, beyond: false } } else { Self::BEYOND }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_they_say() {
        let set = CharSet::of("aZ_");
        for c in (0..=127_u8).map(char::from) {
            assert_eq!(set.contains(c), "aZ_".contains(c), "{c:?}");
            assert_eq!(CharSet::KEY.contains(c), !table_words::key::is_forbidden(c), "{c:?}");
            assert!(CharSet::ALL.contains(c) && !CharSet::BEYOND.contains(c));
            assert_eq!(CharSet::range('0', '9').contains(c), c.is_ascii_digit());
            assert_eq!(
                CharSet::ALL.folded().contains(c),
                !c.is_ascii_uppercase(),
                "small letters stay, and capitals join them"
            );
        }
        assert_eq!(CharSet::of("AbZ-").folded(), CharSet::of("abz-"));
        assert!(CharSet::of("é").contains('ü'));
        assert!(CharSet::KEY.contains('é') && !set.contains('é'));
        assert_eq!(set.or(CharSet::BEYOND).and(CharSet::of("Zz\u{e9}")), CharSet::of("Z\u{e9}"));
        assert!(set.without(set).is_none() && CharSet::ALL.is_all());
    }
}
