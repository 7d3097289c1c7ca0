//! The scans of a query's lanes, and where a page of them ended.

use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Lanes, order};
use crate::query::{self, Continuation, Position};
use crate::row::key;
use crate::store::encryption::Lens;
use crate::store::lmdb::ReadTxn;
use crate::store::opened::Inner;
use crate::store::records::catalog::TableState;
use crate::store::records::meta::Meta;
use crate::store::scan::Scan;

/// The scans of these lanes, each before its first row. With a lens, filters may not look at what is sealed.
pub(in crate::store) fn scans(
    lanes: &Lanes,
    lens: Option<&Arc<Lens>>,
    (inner, txn): (&Inner, &ReadTxn<'static>),
    table: &Arc<TableState>,
) -> Result<Vec<Scan>> {
    let scan = |query| Ok(Scan::new(inner, txn, table, query)?.through(lens));
    lanes.queries().iter().map(scan).collect()
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
