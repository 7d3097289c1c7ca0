//! What is asked of a queue, and what it answers.

use std::sync::Arc;
use std::time::Duration;

use super::receipt::{ByReceipt, PopReceipt};
use crate::model::Ticks;

/// Which queue, of which store: the executor's meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QueueId {
    /// The opened store.
    pub store: u64,
    /// The queue's number there.
    pub number: u32,
}

/// A message that is to be sent.
#[derive(Clone, Debug)]
pub struct Sending {
    /// It as JSON.
    pub body: Arc<str>,
    /// How long it is hidden first.
    pub after: Duration,
    /// How long it lives, if not for ever.
    pub lives: Option<Duration>,
    /// A key that no other message of the queue has, or this one is not sent.
    pub unique: Option<Arc<str>>,
    /// What became of it in the queue that it is copied from.
    pub history: Option<History>,
}

/// What became of a message in the queue that it is copied from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// When it was sent there.
    pub sent: Ticks,
    /// How often it was received there.
    pub count: u32,
    /// Why it was given back last, or set aside; empty if no reason was given.
    pub error: Box<str>,
}

/// By what a message is held that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The message.
    pub id: u64,
    /// How often it had been received then.
    pub delivery: u32,
    /// Until when it is hidden. It is for the receiver to know, and no check compares it.
    pub until: Ticks,
}

/// How a message is given back.
#[derive(Clone, Debug, Default)]
pub struct Release {
    /// How long it stays hidden.
    pub delay: Duration,
    /// Why, to be kept with it.
    pub error: Option<Arc<str>>,
    /// Whether no handler has tried it: then it does not count as received.
    pub is_untried: bool,
    /// It is set aside if it was received so often.
    pub dequeues: u32,
}

/// What is asked of a queue.
#[derive(Clone, Debug)]
pub enum Task {
    /// A message comes.
    Send(Sending),
    /// A message that is held goes.
    Complete(Receipt),
    /// Those that are still held go.
    CompleteEach(Vec<Receipt>),
    /// A message that is held stays hidden for so long from now on.
    Extend(Receipt, Duration),
    /// Those that are still held stay hidden for so long from now on.
    ExtendEach(Vec<Receipt>, Duration),
    /// A message that is held says something else from now on, and stays hidden for so long.
    Update(Receipt, Arc<str>, Duration),
    /// A message that is held is given back.
    Release(Receipt, Release),
    /// A message comes, and its sender gets what a receiver would get of it, so that he may still speak of it.
    Post(Sending),
    /// Something is done with a message by a receipt that has been text in between.
    ByReceipt(PopReceipt, ByReceipt),
    /// Messages are received.
    Receive {
        /// At most so many.
        most: usize,
        /// How long they are hidden.
        visibility: Duration,
        /// A message that was received so often already is set aside.
        dequeues: u32,
    },
    /// Nothing can be received, or all can be again.
    Pause(bool),
    /// Messages that were there before the one of this id go, so many at most.
    Clear {
        /// The first that stays; `None` for all that are there now.
        below: Option<u64>,
        /// So many at most.
        most: usize,
    },
}

/// What is asked of which queue.
#[derive(Clone, Debug)]
pub struct QueueOp {
    /// The queue.
    pub queue: QueueId,
    /// Its name, for the errors of those who are not asked by a handle of it.
    pub name: Option<Arc<str>>,
    /// What is asked.
    pub task: Task,
}

/// A message as it is received, or looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// By what it is held.
    pub receipt: Receipt,
    /// How often it has been received.
    pub count: u32,
    /// When it was sent.
    pub sent: Ticks,
    /// When it ends, if it does.
    pub expires: Option<Ticks>,
    /// Why it was given back last.
    pub error: Option<Box<str>>,
    /// It as JSON.
    pub body: Box<str>,
}

/// What a queue answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The message that was sent, or that has its unique key already.
    Sent {
        /// The message.
        id: u64,
        /// Whether it was sent.
        is_new: bool,
    },
    /// The message that was posted; `None` if another has its unique key already.
    Posted(Option<Delivery>),
    /// It is done.
    Done,
    /// The message is held by this from now on.
    Held(Receipt),
    /// By what each message is held from now on; `None` for those that were held no more.
    Each(Vec<Option<Receipt>>),
    /// The messages that were received.
    Received(Vec<Delivery>),
    /// How many messages went, the first that stays, and whether all before it are gone.
    Cleared {
        /// How many.
        gone: u64,
        /// The first that stays.
        below: u64,
        /// Whether all before it are gone.
        is_all: bool,
    },
}

/// How much a queue holds, and what has become of its messages so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// The queue's name.
    pub name: String,
    /// Messages that may be received now; those among them whose time is over count until a receive comes to them.
    pub ready: u64,
    /// Messages that are hidden: held by a receiver, given back for later, or sent for later.
    pub hidden: u64,
    /// Bytes of all messages, as JSON.
    pub bytes: u64,
    /// Messages with a unique key.
    pub unique: u64,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Messages that were ever sent to it.
    pub sent: u64,
    /// Messages that were completed.
    pub completed: u64,
    /// Messages that were received too often, and set aside.
    pub poisoned: u64,
    /// Messages that were removed because their time was over.
    pub expired: u64,
    /// Since when the first of those that were not hidden is ready. The time since then is how far workers lag behind.
    pub oldest_ready: Option<Ticks>,
}
