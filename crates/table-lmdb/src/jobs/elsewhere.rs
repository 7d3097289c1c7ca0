//! Indexes whose copies lie in other tables than their entities: their layouts there, and what becomes of them when a table
//! is dropped.
//!
//! The states of all indexes of a kind are in the table of its entities. If that is dropped and others with copies stay,
//! each of those keeps a record of the kind that says that the copies are of former entities, until a table of entities
//! comes again.

use table_engine::error::Result;
use table_engine::executor::{JobRecord, layouts as compared};
use table_engine::schema::{IndexEvent, IndexState, IndexStates, Layout, Schema};

use crate::lmdb::{Databases, WriteTxn};
use crate::records::catalog::{self, Entry, TableState};
use crate::records::index_states::RecordName;
use crate::records::meta::Meta;
use crate::records::{index_states, layouts};

/// Returns the table in which the copies of an index lie; `None` if it is that of the entities.
pub(super) fn table_of(schema: &Schema, name: &str) -> Option<&'static str> {
    let index = schema.indexes.iter().find(|index| index.name == name)?;
    let table = index.place.table.source();
    (index.is_elsewhere() && !table.is_empty() && !table.eq_ignore_ascii_case(schema.table()))
        .then_some(table)
}

/// Returns the tables in which copies of an index may lie: by what is noted, by what is declared, and those that a job
/// which was broken off has yet to purge. The first is that of the entities only if copies may lie there.
pub(super) fn may_lie_in(
    own: &str,
    layouts: [Option<&Layout>; 2],
    index: &str,
    jobs: impl Iterator<Item = JobRecord>,
) -> Vec<String> {
    let of_layout = |layout: &Layout| {
        let index = layout.index(index)?;
        Some(layout.table_of(index).unwrap_or(own).to_owned())
    };
    let mut names: Vec<String> = layouts.into_iter().flatten().filter_map(of_layout).collect();
    names.extend(jobs.flat_map(|job| job.tables().map(str::to_owned).collect::<Vec<_>>()));
    let mut found: Vec<String> = Vec::new();
    for name in names {
        if found.iter().all(|known| !known.eq_ignore_ascii_case(&name)) {
            found.push(name);
        }
    }
    found
}

/// A kind with the layout that is noted of it in the table of its entities.
pub(super) struct NotedKind<'k> {
    pub(super) table: &'k TableState,
    pub(super) schema: &'static Schema,
    pub(super) layout: &'k Layout,
}

impl NotedKind<'_> {
    /// Notes the layout in the other table where an index is to lie, if it does not lie with the entities.
    pub(super) fn note_elsewhere(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        index: &str,
    ) -> Result<()> {
        let Self { table, schema, layout } = *self;
        let Some(name) = table_of(schema, index) else { return Ok(()) };
        let Some(entry) = catalog::find(dbs, txn, meta, name)? else { return Ok(()) };
        let there = layouts::all(dbs, txn, entry.id)?;
        let known = there.iter().find(|(kind, _)| *kind == schema.kind);
        let known = known.map(|(kind, layout)| layouts::read(layout, kind)).transpose()?;
        // Copies of another table's entities are refused.
        compared::compare(&entry.name, known.as_ref(), schema).map_err(|error| error.table(&entry.name))?;
        compared::check_apart(&entry.name, there.into_iter(), schema)
            .map_err(|error| error.table(&entry.name))?;
        let layout = layout.noted_elsewhere(schema.table());
        table.verify_entry(dbs, txn, meta, &entry)?;
        layouts::put(dbs, txn, entry.id, &layout)?;
        table.authenticate_in(dbs, txn, meta, schema, &entry.name)
    }

    /// Removes the layout from those of these tables where no index of the kind lies any more.
    pub(super) fn forget_elsewhere(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        names: &[String],
    ) -> Result<()> {
        let Self { table, schema, layout } = *self;
        for name in names.iter().filter(|name| !name.eq_ignore_ascii_case(&table.name)) {
            if layout.other_tables().iter().any(|other| other.eq_ignore_ascii_case(name)) {
                continue;
            }
            let Some(entry) = catalog::find(dbs, txn, meta, name)? else { continue };
            if of_kind(dbs, txn, &entry, schema.kind)?
                .is_none_or(|there| !there.table().eq_ignore_ascii_case(&table.name))
            {
                continue;
            }
            table.verify_entry(dbs, txn, meta, &entry)?;
            layouts::remove(dbs, txn, entry.id, schema.kind)?;
            table.authenticate_in(dbs, txn, meta, schema, &entry.name)?;
        }
        Ok(())
    }
}

/// Reads the layout of a kind that is noted in a table.
fn of_kind(dbs: &Databases, txn: &heed::RoTxn<'_>, entry: &Entry, kind: &str) -> Result<Option<Layout>> {
    Ok(layouts::all_read(dbs, txn, entry.id)?.into_iter().find(|layout| layout.kind == kind))
}

/// Moves the states of indexes when a table is dropped that has their entities or their copies, while the other stays.
/// `stays` says whether a table does.
pub(crate) fn table_is_dropped(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    dropped: &Entry,
    stays: &dyn Fn(&str) -> bool,
) -> Result<()> {
    // A table whose layouts are damaged can be dropped: there is no other way to be rid of it.
    let Ok(noted) = layouts::all_read(dbs, txn, dropped.id) else { return Ok(()) };
    for layout in noted {
        let of = layout.table();
        if of.is_empty() || of.eq_ignore_ascii_case(&dropped.name) {
            for name in layout.other_tables().into_iter().filter(|name| stays(name)) {
                DroppedKind { layout: &layout, table: dropped }.orphan_copies(dbs, txn, meta, name)?;
            }
        } else if stays(of) {
            DroppedKind { layout: &layout, table: dropped }.lose_copies(dbs, txn, meta)?;
        }
    }
    Ok(())
}

/// A kind of which a dropped table had the entities or copies.
struct DroppedKind<'d> {
    layout: &'d Layout,
    table: &'d Entry,
}

impl DroppedKind<'_> {
    /// Notes in another table that the copies which it has are of entities that are no more.
    fn orphan_copies(
        &self,
        dbs: &Databases,
        txn: &mut WriteTxn<'_>,
        meta: &mut Meta,
        name: &str,
    ) -> Result<()> {
        let (layout, own) = (self.layout, &*self.table.name);
        let Some(entry) = catalog::find(dbs, txn, meta, name)? else { return Ok(()) };
        if of_kind(dbs, txn, &entry, &layout.kind)?
            .is_none_or(|there| !there.table().eq_ignore_ascii_case(own))
        {
            return Ok(());
        }
        let mut left = index_states::index_states(dbs, txn, entry.id, &layout.kind)?;
        for index in layout.indexes() {
            if layout.table_of(index).is_some_and(|table| table.eq_ignore_ascii_case(name)) {
                let ready = IndexState::Ready { since: 0 };
                left.transit(&index.name, &ready, IndexEvent::EntitiesDropped);
            }
        }
        let kind = RecordName { table: entry.id, name: &layout.kind };
        index_states::write_index_states(dbs, txn, meta, kind, &left)
    }

    /// Notes in the table of the entities that the copies which the dropped table had are to be made again.
    fn lose_copies(&self, dbs: &Databases, txn: &mut WriteTxn<'_>, meta: &mut Meta) -> Result<()> {
        let (kind, dropped) = (&*self.layout.kind, &*self.table.name);
        let Some(entry) = catalog::find(dbs, txn, meta, self.layout.table())? else { return Ok(()) };
        let Some(noted) = of_kind(dbs, txn, &entry, kind)? else { return Ok(()) };
        let mut states = index_states::index_states(dbs, txn, entry.id, kind)?;
        let before = states.clone();
        for index in noted.indexes() {
            if noted.table_of(index).is_none_or(|table| !table.eq_ignore_ascii_case(dropped)) {
                continue;
            }
            let now = states.index(&noted, &index.name);
            if !now.is_kept() {
                continue;
            }
            states.transit(&index.name, &now, IndexEvent::RowsDropped);
            // A job that fills it begins again.
            let job = format!("rebuild {kind} {}", index.name);
            if let Some(record) = index_states::job(dbs, txn, entry.id, &job)? {
                let again = JobRecord { position: None, end: None, done: 0, ..record };
                let name = RecordName { table: entry.id, name: &job };
                index_states::write_job(dbs, txn, meta, name, Some(&again))?;
            }
        }
        // To write them would have every handle look again at what it knows of its table.
        if states == before {
            return Ok(());
        }
        index_states::write_index_states(dbs, txn, meta, RecordName { table: entry.id, name: kind }, &states)
    }
}

/// Returns the states of a kind of which nothing is noted in the table of its entities: its indexes are ready, but for
/// those in which copies are left of the entities of a dropped table. With them the tables that say so.
pub(super) fn inherited(
    dbs: &Databases,
    txn: &heed::RoTxn<'_>,
    meta: &Meta,
    schema: &'static Schema,
) -> Result<(IndexStates, Vec<Entry>)> {
    let (mut states, mut tables) = (IndexStates::default(), Vec::new());
    for name in schema.other_tables() {
        let Some(entry) = catalog::find(dbs, txn, meta, name)? else { continue };
        let left = index_states::index_states(dbs, txn, entry.id, schema.kind)?;
        if left == IndexStates::default() {
            continue;
        }
        for (index, state) in left.indexes {
            if table_of(schema, &index).is_some_and(|table| table.eq_ignore_ascii_case(name)) {
                states.indexes.push((index, state));
            }
        }
        tables.push(entry);
    }
    Ok((states, tables))
}

/// Moves what other tables say of the indexes of a kind to the table of its entities, where its layout is noted for the first
/// time.
pub(super) fn take_over(
    dbs: &Databases,
    txn: &mut WriteTxn<'_>,
    meta: &mut Meta,
    table: &TableState,
    schema: &'static Schema,
) -> Result<()> {
    if !schema.lies_in(&table.name) {
        return Ok(());
    }
    let (mut states, tables) = inherited(dbs, txn, meta, schema)?;
    if tables.is_empty() {
        return Ok(());
    }
    states.epoch += 1;
    let kind = |table: u32| RecordName { table, name: schema.kind };
    index_states::write_index_states(dbs, txn, meta, kind(table.id), &states)?;
    for entry in tables {
        index_states::forget_index_states(dbs, txn, meta, kind(entry.id))?;
    }
    Ok(())
}
