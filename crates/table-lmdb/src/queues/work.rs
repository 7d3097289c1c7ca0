//! What is done with queues in the overlay: by the store itself, and what of it [users' tasks](super::tasks) share.

use std::ops::ControlFlow;

use table_engine::error::Result;
#[cfg(not(feature = "queue"))]
use table_engine::error::{Error, ErrorKind};
#[cfg(feature = "queue")]
use table_engine::messages::Answer;
use table_engine::messages::keys::{self, Kind};
use table_engine::messages::{Entry, Task};

use super::outbox::EntryWork;
use super::overlay::QueueOverlay;
use super::service::ServiceWork;
use super::view::{self, WalkedEntry};

/// What is to be done with queues, by a user or by the store.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    /// What a user asks of a queue of this number.
    Task(u32, Task),
    /// The queue of this name is to be there.
    Create(Box<str>),
    /// The queue of this name is to be no more; its records go later.
    Bury(Box<str>),
    /// So many records of a queue that was dropped are to go, and in the end the queue.
    Purge(u32, usize),
    /// A service record of a queue is to have another value.
    Service(ServiceWork),
    /// Something becomes of the entry under this key.
    Entry(Vec<u8>, EntryWork),
    /// So many entries of a table that was dropped are to go.
    Forget(u32, usize),
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    #[cfg(feature = "queue")]
    Answer(Answer),
    /// The queue of this number, and whether it is new.
    #[cfg(feature = "queue")]
    Queue(u32, bool),
    /// Whether a record was what was expected.
    Replaced(bool),
    /// Whether nothing is left.
    Purged(bool),
    /// An entry has been seen to.
    Noted,
}

/// Entries that are looked at in one go.
pub(super) const STRETCH: usize = 64;

/// The entry of a message that was found on a walk.
pub(super) struct FoundMessage {
    pub(super) key: Vec<u8>,
    pub(super) record: Vec<u8>,
    pub(super) id: u64,
    pub(super) entry: Entry,
}

/// Which entries a walk goes through.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Among {
    /// Messages that were hidden and show.
    #[cfg(feature = "queue")]
    Shown,
    Ready,
    /// All that are hidden, for who removes them.
    Hidden,
}

impl QueueOverlay<'_> {
    pub(crate) fn carry_out(&mut self, work: &Work) -> Result<Outcome> {
        match work {
            #[cfg(feature = "queue")]
            Work::Task(..) | Work::Create(_) | Work::Bury(_) => self.carry_out_task(work),
            #[cfg(not(feature = "queue"))]
            Work::Task(..) | Work::Create(_) | Work::Bury(_) => Err(without_feature()),
            Work::Purge(queue, most) => self.purge(*queue, *most).map(Outcome::Purged),
            Work::Service(work) => self.replace_service(work).map(Outcome::Replaced),
            Work::Entry(key, work) => self.entry(key, work).map(|()| Outcome::Noted),
            Work::Forget(table, most) => self.forget(*table, *most).map(Outcome::Purged),
        }
    }

    /// Returns so many entries after a key, and whether there are no more. `met` counts those that were met.
    pub(super) fn chunk(
        &self,
        queue: u32,
        among: Among,
        after: Option<&[u8]>,
        wanted: usize,
        met: &mut u64,
    ) -> Result<(Vec<FoundMessage>, bool)> {
        let mut found = Vec::new();
        let mut each = |walked: WalkedEntry<'_>| -> Result<ControlFlow<()>> {
            let WalkedEntry { key, id, record, entry } = walked;
            *met += 1;
            // What this plan has moved or completed itself is found where it was.
            if self.is_removed(key) {
                return Ok(ControlFlow::Continue(()));
            }
            if found.len() == wanted {
                return Ok(ControlFlow::Break(()));
            }
            found.push(FoundMessage { key: key.to_vec(), record: record.to_vec(), id, entry });
            Ok(if found.len() == wanted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let is_end = match among {
            #[cfg(feature = "queue")]
            Among::Shown => self.view.shown(queue, self.at.clock.now, after, each)?,
            Among::Ready => self.view.ready(queue, after, each)?,
            Among::Hidden => self.view.walk(&keys::prefix(Kind::Lease, queue), after, |key, record| {
                let Some(keys::Key::Lease(_, id)) = keys::Key::parse(key) else {
                    return Err(view::damaged(key));
                };
                let entry = Entry::hidden(view::body(record)).ok_or_else(|| view::damaged(key))?;
                Ok(each(WalkedEntry { key, id, record, entry })?.map_continue(|()| view::Stop::Not))
            })?,
        };
        Ok((found, is_end))
    }

    /// Removes a message with its entry.
    pub(super) fn take_out(&mut self, queue: u32, id: u64, entry: &Entry, record: &[u8]) -> Result<()> {
        self.remove_entry(queue, id, entry, record)?;
        self.remove_message(queue, id)
    }

    /// Removes messages whose numbers are below this one: how many, and whether all are gone.
    pub(super) fn clear(&mut self, queue: u32, below: u64, most: usize) -> Result<(u64, bool)> {
        let mut gone = 0;
        for among in [Among::Hidden, Among::Ready] {
            let (mut after, mut is_end) = (None, false);
            while !is_end {
                if gone >= most {
                    return Ok((count(gone), false));
                }
                let found;
                let wanted = STRETCH.min(most - gone);
                (found, is_end) = self.chunk(queue, among, after.as_deref(), wanted, &mut 0)?;
                after = found.last().map(|last| last.key.clone());
                for FoundMessage { record, id, entry, .. } in found {
                    if id < below {
                        self.take_out(queue, id, &entry, &record)?;
                        gone += 1;
                    }
                }
            }
        }
        Ok((count(gone), true))
    }

    fn purge(&mut self, queue: u32, most: usize) -> Result<bool> {
        let mut directory = self.directory()?;
        if directory.get(queue).is_none_or(|queue| !queue.is_dropped) {
            // Another thread has swept it.
            return Ok(true);
        }
        let (_, is_all) = self.clear(queue, u64::MAX, most)?;
        if !is_all {
            return Ok(false);
        }
        self.remove_services(queue)?;
        if !self.state_of(queue, true)?.is_empty() {
            return Err(view::damaged(&keys::state(queue)));
        }
        directory.queues.retain(|listed| listed.number != queue);
        self.set_directory(directory);
        self.remove_count(&keys::state(queue));
        Ok(true)
    }
}

pub(super) fn count(many: usize) -> u64 {
    u64::try_from(many).unwrap_or(u64::MAX)
}

#[cold]
#[cfg(not(feature = "queue"))]
fn without_feature() -> Error {
    Error::new(ErrorKind::Unsupported).because("tasks of queues take the feature `queue`")
}
