//! Declarations: a kind's layout is compared with the one that the store has noted, and noted where needed.

use table_engine::error::{ErrorKind, Result};
use table_engine::executor::layouts::{Noted, pending, refused, unclear, unknown_version};
use table_engine::schema::{self, IndexMask, IndexStates, Layout, Rows, Schema};
use table_engine::sealing::missing;

use super::{elsewhere, plain};
use crate::handle::lmdb_table::LmdbTable;
use crate::handle::shared::Shared;
use crate::lmdb::{Databases, WriteTxn};
use crate::records::catalog::TableState;
use crate::records::meta::Meta;
use crate::records::{index_states, layouts};

/// Makes sure that the rows of this kind can be read by what the schema declares. Writes nothing, so a program that
/// opens a table to read it does not lock other declarations out.
pub(crate) fn compare(inner: &Shared, table: &TableState, schema: &'static Schema) -> Result<()> {
    inner.writer.check_running()?;
    let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
    table.check_exists(dbs, &txn)?;
    if table.may_open(schema) {
        return Ok(());
    }
    // A declaration that could never write is refused at once, unless the store is open for reading only.
    if examine(dbs, &txn, table, schema)? != Noted::Same && !inner.writer.is_read_only() {
        layouts::check_apart(dbs, &txn, table, schema)?;
        if schema.seals() || schema.signs_some() {
            table.dict().vault().ok_or_else(missing::keys)?.authenticator()?;
        }
    }
    table.set_registered(schema);
    Ok(())
}

/// Returns the indexes that a writer or a reader by this declaration goes by. Before a kind is written by it, its
/// layout is noted, unless the one that is noted says as much.
#[cold]
pub(crate) fn index_mask(
    inner: &Shared,
    table: &TableState,
    schema: &'static Schema,
    writes: bool,
) -> Result<IndexMask> {
    if writes {
        inner.writer.check_writable()?;
    } else {
        inner.writer.check_running()?;
    }
    let mut has_changed = false;
    // No layout comes back once another has replaced it, so the loop ends.
    let index_mask = loop {
        if let Some(index_mask) = look(inner, table, schema, writes, &mut has_changed)? {
            break index_mask;
        }
    };
    if !writes {
        return Ok(index_mask);
    }
    table.set_registered(schema);
    // Another layout may have been noted since this one was compared.
    let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
    // Nor may the table have gone meanwhile: its records would be missed, and taken for damaged.
    table.check_exists(dbs, &txn)?;
    table.check_registered(dbs, &txn)?;
    if has_changed {
        table.forget_others(schema);
    }
    match layouts::is_outdated(dbs, &txn, table, schema)? {
        Some(why) => Err(layouts::outdated(schema, &why)),
        None => Ok(index_mask),
    }
}

impl LmdbTable {
    /// Returns the indexes that a reader by this declaration goes by, as they are in a snapshot.
    #[cold]
    pub(crate) fn index_mask_then(
        &self,
        txn: &heed::RoTxn<'_>,
        schema: &'static Schema,
    ) -> Result<IndexMask> {
        let (dbs, table) = (&self.inner.environment.dbs, &self.state);
        let (read, index_states) =
            lived(dbs, txn, table, schema, layouts::noted(dbs, txn, table, schema.kind)?)?;
        Ok(schema::index_mask(read.as_ref(), &index_states, schema).0)
    }

    /// Makes sure that the entities' own rows can be read by a declaration as they are in this snapshot; `as_stored`: without
    /// being converted.
    #[cold]
    pub(crate) fn check_rows(
        &self,
        txn: &heed::RoTxn<'_>,
        schema: &'static Schema,
        as_stored: bool,
    ) -> Result<()> {
        let (dbs, table) = (&self.inner.environment.dbs, &self.state);
        let index_states = index_states::index_states(dbs, txn, table.id, schema.kind)?;
        let noted = layouts::noted(dbs, txn, table, schema.kind)?;
        match schema::rows(noted.as_ref(), &index_states, schema) {
            Rows::Readable(version) if as_stored => {
                Err(pending(schema, version, "asked for as they are stored"))
            }
            Rows::Own | Rows::Readable(_) => Ok(()),
            Rows::Pending(version) => {
                Err(pending(schema, version, "read where the keys of that version say"))
            }
            Rows::Unknown(version) => Err(unknown_version(schema, version)),
        }
    }
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

/// Returns the indexes that a declaration goes by, if the layout that is noted says as much. Else notes its layout and
/// returns `None`: the caller looks again, as it does if another process has noted one meanwhile. For a reader nothing
/// is noted.
fn look(
    inner: &Shared,
    table: &TableState,
    schema: &'static Schema,
    writes: bool,
    has_changed: &mut bool,
) -> Result<Option<IndexMask>> {
    let dbs = &inner.environment.dbs;
    let mut goes_on = false;
    let found = {
        let txn = inner.environment.read_txn()?;
        table.check_exists(dbs, &txn)?;
        let found = match examine(dbs, &txn, table, schema) {
            // A program that has written by it goes on, as long as it writes nothing plain that is sealed by now.
            Err(changed) if changed.kind() == ErrorKind::LayoutChanged && table.has_written(schema) => {
                if let Some(why) = layouts::is_outdated(dbs, &txn, table, schema)? {
                    return Err(layouts::outdated(schema, &why));
                }
                goes_on = true;
                Noted::Same
            }
            found => found?,
        };
        if matches!(found, Noted::Same | Noted::PreviousVersion) || !writes {
            let noted = layouts::noted(dbs, &txn, table, schema.kind)?;
            let (noted, index_states) = lived(dbs, &txn, table, schema, noted)?;
            let (index_mask, refusal) = schema::index_mask(noted.as_ref(), &index_states, schema);
            // What becomes of indexes is said in the table of their entities.
            let refusal = refusal.filter(|_| schema.lies_in(&table.name));
            let may_write = found == Noted::Same && refusal.is_none();
            let generation = Meta::read(dbs.main, &txn)?.generation;
            table.set_index_mask(schema, generation, index_mask, may_write, goes_on);
            return match refusal {
                Some(refusal) if writes => Err(refused(schema, noted.as_ref(), &refusal)),
                _ => Ok(Some(index_mask)),
            };
        }
        found
    };
    unclear(&found, schema)?;
    *has_changed = matches!(found, Noted::Before(_));
    inner.transact(|txn, dbs, meta| {
        table.check_generation(dbs, txn, meta)?;
        // Another process may have noted a layout meanwhile.
        if layouts::compare(dbs, txn, table, schema)? != found {
            return Ok(());
        }
        // Programs that have the table open look again, before they write, at their declarations and at the kinds whose
        // rows are their structs' alone.
        meta.generation += 1;
        layouts::check_apart(dbs, txn, table, schema)?;
        // The former digest is verified before a new one authenticates the table.
        table.verify(dbs, txn, meta)?;
        if found == Noted::Never {
            elsewhere::take_over(dbs, txn, meta, table, schema)?;
        }
        layouts::note(dbs, txn, table, schema)?;
        authenticate(dbs, txn, meta, table, schema)
    })?;
    Ok(None)
}

/// Notes the layout of a kind in a table that the transaction has made.
pub(crate) fn note_first(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &TableState,
    schema: &'static Schema,
) -> Result<()> {
    // The digest of the set is verified before a new one takes its place.
    table.verify(dbs, txn, meta)?;
    layouts::note(dbs, txn, table, schema)?;
    authenticate(dbs, txn, meta, table, schema)
}

/// Returns the layout of a kind in the table of its entities, given the one that is noted there, and the states of its indexes.
pub(super) fn lived(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &'static Schema,
    noted: Option<Layout>,
) -> Result<(Option<Layout>, IndexStates)> {
    let is_own = schema.lies_in(&table.name);
    if noted.is_none() && is_own && schema.other_tables().next().is_some() {
        let (index_states, tables) = elsewhere::inherited(dbs, txn, &Meta::read(dbs.main, txn)?, schema)?;
        return Ok(((!tables.is_empty()).then(|| Layout::of(schema)), index_states));
    }
    Ok((noted, index_states::index_states(dbs, txn, table.id, schema.kind)?))
}

/// Refuses a declaration by which properties are sealed that some row holds plain.
fn check_sealed(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    table: &TableState,
    schema: &Schema,
    properties: &[String],
) -> Result<()> {
    if properties.is_empty() {
        return Ok(());
    }
    match plain::plain_values(dbs, txn, table, schema, properties)? {
        Some(plain) => Err(plain.refusal(properties)),
        None => Ok(()),
    }
}

/// Has the keys authenticate a kind that seals or signs, in the table of its entities.
pub(super) fn authenticate(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &TableState,
    schema: &Schema,
) -> Result<()> {
    table.authenticate_in(dbs, txn, meta, schema, &table.name)
}
