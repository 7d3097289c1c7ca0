//! The types of fields that a property can hold.

use std::fmt;

use super::{ColumnType, Field, Reads};
use crate::model::{EdmType, Value, ValueRef};

/// A type whose values a property can hold.
///
/// Implemented for text, bytes, truth values, integers of up to 64 bits, floats, times and UUIDs, and for an
/// [`Option`] of each, whose `None` is an absent property. Integers widen when they are read, so a field may grow
/// from `i32` to `i64`; a value that the field can't hold is an error, never a truncated value.
///
/// Implement it for a type of your own to say which property it is:
///
/// ```
/// use table_core::schema::{Property, PropertyValue, ValueError};
/// use table_core::{EdmType, ValueRef};
///
/// struct Cents(i64);
///
/// impl Property for Cents {
///     const EDM: EdmType = i64::EDM;
///
///     fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
///         self.0.to_property()
///     }
///
///     fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
///         i64::from_property(value).map(Self)
///     }
/// }
///
/// assert_eq!(Cents::from_property(Some(ValueRef::Int32(995)))?.0, 995);
/// let error = Cents::from_property(Some(ValueRef::Double(9.95))).map(|_| ()).unwrap_err();
/// assert_eq!(error.to_string(), "expected Edm.Int64, found Edm.Double");
/// # Ok::<(), ValueError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a property",
    label = "not a property",
    note = "a property is text, bytes (`Vec<u8>`), a `bool`, an integer of up to 64 bits, a float, a time or a `Uuid`, or an `Option` of one; instead of `usize` and `isize`, whose width differs between machines, use `u64` and `i64`",
    note = "`#[derive(KeyPart)]` makes a property of an enum or a newtype of yours; `#[property(json)]` keeps any type that serde knows in one text property, and `#[property(skip)]` keeps the field out of the table",
    note = "a reference is written by its own name, `Ref<..>` or `Option<Ref<..>>`: the derive can't see through another"
)]
pub trait Property: Sized {
    /// The type of the property.
    const EDM: EdmType;

    /// Whether the property may be absent.
    const OPTIONAL: bool = false;

    /// Whether it is an `Option` of an `Option`, whose `Some(None)` would come back as `None`.
    #[doc(hidden)]
    const NESTED: bool = false;

    /// Whether every value comes back from the property as it was. A change does not read such a type back to see what it
    /// became.
    #[doc(hidden)]
    const EXACT: bool = false;

    /// Whether it hides its values from `Debug`.
    #[doc(hidden)]
    const SECRET: bool = false;

    /// Whether it has so few values that their frequencies tell them apart: no blind index hides them.
    #[doc(hidden)]
    const FEW: bool = false;

    /// Whether its values refer to blobs, which count who does.
    #[doc(hidden)]
    const BLOB: bool = false;

    /// What rows may and may not hold of it as it is.
    #[doc(hidden)]
    const CONTENT: Content = Content::of(Self::SECRET, Self::BLOB);

    /// How rows hold it: in as few bytes as every value of the type fits in.
    #[doc(hidden)]
    const COLUMN: ColumnType = ColumnType::of(Self::EDM);

    /// What values of the property it reads, as far as that can be said: so rows are written without the struct that it reads.
    #[doc(hidden)]
    const READS: Reads = Reads::Other;

    /// A field of the type, for declarations to name.
    #[doc(hidden)]
    const FIELD: Field = Field {
        edm: Self::EDM,
        optional: Self::OPTIONAL,
        exact: Self::EXACT,
        secret: Self::SECRET,
        blob: Self::BLOB,
        column: Self::COLUMN,
        reads: Self::READS,
        ..Field::PLAIN
    };

    /// How it is made of a field of a row.
    #[doc(hidden)]
    const TAKE: Take<Self> = Take::by(FastPath::Any);

    /// Returns the value as the property holds it.
    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError>;

    /// Returns the value from the property; `None` is an absent property.
    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError>;
}

/// How a type is made of a field of a row.
///
/// Most fields of most rows are found by a short way, and hold what they mostly do: then nothing but the value is looked at. What
/// of it is amiss is found out, and said, by the longer way.
#[derive(Debug)]
#[doc(hidden)]
pub struct Take<T> {
    pub(crate) quick: FastPath<T>,
    /// Of any property: [`Property::from_property`].
    pub(crate) any: fn(Option<ValueRef<'_>>) -> Result<T, ValueError>,
}

/// Of what a type is made where that is what a row holds. A function gives `None` where the value is not of the type.
#[derive(Debug)]
pub(crate) enum FastPath<T> {
    Text(fn(Box<str>) -> Option<T>),
    Integer(fn(i64) -> Option<T>),
    /// Of whatever the row holds, by the function for any property.
    Any,
}

impl<T> Clone for Take<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Take<T> {}

impl<T> Clone for FastPath<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for FastPath<T> {}

impl<T: Property> Take<T> {
    pub(super) const fn by(quick: FastPath<T>) -> Self {
        Self { quick, any: T::from_property }
    }

    /// Returns what takes an `Option` of which there is a value.
    pub(super) const fn of_some() -> Take<Option<T>> {
        let quick = match T::TAKE.quick {
            FastPath::Text(_) => FastPath::Text(|text| match T::TAKE.quick {
                FastPath::Text(make) => make(text).map(Some),
                _ => None,
            }),
            FastPath::Integer(_) => FastPath::Integer(|number| match T::TAKE.quick {
                FastPath::Integer(make) => make(number).map(Some),
                _ => None,
            }),
            FastPath::Any => FastPath::Any,
        };
        Take { quick, any: <Option<T>>::from_property }
    }
}

/// What the values of a type are, as far as that says whether rows may hold them as they are, or sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Content {
    /// Values that a row may hold either way.
    Values,
    /// Values that a row holds as they are only where the declaration says so.
    Secrets,
    /// References to blobs whose bytes lie in the clear: to seal a reference would hide nothing.
    Blobs,
    /// References to blobs whose bytes are sealed, with the key that opens them.
    SealedBlobs,
}

impl Content {
    const fn of(is_secret: bool, is_blob: bool) -> Self {
        match (is_secret, is_blob) {
            (false, false) => Self::Values,
            (true, false) => Self::Secrets,
            (false, true) => Self::Blobs,
            (true, true) => Self::SealedBlobs,
        }
    }
}

/// The value that a field gives its property.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PropertyValue<'a> {
    /// No property.
    Absent,
    /// A value that the field lends, or that is as cheap as a reference to it.
    Borrowed(ValueRef<'a>),
    /// A value made for the purpose.
    Owned(Value),
}

impl PropertyValue<'_> {
    /// Returns the value, borrowed; `None` if there is none.
    #[inline]
    pub fn as_value_ref(&self) -> Option<ValueRef<'_>> {
        match self {
            Self::Absent => None,
            Self::Borrowed(value) => Some(*value),
            Self::Owned(value) => Some(value.as_value_ref()),
        }
    }

    /// Returns the value, owned; `None` if there is none.
    pub fn into_value(self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Borrowed(value) => Some(value.to_value()),
            Self::Owned(value) => Some(value),
        }
    }

    /// Returns the value, borrowed from this one.
    pub(crate) fn lent(&self) -> PropertyValue<'_> {
        self.as_value_ref().map_or(PropertyValue::Absent, PropertyValue::Borrowed)
    }

    /// Returns the value as one that borrows nothing.
    #[doc(hidden)]
    pub fn into_owned(self) -> PropertyValue<'static> {
        self.into_value().map_or(PropertyValue::Absent, PropertyValue::Owned)
    }
}

impl<'a> From<ValueRef<'a>> for PropertyValue<'a> {
    fn from(value: ValueRef<'a>) -> Self {
        Self::Borrowed(value)
    }
}

impl From<Value> for PropertyValue<'_> {
    fn from(value: Value) -> Self {
        Self::Owned(value)
    }
}

/// A field and a property that don't go together: what was expected, and what was found.
///
/// Its text never shows a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueError {
    expected: EdmType,
    problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Absent,
    Found(EdmType),
    /// Below or above every value that there is, and the text that says so.
    Below(&'static str),
    Above(&'static str),
    Invalid(&'static str),
}

impl ValueError {
    /// Makes the error that the property is of another type, or absent.
    pub fn mistyped(expected: EdmType, found: Option<ValueRef<'_>>) -> Self {
        let problem = found.map_or(Problem::Absent, |value| Problem::Found(value.edm_type()));
        Self { expected, problem }
    }

    /// Makes the error that the value is smaller than the property, or the field, can hold: `because` says what it can.
    pub const fn below(expected: EdmType, because: &'static str) -> Self {
        Self { expected, problem: Problem::Below(because) }
    }

    /// Makes the error that the value is larger than the property, or the field, can hold: `because` says what it can.
    pub const fn above(expected: EdmType, because: &'static str) -> Self {
        Self { expected, problem: Problem::Above(because) }
    }

    /// Makes the error that the value is of the right type, and still the field can't hold it: `because` says why.
    pub const fn invalid(expected: EdmType, because: &'static str) -> Self {
        Self { expected, problem: Problem::Invalid(because) }
    }

    /// Returns whether the value lies below every other, as the start of a range may.
    pub(crate) fn is_below(self) -> bool {
        matches!(self.problem, Problem::Below(_))
    }

    /// Returns whether the value lies above every other, as the end of a range may.
    pub(crate) fn is_above(self) -> bool {
        matches!(self.problem, Problem::Above(_))
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::Absent => write!(f, "expected {}, but there is no such property", self.expected),
            Problem::Found(found) => write!(f, "expected {}, found {found}", self.expected),
            Problem::Below(because) | Problem::Above(because) | Problem::Invalid(because) => {
                f.write_str(because)
            }
        }
    }
}

impl std::error::Error for ValueError {}
