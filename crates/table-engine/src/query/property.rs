//! Properties by name, from which filters are built.

use super::compare::{Operator, Rule};
use super::filter::Filter;
use crate::model::Value;
use crate::model::names::Name;

/// A property by its name, to build a [`Filter`] from; made by [`prop`].
///
/// ```
/// use table_core::prop;
///
/// let age = prop("Age");
/// let filter = age.ge(18) & age.lt(65);
/// assert_eq!(filter.to_string(), "Age ge 18 and Age lt 65");
/// ```
#[derive(Clone, Debug)]
pub struct PropertyRef(Name, Rule);

/// Returns the property of this name; `PartitionKey`, `RowKey` and `Timestamp` are properties too.
///
/// A name that no property can have is an error when the query is planned. A property whose name is a word of the
/// filter language (`eq`, `not`, `true`) can be compared, but the filter's text can't be read back.
///
/// ```
/// use table_core::{Ticks, prop};
///
/// let recent = prop("Timestamp").ge("2026-11-20T00:00:00Z".parse::<Ticks>()?);
/// assert_eq!(recent.to_string(), "Timestamp ge datetime'2026-11-20T00:00:00Z'");
/// # Ok::<(), table_core::model::ParseTicksError>(())
/// ```
pub fn prop(name: &str) -> PropertyRef {
    PropertyRef(name.into(), Rule::Named)
}

/// Returns the property of this name that an entity declares with its type.
pub(crate) fn declared(name: &str) -> PropertyRef {
    PropertyRef(name.into(), Rule::Declared)
}

impl PropertyRef {
    fn compare(&self, operator: Operator, constant: impl Into<Value>) -> Filter {
        Filter::compare(self.0.clone(), operator, constant.into(), self.1)
    }

    /// Returns a filter: the property equals the value.
    #[must_use]
    pub fn eq(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Eq, value)
    }

    /// Returns a filter: the property is there, and differs from the value or is of another type.
    #[must_use]
    pub fn ne(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Ne, value)
    }

    /// Returns a filter: the property is greater than the value.
    #[must_use]
    pub fn gt(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Gt, value)
    }

    /// Returns a filter: the property is the value or greater.
    #[must_use]
    pub fn ge(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Ge, value)
    }

    /// Returns a filter: the property is less than the value, as is one of another type.
    #[must_use]
    pub fn lt(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Lt, value)
    }

    /// Returns a filter: the property is the value or less, as is one of another type.
    #[must_use]
    pub fn le(&self, value: impl Into<Value>) -> Filter {
        self.compare(Operator::Le, value)
    }

    /// Returns a filter: the property is a Boolean that is true: its name by itself in a filter's text.
    #[must_use]
    pub fn is_true(&self) -> Filter {
        Filter::is_true(self.0.clone(), self.1)
    }
}
