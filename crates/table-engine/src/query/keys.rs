//! Rows of one kind, and the properties that their keys give back.

use std::any::Any;
use std::fmt;

use crate::error::Error;
use crate::model::{Value, ValueRef};
use crate::schema::{Kinship, Schema};

/// The rows of one kind among those of a table.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The text of `EntityType` on them.
    pub(crate) name: &'static str,
    /// Whether each of them carries a keyed digest.
    pub is_signed: bool,
    /// The properties that their keys give back.
    pub keys: &'static dyn KeyProperties,
}

impl Kind {
    /// Returns whether rows of previous versions are read as what they become.
    pub(crate) fn has_previous(&self) -> bool {
        self.keys.previous_rows().is_some()
    }
}

/// Properties that rows don't hold under their names: keys give them back, or rows have them as they were called before.
/// Filters can speak of them all the same.
#[doc(hidden)]
pub trait KeyProperties: fmt::Debug + Sync {
    /// Returns whether the keys give the property back.
    fn gives(&self, property: &str) -> bool;

    /// Returns the value of a property on the row of these keys; `None` where they are none of such a row.
    fn value(&self, property: &str, partition: &str, row: &str) -> Option<Value>;

    /// Returns what the property was called before: rows may have it under either name.
    fn was(&self, property: &str) -> Option<&'static str>;

    /// Returns the declaration of the rows' entity.
    fn declared(&self) -> &'static Schema;

    /// Returns what a row of another kind is.
    fn kinship(&self, kind: &str) -> Kinship;

    /// Returns what reads rows of previous versions, for who knows rows.
    fn previous_rows(&self) -> Option<&dyn Any>;

    /// Returns the row key of the entity itself, of which this row may be a copy. Its sealed properties are bound to that key.
    fn own_row_key(&self, row: &dyn StoredRow) -> Result<String, Error>;
}

/// A row of a kind, as far as its entity's key is known from it.
#[doc(hidden)]
pub trait StoredRow {
    /// Returns the partition key and the row key.
    fn keys(&self) -> (String, String);

    /// Returns what is stored of a property.
    fn stored(&self, property: &str) -> Result<Option<ValueRef<'_>>, Error>;
}
