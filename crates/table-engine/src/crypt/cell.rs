//! The place that a sealed value is bound to.

use super::scope::KeyScope;
use crate::error::{Error, ErrorKind, Result};

/// A property of an entity, to which a sealed value is bound. A value that is moved to another cell does not open.
///
/// The keys are the entity's primary ones, for its copies too. A copy holds the very bytes that the entity holds, so it
/// is kept without a key at hand. Made by [`DynamicTable::cell`](crate::DynamicTable::cell).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell<'a> {
    #[doc(hidden)]
    pub table: u32,
    #[doc(hidden)]
    pub partition: &'a str,
    #[doc(hidden)]
    pub row: &'a str,
    pub(crate) property: &'a str,
    #[doc(hidden)]
    pub scope: KeyScope,
}

impl<'a> Cell<'a> {
    /// Makes the cell of a property. The property's name is part of the cell's identity. Cells without names would be one cell.
    #[doc(hidden)]
    pub fn new(table: u32, partition: &'a str, row: &'a str, property: &'a str) -> Result<Self> {
        if property.is_empty() {
            return Err(Error::new(ErrorKind::PropertyNameInvalid).because("a property's name is empty"));
        }
        Ok(Self { table, partition, row, property, scope: KeyScope::default() })
    }

    /// Sets the scope whose values share a data key with this one; [`KeyScope::Store`] by default.
    #[must_use]
    pub fn scoped(mut self, scope: KeyScope) -> Self {
        self.scope = scope;
        self
    }

    /// Returns an error about this cell; it names the property and the keys, and no value.
    pub(crate) fn error(&self, kind: ErrorKind, because: &str) -> Error {
        Error::new(kind)
            .because(format!("property `{}` {because}", self.property.escape_debug()))
            .partition(self.partition)
            .row(self.row)
    }
}

/// Appends a text after its length, so that two texts side by side can't be split elsewhere.
pub(crate) fn framed(out: &mut Vec<u8>, text: &str) {
    // No text that gets here comes near 4 GiB.
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}
