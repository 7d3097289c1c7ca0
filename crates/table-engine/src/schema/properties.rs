//! Rust's types as properties.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::Uuid;

use super::value::{FastPath, Property, PropertyValue, Take, ValueError};
use super::{ColumnType, Reads};
use crate::model::{EdmType, Ticks, ValueRef};

/// A type that a property holds as it is.
macro_rules! as_it_is {
    ($($type:ty: $edm:ident, |$from:ident| $to:expr, |$value:ident| $back:expr $(, $quick:expr)?;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Property for $type {
            const EDM: EdmType = EdmType::$edm;
            const EXACT: bool = true;
            const FEW: bool = size_of::<Self>() == 1;
            const READS: Reads = Reads::Any;
            $(const TAKE: Take<Self> = Take::by($quick);)?

            fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
                let $from = self;
                Ok(PropertyValue::Borrowed(ValueRef::$edm($to)))
            }

            #[inline]
            fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
                match value {
                    Some(ValueRef::$edm($value)) => Ok($back),
                    _ => Err(ValueError::mistyped(Self::EDM, value)),
                }
            }
        }
    )*};
}

// Neither a closure nor `String::from`: those are called, not inlined, and the text comes back through memory, where the code
// that takes it has to wait.
#[expect(clippy::unnecessary_wraps, reason = "one of the functions that make a value of a text")]
#[inline]
fn string(text: Box<str>) -> Option<String> {
    Some(text.into_string())
}

as_it_is! {
    String: String, |text| text, |text| text.to_owned(), FastPath::Text(string);
    Box<str>: String, |text| text, |text| text.into(), FastPath::Text(Some);
    Vec<u8>: Binary, |bytes| bytes, |bytes| bytes.to_vec();
    bool: Boolean, |truth| *truth, |truth| truth;
    f64: Double, |number| *number, |number| number;
    Ticks: DateTime, |time| *time, |time| time;
    Uuid: Guid, |id| *id, |id| id;
}

/// An integer in the smallest type that holds it.
macro_rules! integers {
    ($($type:ident: $edm:ident, $repr:ty, $column:ident, $reads:expr, $below:literal, $above:literal;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Property for $type {
            const EDM: EdmType = EdmType::$edm;
            const EXACT: bool = true;
            const FEW: bool = size_of::<Self>() == 1;
            const COLUMN: ColumnType = ColumnType::$column;
            const READS: Reads = $reads;
            #[allow(clippy::unnecessary_fallible_conversions, reason = "of `i64` alone")]
            const TAKE: Take<Self> =
                Take::by(FastPath::Integer(|number| Self::try_from(number).ok()));

            fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
                #[allow(clippy::unnecessary_fallible_conversions, irrefutable_let_patterns, reason = "of `u64` alone")]
                match <$repr>::try_from(*self) {
                    Ok(number) => Ok(PropertyValue::Borrowed(ValueRef::$edm(number))),
                    Err(_) => Err(ValueError::above(Self::EDM, $above)),
                }
            }

            #[inline]
            fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
                let Some(number) = value.and_then(ValueRef::as_i64) else {
                    return Err(ValueError::mistyped(Self::EDM, value));
                };
                #[allow(clippy::unnecessary_fallible_conversions, reason = "of `i64` alone")]
                Self::try_from(number).map_err(|_| {
                    if number < 0 {
                        ValueError::below(Self::EDM, $below)
                    } else {
                        ValueError::above(Self::EDM, $above)
                    }
                })
            }
        }
    )*};
}

integers! {
    i8: Int32, i32, I8, Reads::Integers(-0x80, 0x7f), "less than an `i8` holds", "more than an `i8` holds";
    i16: Int32, i32, I16, Reads::Integers(-0x8000, 0x7fff), "less than an `i16` holds", "more than an `i16` holds";
    i32: Int32, i32, I32, Reads::Any, "less than an `i32` holds", "more than an `i32` holds";
    i64: Int64, i64, I64, Reads::Any, "less than an `i64` holds", "more than an `i64` holds";
    u8: Int32, i32, U8, Reads::Integers(0, 0xff), "negative, for a `u8`", "more than a `u8` holds";
    u16: Int32, i32, U16, Reads::Integers(0, 0xffff), "negative, for a `u16`", "more than a `u16` holds";
    u32: Int64, i64, U32, Reads::Integers(0, 0xffff_ffff), "negative, for a `u32`", "more than a `u32` holds";
    u64: Int64, i64, I64, Reads::Integers(0, i64::MAX), "negative, for a `u64`",
        "more than 9223372036854775807, the most that an Edm.Int64 holds";
}

#[diagnostic::do_not_recommend]
impl Property for f32 {
    const EDM: EdmType = EdmType::Double;
    const READS: Reads = Reads::Single;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        Ok(PropertyValue::Borrowed(ValueRef::Double(f64::from(*self))))
    }

    #[inline]
    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        let wide = f64::from_property(value)?;
        #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "compared right after")]
        let narrow = wide as Self;
        // Not every bit of a NaN need come back.
        if f64::from(narrow).to_bits() == wide.to_bits() || wide.is_nan() {
            Ok(narrow)
        } else {
            Err(ValueError::invalid(Self::EDM, "a number that an `f32` can't hold exactly"))
        }
    }
}

/// The text of times that [`Ticks`] doesn't reach.
const BEFORE: &str = "a time before the year 1";
const AFTER: &str = "a time after the year 9999";

/// Floors to the tick.
#[diagnostic::do_not_recommend]
impl Property for SystemTime {
    const EDM: EdmType = EdmType::DateTime;
    const READS: Reads = Reads::Any;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        match Ticks::try_from(*self) {
            Ok(ticks) => Ok(PropertyValue::Borrowed(ValueRef::DateTime(ticks))),
            Err(_) if *self < UNIX_EPOCH => Err(ValueError::below(Self::EDM, BEFORE)),
            Err(_) => Err(ValueError::above(Self::EDM, AFTER)),
        }
    }

    #[inline]
    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        Ticks::from_property(value).map(Self::from)
    }
}

/// Floors to the tick.
#[cfg(feature = "jiff")]
#[diagnostic::do_not_recommend]
impl Property for jiff::Timestamp {
    const EDM: EdmType = EdmType::DateTime;
    const READS: Reads = Reads::Timestamp;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        match Ticks::try_from(*self) {
            Ok(ticks) => Ok(PropertyValue::Borrowed(ValueRef::DateTime(ticks))),
            Err(_) if *self < Self::UNIX_EPOCH => Err(ValueError::below(Self::EDM, BEFORE)),
            Err(_) => Err(ValueError::above(Self::EDM, AFTER)),
        }
    }

    #[inline]
    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        let ticks = Ticks::from_property(value)?;
        Self::try_from(ticks)
            .map_err(|_| ValueError::above(Self::EDM, "a time later than a `jiff::Timestamp` holds"))
    }
}

/// Floors to the tick.
#[cfg(feature = "chrono")]
#[diagnostic::do_not_recommend]
impl Property for chrono::DateTime<chrono::Utc> {
    const EDM: EdmType = EdmType::DateTime;
    const READS: Reads = Reads::Any;

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        match Ticks::try_from(*self) {
            Ok(ticks) => Ok(PropertyValue::Borrowed(ValueRef::DateTime(ticks))),
            Err(_) if *self < Self::UNIX_EPOCH => Err(ValueError::below(Self::EDM, BEFORE)),
            Err(_) => Err(ValueError::above(Self::EDM, AFTER)),
        }
    }

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        Ticks::from_property(value).map(Self::from)
    }
}

/// Ticks of 100 ns, as .NET counts a `TimeSpan`. Floors to the tick.
#[diagnostic::do_not_recommend]
impl Property for Duration {
    const EDM: EdmType = EdmType::Int64;
    const READS: Reads = Reads::Integers(0, i64::MAX);

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        i64::try_from(self.as_nanos() / 100)
            .map(|ticks| PropertyValue::Borrowed(ValueRef::Int64(ticks)))
            .map_err(|_| ValueError::above(Self::EDM, "a duration of more than 29,227 years"))
    }

    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        let ticks = i64::from_property(value)?;
        let ticks =
            u64::try_from(ticks).map_err(|_| ValueError::below(Self::EDM, "a duration is not negative"))?;
        Ok(Self::new(ticks / 10_000_000, u32::try_from(ticks % 10_000_000 * 100).unwrap_or_default()))
    }
}

/// `None` is an absent property.
#[diagnostic::do_not_recommend]
impl<T: Property> Property for Option<T> {
    const EDM: EdmType = T::EDM;
    const EXACT: bool = T::EXACT;
    const SECRET: bool = T::SECRET;
    const FEW: bool = T::FEW;
    const BLOB: bool = T::BLOB;
    const COLUMN: ColumnType = T::COLUMN;
    const READS: Reads = T::READS;
    const NESTED: bool = T::OPTIONAL;
    const OPTIONAL: bool = true;
    const TAKE: Take<Self> = Take::<T>::of_some();

    fn to_property(&self) -> Result<PropertyValue<'_>, ValueError> {
        self.as_ref().map_or(Ok(PropertyValue::Absent), T::to_property)
    }

    #[inline]
    fn from_property(value: Option<ValueRef<'_>>) -> Result<Self, ValueError> {
        value.map(|value| T::from_property(Some(value))).transpose()
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;

    use super::*;
    use crate::model::Value;

    /// A value goes into a property of its type and comes back.
    fn survives<T: Property + PartialEq + Debug>(value: &T) {
        let property = value.to_property().unwrap();
        assert!(property.as_value_ref().is_none_or(|value| value.edm_type() == T::EDM), "{value:?}");
        assert_eq!(T::from_property(property.as_value_ref()).as_ref(), Ok(value));
        assert_eq!(
            T::from_property(property.clone().into_value().as_ref().map(Value::as_value_ref)).as_ref(),
            Ok(value)
        );
    }

    fn text<T: Property + Debug>(value: &Value) -> String {
        T::from_property(Some(value.as_value_ref())).unwrap_err().to_string()
    }

    proptest! {
        #[test]
        fn values_survive(
            text: String, bytes: Vec<u8>, truth: bool, small: (i8, i16, u8, u16), large: (i32, i64, u32), float: f32,
            ticks in 0..=Ticks::MAX.get(), id: u128, maybe: Option<i32>, long in 0..=i64::MAX.unsigned_abs(),
        ) {
            survives(&text);
            survives(&text.into_boxed_str());
            survives(&bytes);
            survives(&truth);
            survives(&small.0);
            survives(&small.1);
            survives(&small.2);
            survives(&small.3);
            survives(&large.0);
            survives(&large.1);
            survives(&large.2);
            survives(&long);
            survives(&float);
            survives(&f64::from(float));
            survives(&Ticks::new(ticks).unwrap());
            survives(&SystemTime::from(Ticks::new(ticks).unwrap()));
            survives(&Uuid::from_u128(id));
            survives(&maybe);
        }

        #[test]
        fn integers_widen_and_never_wrap(number: i64, small: i32) {
            prop_assert_eq!(i64::from_property(Some(ValueRef::Int32(small))), Ok(i64::from(small)));
            prop_assert_eq!(i32::from_property(Some(ValueRef::Int64(number))).ok(), i32::try_from(number).ok());
            prop_assert_eq!(u64::from_property(Some(ValueRef::Int64(number))).ok(), u64::try_from(number).ok());
            prop_assert_eq!(u8::from_property(Some(ValueRef::Int32(small))).ok(), u8::try_from(small).ok());
        }
    }

    #[test]
    fn what_does_not_fit_says_why() {
        assert_eq!(text::<i32>(&Value::from("Jones")), "expected Edm.Int32, found Edm.String");
        assert_eq!(text::<String>(&Value::Int32(1)), "expected Edm.String, found Edm.Int32");
        assert_eq!(text::<i32>(&Value::Int64(1 << 31)), "more than an `i32` holds");
        assert_eq!(text::<u32>(&Value::Int32(-1)), "negative, for a `u32`");
        assert_eq!(text::<f32>(&Value::Double(0.1)), "a number that an `f32` can't hold exactly");
        assert_eq!(text::<Option<u8>>(&Value::Int32(256)), "more than a `u8` holds");
        let absent = bool::from_property(None).unwrap_err();
        assert_eq!(absent.to_string(), "expected Edm.Boolean, but there is no such property");
        let error = u64::MAX.to_property().unwrap_err();
        assert_eq!(error.to_string(), "more than 9223372036854775807, the most that an Edm.Int64 holds");
        assert!(error.is_above() && !error.is_below());
    }

    #[test]
    fn an_absent_property_is_none_and_nothing_else() {
        assert_eq!(Option::<String>::from_property(None), Ok(None));
        assert_eq!(None::<String>.to_property(), Ok(PropertyValue::Absent));
        assert_eq!((Option::<String>::OPTIONAL, String::OPTIONAL), (true, false));
        assert!(f32::from_property(Some(ValueRef::Double(f64::NAN))).unwrap().is_nan());
    }

    #[test]
    fn times_floor_to_the_tick() {
        let time = UNIX_EPOCH + Duration::from_nanos(1_234_567_899);
        let property = time.to_property().unwrap();
        let back = SystemTime::from_property(property.as_value_ref()).unwrap();
        assert_eq!(back, UNIX_EPOCH + Duration::from_nanos(1_234_567_800));
        let late = UNIX_EPOCH + Duration::from_hours(24 * 366 * 9000);
        assert!(late.to_property().unwrap_err().is_above());
        let early = UNIX_EPOCH - Duration::from_hours(24 * 366 * 3000);
        assert!(early.to_property().unwrap_err().is_below());
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn jiff_times_survive() {
        for text in ["2026-11-20T20:37:52.6107149Z", "0001-01-01T00:00:00Z"] {
            survives(&text.parse::<jiff::Timestamp>().unwrap());
        }
        assert!(
            "-000001-01-01T00:00:00Z"
                .parse::<jiff::Timestamp>()
                .unwrap()
                .to_property()
                .unwrap_err()
                .is_below()
        );
        let late = jiff::Timestamp::from_property(Some(ValueRef::DateTime(Ticks::MAX)));
        assert_eq!(late.unwrap_err().to_string(), "a time later than a `jiff::Timestamp` holds");
    }

    #[cfg(feature = "chrono")]
    #[test]
    fn chronos_times_survive() {
        use chrono::{DateTime, Utc};
        for text in ["2026-11-20T20:37:52.6107149Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.9999999Z"] {
            survives(&text.parse::<DateTime<Utc>>().unwrap());
        }
        assert!(DateTime::<Utc>::MIN_UTC.to_property().unwrap_err().is_below());
        assert!(DateTime::<Utc>::MAX_UTC.to_property().unwrap_err().is_above());
    }

    #[test]
    fn durations_survive_and_floor_to_the_tick() {
        let longest = Duration::new(922_337_203_685, 477_580_700);
        for duration in [Duration::ZERO, Duration::from_nanos(100), Duration::from_hours(1), longest] {
            survives(&duration);
        }
        let floored = Duration::from_nanos(199);
        let property = floored.to_property().unwrap();
        assert_eq!(Duration::from_property(property.as_value_ref()).unwrap(), Duration::from_nanos(100));
        assert!((longest + Duration::from_nanos(100)).to_property().unwrap_err().is_above());
        assert!(Duration::from_property(Some(ValueRef::Int64(-1))).unwrap_err().is_below());
    }
}
