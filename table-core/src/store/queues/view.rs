//! Queues' records, read.
//!
//! Each record carries a checksum that covers its key. That one is not there is proved as for a row: by the way to where it
//! would stand. That nothing stands between two entries, which were met one after the other, is proved as well: a message
//! that damage hides is an error, and never taken for absent.

use std::collections::BTreeSet;
use std::ops::{Bound, ControlFlow};

use crate::error::{Error, ErrorKind, Result};
use crate::messages::keys::{self, Key, Kind};
use crate::messages::{Directory, Entry, Message, QueueStats, State};
use crate::model::Ticks;
use crate::pending;
use crate::store::lmdb::{self, Db};
use crate::store::open::{self, Environment, Tree};
use crate::store::records::meta;

/// The queues' records as a transaction sees them.
#[derive(Clone, Copy)]
pub(in crate::store) struct View<'t> {
    environment: &'t Environment,
    txn: &'t heed::RoTxn<'t>,
    db: Db,
    /// The number of the state that the transaction reads, or began with.
    state: usize,
    /// What it has removed from queues since; `None` if it has written nothing to them.
    removed: Option<&'t BTreeSet<Vec<u8>>>,
    /// Whether what lies in the map is of that state: where a transaction has changed very much, LMDB writes some of it
    /// early, on pages that were free.
    is_settled: bool,
}

impl<'t> View<'t> {
    /// As a snapshot sees them.
    pub(in crate::store) fn of_snapshot(
        environment: &'t Environment,
        txn: &'t heed::RoTxn<'t>,
        db: Db,
    ) -> Self {
        Self { environment, txn, db, state: txn.id(), removed: None, is_settled: true }
    }

    /// As a transaction sees them that may have written.
    pub(in crate::store) fn of_write(
        environment: &'t Environment,
        txn: &'t heed::RwTxn<'t>,
        db: Db,
        (removed, is_settled): (Option<&'t BTreeSet<Vec<u8>>>, bool),
    ) -> Self {
        Self { environment, txn, db, state: open::state_of_write(txn), removed, is_settled }
    }

    /// The record of a key, whole; `None` if it is proved that there is none.
    pub(super) fn record(&self, key: &[u8]) -> Result<Option<&'t [u8]>> {
        let Some(record) = self.db.get(self.txn, key).map_err(lmdb::error)? else {
            return if self.lacks(key)? { Ok(None) } else { Err(lmdb::damaged_page()) };
        };
        self.check_place(record)?;
        check_record(key, record)?;
        Ok(Some(record))
    }

    /// A record that must be there.
    pub(super) fn must_have(&self, key: &[u8]) -> Result<&'t [u8]> {
        self.record(key)?.ok_or_else(|| missing(key))
    }

    /// The queues that there are.
    pub(in crate::store) fn directory(&self) -> Result<Directory> {
        let record = self.must_have(&keys::DIRECTORY)?;
        Directory::decode(body(record)).ok_or_else(|| damaged(&keys::DIRECTORY))
    }

    /// What a queue counts; an error if it was dropped.
    pub(in crate::store) fn state(&self, queue: u32) -> Result<State> {
        self.state_of(queue, false)
    }

    /// The same; of a queue that was dropped, if its records are to go.
    pub(super) fn state_of(&self, queue: u32, may_be_dropped: bool) -> Result<State> {
        let key = keys::state(queue);
        let Some(record) = self.record(&key)? else {
            return Err(if self.directory()?.get(queue).is_some() { missing(&key) } else { dropped() });
        };
        let state = State::decode(body(record)).ok_or_else(|| damaged(&key))?;
        if state.is_dropped && !may_be_dropped { Err(dropped()) } else { Ok(state) }
    }

    /// The message of an entry.
    pub(in crate::store) fn message(&self, queue: u32, id: u64) -> Result<(&'t [u8], Message<'t>)> {
        let key = keys::message(queue, id);
        let record = self.must_have(&key)?;
        let message = Message::decode(body(record)).ok_or_else(|| damaged(&key))?;
        Ok((record, message))
    }

    /// Whether a queue has something to receive.
    pub(in crate::store) fn shows_some(&self, queue: u32, now: Ticks) -> Result<bool> {
        let state = self.state(queue)?;
        if state.is_paused || state.tally(Kind::Message).count == 0 {
            return Ok(false);
        }
        // What was hidden shows where its walk is broken off, or the ready ones begin.
        let stop = |_: &[u8], _, _: (&[u8], Entry)| Ok(ControlFlow::Break(()));
        if !self.shown(queue, now, None, stop)? || !self.ready(queue, None, stop)? {
            return Ok(true);
        }
        check_ready(&state, 0)?;
        Ok(false)
    }

    /// What a queue counts, with the time of its oldest message that is ready.
    pub(in crate::store) fn stats(&self, queue: u32, now: Ticks) -> Result<QueueStats> {
        let state = self.state(queue)?;
        let directory = self.directory()?;
        let listed = directory.get(queue).ok_or_else(|| missing(&keys::state(queue)))?;
        let mut figures = state.stats(&listed.name);
        self.walk(&keys::prefix(Kind::Ready, queue), None, |key, _| {
            if let Some(Key::Ready(_, since, _)) = Key::parse(key) {
                figures.oldest_ready = Some(since);
            }
            Ok(ControlFlow::Break(()))
        })?;
        // Those whose time has come are ready, though nobody has looked yet.
        let mut come = 0;
        self.shown(queue, now, None, |_, _, _| {
            come += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        figures.ready += come;
        figures.hidden = figures.hidden.saturating_sub(come);
        Ok(figures)
    }

    /// Goes through the messages of a queue that are hidden and show by now, in the order in which they do, after a key:
    /// each key, with the message's number and its entry's record. Whether it came to the end.
    pub(in crate::store) fn shown(
        &self,
        queue: u32,
        now: Ticks,
        after: Option<&[u8]>,
        mut each: impl FnMut(&'t [u8], u64, (&'t [u8], Entry)) -> Result<ControlFlow<()>>,
    ) -> Result<bool> {
        // Only where the clock was set back may one show that is to be hidden for longer.
        let was_set_back = self.state_of(queue, true)?.latest_from > now;
        self.walk(&keys::prefix(Kind::Hidden, queue), after, |key, _| {
            let Some(Key::Hidden(_, until, id)) = Key::parse(key) else { return Err(damaged(key)) };
            if until > now && !was_set_back {
                return Ok(ControlFlow::Continue(Stop::Here));
            }
            let (record, entry) = self.lease(queue, id)?;
            if entry.until() != Some(until) {
                return Err(damaged(key));
            }
            if !entry.is_visible(now) {
                return Ok(ControlFlow::Continue(Stop::Not));
            }
            Ok(each(key, id, (record, entry))?.map_continue(|()| Stop::Not))
        })
    }

    /// The entry of a message that is hidden, which must be there.
    pub(super) fn lease(&self, queue: u32, id: u64) -> Result<(&'t [u8], Entry)> {
        let key = keys::lease(queue, id);
        let record = self.must_have(&key)?;
        Ok((record, Entry::hidden(body(record)).ok_or_else(|| damaged(&key))?))
    }

    /// The same for messages that are ready.
    pub(in crate::store) fn ready(
        &self,
        queue: u32,
        after: Option<&[u8]>,
        mut each: impl FnMut(&'t [u8], u64, (&'t [u8], Entry)) -> Result<ControlFlow<()>>,
    ) -> Result<bool> {
        self.walk(&keys::prefix(Kind::Ready, queue), after, |key, record| {
            let Some(Key::Ready(_, since, id)) = Key::parse(key) else { return Err(damaged(key)) };
            let entry = Entry::ready(since, body(record)).ok_or_else(|| damaged(key))?;
            Ok(each(key, id, (record, entry))?.map_continue(|()| Stop::Not))
        })
    }

    /// Goes through the records whose keys begin with a prefix, after a key that is there, in their order. Nothing of them
    /// is missed as far as it goes. Whether it came to the end, or to where nothing more is wanted.
    pub(super) fn walk(
        &self,
        prefix: &[u8],
        after: Option<&[u8]>,
        mut each: impl FnMut(&'t [u8], &'t [u8]) -> Result<ControlFlow<(), Stop>>,
    ) -> Result<bool> {
        let mut last = match after {
            Some(after) => self.db.get_lower_than_or_equal_to(self.txn, after),
            None => self.db.get_lower_than(self.txn, prefix),
        }
        .map_err(lmdb::error)?;
        if let Some((key, record)) = last {
            self.check(key, record)?;
            if after.map_or(key >= prefix, |after| key != after) {
                return Err(lmdb::damaged_page());
            }
        }
        let from = match after {
            Some(after) => (Bound::Excluded(after), Bound::Unbounded),
            None => (Bound::Included(prefix), Bound::Unbounded),
        };
        let mut records = self.db.range(self.txn, &from).map_err(lmdb::error)?;
        loop {
            let step = records.next().transpose().map_err(lmdb::error)?;
            let (before, next) = (last.map(|(key, _)| key), step.map(|(key, _)| key));
            if !self.adjacent(before, next)? {
                return Err(lmdb::damaged_page());
            }
            let Some((key, record)) = step else { return Ok(true) };
            if key < prefix || before.is_some_and(|before| key <= before) {
                return Err(lmdb::damaged_page());
            }
            self.check(key, record)?;
            if !key.starts_with(prefix) {
                return Ok(true);
            }
            match each(key, record)? {
                ControlFlow::Continue(Stop::Not) => {}
                ControlFlow::Continue(Stop::Here) => return Ok(true),
                ControlFlow::Break(()) => return Ok(false),
            }
            last = step;
        }
    }

    /// Whether a key has no record in the state that the transaction began with, or has been removed since.
    fn lacks(&self, key: &[u8]) -> Result<bool> {
        if let Some(tree) = Tree::of_queues(self.environment, self.txn, self.state)? {
            return Ok(tree.lacks(self.environment, self.txn, key, check_record)?
                || self.removed.is_some_and(|removed| removed.contains(key)));
        }
        let before = self.db.get_lower_than(self.txn, key).map_err(lmdb::error)?;
        let after = self.db.get_greater_than(self.txn, key).map_err(lmdb::error)?;
        for (key, record) in before.into_iter().chain(after) {
            self.check(key, record)?;
        }
        Ok(before.is_none_or(|(before, _)| before < key) && after.is_none_or(|(after, _)| key < after))
    }

    /// Whether nothing stands between two records that were met one after the other; without one, none before the first
    /// or after the last.
    fn adjacent(&self, before: Option<&[u8]>, after: Option<&[u8]>) -> Result<bool> {
        let (environment, txn) = (self.environment, self.txn);
        let pages = environment.dbs.pages;
        let leaf = |key| pages.filter(|pages| pages.of(key).is_some()).map(|pages| pages.place(key));
        if let (Some(one), Some(other)) = (before.and_then(leaf), after.and_then(leaf))
            && one == other
        {
            return Ok(true);
        }
        if let Some(tree) = Tree::of_queues(environment, txn, self.state)? {
            if self.removed.is_none() {
                return tree.adjoin(environment, txn, before, after);
            }
            for key in before.into_iter().chain(after) {
                tree.check_way(environment, txn, key)?;
            }
        }
        // What this transaction has written is on no page of that tree: a search from each must come to the other.
        let next = match before {
            Some(before) => self.db.get_greater_than(txn, before),
            None => self.db.first(txn),
        };
        if next.map_err(lmdb::error)?.map(|(found, _)| found) != after {
            return Ok(false);
        }
        let previous = match after {
            Some(after) => self.db.get_lower_than(txn, after),
            None => self.db.last(txn),
        };
        Ok(previous.map_err(lmdb::error)?.map(|(found, _)| found) == before)
    }

    /// Checks a record that was met, and the pages that it lies in.
    fn check(&self, key: &[u8], record: &[u8]) -> Result<()> {
        if let Some(pages) = self.environment.dbs.pages.filter(|_| self.is_settled)
            && pages.of(key).is_some()
        {
            pages.check_leaf(key)?;
            self.environment.check_in_use(self.txn, self.state, key)?;
        }
        self.check_place(record)?;
        check_record(key, record)
    }

    /// Checks that a record lies in its page, and that the page is in use.
    fn check_place(&self, record: &[u8]) -> Result<()> {
        // What this transaction has changed does not lie in the map.
        let pages = self.environment.dbs.pages.filter(|_| self.is_settled);
        let Some(pages) = pages.filter(|pages| pages.of(record).is_some()) else { return Ok(()) };
        pages.check_value(record)?;
        self.environment.check_in_use(self.txn, self.state, record)
    }
}

/// Compares how many messages are ready with those that a walk over all of them has met.
pub(super) fn check_ready(state: &State, met: u64) -> Result<()> {
    let counted = state.tally(Kind::Ready).count;
    if counted == met {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt)
        .because(format!("the queue counts {counted} messages that are ready, and {met} were found")))
}

/// Whether a walk is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Not,
    /// Nothing more is wanted.
    Here,
}

/// What a record says, whose checksum was looked at.
pub(super) fn body(record: &[u8]) -> &[u8] {
    record.split_last_chunk::<{ meta::CHECKSUM }>().map_or(&[], |(body, _)| body)
}

/// Checks the checksum of a record.
pub(super) fn check_record(key: &[u8], record: &[u8]) -> Result<()> {
    if meta::opened(key, record).is_some() { Ok(()) } else { Err(damaged(key)) }
}

#[cold]
pub(super) fn damaged(key: &[u8]) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("{} is damaged", words(key)))
}

#[cold]
pub(super) fn missing(key: &[u8]) -> Error {
    Error::new(ErrorKind::Corrupt).because(format!("{} is missing", words(key)))
}

/// What a record is, for people. Keys that users give are left out.
#[cold]
pub(super) fn words(key: &[u8]) -> String {
    match Key::parse(key) {
        Some(Key::Directory) => "the directory of queues".into(),
        Some(Key::State(queue)) => format!("the record of queue number {queue}"),
        Some(Key::Message(queue, id)) => format!("message {id} of queue number {queue}"),
        Some(Key::Ready(queue, _, id) | Key::Hidden(queue, _, id) | Key::Lease(queue, id)) => {
            format!("the entry of message {id} of queue number {queue}")
        }
        Some(Key::Unique(queue, _)) => format!("the record of a unique key of queue number {queue}"),
        None if key == pending::keys::LEDGER => "the count of entities whose copies are to follow".into(),
        None if pending::keys::of_entry(key).is_some() => {
            "the entry of an entity whose copies are to follow".into()
        }
        None => "a queue's record whose key can't be read".into(),
    }
}

#[cold]
pub(super) fn dropped() -> Error {
    Error::new(ErrorKind::QueueNotFound).because("the queue was dropped; get a new handle")
}
