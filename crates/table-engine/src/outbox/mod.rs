//! Copies that are to follow their entities: what a store notes of them, and its bytes. No I/O.
//!
//! The change of an entity with `eventual` copies leaves an *entry* under the entity's key: where its copies may lie that
//! are to go. To *propagate* it is to put the copies that the entity has now, and to remove the rest, in one transaction that
//! finds the entity and the entry as they were read. An entry holds keys, and nothing of what rows hold.
//!
//! An entry names the index of each key and not its table, which may be renamed, or dropped and made again. A row that is to
//! go is removed only if it says that it is a copy of this entity: anything else at its key has come since.
//!
//! An entry also says which copies that dependents hold of the entity are to follow: those are found and put in steps, each a
//! transaction that finds the entity and the entry as they were read, and notes in the entry how far it has come.

#[cfg(test)]
mod dependent_model_tests;
mod entry;
pub mod keys;
#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;

pub use self::entry::{Counters, OutboxRecord};

use crate::model::Ticks;

/// The key of a row that is a copy, with the index that it is in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyKey {
    /// The index's name, which says the table: that may be called otherwise by now, or be another.
    pub index: String,
    /// The partition key.
    pub partition: String,
    /// The row key.
    pub row: String,
}

/// Copies of an entity that others hold, and that are to follow it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DependentKey {
    /// The kind of those who hold them.
    pub kind: String,
    /// With what the names of their properties begin.
    pub property: String,
}

/// How far such copies have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependentProgress {
    /// Which copies.
    pub key: DependentKey,
    /// The row by which the last dependent was found that has its copy; `None` if none was looked for yet.
    pub after: Option<CopyKey>,
}

/// The entity whose copies are to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The number of its table.
    pub table: u32,
    /// The partition key.
    pub partition: String,
    /// The row key.
    pub row: String,
}

/// An entry as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// Whose copies are to follow.
    pub source: Source,
    /// The name of the entity's table; `None` if that was dropped.
    pub table: Option<String>,
    /// What tells the entry from every other that was or will be there.
    pub version: u64,
    /// The entity's kind.
    pub kind: String,
    /// Since when it is there.
    pub since: Ticks,
    /// Where copies may lie that are to go.
    pub before: Vec<CopyKey>,
    /// The names of the indexes that have no copy of the entity, as its function has said when it was written.
    pub without: Vec<String>,
    /// Whether rows of its own indexes are to follow: if not, it says nothing of them.
    pub has_copies: bool,
    /// The copies that others hold and that are to follow, in order.
    pub dependents: Vec<DependentProgress>,
    /// How often it was tried in vain.
    pub tries: u32,
    /// When it was last changed.
    pub latest: Ticks,
    /// Before when it is not tried again.
    pub not_before: Ticks,
    /// Whether it was set aside: no thread tries it until it is changed, or armed again.
    pub is_aside: bool,
    /// Why it failed last; empty if it has not.
    pub error: String,
}

impl OutboxEntry {
    /// Returns the entry of an entity by its record, with the name of the entity's table.
    pub fn new(source: Source, table: Option<String>, version: u64, record: OutboxRecord) -> Self {
        Self {
            source,
            table,
            version,
            kind: record.kind,
            since: record.since,
            before: record.before,
            without: record.without,
            has_copies: record.has_copies,
            dependents: record.dependents,
            tries: record.tries,
            latest: record.latest,
            not_before: record.not_before,
            is_aside: record.is_aside,
            error: record.error,
        }
    }

    /// Returns whether it may be tried at this time. A clock that is set back makes no entry wait for longer.
    pub(crate) fn is_due(&self, now: Ticks) -> bool {
        !(self.is_aside || self.latest <= now && now < self.not_before)
    }
}

/// What a store counts of its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboxCount {
    /// How many there are, those of dropped tables among them.
    pub entries: u64,
}
