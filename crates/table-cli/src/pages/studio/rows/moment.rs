//! The moment that the rows of a page are read at.

use table_core::query::PageBudget;
use table_core::store::Page;
use table_core::{Continuation, DynamicEntity, DynamicTable, ErrorKind, Query, Result, Snapshot, Tables};

/// One moment for all reads of a page. Where a store can't show one state to several reads, each is of its own.
#[derive(Debug)]
pub(crate) struct Moment(Option<Snapshot>);

impl Moment {
    /// Begins the moment.
    pub(crate) fn of(tables: &Tables) -> Result<Self> {
        match tables.snapshot() {
            Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Self(None)),
            snapshot => Ok(Self(Some(snapshot?))),
        }
    }

    /// Returns a row.
    pub(crate) fn get(
        &self,
        table: &DynamicTable,
        partition: &str,
        row: &str,
    ) -> Result<Option<DynamicEntity>> {
        match &self.0 {
            Some(snapshot) => snapshot.get(table, partition, row),
            None => table.get(partition, row),
        }
    }

    /// Returns a page of rows.
    pub(super) fn page(
        &self,
        table: &DynamicTable,
        query: &Query,
        budget: PageBudget,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        match &self.0 {
            Some(snapshot) => snapshot.page(table, query, budget, after),
            None => table.page(query, budget, after),
        }
    }

    /// Returns the first row that a query finds.
    pub(super) fn first(&self, table: &DynamicTable, query: &Query) -> Result<Option<DynamicEntity>> {
        match &self.0 {
            Some(snapshot) => snapshot.query(table, query)?.next().transpose(),
            None => table.query(query)?.next().transpose(),
        }
    }
}
