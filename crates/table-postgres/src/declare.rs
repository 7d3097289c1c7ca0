//! Declarations: a kind's layout is compared with the one that is noted, and noted where it is to be.

use std::sync::Arc;

use table_engine::__executor as executor;
use table_engine::executor::layouts::{
    self, Noted, check_apart, compare, noted_with, pending, refused, unclear, unknown_version,
};
use table_engine::schema::{self, IndexMask, IndexState, IndexStates, Layout, Rows, Schema};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use crate::change::{Change, Trouble};
use crate::connection::Call;
use crate::jobs::{self, Inherited};
use crate::kinds::{self, Kinds};
use crate::plain;
use crate::table::PostgresTable;
use crate::views;

impl PostgresTable {
    /// Reads what is noted of the table's kinds now.
    pub(crate) fn read_kinds(&self) -> Result<Arc<Kinds>> {
        let asked = self.store.query(&kinds::read(&self.store.catalog, self.entry.id));
        let answer = asked.map_err(|error| self.store.say_new_name(&self.entry, error))?;
        let found = kinds::found(&answer).map_err(|error| self.store.say_new_name(&self.entry, error))?;
        Ok(self.store.learn(&self.entry, found))
    }

    /// Makes sure that the rows of this kind can be read by this declaration. Nothing is noted: a read changes nothing.
    pub(crate) fn declare_kind(&self, schema: &'static Schema) -> Result<()> {
        let kinds = self.read_kinds()?;
        if self.examine(&kinds, schema)? == Noted::Same {
            return Ok(());
        }
        self.check_apart(&kinds, schema)
    }

    /// Returns the indexes that a writer or a reader by this declaration goes by. Before a kind is written by it, its layout is
    /// noted, unless the one that is noted says as much.
    pub(crate) fn mask(&self, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
        if let Some(mask) = self.entry.masks.get(schema, self.store.generation(), writes) {
            return Ok(mask);
        }
        // Whether it is still so, each read and each plan finds out. What is refused is looked at anew: it may be so no more.
        if let Some(known) = self.entry.kinds_at(self.store.generation())
            && let Ok(Looked::Mask(mask)) = self.look(&known, schema, writes)
        {
            return Ok(mask);
        }
        let mut kinds = self.read_kinds()?;
        // No layout comes back once another has replaced it, so the loop ends.
        loop {
            let found = match self.look(&kinds, schema, writes)? {
                Looked::Mask(mask) => return Ok(mask),
                Looked::ToNote(found) => found,
            };
            unclear(&found, schema)?;
            self.check_apart(&kinds, schema)?;
            kinds = match self.note(&kinds, schema)? {
                Some(noted) => noted,
                // Another program was quicker.
                None => self.read_kinds()?,
            };
        }
    }

    /// Returns the indexes that a declaration goes by, if the layout that is noted says as much, or nothing is written.
    fn look(&self, kinds: &Kinds, schema: &'static Schema, writes: bool) -> Result<Looked> {
        let layout = kinds.layout(schema.kind)?;
        let outdated = layout.as_ref().and_then(|layout| schema::outdated(layout, schema));
        let found = match (self.examine(kinds, schema), &outdated) {
            // A program that has written by it goes on, as long as it writes nothing that others know otherwise by now.
            (Err(changed), _) if changed.kind() != ErrorKind::LayoutChanged => return Err(changed),
            (Err(changed), _) if !self.entry.masks.has_written(schema) => return Err(changed),
            (Err(_), Some(why)) => return Err(layouts::outdated(schema, why)),
            (Err(_), None) => Noted::Same,
            (Ok(found), _) => found,
        };
        if writes && !matches!(found, Noted::Same | Noted::PreviousVersion) {
            return Ok(Looked::ToNote(found));
        }
        let (living, states) = self.living(kinds, schema, |call| self.store.query(&call))?;
        let (mask, refusal) = schema::index_mask(living.as_ref(), &states, schema);
        // What becomes of indexes is said in the table of their entities.
        let refusal = refusal.filter(|_| schema.lies_in(&self.entry.name));
        let may_write = found == Noted::Same && refusal.is_none() && outdated.is_none();
        self.entry.masks.set(schema, kinds.generation, mask, may_write);
        match (refusal, outdated) {
            (Some(refusal), _) if writes => Err(refused(schema, living.as_ref(), &refusal)),
            (None, Some(why)) if writes => Err(layouts::outdated(schema, &why)),
            _ => Ok(Looked::Mask(mask)),
        }
    }

    /// Returns the layout of a kind in the table of its entities, and the states of its indexes: what is noted there, or else what
    /// other tables say of the copies that they have, asked by `ask`.
    pub(crate) fn living(
        &self,
        kinds: &Kinds,
        schema: &'static Schema,
        ask: impl Fn(Call) -> Result<Vec<Row>>,
    ) -> Result<(Option<Layout>, IndexStates)> {
        let noted = kinds.layout(schema.kind)?;
        if noted.is_none()
            && schema.lies_in(&self.entry.name)
            && let Some(inherited) = Inherited::find(&self.store.catalog, schema, ask)?
        {
            return Ok((Some(Layout::of(schema)), inherited.states));
        }
        Ok((noted, kinds.states(schema.kind)))
    }

    /// Compares a declaration with what is noted of its kind.
    fn examine(&self, kinds: &Kinds, schema: &'static Schema) -> Result<Noted> {
        let found = compare(&self.entry.name, kinds.layout(schema.kind)?.as_ref(), schema)?;
        // Who has no keys reads what is not sealed. What could never be written is refused at once.
        if found != Noted::Same && (schema.seals() || schema.signs_some()) {
            executor::HasVault::vault(&*self.store)?;
        }
        // A property is sealed for good once no row holds it plain.
        if let Noted::Before(differences) = &found
            && !differences.no_longer_plain.is_empty()
            && !self.entry.masks.is_sealed(schema)
        {
            plain::check_sealed(&self.store, &self.entry, schema, &differences.no_longer_plain)?;
            self.entry.masks.set_sealed(schema);
        }
        Ok(found)
    }

    /// Refuses a kind whose rows could have a key of a row of those that are noted.
    fn check_apart(&self, kinds: &Kinds, schema: &Schema) -> Result<()> {
        let known = kinds.layouts.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
        check_apart(&self.entry.name, known, schema)
    }

    /// Notes what a declaration brings, if what is noted is still this; returns what is noted then.
    fn note(&self, known: &Kinds, schema: &'static Schema) -> Result<Option<Arc<Kinds>>> {
        let layout = known.layout(schema.kind)?;
        let becomes = noted_with(&self.entry.name, layout.as_ref(), schema).to_string();
        let noted = self.store.change(|change| {
            // Waits for all that write by the former layouts: each of them holds the table until it has committed.
            change.lock(&mut [&*self.entry])?;
            let now = self.kinds_in(change)?;
            if !now.says_as(known) {
                return Ok(None);
            }
            let mut states = now.states(schema.kind);
            if layout.is_none()
                && schema.lies_in(&self.entry.name)
                && let Some(inherited) =
                    Inherited::find(&self.store.catalog, schema, |call| change.ask(&call))?
            {
                states = inherited.take_over(change, schema)?;
            }
            let generation = self.put_layout(change, schema.kind, &becomes, &states)?;
            Ok(Some(now.with_kind(generation, schema.kind, becomes.clone(), states)))
        })?;
        Ok(noted.map(|noted| self.store.learn(&self.entry, noted)))
    }

    /// Reads what is noted of the table's kinds in a transaction that changes it.
    pub(crate) fn kinds_in(&self, change: &Change<'_>) -> Result<Kinds, Trouble> {
        let answer = change.ask(&kinds::read(&self.store.catalog, self.entry.id))?;
        Ok(kinds::found(&answer)?)
    }

    /// Notes a layout and the states of its kind, and shows people its view; returns the generation from which on it is so.
    fn put_layout(
        &self,
        change: &Change<'_>,
        kind: &str,
        layout: &str,
        states: &IndexStates,
    ) -> Result<i64, Trouble> {
        let catalog = &self.store.catalog;
        change.ask(&kinds::put(catalog, self.entry.id, kind, layout, states))?;
        if let Some(view) = views::of_kind(catalog, &self.entry, kind, layout) {
            change.attempt(&view)?;
        }
        change.raise_generation()
    }

    /// Makes sure that the entities' own rows can be read by a declaration, by what is noted; `as_stored`: without being
    /// converted.
    pub(crate) fn check_rows_by(kinds: &Kinds, schema: &'static Schema, as_stored: bool) -> Result<()> {
        match schema::rows(kinds.layout(schema.kind)?.as_ref(), &kinds.states(schema.kind), schema) {
            Rows::Readable(version) if as_stored => {
                Err(pending(schema, version, "asked for as they are stored"))
            }
            Rows::Own | Rows::Readable(_) => Ok(()),
            Rows::Pending(version) => {
                Err(pending(schema, version, "read where the keys of that version say"))
            }
            Rows::Unknown(version) => Err(unknown_version(schema, version)),
        }
    }

    /// Returns the error that says why an index can't be read.
    #[cold]
    pub(crate) fn unread_index(&self, schema: &'static Schema, index: usize) -> Error {
        let find = || {
            let kinds = self.read_kinds()?;
            let name = schema.indexes.get(index).map_or("", |index| index.name);
            let (layout, states) = self.living(&kinds, schema, |call| self.store.query(&call))?;
            let why = schema::unread(layout.as_ref(), &states, schema, name, usize::MAX);
            // It has become ready meanwhile: the caller reads an earlier state.
            let why = why.unwrap_or(schema::Unread::Is(IndexState::Ready { since: 0 }));
            let begun = self.store.query(&jobs::record::all(&self.store.catalog, self.entry.id))?;
            let of_it = [format!("rebuild {} {name}", schema.kind), format!("convert {}", schema.kind)];
            let begun = jobs::record::found(&begun)?;
            let far = begun.iter().find(|(job, _)| of_it.contains(job)).map(|(_, job)| format!(" ({job})"));
            Ok(layouts::unread(schema, name, &why, &far.unwrap_or_default()))
        };
        find().unwrap_or_else(|error: Error| error)
    }
}

/// What a look at what is noted has come to.
enum Looked {
    Mask(IndexMask),
    /// The layout is to be noted first.
    ToNote(Noted),
}
