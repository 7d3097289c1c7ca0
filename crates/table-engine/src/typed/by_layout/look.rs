//! What is stored, as far as it says how a write is to be planned.
//!
//! A restricted table shows less than that. Whether the write is permitted is asked first; a row that the access does not show
//! counts as absent, so that no error says that it is there.

use std::borrow::Cow;

use super::Write;
use crate::error::Result;
use crate::executor::LayoutTexts;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
#[cfg(feature = "access")]
use crate::model::EntityKeys;

/// A table as it is at one moment.
pub(super) struct Look<'t> {
    #[cfg(feature = "access")]
    table: &'t DynamicTable,
    itself: Cow<'t, DynamicTable>,
    snapshot: Snapshot,
}

impl<'t> Look<'t> {
    /// Looks at a table as it is now.
    pub(super) fn at(table: &'t DynamicTable) -> Result<Self> {
        let itself = unrestricted(table);
        let snapshot = itself.snapshot()?;
        Ok(Self {
            #[cfg(feature = "access")]
            table,
            itself,
            snapshot,
        })
    }

    /// Returns the layouts that are noted of the table's kinds.
    pub(super) fn layouts(&self) -> Result<LayoutTexts> {
        self.snapshot.layouts(&self.itself)
    }

    /// Returns the text of `EntityType` of the row that is to be written; `None` if there is no row, or no such text.
    #[allow(clippy::option_option, reason = "no row, and one without a kind, are two answers")]
    pub(super) fn kind_of(&self, write: &Write<'_>) -> Result<Option<Option<String>>> {
        #[cfg(feature = "access")]
        if let Some(restricted) = self.table.exec().restricted() {
            restricted.check(write.rights(), EntityKeys::new(write.partition, write.row))?;
            if restricted.hides(EntityKeys::new(write.partition, write.row))? {
                return Ok(None);
            }
        }
        self.snapshot.kind_of(&self.itself, write.partition, write.row)
    }
}

/// Returns the table without what restricts it.
fn unrestricted(table: &DynamicTable) -> Cow<'_, DynamicTable> {
    #[cfg(feature = "access")]
    if let Some(restricted) = table.exec().restricted() {
        return Cow::Owned(DynamicTable::new(restricted.unrestricted()));
    }
    Cow::Borrowed(table)
}
