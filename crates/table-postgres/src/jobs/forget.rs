//! Takes denormalised copies out of a kind's layout, once no struct declares them any more.

use table_engine::Result;
use table_engine::executor::layouts::{pending, unknown_version};
use table_engine::schema::{self, KindState, Schema};

use super::elsewhere::{self, NotedKind};
use crate::change::{Change, Trouble};
use crate::kinds;
use crate::table::PostgresTable;

/// Takes out of a kind's layout what it says of copies and the declaration doesn't. Returns how many lines went. Plans that were
/// made before are of another epoch, and are made again.
pub(super) fn copies(table: &PostgresTable, schema: &'static Schema) -> Result<u64> {
    let done = table.store.change(|change| carry_out(table, change, schema));
    let done = done.map_err(|error| table.store.say_new_name(&table.entry, error))?;
    let Some((generation, gone)) = done else { return Ok(0) };
    table.store.observe_generation(generation);
    Ok(u64::try_from(gone).unwrap_or(u64::MAX))
}

fn carry_out(
    table: &PostgresTable,
    change: &Change<'_>,
    schema: &'static Schema,
) -> Result<Option<(i64, usize)>, Trouble> {
    let (catalog, own, kind) = (&table.store.catalog, &*table.entry, schema.kind);
    elsewhere::lock_all(change, table, schema.other_tables().map(str::to_owned))?;
    let known = table.kinds_in(change)?;
    let Some(noted) = known.layout(kind)? else { return Ok(None) };
    let (mut states, version) = (known.states(kind), noted.version());
    if version != schema.version || states.kind != KindState::Stable {
        let error = if version <= schema.version {
            pending(schema, version, "written")
        } else {
            unknown_version(schema, version)
        };
        return Err(error.into());
    }
    let left = schema::without_copies(&own.name, &noted, schema);
    let gone = noted.len().saturating_sub(left.len());
    if gone == 0 {
        return Ok(None);
    }
    states.epoch += 1;
    change.ask(&kinds::put(catalog, own.id, kind, &left.to_string(), &states))?;
    let noted = NotedKind { table: own, schema, layout: &left };
    for index in schema.indexes {
        noted.note_elsewhere(change, index.name)?;
    }
    Ok(Some((change.raise_generation()?, gone)))
}
