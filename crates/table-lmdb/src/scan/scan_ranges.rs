//! The scans of a query's scan ranges, and where a page of them ended.

use std::sync::Arc;

use table_engine::error::Result;
use table_engine::executor::{self, ScanRanges};
use table_engine::model::EntityKeys;
use table_engine::query::{Continuation, Position};

use crate::lmdb::ReadTxn;
use crate::records::catalog::TableState;
use crate::records::meta::Meta;
use crate::scan::Scan;
use crate::state::StoreState;

/// Returns the scans of these scan ranges, each before its first row.
pub(crate) fn scans(
    scan_ranges: &ScanRanges,
    inner: &StoreState,
    txn: &ReadTxn<'static>,
    table: &Arc<TableState>,
) -> Result<Vec<Scan>> {
    // A scan is large: each is put where it stays.
    let mut scans = Vec::with_capacity(scan_ranges.queries().len());
    for query in scan_ranges.queries() {
        scans.push(Scan::new(inner, txn, table, query)?);
    }
    Ok(scans)
}

/// Returns the number that binds a token to these scans of a table of this store.
pub(crate) fn fingerprint(inner: &StoreState, txn: &heed::RoTxn<'_>, scans: &[Scan]) -> Result<u64> {
    let store = Meta::read(inner.environment.dbs.main, txn)?.tag();
    let table = scans.first().map_or(0, |scan| scan.table.id);
    Ok(executor::fingerprint(scans.iter().map(|scan| &scan.plan), table, store))
}

/// Moves the scans to where a page ended; returns how many entities are still wanted.
pub(crate) fn go_on(
    scan_ranges: &ScanRanges,
    scans: &mut [Scan],
    token: &Continuation,
    inner: &StoreState,
    txn: &ReadTxn<'static>,
) -> Result<u64> {
    let Position { partition, row, remaining } = token.resume(fingerprint(inner, txn, scans)?)?;
    let remaining = remaining.unwrap_or(u64::MAX);
    if scans.is_empty() {
        return Ok(0);
    }
    go_on_after(scan_ranges, scans, EntityKeys::new(partition, row))?;
    for scan in scans {
        scan.remaining = remaining;
    }
    Ok(remaining)
}

/// Moves the scans behind the row of these keys.
pub(crate) fn go_on_after(scan_ranges: &ScanRanges, scans: &mut [Scan], last: EntityKeys<'_>) -> Result<()> {
    let Some(table) = scans.first().map(|scan| scan.table.id) else { return Ok(()) };
    let ranges = scans.iter().map(|scan| scan.range.as_ref());
    let starts = executor::after_page(scan_ranges, table, ranges, last)?;
    for (scan, start) in scans.iter_mut().zip(starts) {
        let Some((row, is_after)) = start else { continue };
        scan.go_on(row, is_after);
    }
    Ok(())
}
