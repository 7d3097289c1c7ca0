//! Views of the store at one moment.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::answer_page::Page;
use super::rows::{SnapshotRows, Views};
use super::shared::Shared;
use super::store::Store;
use super::table::DynamicTable;
use crate::error::{Error, ErrorKind, Result};
use crate::model::DynamicEntity;
use crate::query::{Continuation, Query};
use crate::store::lmdb::ReadTxn;
use crate::store::opened::Inner;
use crate::store::opened::live::Ticket;
use crate::store::records::catalog::TableState;
use crate::store::row::view::RowView;
use crate::store::scan::lanes::Lanes;
use crate::store::scan::{Scan, read};

/// All tables as they were at one moment.
///
/// What is read through one snapshot belongs together, over several tables too. It never waits for a writer nor
/// holds one up, and it can move to another thread.
///
/// **Don't keep it for long.** While it lives, no space that becomes free is used again, so the file grows with every
/// change, up to the [`map_size`](crate::OpenOptions::map_size): 12 MiB of data have become a file of 574 MiB in 45
/// seconds. What is free again afterwards is used, and only a compacted copy gives it back to the disk. The same holds
/// for iterators, and for the snapshots of other processes. [`Store::stats`] tells what is held back and by whom,
/// [`Store::snapshots`] lists those of this process.
///
/// ```
/// # use table_core::{DynamicEntity, Query, Store};
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let company = store.create_table("Company")?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000001"))?;
///
/// let snapshot = store.snapshot()?;
/// company.insert(&DynamicEntity::new("Sales", "empid_000002"))?;
/// assert_eq!(snapshot.query(&company, &Query::new().partition("Sales"))?.count(), 1);
/// assert_eq!(company.query(&Query::new().partition("Sales"))?.count(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Snapshot {
    // Fields drop in this order: the transaction before the environment it belongs to.
    txn: ReadTxn<'static>,
    inner: Arc<Shared>,
    ticket: Ticket,
}

impl Snapshot {
    pub(crate) fn new(inner: &Arc<Shared>) -> Result<Self> {
        inner.writer.check_running()?;
        let txn = inner.environment.static_read_txn()?;
        let ticket = inner.live.register(txn.id());
        Ok(Self { txn, inner: inner.clone(), ticket })
    }

    pub(crate) fn parts(&self) -> (&Inner, &ReadTxn<'static>) {
        (&self.inner, &self.txn)
    }

    /// The entity of these keys, or `None`.
    pub fn get(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<DynamicEntity>> {
        let found = self.view(table, partition_key, row_key)?;
        found
            .map(|view| view.to_entity().map_err(|e| e.attempted("read from").table(table.name())))
            .transpose()
    }

    /// The entity of these keys as a view into the snapshot.
    pub fn view(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<RowView<'_>>> {
        self.find(table, (partition_key, row_key), read::get)
    }

    /// The same without a look at its keyed digest.
    pub(crate) fn view_unverified(
        &self,
        table: &DynamicTable,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<RowView<'_>>> {
        self.find(table, (partition_key, row_key), read::get_unverified)
    }

    /// The row of these keys, as `read` finds it.
    fn find<'s>(
        &'s self,
        table: &DynamicTable,
        keys: (&str, &str),
        read: impl FnOnce(&Inner, &'s heed::RoTxn<'_>, &TableState, (&str, &str)) -> Result<Option<RowView<'s>>>,
    ) -> Result<Option<RowView<'s>>> {
        read(&self.inner, &self.txn, self.table(table)?, keys)
            .map_err(|e| e.attempted("read from").table(table.name()).partition(keys.0).row(keys.1))
    }

    /// The entities that the query finds, in order.
    pub fn query(&self, table: &DynamicTable, query: &Query) -> Result<SnapshotRows<'_>> {
        self.views(table, query).map(SnapshotRows::new)
    }

    /// The entities that the query finds, in order, as views into the snapshot: the quickest way to read many.
    pub fn views(&self, table: &DynamicTable, query: &Query) -> Result<Views<'_>> {
        self.views_of(table, query.clone().into())
    }

    /// The rows of these lanes.
    pub(crate) fn views_of(&self, table: &DynamicTable, lanes: Lanes) -> Result<Views<'_>> {
        Views::new(&self.inner, &self.txn, self.table(table)?, lanes)
            .map_err(|e| e.attempted("query").table(table.name()))
    }

    /// A page of what the query finds: at most `size` entities, 1,000 at most, from the start or from where
    /// another page ended.
    pub fn page(
        &self,
        table: &DynamicTable,
        query: &Query,
        size: usize,
        after: Option<&Continuation>,
    ) -> Result<Page> {
        self.page_by(table, query.clone().into(), size, after, Scan::entity)
    }

    /// A page of what `decode` makes of the rows.
    pub(crate) fn page_by<T>(
        &self,
        table: &DynamicTable,
        lanes: Lanes,
        size: usize,
        after: Option<&Continuation>,
        decode: impl Fn(&Scan, &RowView<'_>) -> Result<T>,
    ) -> Result<Page<T>> {
        Page::read(self, self.table(table)?, lanes, size, after, decode)
            .map_err(|e| e.attempted("query").table(table.name()))
    }

    /// The number of the store's state that it sees: that of the last transaction.
    pub(crate) fn state(&self) -> usize {
        self.txn.id()
    }

    /// How long the snapshot has lived.
    pub fn age(&self) -> Duration {
        self.ticket.age()
    }

    /// The table's state, if it is one of this store's.
    pub(crate) fn table<'t>(&self, table: &'t DynamicTable) -> Result<&'t Arc<TableState>> {
        if std::ptr::eq(table.inner(), Arc::as_ptr(&self.inner)) {
            Ok(table.state())
        } else {
            Err(Error::new(ErrorKind::InvalidQuery)
                .because("the table is of another store than the snapshot")
                .attempted("read from")
                .table(table.name()))
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("age", &self.age()).finish_non_exhaustive()
    }
}

/// A snapshot, or an iterator with one of its own, that lives in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotInfo {
    /// Since when it lives.
    pub age: Duration,
    /// The number of the last transaction that it sees.
    pub transaction: usize,
}

impl Store {
    /// The snapshots that live in this process, the oldest first: what keeps the store from using space again.
    pub fn snapshots(&self) -> Vec<SnapshotInfo> {
        let info =
            |(taken, transaction): (Instant, usize)| SnapshotInfo { age: taken.elapsed(), transaction };
        self.inner.live.all().into_iter().map(info).collect()
    }
}
