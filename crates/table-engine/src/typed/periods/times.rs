//! Times that callers give, and those that keys say.

use std::ops::{Bound, RangeBounds};

use super::Periods;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, Ticks};
use crate::typed::entity::InPeriods;
use crate::typed::entity::path::Path;
use crate::typed::read::key::Lookup;

/// What can be given for a time: [`Ticks`], or what becomes ticks.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no time",
    label = "give `Ticks`: a text is read by `text.parse::<Ticks>()?`"
)]
pub trait Time: TryInto<Ticks> {}

#[diagnostic::do_not_recommend]
impl<T: TryInto<Ticks>> Time for T {}

/// What can be given for times: a range of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no range of times",
    label = "give a range: `from..until`, `from..`, `..`; for one day, from its first moment until that of the next"
)]
pub trait Times<T>: RangeBounds<T> {}

#[diagnostic::do_not_recommend]
impl<T, R: RangeBounds<T>> Times<T> for R {}

/// Returns a time that was given, to the tick.
pub(super) fn ticks(time: impl Time) -> Result<Ticks> {
    time.try_into().map_err(|_| {
        Error::new(ErrorKind::ValueOutOfRange).because("the time is outside the years 1 to 9999")
    })
}

/// Times from the first on, up to the one beyond; `None` is behind all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) first: Ticks,
    pub(crate) beyond: Option<Ticks>,
}

impl Span {
    /// All times.
    pub(super) const ALL: Self = Self { first: Ticks::MIN, beyond: None };

    /// Returns whether a period lies in it whole, which begins at `start` and ends before `end`.
    pub(crate) fn has(self, start: Ticks, end: Option<Ticks>) -> bool {
        start >= self.first && self.beyond.is_none_or(|beyond| end.is_some_and(|end| end <= beyond))
    }
}

/// Returns the span of a range of times. Times are floored to the tick, as those of entities are that are written.
pub(super) fn span<T: Time + Copy>(range: &impl RangeBounds<T>) -> Result<Span> {
    let after = |time: Ticks| Ticks::new(time.get() + 1);
    let first = match range.start_bound() {
        Bound::Unbounded => Ticks::MIN,
        Bound::Included(time) => ticks(*time)?,
        // Nothing comes after the last tick.
        Bound::Excluded(time) => match after(ticks(*time)?) {
            Some(first) => first,
            None => return Ok(Span { first: Ticks::MAX, beyond: Some(Ticks::MIN) }),
        },
    };
    let beyond = match range.end_bound() {
        Bound::Unbounded => None,
        Bound::Included(time) => after(ticks(*time)?),
        Bound::Excluded(time) => Some(ticks(*time)?),
    };
    Ok(Span { first, beyond })
}

impl<E: InPeriods> Periods<E> {
    /// Returns the beginning of the period of the entity that this is the key of.
    pub(crate) fn start_of<L: Lookup<E>>(&self, key: &L) -> Result<Ticks> {
        let EntityKeys { partition, row } = key.keys()?;
        let place = <L::Path as Path>::KEYS.place();
        let time = crate::schema::Schema::time_in(place, self.known.tables, partition, row);
        time.map(|time| self.known.start(time)).ok_or_else(|| self.timeless(partition, row))
    }

    /// Returns the error of a key that says no period.
    #[cold]
    pub(super) fn timeless(&self, partition: &str, row: &str) -> Error {
        Error::new(ErrorKind::InvalidKey)
            .because("the key does not say in which period its entity lies: a query of all periods finds it")
            .attempted("read from")
            .table(self.known.tables.source)
            .partition(partition)
            .row(row)
    }
}
