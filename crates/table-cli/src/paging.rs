//! Rows page by page, each in a snapshot of its own that has gone before they are printed: so a reader that waits, or a long
//! list, keeps nothing from being used again in a store that others write to.

use std::ops::{Bound, ControlFlow};
use std::time::Duration;

use table_core::query::PageBudget;
use table_core::{Continuation, DynamicEntity, DynamicTable, Error, ErrorKind, Query, Result};

/// The most rows that are held at one time.
const ROWS: usize = 1_000;
/// About how many bytes of rows are held at one time.
const BYTES: usize = 4 << 20;
/// How long a snapshot is kept.
const SNAPSHOT: Duration = Duration::from_millis(500);

/// A row, or what is known of one that can't be read.
pub(crate) enum Found {
    Row(DynamicEntity),
    Unreadable(Unreadable),
}

/// A row that is damaged, or that takes keys which the store is open without.
pub(crate) struct Unreadable {
    pub(crate) partition: String,
    pub(crate) row: String,
    pub(crate) error: Error,
}

/// The rows that a query finds.
pub(crate) struct Pages<'q> {
    table: &'q DynamicTable,
    query: Query,
    is_reverse: bool,
    after: Option<Continuation>,
    is_over: bool,
    /// Why the rows end, once those before have been given.
    failed: Option<Error>,
    /// The row that could not be read last.
    skipped: Option<(String, String)>,
}

impl<'q> Pages<'q> {
    /// Begins at the first row.
    pub(crate) fn new(table: &'q DynamicTable, query: &Query) -> Self {
        let query = query.clone();
        Self { table, query, is_reverse: false, after: None, is_over: false, failed: None, skipped: None }
    }

    /// Begins behind a place.
    pub(crate) fn after(self, after: Option<Continuation>) -> Self {
        Self { after, ..self }
    }

    /// Reads from the last row to the first.
    pub(crate) fn reverse(self) -> Self {
        Self { query: self.query.rev(), is_reverse: !self.is_reverse, ..self }
    }

    /// Returns the rows of the next page, at most so many; `None` when there are no more. A page may be empty.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<Vec<Found>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.is_over {
            return Ok(None);
        }
        let budget = PageBudget::new(most.clamp(1, ROWS)).time(SNAPSHOT);
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        let next = self.table.page_with(&self.query, budget, self.after.as_ref(), |row| {
            let row = row.to_entity()?;
            bytes = bytes.saturating_add(row.size());
            rows.push(Found::Row(row));
            Ok::<_, Error>(if bytes >= BYTES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match next {
            Ok(next) => {
                self.is_over = next.is_none();
                self.after = next;
            }
            Err(error) => match self.skip(error) {
                Ok(unreadable) => rows.push(Found::Unreadable(unreadable)),
                Err(error) if rows.is_empty() => return Err(error),
                // What was read before is given first.
                Err(error) => self.failed = Some(error),
            },
        }
        Ok(Some(rows))
    }

    /// Returns where the next page would begin, if there is more.
    pub(crate) fn rest(&self) -> Option<&Continuation> {
        if self.is_over { None } else { self.after.as_ref() }
    }

    /// Goes on behind a row that can't be read, if that is what the error says.
    fn skip(&mut self, error: Error) -> std::result::Result<Unreadable, Error> {
        self.is_over = true;
        let may_be_of_a_row = error.kind().is_damage()
            || error.kind().is_destroyed()
            || matches!(error.kind(), ErrorKind::KeyUnavailable | ErrorKind::DecryptionFailed);
        let (Some(partition), Some(row), true) = (error.partition_key(), error.row_key(), may_be_of_a_row)
        else {
            return Err(error);
        };
        let place = (partition.to_owned(), row.to_owned());
        // It is met again: nothing behind it can be reached.
        if self.skipped.as_ref() == Some(&place) {
            return Err(error);
        }
        let behind = Bound::Excluded((partition, row));
        let unbounded = Bound::<(&str, &str)>::Unbounded;
        let rest = if self.is_reverse { (unbounded, behind) } else { (behind, unbounded) };
        self.query = self.query.clone().between(rest);
        (self.after, self.is_over) = (None, false);
        self.skipped = Some(place.clone());
        let (partition, row) = place;
        Ok(Unreadable { partition, row, error })
    }
}
