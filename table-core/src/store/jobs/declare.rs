//! Declarations: a kind's layout is compared with the one that the store has noted, and noted where needed.

use super::plain;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::layouts::Noted;
use crate::schema::Schema;
use crate::sealing::missing;
use crate::store::handle::shared::Shared;
use crate::store::lmdb::{Databases, WriteTxn};
use crate::store::records::catalog::{self, TableState};
use crate::store::records::layouts;
use crate::store::records::meta::Meta;
use crate::store::records::vouched;

/// Makes sure that the rows of this kind can be read by what the schema declares. Writes nothing: a program that opens a
/// table and reads locks nobody out.
pub(in crate::store) fn compare(inner: &Shared, table: &TableState, schema: &'static Schema) -> Result<()> {
    inner.writer.check_running()?;
    let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
    table.check_exists(dbs, &txn)?;
    if table.is_noted(schema) {
        return Ok(());
    }
    if examine(dbs, &txn, table, schema)? != Noted::Same {
        layouts::check_apart(dbs, &txn, table, schema)?;
        // What could never be written is told at once.
        if !inner.writer.is_read_only() && (schema.seals() || schema.signs_some()) {
            table.dict().vault().ok_or_else(missing::keys)?.authority()?;
        }
    }
    table.set_registered(schema);
    Ok(())
}

/// Notes the layout of a kind that is about to be written, unless what is noted says it already.
#[cold]
pub(in crate::store) fn note(inner: &Shared, table: &TableState, schema: &'static Schema) -> Result<()> {
    inner.writer.check_writable()?;
    let mut has_changed = false;
    while !is_noted(inner, table, schema, &mut has_changed)? {}
    table.set_registered(schema);
    // Another layout may have been noted since this one was compared.
    let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
    table.check_registered(dbs, &txn)?;
    if has_changed {
        table.forget_others(schema);
    }
    if layouts::would_bare(dbs, &txn, table, schema)? { Err(layouts::outdated(schema)) } else { Ok(()) }
}

/// Compares the schema with the layout that is noted.
fn examine(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &'static Schema,
) -> Result<Noted> {
    let noted = layouts::compare(dbs, txn, table, schema)?;
    // A property is sealed for good once no row holds it plain. Rows are looked at outside the transaction that notes it,
    // since they may be many. No plain row can come: such writes are refused since a layout was noted that has the
    // property sealed.
    if let Noted::Before(found) = &noted {
        check_sealed(dbs, txn, table, schema, &found.no_longer_plain)?;
    }
    Ok(noted)
}

/// Compares the schema with the noted layout, and notes it where needed. `false` if somebody else has noted a layout
/// meanwhile. No layout comes back, so this ends.
fn is_noted(
    inner: &Shared,
    table: &TableState,
    schema: &'static Schema,
    has_changed: &mut bool,
) -> Result<bool> {
    let dbs = &inner.environment.dbs;
    let noted = {
        let txn = inner.environment.read_txn()?;
        table.check_exists(dbs, &txn)?;
        let noted = match examine(dbs, &txn, table, schema) {
            // Who has written by it goes on, as long as that writes nothing plain that is sealed by now.
            Err(changed) if changed.kind() == ErrorKind::LayoutChanged && table.was_noted(schema) => {
                if layouts::would_bare(dbs, &txn, table, schema)? {
                    return Err(layouts::outdated(schema));
                }
                Noted::Same
            }
            noted => noted?,
        };
        if noted == Noted::Same {
            table.set_noted(schema, Meta::read(dbs.main, &txn)?.generation);
            return Ok(true);
        }
        noted
    };
    *has_changed = matches!(noted, Noted::Before(_));
    let generation = inner.transact(|txn, dbs, meta| {
        table.check_generation(dbs, txn, meta)?;
        // Somebody else may have been quicker.
        let now = layouts::compare(dbs, txn, table, schema)?;
        if now != noted {
            return Ok(None);
        }
        // Programs that have the table open look again, before they write, at their declarations and at the kinds whose
        // rows are their structs' alone.
        meta.generation += 1;
        layouts::check_apart(dbs, txn, table, schema)?;
        // The former digest is verified before a new one vouches for the table.
        table.verify(dbs, txn, meta)?;
        layouts::note(dbs, txn, table, schema)?;
        vouch(dbs, txn, meta, table, schema)?;
        Ok(Some(meta.generation))
    })?;
    if let Some(generation) = generation {
        table.set_noted(schema, generation);
    }
    Ok(generation.is_some())
}

/// Refuses a declaration by which properties are sealed that some row holds plain.
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
    let Some(plain) = plain::plain_values(dbs, txn, table, schema, properties)? else { return Ok(()) };
    let because = format!(
        "{} values of `{}` are still plain, the first of them in this row; declare them with `#[encrypt(dual)]` until \
         `Table::reencrypt` has sealed them",
        plain.values,
        properties.join("`, `")
    );
    let (partition, row) = &plain.first;
    Err(Error::new(ErrorKind::LayoutChanged).because(because).partition(partition).row(row))
}

/// Has the keys vouch for a kind that seals or signs.
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
    let authority = dict.vault().ok_or_else(missing::keys)?.authority()?;
    let Some(entry) = catalog::find(dbs, txn, meta, &table.name)? else { return Ok(()) };
    vouched::vouch(dbs, txn, meta, authority, &entry)
}
