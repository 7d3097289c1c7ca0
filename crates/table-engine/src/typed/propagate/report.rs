//! Reports of propagation.

use std::fmt;

use crate::model::Ticks;
use crate::outbox::OutboxEntry;
use crate::sorting;

/// What became of all that was to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Propagation {
    /// Every copy is where its entity says.
    Complete,
    /// Something is left.
    #[non_exhaustive]
    Incomplete {
        /// The kinds that this process has not opened, and can't propagate; of the others what is left fails, and
        /// [`Store::pending_propagation`](crate::Tables::pending_propagation) says why.
        kinds: Vec<String>,
    },
}

/// What is to follow and has not yet. Made by [`Store::pending_propagation`](crate::Tables::pending_propagation).
///
/// It prints itself as a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PendingPropagation {
    /// How many entities there are whose copies are to follow.
    pub entities: u64,
    /// How many of those were tried in vain and set aside.
    pub set_aside: u64,
    /// Since when the first of them is so.
    pub oldest: Option<Ticks>,
    /// The kinds among them that this process has not opened, and can't propagate.
    pub unknown_kinds: Vec<String>,
    /// Those that have failed, 100 at most.
    pub failing: Vec<FailedPropagation>,
    /// Why nothing can be propagated at the moment, if that is so: a full disk, say.
    pub failure: Option<String>,
}

/// An entity whose copies could not follow so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedPropagation {
    /// The entity's table.
    pub table: String,
    /// Its partition key.
    pub partition: String,
    /// Its row key.
    pub row: String,
    /// How often it was tried in vain.
    pub tries: u32,
    /// Whether it was set aside: it is not tried until the entity changes, or
    /// [`Store::retry_failed`](crate::Tables::retry_failed).
    pub is_set_aside: bool,
    /// Why it failed last.
    pub error: String,
}

/// The most entities that have failed which a report names.
const REPORTED: usize = 100;

impl PendingPropagation {
    /// Counts these entries; `is_known` says whether this process can propagate a kind.
    pub(super) fn of(
        entries: Vec<OutboxEntry>,
        failure: Option<String>,
        is_known: impl Fn(&str) -> bool,
    ) -> Self {
        let mut unknown: Vec<_> =
            entries.iter().filter(|entry| !is_known(&entry.kind)).map(|entry| entry.kind.clone()).collect();
        sorting::sort(&mut unknown);
        unknown.dedup();
        let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        Self {
            entities: count(entries.len()),
            set_aside: count(entries.iter().filter(|entry| entry.is_aside).count()),
            oldest: entries.iter().map(|entry| entry.since).min(),
            unknown_kinds: unknown,
            failing: entries.into_iter().filter(|entry| entry.tries > 0).take(REPORTED).map(failed).collect(),
            failure,
        }
    }
}

#[inline]
fn failed(entry: OutboxEntry) -> FailedPropagation {
    FailedPropagation {
        table: entry.table.unwrap_or_default(),
        partition: entry.source.partition,
        row: entry.source.row,
        tries: entry.tries,
        is_set_aside: entry.is_aside,
        error: entry.error,
    }
}

impl fmt::Display for PendingPropagation {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "copies of {} entities are to follow", self.entities)?;
        if let Some(oldest) = self.oldest {
            write!(f, ", the first since {oldest}")?;
        }
        if self.set_aside > 0 {
            write!(f, "; {} set aside", self.set_aside)?;
        }
        match self.failing.first() {
            Some(failed) => write!(f, "; row `{}`: {}", failed.row.escape_debug(), failed.error),
            None => Ok(()),
        }
    }
}
