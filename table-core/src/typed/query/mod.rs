//! Typed queries: one step for each key part, in order, then whatever narrows the answer.

mod arg;
mod beyond;
mod given;
mod lowering;
mod paths;
mod rows;
mod spread;
mod steps;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

pub use arg::{Offers, OffersPrefix, OffersRange, PartArg, Prefix, prefix};
pub(in crate::typed) use beyond::Beyond;
pub use given::GivenParts;
pub use paths::{EventualCopies, HeldBy, Holds, HoldsAll, OwnRows, WholeCopies};
pub use rows::TypedRows;
pub(in crate::typed) use spread::Spread;
pub use steps::{
    At, Comes, ComesAfter, CountsBackwards, Ended, GoesOn, InPartition, Newest, Open, Ready, Turns,
};

use crate::error::{Error, ErrorKind, Result};
use crate::executor::Lanes;
use crate::handle::page::Page;
use crate::handle::rows::Refilling;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::query::{Continuation, Explain, Query};
use crate::typed::entity::Entity;
use crate::typed::entity::comparisons::Condition;
use crate::typed::entity::path::Path;
use crate::typed::read::blind::{or_again, steadily};
use crate::typed::read::check_index;
use crate::typed::read::key::{BlindArg, KeyArg};
use crate::typed::read::origin::Origin;
use crate::typed::read::reading::{Entities, ReadAs, Whole, is_wide};

/// What a query is of, without a value of it.
type Of<P, R, Step> = PhantomData<fn() -> (P, R, Step)>;

/// A query of a path of an entity's, read as `R`. What the generated queries hold, at their step, and what their
/// `select` and `entities` give: nothing of the key is left to fix then.
#[must_use = "a query does nothing until it is iterated"]
pub struct PathQuery<P, O = DynamicTable, R = Whole, Step = Ended> {
    origin: O,
    given: GivenParts,
    narrowing: Query,
    of: Of<P, R, Step>,
}

impl<P: Path, O: Origin, Step> PathQuery<P, O, Whole, Step> {
    #[doc(hidden)]
    pub fn new(origin: &O) -> Self {
        Self {
            origin: origin.clone(),
            given: GivenParts::default(),
            narrowing: Query::new(),
            of: PhantomData,
        }
    }

    /// Goes on to another step.
    #[doc(hidden)]
    pub fn at<Next>(self) -> PathQuery<P, O, Whole, Next> {
        self.retyped()
    }

    /// Takes a field of the partition key, or one that a shard is computed of: it is one value.
    #[doc(hidden)]
    pub fn fixed<T, Next>(mut self, field: usize, argument: &impl KeyArg<T>) -> PathQuery<P, O, Whole, Next> {
        self.given.value::<T>(field, argument);
        self.retyped()
    }

    /// Takes a field of the row key.
    #[doc(hidden)]
    pub fn part<T, Next, Offers, Given: PartArg<T, Next, Offers>>(
        mut self,
        field: usize,
        argument: Given,
    ) -> PathQuery<P, O, Whole, Given::Step> {
        argument.give(field, &mut self.given);
        self.retyped()
    }

    /// Takes an encrypted field, whose token stands in the key: it is one value.
    #[doc(hidden)]
    pub fn blind<T, Next>(
        mut self,
        field: usize,
        argument: &impl BlindArg<T>,
    ) -> PathQuery<P, O, Whole, Next> {
        self.given.blind::<T>(field, argument);
        self.retyped()
    }

    /// Takes the shard itself, or all of them, for the part at this place.
    #[doc(hidden)]
    pub fn shard<Next>(mut self, place: usize, shard: Option<u32>) -> PathQuery<P, O, Whole, Next> {
        self.given.shards.push((place, shard));
        self.retyped()
    }

    /// The first so many in the order of the key, which counts backwards.
    #[doc(hidden)]
    pub fn newest(mut self, entities: usize) -> PathQuery<P, O, Whole, Newest> {
        self.narrowing = self.narrowing.ascending().top(entities);
        self.retyped()
    }

    /// Reads each row as the entity that it is a copy of.
    #[doc(hidden)]
    pub fn entities(self) -> PathQuery<P, O, Entities> {
        self.retyped()
    }
}

impl<P, O, R, Step> PathQuery<P, O, R, Step> {
    /// The same, read as something else or at another step.
    pub(in crate::typed) fn retyped<Other, Next>(self) -> PathQuery<P, O, Other, Next> {
        let Self { origin, given, narrowing, .. } = self;
        PathQuery { origin, given, narrowing, of: PhantomData }
    }
}

impl<P: Path, O: Origin, R: ReadAs<P>, Step> PathQuery<P, O, R, Step> {
    /// Where the query looks.
    pub(in crate::typed) fn origin(&self) -> &O {
        &self.origin
    }

    /// Gives the entities from the last to the first; said twice, from the first again.
    pub fn rev(mut self) -> Self {
        self.narrowing = self.narrowing.rev();
        self
    }

    /// Gives so many at the most, over all pages together; the last number given counts.
    pub fn top(mut self, entities: usize) -> Self {
        self.narrowing = self.narrowing.top(entities);
        self
    }

    /// Leaves out what does not pass the filter. Each row in the range is read for it.
    pub fn filter<F: Condition>(mut self, filter: impl FnOnce(&P::Columns) -> F) -> Self {
        self.narrowing = self.narrowing.filter(filter(P::COLUMNS).into_filter());
        self
    }

    /// What running the query will read, and why.
    pub fn explain(&self) -> Result<Explain> {
        if const { O::SPREADS }
            && let Some(spread) = self.origin.spread()
        {
            let hold = self.origin.hold()?;
            let asked = (P::KEYS, P::INDEX, &self.given, R::select(self.narrowing.clone()));
            let explain = spread.explain(std::borrow::Borrow::borrow(&hold), &asked)?;
            return Ok(if R::LOOKS_UP { explain.looking_up() } else { explain });
        }
        let explain = self.lower().and_then(|lanes| lanes.explain());
        let explain = explain.map_err(|e| e.table(self.table().name()))?;
        let explain = if const { is_wide::<P>() } { self.with_parts(explain)? } else { explain };
        Ok(if R::LOOKS_UP { explain.looking_up() } else { explain })
    }

    /// The first that the query finds, if it finds any; whatever [`top`](Self::top) said.
    pub fn first(self) -> Result<Option<R::Item>> {
        self.top(1).into_iter().next().transpose()
    }

    /// Whether the query finds any, whatever [`top`](Self::top) said. None is decoded.
    pub fn exists(self) -> Result<bool> {
        if const { R::LEAVES_OUT } || self.asks_parts()? {
            return self.first().map(|found| found.is_some());
        }
        self.top(1).count().map(|found| found > 0)
    }

    /// How many there are. Each is looked at, and none decoded.
    pub fn count(self) -> Result<u64> {
        if const { R::LEAVES_OUT } || self.asks_parts()? {
            return self.into_iter().try_fold(0, |count, found| found.map(|_| count + 1));
        }
        let query = self.retyped::<R, Ended>();
        or_again(|| query.counted())
    }

    /// Whether the filter asks for what parts of a wide entity hold.
    fn asks_parts(&self) -> Result<bool> {
        Ok(is_wide::<P>() && Beyond::is_asked(P::KEYS.schema(), &self.narrowing)?)
    }

    /// Takes the filter, if it asks for what parts of wide entities hold.
    pub(in crate::typed) fn take_beyond(&mut self) -> Result<Option<Beyond>> {
        Beyond::take(P::KEYS, &mut self.narrowing)
    }

    /// How many it gives at the most, which it does not see to itself any more.
    pub(in crate::typed) fn take_limit(&mut self) -> Option<usize> {
        self.narrowing.take_limit()
    }

    /// What it takes to read the parts of wide entities besides.
    fn with_parts(&self, explain: Explain) -> Result<Explain> {
        let read = R::parts();
        let asked = if self.asks_parts()? { P::KEYS.schema().parts.len() } else { 0 };
        Ok(explain.with_parts(read.max(asked), asked > 0))
    }

    /// A page: at most `size` of what the query finds, 1,000 at most, from the start or from where another page of the
    /// same query ended.
    ///
    /// Pages are not one snapshot: what is written between two is seen if it lies ahead; an entity that stays is neither
    /// skipped nor given twice.
    pub fn page(&self, size: usize, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        or_again(|| self.page_of(size, after))
    }

    fn page_of(&self, size: usize, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        if const { O::SPREADS }
            && let Some(spread) = self.origin.spread()
        {
            let hold = self.origin.hold()?;
            let (snapshot, narrowing) =
                (std::borrow::Borrow::borrow(&hold), R::select(self.narrowing.clone()));
            let mut rows = Vec::new();
            let mut each = |table: &DynamicTable, view: &crate::row::view::RowView<'_>| {
                rows.push(R::read(snapshot, table, view)?);
                Ok(())
            };
            let asked = (P::KEYS, P::INDEX, &self.given, narrowing);
            let next = spread.page(snapshot, &asked, (size, after), &mut each)?;
            return Ok(Page::of(rows, next));
        }
        let table = &*self.table();
        let query = |e: Error| e.attempted("query").table(table.name());
        if const { is_wide::<P>() } && self.asks_parts().map_err(query)? {
            return self.page_beyond(size, after).map_err(query);
        }
        let (hold, lanes) = self.held().map_err(query)?;
        let snapshot = std::borrow::Borrow::borrow(&hold);
        snapshot_page::<P, R>(snapshot, table, lanes, size, after)
    }

    /// A page of those wide entities whose parts pass the filter, of so many heads.
    fn page_beyond(&self, size: usize, after: Option<&Continuation>) -> Result<Page<R::Item>> {
        let mut heads = self.clone();
        if heads.narrowing.take_limit().is_some() {
            return Err(Error::new(ErrorKind::InvalidQuery).because(
                "the filter asks for what the parts of wide entities hold, and a page of those counts heads: leave out `top`",
            ));
        }
        let beyond = Beyond::take(P::KEYS, &mut heads.narrowing)?;
        let (hold, lanes) = heads.held()?;
        let (snapshot, table) = (std::borrow::Borrow::<Snapshot>::borrow(&hold), &*self.table());
        let page = snapshot.page_by(table, lanes, size, after, |_, view| {
            rows::read_beyond::<P, R>(beyond.as_ref(), snapshot, table, view)
        })?;
        Ok(Page::of(page.entities.into_iter().flatten().collect(), page.next))
    }

    /// The rows, to be decoded by the caller.
    fn refilling(&self) -> Result<Refilling<O::Hold>> {
        if const { O::SPREADS }
            && let Some(spread) = self.origin.spread()
        {
            let hold = self.origin.hold()?;
            let narrowing = R::select(self.narrowing.clone());
            let asked = (P::KEYS, P::INDEX, &self.given, narrowing);
            let across = spread.rows(std::borrow::Borrow::borrow(&hold), &asked)?;
            return Ok(Refilling::across(hold, self.origin.table(), across));
        }
        rows::refilling::<O>(&self.table(), self.held())
    }

    fn lower(&self) -> Result<Lanes> {
        lowering::lower(P::KEYS, &self.given, R::select(self.narrowing.clone()), &self.table())
    }

    /// The table of the rows that it reads.
    fn table(&self) -> Cow<'_, DynamicTable> {
        let table = self.origin.table();
        if P::KEYS.is_elsewhere() {
            Cow::Owned(table.member_of_family(P::KEYS.place().table.source()))
        } else {
            Cow::Borrowed(table)
        }
    }

    /// Where the query reads. An index must be ready there.
    fn hold(&self) -> Result<O::Hold> {
        let hold = self.origin.hold()?;
        let (snapshot, table) = (std::borrow::Borrow::borrow(&hold), self.origin.table());
        check_index::<P>(snapshot, table)?;
        if const { P::INDEX.is_none() } {
            snapshot.check_rows(table, P::Entity::SCHEMA)?;
        }
        Ok(hold)
    }

    /// What the query reads, and where. By tokens it is read as if at one moment.
    fn held(&self) -> Result<(O::Hold, Lanes)> {
        let mut found = None;
        let mut hold = || {
            found = Some((self.hold()?, self.lower()?));
            Ok(())
        };
        if self.given.is_blind() || self.narrowing.has_sealed() {
            steadily(self.origin.table(), &mut hold)?;
        } else {
            hold()?;
        }
        // It was held once at least.
        found.ok_or_else(|| Error::new(ErrorKind::KeySuperseded))
    }
}

/// What runs a query, of whatever step: it is compiled for one.
impl<P: Path, O: Origin, R: ReadAs<P>> PathQuery<P, O, R> {
    fn begin(mut self) -> TypedRows<P, O, R> {
        if const { R::LEAVES_OUT } {
            // Rows that are left out don't count.
            let most = self.narrowing.take_limit().unwrap_or(usize::MAX);
            return TypedRows::new(self.refilling()).at_most(most);
        }
        if const { is_wide::<P>() } {
            return match Beyond::take(P::KEYS, &mut self.narrowing) {
                Ok(None) => TypedRows::new(self.refilling()),
                Ok(Some(beyond)) => {
                    let most = self.narrowing.take_limit().unwrap_or(usize::MAX);
                    TypedRows::new(self.refilling()).at_most(most).beyond(beyond)
                }
                Err(error) => TypedRows::new(Err(error.attempted("query").table(self.origin.table().name()))),
            };
        }
        TypedRows::new(self.refilling())
    }

    fn counted(&self) -> Result<u64> {
        if const { P::INDEX.is_none() && P::Entity::SCHEMA.former.is_some() } {
            // What can't be converted must not be counted by what it was.
            return self.clone().into_iter().try_fold(0, |count, row| row.map(|_| count + 1));
        }
        self.refilling()?.count_rest()
    }
}

/// A query in terms of keys and properties.
pub(super) fn lowered<P: Path, O: Origin, R: ReadAs<P>, Step>(
    query: &PathQuery<P, O, R, Step>,
) -> Result<Lanes> {
    query.lower()
}

fn snapshot_page<P: Path, R: ReadAs<P>>(
    snapshot: &Snapshot,
    table: &DynamicTable,
    lanes: Lanes,
    size: usize,
    after: Option<&Continuation>,
) -> Result<Page<R::Item>> {
    if const { R::LEAVES_OUT } {
        let page =
            snapshot.page_by(table, lanes, size, after, |_, view| R::read_if(snapshot, table, view))?;
        return Ok(Page::of(page.entities.into_iter().flatten().collect(), page.next));
    }
    snapshot.page_by(table, lanes, size, after, |_, view| R::read(snapshot, table, view))
}

impl<P: Path, O: Origin, R: ReadAs<P>, Step> IntoIterator for PathQuery<P, O, R, Step> {
    type Item = Result<R::Item>;
    type IntoIter = TypedRows<P, O, R>;

    fn into_iter(self) -> TypedRows<P, O, R> {
        self.retyped::<R, Ended>().begin()
    }
}

impl<P, O: Clone, R, Step> Clone for PathQuery<P, O, R, Step> {
    fn clone(&self) -> Self {
        let Self { origin, given, narrowing, .. } = self;
        Self { origin: origin.clone(), given: given.clone(), narrowing: narrowing.clone(), of: PhantomData }
    }
}

impl<P, O: Origin, R, Step> fmt::Debug for PathQuery<P, O, R, Step> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathQuery").field("table", &self.origin.table().name()).finish_non_exhaustive()
    }
}
