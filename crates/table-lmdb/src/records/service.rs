//! Service records: what a server keeps with the store or with a table, as bytes that mean nothing here.
//!
//! Those of a table lie under its number, so they follow it to another name and go when it is dropped. Those of the store lie
//! under a number that no table has, with a record digest of their own, which the store's first service record brings.

use table_engine::error::{Error, Result};
use table_engine::executor::service_records::{Expected, RECORDS};

use super::features::Feature;
use super::meta::Meta;
use super::record_digest::RecordDigest;
use super::sort::{RecordName, Sort};
use crate::lmdb::{Databases, WriteTxn};

/// The number under which the store's own records lie: tables are numbered from 1.
pub(crate) const STORE: u32 = 0;

const SERVICE: Sort<Vec<u8>> = Sort {
    number: 8,
    what: "service records",
    decode: |body| Some(body.to_vec()),
    counted: |digests| &mut digests.service,
};

/// Returns the value of a record; `None` only after all records of its owner were seen.
pub(crate) fn get(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    RecordName { table, name }: RecordName<'_>,
) -> Result<Option<Vec<u8>>> {
    let all = all(dbs, txn, meta, table)?;
    Ok(all.into_iter().find(|(known, _)| known == name).map(|(_, value)| value))
}

/// Returns every service record of a table, or of the [store](STORE).
fn all(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, table: u32) -> Result<Vec<(String, Vec<u8>)>> {
    // Without the feature there are no records, and the store has no record digest of its own.
    if meta.features.has(Feature::ServiceRecords) { SERVICE.all(dbs, txn, table) } else { Ok(Vec::new()) }
}

/// What becomes of a record, and on what condition.
pub(crate) struct Replacement<'r> {
    pub(crate) expected: Expected<'r>,
    pub(crate) value: Option<&'r [u8]>,
    /// Makes the error of a record more than its owner may have.
    pub(crate) too_many: &'r dyn Fn() -> Error,
}

/// Gives a record another value, or removes it, if it is what is expected; returns whether it was.
pub(crate) fn replace(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    record: RecordName<'_>,
    replacement: &Replacement<'_>,
) -> Result<bool> {
    let all = all(dbs, txn, meta, record.table)?;
    let found = all.iter().find(|(known, _)| known == record.name).map(|(_, value)| &**value);
    if !replacement.expected.is_met(found) {
        return Ok(false);
    }
    match (found, replacement.value) {
        (None, None) => return Ok(true),
        (None, Some(_)) if all.len() >= RECORDS => return Err((replacement.too_many)()),
        _ => {}
    }
    if !meta.features.has(Feature::ServiceRecords) {
        meta.features.set(Feature::ServiceRecords);
        RecordDigest::default().write(dbs.main, txn, STORE)?;
    }
    SERVICE.replace(dbs, txn, record, replacement.value.map(<[u8]>::to_vec))?;
    Ok(true)
}

/// Reads every service record of a table, or of the [store](STORE); returns how many there are.
pub(crate) fn check(dbs: &Databases, txn: &heed::RoTxn<'_>, meta: &Meta, table: u32) -> Result<usize> {
    Ok(all(dbs, txn, meta, table)?.len())
}
