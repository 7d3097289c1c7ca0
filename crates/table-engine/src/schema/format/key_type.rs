//! The types that may stand in a key, and the forms in which they do.

use std::collections::BTreeSet;
use std::time::SystemTime;

use table_words::format::TICKS_DIGITS;
use uuid::Uuid;

use super::super::value::Property;
use super::charset::CharSet;
use crate::model::{EdmType, Ticks};

/// A property whose value can stand in a key.
///
/// Implemented for text, unsigned and signed integers, `bool`, times, UUIDs and [`Option`]s of them (in an index
/// only: an entity whose field is `None` has no row there). `#[derive(KeyPart)]` implements it for enums and
/// newtypes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    label = "not a key part",
    note = "`#[derive(KeyPart)]` makes a key part of an enum or a newtype of yours",
    note = "a key part is text, an integer of up to 64 bits, a `bool`, a time or a `Uuid`: what can be written so that its text sorts as its values do",
    note = "instead of `usize`, whose width differs between machines, use `u64`; instead of a float, an integer in a smaller unit; `{{field[]}}` in an index gives a row for each element of a `Vec`"
)]
pub trait KeyPart: Property {
    /// The kind of the values.
    const KEY: KeyType;

    /// Rises with each change of what the type prints. Rows hold what keys do: entities with such a key need another version
    /// of their struct then, and until there is one a declaration is [`LayoutChanged`](crate::ErrorKind::LayoutChanged).
    const VERSION: u32 = 1;
}

/// A collection whose elements can stand in the key of an index, `{tags[]}`: one row for each distinct element.
///
/// It says nothing of the property, which may be `#[property(json)]`. So a `Vec<String>` can be in an index without being
/// a [`Property`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no elements to index",
    label = "not a collection",
    note = "`{{field[]}}` is for a `Vec`, an array, a boxed slice or a `BTreeSet` of what can be part of a key; one value is written `{{field}}`"
)]
pub trait KeyElements {
    /// The type of the elements.
    type Element: KeyPart;

    /// The kind of the elements.
    const KEY: KeyType = KeyType::Each(&<Self::Element as KeyPart>::KEY);

    /// The version of what the elements print.
    const VERSION: u32 = <Self::Element as KeyPart>::VERSION;

    /// Returns the elements; one may come twice.
    fn elements(&self) -> impl Iterator<Item = &Self::Element>;
}

/// How a key part is printed.
pub type Format = table_words::Format<'static>;

/// The kind of a declared key part's values.
pub type KeyType = KeyTypeOf<'static>;

/// The kind of a key part's values: what is known of them. The names are a declaration's, or those of a layout that a store has
/// noted, which lends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyTypeOf<'t> {
    /// Integers from zero.
    Unsigned {
        /// The digits of the largest.
        digits: u8,
        /// The largest.
        max: u64,
    },
    /// Integers of both signs.
    Signed {
        /// The width of the type: 8, 16, 32 or 64.
        bits: u8,
    },
    /// Text of these characters.
    Text(CharSet),
    /// UUIDs.
    Uuid,
    /// Truth values.
    Bool,
    /// Points in time.
    Time,
    /// One of these names, kept as text.
    Names(&'t [&'t str]),
    /// Maybe nothing.
    Optional(&'t Self),
    /// Any number of values.
    Each(&'t Self),
}

impl KeyTypeOf<'_> {
    /// Returns the type of one value.
    #[must_use]
    pub(crate) const fn single(self) -> Self {
        *self.of_one()
    }

    /// Returns the type of one value by reference: it is too large to be copied for each key that is parsed.
    pub(crate) const fn of_one(&self) -> &Self {
        let mut one = self;
        while let Self::Optional(inner) | Self::Each(inner) = one {
            one = inner;
        }
        one
    }
}

/// Returns the type of the property that a key's part gives back, as [`Property::EDM`] of the integers has it.
pub(crate) const fn edm(key: KeyTypeOf<'_>) -> EdmType {
    match key.single() {
        KeyTypeOf::Unsigned { max, .. } if max <= 0xffff => EdmType::Int32,
        KeyTypeOf::Signed { bits: ..=32 } => EdmType::Int32,
        KeyTypeOf::Unsigned { .. } | KeyTypeOf::Signed { .. } => EdmType::Int64,
        KeyTypeOf::Uuid => EdmType::Guid,
        KeyTypeOf::Bool => EdmType::Boolean,
        KeyTypeOf::Time => EdmType::DateTime,
        _ => EdmType::String,
    }
}

/// Returns the decimal digits of 2<sup>bits</sup> - 1.
pub(crate) const fn offset_digits(bits: u8) -> usize {
    match bits {
        0..=8 => 3,
        9..=16 => 5,
        17..=32 => 10,
        _ => 20,
    }
}

/// Returns the bytes that such a part always prints, or `None` if they vary in number.
#[expect(clippy::as_conversions, reason = "`From` can't be called in a const fn")]
#[inline]
pub(crate) const fn width(key: KeyTypeOf<'_>, format: table_words::Format<'_>) -> Option<usize> {
    if let width @ Some(_) = format.width() {
        return width;
    }
    match (*key.of_one(), format) {
        (KeyTypeOf::Time, table_words::Format::Inverted) => Some(TICKS_DIGITS),
        (KeyTypeOf::Unsigned { digits, .. }, _) => Some(digits as usize),
        (KeyTypeOf::Signed { bits }, _) => Some(offset_digits(bits)),
        (KeyTypeOf::Uuid, _) => Some(32),
        (KeyTypeOf::Bool, _) => Some(1),
        (KeyTypeOf::Names(names), _) => {
            let (least, most) = lengths(names);
            if least == most { Some(least) } else { None }
        }
        _ => None,
    }
}

/// Returns the bytes of the shortest name and of the longest.
pub(crate) const fn lengths(names: &[&str]) -> (usize, usize) {
    let [first, rest @ ..] = names else { return (0, 0) };
    let (mut least, mut most) = (first.len(), first.len());
    let mut rest = rest;
    while let [name, tail @ ..] = rest {
        if name.len() < least {
            least = name.len();
        }
        if name.len() > most {
            most = name.len();
        }
        rest = tail;
    }
    (least, most)
}

macro_rules! key_parts {
    ($($type:ty: $key:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl KeyPart for $type {
            const KEY: KeyType = $key;
        }
    )*};
}

key_parts! {
    u8: KeyType::Unsigned { digits: 3, max: 0xff };
    u16: KeyType::Unsigned { digits: 5, max: 0xffff };
    u32: KeyType::Unsigned { digits: 10, max: 0xffff_ffff };
    // A property holds half of them. The key has room for all, so that it needn't change if properties do.
    u64: KeyType::Unsigned { digits: 20, max: u64::MAX };
    i8: KeyType::Signed { bits: 8 };
    i16: KeyType::Signed { bits: 16 };
    i32: KeyType::Signed { bits: 32 };
    i64: KeyType::Signed { bits: 64 };
    String: KeyType::Text(CharSet::ALL);
    Box<str>: KeyType::Text(CharSet::ALL);
    bool: KeyType::Bool;
    Ticks: KeyType::Time;
    SystemTime: KeyType::Time;
    Uuid: KeyType::Uuid;
}

#[cfg(feature = "jiff")]
key_parts! { jiff::Timestamp: KeyType::Time; }

#[cfg(feature = "chrono")]
key_parts! { chrono::DateTime<chrono::Utc>: KeyType::Time; }

#[diagnostic::do_not_recommend]
impl<T: KeyPart> KeyPart for Option<T> {
    const KEY: KeyType = KeyType::Optional(&T::KEY);
    const VERSION: u32 = T::VERSION;
}

impl<T: KeyPart> KeyElements for Vec<T> {
    type Element = T;

    fn elements(&self) -> impl Iterator<Item = &T> {
        self.iter()
    }
}

impl<T: KeyPart> KeyElements for Box<[T]> {
    type Element = T;

    fn elements(&self) -> impl Iterator<Item = &T> {
        self.iter()
    }
}

impl<T: KeyPart, const N: usize> KeyElements for [T; N] {
    type Element = T;

    fn elements(&self) -> impl Iterator<Item = &T> {
        self.iter()
    }
}

impl<T: KeyPart> KeyElements for BTreeSet<T> {
    type Element = T;

    fn elements(&self) -> impl Iterator<Item = &T> {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_widest_value() {
        for (key, digits) in [(u8::KEY, 3), (u16::KEY, 5), (u32::KEY, 10), (u64::KEY, 20)] {
            let KeyType::Unsigned { max, .. } = key else { panic!("{key:?}") };
            assert_eq!(max.to_string().len(), digits);
            assert_eq!(width(key, Format::Plain), Some(digits));
        }
        assert_eq!(offset_digits(8), u8::MAX.to_string().len());
        assert_eq!(offset_digits(16), u16::MAX.to_string().len());
        assert_eq!(offset_digits(32), u32::MAX.to_string().len());
        assert_eq!(offset_digits(64), u64::MAX.to_string().len());
    }

    #[test]
    fn elements_and_options_wrap_the_type() {
        assert_eq!(<Vec<u8> as KeyElements>::KEY, KeyType::Each(&u8::KEY));
        assert_eq!(Option::<u8>::KEY.single(), u8::KEY);
        assert_eq!(<Vec<Option<u8>> as KeyElements>::KEY.single(), u8::KEY);
        assert_eq!(BTreeSet::from([2_u8, 1]).elements().collect::<Vec<_>>(), [&1, &2]);
    }

    #[test]
    fn names_of_one_length_have_a_width() {
        assert_eq!(width(KeyType::Names(&["new", "old"]), Format::Plain), Some(3));
        assert_eq!(width(KeyType::Names(&["new", "gone"]), Format::Plain), None);
        assert_eq!(lengths(&["new", "gone", "x"]), (1, 4));
    }
}
