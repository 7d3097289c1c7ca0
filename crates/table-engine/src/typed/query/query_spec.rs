//! A query without the types of its path and its step: all that it takes to run it. It is compiled once for each origin, and not
//! again for each entity.

use std::borrow::{Borrow, Cow};

use super::period_scan::PathRead;
use super::{KeyArgs, lowering};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ScanRanges;
use crate::handle::rows::BufferedScan;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::query::{Filter, Query};
use crate::typed::entity::path::PathKeys;
use crate::typed::read::blind::steadily;
use crate::typed::read::check_index_of;
use crate::typed::read::origin::AnyOrigin;

/// What is asked of a path.
#[derive(Clone)]
pub(super) struct QuerySpec<O> {
    pub(super) origin: O,
    pub(super) given: KeyArgs,
    /// What does not concern keys.
    pub(super) narrowing: Query,
}

/// What there is to say, without types, of a path whose rows are read as something.
pub(super) struct ReadSpec {
    pub(super) keys: &'static PathKeys,
    /// The query with what of its rows is wanted.
    pub(super) select: fn(Query) -> Query,
}

/// The rows of a query, or why there are none, until that is reported.
pub(super) type Begun<O> = Result<BufferedScan<<O as AnyOrigin>::SnapshotHandle>, Option<Error>>;

impl<O: AnyOrigin> QuerySpec<O> {
    pub(super) fn new(origin: &O) -> Self {
        Self { origin: origin.clone(), given: KeyArgs::default(), narrowing: Query::new() }
    }

    /// Returns what is asked, of another place to read.
    #[cfg(feature = "async")]
    pub(super) fn on<Other>(&self, origin: Other) -> QuerySpec<Other> {
        QuerySpec { origin, given: self.given.clone(), narrowing: self.narrowing.clone() }
    }

    /// Leaves out what does not pass the filter.
    pub(super) fn filter(&mut self, filter: Filter) {
        self.narrow(|query| query.filter(filter));
    }

    /// Changes what does not concern keys.
    pub(super) fn narrow(&mut self, narrow: impl FnOnce(Query) -> Query) {
        self.narrowing = narrow(std::mem::take(&mut self.narrowing));
    }

    /// Returns the table of the rows that it reads.
    pub(super) fn table(&self, keys: &'static PathKeys) -> Cow<'_, DynamicTable> {
        let table = self.origin.table();
        if keys.is_elsewhere() {
            Cow::Owned(table.member_of_family(keys.place().table.source()))
        } else {
            Cow::Borrowed(table)
        }
    }

    pub(super) fn lower(&self, wanted: &ReadSpec) -> Result<ScanRanges> {
        let narrowing = (wanted.select)(self.narrowing.clone());
        lowering::lower(wanted.keys, &self.given, narrowing, &self.table(wanted.keys))
    }

    /// Returns where the query reads. An index must be ready there.
    fn snapshot_handle(&self, keys: &'static PathKeys) -> Result<O::SnapshotHandle> {
        let hold = self.origin.snapshot_handle()?;
        let (snapshot, table): (&Snapshot, _) = (hold.borrow(), self.origin.table());
        check_index_of(keys, snapshot, table)?;
        if keys.is_own() {
            snapshot.check_rows(table, keys.schema())?;
        }
        Ok(hold)
    }

    /// Returns what the query reads, and where. By tokens it is read as if at one moment.
    pub(super) fn held(&self, wanted: &ReadSpec) -> Result<(O::SnapshotHandle, ScanRanges)> {
        let mut found = None;
        let mut read = || {
            found = Some((self.snapshot_handle(wanted.keys)?, self.lower(wanted)?));
            Ok(())
        };
        if self.given.is_blind() || self.narrowing.has_sealed() {
            steadily(self.origin.table(), &mut read)?;
        } else {
            read()?;
        }
        // It was held once at least.
        found.ok_or_else(|| Error::new(ErrorKind::KeySuperseded))
    }

    /// Returns the rows, to be decoded by the caller.
    pub(super) fn buffered_scan(&self, wanted: &ReadSpec) -> Result<BufferedScan<O::SnapshotHandle>> {
        if const { O::SPREADS }
            && let Some(spread) = self.origin.period_scan()
        {
            let hold = self.origin.snapshot_handle()?;
            let narrowing = (wanted.select)(self.narrowing.clone());
            let asked = PathRead { keys: wanted.keys, given: &self.given, narrowing };
            return BufferedScan::across(hold, self.origin.table(), |snapshot| spread.rows(snapshot, &asked));
        }
        let table = self.table(wanted.keys);
        let (snapshot, scan_ranges) =
            self.held(wanted).map_err(|e| e.attempted("query").table(table.name()))?;
        BufferedScan::new(snapshot, &table, scan_ranges)
    }

    /// Begins a scan of what the query finds; `Err` says why there is none.
    pub(super) fn begin(&self, wanted: &ReadSpec) -> Begun<O> {
        self.buffered_scan(wanted).map_err(Some)
    }
}
