//! The layouts of the kinds in a table, as they were when rows were last written by them.
//!
//! They lie beside the table's dictionary and go with it.

#[cfg(feature = "encrypt")]
use super::catalog;
use super::catalog::TableState;
use super::inventory::{Inventory, Tally};
use super::meta;
use super::meta::Meta;
#[cfg(feature = "encrypt")]
use super::vouched;
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{self, Differences, Schema, checks};
use crate::store::Inner;
#[cfg(feature = "encrypt")]
use crate::store::jobs::sealed;
use crate::store::lmdb::{self, Databases, WriteTxn};
#[cfg(feature = "encrypt")]
use crate::store::missing_provider;
use crate::store::row::dict;

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
    let mut has_changed = false;
    while !is_registered(inner, table, schema, &mut has_changed)? {}
    table.set_registered(schema);
    // Another layout may have been noted since this one was compared.
    let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
    table.check_registered(dbs, &txn)?;
    if has_changed {
        table.forget_others(schema);
    }
    if would_bare(dbs, &txn, table, schema)? { Err(outdated(schema)) } else { Ok(()) }
}

/// Compares the schema with the layout noted, and notes it where that is to be. `false` if somebody else has noted one
/// meanwhile: no layout comes back, so that does not go on for ever.
fn is_registered(
    inner: &Inner,
    table: &TableState,
    schema: &'static Schema,
    has_changed: &mut bool,
) -> Result<bool> {
    let dbs = &inner.environment.dbs;
    let noted = {
        let txn = inner.environment.read_txn()?;
        table.check_exists(dbs, &txn)?;
        let noted = compare(dbs, &txn, table, schema)?;
        // What was plain is sealed for good once no row holds it plain. Rows are looked at outside the transaction that
        // notes it, since they may be many; none can come: whoever would write one is refused since the layout was noted
        // that has it sealed.
        if let Noted::Before(found) = &noted {
            check_sealed(dbs, &txn, table, schema, &found.no_longer_plain)?;
        }
        noted
    };
    // Who only reads notes nothing: what can be compared can be read.
    if noted == Noted::Same || inner.writer.is_read_only() {
        return Ok(true);
    }
    *has_changed = matches!(noted, Noted::Before(_));
    inner.transact(|txn, dbs, meta| {
        table.check_generation(dbs, txn, meta)?;
        // Somebody else may have been quicker.
        let now = compare(dbs, txn, table, schema)?;
        if now != noted {
            return Ok(false);
        }
        let begins_to_sign = now == Noted::Never && schema.signs_some();
        if begins_to_sign || matches!(now, Noted::Before(found) if found.begins_to_seal) {
            // Programs that have the table open look at their declarations again before they write.
            meta.generation += 1;
        }
        check_apart(dbs, txn, table, schema)?;
        // What is vouched for anew was vouched for before.
        table.verify(dbs, txn, meta)?;
        note(dbs, txn, table, schema)?;
        vouch(dbs, txn, meta, table, schema)?;
        Ok(true)
    })
}

/// What there is of a kind's layout.
#[derive(Debug, PartialEq, Eq)]
enum Noted {
    /// None yet.
    Never,
    /// The very one.
    Same,
    /// One that may become the one declared.
    Before(Differences),
}

/// Compares the layout noted with the schema's. An error if it is another that rows can't be read by.
fn compare(dbs: &Databases, txn: &heed::RoTxn<'_>, table: &TableState, schema: &Schema) -> Result<Noted> {
    let Some(layout) = noted(dbs, txn, table, schema.kind)? else { return Ok(Noted::Never) };
    match schema::differences(layout, schema) {
        None => Ok(Noted::Same),
        Some(found) if found.is_compatible => Ok(Noted::Before(found)),
        Some(found) => {
            let way = if found.jumps {
                "what is sealed stays so, and what is plain comes to be by `#[encrypt(dual)]`: see `Table::reencrypt`"
            } else {
                "declare it as it was, or keep the new declaration in another table or under another kind"
            };
            let because = format!(
                "`{}` of the struct `{}` is declared otherwise than when it was last written:\n  {}\n{way}",
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
    let Some(layout) = noted(dbs, txn, table, kind)? else { return Ok(None) };
    schema::read(layout, kind).map(Some).ok_or_else(damaged)
}

/// The kinds that seal or sign, in order, with their layouts.
#[cfg(feature = "encrypt")]
pub(super) fn vouched<'t>(
    dbs: &Databases,
    txn: &'t heed::RoTxn<'_>,
    table: u32,
) -> Result<Vec<(&'t str, &'t str)>> {
    let mut vouched = Vec::new();
    for (kind, layout) in all(dbs, txn, table)? {
        let schema = schema::read(layout, kind).ok_or_else(damaged)?;
        if schema.seals() || schema.signs_some() {
            vouched.push((kind, layout));
        }
    }
    Ok(vouched)
}

/// The kinds of a table's rows that are signed.
pub(super) fn signed_kinds(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Vec<Box<str>>> {
    let mut signed = Vec::new();
    for schema in all_declared(dbs, txn, table)? {
        let paths = std::iter::once(None).chain((0..schema.indexes.len()).map(Some));
        let tags = paths.map(|path| schema.tag(path)).filter(|tag| tag.is_signed);
        signed.extend(tags.map(|tag| tag.kind.into()));
    }
    Ok(signed)
}

/// The declarations of every kind in a table, as far as their layouts tell.
pub(crate) fn all_declared(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<Vec<Schema>> {
    let layouts = all(dbs, txn, table)?;
    layouts.into_iter().map(|(kind, layout)| schema::read(layout, kind).ok_or_else(damaged)).collect()
}

/// Every kind in a table and its layout, all that there are: by its count and digest, the table's inventory tells a
/// layout that is missing, or one of former times.
fn all<'t>(dbs: &Databases, txn: &'t heed::RoTxn<'_>, table: u32) -> Result<Vec<(&'t str, &'t str)>> {
    let (mut layouts, mut found) = (Vec::new(), Tally::default());
    let prefix = dict::entry_key(table, LAYOUT_BY_KIND, b"");
    for entry in dbs.names.prefix_iter(txn, &prefix).map_err(lmdb::error)? {
        let (key, record) = entry.map_err(lmdb::error)?;
        dbs.check_entry(key)?;
        let kind =
            key.get(prefix.len()..).and_then(|kind| std::str::from_utf8(kind).ok()).ok_or_else(damaged)?;
        let text = meta::opened(key, record).and_then(|text| std::str::from_utf8(text).ok());
        layouts.push((kind, text.ok_or_else(damaged)?));
        found.add(record);
    }
    Inventory::read(dbs.main, txn, table)?.layouts.check(found, "layouts of kinds of entities")?;
    Ok(layouts)
}

/// The layout noted of a kind.
fn noted<'t>(
    dbs: &Databases,
    txn: &'t heed::RoTxn<'_>,
    table: &TableState,
    kind: &str,
) -> Result<Option<&'t str>> {
    let layouts = all(dbs, txn, table.id)?;
    Ok(layouts.into_iter().find(|(known, _)| *known == kind).map(|(_, layout)| layout))
}

/// Whether rows by this declaration would hold plain what the layout noted has sealed.
pub(crate) fn would_bare(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
) -> Result<bool> {
    let noted = noted(dbs, txn, table, schema.kind)?;
    Ok(noted.is_some_and(|layout| schema::would_bare(layout, schema)))
}

/// What a program is told whose declaration is of former times.
#[cold]
pub(crate) fn outdated(schema: &Schema) -> Error {
    Error::new(ErrorKind::LayoutChanged).because(format!(
        "`{}` of the struct `{}` has something plain that another program has had sealed since this one opened the \
         table; declare it with `#[encrypt]` here too",
        schema.kind, schema.entity
    ))
}

/// Refuses a declaration by which properties are sealed that some row holds plain.
#[cfg(feature = "encrypt")]
fn check_sealed(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
    properties: &[&'static str],
) -> Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    let Some(plain) = sealed::plain_values(dbs, txn, table, schema, properties)? else { return Ok(()) };
    let because = format!(
        "{} values of `{}` are still plain, the first of them in this row; declare them with `#[encrypt(dual)]` until \
         `Table::reencrypt` has sealed them",
        plain.values,
        properties.join("`, `")
    );
    let (partition, row) = &plain.first;
    Err(Error::new(ErrorKind::LayoutChanged).because(because).partition(partition).row(row))
}

/// No declaration has anything sealed.
#[cfg(not(feature = "encrypt"))]
#[expect(clippy::unnecessary_wraps, reason = "as it is with the feature")]
fn check_sealed(
    _: &Databases,
    _: &heed::RoTxn<'_>,
    _: &TableState,
    _: &Schema,
    _: &[&'static str],
) -> Result<()> {
    Ok(())
}

/// C7, of kinds that meet in a table: no row of the new one can have a key of a row of those known.
fn check_apart(dbs: &Databases, txn: &heed::RoTxn<'_>, table: &TableState, schema: &Schema) -> Result<()> {
    for (kind, layout) in all(dbs, txn, table.id)?.into_iter().filter(|(kind, _)| *kind != schema.kind) {
        let other = schema::read(layout, kind).ok_or_else(damaged)?;
        if let Some(because) = checks::kinds_that_meet(schema, &other) {
            return Err(Error::new(ErrorKind::LayoutConflict).because(because));
        }
    }
    Ok(())
}

fn note(dbs: &Databases, txn: &mut WriteTxn<'_>, table: &TableState, schema: &Schema) -> Result<()> {
    let key = dict::entry_key(table.id, LAYOUT_BY_KIND, schema.kind.as_bytes());
    let mut inventory = Inventory::read(dbs.main, txn, table.id)?;
    if let Some(former) = dbs.names.get(txn, &key).map_err(lmdb::error)? {
        inventory.layouts.subtract(former);
    }
    let record = meta::sealed(&key, schema::layout(schema).into_bytes());
    inventory.layouts.add(&record);
    dbs.names.put(txn, &key, &record).map_err(lmdb::error)?;
    inventory.write(dbs.main, txn, table.id)
}

/// Has the keys vouch for a kind that seals or signs.
#[cfg(feature = "encrypt")]
fn vouch(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &TableState,
    schema: &Schema,
) -> Result<()> {
    if !schema.seals() && !schema.signs_some() {
        return Ok(());
    }
    let dict = table.dict();
    let authority = dict.keys().ok_or_else(missing_provider)?.authority()?;
    let Some(entry) = catalog::find(dbs, txn, meta, &table.name)? else { return Ok(()) };
    vouched::vouch(dbs, txn, meta, authority, &entry)
}

/// No declaration seals or signs.
#[cfg(not(feature = "encrypt"))]
#[expect(clippy::unnecessary_wraps, reason = "as it is with the feature")]
fn vouch(_: &Databases, _: &mut WriteTxn<'_>, _: &mut Meta, _: &TableState, _: &Schema) -> Result<()> {
    Ok(())
}

/// Reads every layout of a table; returns how many there are.
pub(crate) fn check(dbs: &Databases, txn: &heed::RoTxn<'_>, table: u32) -> Result<usize> {
    let layouts = all(dbs, txn, table)?;
    if layouts.iter().any(|(kind, layout)| schema::read(layout, kind).is_none()) {
        return Err(damaged());
    }
    Ok(layouts.len())
}

#[cold]
fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the layout of a kind of entity is damaged")
}
