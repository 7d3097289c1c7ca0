//! A field that shows nothing of itself.

use std::fmt;
use std::time::SystemTime;

use uuid::Uuid;
use zeroize::Zeroize;

use crate::model::{EdmType, Ticks, Value, ValueRef};
use crate::schema::{ColumnType, Property, PropertyValue, Reads, ValueError};

/// A value that does not show itself in `Debug`, so that a struct which derives `Debug` can hold it, and that is
/// wiped from memory when it is dropped.
///
/// It is stored as its content is. Contents are compared in a time that depends on them.
///
/// ```
/// use table_core::crypt::Secret;
///
/// #[derive(Debug)]
/// struct Employee {
///     id: u32,
///     ssn: Secret<String>,
/// }
///
/// let jones = Employee { id: 1, ssn: Secret::new("078-05-1120".to_owned()) };
/// assert_eq!(format!("{jones:?}"), "Employee { id: 1, ssn: Secret(..) }");
/// assert_eq!(jones.ssn.expose(), "078-05-1120");
/// ```
///
/// Two things are beyond its reach: a value that leaves it, by [`into_inner`](Self::into_inner) or as a copy of what
/// [`expose`](Self::expose) lends, and the bytes that a `String` left behind when it grew.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret<T: Wipe>(T);

impl<T: Wipe> Secret<T> {
    /// Keeps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// Returns the value.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Returns the value, to change.
    pub const fn expose_mut(&mut self) -> &mut T {
        &mut self.0
    }

    /// Returns the value, which is then the caller's to keep.
    #[must_use]
    pub fn into_inner(mut self) -> T
    where
        T: Default,
    {
        std::mem::take(&mut self.0)
    }
}

impl<T: Wipe> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl<T: Wipe> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl<T: Wipe> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl From<&str> for Secret<String> {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Wipe + Property> Property for Secret<T> {
    const EDM: EdmType = T::EDM;
    const EXACT: bool = T::EXACT;
    const SECRET: bool = true;
    const OPTIONAL: bool = T::OPTIONAL;
    const NESTED: bool = T::NESTED;
    const FEW: bool = T::FEW;
    const COLUMN: ColumnType = T::COLUMN;
    const READS: Reads = T::READS;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        self.0.to_property()
    }

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        T::from_property(value).map(Self)
    }
}

/// A value that can be overwritten in memory, so that nothing of it stays when it is dropped.
///
/// Implement it for a type of your own to keep it in a [`Secret`]: wipe its fields, one after another.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be kept in a `Secret`",
    label = "can't be wiped from memory",
    note = "implement `Wipe` for it, so that a `Secret` can overwrite it when it is dropped"
)]
pub trait Wipe {
    /// Overwrites the value with one that says nothing.
    fn wipe(&mut self);
}

macro_rules! wipe {
    ($($type:ty),+) => {
        $(impl Wipe for $type {
            fn wipe(&mut self) {
                self.zeroize();
            }
        })+
    };
}

wipe!(String, Vec<u8>, Box<str>, Box<[u8]>, bool, u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

impl<T: Wipe> Wipe for Option<T> {
    fn wipe(&mut self) {
        if let Some(value) = self {
            value.wipe();
        }
    }
}

impl<const N: usize> Wipe for [u8; N] {
    fn wipe(&mut self) {
        self.zeroize();
    }
}

/// Writes a value so that the compiler may not leave the write out.
fn overwrite<T: Copy>(place: &mut T, with: T) {
    *place = std::hint::black_box(with);
    std::hint::black_box(place);
}

impl Wipe for Uuid {
    fn wipe(&mut self) {
        overwrite(self, Self::nil());
    }
}

impl Wipe for Ticks {
    fn wipe(&mut self) {
        overwrite(self, Self::MIN);
    }
}

impl Wipe for SystemTime {
    fn wipe(&mut self) {
        overwrite(self, Self::UNIX_EPOCH);
    }
}

impl Wipe for Value {
    fn wipe(&mut self) {
        match self {
            Self::String(v) => v.wipe(),
            Self::Binary(v) => v.wipe(),
            Self::Boolean(v) => v.wipe(),
            Self::Int32(v) => v.wipe(),
            Self::Int64(v) => v.wipe(),
            Self::Double(v) => v.wipe(),
            Self::DateTime(v) => v.wipe(),
            Self::Guid(v) => v.wipe(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_shows_nothing_and_is_the_property_that_its_content_is() {
        let secret = Secret::new(Some("078-05-1120".to_owned()));
        assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(..) Secret(..)");
        assert_eq!(
            (Secret::<Option<String>>::EDM, Secret::<Option<String>>::OPTIONAL),
            (EdmType::String, true)
        );
        let value = secret.to_property().unwrap().into_value();
        let back = Secret::<Option<String>>::from_property(value.as_ref().map(|v| v.as_value_ref())).unwrap();
        assert!(back == secret);
        let error = Secret::<i32>::from_property(Some(ValueRef::String("078-05-1120"))).unwrap_err();
        assert!(!error.to_string().contains("078"), "{error}");
    }

    #[test]
    fn what_is_wiped_says_nothing() {
        let mut text = "078-05-1120".to_owned();
        text.wipe();
        assert!(text.is_empty());
        let (mut id, mut time, mut bytes) = (Uuid::from_u128(7), Ticks::MAX, Some([7; 4]));
        id.wipe();
        time.wipe();
        bytes.wipe();
        assert_eq!((id, time, bytes), (Uuid::nil(), Ticks::MIN, Some([0; 4])));
        assert_eq!(Secret::new(7_u32).into_inner(), 7);
        let (mut time, mut value) = (SystemTime::now(), Value::from("078-05-1120"));
        time.wipe();
        value.wipe();
        assert_eq!((time, value), (SystemTime::UNIX_EPOCH, Value::from("")));
        let mut secret = Secret::from("078-05-1120");
        secret.expose_mut().push('!');
        assert_eq!(secret.expose(), "078-05-1120!");
    }

    #[test]
    fn a_value_of_any_type_is_wiped() {
        let full = [
            Value::String("078-05-1120".to_owned()),
            Value::Binary(vec![7; 4]),
            Value::Boolean(true),
            Value::Int32(7),
            Value::Int64(7),
            Value::Double(7.0),
            Value::DateTime(Ticks::MAX),
            Value::Guid(Uuid::from_u128(7)),
        ];
        let empty = [
            Value::String(String::new()),
            Value::Binary(Vec::new()),
            Value::Boolean(false),
            Value::Int32(0),
            Value::Int64(0),
            Value::Double(0.0),
            Value::DateTime(Ticks::MIN),
            Value::Guid(Uuid::nil()),
        ];
        for (mut value, wiped) in full.into_iter().zip(empty) {
            value.wipe();
            assert_eq!(value, wiped);
        }
    }

    #[test]
    fn a_secret_is_wiped_when_it_is_dropped() {
        struct Watched<'a>(&'a std::cell::Cell<u32>);
        impl Wipe for Watched<'_> {
            fn wipe(&mut self) {
                self.0.set(self.0.get() + 1);
            }
        }
        let wiped = std::cell::Cell::new(0);
        drop(Secret::from(Watched(&wiped)));
        drop(Secret::new(Some(Watched(&wiped))));
        drop(Secret::new(None::<Watched<'_>>));
        assert_eq!(wiped.get(), 2);
    }
}
