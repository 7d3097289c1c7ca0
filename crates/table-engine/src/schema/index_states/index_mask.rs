//! What a program may do with a kind, by its own declaration and what the store says.

use super::super::{Layout, Outdated, Schema, forgotten, same_index};
use super::{IndexState, IndexStates, KindState};

/// What who writes and reads a kind by one declaration goes by, as long as the kind's epoch is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexMask {
    /// The kind's epoch.
    pub epoch: u64,
    /// A bit for each declared index that is kept.
    kept: u64,
    /// A bit for each of those in which copies may be missing.
    backfilling: u64,
    /// A bit for each declared index that is read.
    ready: u64,
    /// The number of the state from which on all of them are.
    since: u64,
    /// Whether the entities' own rows may be of several versions, or may have been in the snapshot that a reader has.
    looks: bool,
}

impl IndexMask {
    /// The mask of a kind of which nothing is noted, or nothing but that it is as declared.
    pub const NEW: Self =
        Self { epoch: 0, kept: u64::MAX, backfilling: 0, ready: u64::MAX, since: 0, looks: false };

    fn bit(index: usize) -> u64 {
        // An entity has at most 49 indexes (C19).
        u32::try_from(index).ok().and_then(|index| 1_u64.checked_shl(index)).unwrap_or(0)
    }

    /// Returns whether the copies in this index are kept.
    #[inline]
    pub fn keeps(&self, index: usize) -> bool {
        self.kept == u64::MAX || self.kept & Self::bit(index) != 0
    }

    /// Returns whether copies may be missing in an index that is kept.
    #[inline]
    pub fn is_backfilling(&self, index: usize) -> bool {
        self.backfilling != 0 && self.backfilling & Self::bit(index) != 0
    }

    /// Returns whether copies may be missing in any.
    #[inline]
    pub fn backfills(&self) -> bool {
        self.backfilling != 0
    }

    /// Returns the mask of this index alone, by which the job that backfills it writes.
    #[must_use]
    pub fn of_index(self, index: usize) -> Self {
        Self { kept: Self::bit(index), backfilling: self.backfilling & Self::bit(index), ..self }
    }

    /// Returns the mask of a reader that compares the copies of this index alone, whether it is ready or not.
    #[must_use]
    pub(crate) fn comparing(self, index: usize) -> Self {
        Self { ready: Self::bit(index), since: 0, ..self }
    }

    /// Returns the mask with copies that may be missing in any index: a repair looks before it writes.
    #[must_use]
    pub fn refiling(self) -> Self {
        Self { backfilling: self.kept, ..self }
    }

    /// Returns whether the index can be read in the state of this number.
    #[inline]
    pub fn reads(&self, index: usize, state: usize) -> bool {
        let is_ready = self.ready == u64::MAX || self.ready & Self::bit(index) != 0;
        is_ready && (self.since == 0 || u64::try_from(state).is_ok_and(|state| state >= self.since))
    }

    /// Returns whether a reader of the entities' own rows has to look at what the store says of them in its snapshot.
    #[inline]
    pub fn looks_at_rows(&self) -> bool {
        self.looks
    }

    /// Returns whether every index is kept, lacks nothing, and is read.
    pub(crate) fn is_whole(&self) -> bool {
        (self.kept, self.backfilling, self.ready) == (u64::MAX, 0, u64::MAX)
    }

    /// Returns whether readers of the current state read the index.
    #[inline]
    pub fn is_ready(&self, index: usize) -> bool {
        self.reads(index, usize::MAX)
    }
}

/// Why a program can't write a kind.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It doesn't know this index, which is to be kept.
    Lacks(String),
    /// It declares this index otherwise.
    Otherwise(String),
    /// Rows of this previous version are to be converted first.
    Pending(u32),
    /// It is of an earlier version than this one, by which the kind is written now.
    Outdated(u32),
    /// It would leave copies that others hold, or that it holds of others, as they were.
    Forgets(Outdated),
}

/// What the entities' own rows are to who reads them by a declaration.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All are of the declaration's own version.
    Own,
    /// All can be read where their keys say; some may be of this previous version, or of one after it.
    Readable(u32),
    /// Those from this version on can be read, and some lie where the keys of that version say.
    Pending(u32),
    /// Some are of this version, which the declaration knows nothing of.
    Unknown(u32),
}

/// Returns what the entities' own rows are to who reads them by this declaration.
#[doc(hidden)]
pub fn rows(noted: Option<&Layout>, index_states: &IndexStates, declared: &Schema) -> Rows {
    let Some(noted) = noted else { return Rows::Own };
    if noted.version() > declared.version {
        return Rows::Unknown(noted.version());
    }
    let first = match index_states.kind {
        KindState::Stable => noted.version(),
        KindState::Converting { from } | KindState::Stopped { from, .. } => from.min(noted.version()),
    };
    match (first..declared.version).find(|version| declared.previous_of(*version).is_none()) {
        Some(version) => Rows::Unknown(version),
        None if first == declared.version => Rows::Own,
        None if declared.keeps_keys_since(first) => Rows::Readable(first),
        None => Rows::Pending(first),
    }
}

/// Why an index can't be read.
#[doc(hidden)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is not ready.
    Is(IndexState),
    /// It is declared otherwise than it is.
    Otherwise,
    /// The entities are still to be converted from this version.
    Pending(u32),
}

/// Returns what a program with this declaration goes by, and why it can't write, if it can't.
#[doc(hidden)]
pub fn index_mask(
    noted: Option<&Layout>,
    index_states: &IndexStates,
    declared: &Schema,
) -> (IndexMask, Option<Refusal>) {
    let Some(noted) = noted else { return (IndexMask { epoch: index_states.epoch, ..IndexMask::NEW }, None) };
    let looks = declared.version > 1 || noted.version() > 1;
    let mut found =
        IndexMask { epoch: index_states.epoch, kept: 0, backfilling: 0, ready: 0, since: 0, looks };
    // What its indexes hold is of another version.
    if noted.version() < declared.version {
        return (found, Some(Refusal::Pending(noted.version())));
    }
    if noted.version() > declared.version {
        return (found, Some(Refusal::Outdated(noted.version())));
    }
    let mut refusal = match rows(Some(noted), index_states, declared) {
        Rows::Pending(version) | Rows::Unknown(version) => Some(Refusal::Pending(version)),
        Rows::Own | Rows::Readable(_) => None,
    };
    let layout = Layout::of(declared);
    for (number, index) in layout.indexes().enumerate() {
        let state = index_states.index(noted, &index.name);
        let is_same = noted.indexes().any(|was| same_index(noted, was, &layout, index));
        let bit = IndexMask::bit(number);
        if state.is_kept() && !is_same {
            refusal = refusal.or_else(|| Some(Refusal::Otherwise(index.name.clone())));
            continue;
        }
        if state.is_kept() {
            found.kept |= bit;
        }
        if state.may_lack() {
            found.backfilling |= bit;
        }
        if let IndexState::Ready { since } = state {
            found.ready |= bit;
            found.since = found.since.max(since);
        }
    }
    if let Some(forgotten) = forgotten(noted, &layout) {
        refusal = refusal.or(Some(Refusal::Forgets(forgotten)));
    }
    for index in noted.indexes() {
        let is_known = layout.index(&index.name).is_some();
        if !is_known && index_states.index(noted, &index.name).is_kept() {
            refusal = refusal.or_else(|| Some(Refusal::Lacks(index.name.clone())));
        }
    }
    let all = declared.indexes.len();
    if (0..all).all(|index| found.kept & IndexMask::bit(index) != 0) {
        found.kept = u64::MAX;
    }
    if (0..all).all(|index| found.ready & IndexMask::bit(index) != 0) {
        found.ready = u64::MAX;
    }
    (found, refusal)
}

/// Returns why a declared index can't be read in the state of this number; `None` if it can.
#[doc(hidden)]
pub fn unread(
    noted: Option<&Layout>,
    index_states: &IndexStates,
    declared: &Schema,
    name: &str,
    state: usize,
) -> Option<Unread> {
    let noted = noted?;
    match index_states.kind {
        _ if noted.version() != declared.version => return Some(Unread::Pending(noted.version())),
        KindState::Converting { from } | KindState::Stopped { from, .. } => {
            return Some(Unread::Pending(from));
        }
        KindState::Stable => {}
    }
    let is = index_states.index(noted, name);
    let layout = Layout::of(declared);
    match (&is, noted.index(name).zip(layout.index(name))) {
        (IndexState::Ready { .. }, Some((was, now))) if !same_index(noted, was, &layout, now) => {
            Some(Unread::Otherwise)
        }
        // A reader of a state before it became ready.
        (IndexState::Ready { since }, _) if u64::try_from(state).is_ok_and(|state| state < *since) => {
            Some(Unread::Is(is))
        }
        (IndexState::Ready { .. }, _) => None,
        _ => Some(Unread::Is(is)),
    }
}
