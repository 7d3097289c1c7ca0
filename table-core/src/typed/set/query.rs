//! Queries over all kinds of a table.

use std::fmt;
use std::marker::PhantomData;

use super::{EntitySet, read_any};
use crate::error::{Error, Result};
use crate::handle::rows::Refilling;
use crate::handle::table::DynamicTable;
use crate::model::Value;
use crate::model::names::ENTITY_TYPE;
use crate::query::{Explain, Filter, KeyBounds, Query, prop};
use crate::typed::entity::stored::Stored;

/// A query over all kinds of a table.
#[must_use = "a query does nothing until it is iterated"]
pub struct SetQuery<Set> {
    table: DynamicTable,
    query: Result<Query>,
    /// Whether rows are asked for what they hold.
    filters: bool,
    set: PhantomData<fn() -> Set>,
}

impl<Set: EntitySet> SetQuery<Set> {
    pub(super) fn new(table: DynamicTable, query: Result<Query>) -> Self {
        Self { table, query, filters: false, set: PhantomData }
    }

    fn with(mut self, change: impl FnOnce(Query) -> Query) -> Self {
        self.query = self.query.map(change);
        self
    }

    /// Only rows whose key starts with this text.
    pub fn row_prefix(self, prefix: impl AsRef<str>) -> Self {
        self.with(|query| query.row_prefix(prefix))
    }

    /// Only rows in this range.
    pub fn rows(self, range: impl KeyBounds) -> Self {
        self.with(|query| query.rows(range))
    }

    /// Leaves out what does not pass the filter: `prop("Age").ge(40)`. An entity without the property doesn't pass, unless its
    /// field is `#[property(default)]`: then the default is compared, which is what is read of it.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filters = true;
        self.with(|query| query.filter(filter.or_defaults(Set::KINDS)))
    }

    /// Gives the entities from the last to the first.
    pub fn rev(self) -> Self {
        self.with(Query::rev)
    }

    /// Gives so many at the most.
    pub fn top(self, entities: usize) -> Self {
        self.with(|query| query.top(entities))
    }

    /// How the query will be answered, and why.
    pub fn explain(&self) -> Result<Explain> {
        match &self.query {
            Ok(query) => self.table.explain(query),
            Err(error) => Err(error.again()),
        }
    }

    /// How many entities there are, those of kinds beside the set's too.
    pub fn count(self) -> Result<u64> {
        self.found()?.count_rest()
    }

    /// The rows, of which those of former versions are converted when they are read. What is asked of their properties is
    /// asked of what is stored, so then there must be none.
    fn found(self) -> Result<Refilling> {
        let query = without_copies::<Set>(self.query?);
        let snapshot = self.table.snapshot()?;
        for schema in Set::KINDS {
            if self.filters {
                snapshot.check_rows_as_stored(&self.table, schema)?;
            } else {
                snapshot.check_rows(&self.table, schema)?;
            }
        }
        Refilling::new(snapshot, &self.table, query.into())
    }
}

/// The query without the copies of the set's kinds. A filter, so that [`Query::top`] doesn't count them.
fn without_copies<Set: EntitySet>(query: Query) -> Query {
    let copies = Set::KINDS.iter().flat_map(|schema| schema.indexes).map(|index| index.kind);
    let parts = Set::KINDS.iter().flat_map(|schema| schema.parts).copied();
    let query =
        copies.chain(parts).fold(query, |query, kind| query.filter(!prop(ENTITY_TYPE).eq(Value::from(kind))));
    // Which indexes former versions had, nobody here knows: their rows' kinds begin alike.
    Set::KINDS.iter().flat_map(|schema| schema.formers()).fold(query, |query, former| {
        let [first, beyond] = ['.', '/'].map(|behind| Value::from(format!("{}{behind}", former.entity_type)));
        query.filter(!(prop(ENTITY_TYPE).ge(first) & prop(ENTITY_TYPE).lt(beyond)))
    })
}

impl<Set: EntitySet> IntoIterator for SetQuery<Set> {
    type Item = Result<Stored<Set>>;
    type IntoIter = SetRows<Set>;

    fn into_iter(self) -> SetRows<Set> {
        SetRows(self.found().map_err(Some), PhantomData)
    }
}

impl<Set> fmt::Debug for SetQuery<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetQuery").field("query", &self.query).finish_non_exhaustive()
    }
}

/// What a query over all kinds finds, in order: an iterator that owns its snapshot.
///
/// An error, of the query itself too, comes as an item, and ends it.
pub struct SetRows<Set>(Result<Refilling, Option<Error>>, PhantomData<fn() -> Set>);

impl<Set: EntitySet> Iterator for SetRows<Set> {
    type Item = Result<Stored<Set>>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.0 {
            Ok(rows) => rows.next_by(|_, view| read_any(view)),
            Err(error) => error.take().map(Err),
        }
    }
}

impl<Set> fmt::Debug for SetRows<Set> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetRows").finish_non_exhaustive()
    }
}
