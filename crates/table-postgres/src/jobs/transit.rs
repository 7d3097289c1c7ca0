//! What becomes of an index, in one transaction beside no writer of its kind.

use std::sync::Arc;

use table_engine::__executor::{JobRecord, Transition};
use table_engine::Result;
use table_engine::executor::layouts::{check_apart, compare, unclear, unknown_version};
use table_engine::schema::{IndexEvent, IndexState, IndexStates, Layout};

use super::elsewhere::{self, NotedKind};
use super::record;
use crate::change::{Change, Trouble};
use crate::kinds::{self, Kinds};
use crate::table::PostgresTable;
use crate::views;

/// Carries out what happens to an index. Returns the state that it is in then; `None` if the kind is in another epoch by now, or
/// it can't happen.
pub(super) fn transit(table: &PostgresTable, transition: &Transition<'_>) -> Result<Option<IndexState>> {
    let done = table.store.change(|change| Beginning { table, change, transition }.carry_out());
    let done = done.map_err(|error| table.store.say_new_name(&table.entry, error))?;
    let Some((generation, state)) = done else { return Ok(None) };
    table.store.observe_generation(generation);
    Ok(Some(state))
}

/// A transition in its transaction.
struct Beginning<'b> {
    table: &'b PostgresTable,
    change: &'b Change<'b>,
    transition: &'b Transition<'b>,
}

/// The jobs of an index that were begun and have not ended.
struct Begun {
    names: Vec<String>,
    records: Vec<JobRecord>,
}

impl Beginning<'_> {
    fn carry_out(&self) -> Result<Option<(i64, IndexState)>, Trouble> {
        let Self { table, change, transition } = self;
        let Transition { schema, index, epoch, job: (name, record), .. } = *transition;
        let (catalog, own) = (&table.store.catalog, &*table.entry);
        let begun = self.begun()?;
        let former: Vec<_> = begun.records.iter().flat_map(JobRecord::tables).map(str::to_owned).collect();
        let others = elsewhere::table_of(schema, index).map(str::to_owned).into_iter().chain(former.clone());
        // Writers that keep other indexes have written before, or see the next generation.
        elsewhere::lock_all(change, table, others)?;
        let kinds = table.kinds_in(change)?;
        let Some(noted) = kinds.layout(schema.kind)? else { return Ok(None) };
        if noted.version() != schema.version {
            return Err(unknown_version(schema, noted.version()).into());
        }
        let event = transition.event.clone();
        if event == IndexEvent::Rebuild
            && let Ok(found) = compare(&own.name, Some(&noted), schema)
        {
            unclear(&found, schema)?;
        }
        let mut states = kinds.states(schema.kind);
        let now = states.index(&noted, index);
        let becomes = match event {
            IndexEvent::Rebuild => noted.with_index(schema, index),
            IndexEvent::Dropped => noted.without_index(index),
            _ => noted.clone(),
        };
        let mut record = record.cloned();
        let begins = matches!(event, IndexEvent::Rebuild | IndexEvent::Drop);
        if begins && let Some(record) = &mut record {
            // Rows of former declarations lie where those say.
            let rebuilt = (event == IndexEvent::Rebuild).then(|| Layout::of(schema));
            let layouts = [Some(&noted), rebuilt.as_ref()];
            record.asked = elsewhere::may_lie_in(&own.name, layouts, index, &begun.records).join("\n");
        }
        let (rebuilds, ends) =
            (event == IndexEvent::Rebuild, matches!(event, IndexEvent::Purged | IndexEvent::Dropped));
        if states.epoch != *epoch || !states.transit(index, &now, event) {
            return Ok(None);
        }
        // A job that makes an index anew ends the one that removes it, and the other way round.
        for other in begun.names.iter().filter(|other| begins && *other != name) {
            change.ask(&record::put(catalog, own.id, other, None))?;
        }
        self.put(&kinds, &becomes, becomes != noted, &states)?;
        let noted = NotedKind { table: own, schema, layout: &becomes };
        if rebuilds {
            noted.note_elsewhere(change, index)?;
        }
        if ends {
            noted.forget_elsewhere(change, &former)?;
        }
        change.ask(&record::put(catalog, own.id, name, record.as_ref()))?;
        let state = states.indexes.into_iter().find(|(known, _)| known == index);
        Ok(Some((change.raise_generation()?, state.map_or(IndexState::Absent, |(_, state)| state))))
    }

    /// Returns the jobs that make the index or remove it.
    fn begun(&self) -> Result<Begun, Trouble> {
        let Transition { schema, index, .. } = *self.transition;
        let of_it = ["rebuild", "drop"].map(|word| format!("{word} {} {index}", schema.kind));
        let answer = self.change.ask(&record::all(&self.table.store.catalog, self.table.entry.id))?;
        let known = record::found(&answer)?.into_iter().filter(|(known, _)| of_it.contains(known));
        let (names, records) = known.unzip();
        Ok(Begun { names, records })
    }

    /// Notes the kind's layout and its states.
    fn put(&self, kinds: &Kinds, layout: &Layout, is_new: bool, states: &IndexStates) -> Result<(), Trouble> {
        let (table, schema) = (self.table, self.transition.schema);
        let text = if is_new {
            let known = kinds.layouts.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
            check_apart(&table.entry.name, known, schema)?;
            Arc::from(layout.to_string())
        } else {
            // As it was written, whatever this version writes.
            let noted = kinds.layouts.iter().find(|(kind, _)| kind == schema.kind);
            noted.map_or_else(|| Arc::from(layout.to_string()), |(_, text)| Arc::<str>::from(&**text))
        };
        self.change.ask(&kinds::put(&table.store.catalog, table.entry.id, schema.kind, &text, states))?;
        if is_new && let Some(view) = views::of_kind(&table.store.catalog, &table.entry, schema.kind, &text) {
            self.change.attempt(&view)?;
        }
        Ok(())
    }
}
