//! Slots of a series in place.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Property, Series};
use crate::typed::read::view::FieldViews;

/// A series of an entity in place: each slot is decoded when it is asked for, and no other.
///
/// ```
/// # use table_core::{Entity, Store};
/// # #[derive(Entity)]
/// # #[entity(table = "Load", kind = "day")]
/// # #[key(partition = "{host}", row = "day_{day:06}")]
/// # struct Day { host: String, day: u32, #[series] cpu: [Option<f64>; 24] }
/// # let store = Store::temporary()?;
/// # let days = store.table::<Day>()?;
/// # days.insert(&Day { host: "web1".into(), day: 1, cpu: std::array::from_fn(|h| Some(h as f64)) })?;
/// let snapshot = store.snapshot()?;
/// for day in days.at(&snapshot).rows().host("web1").views() {
///     let day = day?;
///     assert_eq!(day.cpu().at(13)?, Some(13.0));
///     assert_eq!(day.cpu().range(9..11)?, [Some(9.0), Some(10.0)]);
///     assert!(day.cpu().at(24).is_err());
/// }
/// # Ok::<(), table_core::Error>(())
/// ```
pub struct SeriesView<'v, T> {
    fields: &'v FieldViews<'v>,
    /// The place of the first slot among the entity's fields.
    first: usize,
    series: &'static Series,
    /// What an absent slot is, if not what its type says.
    default: Option<fn() -> T>,
}

impl<'v, T: Property> SeriesView<'v, T> {
    #[doc(hidden)]
    pub fn new(
        fields: &'v FieldViews<'v>,
        first: usize,
        series: &'static Series,
        default: Option<fn() -> T>,
    ) -> Self {
        Self { fields, first, series, default }
    }

    /// Returns how many slots there are.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a series has slots")]
    pub fn len(&self) -> usize {
        self.series.slots
    }

    /// Returns what a slot holds.
    pub fn at(&self, slot: usize) -> Result<T> {
        if let Some(why) = self.series.refuse_slot(slot) {
            return Err(Error::new(ErrorKind::ValueOutOfRange).because(why));
        }
        let field = self.first + slot;
        match self.default {
            None => self.fields.stored(field, T::from_property),
            Some(default) => self.fields.stored_or(field, T::from_property, default),
        }
    }

    /// Returns what several slots hold, one after another.
    pub fn range(&self, slots: Range<usize>) -> Result<Vec<T>> {
        slots.map(|slot| self.at(slot)).collect()
    }

    /// Returns what every slot holds.
    pub fn to_vec(&self) -> Result<Vec<T>> {
        self.range(0..self.series.slots)
    }
}

impl<T> fmt::Debug for SeriesView<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesView").field("series", &self.series.name).finish_non_exhaustive()
    }
}
