//! The check of queues: each record is looked at once, and what a queue counts is what it has.

use std::collections::{BTreeMap, BTreeSet};

use table_engine::hash::xxh3_64;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::keys::{self, Key};
use table_engine::messages::{Directory, Entry, Message, SetDigest, State};
use table_engine::outbox;
use table_engine::row::key::StoredKey;

use super::outbox::check_entries;
use super::view::{self, View};
use crate::lmdb::Db;
use crate::open::Environment;
use crate::records::features::Feature;
use crate::records::meta::{self, Meta};

/// The records of a queue as they were found.
#[derive(Default)]
struct FoundRecords {
    set_digests: [SetDigest; 6],
    bytes: u64,
    /// Of the messages' numbers, and of those of the entries: each message has one.
    messages: SetDigest,
    entries: SetDigest,
    /// Of the numbers of messages with a unique key, and of those that unique keys lead to.
    named: SetDigest,
    names: SetDigest,
    /// Of what leases say until when messages are hidden, and of the records by that time.
    leases: SetDigest,
    hidden: SetDigest,
    /// The highest number of a message.
    last: u64,
}

/// What there is.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    pub(crate) queues: u64,
    pub(crate) messages: u64,
    /// Entities whose copies are to follow, and the numbers of their tables.
    pub(crate) entries: u64,
    pub(crate) tables: BTreeSet<u32>,
}

/// Looks at every record of the queues, and of what is to follow. `problem` gets what is wrong, and of which queue.
pub(crate) fn check(
    environment: &Environment,
    txn: &heed::RoTxn<'_>,
    db: Db,
    mut problem: impl FnMut(Option<&str>, Error),
) -> Result<Counted> {
    let view = View::of_snapshot(environment, txn, db)?;
    let directory = view.directory()?;
    let name = |queue: u32| directory.get(queue).map(|queue| &*queue.name);
    let mut found: BTreeMap<u32, FoundRecords> = BTreeMap::new();
    let mut states: BTreeMap<u32, State> = BTreeMap::new();
    let (mut counted, mut entries) = (Counted::default(), SetDigest::default());
    let take = |key: &[u8], record: &[u8]| {
        if key == outbox::keys::COUNTERS {
            return Ok(());
        }
        if outbox::keys::of_entry(key).is_some() {
            entries.add(meta::checksum_of(record));
            counted.tables.insert(look_at_entry(key, record)?);
            return Ok(());
        }
        look(key, record, &mut found, &mut states)
    };
    view.check_each(take, |key, error| problem(key.and_then(queue_of).and_then(name), error))?;
    let mut messages = 0;
    for listed in &directory.queues {
        let found = found.remove(&listed.number).unwrap_or_default();
        messages += found.messages.count;
        let Some(state) = states.remove(&listed.number) else {
            problem(Some(&listed.name), view::missing(&keys::state(listed.number)));
            continue;
        };
        compare(&found, &state, listed.is_dropped, &mut |what| {
            problem(Some(&listed.name), Error::new(ErrorKind::Corrupt).because(what));
        });
    }
    for queue in found.into_keys().chain(states.into_keys()) {
        let because = format!("there are records of queue number {queue}, which is no queue's");
        problem(None, Error::new(ErrorKind::Corrupt).because(because));
    }
    let has_entries = Meta::read(environment.dbs.main, txn)?.features.has(Feature::Pending);
    match view.counters(has_entries) {
        Ok(counters) => {
            if let Err(error) = check_entries(counters.entries, entries) {
                problem(None, error);
            }
        }
        Err(error) => problem(None, error),
    }
    Ok(Counted { queues: count(&directory), messages, entries: entries.count, ..counted })
}

/// Takes an entry of what is to follow in; the number of its table.
#[inline]
fn look_at_entry(key: &[u8], record: &[u8]) -> Result<u32> {
    let damaged = || view::damaged(key);
    outbox::OutboxRecord::decode(view::body(record)).ok_or_else(damaged)?;
    let stored = outbox::keys::of_entry(key).and_then(StoredKey::parse).ok_or_else(damaged)?;
    stored.texts().ok_or_else(damaged)?;
    Ok(stored.table)
}

#[inline]
fn count(directory: &Directory) -> u64 {
    let queues = directory.queues.iter().filter(|queue| !queue.is_dropped).count();
    u64::try_from(queues).unwrap_or(u64::MAX)
}

fn queue_of(key: &[u8]) -> Option<u32> {
    Key::parse(key)?.of().map(|(_, queue)| queue)
}

/// Takes a record in.
#[inline]
fn look(
    key: &[u8],
    record: &[u8],
    all: &mut BTreeMap<u32, FoundRecords>,
    states: &mut BTreeMap<u32, State>,
) -> Result<()> {
    let body = view::body(record);
    let damaged = || view::damaged(key);
    let parsed = Key::parse(key).ok_or_else(damaged)?;
    match parsed {
        Key::Directory | Key::Service(..) => {}
        Key::State(queue) => {
            states.insert(queue, State::decode(body).ok_or_else(damaged)?);
        }
        Key::Message(queue, id) => {
            let message = Message::decode(body).ok_or_else(damaged)?;
            let found = all.entry(queue).or_default();
            found.last = found.last.max(id);
            found.messages.add(digest(&[&id.to_be_bytes()]));
            found.bytes = found.bytes.wrapping_add(u64::try_from(message.text.len()).unwrap_or(u64::MAX));
            if let Some(unique) = message.unique {
                found.named.add(digest(&[&id.to_le_bytes(), unique.as_bytes()]));
            }
        }
        Key::Ready(queue, since, id) => {
            Entry::ready(since, body).ok_or_else(damaged)?;
            all.entry(queue).or_default().entries.add(digest(&[&id.to_be_bytes()]));
        }
        Key::Lease(queue, id) => {
            let until = Entry::hidden(body).and_then(|entry| entry.until()).ok_or_else(damaged)?;
            let found = all.entry(queue).or_default();
            found.entries.add(digest(&[&id.to_be_bytes()]));
            found.leases.add(digest(&[&until.get().to_be_bytes(), &id.to_be_bytes()]));
        }
        Key::Hidden(queue, until, id) => {
            if !body.is_empty() {
                return Err(damaged());
            }
            let found = all.entry(queue).or_default();
            found.hidden.add(digest(&[&until.get().to_be_bytes(), &id.to_be_bytes()]));
        }
        Key::Unique(queue, text) => {
            let id = <[u8; 8]>::try_from(body).map_err(|_| damaged())?;
            all.entry(queue).or_default().names.add(digest(&[&id, text.as_bytes()]));
        }
    }
    if let Some((kind, queue)) = parsed.of()
        && let Some(at) = kind.set_digest()
        && let Some(set_digest) = all.entry(queue).or_default().set_digests.get_mut(at)
    {
        set_digest.add(meta::checksum_of(record));
    }
    Ok(())
}

/// Bytes as one number: those who come to the same sum are the same.
#[inline]
fn digest(parts: &[&[u8]]) -> u64 {
    xxh3_64(&parts.concat())
}

/// Compares what a queue counts with what it has.
#[inline]
fn compare(found: &FoundRecords, state: &State, is_dropped: bool, wrong: &mut dyn FnMut(String)) {
    let words = [
        "messages",
        "entries that are ready",
        "times",
        "entries that are hidden",
        "unique keys",
        "service records",
    ];
    for ((counted, found), words) in state.set_digests.iter().zip(&found.set_digests).zip(words) {
        if counted != found {
            wrong(format!(
                "the queue counts {} {words}, and {} were found, or not the same ones",
                counted.count, found.count
            ));
        }
    }
    if found.messages != found.entries {
        wrong("not each message has its entry, or an entry has no message".into());
    }
    if found.leases != found.hidden {
        wrong("not each hidden message is found by its time".into());
    }
    if found.named != found.names {
        wrong("not each unique key is that of its message".into());
    }
    if found.bytes != state.bytes {
        wrong(format!("the queue counts {} bytes, and has {}", state.bytes, found.bytes));
    }
    if found.last >= state.next {
        wrong(format!("the queue has message {}, and its next one is {}", found.last, state.next));
    }
    if is_dropped != state.is_dropped {
        wrong("the directory says otherwise than the queue whether it was dropped".into());
    }
}
