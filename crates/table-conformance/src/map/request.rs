//! Walks over rows that are found as a service finds them: by texts, of which this knows no more than a service does.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use table_engine::__executor::{
    self as executor, Batch, RangeQuery, ReadSnapshot, RowBound, RowBounds, RowCursor,
};
use table_engine::schema::RowKinds;
use table_engine::{Result, Value};

use super::table::pack;
use super::{MapStore, Row, TableEntry};

/// What a service is asked for.
struct Request {
    bounds: Option<RowBounds>,
    kinds: Option<RowKinds>,
    properties: Option<Vec<String>>,
    top: Option<usize>,
}

impl Request {
    fn of(asked: &RangeQuery) -> Self {
        let properties = asked.properties().map(|names| names.into_iter().map(str::to_owned).collect());
        Self { bounds: asked.bounds(), kinds: asked.kinds(), properties, top: asked.top() }
    }

    fn finds(&self, row: &Row) -> bool {
        let Some(bounds) = &self.bounds else { return false };
        let is_in =
            is_beyond(&bounds.lower, row, Ordering::Greater) && is_beyond(&bounds.upper, row, Ordering::Less);
        let kind = row.properties.get("EntityType").and_then(Value::as_str);
        is_in && self.kinds.as_ref().is_none_or(|kinds| kind.is_some_and(|kind| kinds.hold(kind)))
    }

    /// Returns the row with the properties that are asked for.
    fn select(&self, row: &Row) -> Row {
        let is_selected =
            |name: &str| self.properties.as_ref().is_none_or(|names| names.iter().any(|own| own == name));
        let selected = row.properties.iter().filter(|(name, _)| is_selected(name));
        let properties = selected.map(|(name, value)| (name.clone(), value.clone())).collect();
        Row { partition: row.partition.clone(), row: row.row.clone(), timestamp: row.timestamp, properties }
    }
}

/// Compares keys as the service does.
fn is_beyond(end: &RowBound, row: &Row, side: Ordering) -> bool {
    let order = |text: &str, end: &str| text.encode_utf16().cmp(end.encode_utf16());
    let is_in = |text: &str, bound: &Bound<String>| match bound {
        Bound::Unbounded => true,
        Bound::Included(end) => order(text, end) != side.reverse(),
        Bound::Excluded(end) => order(text, end) == side,
    };
    let is_at_end = matches!(&end.partition, Bound::Included(partition) if *partition == row.partition);
    if is_at_end { is_in(&row.row, &end.row) } else { is_in(&row.partition, &end.partition) }
}

/// A walk over the rows that a service would give, a page at a time.
pub(super) struct RequestWalk {
    asked: RangeQuery,
    request: Request,
    store: Arc<MapStore>,
    table: Arc<TableEntry>,
    /// The key of the row that was looked at last.
    last: Option<Vec<u8>>,
    /// How many rows have been given.
    given: usize,
}

impl RequestWalk {
    pub(super) fn new(asked: RangeQuery, store: Arc<MapStore>, table: Arc<TableEntry>) -> Self {
        assert!(!asked.is_reverse(), "rows are wanted from the last to the first");
        Self { request: Request::of(&asked), asked, store, table, last: None, given: 0 }
    }

    fn read_on(&mut self, batch: &mut Batch) -> Result<()> {
        // Each page is of what is there when it is read.
        let (rows, _) = self.store.now();
        let start = executor::stored_table(self.table.id);
        let from = self.last.clone().map_or_else(|| Bound::Included(start.clone()), Bound::Excluded);
        let of_table = rows.range((from, Bound::Unbounded)).take_while(|(key, _)| key.starts_with(&start));
        let mut ahead = of_table.filter(|(_, row)| self.request.finds(row));
        while batch.len() < self.store.page {
            let next = ahead.next().filter(|_| self.request.top.is_none_or(|top| self.given < top));
            let Some((key, row)) = next else {
                batch.end();
                break;
            };
            self.last = Some(key.clone());
            let packed = pack(&self.table, &self.request.select(row))?;
            if self.asked.wants(&packed.view()?)? {
                batch.put_packed(&packed);
                self.given += 1;
            }
        }
        Ok(())
    }
}

impl RowCursor for RequestWalk {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        batch.begin(0, 0);
        let filled = self.read_on(batch);
        batch.read_by_names(&self.table.names, &self.asked);
        filled
    }
}
