//! The check of copies, by the layouts that are noted of their kinds: each copy says what its entity says, as far as a
//! layout tells, none is missing, and none is of no entity. Some things only a struct knows, as which entities have a
//! copy in an index with `when`; the report leaves those to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::ValueRef;
use table_engine::model::names::ENTITY_PARTS;
use table_engine::plan::Values;
use table_engine::row::Row;
use table_engine::row::key::{self, Number, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::schema::{
    self, IndexState, KindState, Layout, LayoutIndex, LayoutKey, LayoutRows, PartOf, PropertyValue, head_key,
    part_key,
};

use crate::lmdb;
use crate::records::catalog::{Entry, TableState};
use crate::records::{index_states, layouts};
use crate::scan::read;
use crate::state::StoreState;

/// A kind of entities as it is noted in their table.
struct Kind {
    layout: Layout,
    /// The text of `EntityType` on its entities' own rows.
    entity_type: String,
    own: Arc<TableState>,
    /// Of each index the table where its copies lie, if it is one to be looked at.
    indexes: Vec<Option<Arc<TableState>>>,
}

/// The keys of some rows of a kind, as they are parsed and printed.
struct Place<'k> {
    partition: Vec<PartOf<'k>>,
    row: Vec<PartOf<'k>>,
}

/// For each part of the partition key and of the row key of a place, the names that may stand there.
type Names<'k> = [Vec<Vec<&'k str>>; 2];

/// What the keys of the rows of a kind refer to.
struct KindNames<'k> {
    own: Names<'k>,
    indexes: Vec<Names<'k>>,
}

/// A kind with the keys of its rows.
struct KindWithKeys<'k> {
    kind: &'k Kind,
    place: Place<'k>,
    indexes: Vec<IndexWithKeys<'k>>,
    /// The texts of `EntityType` on the rows of parts.
    parts: Vec<String>,
}

/// An index with the keys of its rows.
struct IndexWithKeys<'k> {
    index: &'k LayoutIndex,
    /// The text of `EntityType` on its rows.
    kind: String,
    place: Place<'k>,
    /// What a row of it holds besides its keys: the places of properties.
    copied: Vec<usize>,
    /// Whether the layout tells which copies an entity has, and when.
    is_told: bool,
    /// Whether the keys of copies are known from the row of their entity.
    has_told_keys: bool,
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
pub(super) fn compare(
    inner: &StoreState,
    txn: &heed::RoTxn<'_>,
    entries: &[Entry],
    problem: &mut dyn FnMut(&str, Error) -> bool,
) -> Result<Compared> {
    let mut compared = Compared::default();
    let kinds = kinds(inner, txn, entries, &mut compared)?;
    let names: Vec<_> = kinds.iter().map(Kind::names).collect();
    let kinds: Vec<_> = kinds.iter().zip(&names).map(|(kind, names)| kind.with_keys(names)).collect();
    for entry in entries {
        let state = inner.state(entry);
        let here: Vec<_> = kinds.iter().filter(|of| of.kind.lies_in(state.id)).collect();
        if !here.is_empty()
            && !(Rows { inner, txn, table: &state, kinds: &here }).compare(&mut compared, problem)?
        {
            break;
        }
    }
    Ok(compared)
}

/// Returns every kind that has indexes to be looked at.
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
        let Ok(noted) = layouts::all_read(dbs, txn, entry.id) else { continue };
        for layout in noted.into_iter().filter(|layout| layout.table().is_empty()) {
            let index_states = index_states::index_states(dbs, txn, entry.id, &layout.kind)?;
            let mut indexes = Vec::new();
            for index in layout.indexes() {
                let name = layout.table_of(index).unwrap_or(&entry.name);
                let told = index_states.kind == KindState::Stable
                    && matches!(index_states.index(&layout, &index.name), IndexState::Ready { .. });
                let there = states.get(&name.to_ascii_lowercase()).cloned();
                if !told || !is_told(&layout, index) {
                    compared.untold.insert(layout.index_kind(index));
                }
                indexes.push(there.filter(|_| told));
            }
            if indexes.iter().any(Option::is_some) || layout.parts() > 0 {
                let entity_type = layout.entity_type();
                kinds.push(Kind { layout, entity_type, own: inner.state(entry), indexes });
            }
        }
    }
    Ok(kinds)
}

/// Returns whether a layout tells which copies an entity has in an index, and when. The rows of a summary or of a list are of
/// many entities, and what some of them say only the struct knows.
fn is_told(layout: &Layout, index: &LayoutIndex) -> bool {
    let prints_some = layout.keys_of(Some(index)).into_iter().any(LayoutKey::prints_some);
    !index.is_shared() && !index.sparse && has_told_keys(layout, index) && prints_some
}

/// Returns whether the keys of copies are known from the row of their entity.
fn has_told_keys(layout: &Layout, index: &LayoutIndex) -> bool {
    arrives_at_once(index) && layout.keys_of(Some(index)).into_iter().all(LayoutKey::prints_values)
}

/// Returns whether copies come with the change of their entity.
fn arrives_at_once(index: &LayoutIndex) -> bool {
    !index.is_eventual()
}

/// Returns the places of the properties that a row of an index holds besides its keys.
fn copied(layout: &Layout, index: &LayoutIndex) -> Vec<usize> {
    match &index.rows {
        LayoutRows::All => (0..layout.properties.len()).collect(),
        LayoutRows::Some(properties) => properties.iter().filter_map(|name| layout.place_of(name)).collect(),
        LayoutRows::Keys | LayoutRows::Sums(_) | LayoutRows::Ids(_) => Vec::new(),
    }
}

impl Kind {
    fn lies_in(&self, table: u32) -> bool {
        self.own.id == table || self.indexes.iter().flatten().any(|state| state.id == table)
    }

    /// Returns the names that may stand in the keys of its rows.
    fn names(&self) -> KindNames<'_> {
        let of = |index| self.layout.keys_of(index).map(LayoutKey::names);
        KindNames { own: of(None), indexes: self.layout.indexes().map(Some).map(of).collect() }
    }

    /// Returns the kind with the keys of its rows, which refer to these names.
    fn with_keys<'k>(&'k self, names: &'k KindNames<'k>) -> KindWithKeys<'k> {
        let layout = &self.layout;
        let indexes = layout.indexes().zip(&names.indexes).map(|(index, names)| IndexWithKeys {
            index,
            kind: layout.index_kind(index),
            place: Place::of(layout, Some(index), names),
            copied: copied(layout, index),
            is_told: is_told(layout, index),
            has_told_keys: has_told_keys(layout, index),
        });
        KindWithKeys {
            kind: self,
            place: Place::of(layout, None, &names.own),
            indexes: indexes.collect(),
            parts: (1..=layout.parts()).map(|part| layout.part_kind(part)).collect(),
        }
    }
}

impl<'k> Place<'k> {
    /// Returns where the rows of an index lie, or the entities' own.
    fn of(layout: &'k Layout, index: Option<&'k LayoutIndex>, names: &'k Names<'k>) -> Self {
        let ([partition, row], [of_partition, of_row]) = (layout.keys_of(index), names);
        Self { partition: partition.parts(layout, of_partition), row: row.parts(layout, of_row) }
    }
}

/// The rows of a table that has rows of these kinds.
struct Rows<'a> {
    inner: &'a StoreState,
    txn: &'a heed::RoTxn<'a>,
    table: &'a Arc<TableState>,
    kinds: &'a [&'a KindWithKeys<'a>],
}

impl Rows<'_> {
    /// Compares each copy with its entity. Returns `false` if `problem` wants to hear no more.
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
                let at = At { inner, txn, of };
                let is_own = of.kind.own.id == table.id;
                let found = if is_own && of.kind.entity_type == kind {
                    at.entity(&view)
                } else {
                    if let (true, Some(part)) = (is_own, of.parts.iter().position(|part| part == kind)) {
                        let part = part + 1;
                        if let Some(error) = at.part(&view, part).unwrap_or_else(Some)
                            && !problem(&table.name, key::locate(error, key))
                        {
                            return Ok(false);
                        }
                        continue;
                    }
                    let mut indexes = of.indexes.iter().zip(&of.kind.indexes);
                    let Some((index, Some(there))) = indexes.find(|(index, _)| index.kind == kind) else {
                        continue;
                    };
                    if index.index.is_shared() {
                        continue;
                    }
                    compared.copies += 1;
                    at.copy(&view, index, there.id == table.id)
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
fn values_in(layout: &Layout, place: &Place<'_>, view: &RowView<'_>) -> Result<Option<Values<'static>>> {
    let mut values = Values::with_capacity(layout.properties.len());
    for _ in &layout.properties {
        values.push(Ok(PropertyValue::Absent));
    }
    let (partition, row) = view.keys();
    for (parts, key) in [(&place.partition, &partition), (&place.row, &row)] {
        if !schema::parse_parts(parts, key, |field, value| values.set_stored(field, value.into_owned())) {
            return Ok(None);
        }
    }
    take_stored(layout, view, &mut values)?;
    Ok(Some(values))
}

/// Takes what a row holds of the fields.
fn take_stored(layout: &Layout, view: &RowView<'_>, values: &mut Values<'static>) -> Result<()> {
    for (number, property) in layout.properties.iter().enumerate() {
        let stored = match (view.get(&property.name)?, &property.was) {
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
    of: &'a KindWithKeys<'a>,
}

/// What is wrong.
type Wrong = Option<Error>;

impl At<'_> {
    /// Looks whether the copies of an entity are there. What they say is looked at with them.
    fn entity(&self, view: &RowView<'_>) -> Result<Wrong> {
        let layout = &self.of.kind.layout;
        let Some(mut noted) = values_in(layout, &self.of.place, view)? else { return Ok(None) };
        if let wrong @ Some(_) = self.take_parts(&mut noted, view)? {
            return Ok(wrong);
        }
        for (of, there) in self.of.indexes.iter().zip(&self.of.kind.indexes) {
            let (index, Some(there)) = (of.index, there) else { continue };
            // Each entity counts in a summary's row and stands on its list, so that is there.
            if !(of.is_told || index.is_shared() && of.has_told_keys) {
                continue;
            }
            let Some((partition, row)) = keys_of(of, &noted, view) else { continue };
            let found = read::get_unverified(self.inner, self.txn, there, (&partition, &row))?;
            let is_there = found.is_some_and(|found| found.kind().is_ok_and(|found| found == Some(&of.kind)));
            if !is_there {
                let row_of = match index.rows {
                    LayoutRows::Sums(_) => "row of the summary",
                    LayoutRows::Ids(_) => "index list",
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
    fn take_parts(&self, noted: &mut Values<'static>, head: &RowView<'_>) -> Result<Wrong> {
        let kind = self.of.kind;
        let (partition, row) = head.keys();
        let said = self.parts_said(head)?;
        for (part, of_part) in (1..=said).zip(&self.of.parts) {
            let key = part_key(&row, part);
            let found = read::get_unverified(self.inner, self.txn, &kind.own, (&partition, &key))?;
            let found = found.filter(|found| found.kind().is_ok_and(|found| found == Some(of_part)));
            let Some(found) = found else {
                let what = format!("part {part} of the entity, row `{}`, is missing", key.escape_debug());
                return Ok(Some(corrupt(what)));
            };
            take_stored(&kind.layout, &found, noted)?;
        }
        Ok(None)
    }

    /// Returns whether a row is an entity's own.
    fn is_own(&self, row: &RowView<'_>) -> bool {
        row.kind().is_ok_and(|kind| kind == Some(&self.of.kind.entity_type))
    }

    /// Returns how many parts the head of a wide entity says that it has, of those that its layout tells.
    fn parts_said(&self, head: &RowView<'_>) -> Result<usize> {
        if self.of.parts.is_empty() {
            return Ok(0);
        }
        let said =
            head.get(ENTITY_PARTS)?.and_then(ValueRef::as_i64).and_then(|said| usize::try_from(said).ok());
        Ok(said.unwrap_or(0).min(self.of.parts.len()))
    }

    /// Looks whether a part of a wide entity belongs to a head that says so.
    fn part(&self, view: &RowView<'_>, part: usize) -> Result<Wrong> {
        let kind = self.of.kind;
        let (partition, row) = view.keys();
        let head = match head_key(&row, part) {
            Some(head) => read::get_unverified(self.inner, self.txn, &kind.own, (&partition, head))?,
            None => None,
        };
        let said = head.filter(|head| self.is_own(head)).map_or(Ok(0), |head| self.parts_said(&head))?;
        if part <= said {
            return Ok(None);
        }
        let what = format!(
            "the row is part {part} of an entity of the kind `{}`, of none that has it",
            kind.layout.kind
        );
        Ok(Some(corrupt(what)))
    }

    /// Looks whether a copy is of an entity that has one there, and says what that says.
    fn copy(&self, view: &RowView<'_>, of: &IndexWithKeys<'_>, lies_there: bool) -> Result<Wrong> {
        let (layout, index) = (&self.of.kind.layout, of.index);
        if !arrives_at_once(index) {
            return Ok(None);
        }
        let orphan = || {
            let what =
                format!("the row is a copy in the index `{}`, of no entity that has one there", index.name);
            Ok(Some(corrupt(what)))
        };
        let Some(copied) = values_in(layout, &of.place, view)?.filter(|_| lies_there) else {
            return orphan();
        };
        let place = &self.of.place;
        let own_partition = if index.is_elsewhere() {
            print(&place.partition, &copied)
        } else {
            Some(view.partition_key().into())
        };
        let (Some(partition), Some(row)) = (own_partition, print(&place.row, &copied)) else {
            return orphan();
        };
        let found = read::get_unverified(self.inner, self.txn, &self.of.kind.own, (&partition, &row))?;
        let Some(own) = found.filter(|own| self.is_own(own)) else { return orphan() };
        let Some(mut noted) = values_in(layout, place, &own)? else { return Ok(None) };
        if self.take_parts(&mut noted, &own)?.is_some() {
            // The entity's own look reports it.
            return Ok(None);
        }
        if of.has_told_keys {
            match keys_of(of, &noted, &own) {
                Some((partition, row)) if view.partition_key() != partition || view.row_key() != row => {
                    return orphan();
                }
                _ => {}
            }
        }
        if says_the_same(layout, of, &Said { values: &noted, view: &own }, &Said { values: &copied, view })? {
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

/// Returns the keys of an entity's copy, if it has one and they are known.
fn keys_of(of: &IndexWithKeys<'_>, noted: &Values<'_>, own: &RowView<'_>) -> Option<(String, String)> {
    let partition = if of.index.is_elsewhere() {
        print(&of.place.partition, noted)?
    } else {
        own.partition_key().into_owned()
    };
    Some((partition, print(&of.place.row, noted)?))
}

/// Returns the key that parts of a template print of these values.
fn print(parts: &[PartOf<'_>], values: &Values<'_>) -> Option<String> {
    schema::print_parts(parts, |field| values.get(field))
}

/// A row, and what it and its keys say of the fields.
struct Said<'a> {
    values: &'a Values<'static>,
    view: &'a RowView<'a>,
}

/// Returns whether a copy holds what its entity does, of the fields that it is to hold.
fn says_the_same(layout: &Layout, of: &IndexWithKeys<'_>, own: &Said<'_>, copy: &Said<'_>) -> Result<bool> {
    let is_same = |field: usize| match (own.values.get(field), copy.values.get(field)) {
        (Some(own), Some(copy)) => own.says_same(copy),
        // It has a default that only the struct knows.
        (None, _) => true,
        (Some(_), None) => false,
    };
    if !of.copied.iter().all(|property| is_same(*property)) {
        return Ok(false);
    }
    let is_known = |name: &str| {
        layout.properties.iter().any(|property| {
            property.name == name || property.was.as_deref() == Some(name) || property.is_token(name)
        })
    };
    for property in copy.view.properties() {
        let (name, value) = property?;
        // What no field is was carried along.
        if name != table_engine::model::names::ENTITY_TYPE
            && !is_known(name)
            && own.view.get(name)? != Some(value)
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn corrupt(what: String) -> Error {
    Error::new(ErrorKind::Corrupt).because(what)
}
