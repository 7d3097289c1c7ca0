//! The check of copies in a store: a walk over all rows that are of a kind with indexes, each [compared](LayoutComparer) by
//! the layout that is noted of its kind. Some things only a struct knows, as which entities have a copy in an index with
//! `when`; the report leaves those to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use table_engine::copies::Role;
use table_engine::copies::by_layout::{KindRows, LayoutComparer};
use table_engine::copies::layout_kind::{LayoutKind, LayoutNames, is_told};
use table_engine::error::{Error, Result};
use table_engine::model::EntityKeys;
use table_engine::row::Row;
use table_engine::row::key::{self, Number, StoredKey};
use table_engine::row::view::{self, RowView};
use table_engine::schema::{IndexState, KindState, Layout};

use crate::lmdb;
use crate::records::catalog::{Entry, TableState};
use crate::records::{index_states, layouts};
use crate::scan::read;
use crate::state::StoreState;

/// A kind of entities as it is noted in their table.
struct Kind {
    layout: Layout,
    own: Arc<TableState>,
    /// Of each index the table where its copies lie, if it is one to be looked at.
    indexes: Vec<Option<Arc<TableState>>>,
}

/// A kind with what its layout tells.
struct KnownKind<'k> {
    kind: &'k Kind,
    told: LayoutKind<'k>,
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
    let names: Vec<_> = kinds.iter().map(|kind| LayoutNames::of(&kind.layout)).collect();
    let known = kinds.iter().zip(&names).map(|(kind, names)| KnownKind { kind, told: names.kind() });
    let kinds: Vec<_> = known.collect();
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
                kinds.push(Kind { layout, own: inner.state(entry), indexes });
            }
        }
    }
    Ok(kinds)
}

impl Kind {
    fn lies_in(&self, table: u32) -> bool {
        self.own.id == table || self.indexes.iter().flatten().any(|state| state.id == table)
    }
}

/// The rows of a table that has rows of these kinds.
struct Rows<'a> {
    inner: &'a StoreState,
    txn: &'a heed::RoTxn<'a>,
    table: &'a Arc<TableState>,
    kinds: &'a [&'a KnownKind<'a>],
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
                let rows = FoundRows { inner, txn, kind: of.kind };
                let is_own_table = of.kind.own.id == table.id;
                let known = LayoutComparer { kind: &of.told, rows: &rows, table: &table.name, is_own_table };
                let Some(role) = known.role(kind) else { continue };
                compared.copies += u64::from(matches!(role, Role::Index(_)));
                if let Err(error) = known.compare(&view, role)
                    && !problem(&table.name, key::locate(error, key))
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

/// The rows of a kind in a transaction. Their keyed digests were verified with the rows themselves.
struct FoundRows<'a> {
    inner: &'a StoreState,
    txn: &'a heed::RoTxn<'a>,
    kind: &'a Kind,
}

impl FoundRows<'_> {
    fn index(&self, index: usize) -> Option<&TableState> {
        self.kind.indexes.get(index)?.as_deref()
    }
}

impl KindRows for FoundRows<'_> {
    fn table_of(&self, index: usize) -> Option<&str> {
        self.index(index).map(|table| &*table.name)
    }

    fn own_row(&self, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        read::get_unverified(self.inner, self.txn, &self.kind.own, EntityKeys::new(partition, row))
    }

    fn index_row(&self, index: usize, partition: &str, row: &str) -> Result<Option<RowView<'_>>> {
        let Some(table) = self.index(index) else { return Ok(None) };
        read::get_unverified(self.inner, self.txn, table, EntityKeys::new(partition, row))
    }
}
