//! Times that callers give, and those that keys say.

use std::ops::{Bound, RangeBounds};

use super::Periods;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::typed::entity::InPeriods;
use crate::typed::entity::path::Path;
use crate::typed::read::key::Lookup;

/// A time that was given, to the tick.
pub(super) fn ticks(time: impl TryInto<Ticks>) -> Result<Ticks> {
    time.try_into().map_err(|_| {
        Error::new(ErrorKind::ValueOutOfRange).because("the time is outside the years 1 to 9999")
    })
}

/// Times from the first on, up to the one beyond; `None` is behind all.
pub(super) type Span = (Ticks, Option<Ticks>);

/// The span of a range of times. Times are floored to the tick, as those of entities are that are written.
pub(super) fn span<T: TryInto<Ticks> + Copy>(range: &impl RangeBounds<T>) -> Result<Span> {
    let after = |time: Ticks| Ticks::new(time.get() + 1);
    let first = match range.start_bound() {
        Bound::Unbounded => Ticks::MIN,
        Bound::Included(time) => ticks(*time)?,
        // Nothing comes after the last tick.
        Bound::Excluded(time) => match after(ticks(*time)?) {
            Some(first) => first,
            None => return Ok((Ticks::MAX, Some(Ticks::MIN))),
        },
    };
    let beyond = match range.end_bound() {
        Bound::Unbounded => None,
        Bound::Included(time) => after(ticks(*time)?),
        Bound::Excluded(time) => Some(ticks(*time)?),
    };
    Ok((first, beyond))
}

impl<E: InPeriods> Periods<E> {
    /// The beginning of the period of the entity that this is the key of.
    pub(super) fn start_of<L: Lookup<E>>(&self, key: &L) -> Result<Ticks> {
        let keys = key.keys()?;
        let time = crate::schema::Schema::time_in(<L::Path as Path>::KEYS.place(), self.known.tables, keys);
        time.map(|time| self.known.start(time)).ok_or_else(|| self.timeless(keys))
    }

    /// The error of a key that says no period.
    #[cold]
    pub(super) fn timeless(&self, (partition, row): (&str, &str)) -> Error {
        Error::new(ErrorKind::InvalidKey)
            .because("the key does not say in which period its entity lies: a query of all periods finds it")
            .attempted("read from")
            .table(self.known.tables.source)
            .partition(partition)
            .row(row)
    }
}
