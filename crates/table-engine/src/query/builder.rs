//! Queries as the user builds them.

use std::sync::Arc;

use super::bounds::{KeyBounds, KeyRange};
use super::eval::Predicate;
use super::explain::Explain;
use super::filter::Filter;
use super::guard::FilterGuard;
use super::keys::Kind;
use super::narrowing::Visible;
use super::pairs::{PairBounds, PairRange};
use super::plan::plan;
use super::sealed::SealedEq;
use super::within::{Printed, Within};
use crate::error::Error;
use crate::model::Value;

/// The entities of a table to read, their properties, and the order.
///
/// Entities come in the order of their partition keys and then their row keys. Bounds on the keys and a filter all apply
/// together. Every condition on keys that is a range, wherever it stands, makes the range that is read smaller.
/// [`explain`](Self::explain) says what will be read and why.
///
/// ```
/// use table_core::query::QueryClass;
/// use table_core::{Query, prop};
///
/// let query = Query::new().partition("Sales").row_prefix("empid_").filter(prop("Age").ge(40));
/// assert_eq!(query.explain()?.class(), QueryClass::Range);
/// assert_eq!(query.explain()?.to_string(), "range of \"Sales\", rows starting with \"empid_\"; filter: Age ge 40");
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a query does nothing until a table runs it"]
pub struct Query {
    pub(super) within: Within,
    /// Ranges over pairs of keys, which all apply.
    pub(super) pairs: Vec<PairRange>,
    pub(super) filter: Option<Filter>,
    pub(super) select: Option<Vec<Box<str>>>,
    pub(super) top: Option<usize>,
    pub(super) reverse: bool,
    /// How many rows a store without that order may hold to give them from the last to the first.
    pub(super) buffered: Option<usize>,
    /// For queries of entities of one kind.
    pub(super) kind: Option<Kind>,
    /// What may refuse that the filter looks at a row.
    pub(super) guard: Option<Arc<dyn FilterGuard>>,
    /// What its reader may see.
    pub(super) visible: Visible,
}

impl Default for Query {
    fn default() -> Self {
        Self::new()
    }
}

impl Query {
    /// Makes the query for every entity of the table, whole.
    pub fn new() -> Self {
        Self {
            within: Within::all(),
            pairs: Vec::new(),
            filter: None,
            select: None,
            top: None,
            reverse: false,
            buffered: None,
            kind: None,
            guard: None,
            visible: Visible::default(),
        }
    }

    /// Reads only this partition. Bounds that are given more than once all apply.
    pub fn partition(self, partition_key: impl AsRef<str>) -> Self {
        self.with_partition(KeyRange::exactly(partition_key.as_ref()))
    }

    /// Reads only partitions in this range.
    ///
    /// ```
    /// # use table_core::Query;
    /// let query = Query::new().partitions("A".."C").partitions("B"..);
    /// assert_eq!(query.explain()?.partition(), "from \"B\" before \"C\"");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a range is written where it is given")]
    pub fn partitions(self, range: impl KeyBounds) -> Self {
        let (lower, upper) = range.key_bounds();
        let range = KeyRange::new(lower, upper);
        self.with_partition(range)
    }

    /// Reads only partitions whose key starts with this text.
    pub fn partition_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.with_partition(KeyRange::prefix(prefix.as_ref()))
    }

    /// Reads only the row of this key; with a partition, that is one entity.
    pub fn row(self, row_key: impl AsRef<str>) -> Self {
        self.with_row(KeyRange::exactly(row_key.as_ref()))
    }

    /// Reads only rows in this range. It makes less be read only within [one partition](Self::partition); over several,
    /// it is a filter.
    #[expect(clippy::needless_pass_by_value, reason = "a range is written where it is given")]
    pub fn rows(self, range: impl KeyBounds) -> Self {
        let (lower, upper) = range.key_bounds();
        let range = KeyRange::new(lower, upper);
        self.with_row(range)
    }

    /// Reads only rows whose key starts with this text.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.with_row(KeyRange::prefix(prefix.as_ref()))
    }

    /// Reads only entities whose pair of keys lies in this range: from a row of one partition to a row of the same or of another.
    /// No row outside is read. Ranges that are given more than once all apply, as do the other bounds.
    ///
    /// An end that no entity could have as its keys is [`InvalidKey`](crate::ErrorKind::InvalidKey), or
    /// [`KeyTooLong`](crate::ErrorKind::KeyTooLong), when the query runs.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Query, Store};
    ///
    /// # let store = Store::temporary()?;
    /// let company = store.create_table("Company")?;
    /// for (department, id) in [("Legal", "1"), ("Legal", "2"), ("Marketing", "1"), ("Sales", "1"), ("Sales", "2")] {
    ///     company.insert(&DynamicEntity::new(department, id))?;
    /// }
    ///
    /// let query = Query::new().between(("Legal", "2")..=("Sales", "1"));
    /// assert_eq!(company.query(&query)?.count(), 3);
    /// assert_eq!(
    ///     query.explain()?.to_string(),
    ///     "table scan of partitions from \"Legal\" through \"Sales\", pairs from (\"Legal\", \"2\") through (\"Sales\", \"1\"); \
    ///      why: the partition keys are a range"
    /// );
    ///
    /// // Within one partition it is a range of rows.
    /// let query = Query::new().between(("Sales", "1")..("Sales", "2"));
    /// assert_eq!(query.explain()?.to_string(), "range of \"Sales\", rows from \"1\" before \"2\"");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[expect(clippy::needless_pass_by_value, reason = "a range is written where it is given")]
    pub fn between(mut self, range: impl PairBounds) -> Self {
        self.pairs.push(PairRange::of(&range));
        self
    }

    /// Reads only entities that satisfy the filter. Filters that are given more than once all apply.
    ///
    /// Comparisons of keys that the filter joins by `and` are bounds, as if given by the methods above.
    ///
    /// ```
    /// use table_core::query::QueryClass;
    /// use table_core::{Filter, Query};
    ///
    /// let filter = Filter::parse("PartitionKey eq 'Sales' and RowKey eq 'empid_000001' and Age ge 40")?;
    /// let explain = Query::new().filter(filter).explain()?;
    /// assert_eq!(explain.class(), QueryClass::Point);
    /// assert_eq!(explain.filter(), Some("Age ge 40"));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn filter(mut self, filter: Filter) -> Self {
        self.narrow(filter);
        self
    }

    /// Reads only these properties; the last list given counts. Keys and timestamp always come, and an empty list
    /// leaves them alone. A property that an entity doesn't have is left out.
    ///
    /// ```
    /// # use table_core::Query;
    /// let query = Query::new().partition("Sales").select(["FirstName", "Email"]);
    /// ```
    pub fn select<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.select = Some(names.into_iter().map(|name| name.as_ref().into()).collect());
        self
    }

    /// Limits the answer to so many entities, over all pages together; the last number given counts. None, if it is zero.
    pub fn top(mut self, entities: usize) -> Self {
        self.top = Some(entities);
        self
    }

    /// Limits the answer to so many entities, as [`top`](Self::top) does: the word that SQL has for it.
    ///
    /// ```
    /// use table_core::{DynamicEntity, Query, Store};
    ///
    /// # let store = Store::temporary()?;
    /// # let company = store.create_table("Company")?;
    /// for row in ["1", "2", "3"] {
    ///     company.insert(&DynamicEntity::new("Sales", row))?;
    /// }
    /// assert_eq!(company.query(&Query::new().limit(2))?.count(), 2);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn limit(self, entities: usize) -> Self {
        self.top(entities)
    }

    /// Reads in descending order of the keys; said twice, in ascending order again. A store without that order,
    /// as the Table service is, refuses the query: [`Unsupported`](crate::ErrorKind::Unsupported), unless it is
    /// [`buffered`](Self::buffered).
    pub fn rev(mut self) -> Self {
        self.reverse = !self.reverse;
        self
    }

    /// Lets a store without a descending order read a range of the query from its start to its end, and hold up to so many of
    /// the rows that are wanted, to give them [from the last](Self::rev). More are refused when they are met; with
    /// [`top`](Self::top) no more than those are held. Other stores give the rows as they come.
    ///
    /// ```
    /// # use table_core::{DynamicEntity, Query, Store};
    /// # let store = Store::temporary()?;
    /// # let company = store.create_table("Company")?;
    /// for row in ["1", "2", "3"] {
    ///     company.insert(&DynamicEntity::new("Sales", row))?;
    /// }
    /// let last = company.query(&Query::new().partition("Sales").rev().buffered(1_000).top(1))?.next();
    /// assert_eq!(last.transpose()?.unwrap().row_key(), "3");
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn buffered(mut self, rows: usize) -> Self {
        self.buffered = Some(rows);
        self
    }

    /// Returns the query of the last row of its kind in the range of keys that this one reads, whatever its filter says.
    pub(crate) fn of_last_row(&self) -> Self {
        let (within, pairs, kind) = (self.within.clone(), self.pairs.clone(), self.kind);
        Self { within, pairs, kind, top: Some(1), reverse: true, ..Self::new() }
    }

    /// Has the guard asked before the filter looks at a row.
    #[cfg(feature = "encrypt")]
    pub(crate) fn guarded(self, guard: Arc<dyn FilterGuard>) -> Self {
        Self { guard: Some(guard), ..self }
    }

    /// Narrows it to what its reader may see.
    #[cfg(feature = "access")]
    pub(crate) fn narrowed(self, visible: Visible) -> Self {
        Self { visible, ..self }
    }

    /// Returns whether its filter compares a property that is stored sealed.
    pub(crate) fn has_sealed(&self) -> bool {
        self.filter.as_ref().is_some_and(Filter::has_sealed)
    }

    /// Puts what `known` makes of each comparison with a sealed property in its place.
    pub(crate) fn resolve(
        &mut self,
        known: &mut dyn FnMut(&SealedEq) -> Result<SealedEq, Error>,
    ) -> Result<(), Error> {
        self.filter = self.filter.take().map(|filter| filter.resolved(known)).transpose()?;
        Ok(())
    }

    /// Returns the filter, ready to be asked; an error if it is none.
    pub(crate) fn predicate(&self) -> Result<Option<Predicate>, Error> {
        self.filter.as_ref().map(Filter::predicate).transpose()
    }

    /// Leaves nothing out by a filter any more.
    pub(crate) fn drop_filter(&mut self) {
        self.filter = None;
    }

    /// Has its filter compare what stands for declared properties where a row lacks them.
    pub(crate) fn fill(&mut self, default: &dyn Fn(&str) -> Option<Value>) {
        self.filter = self.filter.take().map(|filter| filter.filled(default));
    }

    /// Leaves partitions in this range alone.
    pub(crate) fn narrow_partition(&mut self, range: KeyRange) {
        self.narrow_keys(range, KeyRange::all());
    }

    /// Leaves rows in this range alone.
    pub(crate) fn narrow_rows(&mut self, range: KeyRange) {
        self.narrow_keys(KeyRange::all(), range);
    }

    fn narrow_keys(&mut self, partition: KeyRange, row: KeyRange) {
        let known = std::mem::replace(&mut self.within, Within::all());
        self.within = known.intersect(partition, row);
    }

    /// Leaves these keys alone, of a query that has no bounds yet.
    pub(crate) fn narrow_to(&mut self, printed: Printed) {
        self.within = Within::Printed(printed);
    }

    /// Returns whether another asks for the same keys.
    pub(crate) fn asks_for_keys_of(&self, other: &Self) -> bool {
        self.within.ranges() == other.within.ranges() && self.pairs == other.pairs && self.top == other.top
    }

    /// Leaves nothing.
    pub(crate) fn narrow_to_nothing(&mut self) {
        self.top = Some(0);
    }

    /// Leaves what satisfies the filter alone.
    pub(crate) fn narrow(&mut self, filter: Filter) {
        self.filter = Some(match self.filter.take() {
            Some(known) => known & filter,
            None => filter,
        });
    }

    /// Reads only rows of this kind.
    pub(crate) fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Reads in ascending order.
    pub(crate) fn ascending(mut self) -> Self {
        self.reverse = false;
        self
    }

    /// Returns how many it gives at the most, which it does not see to itself any more.
    pub(crate) fn take_limit(&mut self) -> Option<usize> {
        self.top.take()
    }

    /// Returns how many entities it gives at the most.
    pub(crate) fn most(&self) -> Option<usize> {
        self.top
    }

    /// Returns how many rows a store may hold to turn their order round.
    pub(crate) fn buffers(&self) -> Option<usize> {
        self.buffered
    }

    /// Returns whether it gives its rows from the last to the first.
    pub(crate) fn is_reverse(&self) -> bool {
        self.reverse
    }

    /// Returns what the query will read, and why.
    #[inline]
    pub fn explain(&self) -> Result<Explain, Error> {
        plan(self).map(|plan| plan.explain())
    }

    fn with_partition(mut self, range: KeyRange) -> Self {
        self.narrow_partition(range);
        self
    }

    fn with_row(mut self, range: KeyRange) -> Self {
        self.narrow_rows(range);
        self
    }
}
