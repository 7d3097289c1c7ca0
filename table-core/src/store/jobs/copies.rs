//! The check of copies, by the layouts that are noted of their kinds: each copy says what its entity says, as far as a
//! layout tells, none is missing, and none is of no entity. Some things only a struct knows, as which entities have a
//! copy in an index with `when`; the report leaves those to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::model::names::ENTITY_PARTS;
use crate::plan::Values;
use crate::row::Row;
use crate::row::key::{self, Number, StoredKey};
use crate::row::view::{self, RowView};
use crate::schema::{
    self, Copies, Format, Index, IndexState, KindState, Place, PropertyValue, Schema, head_key, part_key,
};
use crate::store::lmdb;
use crate::store::records::catalog::{Entry, TableState};
use crate::store::records::{index_states, layouts};
use crate::store::scan::read;
use crate::store::state::StoreState;

/// A kind of entities as it is noted in their table.
struct Kind {
    schema: Schema,
    own: Arc<TableState>,
    /// Of each index the table where its copies lie, if it is one to be looked at.
    indexes: Vec<Option<Arc<TableState>>>,
}

/// What the check came to.
#[derive(Default)]
pub(super) struct Compared {
    /// How many copies were compared.
    pub(super) copies: u64,
    /// What only a struct knows, or is not ready.
    pub(super) untold: BTreeSet<String>,
}

/// Compares the copies in these tables; `problem` gets what is wrong, and returns whether it wants to hear more.
#[inline]
pub(super) fn compare(
    inner: &StoreState,
    txn: &heed::RoTxn<'_>,
    entries: &[Entry],
    problem: &mut dyn FnMut(&str, Error) -> bool,
) -> Result<Compared> {
    let mut compared = Compared::default();
    let kinds = kinds(inner, txn, entries, &mut compared)?;
    for entry in entries {
        let state = inner.state(entry);
        let here: Vec<_> = kinds.iter().filter(|kind| kind.lies_in(state.id)).collect();
        if !here.is_empty()
            && !(Rows { inner, txn, table: &state, kinds: &here }).compare(&mut compared, problem)?
        {
            break;
        }
    }
    Ok(compared)
}

/// Returns every kind that has indexes to be looked at.
#[inline]
fn kinds(
    inner: &StoreState,
    txn: &heed::RoTxn<'_>,
    entries: &[Entry],
    compared: &mut Compared,
) -> Result<Vec<Kind>> {
    let dbs = &inner.environment.dbs;
    let states: BTreeMap<String, Arc<TableState>> =
        entries.iter().map(|entry| (entry.name.to_ascii_lowercase(), inner.state(entry))).collect();
    let mut kinds = Vec::new();
    for entry in entries {
        // A record that can't be read has been reported.
        let Ok(declared) = layouts::all_declared(dbs, txn, entry.id) else { continue };
        for schema in declared.into_iter().filter(|schema| schema.table().is_empty()) {
            let index_states = index_states::index_states(dbs, txn, entry.id, schema.kind)?;
            let mut indexes = Vec::new();
            for index in schema.indexes {
                let table = index.place.table.source();
                let name = if table.is_empty() { &entry.name } else { table };
                let told = index_states.kind == KindState::Stable
                    && matches!(index_states.index(&schema, index.name), IndexState::Ready { .. });
                let there = states.get(&name.to_ascii_lowercase()).cloned();
                if !told || !is_told(index) {
                    compared.untold.insert(index.kind.to_owned());
                }
                indexes.push(there.filter(|_| told));
            }
            if indexes.iter().any(Option::is_some) || schema.is_wide() {
                kinds.push(Kind { schema, own: inner.state(entry), indexes });
            }
        }
    }
    Ok(kinds)
}

/// Returns whether a layout tells which copies an entity has in an index, and when. The rows of a summary or of a list are of
/// many entities, and what some of them say only the struct knows.
#[inline]
fn is_told(index: &Index) -> bool {
    let parts = || [&index.place.partition, &index.place.row].into_iter().flat_map(schema::fields);
    !index.is_shared() && !index.sparse && has_told_keys(index) && parts().next().is_some()
}

/// Returns whether the keys of copies are known from the row of their entity.
#[inline]
fn has_told_keys(index: &Index) -> bool {
    let mut parts = [&index.place.partition, &index.place.row].into_iter().flat_map(schema::fields);
    arrives_at_once(index) && parts.all(|part| part.format != Format::Blind && !part.each)
}

/// Returns whether copies come with the change of their entity.
fn arrives_at_once(index: &Index) -> bool {
    !index.is_eventual()
}

impl Kind {
    #[inline]
    fn lies_in(&self, table: u32) -> bool {
        self.own.id == table || self.indexes.iter().flatten().any(|state| state.id == table)
    }
}

/// The rows of a table that has rows of these kinds.
struct Rows<'a> {
    inner: &'a StoreState,
    txn: &'a heed::RoTxn<'a>,
    table: &'a Arc<TableState>,
    kinds: &'a [&'a Kind],
}

impl Rows<'_> {
    /// Compares each copy with its entity. Returns `false` if `problem` wants to hear no more.
    #[inline]
    fn compare(&self, compared: &mut Compared, problem: &mut dyn FnMut(&str, Error) -> bool) -> Result<bool> {
        let Self { inner, txn, table, kinds } = *self;
        let dbs = &inner.environment.dbs;
        let start = Number::of(table.id).to_vec();
        let range = (Bound::Included(start.as_slice()), Bound::<&[u8]>::Unbounded);
        let mut dict = table.dict();
        for pair in dbs.data.range(txn, &range).map_err(lmdb::error)? {
            let (key, bytes) = pair.map_err(lmdb::error)?;
            if StoredKey::parse(key).is_none_or(|key| key.table != table.id) {
                // A row whose key is damaged ends no table. It has been reported, as all that is wrong with a row by itself.
                if read::verify_row(&inner.environment, key, bytes).is_err() {
                    continue;
                }
                break;
            }
            let Ok(row) = Row::parse(bytes) else { continue };
            if !view::covers(&dict, &row) {
                let Ok(known) = table.reload_for(dbs, txn, &row) else { continue };
                dict = known;
            }
            let view = RowView::new(key, row, &*dict, true);
            let Ok(Some(kind)) = view.kind() else { continue };
            for of in kinds {
                let at = At { inner, txn, kind: of };
                let found = if of.own.id == table.id && of.schema.tag(None).kind == kind {
                    at.entity(&view)
                } else {
                    if let (true, Some(part)) = (of.own.id == table.id, of.schema.part_of_kind(kind)) {
                        if let Some(error) = at.part(&view, part).unwrap_or_else(Some)
                            && !problem(&table.name, key::locate(error, key))
                        {
                            return Ok(false);
                        }
                        continue;
                    }
                    let number =
                        (0..of.schema.indexes.len()).find(|at| of.schema.tag(Some(*at)).kind == kind);
                    let Some((number, Some(there))) = number.and_then(|at| Some((at, of.indexes.get(at)?)))
                    else {
                        continue;
                    };
                    if of.schema.indexes.get(number).is_some_and(Index::is_shared) {
                        continue;
                    }
                    compared.copies += 1;
                    at.copy(&view, number, there.id == table.id)
                };
                let error = match found {
                    Ok(None) => continue,
                    Ok(Some(error)) | Err(error) => error,
                };
                if !problem(&table.name, key::locate(error, key)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// Reads the values of the fields of a noted kind, as a row and its keys have them; `None` if the keys are none of the place.
#[inline]
fn values_in(schema: &Schema, place: &Place, view: &RowView<'_>) -> Result<Option<Values<'static>>> {
    let mut values = Values::with_capacity(schema.fields.len());
    for _ in schema.fields {
        values.push(Ok(PropertyValue::Absent));
    }
    let (partition, row) = view.keys();
    for (template, key) in [(&place.partition, &partition), (&place.row, &row)] {
        if !schema::parse(template, key, |field, value| values.set_stored(field, value.into_owned())) {
            return Ok(None);
        }
    }
    take_stored(schema, view, &mut values)?;
    Ok(Some(values))
}

/// Takes what a row holds of the fields.
#[inline]
fn take_stored(schema: &Schema, view: &RowView<'_>, values: &mut Values<'static>) -> Result<()> {
    for (number, field) in schema.fields.iter().enumerate() {
        let stored = match (view.get(field.property)?, field.was) {
            (None, Some(was)) => view.get(was)?,
            (stored, _) => stored,
        };
        if let Some(stored) = stored {
            values.set_stored(number, stored.to_value().into());
        }
    }
    Ok(())
}

/// Where rows of a kind are looked at.
struct At<'a> {
    inner: &'a StoreState,
    txn: &'a heed::RoTxn<'a>,
    kind: &'a Kind,
}

/// What is wrong.
type Wrong = Option<Error>;

impl At<'_> {
    /// Looks whether the copies of an entity are there. What they say is looked at with them.
    #[inline]
    fn entity(&self, view: &RowView<'_>) -> Result<Wrong> {
        let schema = &self.kind.schema;
        let Some(mut noted) = values_in(schema, schema.place(), view)? else { return Ok(None) };
        if let wrong @ Some(_) = self.take_parts(&mut noted, view)? {
            return Ok(wrong);
        }
        for (number, index) in schema.indexes.iter().enumerate() {
            let Some(Some(there)) = self.kind.indexes.get(number) else { continue };
            // Each entity counts in a summary's row and stands on its list, so that is there.
            if !(is_told(index) || index.is_shared() && has_told_keys(index)) {
                continue;
            }
            let Some((partition, row)) = keys_of(index, &noted, view) else { continue };
            let found = read::get_unverified(self.inner, self.txn, there, (&partition, &row))?;
            let kind = schema.tag(Some(number)).kind;
            let is_there = found.is_some_and(|found| found.kind().is_ok_and(|found| found == Some(kind)));
            if !is_there {
                let row_of = match index {
                    Index { summary: Some(_), .. } => "row of the summary",
                    Index { list: Some(_), .. } => "index list",
                    _ => "copy in the index",
                };
                let what = format!(
                    "the entity's {row_of} `{}` is missing: in table `{}`, partition `{}`, row `{}`",
                    index.name,
                    there.name,
                    partition.escape_debug(),
                    row.escape_debug()
                );
                return Ok(Some(corrupt(what)));
            }
        }
        Ok(None)
    }

    /// Takes what the parts of a wide entity hold; what is wrong if one of them is not there.
    #[inline]
    fn take_parts(&self, noted: &mut Values<'static>, head: &RowView<'_>) -> Result<Wrong> {
        let schema = &self.kind.schema;
        let (partition, row) = head.keys();
        for part in 1..=parts_said(schema, head)? {
            let key = part_key(&row, part);
            let found = read::get_unverified(self.inner, self.txn, &self.kind.own, (&partition, &key))?;
            let kind = schema.kind_of_part(part);
            let found = found.filter(|found| found.kind().is_ok_and(|found| found == Some(kind)));
            let Some(found) = found else {
                let what = format!("part {part} of the entity, row `{}`, is missing", key.escape_debug());
                return Ok(Some(corrupt(what)));
            };
            take_stored(schema, &found, noted)?;
        }
        Ok(None)
    }

    /// Looks whether a part of a wide entity belongs to a head that says so.
    #[inline]
    fn part(&self, view: &RowView<'_>, part: usize) -> Result<Wrong> {
        let schema = &self.kind.schema;
        let (partition, row) = view.keys();
        let head = match head_key(&row, part) {
            Some(head) => read::get_unverified(self.inner, self.txn, &self.kind.own, (&partition, head))?,
            None => None,
        };
        let is_own = |own: &RowView<'_>| own.kind().is_ok_and(|kind| kind == Some(schema.tag(None).kind));
        let said = head.filter(is_own).map_or(Ok(0), |head| parts_said(schema, &head))?;
        if part <= said {
            return Ok(None);
        }
        let what =
            format!("the row is part {part} of an entity of the kind `{}`, of none that has it", schema.kind);
        Ok(Some(corrupt(what)))
    }

    /// Looks whether a copy is of an entity that has one there, and says what that says.
    #[inline]
    fn copy(&self, view: &RowView<'_>, number: usize, lies_there: bool) -> Result<Wrong> {
        let schema = &self.kind.schema;
        let Some(index) = schema.indexes.get(number) else { return Ok(None) };
        if !arrives_at_once(index) {
            return Ok(None);
        }
        let orphan = || {
            let what =
                format!("the row is a copy in the index `{}`, of no entity that has one there", index.name);
            Ok(Some(corrupt(what)))
        };
        let Some(copied) = values_in(schema, &index.place, view)?.filter(|_| lies_there) else {
            return orphan();
        };
        let place = schema.place();
        let own_partition = if index.is_elsewhere() {
            copied.key(&place.partition)
        } else {
            Some(view.partition_key().into())
        };
        let (Some(partition), Some(row)) = (own_partition, copied.key(&place.row)) else { return orphan() };
        let found = read::get_unverified(self.inner, self.txn, &self.kind.own, (&partition, &row))?;
        let is_own = |own: &RowView<'_>| own.kind().is_ok_and(|kind| kind == Some(schema.tag(None).kind));
        let Some(own) = found.filter(is_own) else { return orphan() };
        let Some(mut noted) = values_in(schema, place, &own)? else { return Ok(None) };
        if self.take_parts(&mut noted, &own)?.is_some() {
            // The entity's own look reports it.
            return Ok(None);
        }
        if has_told_keys(index) {
            match keys_of(index, &noted, &own) {
                Some((partition, row)) if view.partition_key() != partition || view.row_key() != row => {
                    return orphan();
                }
                _ => {}
            }
        }
        if says_the_same(
            schema,
            index,
            &Said { values: &noted, view: &own },
            &Said { values: &copied, view },
        )? {
            return Ok(None);
        }
        let what = format!(
            "the row is a copy in the index `{}`, and not what its entity says: in partition `{}`, row `{}`",
            index.name,
            partition.escape_debug(),
            row.escape_debug()
        );
        Ok(Some(corrupt(what)))
    }
}

/// Returns how many parts the head of a wide entity says that it has, of those that its layout tells.
#[inline]
fn parts_said(schema: &Schema, head: &RowView<'_>) -> Result<usize> {
    if !schema.is_wide() {
        return Ok(0);
    }
    let said = head.get(ENTITY_PARTS)?.and_then(ValueRef::as_i64).and_then(|said| usize::try_from(said).ok());
    Ok(said.unwrap_or(0).min(schema.parts.len()))
}

/// Returns the keys of an entity's copy, if it has one and they are known.
#[inline]
fn keys_of(index: &Index, noted: &Values<'_>, own: &RowView<'_>) -> Option<(String, String)> {
    let partition = if index.is_elsewhere() {
        noted.key(&index.place.partition)?
    } else {
        own.partition_key().into_owned()
    };
    Some((partition, noted.key(&index.place.row)?))
}

/// A row, and what it and its keys say of the fields.
struct Said<'a> {
    values: &'a Values<'static>,
    view: &'a RowView<'a>,
}

/// Returns whether a copy holds what its entity does, of the fields that it is to hold.
#[inline]
fn says_the_same(schema: &Schema, index: &Index, own: &Said<'_>, copy: &Said<'_>) -> Result<bool> {
    let is_same = |field: usize| match (own.values.get(field), copy.values.get(field)) {
        (Some(own), Some(copy)) => own.says_same(copy),
        // It has a default that only the struct knows.
        (None, _) => true,
        (Some(_), None) => false,
    };
    let holds = match index.copies {
        Copies::All => (0..schema.fields.len()).all(is_same),
        Copies::Some(fields) => fields.iter().all(|field| is_same(*field)),
        Copies::Keys => true,
    };
    if !holds {
        return Ok(false);
    }
    let is_known = |name: &str| {
        schema.fields.iter().any(|field| {
            field.property == name
                || field.was == Some(name)
                || field.blind.is_some_and(|blind| blind.property == name)
        })
    };
    for property in copy.view.properties() {
        let (name, value) = property?;
        // What no field is was carried along.
        if name != crate::model::names::ENTITY_TYPE && !is_known(name) && own.view.get(name)? != Some(value) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn corrupt(what: String) -> Error {
    Error::new(ErrorKind::Corrupt).because(what)
}
