//! What can be added to where it is stored.

use super::value::{Property, PropertyValue, ValueError};
use crate::model::{Value, ValueRef};

/// An integer, or an `Option` of one, whose `None` counts as 0.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be added to",
    label = "no integer",
    note = "`add` is for integers of up to 64 bits, and `Option`s of them; `update` changes what is of another type"
)]
pub trait Countable: Property {
    /// Returns the number that it is.
    #[doc(hidden)]
    fn number(&self) -> i128;

    /// Returns the value that is this number, if there is one.
    #[doc(hidden)]
    fn of_number(number: i128) -> Result<Self, ValueError>;
}

macro_rules! countable {
    ($($type:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Countable for $type {
            fn number(&self) -> i128 {
                i128::from(*self)
            }

            fn of_number(number: i128) -> Result<Self, ValueError> {
                Self::try_from(number).map_err(|_| {
                    if number < i128::from(Self::MIN) {
                        ValueError::below(Self::EDM, concat!("less than a `", stringify!($type), "` holds"))
                    } else {
                        ValueError::above(Self::EDM, concat!("more than a `", stringify!($type), "` holds"))
                    }
                })
            }
        }
    )*};
}

countable!(i8 i16 i32 i64 u8 u16 u32 u64);

#[diagnostic::do_not_recommend]
impl<T: Countable> Countable for Option<T> {
    fn number(&self) -> i128 {
        self.as_ref().map_or(0, T::number)
    }

    fn of_number(number: i128) -> Result<Self, ValueError> {
        T::of_number(number).map(Some)
    }
}

/// Returns what a property holds when so much has been added to it. `old` is what it holds, or what stands for it where it is
/// absent.
pub(crate) fn added<T: Countable>(old: Option<ValueRef<'_>>, by: i64) -> Result<Value, ValueError> {
    let sum = T::from_property(old)?.number() + i128::from(by);
    let value = T::of_number(sum)?.to_property().map(PropertyValue::into_value)?;
    // A number is there.
    value.ok_or_else(|| ValueError::mistyped(T::EDM, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_in_its_bounds_or_an_error() {
        assert_eq!(added::<i64>(Some(ValueRef::Int64(i64::MAX - 1)), 1), Ok(Value::Int64(i64::MAX)));
        assert!(added::<i64>(Some(ValueRef::Int64(i64::MAX)), 1).unwrap_err().is_above());
        assert!(added::<i64>(Some(ValueRef::Int64(i64::MIN)), -1).unwrap_err().is_below());
        assert_eq!(added::<u8>(Some(ValueRef::Int32(250)), 5), Ok(Value::Int32(255)));
        assert!(added::<u8>(Some(ValueRef::Int32(250)), 6).unwrap_err().is_above());
        assert!(added::<u8>(Some(ValueRef::Int32(2)), -3).unwrap_err().is_below());
        // What an Edm.Int64 can't hold, a `u64` can't be stored as.
        assert!(added::<u64>(Some(ValueRef::Int64(i64::MAX)), 1).unwrap_err().is_above());
        assert_eq!(added::<Option<u32>>(None, 7), Ok(Value::Int64(7)));
        assert!(added::<u32>(None, 7).is_err());
        assert!(added::<i32>(Some(ValueRef::String("7")), 7).is_err());
    }
}
