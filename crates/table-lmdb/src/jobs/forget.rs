//! Takes denormalised copies out of a kind's layout, once no struct declares them any more.

use table_engine::error::Result;
use table_engine::executor::layouts::{pending, unknown_version};
use table_engine::schema::{self, KindState, Schema};

use super::declare::authenticate;
use super::elsewhere::NotedKind;
use crate::handle::lmdb_table::LmdbTable;
use crate::records::index_states::RecordName;
use crate::records::{index_states, layouts};

/// Takes out of a kind's layout what it says of copies and the declaration doesn't. Returns how many lines went. Plans
/// that were made before are of another epoch, and are made again.
pub(super) fn copies(table: &LmdbTable, schema: &'static Schema) -> Result<u64> {
    let (state, kind) = (&table.state, schema.kind);
    table.inner.transact(|txn, dbs, meta| {
        state.check_generation(dbs, txn, meta)?;
        let Some(noted) = layouts::noted(dbs, txn, state, kind)? else { return Ok(0) };
        let mut index_states = index_states::index_states(dbs, txn, state.id, kind)?;
        let version = noted.version();
        if version != schema.version || index_states.kind != KindState::Stable {
            let is_previous = version < schema.version;
            let converts = version == schema.version || is_previous;
            return Err(if converts {
                pending(schema, version, "written")
            } else {
                unknown_version(schema, version)
            });
        }
        let left = schema::without_copies(&state.name, &noted, schema);
        let gone = noted.len().saturating_sub(left.len());
        if gone == 0 {
            return Ok(0);
        }
        state.verify(dbs, txn, meta)?;
        layouts::put(dbs, txn, state.id, &left)?;
        authenticate(dbs, txn, meta, state, schema)?;
        let noted = NotedKind { table: state, schema, layout: &left };
        for index in schema.indexes {
            noted.note_elsewhere(dbs, txn, meta, index.name)?;
        }
        index_states.epoch += 1;
        let kind = RecordName { table: state.id, name: kind };
        index_states::write_index_states(dbs, txn, meta, kind, &index_states)?;
        Ok(u64::try_from(gone).unwrap_or(u64::MAX))
    })
}
