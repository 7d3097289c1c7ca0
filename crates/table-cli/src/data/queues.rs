//! Queues from one store to another: messages as they stand, those that are hidden and those that were set aside too.

use std::ops::ControlFlow;

use serde_json::Value;
use table_core::queue::{Queue, StoredMessage};
use table_core::{Error, ErrorKind, Result, Tables};
use twox_hash::XxHash3_64;

use super::compare::Compared;
use super::counts::Counts;
use super::load::Mode;
use crate::bar::Bar;
use crate::failure::Failure;

/// So many messages are sent in one transaction.
const AT_ONCE: usize = 1_000;

/// So many bytes of them, or one message more.
const BYTES_AT_ONCE: usize = 2 << 20;

/// What became of a queue.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    pub(crate) counts: Counts,
    pub(crate) compared: Option<Compared>,
    /// Why it was not copied.
    pub(crate) refused: Option<String>,
}

/// How a queue is copied.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving<'m> {
    pub(crate) mode: Mode,
    /// Whether a copy had begun to send that was cut short: what it has left is dropped.
    pub(crate) is_begun: bool,
    /// Whether what was sent is compared with what is there.
    pub(crate) verifies: bool,
    pub(crate) bar: &'m Bar,
}

/// Copies the queue of this name, which is paused in the target meanwhile, so that no worker there takes of half a queue. `begin`
/// is told how many messages there are before the first is sent: from then on those of the target are of this copy.
pub(crate) fn copy(
    from: &Tables,
    to: &Tables,
    name: &str,
    moving: Moving<'_>,
    begin: impl FnOnce(u64) -> std::result::Result<(), Failure>,
) -> std::result::Result<Moved, Failure> {
    let Some(source) = from.find_queue::<Value>(name)?.map(Queue::into_text) else {
        return Ok(Moved::default());
    };
    let stats = source.stats()?;
    let all = stats.ready + stats.hidden;
    match prepare(to, name, moving)? {
        Target::Free => {}
        Target::Taken(_) if moving.mode == Mode::Skip => {
            let counts = Counts { read: all, skipped: all, ..Counts::default() };
            return Ok(Moved { counts, ..Moved::default() });
        }
        Target::Taken(there) => {
            let why = format!(
                "queue `{name}` has {there} messages in the target: give --mode replace to drop them, or skip to leave it"
            );
            return Ok(refused(all, why));
        }
        Target::Missing(why) => return Ok(refused(all, format!("queue `{name}`: {why}"))),
    }
    begin(all)?;
    let target = to.queue::<Value>(name)?.into_text();
    target.pause()?;
    let moved = match send_all(&source, &target, moving.bar) {
        Ok(moved) => moved,
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            to.drop_queue(name)?;
            return Ok(refused(all, format!("queue `{name}`: {error}")));
        }
        Err(error) => return Err(error.into()),
    };
    let compared = if moving.verifies { compare(&source, &target)? } else { None };
    if !stats.is_paused {
        target.resume()?;
    }
    Ok(Moved { compared, ..moved })
}

/// What there is in the target.
enum Target {
    /// Nothing is in the way.
    Free,
    /// A queue with so many messages.
    Taken(u64),
    /// It can have no queues.
    Missing(Error),
}

/// Makes way for a queue, if it may.
fn prepare(to: &Tables, name: &str, moving: Moving<'_>) -> std::result::Result<Target, Failure> {
    let found = match to.find_queue::<Value>(name) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(Target::Missing(error)),
        Err(error) => return Err(error.into()),
    };
    let Some(found) = found else { return Ok(Target::Free) };
    let stats = found.stats()?;
    let there = stats.ready + stats.hidden;
    if moving.is_begun || moving.mode == Mode::Replace {
        to.drop_queue(name)?;
    } else if there > 0 {
        return Ok(Target::Taken(there));
    }
    Ok(Target::Free)
}

fn refused(all: u64, why: String) -> Moved {
    let counts = Counts { read: all, rejected: all, ..Counts::default() };
    Moved { counts, refused: Some(why), ..Moved::default() }
}

/// Sends every message of a queue to another one, as it stands.
fn send_all(source: &Queue<String>, target: &Queue<String>, bar: &Bar) -> Result<Moved> {
    let mut moved = Moved::default();
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let mut send = |batch: &mut Vec<StoredMessage>| {
        let sent = target.restore(batch)?;
        bar.add(length(batch.len()));
        moved.counts.read += length(batch.len());
        moved.counts.written += length(sent);
        batch.clear();
        Ok::<(), Error>(())
    };
    source.stored(|message| {
        bytes += message.text.len();
        batch.push(message);
        if batch.len() == AT_ONCE || bytes >= BYTES_AT_ONCE {
            send(&mut batch)?;
            bytes = 0;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    send(&mut batch)?;
    Ok(moved)
}

fn length(many: usize) -> u64 {
    u64::try_from(many).unwrap_or(u64::MAX)
}

/// Compares the messages of the queues of this name; `None` if there are not two, or one of them can't be listed.
pub(crate) fn compare_named(
    from: &Tables,
    to: &Tables,
    name: &str,
) -> std::result::Result<Option<Compared>, Failure> {
    let [source, target] = [from, to].map(|tables| tables.find_queue::<Value>(name));
    let target = match target {
        Err(error) if error.kind() == ErrorKind::Unsupported => None,
        target => target?,
    };
    match (source?, target) {
        (Some(source), Some(target)) => compare(&source.into_text(), &target.into_text()),
        _ => Ok(None),
    }
}

/// Compares the messages of two queues, whatever their numbers are; `None` if one of them can't be listed.
fn compare(source: &Queue<String>, target: &Queue<String>) -> std::result::Result<Option<Compared>, Failure> {
    let [first, second] = [source, target].map(hashes);
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err(error), _) | (_, Err(error)) if error.kind() == ErrorKind::Unsupported => return Ok(None),
        (Err(error), _) | (_, Err(error)) => return Err(error.into()),
    };
    let mut compared = Compared::default();
    let (mut one, mut other) = (first.iter().peekable(), second.iter().peekable());
    loop {
        match (one.peek(), other.peek()) {
            (None, None) => return Ok(Some(compared)),
            (Some(hash), Some(found)) if hash == found => {
                compared.first.add(**hash);
                compared.second.add(**found);
                one.next();
                other.next();
            }
            (Some(hash), found) if found.is_none_or(|found| hash < found) => {
                compared.first.add(**hash);
                compared.only_first += 1;
                one.next();
            }
            _ => {
                compared.only_second += 1;
                other.next();
            }
        }
    }
}

/// Returns the hashes of what the messages of a queue say, in their own order.
fn hashes(queue: &Queue<String>) -> Result<Vec<u64>> {
    let (mut all, mut bytes) = (Vec::new(), Vec::new());
    queue.stored(|message| {
        let StoredMessage { text, unique, sent, count, error, .. } = message;
        bytes.clear();
        for part in [Some(text), unique, error] {
            push(part.as_deref(), &mut bytes);
        }
        bytes.extend_from_slice(&sent.get().to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
        all.push(XxHash3_64::oneshot(&bytes));
        Ok(ControlFlow::Continue(()))
    })?;
    all.sort_unstable();
    Ok(all)
}

fn push(part: Option<&str>, bytes: &mut Vec<u8>) {
    let length = part.map_or(u64::MAX, |part| length(part.len()));
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(part.unwrap_or_default().as_bytes());
}
