//! The periods that there are, and those that are dropped.

use std::time::Duration;

use super::Periods;
use super::times::{Time, ticks};
use crate::error::Result;
use crate::model::Ticks;
use crate::typed::entity::InPeriods;
use crate::typed::table::Table;

/// A period that has a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeriodInfo {
    /// When it begins.
    pub start: Ticks,
    /// When the next one begins; nothing of the last that there is.
    pub end: Option<Ticks>,
    /// The name of its table.
    pub table: String,
}

/// What became of the tables before a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedPeriods {
    /// How many tables were dropped.
    pub tables: usize,
    /// Where the first period begins that entities are taken for from now on.
    pub floor: Ticks,
}

impl<E: InPeriods> Periods<E> {
    /// Returns the periods that have a table, in their order.
    pub fn list(&self) -> Result<Vec<PeriodInfo>> {
        let seen = self.known.seen(&self.known.snapshot()?)?;
        let info = |start: Ticks, table: &str| PeriodInfo {
            start,
            end: self.known.tables.period.end(start),
            table: table.to_owned(),
        };
        Ok(seen.tables.iter().map(|(start, table)| info(*start, table.table_name())).collect())
    }

    /// Returns the table of the period that this time lies in, by itself; nothing if there is none.
    ///
    /// It has all that a [`Table`] has: queries, checks, jobs. An entity of another period is refused by
    /// [`DifferentPartitions`](crate::ErrorKind::DifferentPartitions).
    pub fn table_of(&self, at: impl Time) -> Result<Option<Table<E>>> {
        let start = self
            .known
            .start(ticks(at).map_err(|error| error.attempted("open").table(self.known.tables.source))?);
        self.reading(start, |table| {
            table.dynamic().exec().declare(E::SCHEMA)?;
            Ok(Some(table.clone()))
        })
    }

    /// Drops every period that ends at this time or before, with all its entities, in one small transaction however many they
    /// are; the space comes back in the background. A period that this time lies in stays whole.
    ///
    /// From then on no entity of that time is taken: [`PeriodDropped`](crate::ErrorKind::PeriodDropped). Nothing takes that
    /// back.
    pub fn drop_before(&self, time: impl Time) -> Result<DroppedPeriods> {
        let drop = || {
            let floor = self.known.start(ticks(time)?);
            let backend = self.known.store.backend().clone();
            backend.drop_periods(self.known.tables, floor)
        };
        let dropped =
            drop().map_err(|error| error.attempted("drop periods of").table(self.known.tables.source))?;
        self.known.forget_before(dropped.floor);
        Ok(DroppedPeriods { tables: dropped.tables, floor: dropped.floor })
    }

    /// Drops every period that is older than `keep` in the declaration says, as it is now, by
    /// [`drop_before`](Self::drop_before). Without the word nothing is ever too old.
    ///
    /// ```
    /// # use table_core::{Entity, Store, Ticks};
    /// #[derive(Entity)]
    /// #[entity(table = "Logins{at:%Y%m%d}", kind = "login", keep = "90 days")]
    /// #[key(partition = "{user}", row = "{at:ticks}")]
    /// struct Login {
    ///     user: String,
    ///     at: Ticks,
    /// }
    ///
    /// # let store = Store::temporary()?;
    /// let logins = store.periods::<Login>()?;
    /// let at = |text: &str| text.parse::<Ticks>().unwrap();
    /// for day in ["2014-04-30", "2014-05-02", "2014-07-31"] {
    ///     logins.insert(&Login { user: "ann".into(), at: at(day) })?;
    /// }
    /// let dropped = logins.expire(at("2014-07-31T18:00"))?;
    /// assert_eq!((dropped.tables, dropped.floor), (1, at("2014-05-02")));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn expire(&self, now: impl Time) -> Result<DroppedPeriods> {
        let now =
            ticks(now).map_err(|error| error.attempted("drop periods of").table(self.known.tables.source))?;
        let oldest = self.known.tables.keep.and_then(|seconds| now.checked_sub(Duration::from_secs(seconds)));
        self.drop_before(oldest.unwrap_or(Ticks::MIN))
    }

    /// Returns where the first period begins that is not dropped: the year 1, if none ever was.
    pub fn floor(&self) -> Result<Ticks> {
        Ok(self.known.seen(&self.known.snapshot()?)?.floor)
    }
}
