//! Slots of a series that a patch sets.

use std::fmt;
use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::schema::Series;

/// Which slots of a series a patch sets, and what it is given for them: a slot's number with a value, or a range of them with
/// a value for each.
///
/// ```
/// # use table_core::{Entity, ErrorKind, IfMatch, Store};
/// # #[derive(Entity, Debug)]
/// # #[entity(table = "Load", kind = "day")]
/// # #[key(partition = "{host}", row = "day_{day:06}")]
/// # struct Day { host: String, day: u32, #[series] cpu: [Option<f64>; 24] }
/// # let store = Store::temporary()?;
/// # let days = store.table::<Day>()?;
/// days.insert(&Day { host: "web1".into(), day: 1, cpu: [None; 24] })?;
/// let patch = Day::patch().cpu(13, Some(0.93)).cpu(14..16, vec![Some(0.4), None]);
/// let day = days.merge(Day::key("web1", 1), patch, IfMatch::Any)?;
/// assert_eq!(day.cpu[12..16], [None, Some(0.93), Some(0.4), None]);
///
/// let error = days.merge(Day::key("web1", 1), Day::patch().cpu(24, Some(0.5)), IfMatch::Any).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::ValueOutOfRange);
/// # Ok::<(), table_core::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "a patch of a series says which slots it sets, and `{Self}` says none",
    label = "give the slots before the values: a number, `13`, with a value; a range, `9..17`, or all, `..`, with a `Vec` of values"
)]
pub trait Slots<T>: sealed::Sealed {
    /// What is given for them.
    type Given;

    #[doc(hidden)]
    fn each(self, given: Self::Given, series: &'static Series, take: &mut dyn FnMut(usize, T)) -> Result<()>;
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for usize {}
    impl Sealed for std::ops::Range<usize> {}
    impl Sealed for std::ops::RangeFull {}
}

#[diagnostic::do_not_recommend]
impl<T> Slots<T> for usize {
    type Given = T;

    fn each(self, given: T, series: &'static Series, take: &mut dyn FnMut(usize, T)) -> Result<()> {
        check(series, self)?;
        take(self, given);
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T> Slots<T> for Range<usize> {
    type Given = Vec<T>;

    fn each(self, given: Vec<T>, series: &'static Series, take: &mut dyn FnMut(usize, T)) -> Result<()> {
        if let Some(last) = self.end.checked_sub(1).filter(|_| !self.is_empty()) {
            check(series, last)?;
        }
        if given.len() != self.len() {
            let because = format!(
                "field `{}`: the slots {}..{} are {}, and {} values are given for them",
                series.name,
                self.start,
                self.end,
                self.len(),
                given.len()
            );
            return Err(Error::new(ErrorKind::ValueOutOfRange).because(because));
        }
        self.zip(given).for_each(|(slot, value)| take(slot, value));
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<T> Slots<T> for std::ops::RangeFull {
    type Given = Vec<T>;

    fn each(self, given: Vec<T>, series: &'static Series, take: &mut dyn FnMut(usize, T)) -> Result<()> {
        (0..series.slots).each(given, series, take)
    }
}

fn check(series: &'static Series, slot: usize) -> Result<()> {
    match series.refuse_slot(slot) {
        None => Ok(()),
        Some(why) => Err(Error::new(ErrorKind::ValueOutOfRange).because(why)),
    }
}

/// What a patch sets of a series: nothing at first.
pub struct SeriesPatch<T> {
    series: &'static Series,
    /// Each slot once.
    set: Vec<(usize, T)>,
    /// What was set wrongly first, which the merge says.
    refused: Option<Error>,
}

impl<T> SeriesPatch<T> {
    /// Makes a patch that sets nothing.
    #[must_use]
    pub const fn new(series: &'static Series) -> Self {
        Self { series, set: Vec::new(), refused: None }
    }

    /// Sets these slots to what is given.
    pub fn set<S: Slots<T>>(&mut self, slots: S, given: S::Given) {
        let set = &mut self.set;
        let each = slots.each(given, self.series, &mut |slot, value| match set
            .iter_mut()
            .find(|(known, _)| *known == slot)
        {
            Some((_, place)) => *place = value,
            None => set.push((slot, value)),
        });
        if let (Err(error), None) = (each, &self.refused) {
            self.refused = Some(error);
        }
    }

    /// Returns the slots that it sets, each once.
    pub(super) fn slots_set(&mut self) -> &mut [(usize, T)] {
        &mut self.set
    }

    /// Refuses what was set of slots that there are not.
    pub fn check(&self) -> Result<()> {
        match &self.refused {
            None => Ok(()),
            Some(error) => Err(error.again()),
        }
    }
}

impl<T> fmt::Debug for SeriesPatch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeriesPatch").field("series", &self.series.name).finish_non_exhaustive()
    }
}
