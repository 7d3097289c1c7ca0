//! Where reads look: at a table as it is now, or in a snapshot.

use std::borrow::Borrow;
use std::fmt;

use crate::error::Result;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::typed::query::PeriodScan;

/// Where a query looks, whether it blocks there or is awaited.
pub trait AnyOrigin: Clone + sealed::Sealed {
    /// What the answer holds while it is read.
    #[doc(hidden)]
    type SnapshotHandle: Borrow<Snapshot>;

    #[doc(hidden)]
    fn table(&self) -> &DynamicTable;

    #[doc(hidden)]
    fn snapshot_handle(&self) -> Result<Self::SnapshotHandle>;

    /// Whether it looks at the tables of periods.
    #[doc(hidden)]
    const SPREADS: bool = false;

    /// Returns which tables of periods it looks at.
    #[doc(hidden)]
    fn period_scan(&self) -> Option<&PeriodScan> {
        None
    }
}

/// Where a query looks: [`DynamicTable`] is the table at the moment when the query begins to run; [`TableIn`] a table in
/// a snapshot, [`InPeriodRange`](crate::typed::InPeriodRange) the tables of periods. The query blocks while it runs.
#[diagnostic::on_unimplemented(
    message = "a query of a table whose calls are awaited does not block",
    label = "end it by `.stream()`, or by `.first().await`, `.count().await`, `.page(..).await`",
    note = "`for` and iterators block: `while let Some(entity) = stream.try_next().await? {{ .. }}` goes through a stream"
)]
pub trait Origin: AnyOrigin {}

#[diagnostic::do_not_recommend]
impl Origin for DynamicTable {}
#[diagnostic::do_not_recommend]
impl Origin for TableIn<'_> {}
#[diagnostic::do_not_recommend]
impl Origin for crate::typed::periods::InPeriodRange {}
#[diagnostic::do_not_recommend]
impl Origin for crate::typed::periods::InPeriodRangeAt<'_> {}

mod sealed {
    pub trait Sealed {}
    #[cfg(feature = "async")]
    impl Sealed for crate::asynchronous::AsyncDynamicTable {}
    impl Sealed for crate::handle::table::DynamicTable {}
    impl Sealed for super::TableIn<'_> {}
    impl Sealed for crate::typed::periods::InPeriodRange {}
    impl Sealed for crate::typed::periods::InPeriodRangeAt<'_> {}
}

impl AnyOrigin for DynamicTable {
    type SnapshotHandle = Snapshot;

    fn table(&self) -> &DynamicTable {
        self
    }

    fn snapshot_handle(&self) -> Result<Snapshot> {
        self.snapshot()
    }
}

/// A table in a snapshot, as where a query looks.
#[derive(Clone)]
pub struct TableIn<'s> {
    table: DynamicTable,
    snapshot: &'s Snapshot,
}

impl<'s> TableIn<'s> {
    pub(crate) fn new(table: DynamicTable, snapshot: &'s Snapshot) -> Self {
        Self { table, snapshot }
    }

    pub(crate) fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }
}

impl<'s> AnyOrigin for TableIn<'s> {
    type SnapshotHandle = &'s Snapshot;

    fn table(&self) -> &DynamicTable {
        &self.table
    }

    fn snapshot_handle(&self) -> Result<&'s Snapshot> {
        Ok(self.snapshot)
    }
}

impl fmt::Debug for TableIn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableIn").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
