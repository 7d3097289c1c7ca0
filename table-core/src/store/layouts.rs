//! The layouts of the kinds in a table, as they were when rows were last written by them.
//!
//! They lie beside the table's dictionary and go with it.

use super::catalog::{self, TableState};
use super::lmdb::{self, Databases, WriteTxn};
use super::{Inner, dict, meta};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{self, Schema, checks};

/// What a dictionary entry of this kind holds under the kind's name: its layout, as text.
const LAYOUT_BY_KIND: u8 = 4;

/// The longest name of a kind that a struct may declare, in bytes.
#[cfg(feature = "encrypt")]
const LONGEST_KIND: usize = 64;

/// Makes sure that the rows of this kind have the layout that the schema declares; notes it if there is none yet, or
/// if nothing that was written reads otherwise under the new one.
pub(crate) fn register(inner: &Inner, table: &TableState, schema: &'static Schema) -> Result<()> {
    if table.is_registered(schema) {
        return Ok(());
    }
    inner.writer.check_running()?;
    let dbs = &inner.environment.dbs;
    let noted = {
        let txn = inner.environment.read_txn()?;
        table.check_exists(dbs, &txn)?;
        is_noted(dbs, &txn, table, schema)?
    };
    if !noted {
        inner.transact(|txn, dbs| {
            table.check_generation(dbs, txn, catalog::read_meta(dbs, txn)?.generation)?;
            // Somebody else may have been quicker.
            if !is_noted(dbs, txn, table, schema)? {
                check_apart(dbs, txn, table, schema)?;
                note(dbs, txn, table, schema)?;
            }
            Ok(())
        })?;
    }
    table.set_registered(schema);
    Ok(())
}

/// Whether the layout noted is the schema's. An error if it is another that rows can't be read by.
fn is_noted(dbs: &Databases, txn: &heed::RoTxn<'_>, table: &TableState, schema: &Schema) -> Result<bool> {
    let key = key(table, schema.kind);
    let Some(record) = dbs.names.get(txn, &key).map_err(lmdb::error)? else {
        dbs.check_missing(dbs.names, txn, &key)?;
        return Ok(false);
    };
    dbs.check_entry(record)?;
    let layout = opened(&key, record)?;
    match schema::differences(layout, schema) {
        None => Ok(true),
        Some(found) if found.is_compatible => Ok(false),
        Some(found) => {
            let because = format!(
                "`{}` of the struct `{}` is declared otherwise than when it was last written:\n  {}\n\
                 declare it as it was, or keep the new declaration in another table or under another kind",
                schema.kind,
                schema.entity,
                found.lines.join("\n  ")
            );
            Err(Error::new(ErrorKind::LayoutChanged).because(because))
        }
    }
}

/// The declaration of a kind, as far as its layout tells; `None` if the table has no layout of this kind.
#[cfg(feature = "encrypt")]
pub(crate) fn declared(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    kind: &str,
) -> Result<Option<Schema>> {
    if kind.len() > LONGEST_KIND {
        return Ok(None);
    }
    let key = key(table, kind);
    let Some(record) = dbs.names.get(txn, &key).map_err(lmdb::error)? else {
        dbs.check_missing(dbs.names, txn, &key)?;
        return Ok(None);
    };
    dbs.check_entry(record)?;
    schema::read(opened(&key, record)?, kind).map(Some).ok_or_else(damaged)
}

/// C7, of kinds that meet in a table: no row of the new one can have a key of a row of those known.
fn check_apart(dbs: &Databases, txn: &heed::RoTxn<'_>, table: &TableState, schema: &Schema) -> Result<()> {
    let prefix = key(table, "");
    for entry in dbs.names.prefix_iter(txn, &prefix).map_err(lmdb::error)? {
        let (key, record) = entry.map_err(lmdb::error)?;
        let kind = key.get(prefix.len()..).and_then(|kind| std::str::from_utf8(kind).ok());
        let kind = kind.ok_or_else(damaged)?;
        if kind == schema.kind {
            continue;
        }
        let other = schema::read(opened(key, record)?, kind).ok_or_else(damaged)?;
        if let Some(because) = checks::kinds_that_meet(schema, &other) {
            return Err(Error::new(ErrorKind::LayoutConflict).because(because));
        }
    }
    Ok(())
}

fn note(dbs: &Databases, txn: &mut WriteTxn<'_>, table: &TableState, schema: &Schema) -> Result<()> {
    let key = key(table, schema.kind);
    let mut record = schema::layout(schema).into_bytes();
    record.extend_from_slice(&[0; meta::CHECKSUM]);
    meta::seal(&key, &mut record);
    dbs.names.put(txn, &key, &record).map_err(lmdb::error)
}

/// Reads every layout of a table; returns how many there are.
pub(crate) fn check(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<usize> {
    let mut count = 0;
    let prefix = dict::entry_key(table, LAYOUT_BY_KIND, b"");
    for entry in dbs.names.prefix_iter(txn, &prefix).map_err(lmdb::error)? {
        let (key, record) = entry.map_err(lmdb::error)?;
        schema::read(opened(key, record)?, "").ok_or_else(damaged)?;
        count += 1;
    }
    Ok(count)
}

fn key(table: &TableState, kind: &str) -> Vec<u8> {
    dict::entry_key(table.id, LAYOUT_BY_KIND, kind.as_bytes())
}

fn opened<'a>(key: &[u8], record: &'a [u8]) -> Result<&'a str> {
    meta::opened(key, record).and_then(|text| std::str::from_utf8(text).ok()).ok_or_else(damaged)
}

#[cold]
fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the layout of a kind of entity is damaged")
}
