//! Plans carried out on a map.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor::{
    self as executor, Abilities, Act, Addition, Committed, Condition, Content, Group, ListBecomes, Plan,
    Refused, RowProperty, RowWrite, TableExec,
};
use table_engine::{ETag, Error, ErrorKind, Result, Ticks, Value};

use super::table::MapTable;
use super::{MapStore, Row, Rows, State, missing, own};

/// What becomes of rows, by their keys.
type Write = (Vec<u8>, Option<Arc<Row>>);
type Writes = Vec<Write>;

pub(super) fn commit(
    store: &MapStore,
    tables: &[&dyn TableExec],
    plan: &Plan<'_>,
) -> Result<Committed, Refused> {
    executor::check_rules(plan)?;
    demand_ability(store.abilities, plan);
    let mut state = store.state();
    let mut times = Times { next: next(&state), apart: store.is_service };
    let mut etags = Vec::new();
    let mut writes = Writes::new();
    for (number, group) in plan.groups.iter().enumerate() {
        let refused = |(error, row)| Refused { error, group: number, row };
        let table = table_of(store, tables, &state, group).map_err(|error| refused((error, None)))?;
        for (at, row) in group.rows.iter().enumerate() {
            let timestamp = times.take();
            etags.push(ETag::from_timestamp(timestamp));
            let planned = write(&state, plan, &Target { table, partition: group.partition }, row, timestamp);
            writes.extend(planned.map_err(|error| refused((error, Some(at))))?);
        }
        for (at, addition) in (group.rows.len()..).zip(&group.additions) {
            let added = add(&state, table, group.partition, addition, times.take());
            writes.push(added.map_err(|error| refused((error, Some(at))))?);
        }
        // The map has no jobs, so no kind is ever in another epoch than its first.
        assert!(group.epochs.iter().all(|epoch| epoch.number == 0), "an epoch that never was");
        for range in &group.unchanged {
            if digest(&state.rows, table.entry.id, group.partition, range.prefix) != range.digest {
                return Err(refused((
                    executor::error(ErrorKind::ConditionNotMet, "rows have changed"),
                    None,
                )));
            }
        }
    }
    let rows = Arc::make_mut(&mut state.rows);
    for (key, row) in writes {
        match row {
            Some(row) => rows.insert(key, row),
            None => rows.remove(&key),
        };
    }
    state.last = Some(times.next);
    state.commits += 1;
    let last = ETag::from_timestamp(times.next);
    Ok(if store.is_service { Committed::of_rows(last, etags) } else { Committed::at(last) })
}

/// The times of the rows of one plan.
struct Times {
    next: Ticks,
    apart: bool,
}

impl Times {
    /// Returns the time of the next row.
    fn take(&mut self) -> Ticks {
        let taken = self.next;
        if self.apart {
            self.next = after(taken);
        }
        taken
    }
}

fn after(time: Ticks) -> Ticks {
    time.checked_add(Duration::from_nanos(100)).unwrap_or(time)
}

/// No plan comes here that asks for what the store said it can't do.
fn demand_ability(abilities: Abilities, plan: &Plan<'_>) {
    assert!(abilities.groups || plan.groups.iter().count() <= 1, "several groups");
    assert!(abilities.times || !plan.keeps_times, "times are to be kept");
    assert!(abilities.queues || plan.queue_ops.is_empty(), "messages are sent or completed");
    assert!(abilities.eventual || plan.outbox_ops.is_empty() && plan.as_of.is_none(), "copies are to follow");
    for group in plan.groups.iter() {
        let kept: Vec<_> = group.rows.iter().filter(|row| matches!(row.act, Act::Keep)).collect();
        assert!(group.rows.len() - kept.len() <= abilities.rows, "too many rows");
        assert!(abilities.additions || group.additions.is_empty(), "numbers are to be added to");
        assert!(abilities.expect || kept.iter().all(|row| row.condition == Condition::Any), "demands");
        assert!(abilities.range || group.unchanged.is_empty(), "ranges");
    }
}

/// Later than all before it.
fn next(state: &State) -> Ticks {
    let now = Ticks::now();
    match state.last {
        Some(last) if last >= now => after(last),
        _ => now,
    }
}

fn table_of<'t>(
    store: &MapStore,
    tables: &[&'t dyn TableExec],
    state: &State,
    group: &Group<'_>,
) -> Result<&'t MapTable> {
    let table = own(*tables.get(group.table).ok_or_else(missing)?)?;
    table.check_exists(state)?;
    if std::ptr::eq(Arc::as_ptr(&table.store), store) { Ok(table) } else { Err(missing()) }
}

/// A partition of a table that is written to.
struct Target<'t> {
    table: &'t MapTable,
    partition: &'t str,
}

/// What becomes of a row, if anything does.
fn write(
    state: &State,
    plan: &Plan<'_>,
    target: &Target<'_>,
    row: &RowWrite<'_>,
    timestamp: Ticks,
) -> Result<Option<Write>> {
    let Target { table, partition } = *target;
    let id = table.entry.id;
    let key = executor::stored_key(id, partition, row.key);
    let old = state.rows.get(&key);
    demand(row.condition, old.map(|old| ETag::from_timestamp(old.timestamp)))?;
    // A row that only stays as it is is not written.
    if row.kind.is_none() && !plan.is_raw && !matches!(row.act, Act::Keep) {
        let layouts = state.layouts.get(&id).cloned().unwrap_or_default();
        let new = row.act.content().map(properties).unwrap_or_default();
        for properties in old.map(|old| &old.properties).into_iter().chain([&new]) {
            if let Some(kind) = properties.get("EntityType").and_then(Value::as_str) {
                executor::check_by_properties(&layouts, kind)?;
            }
        }
    }
    let properties = match (&row.act, old) {
        (Act::Keep, _) => return Ok(None),
        (Act::Remove, _) => return Ok(Some((key, None))),
        (Act::Merge(content), Some(old)) => {
            let mut merged = old.properties.clone();
            merged.extend(properties(content));
            let entity: Vec<_> =
                merged.iter().map(|(name, value)| (name.as_str(), value.as_value_ref())).collect();
            executor::check_entity(partition, row.key, &entity)?;
            merged
        }
        (Act::Put(content) | Act::Merge(content), _) => properties(content),
    };
    let timestamp = old.map(|old| old.timestamp).filter(|_| plan.keeps_times).unwrap_or(timestamp);
    let row = Row { partition: partition.into(), row: row.key.into(), timestamp, properties };
    Ok(Some((key, Some(Arc::new(row)))))
}

/// What becomes of a row of a summary, or of a list.
fn add(
    state: &State,
    table: &MapTable,
    partition: &str,
    addition: &Addition<'_>,
    timestamp: Ticks,
) -> Result<Write> {
    let key = executor::stored_key(table.entry.id, partition, addition.key);
    if addition.amounts.are_own() {
        let Some(old) = state.rows.get(&key) else {
            return Err(executor::error(ErrorKind::EntityNotFound, ""));
        };
        if old.properties.get("EntityType").and_then(Value::as_str) != Some(addition.amounts.kind_name()) {
            return Err(addition.amounts.is_another());
        }
        let mut of_old = |name: &str| Ok(old.properties.get(name).map(Value::as_value_ref));
        let sums = addition.amounts.becomes_of_own(&mut of_old)?;
        let mut properties = old.properties.clone();
        properties.extend(sums.into_iter().map(|(name, sum)| (name.to_owned(), sum)));
        let row = Row { partition: partition.into(), row: addition.key.into(), timestamp, properties };
        return Ok((key, Some(Arc::new(row))));
    }
    if addition.amounts.are_ids() {
        let old = state.rows.get(&key);
        if let Some(old) = old
            && old.properties.get("EntityType").and_then(Value::as_str) != Some(addition.amounts.kind_name())
        {
            return Err(addition.amounts.is_another());
        }
        let becomes = match old {
            None => addition.amounts.becomes_of_list(None)?,
            Some(old) => {
                let mut of_old = |name: &str| Ok(old.properties.get(name).map(Value::as_value_ref));
                addition.amounts.becomes_of_list(Some(&mut of_old))?
            }
        };
        let row = match becomes {
            ListBecomes::Same => old.cloned(),
            ListBecomes::Gone => None,
            ListBecomes::Long(_) => return Err(addition.amounts.no_room()),
            ListBecomes::Row(properties) => {
                let properties =
                    properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
                Some(Arc::new(Row {
                    partition: partition.into(),
                    row: addition.key.into(),
                    timestamp,
                    properties,
                }))
            }
        };
        return Ok((key, row));
    }
    let becomes = match state.rows.get(&key) {
        None => addition.amounts.becomes(None)?,
        Some(old) => {
            let kind = old.properties.get("EntityType").and_then(Value::as_str);
            if kind != Some(addition.amounts.kind_name()) {
                return Err(addition.amounts.is_another());
            }
            let mut of_old = |name: &str| Ok(old.properties.get(name).and_then(Value::as_i64));
            addition.amounts.becomes(Some(&mut of_old))?
        }
    };
    let owned = |(name, value): RowProperty<'_>| (name.to_owned(), value.to_value());
    let row = becomes.map(|properties| {
        let properties = properties.into_iter().map(owned).collect();
        Arc::new(Row { partition: partition.into(), row: addition.key.into(), timestamp, properties })
    });
    Ok((key, row))
}

fn demand(condition: Condition, found: Option<ETag>) -> Result<(), Error> {
    let wanted = match condition {
        Condition::Any => return Ok(()),
        Condition::Absent | Condition::StillAbsent if found.is_none() => return Ok(()),
        Condition::Absent | Condition::StillAbsent => {
            return Err(executor::error(ErrorKind::EntityAlreadyExists, ""));
        }
        Condition::Present => None,
        Condition::Tag(etag) => Some(etag),
        Condition::Is(version) => Some(version.etag),
    };
    match (found, wanted) {
        (None, _) => Err(executor::error(ErrorKind::EntityNotFound, "")),
        (Some(found), Some(wanted)) if found != wanted => {
            Err(executor::error(ErrorKind::ConditionNotMet, ""))
        }
        _ => Ok(()),
    }
}

fn properties(content: &Content<'_>) -> BTreeMap<String, Value> {
    let owned = |(name, value): RowProperty<'_>| (name.to_owned(), value.to_value());
    match content {
        Content::Properties(given) => given.iter().copied().map(owned).collect(),
        Content::Row(row) => row.properties().map(owned).collect(),
    }
}

/// Returns a digest of the keys and versions of the rows whose row keys begin so.
pub(super) fn digest(rows: &Rows, table: u32, partition: &str, prefix: &str) -> u64 {
    let start = executor::stored_key(table, partition, prefix);
    let mut hash = DefaultHasher::new();
    for (key, row) in rows.range(start.clone()..).take_while(|(key, _)| key.starts_with(&start)) {
        (key, row.timestamp.get()).hash(&mut hash);
    }
    hash.finish()
}
