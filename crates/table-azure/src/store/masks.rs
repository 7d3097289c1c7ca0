//! What a declaration goes by: compared with what is noted of its kind, which is noted anew where it is to be.

use std::sync::Arc;

use table_engine::executor::layouts::{
    self, Noted as Compared, check_apart, compare, noted_with, pending, refused, unclear, unknown_version,
};
use table_engine::schema::{self, IndexMask, IndexState, Rows, Schema, Unread};
use table_engine::{Error, ErrorKind, Result};

use super::kinds::Noted;
use super::service::Service;
use super::table::TableEntry;

/// How often a layout is noted while others note theirs.
const ATTEMPTS: u32 = 16;

impl Service {
    /// Makes sure that the rows of this kind can be read by this declaration. Nothing is noted.
    pub(super) async fn declare(&self, table: &TableEntry, schema: &'static Schema) -> Result<()> {
        let noted = self.read_noted(table).await?;
        if self.examine(table, &noted, schema)? == Compared::Same {
            return Ok(());
        }
        apart(table, &noted, schema)
    }

    /// Returns the indexes that a writer or a reader by this declaration goes by, within the lease of what is noted. Before a
    /// kind is written by it, its layout is noted, unless the one that is noted says as much.
    pub(super) async fn mask(
        &self,
        table: &TableEntry,
        schema: &'static Schema,
        writes: bool,
    ) -> Result<IndexMask> {
        if !self.settings.has_layouts {
            table.check_exists()?;
            return Ok(IndexMask::NEW);
        }
        let (mut noted, _) = self.leased(table).await?;
        if let Some(mask) = table.mask(schema, &noted, writes) {
            return Ok(mask);
        }
        // What is refused, or is to be noted, is looked at anew.
        match self.look_by(table, &noted, schema, writes) {
            Ok(Looked::Mask(mask)) => return Ok(mask),
            Ok(Looked::ToNote(_)) | Err(_) => noted = self.read_noted(table).await?,
        }
        for _ in 0..ATTEMPTS {
            let found = match self.look_by(table, &noted, schema, writes)? {
                Looked::Mask(mask) => return Ok(mask),
                Looked::ToNote(found) => found,
            };
            unclear(&found, schema)?;
            apart(table, &noted, schema)?;
            let layout = noted.layout(schema.kind)?;
            let mut becomes = Noted::clone(&noted);
            let text = noted_with(table.name(), layout.as_ref(), schema).to_string();
            becomes.set_layout(schema.kind, text);
            // Another program may be quicker.
            self.write_noted(table, becomes, Vec::new()).await?;
            noted = self.read_noted(table).await?;
        }
        let because = "others go on noting layouts of the table";
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }

    /// Returns the indexes that a declaration goes by, if the layout that is noted says as much, or nothing is written.
    fn look_by(
        &self,
        table: &TableEntry,
        noted: &Arc<Noted>,
        schema: &'static Schema,
        writes: bool,
    ) -> Result<Looked> {
        let layout = noted.layout(schema.kind)?;
        let outdated = layout.as_ref().and_then(|layout| schema::outdated(layout, schema));
        let found = match (self.examine(table, noted, schema), &outdated) {
            // A program that has written by it goes on, as long as it writes nothing that others know otherwise by now.
            (Err(changed), _) if changed.kind() != ErrorKind::LayoutChanged => return Err(changed),
            (Err(changed), _) if !table.has_written(schema) => return Err(changed),
            (Err(_), Some(why)) => return Err(layouts::outdated(schema, why)),
            (Err(_), None) => Compared::Same,
            (Ok(found), _) => found,
        };
        if writes && !matches!(found, Compared::Same | Compared::PreviousVersion) {
            return Ok(Looked::ToNote(found));
        }
        let (mask, refusal) = schema::index_mask(layout.as_ref(), &noted.shown(schema.kind), schema);
        // What becomes of indexes is said in the table of their entities.
        let refusal = refusal.filter(|_| schema.lies_in(table.name()));
        let may_write = found == Compared::Same && refusal.is_none() && outdated.is_none();
        table.set_mask(schema, noted, mask, may_write);
        match (refusal, outdated) {
            (Some(refusal), _) if writes => Err(refused(schema, layout.as_ref(), &refusal)),
            (None, Some(why)) if writes => Err(layouts::outdated(schema, &why)),
            _ => Ok(Looked::Mask(mask)),
        }
    }

    /// Compares a declaration with what is noted of its kind.
    fn examine(&self, table: &TableEntry, noted: &Noted, schema: &'static Schema) -> Result<Compared> {
        if schema.seals() || schema.signs_some() {
            self.keys.get()?;
        }
        let found = compare(table.name(), noted.layout(schema.kind)?.as_ref(), schema)?;
        if let Compared::Before(differences) = &found
            && !differences.no_longer_plain.is_empty()
        {
            let because = format!(
                "the store can't tell whether some value of `{}` is still plain; declare it with `#[encrypt(dual)]`",
                differences.no_longer_plain.join("`, `")
            );
            return Err(Error::new(ErrorKind::Unsupported).because(because));
        }
        Ok(found)
    }

    /// Returns the error that says why an index can't be read.
    #[cold]
    pub(super) async fn unread_index(
        &self,
        table: &TableEntry,
        schema: &'static Schema,
        index: usize,
    ) -> Result<Error> {
        let noted = self.read_noted(table).await?;
        let name = schema.indexes.get(index).map_or("", |index| index.name);
        let (layout, states) = (noted.layout(schema.kind)?, noted.states(schema.kind));
        let why = schema::unread(layout.as_ref(), &states, schema, name, usize::MAX);
        // It has become ready meanwhile: the caller goes by an earlier state.
        let why = why.unwrap_or(Unread::Is(IndexState::Ready { since: 0 }));
        let of_it = [format!("rebuild {} {name}", schema.kind), format!("convert {}", schema.kind)];
        let begun = self.begun_jobs(table).await?;
        let far = begun.iter().find(|(job, _)| of_it.contains(job)).map(|(_, job)| format!(" ({job})"));
        Ok(layouts::unread(schema, name, &why, &far.unwrap_or_default()))
    }
}

/// What a look at what is noted has come to.
enum Looked {
    Mask(IndexMask),
    /// The layout is to be noted first.
    ToNote(Compared),
}

/// Refuses a kind whose rows could have a key of a row of those that are noted.
pub(super) fn apart(table: &TableEntry, noted: &Noted, schema: &Schema) -> Result<()> {
    let known = noted.texts.iter().map(|(kind, layout)| (kind.as_str(), layout.as_str()));
    check_apart(table.name(), known, schema)
}

/// Makes sure that the entities' own rows can be read by a declaration, by what is noted; `as_stored`: without being converted.
pub(super) fn check_rows(noted: &Noted, schema: &'static Schema, as_stored: bool) -> Result<()> {
    match schema::rows(noted.layout(schema.kind)?.as_ref(), &noted.states(schema.kind), schema) {
        Rows::Readable(version) if as_stored => Err(pending(schema, version, "asked for as they are stored")),
        Rows::Own | Rows::Readable(_) => Ok(()),
        Rows::Pending(version) => Err(pending(schema, version, "read where the keys of that version say")),
        Rows::Unknown(version) => Err(unknown_version(schema, version)),
    }
}
