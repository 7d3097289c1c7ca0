//! What a plan is to do to queues: found out whole before anything of it is written, so that a plan which is refused
//! leaves the transaction as it was.

use std::borrow::Cow;

use table_engine::error::Result;
use table_engine::messages::keys::{self, Key};
use table_engine::messages::{Directory, Entry, Message, SetDigest, State};
use table_engine::outbox::{self, Counters};

use super::view::{self, Queues, View};
use crate::records::features::Feature;
use crate::verified::{Counted, Overlay, PlannedWrites, Records, TxnState};

/// A record of counts in the queues' database.
#[derive(Clone)]
pub(crate) enum QueueCount {
    State(State),
    /// What is counted of the entries of what is to follow.
    Entries(Counters),
}

impl Records for Queues {
    type Count = QueueCount;
    const LISTED: &'static str = "queues";
    const DIRECTORY: &'static [u8] = &keys::DIRECTORY;

    fn directory(body: &[u8]) -> Option<Directory> {
        Directory::decode(body)
    }

    fn encode(count: &QueueCount) -> Vec<u8> {
        match count {
            QueueCount::State(state) => state.encode(),
            QueueCount::Entries(counters) => counters.encode(),
        }
    }

    fn set_digest<'o>(overlay: &'o mut QueueOverlay<'_>, key: &[u8]) -> Result<Option<&'o mut SetDigest>> {
        let Some(parsed) = Key::parse(key) else {
            // An entry of what is to follow.
            return overlay.counters().map(|counters| Some(&mut counters.entries));
        };
        let Some((kind, queue)) = parsed.of() else { return Ok(None) };
        Ok(overlay.state_of(queue, true)?.set_digest_mut(kind))
    }
}

/// A plan's changes of queues, and of what is to follow.
pub(crate) type QueueOverlay<'b> = Overlay<'b, Queues>;
/// What such a plan is to write.
pub(crate) type DraftedQueues = PlannedWrites<Queues>;
/// What a transaction has done to queues.
pub(crate) type QueueTxnState = TxnState<Queues>;

impl<'b> QueueOverlay<'b> {
    /// Returns what a queue counts, to be changed; an error if it was dropped.
    pub(super) fn state(&mut self, queue: u32) -> Result<&mut State> {
        self.state_of(queue, false)
    }

    /// Returns what a queue counts, to be changed; of one that was dropped too, if it is to go.
    pub(super) fn state_of(&mut self, queue: u32, may_be_dropped: bool) -> Result<&mut State> {
        let read = |view: &View<'_>| {
            let state = view.state_of(queue, true)?;
            Ok(Counted { count: Some(QueueCount::State(state)), is_new: false })
        };
        match self.count(&keys::state(queue), read)? {
            Some(QueueCount::State(state)) if may_be_dropped || !state.is_dropped => Ok(state),
            _ => Err(view::dropped()),
        }
    }

    /// Returns what a queue counted before the plan, which is what its records are that a walk meets.
    pub(super) fn state_before(&self, queue: u32) -> Result<State> {
        match self.count_before(&keys::state(queue)) {
            Some(Counted { count: Some(QueueCount::State(state)), .. }) => Ok(state.clone()),
            Some(_) => Err(view::dropped()),
            None => self.view.state_of(queue, true),
        }
    }

    /// Adds a queue's record.
    pub(super) fn add_state(&mut self, queue: u32) {
        self.add_count(&keys::state(queue), QueueCount::State(State::default()));
    }

    /// Returns what is counted of the entries of what is to follow, to be changed.
    pub(super) fn counters(&mut self) -> Result<&mut Counters> {
        let has_had_some = self.at.meta.features.has(Feature::Pending);
        let read = |view: &View<'_>| {
            let counters = view.counters(has_had_some)?;
            Ok(Counted { count: Some(QueueCount::Entries(counters)), is_new: !has_had_some })
        };
        if !has_had_some {
            self.set_feature(Feature::Pending);
        }
        match self.count(&outbox::keys::COUNTERS, read)? {
            Some(QueueCount::Entries(counters)) => Ok(counters),
            _ => Err(view::missing(&outbox::keys::COUNTERS)),
        }
    }

    /// Adds the entry of a message, which has none.
    pub(super) fn add_entry(&mut self, queue: u32, id: u64, entry: &Entry) -> Result<()> {
        if let Some(until) = entry.until() {
            self.replace(keys::hidden(queue, until, id), None, Some(Vec::new()))?;
            // An absent lease says that the message is not held, so this lookup proves that the lease comes to lie where others
            // find it.
            let key = keys::lease(queue, id);
            if self.find(&key)?.is_some() {
                return Err(view::damaged(&key));
            }
            let state = self.state_of(queue, true)?;
            if let table_engine::messages::Spot::Hidden { from, .. } = entry.spot {
                state.latest_from = state.latest_from.max(from);
            }
        }
        self.replace(entry.key(queue, id), None, Some(entry.encode()))
    }

    /// Removes the entry of a message, whose record was found.
    pub(super) fn remove_entry(&mut self, queue: u32, id: u64, entry: &Entry, record: &[u8]) -> Result<()> {
        if let Some(until) = entry.until() {
            let key = keys::hidden(queue, until, id);
            let hidden = self.must_find(&key)?;
            self.replace(key, Some(&hidden), None)?;
        }
        self.replace(entry.key(queue, id), Some(record), None)
    }

    /// Adds a message.
    pub(super) fn add_message(&mut self, queue: u32, id: u64, message: &Message<'_>) -> Result<()> {
        let state = self.state_of(queue, true)?;
        state.bytes = state.bytes.wrapping_add(length(message));
        if let Some(unique) = message.unique {
            self.replace(keys::unique(queue, unique), None, Some(id.to_le_bytes().to_vec()))?;
        }
        self.replace(keys::message(queue, id), None, Some(message.encode()))
    }

    /// Removes a message with its unique key. Its entry goes besides.
    pub(super) fn remove_message(&mut self, queue: u32, id: u64) -> Result<()> {
        let (key, record) = self.message(queue, id)?;
        let message = Message::decode(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        let state = self.state_of(queue, true)?;
        state.bytes = state.bytes.wrapping_sub(length(&message));
        if let Some(unique) = message.unique {
            let key = keys::unique(queue, unique);
            let record = self.must_find(&key)?;
            self.replace(key, Some(&record), None)?;
        }
        self.replace(key, Some(&record), None)
    }

    /// Returns the key and the record of a message, which must be there.
    pub(super) fn message(&self, queue: u32, id: u64) -> Result<(Vec<u8>, Cow<'b, [u8]>)> {
        let key = keys::message(queue, id);
        let record = self.must_find(&key)?;
        Ok((key, record))
    }
}

fn length(message: &Message<'_>) -> u64 {
    u64::try_from(message.text.len()).unwrap_or(u64::MAX)
}
