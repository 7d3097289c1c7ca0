//! Reading one row.

use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::EntityKeys;
use table_engine::row::dict::Dict;
use table_engine::row::key::{self, KeyBuffer};
use table_engine::row::view::{self, RowView};
use table_engine::row::{self, Row};

use crate::lmdb;
use crate::open::Environment;
use crate::records::catalog::TableState;
use crate::state::StoreState;

/// Finds a row in a snapshot. One that carries a keyed digest is verified, and one that lacks the digest of its kind refused.
pub(crate) fn get<'t>(
    inner: &StoreState,
    txn: &'t heed::RoTxn<'_>,
    table: &TableState,
    keys: EntityKeys<'_>,
) -> Result<Option<RowView<'t>>> {
    let found = get_unverified(inner, txn, table, keys)?;
    found.as_ref().map_or(Ok(()), |view| table.check_genuine(view))?;
    Ok(found)
}

/// Finds a row in a snapshot, and does not verify its keyed digest: enough to know where the row stands.
pub(crate) fn get_unverified<'t>(
    inner: &StoreState,
    txn: &'t heed::RoTxn<'_>,
    table: &TableState,
    keys: EntityKeys<'_>,
) -> Result<Option<RowView<'t>>> {
    let mut key = Vec::new();
    key::encode(table.id, keys.partition, keys.row, &mut key);
    let Some((row, dict)) = find(inner, txn, table, keys, &key)? else { return Ok(None) };
    Ok(Some(RowView::new(key, row, dict, inner.environment.options.verify_reads)))
}

/// Finds a row in a snapshot, for a caller that does not keep it: `key` is where its stored key is put.
pub(crate) fn get_at<'k>(
    inner: &StoreState,
    txn: &'k heed::RoTxn<'_>,
    table: &TableState,
    keys: EntityKeys<'k>,
    key: &'k mut KeyBuffer,
) -> Result<Option<RowView<'k>>> {
    let key = key.encode(table.id, keys.partition, keys.row);
    let Some((row, dict)) = find(inner, txn, table, keys, key)? else { return Ok(None) };
    let view = RowView::new(key, row, dict, inner.environment.options.verify_reads)
        .of_keys(keys.partition, keys.row);
    table.check_genuine(&view)?;
    Ok(Some(view))
}

/// Returns the row of these keys, which are stored as `key`, and the dictionary that covers it. For a transaction that
/// reads.
fn find<'t>(
    inner: &StoreState,
    txn: &'t heed::RoTxn<'_>,
    table: &TableState,
    keys: EntityKeys<'_>,
    key: &[u8],
) -> Result<Option<(Row<'t>, Arc<Dict>)>> {
    let environment = &inner.environment;
    table.check_exists(&environment.dbs, txn)?;
    if !key::fits(keys.partition, keys.row) {
        // Longer than any row's: there is none.
        return Ok(None);
    }
    let verify = environment.options.verify_reads;
    let tree = environment.rows_tree(txn, txn.id())?;
    let Some(bytes) = tree.get(&environment.reader, txn, key).map_err(lmdb::damage)? else {
        return if verify && !is_absent(environment, txn, txn.id(), key)? {
            Err(out_of_order())
        } else {
            Ok(None)
        };
    };
    if verify {
        environment.dbs.pages.check_value(bytes).map_err(lmdb::damage)?;
        environment.check_in_use(txn, txn.id(), bytes)?;
    }
    let row = Row::parse(bytes)?;
    if verify {
        row.verify(row::key_seed(key))?;
    }
    let mut dict = table.dict();
    if !view::covers(&dict, &row) {
        dict = table.reload_for(&environment.dbs, txn, &row)?;
    }
    Ok(Some((row, dict)))
}

/// Returns whether a key has no row in the state that a transaction reads, or began with: that of the commit of this
/// number.
///
/// That a row is not there is proved by the way to where it would stand.
pub(crate) fn is_absent(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    state: usize,
    key: &[u8],
) -> Result<bool> {
    let tree = environment.rows_tree(txn, state)?;
    tree.is_absent(&environment.reader, txn, key, verify_entry)
        .map_err(|damaged| key::locate(lmdb::damage(damaged), key))
}

/// Checks a row that is only a neighbour.
pub(crate) fn verify_alone(key: &[u8], bytes: &[u8]) -> Result<()> {
    let verify = || Row::parse(bytes)?.verify(row::key_seed(key));
    verify().map_err(|damaged| key::locate(damaged.into(), key))
}

/// Checks a row that a search, a walk or a write has come to.
pub(crate) fn verify_entry(key: &[u8], bytes: &[u8]) -> lmdb_verify::Result<()> {
    verify_alone(key, bytes).map_err(lmdb::entry_error)
}

/// Returns whether no row stands between these two, which were met one after the other; without one, none before the
/// first or after the last. In one leaf nothing stands between, else the paths to both tell. For a transaction that
/// reads.
pub(crate) fn adjacent(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<bool> {
    let pages = environment.dbs.pages;
    if let (Some(before), Some(after)) = (before, after)
        && pages.place(before) == pages.place(after)
    {
        return Ok(true);
    }
    let tree = environment.rows_tree(txn, txn.id())?;
    tree.adjoin(&environment.reader, txn, before, after).map_err(lmdb::damage)
}

/// Returns whether a search from each of two rows comes to the other.
pub(crate) fn lead_to_each_other(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<bool> {
    let data = environment.dbs.data;
    let next = match before {
        Some(before) => data.get_greater_than(txn, before),
        None => data.first(txn),
    };
    if next.map_err(lmdb::error)?.map(|(found, _)| found) != after {
        return Ok(false);
    }
    let previous = match after {
        Some(after) => data.get_lower_than(txn, after),
        None => data.last(txn),
    };
    Ok(previous.map_err(lmdb::error)?.map(|(found, _)| found) == before)
}

/// Checks a row that is only a neighbour, and its leaf.
pub(crate) fn verify_row(environment: &Environment, key: &[u8], bytes: &[u8]) -> Result<()> {
    environment.dbs.pages.check_leaf(key).map_err(lmdb::damage)?;
    verify_in_leaf(environment, key, bytes)
}

/// Checks a row that is only a neighbour, whose leaf has been checked.
pub(crate) fn verify_in_leaf(environment: &Environment, key: &[u8], bytes: &[u8]) -> Result<()> {
    environment.dbs.pages.check_value(bytes).map_err(lmdb::damage)?;
    verify_alone(key, bytes)
}

#[cold]
pub(crate) fn out_of_order() -> Error {
    Error::new(ErrorKind::Corrupt).because("the rows are out of order: a page of the store is damaged")
}
