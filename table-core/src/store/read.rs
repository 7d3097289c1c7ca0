//! Reading one row.

use super::Inner;
use super::catalog::TableState;
use super::key;
use super::lmdb::{self, Db};
use super::row::{self, Row};
use super::view::{self, RowView};
use crate::error::{Error, ErrorKind, Result};

/// Finds a row in a snapshot.
pub(crate) fn get<'t>(
    inner: &Inner,
    txn: &'t heed::RoTxn<'_>,
    table: &TableState,
    partition: &str,
    row: &str,
) -> Result<Option<RowView<'t>>> {
    let environment = &inner.environment;
    table.check_exists(&environment.dbs, txn)?;
    if !key::fits(partition, row) {
        // Longer than any row's: there is none.
        return Ok(None);
    }
    let mut key = Vec::new();
    key::encode(table.id, partition, row, &mut key);
    let verify = environment.options.verify_reads;
    let Some(bytes) = environment.dbs.data.get(txn, &key).map_err(lmdb::error)? else {
        return if verify { verify_miss(inner, txn, &key).map(|()| None) } else { Ok(None) };
    };
    if verify && let Some(pages) = &environment.pages {
        pages.check_value(bytes)?;
    }
    let row = Row::parse(bytes)?;
    let seed = row::key_seed(&key);
    if verify {
        row.verify(seed)?;
    }
    let mut dict = table.dict();
    if !view::covers(&dict, &row) {
        dict = table.reload(&environment.dbs, txn)?;
    }
    Ok(Some(if verify {
        RowView::verified(key.into(), row, dict, seed)
    } else {
        RowView::new(key.into(), row, dict)
    }))
}

/// Makes sure that a row which was not found is not there: its neighbours must be sound, one on each side.
///
/// A flipped bit in a page that leads to the row's leads the search astray. Then what it finds there lies on the wrong
/// side, or is not a neighbour where a search for itself leads. The leaves where it ends must be whole, too.
fn verify_miss(inner: &Inner, txn: &heed::RoTxn<'_>, key: &[u8]) -> Result<()> {
    let data = inner.environment.dbs.data;
    let before = data.get_lower_than(txn, key).map_err(lmdb::error)?;
    // Or equal: from the page before its own, the search for a row that is there ends just before it.
    let after = data.get_greater_than_or_equal_to(txn, key).map_err(lmdb::error)?;
    for (key, bytes) in before.into_iter().chain(after) {
        verify_row(inner, key, bytes)?;
    }
    let [before, after] = [before, after].map(|row| row.map(|(found, _)| found));
    let right = before.is_none_or(|found| found < key)
        && after.is_none_or(|found| found > key)
        && next(data, txn, before, false)? == after
        && next(data, txn, after, true)? == before;
    if right { Ok(()) } else { Err(key::locate(out_of_order(), key)) }
}

/// The key that a search finds next to this one; without one, the first there is.
pub(crate) fn next<'t>(
    data: Db,
    txn: &'t heed::RoTxn<'_>,
    key: Option<&[u8]>,
    reverse: bool,
) -> Result<Option<&'t [u8]>> {
    let next = match (key, reverse) {
        (Some(key), false) => data.get_greater_than(txn, key),
        (Some(key), true) => data.get_lower_than(txn, key),
        (None, false) => data.first(txn),
        (None, true) => data.last(txn),
    };
    Ok(next.map_err(lmdb::error)?.map(|(found, _)| found))
}

/// Checks a row that is only a neighbour, and its leaf.
pub(crate) fn verify_row(inner: &Inner, key: &[u8], bytes: &[u8]) -> Result<()> {
    if let Some(pages) = &inner.environment.pages {
        pages.check_leaf(key)?;
        pages.check_value(bytes)?;
    }
    let verify = || Row::parse(bytes)?.verify(row::key_seed(key));
    verify().map_err(|damaged| key::locate(damaged.into(), key))
}

#[cold]
pub(crate) fn out_of_order() -> Error {
    Error::new(ErrorKind::Corrupt).because("the rows are out of order: a page of the store is damaged")
}
