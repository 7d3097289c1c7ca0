//! Fields of any type that serde knows, kept as text.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
use crate::json;
use crate::model::{EdmType, Value};
use crate::schema::{PropertyValue, ValueError};
use crate::typed::entity::source::Text;

/// A type that a field with `json` can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be kept as JSON",
    label = "serde can't both write and read it",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`; a type of another crate may have them behind a feature `serde`"
)]
pub trait Json: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Json for T {}

/// Returns how a field of the type is written and read. All code of one field asks for it by this name, and the compiler says
/// once that serde doesn't know the type.
pub const fn of<T: Json>() -> Of<T> {
    Of { give: give::<T>, take: take::<T> }
}

/// A type with a `Blob` in its name that a field with `json` can have: one of the user's own.
#[diagnostic::on_unimplemented(
    message = "a blob is not kept as JSON",
    label = "rows that refer to a blob are counted, and a text is not",
    note = "a field of the type `Blob` is one blob; several are in entities of their own, each with one, or in a container, by names that JSON can hold",
    note = "a `Blob` of yours derives `serde::Serialize` and `serde::Deserialize`"
)]
pub trait JsonOfBlobs: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> JsonOfBlobs for T {}

/// Returns what [`of`] does, for a type that is written with `Blob` or `SealedBlob`.
pub const fn of_blobs<T: JsonOfBlobs>() -> Of<T> {
    Of { give: give::<T>, take: take::<T> }
}

/// How a field of the type is written and read.
pub struct Of<T> {
    /// The field's value as text.
    pub give: fn(&T) -> Result<PropertyValue<'static>, ValueError>,
    /// The field's value from its text.
    pub take: fn(Text<'_>) -> Result<T>,
}

impl<T> Of<T> {
    /// Returns the field's value from its text; what `default` makes if there is none.
    pub fn take_or(&self, text: Text<'_>, default: fn() -> T) -> Result<T> {
        if text.json.is_none() { Ok(default()) } else { (self.take)(text) }
    }
}

impl<T> fmt::Debug for Of<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Of")
    }
}

/// Returns the field's value as text.
fn give<T: Serialize>(value: &T) -> Result<PropertyValue<'static>, ValueError> {
    let text = json::text(value).map_err(|because| ValueError::invalid(EdmType::String, because))?;
    Ok(PropertyValue::Owned(Value::String(text)))
}

/// Returns the field's value from its text.
#[allow(clippy::needless_pass_by_value, reason = "taken as it is read")]
fn take<T: DeserializeOwned>(text: Text<'_>) -> Result<T> {
    match text.json.as_deref() {
        // The message of a JSON error can hold what stands in the text.
        Some(json) => {
            serde_json::from_str(json).map_err(|_| text.refused("its text is not the JSON of the field"))
        }
        None => Err(text.refused("it is absent")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Every form in which serde can hold a value, with a float in each.
    #[derive(Serialize)]
    enum Form {
        Unit,
        Newtype(f32),
        Tuple(u8, f64),
        Struct { float: f64 },
    }

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Newtype(f64);

    #[derive(Serialize)]
    struct Tuple(char, f64);

    #[derive(Serialize)]
    struct Struct<T> {
        missing: Option<u8>,
        value: T,
    }

    #[track_caller]
    fn is_given<T: Serialize>(value: T) {
        // A `null` beside it, so that it is looked at.
        let value = Struct { missing: None, value };
        assert_eq!(
            give(&value).unwrap(),
            PropertyValue::Owned(Value::String(serde_json::to_string(&value).unwrap()))
        );
    }

    #[track_caller]
    fn is_refused<T: Serialize>(value: T) {
        let error = give(&Struct { missing: None, value: &value }).unwrap_err();
        assert!(error.to_string().contains("a float in it is NaN or infinite"), "{error}");
        assert_eq!(give(&value).unwrap_err(), error);
    }

    #[test]
    fn a_float_that_is_not_finite_is_refused_wherever_it_stands() {
        for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            is_refused(float);
            is_refused(Some(float));
            is_refused(vec![1.0, float]);
            is_refused((1, float));
            is_refused(Newtype(float));
            is_refused(Tuple('a', float));
            is_refused(BTreeMap::from([("a", 1.0), ("b", float)]));
            is_refused(Form::Newtype(if float.is_nan() { f32::NAN } else { f32::INFINITY }));
            is_refused(Form::Tuple(1, float));
            is_refused(Form::Struct { float });
            is_refused([Struct { missing: Some(1), value: Some(vec![BTreeMap::from([(1, float)])]) }]);
        }
    }

    #[test]
    fn what_json_can_say_is_given() {
        for float in [0.0, -0.0, f64::MAX, f64::MIN_POSITIVE] {
            is_given((float, Some(float), Newtype(float), Tuple('a', float)));
            is_given((Form::Unit, Form::Newtype(1.5), Form::Tuple(1, float), Form::Struct { float }));
        }
        is_given((Unit, (), None::<f64>, "null", 'x', true));
        is_given((1_u8, 2_u16, 3_u32, 4_u64, 5_u128, -1_i8, -2_i16, -3_i32, -4_i64, -5_i128));
        is_given((BTreeMap::from([(1, None::<f64>)]), vec![None::<u8>], std::net::Ipv4Addr::LOCALHOST));
    }
}
