//! Reads that lend rows to a closure.

use std::borrow::Borrow;

use super::row::{Row, Visited, Visitor};
use super::rows::BufferedScan;
use super::snapshot::Snapshot;
use super::table::DynamicTable;
use crate::error::Result;
use crate::executor::{ScanRanges, telemetry};
use crate::query::{Continuation, PageBudget, Query};
use crate::row::selection::Selection;
use crate::row::view::RowView;

impl DynamicTable {
    /// Returns what the closure makes of the row of these keys, which it is lent in place; `None` if there is none.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Store, ValueRef};
    ///
    /// # let store = Store::temporary()?;
    /// let company = store.create_table("Company")?;
    /// company.insert(&DynamicEntity::new("Sales", "1").with("Name", "Jones").with("Age", 34))?;
    ///
    /// let age = company.get_with("Sales", "1", |row| row.get("Age").and_then(ValueRef::as_i32))?;
    /// assert_eq!(age, Some(Some(34)));
    /// assert_eq!(company.get_with("Sales", "2", |row| row.etag())?, None);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn get_with<T>(
        &self,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(&Row<'_>) -> T,
    ) -> Result<Option<T>> {
        let mut read = Some(read);
        let made = self.get_by(partition_key, row_key, |view| {
            read.take().map(|read| Row::lend(&Selection::ALL, view, read)).transpose()
        })?;
        Ok(made.flatten())
    }

    /// Lends the closure each row that the query finds, in order, of a snapshot that is taken now: the quickest way to read
    /// many rows without a struct. It stops where the closure says so, by a [`ControlFlow`](std::ops::ControlFlow) or an error.
    ///
    /// The snapshot lives as long as the closure runs; see [`Snapshot`] on what that means for the file.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use table_core::{DynamicEntity, Query, Store, ValueRef};
    ///
    /// # let store = Store::temporary()?;
    /// let company = store.create_table("Company")?;
    /// for id in 1..=5 {
    ///     company.insert(&DynamicEntity::new("Sales", format!("{id}")).with("Salary", 1_000 * id))?;
    /// }
    ///
    /// let (mut sum, mut last) = (0, String::new());
    /// company.query_with(&Query::new().partition("Sales"), |row| {
    ///     sum += row.get("Salary").and_then(ValueRef::as_i64).unwrap_or(0);
    ///     last = row.row_key().to_owned();
    ///     if sum > 5_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!((sum, &*last), (6_000, "3"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn query_with<V: Visited>(
        &self,
        query: &Query,
        each: impl FnMut(&Row<'_>) -> V,
    ) -> Result<(), V::Error> {
        visit_all(self.snapshot().map_err(|e| e.attempted("query")), self, query, each)
    }

    /// Lends the closure the rows of a page, and returns where the next page starts, if there is more: what
    /// [`page`](Self::page) does, without an entity for each row.
    ///
    /// Where the closure stops, the page ends behind the row that it was lent last: what the closure has seen of a row counts as
    /// taken, whatever it made of it. An error of the closure's is returned in place of the continuation.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use table_core::{DynamicEntity, Query, Store};
    ///
    /// # let store = Store::temporary()?;
    /// let company = store.create_table("Company")?;
    /// for id in 1..=9 {
    ///     company.insert(&DynamicEntity::new("Sales", format!("{id}")).with("Notes", "x".repeat(40)))?;
    /// }
    ///
    /// // An answer of about a hundred bytes, or of a thousand rows.
    /// let (query, mut answer) = (Query::new().partition("Sales"), Vec::new());
    /// let next = company.page_with(&query, 1_000, None, |row| {
    ///     for (_, value) in row.properties() {
    ///         answer.extend_from_slice(value.as_str().unwrap_or_default().as_bytes());
    ///     }
    ///     if answer.len() > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!(answer.len(), 120);
    /// let rest = company.page(&query, 1_000, next.as_ref())?;
    /// assert_eq!(rest.entities[0].row_key(), "4");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn page_with<V: Visited>(
        &self,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
        each: impl FnMut(&Row<'_>) -> V,
    ) -> Result<Option<Continuation>, V::Error> {
        let snapshot = self.exec().read_snapshot().map_err(|e| e.attempted("query").table(self.name()))?;
        Snapshot::new(snapshot).page_with(self, query, budget, after, each)
    }
}

impl Snapshot {
    /// Returns what the closure makes of the row of these keys, as [`DynamicTable::get_with`] does.
    pub fn get_with<T>(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
        read: impl FnOnce(&Row<'_>) -> T,
    ) -> Result<Option<T>> {
        let Some(view) = self.view(table, partition_key, row_key)? else { return Ok(None) };
        let made = Row::lend(&Selection::ALL, &view, read);
        made.map(Some).map_err(|e| e.attempted("read from").table(table.name()))
    }

    /// Lends the closure each row that the query finds, in order, as [`DynamicTable::query_with`] does.
    pub fn query_with<V: Visited>(
        &self,
        table: &DynamicTable,
        query: &Query,
        each: impl FnMut(&Row<'_>) -> V,
    ) -> Result<(), V::Error> {
        visit_all(self.check_table(table).map(|()| self), table, query, each)
    }

    /// Lends the closure the rows of a page, as [`DynamicTable::page_with`] does.
    pub fn page_with<V: Visited>(
        &self,
        table: &DynamicTable,
        query: &Query,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
        each: impl FnMut(&Row<'_>) -> V,
    ) -> Result<Option<Continuation>, V::Error> {
        let (mut visitor, mut running) = (Visitor::new(each), telemetry::query(table.exec()));
        let mut returned = 0;
        let mut each = |selection: &Selection, view: &RowView<'_>| {
            returned += 1;
            visitor.visit(selection, view)
        };
        let read = {
            let _entered = running.enter();
            self.visit_page(table, query.clone().into(), budget.into(), after, &mut each)
        };
        running.add(returned);
        visitor.done(read)
    }
}

/// Lends each row that a query finds in a snapshot.
fn visit_all<S: Borrow<Snapshot>, V: Visited>(
    snapshot: Result<S>,
    table: &DynamicTable,
    query: &Query,
    each: impl FnMut(&Row<'_>) -> V,
) -> Result<(), V::Error> {
    let mut rows = BufferedScan::new(snapshot?, table, ScanRanges::from(query.clone()))?;
    let mut visitor = Visitor::new(each);
    let read = loop {
        match rows.next_by(|reading, view| visitor.visit(reading.selection, view)) {
            Some(Ok(flow)) if flow.is_continue() => {}
            Some(Err(error)) => break Err(error),
            None | Some(Ok(_)) => break Ok(()),
        }
    };
    visitor.done(read)
}
