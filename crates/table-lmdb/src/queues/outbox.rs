//! Entries of the outbox: changed in an overlay as the records of queues are, and read with the same proofs.

use std::ops::ControlFlow;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::SetDigest;
use table_engine::outbox::{CopyKey, Counters, DependentKey, DependentProgress, OutboxRecord, keys};
use table_engine::row::key::Number;

use super::overlay::QueueOverlay;
use super::view::{self, Stop, View};
use crate::records::meta;

/// What becomes of an entry.
#[derive(Clone, Debug)]
pub(crate) enum EntryWork {
    /// It takes in a change of its entity, and is made if there is none.
    Follow { kind: &'static str, before: Vec<CopyKey>, without: Vec<&'static str> },
    /// It takes in a change of what dependents hold, and is made if there is none.
    DeferredDependents { kind: &'static str, dependents: Vec<DependentKey> },
    /// It says no more of copies in indexes, if it is of this version; it goes, if that was all.
    Propagate(u64),
    /// It says how far copies have come that others hold, if it is of this version; it goes, if that was all.
    Advance(u64, Vec<DependentProgress>),
    /// It has failed, if it is of this version.
    Fail(u64, String),
    /// It is tried again, if it is of this version.
    Arm(u64),
}

/// An entry that was found: the stored key of its entity's row, its version, and what it says.
pub(crate) struct FoundEntry {
    pub(crate) stored: Vec<u8>,
    pub(crate) version: u64,
    pub(crate) entry: OutboxRecord,
}

impl QueueOverlay<'_> {
    /// Does this to the entry under a key.
    pub(super) fn entry(&mut self, key: &[u8], work: &EntryWork) -> Result<()> {
        let now = self.at.clock.store;
        let old = self.find(key)?.map(std::borrow::Cow::into_owned);
        let (mut entry, expected) = match (work, &old) {
            (EntryWork::Follow { kind, .. } | EntryWork::DeferredDependents { kind, .. }, None) => {
                (OutboxRecord::new(kind, now), None)
            }
            (_, None) => return Err(overtaken()),
            (work, Some(record)) => {
                let expected = match work {
                    EntryWork::Follow { .. } | EntryWork::DeferredDependents { .. } => None,
                    EntryWork::Propagate(version)
                    | EntryWork::Advance(version, _)
                    | EntryWork::Fail(version, _)
                    | EntryWork::Arm(version) => Some(*version),
                };
                let found = OutboxRecord::decode(view::body(record)).ok_or_else(|| view::damaged(key))?;
                if expected.is_some_and(|version| version != meta::checksum_of(record)) {
                    return Err(overtaken());
                }
                (found, expected)
            }
        };
        debug_assert!(
            expected.is_some()
                || matches!(work, EntryWork::Follow { .. } | EntryWork::DeferredDependents { .. }),
            "only a change makes an entry"
        );
        match work {
            EntryWork::Follow { kind, before, without } => entry.take(kind, before, without, now),
            EntryWork::DeferredDependents { kind, dependents } => {
                entry.take_dependents(kind, dependents, now);
            }
            EntryWork::Propagate(_) => entry.propagate(now),
            EntryWork::Advance(_, reached) => entry.advance(reached, now),
            EntryWork::Fail(_, error) => entry.fail(error, self.at.clock.now.max(now)),
            EntryWork::Arm(_) => entry.arm(now),
        }
        let left = if entry.is_done() { None } else { Some(entry.encode()) };
        self.replace(key.to_vec(), old.as_deref(), left)
    }

    /// Removes so many entries of a table that was dropped; whether none is left.
    pub(super) fn forget(&mut self, table: u32, most: usize) -> Result<bool> {
        let mut keys = Vec::new();
        let prefix = keys::entry(&Number::of(table));
        let is_end = self.view.walk(&prefix, None, |key, record| {
            if keys.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            keys.push((key.to_vec(), record.to_vec()));
            Ok(ControlFlow::Continue(Stop::Not))
        })?;
        for (key, record) in keys {
            self.replace(key, Some(&record), None)?;
        }
        Ok(is_end)
    }
}

impl View<'_> {
    /// Returns what is counted of the entries: nothing, if the store has had none, as its feature says.
    pub(crate) fn counters(&self, has_had_some: bool) -> Result<Counters> {
        match self.read(&keys::COUNTERS, Counters::decode)? {
            Some(counters) => Ok(counters),
            None if has_had_some => Err(view::missing(&keys::COUNTERS)),
            None => Ok(Counters::default()),
        }
    }

    /// Returns whether the entity of this stored key has an entry.
    pub(crate) fn has_entry(&self, stored: &[u8]) -> Result<bool> {
        Ok(self.record(&keys::entry(stored))?.is_some())
    }

    /// Returns the entries behind this key, so many at most, and whether there is no other. All of a store are as many as it
    /// counts.
    pub(crate) fn entries(
        &self,
        after: Option<&[u8]>,
        most: usize,
        has_had_some: bool,
    ) -> Result<(Vec<FoundEntry>, bool)> {
        let (mut found, mut set_digest) = (Vec::new(), SetDigest::default());
        let counters = self.counters(has_had_some)?;
        let after = match after {
            Some(after) => {
                let key = keys::entry(after);
                // What was met before may be gone by now, and is walked to from the beginning then.
                if self.record(&key)?.is_some() { After::It(key) } else { After::Behind(key) }
            }
            None => After::Nothing,
        };
        let from = match &after {
            After::It(key) => Some(key.as_slice()),
            _ => None,
        };
        let is_end = self.walk(&keys::entry(&[]), from, |key, record| {
            if matches!(&after, After::Behind(behind) if key <= behind.as_slice()) {
                return Ok(ControlFlow::Continue(Stop::Not));
            }
            if found.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            let damaged = || view::damaged(key);
            let stored = keys::of_entry(key).ok_or_else(damaged)?.to_vec();
            let entry = OutboxRecord::decode(view::body(record)).ok_or_else(damaged)?;
            let version = meta::checksum_of(record);
            set_digest.add(version);
            found.push(FoundEntry { stored, version, entry });
            Ok(ControlFlow::Continue(Stop::Not))
        })?;
        if matches!(after, After::Nothing) && is_end {
            check_entries(counters.entries, set_digest)?;
        }
        Ok((found, is_end))
    }
}

/// Where a walk over entries goes on.
enum After {
    Nothing,
    /// Behind the entry of this key, which is there.
    It(Vec<u8>),
    /// Behind this key, which is no entry's any more.
    Behind(Vec<u8>),
}

/// Compares the entries that were found with those that are counted.
pub(super) fn check_entries(counted: SetDigest, found: SetDigest) -> Result<()> {
    if counted == found {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt).because(format!(
        "the store counts {} entities whose copies are to follow, and {} were found, or not the same ones",
        counted.count, found.count
    )))
}

#[cold]
fn overtaken() -> Error {
    Error::new(ErrorKind::ConditionNotMet)
        .because("what was to follow is another by now, or has been seen to")
}
