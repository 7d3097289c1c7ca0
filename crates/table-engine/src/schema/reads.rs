//! What values of a property a field's type reads: noted with the layout of a kind, so that a row which the struct could not
//! read is refused where there is no struct.

use super::ValueError;
use crate::model::{EdmType, Value, ValueRef};

/// What values of a property a field's type reads.
pub type Reads = ReadsOf<&'static [&'static str]>;

/// What values of a property a type reads. The names are a declaration's, or those of a layout that a store has noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadsOf<N> {
    /// Every value of the property's type.
    Any,
    /// Integers from the first to the last.
    Integers(i64, i64),
    /// Numbers that an `f32` holds exactly.
    Single,
    /// Times that a `jiff::Timestamp` holds.
    Timestamp,
    /// One of these texts.
    Names(N),
    /// JSON of whatever shape: what it is to say only the type knows.
    Json,
    /// What only the type knows.
    Other,
}

/// The first tick that a `jiff::Timestamp` does not hold: 9999-12-30T22:00:01Z.
const BEHIND_TIMESTAMPS: u64 = 3_155_378_040_010_000_000;

impl Reads {
    /// Returns the value as a field of such a type writes it; an error if it does not read it.
    pub(crate) fn read(self, edm: EdmType, value: ValueRef<'_>) -> Result<Value, ValueError> {
        let mistyped = || ValueError::mistyped(edm, Some(value));
        // Integers widen when they are read, and are written in the property's type.
        let number = match edm {
            EdmType::Int32 | EdmType::Int64 => Some(value.as_i64().ok_or_else(mistyped)?),
            _ if value.edm_type() == edm => None,
            _ => return Err(mistyped()),
        };
        if let Some(number) = number {
            let (min, max) = self.bounds(edm);
            if number < min {
                return Err(ValueError::below(edm, "less than the field's type holds"));
            }
            if number > max {
                return Err(ValueError::above(edm, "more than the field's type holds"));
            }
            return Ok(match i32::try_from(number) {
                Ok(number) if edm == EdmType::Int32 => Value::Int32(number),
                _ => Value::Int64(number),
            });
        }
        match (self, value) {
            (Self::Single, ValueRef::Double(number)) if !is_single(number) => {
                Err(ValueError::invalid(edm, "a number that an `f32` can't hold exactly"))
            }
            (Self::Timestamp, ValueRef::DateTime(time)) if time.get() >= BEHIND_TIMESTAMPS => {
                Err(ValueError::above(edm, "a time later than a `jiff::Timestamp` holds"))
            }
            (Self::Names(names), ValueRef::String(text)) if !names.contains(&text) => {
                Err(ValueError::invalid(edm, "the text is of none of the variants"))
            }
            (Self::Json, ValueRef::String(text)) if !is_json(text) => {
                Err(ValueError::invalid(edm, "the text is no JSON"))
            }
            _ => Ok(value.to_value()),
        }
    }

    /// Returns the least integer and the greatest that are read.
    fn bounds(self, edm: EdmType) -> (i64, i64) {
        match self {
            Self::Integers(min, max) => (min, max),
            _ if edm == EdmType::Int32 => (i64::from(i32::MIN), i64::from(i32::MAX)),
            _ => (i64::MIN, i64::MAX),
        }
    }
}

/// Returns whether JSON can be told from other text. It takes the feature `json`, as structs do that have it.
pub(crate) const fn knows_json() -> bool {
    cfg!(feature = "json")
}

#[cfg(feature = "json")]
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(not(feature = "json"))]
fn is_json(_: &str) -> bool {
    false
}

fn is_single(number: f64) -> bool {
    #[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "compared right after")]
    let narrow = number as f32;
    f64::from(narrow).to_bits() == number.to_bits() || number.is_nan()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Ticks;

    #[test]
    fn integers_are_read_within_their_bounds_and_become_the_propertys() {
        let small = Reads::Integers(0, 255);
        assert_eq!(small.read(EdmType::Int32, ValueRef::Int64(255)), Ok(Value::Int32(255)));
        assert_eq!(Reads::Any.read(EdmType::Int64, ValueRef::Int32(-1)), Ok(Value::Int64(-1)));
        assert!(small.read(EdmType::Int32, ValueRef::Int32(256)).unwrap_err().is_above());
        assert!(small.read(EdmType::Int32, ValueRef::Int32(-1)).unwrap_err().is_below());
        assert!(Reads::Any.read(EdmType::Int32, ValueRef::Int64(1 << 31)).unwrap_err().is_above());
        let error = small.read(EdmType::Int32, ValueRef::String("7")).unwrap_err();
        assert_eq!(error.to_string(), "expected Edm.Int32, found Edm.String");
    }

    #[test]
    fn what_the_type_does_not_read_is_an_error() {
        let names = Reads::Names(&["new", "old"]);
        assert!(names.read(EdmType::String, ValueRef::String("new")).is_ok());
        assert!(names.read(EdmType::String, ValueRef::String("New")).is_err());
        assert!(Reads::Single.read(EdmType::Double, ValueRef::Double(0.5)).is_ok());
        assert!(Reads::Single.read(EdmType::Double, ValueRef::Double(0.1)).is_err());
        let last = |ticks| ValueRef::DateTime(Ticks::new(ticks).unwrap());
        assert!(Reads::Timestamp.read(EdmType::DateTime, last(BEHIND_TIMESTAMPS - 1)).is_ok());
        assert!(Reads::Timestamp.read(EdmType::DateTime, last(BEHIND_TIMESTAMPS)).is_err());
    }

    #[cfg(feature = "json")]
    #[test]
    fn json_is_told_from_other_text() {
        for (text, is) in
            [("[1, 2]", true), ("{\"a\": null}", true), ("7", true), ("", false), ("{a}", false)]
        {
            assert_eq!(Reads::Json.read(EdmType::String, ValueRef::String(text)).is_ok(), is, "{text}");
        }
    }

    #[cfg(feature = "jiff")]
    #[test]
    fn the_last_time_is_that_of_jiff() {
        let last = Ticks::try_from(jiff::Timestamp::MAX).unwrap();
        assert!(last.get() < BEHIND_TIMESTAMPS && BEHIND_TIMESTAMPS - last.get() <= 1);
    }
}
