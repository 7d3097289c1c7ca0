//! Walks over rows that the service finds, a page of its answers at a time.

use std::collections::VecDeque;
use std::sync::Arc;

use table_engine::__executor::{
    self as seam, AsyncCursor, Batch, BoxFuture, PackedRow, RangeQuery, ReadSnapshot, RowBounds, RowCursor,
};
use table_engine::{ErrorKind, Result};

use super::table::TableEntry;
use super::{AzureStore, filter, marks, rings};
use crate::client::{PageOf, PageRequest};

/// The most rows of a page of the service's.
const PAGE: usize = 1_000;
/// The most properties that the service selects.
const SELECTED: usize = 255;
/// How many times as many rows as of the page before are asked for, where pages are small.
const GROWTH: usize = 8;

/// A walk.
pub(super) struct AzureCursor {
    store: Arc<AzureStore>,
    table: Arc<TableEntry>,
    asked: RangeQuery,
    /// `None` where no row can be.
    bounds: Option<RowBounds>,
    next: PageRequest,
    /// The stored key of the row that came last.
    last: Vec<u8>,
    /// How many rows are still wanted.
    left: usize,
    /// The rows of a walk from the last to the first, for which all of them are read before any is given.
    turned: Option<Turned>,
}

/// Rows that are held until the last one is known.
struct Turned {
    rows: VecDeque<PackedRow>,
    /// How many may be held.
    most: usize,
    /// How many are wanted, which are the last ones.
    wanted: usize,
}

impl Turned {
    fn push(&mut self, row: PackedRow) -> Result<()> {
        if self.rows.len() >= self.wanted {
            self.rows.pop_front();
        }
        if self.rows.len() >= self.most {
            let because = format!(
                "`.buffered({most})` lets the query hold {most} rows, and it has found more: let it hold more, or narrow it",
                most = self.most
            );
            return Err(seam::error(ErrorKind::Unsupported, because));
        }
        self.rows.push_back(row);
        Ok(())
    }
}

impl AzureCursor {
    /// Begins a walk for a caller who will take so many rows first.
    pub(super) fn new(
        store: Arc<AzureStore>,
        table: Arc<TableEntry>,
        asked: RangeQuery,
        first: usize,
    ) -> Self {
        let bounds = asked.bounds();
        let kinds = asked.kinds();
        let filter = bounds.as_ref().map(|bounds| filter::text(bounds, kinds.as_ref())).unwrap_or_default();
        let select = asked.properties().map(|names| {
            let system = [
                "PartitionKey",
                "RowKey",
                "Timestamp",
                rings::PROPERTY,
                marks::ROW,
                marks::AS_OF,
                marks::DIGEST,
            ];
            system.into_iter().chain(names).map(str::to_owned).collect::<Vec<_>>()
        });
        let select = select.filter(|select| select.len() <= SELECTED).unwrap_or_default();
        let left = asked.top().unwrap_or(usize::MAX);
        let most = asked.buffers().unwrap_or_default();
        let turned = asked.is_reverse().then(|| Turned { rows: VecDeque::new(), most, wanted: left });
        let top = Some(if turned.is_some() { PAGE } else { first.min(left).clamp(1, PAGE) });
        let next = PageRequest { filter, select, top, after: None, may_be_stale: true };
        Self { store, table, asked, bounds, next, last: Vec::new(), left, turned }
    }

    /// Puts the rows of a page into a batch that are wanted.
    fn take(&mut self, page: PageOf, batch: &mut Batch) -> Result<()> {
        let Some(bounds) = &self.bounds else { return Ok(()) };
        for row in &page.entities {
            let packed = self.table.pack(row)?;
            let view = packed.view()?;
            // What lies outside, or behind a row that lies behind it, would be told as a wrong answer of the query.
            if !bounds.holds(row.partition_key(), row.row_key()) || *view.stored_key_bytes() <= *self.last {
                let because =
                    "the service gives rows that are not in the order of their keys, or were not asked for";
                return Err(seam::error(ErrorKind::Unsupported, because));
            }
            self.last.clear();
            self.last.extend_from_slice(view.stored_key_bytes());
            if self.left > 0 && marks::row_of(row).is_none() && self.asked.wants(&view)? {
                if let Some(turned) = &mut self.turned {
                    turned.push(packed)?;
                    continue;
                }
                batch.put_packed(&packed);
                self.left -= 1;
            }
        }
        self.next.after = page.next;
        let grown = self.next.top.unwrap_or(PAGE).saturating_mul(GROWTH);
        self.next.top = Some(grown.min(PAGE));
        if self.next.after.is_none() || self.left == 0 {
            self.bounds = None;
            match self.turned {
                Some(_) => self.turn(batch),
                None => batch.end(),
            }
        }
        Ok(())
    }

    /// Gives the next rows of those that are held, from the last.
    fn turn(&mut self, batch: &mut Batch) {
        let Some(turned) = &mut self.turned else { return };
        let from = turned.rows.len().saturating_sub(PAGE);
        turned.rows.drain(from..).rev().for_each(|row| batch.put_packed(&row));
        if turned.rows.is_empty() {
            batch.end();
        }
    }

    /// Begins a batch; returns whether there is a page to be read for it.
    fn begin(&mut self, batch: &mut Batch) -> bool {
        batch.begin(0, 0);
        if self.bounds.is_some() && self.left > 0 {
            return true;
        }
        if self.turned.is_some() {
            self.turn(batch);
        } else {
            batch.end();
        }
        false
    }

    /// Returns the next page, once the service has given it.
    fn page(&self) -> impl Future<Output = Result<PageOf>> + Send + 'static {
        let (service, table) = (self.store.service.clone(), self.table.clone());
        let mut request = self.next.clone();
        let running = self.store.runner.spawn_read(async move {
            let page = service.page(&table, &request).await?;
            if request.select.is_empty() || !page.entities.iter().any(marks::is_signed) {
                return Ok(page);
            }
            // A keyed digest is over the whole row.
            request.select.clear();
            service.page(&table, &request).await
        });
        async move { running.await? }
    }

    /// Returns whether a batch lacks a row and may have one.
    fn goes_on(&self, batch: &Batch) -> bool {
        batch.is_empty() && self.bounds.is_some()
    }
}

impl RowCursor for AzureCursor {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let mut filled = Ok(());
        if self.begin(batch) {
            while filled.is_ok() && self.goes_on(batch) {
                filled =
                    table_engine::asynchronous::block_on(self.page()).and_then(|page| self.take(page, batch));
            }
        }
        batch.read_by_names(&self.table.names, &self.asked);
        filled
    }
}

impl AsyncCursor for AzureCursor {
    fn fill<'a>(&'a mut self, batch: &'a mut Batch) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let mut filled = Ok(());
            if self.begin(batch) {
                while filled.is_ok() && self.goes_on(batch) {
                    filled = self.page().await.and_then(|page| self.take(page, batch));
                }
            }
            batch.read_by_names(&self.table.names, &self.asked);
            filled
        })
    }
}
