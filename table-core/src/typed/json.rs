//! Fields of any type that serde knows, kept as text.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::source::Text;
use crate::error::Result;
use crate::model::{EdmType, Value};
use crate::schema::{PropertyValue, ValueError};

/// The field's value as text.
pub fn give<T: Serialize>(value: &T) -> Result<PropertyValue<'static>, ValueError> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(PropertyValue::Owned(Value::String(text))),
        Err(_) => Err(ValueError::invalid(EdmType::String, "the value can't be written as JSON")),
    }
}

/// The field's value from its text.
#[allow(clippy::needless_pass_by_value, reason = "taken as it is read")]
pub fn take<T: DeserializeOwned>(text: Text<'_>) -> Result<T> {
    match text.json.as_deref() {
        // The message of a JSON error can hold what stands in the text.
        Some(json) => {
            serde_json::from_str(json).map_err(|_| text.refused("its text is not the JSON of the field"))
        }
        None => Err(text.refused("it is absent")),
    }
}

/// The field's value from its text; its type's default if there is none.
pub fn take_or_default<T: DeserializeOwned + Default>(text: Text<'_>) -> Result<T> {
    if text.json.is_none() { Ok(T::default()) } else { take(text) }
}
