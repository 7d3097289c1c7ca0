//! Series in typed filters.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, Range};

use crate::query::Filter;
use crate::schema::{Field, Series, Slot};
use crate::typed::entity::column::{Always, Column, Plain};

/// A series of an entity, of which filters compare slots: `|e| e.cpu.at(13).ge(0.9)`.
///
/// A slot that the series has not makes a filter that no query takes: [`InvalidFilter`](crate::ErrorKind::InvalidFilter).
///
/// ```
/// # use table_core::{Entity, ErrorKind, Store};
/// #[derive(Entity)]
/// #[entity(table = "Load", kind = "day")]
/// #[key(partition = "{host}", row = "day_{day:06}")]
/// struct Day {
///     host: String,
///     day: u32,
///     #[series]
///     cpu: [Option<f64>; 24],
/// }
///
/// # let store = Store::temporary()?;
/// let days = store.table::<Day>()?;
/// for day in 1..=3 {
///     let mut cpu = [None; 24];
///     cpu[13] = Some(f64::from(day) * 0.3);
///     days.insert(&Day { host: "web1".into(), day, cpu })?;
/// }
/// let query = days.rows().host("web1");
/// assert_eq!(query.clone().filter(|d| d.cpu.at(13).ge(0.6)).count()?, 2);
/// assert_eq!(query.clone().filter(|d| d.cpu.range(9..17).any(|hour| hour.gt(0.8))).count()?, 1);
/// let error = query.filter(|d| d.cpu.at(24).ge(0.5)).count().unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidFilter);
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct SeriesColumn<T, A = Always> {
    slots: &'static [Field],
    value: PhantomData<fn() -> (T, A)>,
}

impl<T, A> SeriesColumn<T, A> {
    #[doc(hidden)]
    pub const fn new(slots: &'static [Field]) -> Self {
        Self { slots, value: PhantomData }
    }

    /// Returns the column of one slot.
    pub fn at(&self, slot: usize) -> Column<T, Plain, A> {
        match self.slots.get(slot) {
            Some(field) => Column::new(field.property),
            None => Column::of_no_slot(self.series(), slot),
        }
    }

    /// Returns the columns of several slots, one after another.
    pub fn range(&self, slots: Range<usize>) -> SlotColumns<T, A> {
        let found = self.slots.get(slots.clone());
        SlotColumns { series: self.series(), slots: found, asked: slots, value: PhantomData }
    }

    /// Returns every slot.
    pub fn all_slots(&self) -> SlotColumns<T, A> {
        self.range(0..self.slots.len())
    }

    fn series(&self) -> &'static Series {
        /// What has no slots is the series of a declaration with mistakes.
        const NONE: Series = Series::new("", "", 0);
        match self.slots {
            [Field { series: Some(Slot { of, .. }), .. }, ..] => of,
            _ => &NONE,
        }
    }
}

impl<T, A> fmt::Debug for SeriesColumn<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SeriesColumn").field(&self.series().stem).finish()
    }
}

/// Several slots of a series, of which a filter asks whether any or all are so.
#[must_use = "it asks nothing by itself"]
pub struct SlotColumns<T, A = Always> {
    series: &'static Series,
    slots: Option<&'static [Field]>,
    asked: Range<usize>,
    value: PhantomData<fn() -> (T, A)>,
}

impl<T, A> SlotColumns<T, A> {
    /// Filters by whether a comparison holds of at least one of them.
    pub fn any(&self, holds: impl Fn(&Column<T, Plain, A>) -> Filter) -> Filter {
        self.joined(holds, Filter::bitor)
    }

    /// Filters by whether a comparison holds of each of them.
    pub fn all(&self, holds: impl Fn(&Column<T, Plain, A>) -> Filter) -> Filter {
        self.joined(holds, Filter::bitand)
    }

    fn joined(
        &self,
        holds: impl Fn(&Column<T, Plain, A>) -> Filter,
        join: impl Fn(Filter, Filter) -> Filter,
    ) -> Filter {
        let Range { start, end } = self.asked;
        let of_each = self.slots.unwrap_or_default().iter().map(|field| holds(&Column::new(field.property)));
        match of_each.reduce(join) {
            Some(filter) => filter,
            // The first of them that there is not; else they are none.
            None if start < end && end > self.series.slots => {
                Filter::of_no_slot(self.series, start.max(self.series.slots))
            }
            None => Filter::of_no_slots(self.series, start, end),
        }
    }
}

impl<T, A> fmt::Debug for SlotColumns<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SlotColumns").field(&self.series.stem).field(&self.asked).finish()
    }
}
