//! What becomes of a kind when its rows are converted from one version to another.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::executor::{Conversion, JobRecord};
use table_engine::schema::{Index, IndexStates, KindEvent, Layout, LayoutIndex, Schema};

use super::declare::authenticate;
use super::elsewhere::{self, NotedKind};
use crate::handle::lmdb_table::LmdbTable;
use crate::records::index_states::RecordName;
use crate::records::{index_states, layouts};

/// Returns the states of a kind, and the version that is noted of it.
pub(super) fn version(table: &LmdbTable, schema: &'static Schema) -> Result<(IndexStates, Option<u32>)> {
    let (txn, dbs) = (table.inner.environment.read_txn()?, &table.inner.environment.dbs);
    table.state.check_exists(dbs, &txn)?;
    let noted = layouts::noted(dbs, &txn, &table.state, schema.kind)?;
    let index_states = index_states::index_states(dbs, &txn, table.state.id, schema.kind)?;
    Ok((index_states, noted.map(|noted| noted.version())))
}

/// Carries out what happens to a kind. Returns whether it did.
pub(super) fn convert(table: &LmdbTable, conversion: &Conversion<'_>) -> Result<bool> {
    let Conversion { schema, event, epoch, job } = conversion;
    let (state, kind) = (&table.state, schema.kind);
    table.inner.transact(|txn, dbs, meta| {
        state.check_generation(dbs, txn, meta)?;
        let mut index_states = index_states::index_states(dbs, txn, state.id, kind)?;
        let Some(noted) = layouts::noted(dbs, txn, state, kind)? else { return Ok(false) };
        let begins = matches!(event, KindEvent::Convert { .. });
        // The declaration that begins a conversion is of a later version than the one that is noted; from then on it is
        // the one that is noted.
        if index_states.epoch != *epoch || begins != (noted.version() < schema.version) {
            return Ok(false);
        }
        let declared = Layout::of(schema);
        if !index_states.transit_kind(if begins { &declared } else { &noted }, event.clone()) {
            return Ok(false);
        }
        let (name, record) = *job;
        let table = state.id;
        let mut record = record.cloned();
        if begins {
            check_places(&noted, schema)?;
            layouts::check_apart(dbs, txn, state, schema)?;
            state.verify(dbs, txn, meta)?;
            layouts::put(dbs, txn, state.id, &declared)?;
            authenticate(dbs, txn, meta, state, schema)?;
            let mut former = previous_tables(&state.name, &noted);
            // The jobs that are begun are of the version before.
            for (known, begun) in index_states::all_jobs(dbs, txn, state.id)? {
                let of_index = ["rebuild", "drop"].map(|word| format!("{word} {kind} "));
                let is_of_index = of_index.iter().any(|of_index| known.starts_with(of_index));
                if is_of_index || known == name {
                    // They may not have purged these yet.
                    unite(&mut former, &state.name, &mut begun.tables());
                }
                if is_of_index {
                    index_states::write_job(dbs, txn, meta, RecordName { table, name: &known }, None)?;
                }
            }
            let noted = NotedKind { table: state, schema, layout: &declared };
            for index in schema.indexes {
                noted.note_elsewhere(dbs, txn, meta, index.name)?;
            }
            if let Some(record) = &mut record {
                record.asked = former.join("\n");
            }
        }
        if *event == KindEvent::Converted {
            let swept = index_states::job(dbs, txn, state.id, name)?;
            let tables: Vec<_> = swept.iter().flat_map(JobRecord::tables).map(str::to_owned).collect();
            let noted = NotedKind { table: state, schema, layout: &declared };
            noted.forget_elsewhere(dbs, txn, meta, &tables)?;
        }
        index_states::write_index_states(dbs, txn, meta, RecordName { table, name: kind }, &index_states)?;
        index_states::write_job(dbs, txn, meta, RecordName { table, name }, record.as_ref())?;
        Ok(true)
    })
}

/// Returns the tables in which copies of entities of this layout may lie, but for the entities' own.
fn previous_tables(own: &str, noted: &Layout) -> Vec<String> {
    let mut tables = Vec::new();
    let of_copies = noted.indexes().filter(|index| !index.is_summary());
    unite(&mut tables, own, &mut of_copies.filter_map(|index| noted.table_of(index)));
    tables
}

/// Adds the tables that are not there yet.
fn unite(tables: &mut Vec<String>, own: &str, others: &mut dyn Iterator<Item = &str>) {
    for other in others.filter(|other| !other.is_empty() && !other.eq_ignore_ascii_case(own)) {
        if tables.iter().all(|known| !known.eq_ignore_ascii_case(other)) {
            tables.push(other.to_owned());
        }
    }
}

/// Refuses a version whose entities could have a key of a copy of the version before, which is there as long as they are
/// converted; and one that leaves a summary behind, whose rows no version says.
fn check_places(noted: &Layout, schema: &Schema) -> Result<()> {
    let keeps = |summary: &LayoutIndex| {
        let mut summaries = schema.indexes.iter().filter(|index| index.summary.is_some());
        let there = noted.table_of(summary).map(str::to_ascii_lowercase);
        let table = |index: &Index| elsewhere::table_of(schema, index.name).map(str::to_ascii_lowercase);
        summaries.any(|index| index.kind == noted.index_kind(summary) && table(index) == there)
    };
    if let Some(left) = noted.indexes().find(|index| index.is_summary() && !keeps(index)) {
        return Err(Error::new(ErrorKind::LayoutConflict).because(format!(
            "the entities of version {} of `{}` are counted in the summary `{name}`, and those of version {} are not, or \
             in another table: drop it first, by `Table::drop_index(\"{name}\")` in a program of version {0}",
            noted.version(),
            schema.kind,
            schema.version,
            name = left.name
        )));
    }
    let mut copies = noted.indexes().filter(|index| !index.is_summary());
    match copies.find(|index| noted.meets(index, schema.place())) {
        None => Ok(()),
        Some(index) => Err(Error::new(ErrorKind::LayoutConflict).because(format!(
            "an entity of version {} of `{}` could have the key of a copy in the index `{}` of version {}, whose copies are \
             there until all is converted: keep the row key of the entity apart from it",
            schema.version, schema.kind, index.name, noted.version()
        ))),
    }
}
