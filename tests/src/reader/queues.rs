//! Queues and their messages.

use std::collections::BTreeMap;

use super::bytes::{Bytes, Read, ensure, small, text};
use super::{Records, Tally};

/// A queue.
#[derive(Debug, Default)]
pub struct Queue {
    /// Messages that were ever sent, completed, set aside, and removed since their time was over.
    pub ever: [u64; 4],
    /// What a server keeps with it, by names.
    pub service: BTreeMap<String, Vec<u8>>,
    /// The messages, by their ids.
    pub messages: BTreeMap<u64, Message>,
}

/// A message.
#[derive(Debug)]
pub struct Message {
    /// Its unique key.
    pub unique: Option<String>,
    /// What was sent, as JSON.
    pub json: String,
    /// How often it was received.
    pub turn: u32,
    /// Until when it is hidden, in ticks.
    pub hidden: Option<u64>,
    /// Why it was given back last.
    pub error: String,
}

/// The names in a directory: each queue or container by its number, and whether it was dropped.
pub(super) fn directory(body: &[u8]) -> Read<BTreeMap<u32, (String, bool)>> {
    let mut bytes = Bytes(body);
    let next = bytes.u32()?;
    let mut found: BTreeMap<u32, (String, bool)> = BTreeMap::new();
    while !bytes.0.is_empty() {
        let (number, is_dropped, length) = (bytes.u32()?, bytes.bool()?, bytes.u8()?);
        let name = text(bytes.take(length.into())?)?;
        let last = found.last_key_value();
        ensure!(number < next && last.is_none_or(|(last, _)| *last < number), "numbers that don't rise");
        ensure!(
            is_dropped || found.values().all(|(other, is_dropped)| *is_dropped || *other != name),
            "two are called {name}"
        );
        let parts = || name.split('-');
        let is_name = (3..=63).contains(&name.len())
            && parts().all(|part| !part.is_empty())
            && parts().flat_map(str::bytes).all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        ensure!(is_name, "{name:?} is no name");
        found.insert(number, (name, is_dropped));
    }
    Ok(found)
}

/// The records of a kind, each with the rest of its key and its body.
pub(super) fn of_kind(records: &Records, kind: u8) -> Read<Vec<(Bytes<'_>, Bytes<'_>)>> {
    let all = records.iter().filter(|(key, _)| key.first() == Some(&kind));
    all.map(|(key, record)| Ok((Bytes(&key[1..]), Bytes(small(key, record)?)))).collect()
}

pub(super) fn read(records: &Records) -> Read<BTreeMap<String, Queue>> {
    ensure!(records.iter().all(|(key, _)| key.first().is_some_and(|kind| *kind <= 9)), "a record of no kind");
    // Copies may be to follow in a store that has no queue.
    let directory = match &of_kind(records, 0)?[..] {
        [] => BTreeMap::new(),
        [(key, body)] => {
            key.end("the directory's key")?;
            directory(body.0)?
        }
        _ => return Err("two directories".into()),
    };
    let mut tallies: BTreeMap<u32, [Tally; 6]> = BTreeMap::new();
    for (key, record) in records.iter().filter(|(key, _)| matches!(key[0], 2..=6 | 9)) {
        let mut rest = Bytes(&key[1..]);
        let at = if key[0] == 9 { 5 } else { usize::from(key[0] - 2) };
        tallies.entry(rest.u32_be()?).or_default()[at].add(record);
    }
    let mut queues: BTreeMap<u32, (Queue, u64)> = BTreeMap::new();
    for (mut key, mut body) in of_kind(records, 1)? {
        let number = key.u32_be()?;
        key.end("a queue's key")?;
        let (flags, next, _hidden, bytes) = (body.u8()?, body.u64()?, body.time()?, body.u64()?);
        let ever = [body.u64()?, body.u64()?, body.u64()?, body.u64()?];
        let mut counted = [Tally::default(); 6];
        for tally in &mut counted[..5] {
            *tally = body.wide_tally()?;
        }
        if !body.0.is_empty() {
            counted[5] = body.wide_tally()?;
            ensure!(counted[5] != Tally::default(), "a tally of service records that are none");
        }
        body.end("what a queue counts")?;
        let (_, is_dropped) = directory.get(&number).ok_or("a queue that is not in the directory")?;
        ensure!(flags & !3 == 0 && *is_dropped == (flags & 2 != 0), "a queue with the flags {flags}");
        ensure!(
            counted == tallies.remove(&number).unwrap_or_default(),
            "queue {number} counts other records"
        );
        let [messages, ready, until, hidden, ..] = counted.map(|tally| tally.count);
        ensure!(
            until == hidden && messages == ready + hidden,
            "queue {number} has other entries than messages"
        );
        let queue = Queue { ever, service: BTreeMap::new(), messages: BTreeMap::new() };
        queues.insert(number, (queue, bytes));
        for (mut key, mut body) in of_kind(records, 2)? {
            if key.u32_be()? != number {
                continue;
            }
            let id = key.u64_be()?;
            key.end("a message's key")?;
            ensure!((1..next).contains(&id), "the message {id} is still to come");
            let (_sent, _expires, length) = (body.time()?, body.time()?, body.u16()?);
            let unique = if length == 0xffff { None } else { Some(text(body.take(length.into())?)?) };
            let json = text(body.rest())?;
            let message = Message { unique, json, turn: 0, hidden: None, error: String::new() };
            queues.get_mut(&number).ok_or("no queue")?.0.messages.insert(id, message);
        }
    }
    for (mut key, mut body) in of_kind(records, 9)? {
        let number = key.u32_be()?;
        let name = text(key.rest())?;
        let of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        ensure!((1..=64).contains(&name.len()) && name.bytes().all(of_name), "{name:?} names no record");
        let queue = queues.get_mut(&number).ok_or("a service record of no queue")?;
        queue.0.service.insert(name, body.rest().to_vec());
    }
    ensure!(tallies.is_empty() && queues.len() == directory.len(), "records of queues that are none");
    entries(records, &mut queues)?;
    for (number, (queue, bytes)) in &queues {
        let sum: usize = queue.messages.values().map(|message| message.json.len()).sum();
        ensure!(u64::try_from(sum) == Ok(*bytes), "queue {number} counts {bytes} bytes of {sum}");
    }
    let named = |(number, (queue, _)): (u32, (Queue, u64))| match directory.get(&number) {
        Some((name, false)) => Some((name.clone(), queue)),
        _ => None,
    };
    Ok(queues.into_iter().filter_map(named).collect())
}

/// What becomes of the messages.
fn entries(records: &Records, queues: &mut BTreeMap<u32, (Queue, u64)>) -> Read<()> {
    let mut message = |number: u32, id: u64, take: &mut dyn FnMut(&mut Message) -> Read<()>| {
        let message = queues.get_mut(&number).and_then(|(queue, _)| queue.messages.get_mut(&id));
        take(message.ok_or_else(|| format!("there is no message {id} in the queue {number}"))?)
    };
    for (mut key, mut body) in of_kind(records, 3)? {
        let (number, _since, id) = (key.u32_be()?, key.u64_be()?, key.u64_be()?);
        let (turn, _count, error) = (body.u32()?, body.u32()?, text(body.rest())?);
        message(number, id, &mut |message| {
            (message.turn, message.error) = (turn, error.clone());
            Ok(())
        })?;
    }
    let mut shown = BTreeMap::new();
    for (mut key, body) in of_kind(records, 4)? {
        let (number, until, id) = (key.u32_be()?, key.u64_be()?, key.u64_be()?);
        body.end("the time until which a message is hidden")?;
        shown.insert((number, id), until);
    }
    for (mut key, mut body) in of_kind(records, 5)? {
        let (number, id) = (key.u32_be()?, key.u64_be()?);
        let (turn, _count, from, until) = (body.u32()?, body.u32()?, body.time()?, body.time()?);
        let (_held, error) = (body.bool()?, text(body.rest())?);
        ensure!(from <= until && shown.get(&(number, id)) == Some(&until), "a message hidden until {until}");
        message(number, id, &mut |message| {
            (message.turn, message.hidden, message.error) = (turn, Some(until), error.clone());
            Ok(())
        })?;
    }
    for (mut key, mut body) in of_kind(records, 6)? {
        let (number, unique, id) = (key.u32_be()?, text(key.rest())?, body.u64()?);
        body.end("a unique key")?;
        message(number, id, &mut |message| {
            ensure!(message.unique.as_ref() == Some(&unique), "{unique} is not the key of the message {id}");
            Ok(())
        })?;
    }
    Ok(())
}
