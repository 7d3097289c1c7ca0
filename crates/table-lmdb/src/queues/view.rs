//! Queues' records, read with the proofs of [`VerifiedDb`].

use std::ops::ControlFlow;

use crate::open::OptionalDb;
use crate::verified::{self, Keyspace, VerifiedDb};
pub(super) use crate::verified::{Stop, body};
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::keys::{self, Key, Kind};
use table_engine::messages::{Entry, Message, QueueStats, State};
use table_engine::model::Ticks;
use table_engine::outbox;

/// What is kept of queues, and of what is to follow.
pub(crate) enum Queues {}

impl Keyspace for Queues {
    const DATABASE: OptionalDb = OptionalDb::Queues;

    #[cold]
    fn describe(key: &[u8]) -> String {
        match Key::parse(key) {
            Some(Key::Directory) => "the directory of queues".into(),
            Some(Key::State(queue)) => format!("the record of queue number {queue}"),
            Some(Key::Message(queue, id)) => format!("message {id} of queue number {queue}"),
            Some(Key::Ready(queue, _, id) | Key::Hidden(queue, _, id) | Key::Lease(queue, id)) => {
                format!("the entry of message {id} of queue number {queue}")
            }
            Some(Key::Unique(queue, _)) => format!("the record of a unique key of queue number {queue}"),
            Some(Key::Service(queue, _)) => format!("a service record of queue number {queue}"),
            None if key == outbox::keys::COUNTERS => {
                "the count of entities whose copies are to follow".into()
            }
            None if outbox::keys::of_entry(key).is_some() => {
                "the entry of an entity whose copies are to follow".into()
            }
            None => "a queue's record whose key can't be read".into(),
        }
    }
}

/// The records of queues as a transaction sees them.
pub(crate) type View<'t> = VerifiedDb<'t, Queues>;

impl<'t> View<'t> {
    /// Returns what a queue counts; an error if it was dropped.
    pub(crate) fn state(&self, queue: u32) -> Result<State> {
        self.state_of(queue, false)
    }

    /// Returns what a queue counts; of one that was dropped, too, if `may_be_dropped`: its records are to go.
    pub(super) fn state_of(&self, queue: u32, may_be_dropped: bool) -> Result<State> {
        let key = keys::state(queue);
        let Some(state) = self.read(&key, State::decode)? else {
            return Err(if self.directory()?.get(queue).is_some() { missing(&key) } else { dropped() });
        };
        if state.is_dropped && !may_be_dropped { Err(dropped()) } else { Ok(state) }
    }

    /// Returns the message of an entry.
    pub(crate) fn message(&self, queue: u32, id: u64) -> Result<Message<'t>> {
        self.must_read(&keys::message(queue, id), Message::decode)
    }

    /// Returns whether a queue has something to receive.
    pub(crate) fn shows_some(&self, queue: u32, now: Ticks) -> Result<bool> {
        let state = self.state(queue)?;
        if state.is_paused || state.set_digest(Kind::Message).count == 0 {
            return Ok(false);
        }
        // What was hidden shows where its walk is broken off, or the ready ones begin.
        let stop = |_: WalkedEntry<'_>| Ok(ControlFlow::Break(()));
        if !self.shown(queue, now, None, stop)? || !self.ready(queue, None, stop)? {
            return Ok(true);
        }
        check_ready(&state, 0)?;
        Ok(false)
    }

    /// Returns what a queue counts, with the time of its oldest message that is ready.
    pub(crate) fn stats(&self, queue: u32, now: Ticks) -> Result<QueueStats> {
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
        // Those whose time has come are ready, though no receiver has looked yet.
        let mut come = 0;
        self.shown(queue, now, None, |_| {
            come += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        figures.ready += come;
        figures.hidden = figures.hidden.saturating_sub(come);
        Ok(figures)
    }

    /// Goes through the messages of a queue that are hidden and show by now, in the order in which they do, after a key.
    /// Returns whether it came to the end.
    pub(crate) fn shown(
        &self,
        queue: u32,
        now: Ticks,
        after: Option<&[u8]>,
        mut each: impl FnMut(WalkedEntry<'t>) -> Result<ControlFlow<()>>,
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
            Ok(each(WalkedEntry { key, id, record, entry })?.map_continue(|()| Stop::Not))
        })
    }

    /// Gives each message of a queue in the order in which they would be received at a time: those that were hidden and show by
    /// then, those that are ready, and those that are hidden still.
    pub(crate) fn in_order(
        &self,
        queue: u32,
        now: Ticks,
        mut each: impl FnMut(WalkedEntry<'t>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if !self.shown(queue, now, None, &mut each)? || !self.ready(queue, None, &mut each)? {
            return Ok(());
        }
        self.shown(queue, Ticks::MAX, None, |walked| {
            if walked.entry.is_visible(now) { Ok(ControlFlow::Continue(())) } else { each(walked) }
        })?;
        Ok(())
    }

    /// Returns the entry of a message that is hidden, which must be there.
    pub(super) fn lease(&self, queue: u32, id: u64) -> Result<(&'t [u8], Entry)> {
        let key = keys::lease(queue, id);
        let record = self.must_have(&key)?;
        Ok((record, Entry::hidden(body(record)).ok_or_else(|| damaged(&key))?))
    }

    /// Goes over the messages of a queue that are ready.
    pub(crate) fn ready(
        &self,
        queue: u32,
        after: Option<&[u8]>,
        mut each: impl FnMut(WalkedEntry<'t>) -> Result<ControlFlow<()>>,
    ) -> Result<bool> {
        self.walk(&keys::prefix(Kind::Ready, queue), after, |key, record| {
            let Some(Key::Ready(_, since, id)) = Key::parse(key) else { return Err(damaged(key)) };
            let entry = Entry::ready(since, body(record)).ok_or_else(|| damaged(key))?;
            Ok(each(WalkedEntry { key, id, record, entry })?.map_continue(|()| Stop::Not))
        })
    }
}

/// The entry of a message that a walk over a queue has come to.
pub(crate) struct WalkedEntry<'t> {
    /// The key that the walk goes by.
    pub(crate) key: &'t [u8],
    /// The number of the message.
    pub(crate) id: u64,
    /// What is stored of the entry.
    pub(crate) record: &'t [u8],
    pub(crate) entry: Entry,
}

/// Compares how many messages are ready with those that a walk over all of them has met.
pub(super) fn check_ready(state: &State, met: u64) -> Result<()> {
    let counted = state.set_digest(Kind::Ready).count;
    if counted == met {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Corrupt)
        .because(format!("the queue counts {counted} messages that are ready, and {met} were found")))
}

#[cold]
pub(super) fn damaged(key: &[u8]) -> Error {
    verified::damaged::<Queues>(key)
}

#[cold]
pub(super) fn missing(key: &[u8]) -> Error {
    verified::missing::<Queues>(key)
}

#[cold]
pub(super) fn dropped() -> Error {
    Error::new(ErrorKind::QueueNotFound).because("the queue was dropped; get a new handle")
}
