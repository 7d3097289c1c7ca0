//! The layouts of the kinds in a table, as they were when rows were last written by them.
//!
//! They lie beside the table's dictionary and go with it.

use table_engine::error::Result;
use table_engine::executor::layouts::{self, Noted};
use table_engine::schema::{self, Layout, Outdated, Schema};

use super::catalog::TableState;
use super::record_digest::{RecordDigest, SetDigest};
use super::{meta, names};
use crate::lmdb::{self, Databases, WriteTxn};
pub(crate) use table_engine::executor::layouts::{damaged, outdated, read};

/// The kind of the dictionary entries that hold layouts, as text, under the names of kinds.
const LAYOUT_BY_KIND: u8 = 4;

/// Compares the layout that is noted with the schema's. An error if rows can't be read by both.
pub(crate) fn compare(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &'static Schema,
) -> Result<Noted> {
    layouts::compare(&table.name, noted(dbs, txn, table, schema.kind)?.as_ref(), schema)
}

/// Returns the kinds that seal or sign, in order, with their layouts.
pub(super) fn authenticated<'t>(
    dbs: &Databases,
    txn: &'t heed::RoTxn<'_>,
    table: u32,
) -> Result<Vec<(&'t str, &'t str)>> {
    let mut authenticated = Vec::new();
    for (kind, layout) in all(dbs, txn, table)? {
        let noted = read(layout, kind)?;
        if noted.seals() || noted.signs_some() {
            authenticated.push((kind, layout));
        }
    }
    Ok(authenticated)
}

/// Reads the layouts of every kind in a table.
pub(crate) fn all_read(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Vec<Layout>> {
    all(dbs, txn, table)?.into_iter().map(|(kind, layout)| read(layout, kind)).collect()
}

/// Returns every kind in a table and the text of its layout. The count and the digest in the table's record digest tell that a
/// layout is missing, or is a former one.
pub(crate) fn all<'t>(
    dbs: &Databases,
    txn: &'t heed::RoTxn<'_>,
    table: u32,
) -> Result<Vec<(&'t str, &'t str)>> {
    let (mut layouts, mut found) = (Vec::new(), SetDigest::default());
    let prefix = names::entry_key(table, LAYOUT_BY_KIND, b"");
    for entry in dbs.names.prefix_iter(txn, &prefix).map_err(lmdb::error)? {
        let (key, record) = entry.map_err(lmdb::error)?;
        dbs.check_entry(key, record)?;
        let kind =
            key.get(prefix.len()..).and_then(|kind| std::str::from_utf8(kind).ok()).ok_or_else(damaged)?;
        let text = meta::opened(key, record).and_then(|text| std::str::from_utf8(text).ok());
        layouts.push((kind, text.ok_or_else(damaged)?));
        found.add(record);
    }
    RecordDigest::read(dbs.main, txn, table)?.layouts.check(found, "layouts of kinds of entities")?;
    Ok(layouts)
}

/// Reads the noted layout of a kind.
pub(crate) fn noted(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    kind: &str,
) -> Result<Option<Layout>> {
    let layouts = all(dbs, txn, table.id)?;
    let noted = layouts.into_iter().find(|(known, _)| *known == kind);
    noted.map(|(kind, layout)| read(layout, kind)).transpose()
}

/// Returns why no program may write by this declaration any more, under the layout that is noted; `None` if it may.
pub(crate) fn is_outdated(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
) -> Result<Option<Outdated>> {
    let noted = noted(dbs, txn, table, schema.kind)?;
    Ok(noted.and_then(|layout| schema::outdated(&layout, schema)))
}

/// Refuses a kind whose rows could have a key of a row of those that are declared.
pub(crate) fn check_apart(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
) -> Result<()> {
    layouts::check_apart(&table.name, all(dbs, txn, table.id)?.into_iter(), schema)
}

/// Notes what this declaration brings.
pub(crate) fn note(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    table: &TableState,
    schema: &Schema,
) -> Result<()> {
    let layout = layouts::noted_with(&table.name, noted(dbs, txn, table, schema.kind)?.as_ref(), schema);
    put(dbs, txn, table.id, &layout)
}

/// Puts a layout in the place of the one that is noted of its kind.
pub(crate) fn put(dbs: &Databases, txn: &mut WriteTxn<'_>, table: u32, layout: &Layout) -> Result<()> {
    let key = names::entry_key(table, LAYOUT_BY_KIND, layout.kind.as_bytes());
    let mut record_digest = RecordDigest::read(dbs.main, txn, table)?;
    if let Some(former) = dbs.record(dbs.names, txn, &key)? {
        record_digest.layouts.subtract(former);
    }
    let record = meta::sealed(&key, layout.to_string().into_bytes());
    record_digest.layouts.add(&record);
    dbs.names.put(txn, &key, &record).map_err(lmdb::error)?;
    record_digest.write(dbs.main, txn, table)
}

/// Forgets the layout of a kind.
pub(crate) fn remove(dbs: &Databases, txn: &mut WriteTxn<'_>, table: u32, kind: &str) -> Result<()> {
    let key = names::entry_key(table, LAYOUT_BY_KIND, kind.as_bytes());
    let mut record_digest = RecordDigest::read(dbs.main, txn, table)?;
    if let Some(former) = dbs.record(dbs.names, txn, &key)? {
        record_digest.layouts.subtract(former);
        dbs.names.delete(txn, &key).map_err(lmdb::error)?;
    }
    record_digest.write(dbs.main, txn, table)
}

/// Reads every layout of a table; returns how many there are.
pub(crate) fn check(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<usize> {
    Ok(all_read(dbs, txn, table)?.len())
}
