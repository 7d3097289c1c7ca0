//! What an awaited call has read of a store that answers later.
//!
//! The engine's own code runs over a memo: a table that has the rows which were fetched, and fails where it is asked for another.
//! What was missed is fetched, all of it at once, and the code runs again, until nothing is missed. A call reads a few rows, so it
//! runs a few times; a closure of the user's runs when all rows are there that it is given.

use std::any::Any;
use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use super::{BoxFuture, pool};
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{
    self, AsyncBackend, AsyncCursor, Backend, Batch, InPlace, Kept, LayoutTexts, OneSnapshotForEachThread,
    PageRequest, RangeQuery, Read, ReadSnapshot, RowCursor, ScanRanges, TableExec, Take, VisitEach,
};
use crate::handle::table::DynamicTable;
use crate::model::EntityKeys;
use crate::query::{Continuation, PageBudget};
use crate::row::named::PackedRow;
use crate::row::view::RowView;
use crate::schema::{IndexMask, IndexStates, Schema};

/// What has been read for one call.
#[derive(Clone, Default)]
pub(crate) struct Memo(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    rows: HashMap<RowPlace, Result<Option<(PackedRow, usize)>>>,
    masks: HashMap<MaskPlace, Result<IndexMask>>,
    /// By the table's number and the text of what is asked.
    ranges: HashMap<(u32, String), Arc<Range>>,
    /// What else was asked of a snapshot, by its text.
    calls: HashMap<String, Result<Box<dyn Any + Send>>>,
    missed: Vec<Missed>,
}

/// The number of a table, partition key and row key.
type RowPlace = (u32, String, String);

/// The number of a table, the place of a declaration in memory, and whether it is to be written.
type MaskPlace = (u32, usize, bool);

/// What is to be fetched.
enum Missed {
    Row(Arc<dyn TableExec>, String, String),
    Mask(Arc<dyn TableExec>, &'static Schema, bool),
    Range(Arc<dyn TableExec>, Arc<Range>),
    Call(Arc<dyn TableExec>, String, Call),
}

/// What is asked of the blocking form of a store.
type Call = Box<dyn FnOnce(&dyn ReadSnapshot, &dyn TableExec) -> Result<Box<dyn Any + Send>> + Send>;

/// The rows of a range, as far as they have been read.
struct Range {
    asked: RangeQuery,
    seen: Mutex<RangeSeen>,
}

#[derive(Default)]
struct RangeSeen {
    cursor: Option<Box<dyn AsyncCursor>>,
    /// The rows as they came, batch by batch.
    batches: Vec<Vec<PackedRow>>,
    has_ended: bool,
    /// Why no more can be read.
    failed: Option<Error>,
}

impl Memo {
    /// Returns a table whose rows are those that were fetched.
    pub(crate) fn over(&self, table: &DynamicTable) -> DynamicTable {
        table.mapped(&|exec| Arc::new(MemoTable { real: exec.clone(), memo: self.clone() }))
    }

    /// Returns whether something was asked for that is not there.
    pub(crate) fn has_missed(&self) -> bool {
        !self.seen().missed.is_empty()
    }

    /// Forgets all: others have written meanwhile.
    pub(crate) fn forget(&self) {
        *self.seen() = Seen::default();
    }

    /// Fetches what was missed, all at once. What can't be fetched fails where the code asks for it again, which says in what
    /// call that was.
    pub(crate) async fn fetch(&self, backend: &dyn AsyncBackend) {
        let missed = std::mem::take(&mut self.seen().missed);
        together(missed.into_iter().map(|missed| self.fetch_one(backend, missed)).collect()).await;
    }

    fn fetch_one<'a>(&'a self, backend: &'a dyn AsyncBackend, missed: Missed) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            match missed {
                Missed::Row(table, partition, row) => {
                    let found = backend.get(&*table, &partition, &row).await;
                    self.seen().rows.insert((table.id(), partition, row), found);
                }
                Missed::Mask(table, schema, writes) => {
                    let mask = backend.index_mask(&*table, schema, writes).await;
                    self.seen().masks.insert(mask_place(&*table, schema, writes), mask);
                }
                Missed::Range(table, range) => {
                    if let Err(error) = range.read_on(backend, &*table).await {
                        range.seen().failed = Some(error);
                    }
                }
                Missed::Call(table, text, call) => {
                    let answer = pool::run(move || call(&*table.read_snapshot()?, &*table)).await;
                    self.seen().calls.insert(text, answer);
                }
            }
        })
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a row, or notes that it is missing.
    fn row(&self, table: &Arc<dyn TableExec>, keys: EntityKeys<'_>) -> Result<Option<(PackedRow, usize)>> {
        let mut seen = self.seen();
        let place = (table.id(), keys.partition.to_owned(), keys.row.to_owned());
        match seen.rows.get(&place) {
            Some(Ok(found)) => return Ok(found.clone()),
            Some(Err(error)) => return Err(error.again()),
            None => {}
        }
        let (_, partition, row) = place;
        seen.missed.push(Missed::Row(table.clone(), partition, row));
        Err(missing())
    }

    /// Returns the range of what is asked, begun once.
    fn range(&self, table: &Arc<dyn TableExec>, asked: RangeQuery) -> Arc<Range> {
        let place = (table.id(), format!("{asked:?}"));
        let range = || Arc::new(Range { asked, seen: Mutex::default() });
        self.seen().ranges.entry(place).or_insert_with(range).clone()
    }

    /// Returns what the blocking form has answered, or notes that it is to be asked.
    fn call<T: Clone + Send + 'static>(
        &self,
        table: &Arc<dyn TableExec>,
        text: String,
        call: impl FnOnce(&dyn ReadSnapshot, &dyn TableExec) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut seen = self.seen();
        match seen.calls.get(&text) {
            Some(Ok(answer)) => answer.downcast_ref::<T>().cloned().ok_or_else(missing),
            Some(Err(error)) => Err(error.again()),
            None => {
                let call: Call = Box::new(|snapshot, table| Ok(Box::new(call(snapshot, table)?)));
                seen.missed.push(Missed::Call(table.clone(), text, call));
                Err(missing())
            }
        }
    }
}

fn mask_place(table: &dyn TableExec, schema: &'static Schema, writes: bool) -> MaskPlace {
    (table.id(), std::ptr::from_ref(schema).addr(), writes)
}

/// Returns what ends a run that lacks something. It is never shown: the run is made again.
#[cold]
fn missing() -> Error {
    Error::new(ErrorKind::Io).because("a row that is to be fetched was not there after it had been fetched")
}

/// Waits for all of them, polled together.
async fn together(mut all: Vec<BoxFuture<'_, ()>>) {
    poll_fn(move |context| {
        all.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if all.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

impl Range {
    fn seen(&self) -> MutexGuard<'_, RangeSeen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the next rows.
    async fn read_on(&self, backend: &dyn AsyncBackend, table: &dyn TableExec) -> Result<()> {
        let cursor = self.seen().cursor.take();
        let mut cursor = match cursor {
            Some(cursor) => cursor,
            None => backend.cursor(table, &self.asked)?,
        };
        let mut batch = Batch::default();
        cursor.fill(&mut batch).await?;
        let (rows, has_ended) = batch.into_packed()?;
        let mut seen = self.seen();
        seen.batches.push(rows);
        (seen.cursor, seen.has_ended) = (Some(cursor), has_ended);
        Ok(())
    }
}

/// Returns what `run` makes of the table, run again as long as it misses something.
pub(crate) async fn run<T>(
    table: &DynamicTable,
    backend: &dyn AsyncBackend,
    mut run: impl FnMut(&DynamicTable) -> Result<T>,
) -> Result<T> {
    let memo = Memo::default();
    let seen = memo.over(table);
    let mut states = backend.states();
    loop {
        let done = run(&seen);
        if memo.has_missed() {
            drop(done);
            memo.fetch(backend).await;
            continue;
        }
        // Each time something of the store's kinds is another than before.
        let now = backend.states();
        if now == states {
            return done;
        }
        states = now;
        memo.forget();
    }
}

/// For tests: runs a call that blocks as one that is awaited would run, on a store that answers later; `None` elsewhere.
#[cfg(feature = "async-testing")]
pub(crate) fn forced<T>(
    table: &DynamicTable,
    call: impl FnMut(&DynamicTable) -> Result<T>,
) -> Option<Result<T>> {
    let exec: &dyn Any = table.exec();
    let backend = table.exec().store().async_backend().filter(|_| !exec.is::<MemoTable>())?;
    Some(super::block_on(run(table, backend, call)))
}

/// A table whose rows are those that were fetched.
struct MemoTable {
    real: Arc<dyn TableExec>,
    memo: Memo,
}

impl TableExec for MemoTable {
    fn table_name(&self) -> &str {
        self.real.table_name()
    }

    fn id(&self) -> u32 {
        self.real.id()
    }

    fn get(&self, keys: EntityKeys<'_>, read: Read<'_>) -> Result<bool> {
        match self.memo.row(&self.real, keys)? {
            Some((row, state)) => read(&row.view()?, state).map(|()| true),
            None => Ok(false),
        }
    }

    fn view(&self, keys: EntityKeys<'_>, take: Take<'_>) -> Result<bool> {
        match self.memo.row(&self.real, keys)? {
            Some((row, _)) => take(row.view()?).map(|()| true),
            None => Ok(false),
        }
    }

    fn declare(&self, _: &'static Schema) -> Result<()> {
        // What is opened was declared.
        Ok(())
    }

    fn index_mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        let mut seen = self.memo.seen();
        match seen.masks.get(&mask_place(self, schema, writes)) {
            Some(Ok(mask)) => return Ok(*mask),
            Some(Err(error)) => return Err(error.again()),
            None => {}
        }
        seen.missed.push(Missed::Mask(self.real.clone(), schema, writes));
        Err(missing())
    }

    fn unread(&self, schema: &'static Schema, index: usize, state: usize) -> Error {
        self.real.unread(schema, index, state)
    }

    fn store(&self) -> &dyn Backend {
        self.real.store()
    }

    #[cfg(feature = "access")]
    fn restricted(&self) -> Option<&dyn executor::RestrictedTable> {
        self.real.restricted()
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        Ok(Box::new(MemoSnapshot { memo: self.memo.clone(), kept: Kept::default(), taken: Instant::now() }))
    }
}

/// What was fetched, as a snapshot.
struct MemoSnapshot {
    memo: Memo,
    kept: Kept,
    taken: Instant,
}

impl MemoSnapshot {
    /// Returns the table itself.
    fn real<'t>(&self, table: &'t dyn TableExec) -> Result<&'t Arc<dyn TableExec>> {
        let table: &dyn Any = table;
        let own = table.downcast_ref::<MemoTable>().filter(|table| Arc::ptr_eq(&table.memo.0, &self.memo.0));
        own.map(|table| &table.real).ok_or_else(|| {
            Error::new(ErrorKind::TableNotFound).because("the table is of another call than the snapshot")
        })
    }

    fn begin(&self, table: &Arc<dyn TableExec>) -> impl FnMut(RangeQuery) -> Box<dyn RowCursor> + use<> {
        let (memo, table) = (self.memo.clone(), table.clone());
        move |asked| {
            let range = memo.range(&table, asked);
            Box::new(MemoCursor { memo: memo.clone(), table: table.clone(), range, next: 0 })
        }
    }
}

impl ReadSnapshot for MemoSnapshot {
    fn has(&self, table: &dyn TableExec) -> bool {
        self.real(table).is_ok()
    }

    fn state(&self) -> usize {
        0
    }

    fn age(&self) -> Duration {
        self.taken.elapsed()
    }

    fn get<'s>(
        &'s self,
        table: &dyn TableExec,
        keys: EntityKeys<'_>,
        _: bool,
    ) -> Result<Option<RowView<'s>>> {
        let Some((row, _)) = self.memo.row(self.real(table)?, keys)? else { return Ok(None) };
        self.kept.keep(row).ok_or_else(missing)?.view().map(Some)
    }

    fn check_index(&self, table: &dyn TableExec, schema: &'static Schema, index: usize) -> Result<()> {
        let table = self.real(table)?;
        let text = format!("index {} {} {index}", table.id(), schema.kind);
        self.memo.call(table, text, move |snapshot, table| snapshot.check_index(table, schema, index))
    }

    fn check_rows(&self, table: &dyn TableExec, schema: &'static Schema, as_stored: bool) -> Result<()> {
        let table = self.real(table)?;
        let text = format!("rows {} {} {as_stored}", table.id(), schema.kind);
        self.memo.call(table, text, move |snapshot, table| snapshot.check_rows(table, schema, as_stored))
    }

    fn follows(&self, table: &dyn TableExec, keys: EntityKeys<'_>) -> Result<bool> {
        let (table, EntityKeys { partition, row }) = (self.real(table)?, keys);
        let text = format!("follows {} {partition:?} {row:?}", table.id());
        let (partition, row) = (partition.to_owned(), row.to_owned());
        self.memo.call(table, text, move |snapshot, table| {
            snapshot.follows(table, EntityKeys::new(&partition, &row))
        })
    }

    fn digest(&self, table: &dyn TableExec, partition: &str, prefix: &str) -> Result<u64> {
        let table = self.real(table)?;
        let text = format!("digest {} {partition:?} {prefix:?}", table.id());
        let (partition, prefix) = (partition.to_owned(), prefix.to_owned());
        self.memo.call(table, text, move |snapshot, table| snapshot.digest(table, &partition, &prefix))
    }

    fn content(&self, _: BlobId, _: usize) -> Result<Vec<u8>> {
        Err(Error::new(ErrorKind::Unsupported).because("the store keeps no blobs"))
    }

    fn layouts(&self, table: &dyn TableExec) -> Result<LayoutTexts> {
        let table = self.real(table)?;
        let layouts = <dyn ReadSnapshot>::layouts;
        self.memo.call(table, format!("layouts {}", table.id()), layouts)
    }

    fn index_states(&self, table: &dyn TableExec, kind: &str) -> Result<Option<IndexStates>> {
        let (table, kind) = (self.real(table)?, kind.to_owned());
        let text = format!("states {} {kind:?}", table.id());
        self.memo.call(table, text, move |snapshot, table| snapshot.index_states(table, &kind))
    }

    fn cursors(&self, table: &dyn TableExec, scan_ranges: &ScanRanges) -> Result<Vec<Box<dyn RowCursor>>> {
        let table = self.real(table)?;
        executor::cursors(scan_ranges, table.id(), &mut self.begin(table))
    }

    fn views<'s>(
        &'s self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
    ) -> Result<Box<dyn InPlace<'s> + 's>> {
        let table = self.real(table)?;
        executor::views(self, &self.kept, scan_ranges, table.id(), &mut self.begin(table))
    }

    fn page(
        &self,
        table: &dyn TableExec,
        scan_ranges: ScanRanges,
        budget: PageBudget,
        after: Option<&Continuation>,
        each: VisitEach<'_>,
    ) -> Result<Option<Continuation>> {
        let table = self.real(table)?;
        let store = table.store().async_backend().map_or(0, AsyncBackend::identity);
        let request = PageRequest { table: table.id(), store, budget, after };
        executor::page(self, scan_ranges, request, &mut self.begin(table), each)
    }
}

/// The rows of a range that were fetched.
struct MemoCursor {
    memo: Memo,
    table: Arc<dyn TableExec>,
    range: Arc<Range>,
    /// The batch that comes next.
    next: usize,
}

impl RowCursor for MemoCursor {
    fn fill(&mut self, _: &dyn ReadSnapshot, batch: &mut Batch) -> Result<()> {
        let seen = self.range.seen();
        let Some(rows) = seen.batches.get(self.next) else {
            if let Some(error) = &seen.failed {
                return Err(error.again());
            }
            if seen.has_ended {
                batch.end();
                return Ok(());
            }
            self.memo.seen().missed.push(Missed::Range(self.table.clone(), self.range.clone()));
            return Err(missing());
        };
        self.next += 1;
        batch.put_all(rows, &self.range.asked);
        if seen.has_ended && self.next == seen.batches.len() {
            batch.end();
        }
        Ok(())
    }
}
