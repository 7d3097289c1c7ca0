//! Queries over all kinds of a table.

use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

use super::{EntitySet, read_any};
#[cfg(feature = "async")]
use crate::asynchronous::Resumable;
use crate::error::{Error, ErrorKind, Result};
use crate::handle::page::Page;
use crate::handle::rows::BufferedScan;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::Value;
use crate::model::names::ENTITY_TYPE;
use crate::query::{Continuation, Explain, Filter, KeyBounds, PageBudget, Query, prop};
use crate::typed::entity::stored::Stored;
use crate::typed::query::PartFilter;
use crate::typed::read::origin::{AnyOrigin, Origin, TableIn};

/// A query over all kinds of a table, as it is now or in a snapshot.
#[must_use = "a query does nothing until it is iterated"]
pub struct SetQuery<Set, From = DynamicTable> {
    from: From,
    query: Result<Query>,
    /// Whether rows are asked for what they hold.
    filters: bool,
    set: PhantomData<fn() -> Set>,
}

impl<Set: EntitySet, From: AnyOrigin> SetQuery<Set, From> {
    /// Returns the query of another place to read.
    #[cfg(feature = "async")]
    pub(crate) fn on<Other: AnyOrigin>(self, from: Other) -> SetQuery<Set, Other> {
        SetQuery { from, query: self.query, filters: self.filters, set: PhantomData }
    }

    /// Returns where the query looks.
    #[cfg(feature = "async")]
    pub(crate) fn origin(&self) -> &From {
        &self.from
    }

    pub(crate) fn new(from: From, query: Result<Query>) -> Self {
        Self { from, query, filters: false, set: PhantomData }
    }

    fn with(mut self, change: impl FnOnce(Query) -> Query) -> Self {
        self.query = self.query.map(change);
        self
    }

    /// Narrows the query to rows whose key starts with this text.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.with(|query| query.row_prefix(prefix))
    }

    /// Narrows the query to rows in this range.
    pub fn rows(self, range: impl KeyBounds) -> Self {
        self.with(|query| query.rows(range))
    }

    /// Leaves out what does not pass the filter: `prop("Age").ge(40)`. What an entity reads is compared: one that has the
    /// property under the name that it `was` passes by that, and one without it by the default of its field, if that is
    /// `#[property(default)]`.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filters = true;
        self.with(|query| query.filter(filter.for_kinds(Set::KINDS)))
    }

    /// Gives the entities from the last to the first.
    pub fn rev(self) -> Self {
        self.with(Query::rev)
    }

    /// Lets a store without a descending order hold up to so many rows to give them from the last; see [`Query::buffered`].
    pub fn buffered(self, rows: usize) -> Self {
        self.with(|query| query.buffered(rows))
    }

    /// Gives so many at the most.
    pub fn top(self, entities: usize) -> Self {
        self.with(|query| query.top(entities))
    }

    /// Limits the answer to so many entities, as [`top`](Self::top) does: the word that SQL has for it.
    pub fn limit(self, entities: usize) -> Self {
        self.top(entities)
    }

    /// Returns how the query will be answered, and why.
    pub fn explain(&self) -> Result<Explain> {
        match &self.query {
            Ok(query) => {
                self.check_heads(query)?;
                let parts = Set::KINDS.iter().map(|schema| schema.parts.len()).max().unwrap_or_default();
                Ok(self.from.table().explain(query)?.with_parts(parts, false))
            }
            Err(error) => Err(error.again()),
        }
    }

    /// Returns the rows, of which those of previous versions are converted when they are read. What is asked of their
    /// properties is asked of what is stored, so then there must be none.
    fn found(self) -> Result<BufferedScan<From::SnapshotHandle>> {
        let query = self.without_copies()?;
        BufferedScan::new(self.snapshot_handle()?, self.from.table(), query.into())
    }

    /// Returns the query without the copies of the set's kinds.
    fn without_copies(&self) -> Result<Query> {
        match &self.query {
            Ok(query) => {
                self.check_heads(query)?;
                Ok(without_copies::<Set>(query.clone()))
            }
            Err(error) => Err(error.again()),
        }
    }

    /// Refuses a filter that asks for what parts of wide entities hold: rows are asked one by one.
    fn check_heads(&self, query: &Query) -> Result<()> {
        for schema in Set::KINDS.iter().filter(|schema| schema.is_wide()) {
            if PartFilter::is_asked(schema, query)? {
                let entity = schema.entity;
                let because = format!(
                    "the filter asks for what the parts of `{entity}` hold, and a set's looks at heads alone: \
                     `Store::table` gives a table of `{entity}`, whose filters look at parts"
                );
                let error = Error::new(ErrorKind::InvalidQuery).because(because);
                return Err(error.attempted("query").table(self.from.table().name()));
            }
        }
        Ok(())
    }

    /// Returns what is read, in which each row can be read as one of the set's.
    fn snapshot_handle(&self) -> Result<From::SnapshotHandle> {
        let (hold, table) = (self.from.snapshot_handle()?, self.from.table());
        let snapshot: &Snapshot = hold.borrow();
        for schema in Set::KINDS {
            if self.filters {
                snapshot.check_rows_as_stored(table, schema)?;
            } else {
                snapshot.check_rows(table, schema)?;
            }
        }
        Ok(hold)
    }
}

/// What runs a query, where that may block.
impl<Set: EntitySet, From: Origin> SetQuery<Set, From> {
    /// Begins to read what the query finds.
    fn begin(self) -> SetRows<Set, From> {
        SetRows(self.found().map_err(Some), PhantomData)
    }

    /// Returns how many entities there are, those of kinds beside the set's too.
    pub fn count(self) -> Result<u64> {
        self.found()?.count_rest()
    }

    /// Returns the first that the query finds, if it finds any; whatever [`top`](Self::top) said.
    pub fn first(self) -> Result<Option<Stored<Set>>> {
        self.top(1).begin().next().transpose()
    }

    /// Returns whether the query finds any, whatever [`top`](Self::top) said.
    pub fn exists(self) -> Result<bool> {
        self.top(1).count().map(|found| found > 0)
    }

    /// Returns a page: at most `size` entities, 1,000 at most, from the start or from where another page of the query ended.
    ///
    /// ```
    /// # use table_core::{Entity, EntitySet, Store};
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "department")]
    /// # #[key(partition = "{name}", row = "department")]
    /// # struct Department { name: String }
    /// # #[derive(Entity)]
    /// # #[entity(table = "Company", kind = "employee")]
    /// # #[key(partition = "{department}", row = "empid_{id:06}")]
    /// # struct Employee { department: String, id: u32 }
    /// # #[derive(EntitySet)]
    /// # enum Company { Department(Department), Employee(Employee) }
    /// # let store = Store::temporary()?;
    /// # for id in 1..=3 {
    /// #     store.table::<Employee>()?.insert(&Employee { department: "Sales".into(), id })?;
    /// # }
    /// # store.table::<Department>()?.insert(&Department { name: "Sales".into() })?;
    /// let sales = store.set::<Company>()?.partition(Department::partition("Sales"));
    /// let first = sales.page(3, None)?;
    /// let rest = sales.page(3, first.next.as_ref())?;
    /// assert_eq!((first.entities.len(), rest.entities.len()), (3, 1));
    /// assert!(rest.next.is_none());
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn page(
        &self,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page<Stored<Set>>> {
        let (query, hold) = (self.without_copies()?, self.snapshot_handle()?);
        let snapshot: &Snapshot = hold.borrow();
        let table = self.from.table();
        snapshot
            .page_by(table, query.into(), budget, after, |_, view| read_any(Some((snapshot, table)), view))
    }
}

/// Returns the query without the copies of the set's kinds. A filter, so that [`Query::top`] doesn't count them.
fn without_copies<Set: EntitySet>(query: Query) -> Query {
    let copies = Set::KINDS.iter().flat_map(|schema| schema.indexes).map(|index| index.kind);
    let parts = Set::KINDS.iter().flat_map(|schema| schema.parts).copied();
    let query =
        copies.chain(parts).fold(query, |query, kind| query.filter(!prop(ENTITY_TYPE).eq(Value::from(kind))));
    // The indexes of previous versions are not known here; the kinds of their rows begin with the version's kind.
    Set::KINDS.iter().flat_map(|schema| schema.previous_versions()).fold(query, |query, previous| {
        let [first, beyond] =
            ['.', '/'].map(|behind| Value::from(format!("{}{behind}", previous.entity_type)));
        query.filter(!(prop(ENTITY_TYPE).ge(first) & prop(ENTITY_TYPE).lt(beyond)))
    })
}

/// For each place where it blocks: `typed::query` says why.
impl<Set: EntitySet> IntoIterator for SetQuery<Set, DynamicTable> {
    type Item = Result<Stored<Set>>;
    type IntoIter = SetRows<Set>;

    fn into_iter(self) -> SetRows<Set> {
        self.begin()
    }
}

impl<'s, Set: EntitySet> IntoIterator for SetQuery<Set, TableIn<'s>> {
    type Item = Result<Stored<Set>>;
    type IntoIter = SetRows<Set, TableIn<'s>>;

    fn into_iter(self) -> SetRows<Set, TableIn<'s>> {
        self.begin()
    }
}

impl<Set, From: Clone> Clone for SetQuery<Set, From> {
    fn clone(&self) -> Self {
        let query = match &self.query {
            Ok(query) => Ok(query.clone()),
            Err(error) => Err(error.again()),
        };
        Self { from: self.from.clone(), query, filters: self.filters, set: PhantomData }
    }
}

impl<Set, From> fmt::Debug for SetQuery<Set, From> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetQuery").field("query", &self.query).finish_non_exhaustive()
    }
}

/// What a query over all kinds finds, in order: an iterator that owns its snapshot, or reads the caller's.
///
/// An error, of the query itself too, comes as an item, and ends it.
pub struct SetRows<Set, From: AnyOrigin = DynamicTable>(
    Result<BufferedScan<From::SnapshotHandle>, Option<Error>>,
    PhantomData<fn() -> Set>,
);

impl<Set: EntitySet, From: AnyOrigin> Iterator for SetRows<Set, From> {
    type Item = Result<Stored<Set>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Ok(rows) => rows.next_by(|reading, view| read_any(Some((reading.snapshot, reading.table)), view)),
            Err(error) => error.take().map(Err),
        }
    }
}

#[cfg(feature = "async")]
impl<Set: EntitySet> Resumable for SetRows<Set, DynamicTable> {
    type Row = Stored<Set>;

    fn next_and_place(&mut self) -> (Option<Self::Item>, Option<Continuation>) {
        match &mut self.0 {
            Ok(rows) => {
                rows.next_and_place(|reading, view| read_any(Some((reading.snapshot, reading.table)), view))
            }
            Err(error) => (error.take().map(Err), None),
        }
    }
}

impl<Set, From: AnyOrigin> fmt::Debug for SetRows<Set, From> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetRows").finish_non_exhaustive()
    }
}
