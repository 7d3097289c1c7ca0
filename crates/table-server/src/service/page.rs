//! A page of what a query finds.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use table_core::asynchronous::{AsyncDynamicTable, Reads};
use table_core::odata::Writer;
use table_core::query::PageBudget;
use table_core::{Continuation, Error, Query, Result};

/// How long the text of a page grows, beside its last entity.
const PAGE_BYTES: usize = 4 << 20;
/// How many rows are read by the task itself. A filter that finds little may read for seconds, while all else that the task's
/// thread has to do would wait.
const ROWS_AT_ONCE: u64 = 2_048;

/// A page that is asked for.
pub(super) struct Page {
    pub(super) query: Query,
    pub(super) writer: Writer,
    /// How many entities it may have, or 0 for none: it is read as one of one then, so that it is refused as others are.
    pub(super) size: usize,
    /// How long it may take.
    pub(super) time: Duration,
}

/// What was read of a page.
struct Found {
    text: Vec<u8>,
    entities: usize,
    next: Option<Continuation>,
}

impl Page {
    /// Reads the page from where another one has ended, if there was one. Returns its text, and where the next one begins.
    pub(super) async fn read(
        self,
        table: AsyncDynamicTable,
        after: Option<Continuation>,
    ) -> Result<(Vec<u8>, Option<Continuation>)> {
        let began = Instant::now();
        let page = Arc::new(self);
        let budget = PageBudget::new(page.size.max(1)).time(page.time);
        let mut found = page.find(&table, budget.rows_read(ROWS_AT_ONCE), after.clone()).await?;
        let is_full = found.entities >= page.size || found.text.len() >= PAGE_BYTES;
        if found.next.is_some() && !is_full && began.elapsed() < page.time {
            // On a thread of the pool, and from the start: all of a page is of one state of the table.
            found = page.find(&table.reads(Reads::Spawned), budget, after).await?;
        }
        Ok((found.text, found.next))
    }

    /// Reads as much of the page as a budget permits.
    async fn find(
        self: &Arc<Self>,
        table: &AsyncDynamicTable,
        budget: PageBudget,
        after: Option<Continuation>,
    ) -> Result<Found> {
        let asked = self.clone();
        let read = table.read(move |table| {
            let (mut text, mut entities) = (Vec::with_capacity(4096), 0);
            let mut page = asked.writer.page(&mut text);
            let next = table.page_with(&asked.query, budget, after.as_ref(), |row| {
                if asked.size == 0 {
                    return Ok(ControlFlow::Break(()));
                }
                page.entity(row)?;
                entities += 1;
                let is_full = page.bytes() >= PAGE_BYTES;
                Ok::<_, Error>(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            page.finish();
            Ok(Found { text, entities, next })
        });
        read.await
    }
}
