//! How much a page may hold, and how much may be read for it.

use std::time::Duration;

use crate::limits;

/// How many entities a page may have, and how much may be read for it.
///
/// A number is the budget of a page of at most so many entities: `table.page(&query, 100, None)`. Such a page reads on
/// until it is full or nothing is left, however many rows its filter leaves out. A server can't wait for that, so the
/// other budgets end a page early. A page that was ended early may be short, even empty, and has a continuation: only a page
/// without one is the last.
///
/// Of a kind with a table for each period, rows that a filter leaves out are not counted: such a page ends
/// behind a row that the query finds.
///
/// Each page reads at least one row, whatever its budget, so that a query comes to its end. A query that merges ranges (over
/// shards, say) reads at least one of each.
///
/// ```
/// use std::time::Duration;
/// use table_core::query::PageBudget;
/// use table_core::{DynamicEntity, Query, Store, prop};
///
/// # let store = Store::temporary()?;
/// let company = store.create_table("Company")?;
/// for id in 0..50 {
///     company.insert(&DynamicEntity::new("Sales", format!("{id:06}")).with("Age", 20 + id))?;
/// }
///
/// let old = Query::new().partition("Sales").filter(prop("Age").ge(65));
/// let budget = PageBudget::new(10).rows_read(20).time(Duration::from_secs(5));
/// let (mut found, mut pages, mut after) = (0, 0, None);
/// loop {
///     let page = company.page(&old, budget, after.as_ref())?;
///     (found, pages) = (found + page.entities.len(), pages + 1);
///     after = page.next;
///     if after.is_none() {
///         break;
///     }
/// }
/// // Two pages of twenty rows, in which no entity is old enough, and the rest.
/// assert_eq!((found, pages), (5, 3));
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a budget does nothing until a page is read with it"]
pub struct PageBudget {
    rows: usize,
    rows_read: u64,
    time: Option<Duration>,
}

impl PageBudget {
    /// The most that the service takes for one answer: 1,000 entities, or five seconds.
    pub const SERVICE: Self = Self::new(limits::PAGE_ENTITIES).time(Duration::from_secs(5));

    /// Makes the budget of a page of at most so many entities, which reads as many rows as it has to. A page has at least one
    /// entity, and at most [`PAGE_ENTITIES`](limits::PAGE_ENTITIES); with any other number reading the page is
    /// [`InvalidQuery`](crate::ErrorKind::InvalidQuery).
    pub const fn new(entities: usize) -> Self {
        Self { rows: entities, rows_read: u64::MAX, time: None }
    }

    /// Ends the page when so many rows have been read, whether or not the query wants them.
    pub const fn rows_read(self, rows: u64) -> Self {
        Self { rows_read: rows, ..self }
    }

    /// Ends the page when so much time has passed since it began. The clock is looked at after the first row, and then after
    /// every 32nd.
    pub const fn time(self, time: Duration) -> Self {
        Self { time: Some(time), ..self }
    }

    /// Returns how many entities the page may have.
    #[doc(hidden)]
    pub const fn most_rows(&self) -> usize {
        self.rows
    }

    /// Returns how many rows may be read, and for how long.
    #[doc(hidden)]
    pub const fn most_reads(&self) -> (u64, Option<Duration>) {
        (self.rows_read, self.time)
    }
}

/// The budget of a page of at most so many entities.
impl From<usize> for PageBudget {
    fn from(entities: usize) -> Self {
        Self::new(entities)
    }
}
