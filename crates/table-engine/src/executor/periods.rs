//! The tables of a kind that has one for each period, as an executor has them.

use std::fmt;
use std::sync::Arc;

use super::TableExec;
use crate::error::{Error, ErrorKind};
use crate::model::Ticks;

/// What a snapshot sees of them.
pub struct PeriodsSeen {
    /// The number of the state of the store's list of tables: as long as it is the same, so are they.
    pub generation: u64,
    /// Tells the store from others, so that they refuse its tokens.
    pub store: u64,
    /// No table of a period that begins before is there.
    pub floor: Ticks,
    /// When each period begins, and its table, in their order.
    pub tables: Vec<(Ticks, Arc<dyn TableExec>)>,
}

impl PeriodsSeen {
    /// Returns the table of the period that begins then.
    pub fn table(&self, start: Ticks) -> Option<&Arc<dyn TableExec>> {
        let at = self.tables.binary_search_by_key(&start, |(start, _)| *start).ok()?;
        self.tables.get(at).map(|(_, table)| table)
    }
}

impl fmt::Debug for PeriodsSeen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.tables.iter().map(|(_, table)| table.table_name());
        f.debug_list().entries(names).finish()
    }
}

/// What became of the tables before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many were dropped.
    pub tables: usize,
    /// Where the first period begins that entities are taken for.
    pub floor: Ticks,
}

#[cold]
pub(super) fn no_periods() -> Error {
    Error::new(ErrorKind::Unsupported)
        .because("the store has no tables for each period: that takes a store in a directory on disk")
}
