//! What becomes of indexes when a table is dropped that has their entities or their copies, while the other stays.
//!
//! The states of all indexes of a kind are in the table of its entities. If that is dropped and others with copies stay, each of
//! those says that its copies are of former entities, until a table of entities comes again.

use table_engine::__executor::JobRecord;
use table_engine::Result;
use table_engine::executor::layouts;
use table_engine::schema::{IndexEvent, IndexState, IndexStates, Layout};

use super::elsewhere::find;
use super::record;
use crate::change::{Change, Trouble};
use crate::kinds::{self, Kinds};
use crate::table::TableEntry;

/// Moves the states of indexes when a table is dropped. `stays` says whether a table does.
pub(crate) fn table_is_dropped(
    change: &Change<'_>,
    dropped: &TableEntry,
    stays: &dyn Fn(&str) -> bool,
) -> Result<(), Trouble> {
    for (kind, text) in noted(change, dropped)?.layouts.iter() {
        // A table whose layouts are damaged can be dropped: there is no other way to be rid of it.
        let Ok(layout) = layouts::read(text, kind) else { continue };
        let gone = DroppedKind { change, layout: &layout, table: dropped };
        let of = layout.table();
        if of.is_empty() || of.eq_ignore_ascii_case(&dropped.name) {
            for name in layout.other_tables().into_iter().filter(|name| stays(name)) {
                gone.orphan_copies(name)?;
            }
        } else if stays(of) {
            gone.lose_copies()?;
        }
    }
    Ok(())
}

/// Returns the names of the tables with entities whose copies are in the table of this number.
pub(crate) fn sources_of_copies(change: &Change<'_>, table: u32) -> Result<Vec<String>, Trouble> {
    let known = kinds::found(&change.ask(&kinds::read(&change.store.catalog, table))?)?;
    let layouts = known.layouts.iter().filter_map(|(kind, text)| layouts::read(text, kind).ok());
    Ok(layouts.map(|layout| layout.table().to_owned()).filter(|name| !name.is_empty()).collect())
}

fn noted(change: &Change<'_>, table: &TableEntry) -> Result<Kinds, Trouble> {
    Ok(kinds::found(&change.ask(&kinds::read(&change.store.catalog, table.id))?)?)
}

/// A kind of which a dropped table had the entities or copies.
struct DroppedKind<'d> {
    change: &'d Change<'d>,
    layout: &'d Layout,
    table: &'d TableEntry,
}

impl DroppedKind<'_> {
    /// Notes in another table that the copies which it has are of entities that are no more.
    fn orphan_copies(&self, name: &str) -> Result<(), Trouble> {
        let Self { change, layout, table } = self;
        let Some(entry) = find(change, name)? else { return Ok(()) };
        let there = noted(change, &entry)?;
        let is_of_it = |layout: Layout| layout.table().eq_ignore_ascii_case(&table.name);
        if !there.layout(&layout.kind)?.is_some_and(is_of_it) {
            return Ok(());
        }
        let mut left = there.states(&layout.kind);
        for index in layout.indexes() {
            if layout.table_of(index).is_some_and(|table| table.eq_ignore_ascii_case(name)) {
                left.transit(&index.name, &IndexState::Ready { since: 0 }, IndexEvent::EntitiesDropped);
            }
        }
        self.put(&entry, &there, &left)
    }

    /// Notes in the table of the entities that the copies which the dropped table had are to be made again.
    fn lose_copies(&self) -> Result<(), Trouble> {
        let Self { change, layout, table } = self;
        let kind = &*layout.kind;
        let Some(entry) = find(change, layout.table())? else { return Ok(()) };
        let there = noted(change, &entry)?;
        let Some(noted) = there.layout(kind)? else { return Ok(()) };
        let before = there.states(kind);
        let mut states = before.clone();
        for index in noted.indexes() {
            if noted.table_of(index).is_none_or(|name| !name.eq_ignore_ascii_case(&table.name)) {
                continue;
            }
            let now = states.index(&noted, &index.name);
            if !now.is_kept() {
                continue;
            }
            states.transit(&index.name, &now, IndexEvent::RowsDropped);
            self.begin_again(&entry, &format!("rebuild {kind} {}", index.name))?;
        }
        if states == before { Ok(()) } else { self.put(&entry, &there, &states) }
    }

    /// Has a job that fills an index begin again, if there is one.
    fn begin_again(&self, entry: &TableEntry, job: &str) -> Result<(), Trouble> {
        let catalog = &self.change.store.catalog;
        let begun = record::found(&self.change.ask(&record::one(catalog, entry.id, job, false))?)?;
        if let Some((_, begun)) = begun.into_iter().next() {
            let again = JobRecord { position: None, end: None, done: 0, ..begun };
            self.change.ask(&record::put(catalog, entry.id, job, Some(&again)))?;
        }
        Ok(())
    }

    /// Notes the states of the kind in a table, whose layout there stays.
    fn put(&self, entry: &TableEntry, there: &Kinds, states: &IndexStates) -> Result<(), Trouble> {
        let kind = &*self.layout.kind;
        let Some((_, text)) = there.layouts.iter().find(|(known, _)| known == kind) else { return Ok(()) };
        self.change.ask(&kinds::put(&self.change.store.catalog, entry.id, kind, text, states)).map(drop)
    }
}
