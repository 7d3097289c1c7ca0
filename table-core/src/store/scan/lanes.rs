//! What a walk reads: one query's rows, or those of several, merged.

use std::cmp::Ordering;

use crate::error::{Error, ErrorKind, Result};
use crate::query::{self, Continuation, Explain, Position, Query};
use crate::store::encryption::Lens;
use crate::store::key;
use crate::store::lmdb::ReadTxn;
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::records::meta::Meta;
use crate::store::scan::Scan;
use std::sync::Arc;

/// One query; or several, one for each shard or token, whose rows are merged in the order of what follows it in their
/// keys.
///
/// They differ in nothing but those, which have the same number of digits in each.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// At least one.
    queries: Vec<Query>,
    /// The bytes of partition key, separator and row key up to the end of the shard.
    common: usize,
    /// What the rows are looked at through, where some properties are sealed by a rule.
    lens: Option<Arc<Lens>>,
}

impl From<Query> for Lanes {
    fn from(query: Query) -> Self {
        Self::merged(vec![query], 0)
    }
}

impl Lanes {
    /// Queries whose rows are merged by what follows so many bytes of their keys.
    pub(crate) fn merged(queries: Vec<Query>, common: usize) -> Self {
        Self { queries, common, lens: None }
    }

    /// The same, whose filters may not look at what is sealed.
    #[cfg(feature = "encrypt")]
    pub(in crate::store) fn through(self, lens: Arc<Lens>) -> Self {
        Self { lens: Some(lens), ..self }
    }

    /// How the queries will be answered.
    pub(crate) fn explain(&self) -> Result<Explain> {
        let Some(first) = self.queries.first() else {
            return Query::new().top(0).explain();
        };
        Ok(first.explain()?.merged(self.queries.len(), first.limit()))
    }

    /// The scans, each before its first row.
    pub(in crate::store) fn scans(
        &self,
        inner: &Inner,
        txn: &heed::RoTxn<'_>,
        table: &Arc<TableState>,
    ) -> Result<Vec<Scan>> {
        let scan = |query| {
            let scan = Scan::new(inner, txn, table, query)?;
            let scan = scan.through(self.lens.as_ref());
            Ok(scan)
        };
        self.queries.iter().map(scan).collect()
    }

    /// How many entities are wanted.
    pub(in crate::store) fn wanted(&self) -> u64 {
        let top = self.queries.first().and_then(Query::limit);
        top.map_or(u64::MAX, |top| u64::try_from(top).unwrap_or(u64::MAX))
    }

    /// The bytes by which rows are merged.
    pub(in crate::store) fn rest<'k>(&self, stored: &'k [u8]) -> &'k [u8] {
        stored.get(key::TABLE + self.common..).unwrap_or_default()
    }
}

/// Which of two rows comes first: by the rest of the key, then by shard.
pub(in crate::store) fn order(reverse: bool, a: (&[u8], usize), b: (&[u8], usize)) -> Ordering {
    if reverse { b.cmp(&a) } else { a.cmp(&b) }
}

/// What binds a token to these scans of a table of this store.
pub(in crate::store) fn fingerprint(inner: &Inner, txn: &heed::RoTxn<'_>, scans: &[Scan]) -> Result<u64> {
    let store = Meta::read(inner.environment.dbs.main, txn)?.tag();
    let all = scans
        .iter()
        .fold(0_u64, |all, scan| all.rotate_left(5) ^ query::fingerprint(&scan.plan, scan.table.id));
    Ok(all ^ store)
}

/// Moves the scans to where a page ended; returns how many entities are still wanted.
pub(in crate::store) fn go_on(
    lanes: &Lanes,
    scans: &mut [Scan],
    token: &Continuation,
    (inner, txn): (&Inner, &ReadTxn<'static>),
) -> Result<u64> {
    let Position { partition, row, remaining } = token.resume(fingerprint(inner, txn, scans)?)?;
    let remaining = remaining.unwrap_or(u64::MAX);
    if let [scan] = scans {
        scan.go_on(key::stored(scan.table.id, partition, row), true);
        scan.remaining = remaining;
        return Ok(remaining);
    }
    let Some(first) = scans.first() else { return Ok(0) };
    let reverse = first.plan.reverse;
    let last = key::stored(first.table.id, partition, row);
    let rest = lanes.rest(&last);
    // Every row of a lane starts with what its range starts with, as far as the lanes differ.
    let head = |scan: &Scan| {
        let (start, _) = scan.range.as_ref()?;
        start.get(..last.len() - rest.len()).map(<[u8]>::to_vec)
    };
    let came_from = scans.iter().position(|scan| head(scan).is_some_and(|head| last.starts_with(&head)));
    let Some(came_from) = came_from else {
        return Err(Error::new(ErrorKind::InvalidContinuation)
            .attempted("read the continuation token")
            .because("the token is of none of the query's shards"));
    };
    for (lane, scan) in scans.iter_mut().enumerate() {
        let Some(mut row) = head(scan) else { continue };
        row.extend_from_slice(rest);
        let is_after = order(reverse, (rest, lane), (rest, came_from)).is_le();
        scan.go_on(row, is_after);
        scan.remaining = remaining;
    }
    Ok(remaining)
}
