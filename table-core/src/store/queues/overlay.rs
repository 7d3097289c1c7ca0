//! What a plan is to do to queues: found out whole before anything of it is written, so that a plan which is refused
//! leaves the transaction as it was.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::txn_state::QueueTxnState;
use super::view::{self, View};
use crate::error::Result;
use crate::messages::keys::{self, Kind};
use crate::messages::{Clock, Directory, Entry, Message, State};
use crate::outbox::{self, Counters};
use crate::store::open::Environment;
use crate::store::records::meta;
use crate::store::verified::{Write, Writes};

/// The writes of a plan, and the counts that they leave.
#[derive(Default)]
pub(crate) struct QueueWrites {
    pub(super) writes: Writes<Vec<u8>>,
    pub(super) states: BTreeMap<u32, Option<State>>,
    pub(super) directory: Option<Directory>,
    pub(super) counters: Option<Counters>,
}

impl QueueWrites {
    /// Whether it is about what is to follow.
    pub(crate) fn is_of_entries(&self) -> bool {
        self.counters.is_some()
    }
}

/// A plan's changes of queues, drafted over what the transaction sees.
pub(crate) struct QueueOverlay<'b> {
    pub(super) view: View<'b>,
    txn_state: &'b QueueTxnState,
    pub(super) clock: Clock,
    drafted: QueueWrites,
}

impl<'b> QueueOverlay<'b> {
    /// Begins one in a transaction. `is_propagated` says that it has changed little so far.
    pub(crate) fn begin(
        environment: &'b Environment,
        txn: &'b heed::RwTxn<'b>,
        txn_state: &'b QueueTxnState,
        clock: Clock,
        is_propagated: bool,
    ) -> Result<Self> {
        let view = View::of_write(
            environment,
            txn,
            txn_state.applied.db(),
            (txn_state.applied.removed(), is_propagated),
        )?;
        Ok(Self { view, txn_state, clock, drafted: QueueWrites::default() })
    }

    /// What is to be written, once the pages that change for it have been looked at.
    pub(crate) fn end(self) -> Result<QueueWrites> {
        let QueueWrites { writes, states, directory, counters } = &self.drafted;
        let counts = states.iter().map(|(queue, state)| (keys::state(*queue).to_vec(), state.is_none()));
        let counts = counts.chain(directory.iter().map(|_| (keys::DIRECTORY.to_vec(), false)));
        let counts = counts.chain(counters.iter().map(|_| (outbox::keys::COUNTERS.to_vec(), false)));
        self.view.meet(writes, self.txn_state.applied.writes(), counts)?;
        Ok(self.drafted)
    }

    /// What a queue counts, to be changed; an error if it was dropped.
    pub(super) fn state(&mut self, queue: u32) -> Result<&mut State> {
        self.state_of(queue, false)
    }

    /// The same; of a queue that was dropped, if it is to go.
    pub(super) fn state_of(&mut self, queue: u32, may_be_dropped: bool) -> Result<&mut State> {
        let known = self.drafted.states.get(&queue).or_else(|| self.txn_state.states.get(&queue));
        let state = match known {
            Some(Some(state)) if may_be_dropped || !state.is_dropped => state.clone(),
            Some(_) => return Err(view::dropped()),
            None => self.view.state_of(queue, may_be_dropped)?,
        };
        Ok(self.drafted.states.entry(queue).or_insert(None).insert(state))
    }

    /// What a queue counted before the plan, which is what its records are that a walk meets.
    pub(super) fn state_before(&self, queue: u32) -> Result<State> {
        match self.txn_state.states.get(&queue) {
            Some(Some(state)) => Ok(state.clone()),
            Some(None) => Err(view::dropped()),
            None => self.view.state_of(queue, true),
        }
    }

    /// Has the record of a queue removed, of which no other is left.
    pub(super) fn remove_state(&mut self, queue: u32) {
        self.drafted.states.insert(queue, None);
    }

    pub(super) fn directory(&mut self) -> Result<Directory> {
        match self.drafted.directory.as_ref().or(self.txn_state.directory.as_ref()) {
            Some(known) => Ok(known.clone()),
            None => self.view.directory(),
        }
    }

    pub(super) fn set_directory(&mut self, directory: Directory) {
        self.drafted.directory = Some(directory);
    }

    /// What is counted of the entries of what is to follow, to be changed.
    pub(super) fn counters(&mut self) -> Result<&mut Counters> {
        let counters = match self.drafted.counters.or(self.txn_state.counters) {
            Some(known) => known,
            None => self.view.counters(self.txn_state.has_entries)?,
        };
        Ok(self.drafted.counters.insert(counters))
    }

    /// Has a record in the place of one that was found, or of none; or that one removed.
    pub(super) fn replace(&mut self, key: &[u8], is_there: bool, record: Option<Vec<u8>>) {
        self.drafted.writes.replace(key.to_vec(), is_there, record);
    }

    /// Adds a queue's record.
    pub(super) fn add_state(&mut self, queue: u32) {
        self.drafted.states.insert(queue, Some(State::default()));
    }

    /// Whether the draft has a record removed.
    pub(super) fn is_removed(&self, key: &[u8]) -> bool {
        matches!(self.drafted.writes.get(key), Some(Write::Remove))
    }

    /// The record of a key as the draft leaves it.
    pub(super) fn find(&self, key: &[u8]) -> Result<Option<Cow<'b, [u8]>>> {
        match self.drafted.writes.get(key) {
            Some(Write::Add(record) | Write::Replace(record)) => Ok(Some(Cow::Owned(record.clone()))),
            Some(Write::Remove) => Ok(None),
            None => Ok(self.view.record(key)?.map(Cow::Borrowed)),
        }
    }

    /// Adds a record, which is not there.
    pub(super) fn add(&mut self, (kind, queue): (Kind, u32), key: Vec<u8>, body: Vec<u8>) -> Result<()> {
        let record = meta::sealed(&key, body);
        let checksum = meta::checksum_of(&record);
        if let Some(set_digest) = self.state_of(queue, true)?.set_digest_mut(kind) {
            set_digest.add(checksum);
        }
        self.drafted.writes.replace(key, false, Some(record));
        Ok(())
    }

    /// Removes a record that was found.
    pub(super) fn remove(&mut self, (kind, queue): (Kind, u32), key: Vec<u8>, record: &[u8]) -> Result<()> {
        let checksum = meta::checksum_of(record);
        if let Some(set_digest) = self.state_of(queue, true)?.set_digest_mut(kind) {
            set_digest.subtract(checksum);
        }
        self.drafted.writes.replace(key, true, None);
        Ok(())
    }

    /// Adds the entry of a message, which has none.
    pub(super) fn add_entry(&mut self, queue: u32, id: u64, entry: &Entry) -> Result<()> {
        let kind = if let Some(until) = entry.until() {
            self.add((Kind::Hidden, queue), keys::hidden(queue, until, id), Vec::new())?;
            // That it is not there says that nobody holds the message: so it must come to where it is looked for.
            let key = keys::lease(queue, id);
            if self.find(&key)?.is_some() {
                return Err(view::damaged(&key));
            }
            let state = self.state_of(queue, true)?;
            if let crate::messages::Spot::Hidden { from, .. } = entry.spot {
                state.latest_from = state.latest_from.max(from);
            }
            Kind::Lease
        } else {
            Kind::Ready
        };
        self.add((kind, queue), entry.key(queue, id), entry.encode())
    }

    /// Removes the entry of a message, whose record was found.
    pub(super) fn remove_entry(&mut self, queue: u32, id: u64, entry: &Entry, record: &[u8]) -> Result<()> {
        let kind = if let Some(until) = entry.until() {
            let key = keys::hidden(queue, until, id);
            let Some(hidden) = self.find(&key)? else { return Err(view::missing(&key)) };
            self.remove((Kind::Hidden, queue), key, &hidden)?;
            Kind::Lease
        } else {
            Kind::Ready
        };
        self.remove((kind, queue), entry.key(queue, id), record)
    }

    /// Adds a message.
    pub(super) fn add_message(&mut self, queue: u32, id: u64, message: &Message<'_>) -> Result<()> {
        let state = self.state_of(queue, true)?;
        state.bytes = state.bytes.wrapping_add(length(message));
        if let Some(unique) = message.unique {
            let body = id.to_le_bytes().to_vec();
            self.add((Kind::Unique, queue), keys::unique(queue, unique), body)?;
        }
        self.add((Kind::Message, queue), keys::message(queue, id), message.encode())
    }

    /// Removes a message with its unique key. Its entry goes besides.
    pub(super) fn remove_message(&mut self, queue: u32, id: u64) -> Result<()> {
        let (key, record) = self.message(queue, id)?;
        let message = Message::decode(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        let state = self.state_of(queue, true)?;
        state.bytes = state.bytes.wrapping_sub(length(&message));
        if let Some(unique) = message.unique {
            let key = keys::unique(queue, unique);
            let Some(record) = self.find(&key)? else { return Err(view::missing(&key)) };
            self.remove((Kind::Unique, queue), key, &record)?;
        }
        self.remove((Kind::Message, queue), key, &record)
    }

    /// The key and the record of a message, which must be there.
    pub(super) fn message(&self, queue: u32, id: u64) -> Result<(Vec<u8>, Cow<'b, [u8]>)> {
        let key = keys::message(queue, id);
        match self.find(&key)? {
            Some(record) => Ok((key, record)),
            None => Err(view::missing(&key)),
        }
    }
}

fn length(message: &Message<'_>) -> u64 {
    u64::try_from(message.text.len()).unwrap_or(u64::MAX)
}
