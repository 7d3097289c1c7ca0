//! Scan ranges, which are what cursors read of one query, or of several.

use crate::error::Result;
#[cfg(feature = "access")]
use crate::query::Visible;
use crate::query::{Explain, Query};
use crate::row::key;

/// One query; or several, one for each shard or token, whose rows are merged in the order of what follows it in their
/// keys.
///
/// The queries differ in the shard or token alone, which has as many digits in each.
#[derive(Clone, Debug)]
pub struct ScanRanges {
    queries: Queries,
    /// The bytes of partition key, separator and row key up to the end of the shard.
    common: usize,
    /// The shard of each query, where a row may move from a query of its shard to a later one while they are read: the store has
    /// no snapshots, and the queries are of tokens. Otherwise empty.
    shards: Vec<usize>,
}

/// The queries, at least one.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most queries have one scan range, which needs no memory of its own"
)]
enum Queries {
    One(Query),
    Several(Vec<Query>),
}

impl From<Query> for ScanRanges {
    fn from(query: Query) -> Self {
        Self { queries: Queries::One(query), common: 0, shards: Vec::new() }
    }
}

impl ScanRanges {
    /// Merges the rows of queries by what follows so many bytes of their keys.
    pub(crate) fn merged(queries: Vec<Query>, common: usize) -> Self {
        Self { queries: Queries::Several(queries), common, shards: Vec::new() }
    }

    /// Expects rows to move between queries of one shard, each to a later one.
    pub(crate) fn moving(self, shards: Vec<usize>) -> Self {
        Self { shards, ..self }
    }

    /// Returns whether rows may move from a query to another while they are read.
    pub(super) fn may_move(&self) -> bool {
        !self.shards.is_empty()
    }

    /// Returns whether a row may move from this query to a later one while they are read.
    pub(super) fn may_lose(&self, query: usize) -> bool {
        let shard = self.shards.get(query);
        shard.is_some() && self.shards.get(query + 1) == shard
    }

    /// Returns whether two queries may give one row, which has moved.
    pub(super) fn share_rows(&self, one: usize, other: usize) -> bool {
        let shard = self.shards.get(one);
        shard.is_some() && self.shards.get(other) == shard
    }

    /// Returns the ranges with each query narrowed to what its reader may see.
    #[cfg(feature = "access")]
    pub(crate) fn narrowed(&self, visible: &Visible) -> Self {
        let narrow = |query: &Query| query.clone().narrowed(visible.clone());
        let queries = match &self.queries {
            Queries::One(query) => Queries::One(narrow(query)),
            Queries::Several(queries) => Queries::Several(queries.iter().map(narrow).collect()),
        };
        Self { queries, common: self.common, shards: self.shards.clone() }
    }

    /// Returns the query of each scan range.
    pub fn queries(&self) -> &[Query] {
        match &self.queries {
            Queries::One(query) => std::slice::from_ref(query),
            Queries::Several(queries) => queries,
        }
    }

    /// Returns how the queries will be answered.
    pub(crate) fn explain(&self) -> Result<Explain> {
        let Some(first) = self.queries().first() else {
            return Query::new().top(0).explain();
        };
        Ok(first.explain()?.merged(self.queries().len(), first.most()))
    }

    /// Returns how many entities are wanted.
    pub fn wanted(&self) -> u64 {
        let top = self.queries().first().and_then(Query::most);
        top.map_or(u64::MAX, |top| u64::try_from(top).unwrap_or(u64::MAX))
    }

    /// Returns whether the rows come from the last to the first.
    pub(crate) fn are_reverse(&self) -> bool {
        self.queries().first().is_some_and(Query::is_reverse)
    }

    /// Returns whether a store without a descending order may hold rows to turn them round.
    pub(crate) fn may_buffer(&self) -> bool {
        self.queries().first().and_then(Query::buffers).is_some()
    }

    /// Returns the bytes by which rows are merged.
    pub fn rest<'k>(&self, stored: &'k [u8]) -> &'k [u8] {
        key::behind_shared(stored, self.common)
    }
}
