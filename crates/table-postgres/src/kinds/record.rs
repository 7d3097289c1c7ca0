//! The records of kinds: a row of the table `_kinds` for each.
//!
//! The states of a kind's indexes are parallel arrays, so that all that a statement reads of a kind is of one moment; and a
//! person reads them by `SELECT kind, epoch, index_names, index_states FROM tables._kinds`.

use std::slice::ChunksExact;
use std::sync::Arc;

use table_engine::Result;
use table_engine::schema::{Blocked, IndexState, IndexStates, KindState};
use tokio_postgres::Row;

use super::Kinds;
use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::error::{damaged, missing};
use crate::param::{Param, Params};

/// The columns of a record's states, in the order in which they are read and written.
const STATES: &str = "epoch, converts_from, stopped, index_names, index_states, blocked";

/// How many texts an index has that two entities block: three pairs of keys.
const OF_BLOCKED: usize = 6;

/// Returns the statement that reads what is noted of the kinds in a table, and the store's generation.
pub(crate) fn read(catalog: &Catalog, table: u32) -> Call {
    let mut params = Params::default();
    let id = params.add(Param::Number(table.into()));
    let sql = format!(
        "SELECT s.value::bigint, k.kind, k.layout, {STATES} FROM {} AS s CROSS JOIN {} AS t
         LEFT JOIN {} AS k ON k.table_id = t.id WHERE s.name = 'generation' AND t.id = {id} ORDER BY k.number",
        catalog.table("_store"),
        catalog.table("_tables"),
        catalog.table("_kinds"),
    );
    Call { sql, params }
}

/// Returns what is noted from the answer to that.
pub(crate) fn found(answer: &[Row]) -> Result<Kinds> {
    let first = answer.first().ok_or_else(missing)?;
    let (mut layouts, mut states) = (Vec::new(), Vec::new());
    for row in answer {
        let Some(kind) = column::<Option<String>>(row, 1)? else { continue };
        let found = states_of(row, 3)?;
        if found != IndexStates::default() {
            states.push((kind.clone(), found));
        }
        layouts.push((kind, column(row, 2)?));
    }
    Ok(Kinds { generation: column(first, 0)?, layouts: Arc::new(layouts), states })
}

/// Returns the statement that reads the layouts and the states of the kinds in all tables: of each the table's record, the kind,
/// its layout, and its states.
pub(crate) fn all(catalog: &Catalog) -> Call {
    let sql = format!(
        "SELECT t.id, t.name, t.renames, k.kind, k.layout FROM {} AS k JOIN {} AS t ON t.id = k.table_id
         ORDER BY k.number",
        catalog.table("_kinds"),
        catalog.table("_tables"),
    );
    Call { sql, params: Params::default() }
}

/// Returns the statement that notes a layout and the states of its kind.
pub(crate) fn put(catalog: &Catalog, table: u32, kind: &str, layout: &str, states: &IndexStates) -> Call {
    let mut params = Params::default();
    let (from, stopped) = match &states.kind {
        KindState::Stable => (None, None),
        KindState::Converting { from } => (Some(*from), None),
        KindState::Stopped { from, entity, why } => (Some(*from), Some([&entity.0, &entity.1, why])),
    };
    let mut blocked = Vec::new();
    let (mut names, mut words) = (Vec::new(), Vec::new());
    for (name, state) in &states.indexes {
        names.push(name.clone());
        words.push(word(state).to_owned());
        if let IndexState::Blocked(Blocked { key, has, wants }) = state {
            blocked.extend(
                [key, has, wants].into_iter().flat_map(|keys| [&keys.0, &keys.1]).map(|key| text(key)),
            );
        }
    }
    let values = [
        Param::Number(table.into()),
        kind.into(),
        layout.into(),
        Param::Number(states.epoch.cast_signed()),
        Param::MaybeNumber(from.map(i64::from)),
        // None of its texts is missing where there are any.
        Param::Texts(stopped.into_iter().flatten().map(|part| text(part)).collect()),
        Param::Texts(names),
        Param::Texts(words),
        Param::Texts(blocked),
    ];
    let values = values.map(|value| params.add(value)).join(", ");
    let assigned: Vec<_> = ["layout"]
        .into_iter()
        .chain(STATES.split(", "))
        .map(|name| format!("{name} = EXCLUDED.{name}"))
        .collect();
    let sql = format!(
        "INSERT INTO {} (table_id, kind, layout, {STATES}) VALUES ({values})
         ON CONFLICT (table_id, kind) DO UPDATE SET {}",
        catalog.table("_kinds"),
        assigned.join(", "),
    );
    Call { sql, params }
}

/// Returns the statement that forgets a kind of a table.
pub(crate) fn remove(catalog: &Catalog, table: u32, kind: &str) -> Call {
    let mut params = Params::default();
    let (table, kind) = (params.add(Param::Number(table.into())), params.add(kind.into()));
    let sql = format!("DELETE FROM {} WHERE table_id = {table} AND kind = {kind}", catalog.table("_kinds"));
    Call { sql, params }
}

/// Returns a text as a column takes it, which has no NUL.
fn text(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Reads the states from columns of an answer, of which this is the first.
fn states_of(row: &Row, at: usize) -> Result<IndexStates> {
    let epoch = column::<i64>(row, at)?.cast_unsigned();
    let from = column::<Option<i32>>(row, at + 1)?.map(u32::try_from).transpose();
    let from = from.map_err(|_| states_are_damaged())?;
    let stopped: Vec<String> = column(row, at + 2)?;
    let kind = match (from, &stopped[..]) {
        (None, []) => KindState::Stable,
        (Some(from), []) => KindState::Converting { from },
        (Some(from), [partition, row, why]) => {
            KindState::Stopped { from, entity: (partition.clone(), row.clone()), why: why.clone() }
        }
        _ => return Err(states_are_damaged()),
    };
    let (names, words): (Vec<String>, Vec<&str>) = (column(row, at + 3)?, column(row, at + 4)?);
    let blocked: Vec<String> = column(row, at + 5)?;
    if names.len() != words.len() {
        return Err(states_are_damaged());
    }
    let mut blocked = blocked.chunks_exact(OF_BLOCKED);
    let mut indexes = Vec::with_capacity(names.len());
    for (name, word) in names.into_iter().zip(words) {
        let state = state(word, &mut blocked).ok_or_else(states_are_damaged)?;
        indexes.push((name, state));
    }
    Ok(IndexStates { epoch, kind, indexes })
}

/// Returns what a state is called.
fn word(state: &IndexState) -> &'static str {
    match state {
        IndexState::Absent => "absent",
        IndexState::Purge => "purge",
        IndexState::Backfill => "backfill",
        IndexState::Blocked(_) => "blocked",
        IndexState::Ready { .. } => "ready",
        IndexState::Dropping => "dropping",
    }
}

/// Returns the state that is called so; one that is blocked takes the keys by which it is.
fn state(word: &str, blocked: &mut ChunksExact<'_, String>) -> Option<IndexState> {
    Some(match word {
        "absent" => IndexState::Absent,
        "purge" => IndexState::Purge,
        "backfill" => IndexState::Backfill,
        "blocked" => {
            let [key, key_row, has, has_row, wants, wants_row] = blocked.next()? else { return None };
            let pair = |partition: &String, row: &String| (partition.clone(), row.clone());
            IndexState::Blocked(Blocked {
                key: pair(key, key_row),
                has: pair(has, has_row),
                wants: pair(wants, wants_row),
            })
        }
        // Each reader sees the states of the moment that it reads.
        "ready" => IndexState::Ready { since: 0 },
        "dropping" => IndexState::Dropping,
        _ => return None,
    })
}

#[cold]
fn states_are_damaged() -> table_engine::Error {
    damaged("the record of a kind's states")
}
