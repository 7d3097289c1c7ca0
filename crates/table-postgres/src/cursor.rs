//! Cursors: the rows of a range, a page at a time.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use table_engine::__executor::{self as executor, Batch, RangeQuery, ReadSnapshot, RowCursor};
use table_engine::{ErrorKind, Result};
use tokio_postgres::Row;

use crate::bounds::Bounds;
use crate::catalog::column;
use crate::connection::Call;
use crate::keys::unescape;
use crate::param::Params;
use crate::snapshot::PostgresSnapshot;
use crate::store::PostgresStore;
use crate::table::TableEntry;

/// The most rows of the first page; and of each later one, since who reads on mostly reads all.
const FIRST: usize = 128;
const LATER: usize = 1_024;

/// A cursor over the rows of a range.
pub(crate) struct PostgresCursor {
    asked: RangeQuery,
    table: Arc<TableEntry>,
    /// What is not read yet; `None` if nothing is left.
    rest: Option<Bounds>,
    /// The stored key and the key of the partition that all rows lie in, if they lie in one.
    partition: Option<(String, String)>,
    is_later: bool,
    first: FirstPage,
}

/// A first page that is read with those of other cursors.
type FirstPage = Arc<Mutex<Option<Vec<Row>>>>;

/// The first pages of the cursors of one query.
#[derive(Default)]
pub(crate) struct FirstPages {
    pub(crate) calls: Vec<Call>,
    places: Vec<FirstPage>,
}

impl FirstPages {
    pub(crate) fn add(&mut self, cursor: &PostgresCursor) {
        if let Some((call, _)) = cursor.page() {
            self.calls.push(call);
            self.places.push(cursor.first.clone());
        }
    }

    /// Gives each cursor its page.
    pub(crate) fn give(self, answers: Vec<Vec<Row>>) {
        for (place, rows) in self.places.iter().zip(answers) {
            *place.lock().unwrap_or_else(PoisonError::into_inner) = Some(rows);
        }
    }
}

impl PostgresCursor {
    pub(crate) fn new(asked: RangeQuery, table: Arc<TableEntry>) -> Self {
        let rest = asked.bounds().map(|bounds| Bounds::of(&bounds));
        let of_all = rest.as_ref().and_then(Bounds::partition);
        let partition = of_all.map(|stored| (stored.to_owned(), unescape(stored).into_owned()));
        Self { asked, table, rest, partition, is_later: false, first: FirstPage::default() }
    }

    /// Returns the statement that reads the next page, and how many rows that has at most; `None` if no row is left.
    pub(crate) fn page(&self) -> Option<(Call, usize)> {
        let mut params = Params::default();
        let (mut condition, order) = self.rest.as_ref()?.condition(&mut params);
        if let Some(kinds) = self.asked.kinds() {
            let first = params.add(kinds.first().into());
            let later = params.add(kinds.later().into());
            // The texts of later versions begin so, and no other text does that `@` stands in.
            condition += &format!(" AND (kind = {first} OR starts_with(kind, {later}))");
        }
        let mut most = if self.is_later { LATER } else { FIRST };
        if let (Some(top), false) = (self.asked.top(), self.asked.is_filtered()) {
            most = most.min(top.max(1));
        }
        let direction = if self.asked.is_reverse() { " DESC" } else { "" };
        let order: Vec<_> = order.iter().map(|column| format!("{column}{direction}")).collect();
        // What all rows have is not sent with each.
        let partition = if self.partition.is_some() { "NULL" } else { "pk" };
        let sql = format!(
            "SELECT rk, ts, kind, body, {partition} FROM {} WHERE {condition} ORDER BY {} LIMIT {most}",
            self.table.rows,
            order.join(", ")
        );
        Some((Call { sql, params }, most))
    }

    /// Puts the rows of a page into a batch, and goes on behind it. `most` is how many rows the page has if there may be more.
    pub(crate) fn take(
        &mut self,
        store: &PostgresStore,
        rows: &[Row],
        most: usize,
        batch: &mut Batch,
    ) -> Result<()> {
        self.is_later = true;
        let mut packer = self.table.packer();
        for row in rows {
            let key = unescape(column(row, 0)?);
            let found = match &self.partition {
                Some((_, partition)) => packer.pack(partition, &key, row, 1)?,
                None => packer.pack(&unescape(column(row, 4)?), &key, row, 1)?,
            };
            let view = found.view()?;
            store.clock.observe(column(row, 1)?);
            if self.asked.wants(&view)? {
                batch.put_packed(found);
            }
        }
        let Some(last) = rows.last().filter(|_| rows.len() >= most) else {
            self.rest = None;
            batch.end();
            return Ok(());
        };
        let row = column(last, 0)?;
        let partition = match &self.partition {
            Some((stored, _)) => stored.clone(),
            None => column(last, 4)?,
        };
        if let Some(rest) = &mut self.rest {
            if self.asked.is_reverse() {
                rest.end_before(partition, row);
            } else {
                rest.begin_behind(partition, row);
            }
        }
        Ok(())
    }

    /// Says how the rows of a batch are read.
    pub(crate) fn finish(&self, batch: &mut Batch) {
        batch.read_by_names(self.table.names(), &self.asked);
    }

    fn read_on(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let snapshot: &dyn Any = snapshot;
        let foreign = || executor::error(ErrorKind::TableNotFound, "the snapshot is of another store");
        let snapshot: &PostgresSnapshot = snapshot.downcast_ref().ok_or_else(foreign)?;
        // Of a page no row may be wanted.
        while batch.is_empty() {
            let Some((call, most)) = self.page() else {
                batch.end();
                return Ok(());
            };
            let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
            let rows = match first {
                Some(rows) => rows,
                None => snapshot.read(call)?,
            };
            let has_ended = rows.len() < most;
            self.take(snapshot.store(), &rows, most, batch)?;
            if has_ended {
                return Ok(());
            }
        }
        Ok(())
    }
}

impl RowCursor for PostgresCursor {
    fn fill(&mut self, snapshot: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        batch.begin(0, 0);
        let filled = self.read_on(snapshot, batch);
        self.finish(batch);
        filled
    }
}
