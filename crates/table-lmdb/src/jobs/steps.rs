//! Jobs over a table of LMDB: where they are, the rows that come next, and what becomes of indexes.

use std::ops::Bound;
use std::sync::Arc;

use lmdb_verify::LeavesAhead;

use table_engine::error::{Error, Result};
use table_engine::executor::layouts::{unclear, unknown_version};
use table_engine::executor::{
    Conversion, EachRow, JobRecord, Jobs, Looked, Position, StepSize, TableExec, Transition,
};
use table_engine::row::Row;
use table_engine::row::key::{self, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::schema::{self, IndexEvent, IndexState, IndexStates, Layout, Schema};

use super::declare::{authenticate, lived};
use super::elsewhere::{self, NotedKind};
use super::plain::damaged;
use super::{convert, forget};
use crate::handle::lmdb_table::LmdbTable;
use crate::lmdb;
use crate::open::Environment;
use crate::records::counts::Counts;
use crate::records::index_states::RecordName;
use crate::records::meta::Meta;
use crate::records::{catalog, index_states, layouts};
use crate::scan::read;

/// A row as it is stored, with its key.
type Pair<'t> = Option<(&'t [u8], &'t [u8])>;

/// Makes sure of the row that a walk has met after one that is sound: it is sound, of whatever table, and no row stands between
/// them. Without one, none stands before the other, or after it.
fn check_next(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    before: Pair<'_>,
    next: Pair<'_>,
) -> Result<()> {
    let place = |row: Pair<'_>| Some(environment.dbs.pages.place(row?.0));
    let leaf = place(next);
    if let Some((key, bytes)) = next {
        if leaf.is_some() && leaf == place(before) {
            // Their leaf was looked at with the row before.
            read::verify_in_leaf(environment, key, bytes)?;
        } else {
            read::verify_row(environment, key, bytes)?;
        }
    }
    let [before, next] = [before, next].map(|row| row.map(|(key, _)| key));
    let rises = before.is_none_or(|before| next.is_none_or(|next| before < next));
    if rises && read::adjacent(environment, txn, before, next)? { Ok(()) } else { Err(read::out_of_order()) }
}

impl Jobs for LmdbTable {
    fn job(&self, name: &str) -> Result<Option<JobRecord>> {
        self.inner.writer.check_running()?;
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        index_states::job(dbs, &txn, self.state.id, name)
    }

    fn begun(&self) -> Result<Vec<(String, JobRecord)>> {
        self.inner.writer.check_running()?;
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        index_states::all_jobs(dbs, &txn, self.state.id)
    }

    fn keep(&self, name: &str, job: Option<&JobRecord>) -> Result<()> {
        self.inner.transact(|txn, dbs, meta| {
            self.state.check_generation(dbs, txn, meta)?;
            index_states::write_job(dbs, txn, meta, RecordName { table: self.state.id, name }, job)
        })
    }

    fn sibling(&self, name: &str) -> Result<Option<Arc<dyn TableExec>>> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        let entry = catalog::find(dbs, &txn, &Meta::read(dbs.main, &txn)?, name)?;
        Ok(entry.map(|entry| -> Arc<dyn TableExec> {
            Arc::new(LmdbTable::new(self.inner.clone(), self.inner.state(&entry)))
        }))
    }

    fn last_row(&self) -> Result<Option<Position>> {
        let (inner, state) = (&self.inner, &self.state);
        inner.writer.check_running()?;
        let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
        state.check_exists(dbs, &txn)?;
        let behind = state.id.checked_add(1).map(key::Number::of);
        let last = match &behind {
            Some(behind) => dbs.data.get_lower_than(&txn, behind),
            None => dbs.data.last(&txn),
        };
        let last = last.map_err(lmdb::error)?;
        if let Some((key, bytes)) = last {
            read::verify_row(&inner.environment, key, bytes)?;
        }
        // What a damaged page hides at the end would be left out for ever.
        let next = match &behind {
            Some(behind) => dbs.data.get_greater_than_or_equal_to(&txn, behind).map_err(lmdb::error)?,
            None => None,
        };
        check_next(&inner.environment, &txn, last, next)?;
        let own = last.and_then(|(key, _)| StoredKey::parse(key)).filter(|key| key.table == state.id);
        let texts = own.and_then(|key| key.texts());
        Ok(texts.map(|(partition, row)| Position { partition: partition.into(), row: row.into() }))
    }

    fn row_count(&self) -> Result<u64> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        Counts::read(dbs.main, &txn, self.state.id).map(|counts| counts.entities)
    }

    fn byte_count(&self) -> Result<u64> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        Counts::read(dbs.main, &txn, self.state.id).map(|counts| counts.bytes)
    }

    fn version(&self, schema: &'static Schema) -> Result<(IndexStates, Option<u32>)> {
        convert::version(self, schema)
    }

    fn convert(&self, conversion: &Conversion<'_>) -> Result<bool> {
        convert::convert(self, conversion)
    }

    fn forget_copies(&self, schema: &'static Schema) -> Result<u64> {
        forget::copies(self, schema)
    }

    fn rows_after(
        &self,
        after: Option<&Position>,
        size: StepSize,
        each: EachRow<'_>,
    ) -> Result<(Option<Position>, u64)> {
        let (inner, state) = (&self.inner, &self.state);
        inner.writer.check_running()?;
        let (txn, dbs) = (inner.environment.read_txn()?, &inner.environment.dbs);
        state.check_exists(dbs, &txn)?;
        let start = match after {
            Some(Position { partition, row }) => key::stored(state.id, partition, row),
            None => key::Number::of(state.id).to_vec(),
        };
        let (mut dict, mut last, mut looked) = (state.dict(), None, Looked::new(size));
        // The walk is as good as its proof: what a damaged page hides would be left out for ever.
        let mut ahead =
            LeavesAhead::new(&inner.environment.reader, inner.environment.rows_tree(&txn, txn.id())?);
        ahead.of_key(&txn, &start).map_err(lmdb::damage)?;
        let mut before = dbs.data.get_lower_than_or_equal_to(&txn, &start).map_err(lmdb::error)?;
        if let Some((key, bytes)) = before {
            read::verify_row(&inner.environment, key, bytes)?;
        }
        let range = (Bound::Excluded(start.as_slice()), Bound::<&[u8]>::Unbounded);
        let mut pairs = dbs.data.range(&txn, &range).map_err(lmdb::error)?;
        while !looked.is_enough() {
            let pair = pairs.next().transpose().map_err(lmdb::error)?;
            if let Some((key, _)) = pair {
                ahead.of_entry(&txn, key).map_err(lmdb::damage)?;
            }
            check_next(&inner.environment, &txn, before, pair)?;
            let Some((key, found)) = pair else { break };
            if StoredKey::parse(key).is_none_or(|key| key.table != state.id) {
                break;
            }
            let located = |error: Error| key::locate(error, key);
            let row = Row::parse(found).map_err(damaged(key))?;
            if !view::covers(&dict, &row) {
                dict = state.reload_for(dbs, &txn, &row).map_err(located)?;
            }
            let is_asked_for = each(&RowView::new(key, row, &*dict, true), txn.id()).map_err(located)?;
            looked.add(key.len() + found.len(), is_asked_for);
            (before, last) = (pair, Some(key));
        }
        let texts = |key| StoredKey::parse(key).and_then(|key| key.texts());
        let last = last.and_then(texts);
        let position = last.map(|(partition, row)| Position { partition: partition.into(), row: row.into() });
        Ok((position, looked.rows()))
    }

    fn index_states(&self, schema: &'static Schema, index: &str) -> Result<(IndexStates, IndexState, bool)> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        let noted = layouts::noted(dbs, &txn, &self.state, schema.kind)?;
        let (noted, index_states) = lived(dbs, &txn, &self.state, schema, noted)?;
        let Some(noted) = noted else { return Ok((index_states, IndexState::Absent, false)) };
        let declared = Layout::of(schema);
        let both = noted.index(index).zip(declared.index(index));
        let is_same = noted.version() == schema.version
            && both.is_some_and(|(was, is)| schema::same_index(&noted, was, &declared, is));
        let state = index_states.index(&noted, index);
        Ok((index_states, state, is_same))
    }

    fn indexes(&self, schema: &'static Schema) -> Result<Vec<String>> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        let Some(noted) = layouts::noted(dbs, &txn, &self.state, schema.kind)? else { return Ok(Vec::new()) };
        Ok(noted.indexes().map(|index| index.name.clone()).collect())
    }

    fn kind_of(&self, schema: &'static Schema, index: &str) -> Result<Option<String>> {
        let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
        self.state.check_exists(dbs, &txn)?;
        let Some(noted) = layouts::noted(dbs, &txn, &self.state, schema.kind)? else { return Ok(None) };
        Ok(noted.index(index).map(|index| noted.index_kind(index)))
    }

    fn transit(&self, transition: &Transition<'_>) -> Result<Option<IndexState>> {
        let Transition { schema, index, event, epoch, job } = transition;
        let (table, kind) = (&self.state, schema.kind);
        self.inner.transact(|txn, dbs, meta| {
            table.check_generation(dbs, txn, meta)?;
            let mut index_states = index_states::index_states(dbs, txn, table.id, kind)?;
            let Some(noted) = layouts::noted(dbs, txn, table, kind)? else { return Ok(None) };
            if noted.version() != schema.version {
                return Err(unknown_version(schema, noted.version()));
            }
            if *event == IndexEvent::Rebuild
                && let Ok(found) = layouts::compare(dbs, txn, table, schema)
            {
                unclear(&found, schema)?;
            }
            let now = index_states.index(&noted, index);
            let event = match event {
                // The state that this transaction makes is the first in which the index is read.
                IndexEvent::Backfilled { .. } => {
                    IndexEvent::Backfilled { since: u64::try_from(txn.id()).unwrap_or(u64::MAX) }
                }
                event => event.clone(),
            };
            let becomes = match event {
                IndexEvent::Rebuild => Some(noted.with_index(schema, index)),
                IndexEvent::Dropped => Some(noted.without_index(index)),
                _ => None,
            };
            let (name, record) = *job;
            let mut record = record.cloned();
            let known: Vec<_> = index_states::all_jobs(dbs, txn, table.id)?;
            let of_it = [format!("rebuild {kind} {index}"), format!("drop {kind} {index}")];
            let begun = known.into_iter().filter(|(known, _)| of_it.contains(known));
            let (names, begun): (Vec<_>, Vec<_>) = begun.unzip();
            let begins = matches!(event, IndexEvent::Rebuild | IndexEvent::Drop);
            let former = match event {
                // Rows of former declarations lie where those say.
                IndexEvent::Rebuild | IndexEvent::Drop => {
                    let rebuilt = (event == IndexEvent::Rebuild).then(|| Layout::of(schema));
                    let swept = elsewhere::may_lie_in(
                        &table.name,
                        [Some(&noted), rebuilt.as_ref()],
                        index,
                        begun.into_iter(),
                    );
                    if let Some(record) = &mut record {
                        record.asked = swept.join("\n");
                    }
                    Vec::new()
                }
                IndexEvent::Purged | IndexEvent::Dropped => {
                    begun.iter().flat_map(|job| job.tables().map(str::to_owned).collect::<Vec<_>>()).collect()
                }
                _ => Vec::new(),
            };
            let rebuilds = event == IndexEvent::Rebuild;
            if index_states.epoch != *epoch || !index_states.transit(index, &now, event) {
                return Ok(None);
            }
            let record_of = |name| RecordName { table: table.id, name };
            // A job that makes an index anew ends the one that removes it, and the other way round.
            for other in names.iter().filter(|other| begins && *other != name) {
                index_states::write_job(dbs, txn, meta, record_of(other), None)?;
            }
            let noted = if let Some(layout) = becomes.filter(|layout| *layout != noted) {
                layouts::check_apart(dbs, txn, table, schema)?;
                table.verify(dbs, txn, meta)?;
                layouts::put(dbs, txn, table.id, &layout)?;
                authenticate(dbs, txn, meta, table, schema)?;
                layout
            } else {
                noted
            };
            let noted = NotedKind { table, schema, layout: &noted };
            if rebuilds {
                noted.note_elsewhere(dbs, txn, meta, index)?;
            }
            noted.forget_elsewhere(dbs, txn, meta, &former)?;
            index_states::write_index_states(dbs, txn, meta, record_of(kind), &index_states)?;
            index_states::write_job(dbs, txn, meta, record_of(name), record.as_ref())?;
            Ok(Some(
                index_states
                    .indexes
                    .iter()
                    .find(|(known, _)| known == index)
                    .map_or(IndexState::Absent, |(_, state)| state.clone()),
            ))
        })
    }
}

impl LmdbTable {
    /// Returns the error that says why an index can't be read in the state of this number.
    #[cold]
    pub(crate) fn unread(&self, schema: &'static Schema, index: usize, state: usize) -> Error {
        let find = || {
            let (txn, dbs) = (self.inner.environment.read_txn()?, &self.inner.environment.dbs);
            self.state.check_exists(dbs, &txn)?;
            let name = schema.indexes.get(index).map_or("", |index| index.name);
            let noted = layouts::noted(dbs, &txn, &self.state, schema.kind)?;
            let (noted, index_states) = lived(dbs, &txn, &self.state, schema, noted)?;
            let why = schema::unread(noted.as_ref(), &index_states, schema, name, state);
            // It has become ready meanwhile: the caller reads an earlier state.
            let why = why.unwrap_or(schema::Unread::Is(IndexState::Ready { since: 0 }));
            let jobs = index_states::all_jobs(dbs, &txn, self.state.id)?;
            let of_it = [format!("rebuild {} {name}", schema.kind), format!("convert {}", schema.kind)];
            let far = jobs.iter().find(|(job, _)| of_it.contains(job)).map(|(_, job)| format!(" ({job})"));
            Ok(table_engine::executor::layouts::unread(schema, name, &why, &far.unwrap_or_default()))
        };
        find().unwrap_or_else(|error: Error| error)
    }
}
