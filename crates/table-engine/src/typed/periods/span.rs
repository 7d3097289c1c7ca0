//! Queries over periods.

use std::fmt;
use std::ops::{Deref, RangeBounds};
use std::sync::Arc;

use super::template::Template;
use super::times::{Span, Time, Times, span};
use super::{Periods, PeriodsShared};
use crate::error::{Error, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::typed::entity::InPeriods;
use crate::typed::query::{OwnRows, PathQuery, PeriodScan};
use crate::typed::read::key::{Key, Lookup};
use crate::typed::read::origin::AnyOrigin;
use crate::typed::table::Table;

/// The tables of periods at the moment when a query begins to run, as where it looks.
#[derive(Clone)]
pub struct InPeriodRange {
    table: DynamicTable,
    spread: PeriodScan,
}

/// The tables of periods in a snapshot, as where a query looks.
#[derive(Clone)]
pub struct InPeriodRangeAt<'s> {
    of: InPeriodRange,
    snapshot: &'s Snapshot,
}

impl AnyOrigin for InPeriodRange {
    type SnapshotHandle = Snapshot;

    fn table(&self) -> &DynamicTable {
        &self.table
    }

    fn snapshot_handle(&self) -> Result<Snapshot> {
        self.table.snapshot()
    }

    const SPREADS: bool = true;

    fn period_scan(&self) -> Option<&PeriodScan> {
        Some(&self.spread)
    }
}

impl<'s> AnyOrigin for InPeriodRangeAt<'s> {
    type SnapshotHandle = &'s Snapshot;

    fn table(&self) -> &DynamicTable {
        &self.of.table
    }

    fn snapshot_handle(&self) -> Result<&'s Snapshot> {
        Ok(self.snapshot)
    }

    const SPREADS: bool = true;

    fn period_scan(&self) -> Option<&PeriodScan> {
        Some(&self.of.spread)
    }
}

impl PeriodsShared {
    /// Returns a stand-in for all tables, which has no rows: what is declared of them, and their store.
    #[inline]
    pub(crate) fn template(self: &Arc<Self>) -> DynamicTable {
        DynamicTable::new(Arc::new(Template(self.clone())))
    }

    #[inline]
    fn in_span(self: &Arc<Self>, span: Span) -> InPeriodRange {
        InPeriodRange { table: self.template(), spread: PeriodScan::new(self.clone(), span) }
    }

    fn during<T: Time + Copy>(self: &Arc<Self>, range: &impl RangeBounds<T>) -> Result<InPeriodRange> {
        let span = span(range).map_err(|error: Error| error.attempted("query").table(self.tables.source))?;
        Ok(self.in_span(span))
    }
}

impl<E: InPeriods> Periods<E> {
    /// Returns the entities of these times: the entity's queries are methods of what comes back. Tables of other periods are
    /// not looked at, and of those at the ends the entities of these times alone are given: the times bound the keys where
    /// they come next in them, and are a filter elsewhere, as [`explain`](PathQuery::explain) says. All is read in one
    /// snapshot, in the order of the keys.
    ///
    /// ```
    /// # use table_core::{Entity, Store, Ticks};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Logins{at:%Y%m%d}", kind = "login")]
    /// # #[key(partition = "{user}", row = "{at:ticks}")]
    /// # struct Login { user: String, at: Ticks }
    /// # let store = Store::temporary()?;
    /// # let at = |text: &str| text.parse::<Ticks>().unwrap();
    /// let logins = store.periods::<Login>()?;
    /// for day in ["2014-07-29T09:00", "2014-07-30T09:00", "2014-07-31T08:00", "2014-07-31T18:00"] {
    ///     logins.insert(&Login { user: "ann".into(), at: at(day) })?;
    /// }
    /// let found = logins.during(at("2014-07-30")..at("2014-07-31T12:00"))?.rows().user("ann");
    /// let days = found.into_iter().map(|login| Ok(login?.at.to_string())).collect::<table_core::Result<Vec<_>>>()?;
    /// assert_eq!(days, ["2014-07-30T09:00:00Z", "2014-07-31T08:00:00Z"]);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn during<T: Time + Copy>(&self, times: impl Times<T>) -> Result<PeriodRange<E, InPeriodRange>> {
        self.known.during(&times).map(PeriodRange::new)
    }

    /// Returns the entities of all periods, as those of [`during`](Self::during) some.
    pub fn all_periods(&self) -> PeriodRange<E, InPeriodRange> {
        PeriodRange::new(self.known.in_span(Span::ALL))
    }

    /// Returns the tables as they are in a snapshot, which may be read with others.
    pub fn at<'s>(&self, snapshot: &'s Snapshot) -> PeriodsAt<'s, E> {
        PeriodsAt { periods: self.clone(), snapshot }
    }
}

/// The tables of entities of type `E` in a snapshot.
pub struct PeriodsAt<'s, E: InPeriods> {
    periods: Periods<E>,
    snapshot: &'s Snapshot,
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<'s, E: InPeriods> PeriodsAt<'s, E> {
    /// Returns the entity of this key, or what an index's copy holds whose key says the period.
    pub fn get<L: Lookup<E>>(&self, key: L) -> Result<Option<L::Output>> {
        let start = self.periods.start_of(&key)?;
        let seen = self.periods.known.seen(self.snapshot)?;
        let Some(exec) = seen.table(start) else { return Ok(None) };
        Table::<E>::new(DynamicTable::new(exec.clone())).at(self.snapshot).get(key)
    }

    /// Returns the entities of these times, as [`Periods::during`] gives them.
    pub fn during<T: Time + Copy>(
        &self,
        times: impl Times<T>,
    ) -> Result<PeriodRange<E, InPeriodRangeAt<'s>>> {
        let of = self.periods.known.during(&times)?;
        Ok(PeriodRange::new(InPeriodRangeAt { of, snapshot: self.snapshot }))
    }

    /// Returns the entities of all periods.
    pub fn all_periods(&self) -> PeriodRange<E, InPeriodRangeAt<'s>> {
        let of = self.periods.known.in_span(Span::ALL);
        PeriodRange::new(InPeriodRangeAt { of, snapshot: self.snapshot })
    }
}

/// The entities of a span of time: the entity's queries are methods of it.
pub struct PeriodRange<E: InPeriods, O: AnyOrigin> {
    origin: O,
    indexes: E::Indexes<O>,
}

impl<E: InPeriods, O: AnyOrigin> PeriodRange<E, O> {
    fn new(origin: O) -> Self {
        Self { indexes: E::indexes(origin.clone()), origin }
    }

    /// Returns all of them, whatever their partitions: a scan of each table.
    pub fn all(&self) -> PathQuery<OwnRows<E>, O> {
        PathQuery::<OwnRows<E>, O>::new(&self.origin)
    }
}

/// The entity's queries.
impl<E: InPeriods, O: AnyOrigin> Deref for PeriodRange<E, O> {
    type Target = E::Indexes<O>;

    fn deref(&self) -> &E::Indexes<O> {
        &self.indexes
    }
}

impl<E: InPeriods> Periods<E> {
    /// Returns the entities of these keys, as they are at one moment, in the keys' order.
    pub fn get_many(&self, keys: impl IntoIterator<Item = Key<E>>) -> Result<Vec<Option<crate::Stored<E>>>> {
        let snapshot = self.known.snapshot()?;
        let at = self.at(&snapshot);
        keys.into_iter().map(|key| at.get(key)).collect()
    }
}

impl fmt::Debug for InPeriodRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPeriodRange").field("tables", &self.table.name()).finish_non_exhaustive()
    }
}

impl fmt::Debug for InPeriodRangeAt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InPeriodRangeAt").field("tables", &self.of.table.name()).finish_non_exhaustive()
    }
}

impl<E: InPeriods> fmt::Debug for PeriodsAt<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodsAt").field("periods", &self.periods).finish_non_exhaustive()
    }
}

impl<E: InPeriods, O: AnyOrigin> fmt::Debug for PeriodRange<E, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeriodRange").field("tables", &self.origin.table().name()).finish_non_exhaustive()
    }
}
