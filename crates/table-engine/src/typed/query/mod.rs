//! Typed queries: one step for each key part, in order, then whatever narrows the answer.

mod chunk;
mod ends;
mod iterated;
mod key_args;
mod lowering;
mod part_filter;
mod paths;
mod period_scan;
mod query_spec;
mod rows;
mod steps;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub(crate) use chunk::Chunk;
pub use ends::Ends;
pub use key_args::{KeyArgs, Offers, OffersPrefix, OffersRange, PartArg, Prefix, prefix};
pub(crate) use part_filter::PartFilter;
pub use paths::{
    EventualCopies, FieldNamed, FieldNumber, Fits, HasField, HeldBy, Holds, HoldsAll, OwnRows, RowsOf,
    WholeCopies,
};
pub(crate) use period_scan::PeriodScan;
pub use rows::TypedRows;
pub use steps::{
    At, ByKey, Comes, ComesAfter, CountsBackwards, Ended, GoesOn, InOne, InPartition, Latest, Newest, Open,
    Ready, Turns,
};

use self::period_scan::PathRead;
use self::query_spec::{QuerySpec, ReadSpec};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::ScanRanges;
use crate::handle::page::Page;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::query::{Continuation, Explain, PageBudget, Query};
use crate::typed::entity::Entity;
use crate::typed::entity::comparisons::Condition;
use crate::typed::entity::path::Path;
use crate::typed::read::blind::or_again;
use crate::typed::read::key::{BlindArg, KeyArg};
use crate::typed::read::origin::{AnyOrigin, Origin};
use crate::typed::read::reading::{Entities, ReadAs, Whole, is_wide};

/// What a query is of, without a value of it.
type Of<P, R, Step> = PhantomData<fn() -> (P, R, Step)>;

/// A query of a path of an entity's, read as `R`. What the generated queries hold, at their step, and what their
/// `select` and `entities` give: nothing of the key is left to fix then.
#[must_use = "a query does nothing until it is iterated"]
pub struct PathQuery<P, O = DynamicTable, R = Whole, Step = Ended> {
    asked: QuerySpec<O>,
    of: Of<P, R, Step>,
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: AnyOrigin, Step> PathQuery<P, O, Whole, Step> {
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn new(origin: &O) -> Self {
        Self { asked: QuerySpec::new(origin), of: PhantomData }
    }

    /// Goes on to another step.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn at<Next>(self) -> PathQuery<P, O, Whole, Next> {
        self.retyped()
    }

    /// Takes a field of the partition key, or one that a shard is computed of: it is one value.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn fixed<T, Next>(mut self, field: usize, argument: &impl KeyArg<T>) -> PathQuery<P, O, Whole, Next> {
        self.asked.given.value::<T>(field, argument);
        self.retyped()
    }

    /// Takes a field of the row key.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn part<T, Next, Offers, Given: PartArg<T, Next, Offers>>(
        mut self,
        field: usize,
        argument: Given,
    ) -> PathQuery<P, O, Whole, Given::Step> {
        argument.give(field, &mut self.asked.given);
        self.retyped()
    }

    /// Takes an encrypted field, whose token stands in the key: it is one value.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn blind<T, Next>(
        mut self,
        field: usize,
        argument: &impl BlindArg<T>,
    ) -> PathQuery<P, O, Whole, Next> {
        self.asked.given.blind::<T>(field, argument);
        self.retyped()
    }

    /// Takes the shard itself, or all of them, for the part at this place.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn shard<Next>(mut self, place: usize, shard: Option<u32>) -> PathQuery<P, O, Whole, Next> {
        self.asked.given.shards.push((place, shard));
        self.retyped()
    }

    /// Returns the first so many in the order of the key, which counts backwards.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn newest(mut self, entities: usize) -> PathQuery<P, O, Whole, Newest> {
        self.asked.narrow(|query| query.ascending().top(entities));
        self.retyped()
    }

    /// Reads each row as the entity that it is a copy of.
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn entities(self) -> PathQuery<P, O, Entities> {
        self.retyped()
    }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P, O, R, Step> PathQuery<P, O, R, Step> {
    /// Returns the query with its rows read as something else, or at another step.
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn retyped<Other, Next>(self) -> PathQuery<P, O, Other, Next> {
        PathQuery { asked: self.asked, of: PhantomData }
    }
}

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: AnyOrigin, R: ReadAs<P>, Step> PathQuery<P, O, R, Step> {
    const WANTED: ReadSpec = ReadSpec { keys: P::KEYS, select: R::select };

    /// Returns the query of another place to read.
    #[cfg(feature = "async")]
    pub(crate) fn on<Other: AnyOrigin>(&self, origin: Other) -> PathQuery<P, Other, R> {
        PathQuery { asked: self.asked.on(origin), of: PhantomData }
    }

    /// Returns where the query looks.
    pub(crate) fn origin(&self) -> &O {
        &self.asked.origin
    }

    /// Gives the entities from the last to the first; said twice, from the first again. A store without that order, as the
    /// Table service is, refuses it, unless the query is [`buffered`](Self::buffered).
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn rev(mut self) -> Self {
        self.asked.narrow(Query::rev);
        self
    }

    /// Lets a store without a descending order hold up to so many rows to give them from the last; see [`Query::buffered`].
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn buffered(mut self, rows: usize) -> Self {
        self.asked.narrow(|query| query.buffered(rows));
        self
    }

    /// Gives so many at the most, over all pages together; the last number given counts.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn top(mut self, entities: usize) -> Self {
        self.asked.narrow(|query| query.top(entities));
        self
    }

    /// Limits the answer to so many entities, as [`top`](Self::top) does: the word that SQL has for it.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn limit(self, entities: usize) -> Self {
        self.top(entities)
    }

    /// Leaves out what does not pass the filter. Each row in the range is read for it.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn filter<F: Condition>(mut self, filter: impl FnOnce(&P::Columns) -> F) -> Self {
        self.asked.filter(filter(P::COLUMNS).into_filter());
        self
    }

    /// Returns what running the query will read, and why.
    pub fn explain(&self) -> Result<Explain> {
        if const { O::SPREADS }
            && let Some(spread) = self.asked.origin.period_scan()
        {
            let hold = self.asked.origin.snapshot_handle()?;
            let narrowing = R::select(self.asked.narrowing.clone());
            let asked = PathRead { keys: P::KEYS, given: &self.asked.given, narrowing };
            let explain = spread.explain(std::borrow::Borrow::borrow(&hold), &asked)?;
            return Ok(if R::LOOKS_UP { explain.looking_up() } else { explain });
        }
        let explain = self.lower().and_then(|scan_ranges| scan_ranges.explain());
        let explain = explain.map_err(|e| e.table(self.table().name()))?;
        let explain = if const { is_wide::<P>() } { self.with_parts(explain)? } else { explain };
        Ok(if R::LOOKS_UP { explain.looking_up() } else { explain })
    }

    /// Returns whether the filter asks for what parts of a wide entity hold.
    fn asks_parts(&self) -> Result<bool> {
        Ok(is_wide::<P>() && PartFilter::is_asked(P::KEYS.schema(), &self.asked.narrowing)?)
    }

    /// Takes the filter, if it asks for what parts of wide entities hold.
    pub(crate) fn take_beyond(&mut self) -> Result<Option<PartFilter>> {
        PartFilter::take(P::KEYS, &mut self.asked.narrowing)
    }

    /// Returns how many it gives at the most, which it does not see to itself any more.
    pub(crate) fn take_limit(&mut self) -> Option<usize> {
        self.asked.narrowing.take_limit()
    }

    /// Returns what it takes to read the parts of wide entities besides.
    fn with_parts(&self, explain: Explain) -> Result<Explain> {
        let read = R::parts();
        let asked = if self.asks_parts()? { P::KEYS.schema().parts.len() } else { 0 };
        Ok(explain.with_parts(read.max(asked), asked > 0))
    }

    fn lower(&self) -> Result<ScanRanges> {
        self.asked.lower(&Self::WANTED)
    }

    /// Returns the table of the rows that it reads.
    fn table(&self) -> Cow<'_, DynamicTable> {
        self.asked.table(P::KEYS)
    }
}

/// What runs a query, where that may block.
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: Origin, R: ReadAs<P>, Step> PathQuery<P, O, R, Step> {
    /// Returns what the query finds, in order, as `for` goes through it.
    #[cfg_attr(debug_assertions, inline(always))]
    #[allow(
        clippy::should_implement_trait,
        reason = "the trait is implemented for each place, and code for any needs it"
    )]
    pub fn into_iter(self) -> TypedRows<P, O, R> {
        self.retyped::<R, Ended>().begin()
    }

    /// Returns the first that the query finds, if it finds any; whatever [`top`](Self::top) said.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn first(self) -> Result<Option<R::Item>> {
        self.top(1).into_iter().next().transpose()
    }

    /// Returns whether the query finds any, whatever [`top`](Self::top) said. None is decoded.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn exists(self) -> Result<bool> {
        if const { R::LEAVES_OUT } || self.asks_parts()? {
            return self.first().map(|found| found.is_some());
        }
        self.top(1).count().map(|found| found > 0)
    }

    /// Returns how many there are. Each is looked at, and none decoded.
    #[cfg_attr(debug_assertions, inline(always))]
    pub fn count(self) -> Result<u64> {
        if const { R::LEAVES_OUT } || self.asks_parts()? {
            return self.into_iter().try_fold(0, |count, found| found.map(|_| count + 1));
        }
        let query = self.retyped::<R, Ended>();
        or_again(|| query.counted())
    }

    /// Returns a page: at most so many of what the query finds, 1,000 at most, from the start or from where another page of the
    /// same query ended. A [`PageBudget`] may end it earlier, after so many rows or so much time.
    ///
    /// Pages are not one snapshot: what is written between two is seen if it lies ahead; an entity that stays is neither
    /// skipped nor given twice.
    pub fn page(&self, budget: impl Into<PageBudget>, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        let budget = budget.into();
        #[cfg(feature = "async-testing")]
        if let Some(done) =
            crate::asynchronous::forced(&self.table(), |table| self.on(table.clone()).page(budget, after))
        {
            return done;
        }
        or_again(|| self.page_of(budget, after))
    }

    fn page_of(&self, budget: PageBudget, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        if const { O::SPREADS }
            && let Some(spread) = self.asked.origin.period_scan()
        {
            let hold = self.asked.origin.snapshot_handle()?;
            let (snapshot, narrowing) =
                (std::borrow::Borrow::borrow(&hold), R::select(self.asked.narrowing.clone()));
            let mut rows = Vec::new();
            let mut each = |table: &DynamicTable, view: &crate::row::view::RowView<'_>| {
                rows.push(R::read(snapshot, table, view)?);
                Ok(())
            };
            let asked = PathRead { keys: P::KEYS, given: &self.asked.given, narrowing };
            let next = spread.page(snapshot, &asked, budget, after, &mut each)?;
            return Ok(Page::of(rows, next));
        }
        let table = &*self.table();
        let query = |e: Error| e.attempted("query").table(table.name());
        if const { is_wide::<P>() } && self.asks_parts().map_err(query)? {
            return self.page_beyond(budget, after).map_err(query);
        }
        let (hold, scan_ranges) = self.asked.held(&Self::WANTED).map_err(query)?;
        let snapshot = std::borrow::Borrow::borrow(&hold);
        snapshot_page::<P, R>(snapshot, table, scan_ranges, budget, after)
    }

    /// Returns a page of those wide entities whose parts pass the filter, of so many heads.
    fn page_beyond(&self, budget: PageBudget, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        let mut heads = self.clone();
        if heads.take_limit().is_some() {
            return Err(Error::new(ErrorKind::InvalidQuery).because(
                "the filter asks for what the parts of wide entities hold, and a page of those counts heads: leave out `top`",
            ));
        }
        let beyond = heads.take_beyond()?;
        let (hold, scan_ranges) = heads.asked.held(&Self::WANTED)?;
        let (snapshot, table) = (std::borrow::Borrow::<Snapshot>::borrow(&hold), &*self.table());
        let page = snapshot.page_by(table, scan_ranges, budget, after, |_, view| {
            rows::read_beyond::<P, R>(beyond.as_ref(), snapshot, table, view)
        })?;
        Ok(Page::of(page.entities.into_iter().flatten().collect(), page.next))
    }
}

/// What runs a query, of whatever step: it is compiled for one.
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<P: Path, O: Origin, R: ReadAs<P>> PathQuery<P, O, R> {
    #[cfg_attr(debug_assertions, inline(always))]
    fn begin(mut self) -> TypedRows<P, O, R> {
        if const { R::LEAVES_OUT } {
            // Rows that are left out don't count.
            let most = self.take_limit().unwrap_or(usize::MAX);
            return TypedRows::new(self.asked.begin(&Self::WANTED)).at_most(most);
        }
        if const { is_wide::<P>() } {
            return match self.take_beyond() {
                Ok(None) => TypedRows::new(self.asked.begin(&Self::WANTED)),
                Ok(Some(beyond)) => {
                    let most = self.take_limit().unwrap_or(usize::MAX);
                    TypedRows::new(self.asked.begin(&Self::WANTED)).at_most(most).beyond(beyond)
                }
                Err(error) => {
                    TypedRows::new(Err(Some(error.attempted("query").table(self.origin().table().name()))))
                }
            };
        }
        TypedRows::new(self.asked.begin(&Self::WANTED))
    }

    fn counted(&self) -> Result<u64> {
        if const { P::INDEX.is_none() && P::Entity::SCHEMA.previous.is_some() } {
            // What can't be converted must not be counted by what it was.
            return self.clone().into_iter().try_fold(0, |count, row| row.map(|_| count + 1));
        }
        self.asked.buffered_scan(&Self::WANTED)?.count_rest()
    }
}

/// Returns a query in terms of keys and properties.
pub(super) fn lowered<P: Path, O: AnyOrigin, R: ReadAs<P>, Step>(
    query: &PathQuery<P, O, R, Step>,
) -> Result<ScanRanges> {
    query.lower()
}

fn snapshot_page<P: Path, R: ReadAs<P>>(
    snapshot: &Snapshot,
    table: &DynamicTable,
    scan_ranges: ScanRanges,
    budget: PageBudget,
    after: Option<&Continuation>,
) -> Result<Page<R::Item>> {
    if const { R::LEAVES_OUT } {
        let page = snapshot
            .page_by(table, scan_ranges, budget, after, |_, view| R::read_if(snapshot, table, view))?;
        return Ok(Page::of(page.entities.into_iter().flatten().collect(), page.next));
    }
    snapshot.page_by(table, scan_ranges, budget, after, |_, view| R::read(snapshot, table, view))
}

impl<P, O: Clone, R, Step> Clone for PathQuery<P, O, R, Step> {
    fn clone(&self) -> Self {
        Self { asked: self.asked.clone(), of: PhantomData }
    }
}

impl<P, O: AnyOrigin, R, Step> fmt::Debug for PathQuery<P, O, R, Step> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathQuery").field("table", &self.asked.origin.table().name()).finish_non_exhaustive()
    }
}
