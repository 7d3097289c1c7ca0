//! What stands for a field where a row lacks it.

use std::fmt;

use super::{Property, PropertyValue};
use crate::model::Value;

/// What stands for a field where a row lacks it: a value that the declaration says.
///
/// Filters compare it, so that they find what is read. A function makes it, since a constant can't hold every type's
/// default.
#[derive(Clone, Copy)]
pub struct Absent(fn() -> Option<Value>);

impl Absent {
    pub(super) const fn new(value: fn() -> Option<Value>) -> Self {
        Self(value)
    }

    /// Returns the value; `None` if it is no value of a property, as an `Option`'s `None`.
    pub(crate) fn value(self) -> Option<Value> {
        (self.0)()
    }
}

/// Two declarations differ by their fields: the same function may have several addresses.
impl PartialEq for Absent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Absent {}

impl fmt::Debug for Absent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Absent")
    }
}

/// Returns a value as a property holds it.
#[allow(clippy::needless_pass_by_value, reason = "it is made for the purpose")]
pub fn value<T: Property>(value: T) -> Option<Value> {
    value.to_property().ok().and_then(PropertyValue::into_value)
}
