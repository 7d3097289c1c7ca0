//! What may refuse a filter.

use std::fmt;

use crate::error::Result;
use crate::model::Name;
use crate::row::view::RowView;

/// Says of each row whether a filter may look at its properties.
pub(crate) trait FilterGuard: fmt::Debug + Send + Sync {
    /// Refuses a row of which a property of these names is not to be looked at.
    fn check(&self, row: &RowView<'_>, names: &[Name]) -> Result<()>;
}
