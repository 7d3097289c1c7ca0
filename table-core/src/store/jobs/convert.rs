//! What becomes of a kind when its rows are converted from one version to another.

use super::declare::vouch;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Conversion;
use crate::schema::{self, KindEvent, Lives, Schema};
use crate::store::handle::lmdb_table::LmdbTable;
use crate::store::records::{layouts, lives};

/// The states of a kind, and the version that is noted of it.
pub(super) fn version(table: &LmdbTable, schema: &'static Schema) -> Result<(Lives, Option<u32>)> {
    let (txn, dbs) = (table.inner.environment.read_txn()?, &table.inner.environment.dbs);
    table.state.check_exists(dbs, &txn)?;
    let noted = layouts::noted(dbs, &txn, &table.state, schema.kind)?;
    let noted = noted.map(|noted| schema::read(noted, schema.kind).ok_or_else(layouts::damaged));
    let lives = lives::lives(dbs, &txn, table.state.id, schema.kind)?;
    Ok((lives, noted.transpose()?.map(|noted| noted.version)))
}

/// Carries out what happens to a kind; whether it did.
pub(super) fn convert(table: &LmdbTable, conversion: &Conversion<'_>) -> Result<bool> {
    let Conversion { schema, event, epoch, job } = conversion;
    let (state, kind) = (&table.state, schema.kind);
    table.inner.transact(|txn, dbs, meta| {
        state.check_generation(dbs, txn, meta)?;
        let mut lives = lives::lives(dbs, txn, state.id, kind)?;
        let Some(noted) = layouts::noted(dbs, txn, state, kind)? else { return Ok(false) };
        let noted = schema::read(noted, kind).ok_or_else(layouts::damaged)?;
        let begins = matches!(event, KindEvent::Convert { .. });
        // Who begins is of a later version, and whoever goes on is of the one that is noted.
        if lives.epoch != *epoch || begins != (noted.version < schema.version) {
            return Ok(false);
        }
        let of: &Schema = if begins { schema } else { &noted };
        if !lives.transit_kind(of, event.clone()) {
            return Ok(false);
        }
        if begins {
            check_places(&noted, schema)?;
            layouts::check_apart(dbs, txn, state, schema)?;
            state.verify(dbs, txn, meta)?;
            layouts::put(dbs, txn, state.id, kind, schema::layout(schema))?;
            vouch(dbs, txn, meta, state, schema)?;
            // The jobs that are begun are of indexes of the version before.
            for (name, _) in lives::all_jobs(dbs, txn, state.id)? {
                let of_index = ["rebuild", "drop"].map(|word| format!("{word} {kind} "));
                if of_index.iter().any(|of_index| name.starts_with(of_index)) {
                    lives::write_job(dbs, txn, meta, state.id, (&name, None))?;
                }
            }
        }
        lives::write_lives(dbs, txn, meta, state.id, (kind, &lives))?;
        lives::write_job(dbs, txn, meta, state.id, *job)?;
        Ok(true)
    })
}

/// Refuses a version whose entities could have a key of a copy of the version before, which is there as long as they are
/// converted; and what has copies that no job makes anew.
fn check_places(noted: &Schema, schema: &Schema) -> Result<()> {
    let elsewhere = noted.indexes.iter().chain(schema.indexes).find(|index| index.is_elsewhere());
    if let Some(index) = elsewhere {
        return Err(Error::new(ErrorKind::Unsupported).because(format!(
            "the index `{}` of `{}` lies in another partition or table than its entities: they can't be converted to \
             another version",
            index.name, schema.kind
        )));
    }
    if let Some(index) = noted.indexes.iter().chain(schema.indexes).find(|index| index.summary.is_some()) {
        return Err(Error::new(ErrorKind::Unsupported).because(format!(
            "the entities of `{}` are counted in the summary `{}`: they can't be converted to another version",
            schema.kind, index.name
        )));
    }
    match noted.indexes.iter().find(|index| schema::places_meet(schema.place(), &index.place)) {
        None => Ok(()),
        Some(index) => Err(Error::new(ErrorKind::LayoutConflict).because(format!(
            "an entity of version {} of `{}` could have the key of a copy in the index `{}` of version {}, whose copies are \
             there until all is converted: keep the row key of the entity apart from it",
            schema.version, schema.kind, index.name, noted.version
        ))),
    }
}
