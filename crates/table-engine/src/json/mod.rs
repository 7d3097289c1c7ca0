//! Values of any type that serde knows, as text and back.

mod finite;

use serde::Serialize;

/// Why a value has no text, in words that say nothing of the value.
pub(crate) const NOT_FINITE: &str = "a float in it is NaN or infinite, which JSON can't say; use an `Option` for a number that may be missing";
pub(crate) const NO_TEXT: &str = "the value can't be written as JSON";

/// Returns a value as JSON. `serde_json` writes `null` for a float that JSON can't say: such a value is refused.
pub(crate) fn text<T: Serialize + ?Sized>(value: &T) -> Result<String, &'static str> {
    match serde_json::to_string(value) {
        // Only a text with `null` in it can have lost a float, so no other is looked at again.
        Ok(text) if text.contains("null") && !finite::is_finite(value) => Err(NOT_FINITE),
        Ok(text) => Ok(text),
        Err(_) => Err(NO_TEXT),
    }
}
