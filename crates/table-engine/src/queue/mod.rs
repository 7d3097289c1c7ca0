//! Queues: durable messages of a type that serde knows, and the workers that deal with them.
//!
//! A message is sent, received, and completed. To receive it hides it from all other receivers for a while; if it is not
//! completed by then, it shows again. So each message is dealt with at least once, whichever process dies. What is done in
//! the transaction that completes the message ([`Egt::complete`](crate::typed::Egt::complete)) is done exactly once.
//!
//! The guide of `table-core` has a chapter on them.

pub(crate) mod asking;
mod moving;
mod opening;
pub(crate) mod receipts;
pub(crate) mod received;
pub(crate) mod sending;
pub(crate) mod worker;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use self::asking::{check_many, check_visibility, damaged};
pub use self::receipts::Posted;
pub use self::received::{Peeked, Received};
pub use self::sending::Message;
pub use self::worker::{Failure, Worker, Workers};
use crate::error::{Error, Result};
use crate::executor::{Queues, telemetry};
use crate::handle::tables::Tables;
use crate::messages::{Answer, QueueId, QueueOp, Task};
pub use crate::messages::{PopReceipt, QueueStats, StoredMessage};
use crate::telemetry::Messages as Counted;

/// How often a message may be received before it is set aside.
const DEQUEUES: u32 = 5;

/// How long a thread that waits looks away at first, and at most, from what other processes may have sent.
pub(crate) const LOOKS_AWAY: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];

/// What is attempted, as it follows "cannot " in an error.
pub(crate) const SEND: &str = "send to";
pub(crate) const RECEIVE: &str = "receive from";
pub(crate) const DELETE: &str = "delete from";

/// A queue of messages of one type; [`Store::queue`](crate::Tables::queue) gives it.
///
/// A handle is cheap to clone and may be shared between threads; several processes may use one queue.
///
/// ```
/// use std::time::Duration;
///
/// use serde::{Deserialize, Serialize};
/// use table_core::queue::Queue;
/// use table_core::Store;
///
/// #[derive(Serialize, Deserialize)]
/// struct Hire {
///     department: String,
///     id: u32,
/// }
///
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// let hires: Queue<Hire> = store.queue("hires")?;
/// hires.send(&Hire { department: "Sales".into(), id: 7 })?;
///
/// // Others don't see it for half a minute.
/// let hire = hires.receive(Duration::from_secs(30))?.unwrap();
/// assert_eq!((hire.id, hire.count()), (7, 1));
/// assert!(hires.receive(Duration::from_secs(30))?.is_none());
///
/// // Done: it is gone.
/// hire.delete()?;
/// assert_eq!(hires.stats()?.completed, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Queue<T> {
    store: Tables,
    name: Arc<str>,
    id: QueueId,
    dequeues: u32,
    json: Json<T>,
}

/// A type whose values are messages: serde writes and reads it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be the messages of a queue",
    label = "serde can't both write and read it",
    note = "derive `serde::Serialize` and `serde::Deserialize` for `{Self}`; a type of another crate may have them behind a feature `serde`"
)]
pub trait Messages: Serialize + DeserializeOwned {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned> Messages for T {}

/// How messages are written and read. Taken where the queue is opened, so that the compiler speaks of their type there, and
/// of no method.
struct Json<T> {
    write: fn(&T) -> Result<String>,
    read: fn(&str) -> Result<T>,
}

impl<T: Messages> Json<T> {
    const NEW: Self = Self { write: sending::text, read: asking::read };
}

impl Json<String> {
    /// No JSON: the texts themselves.
    const TEXT: Self = Self { write: sending::as_it_is, read: |text| Ok(text.to_owned()) };
}

impl<T> Clone for Json<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Json<T> {}

impl<T> Queue<T> {
    /// Returns the queue as one from which a message is set aside when it was received so often without being completed;
    /// usually 5 times. At least once.
    #[must_use]
    pub fn max_dequeues(self, dequeues: u32) -> Self {
        Self { dequeues: dequeues.max(1), ..self }
    }

    /// Returns the queue as one whose messages are their texts, as they are: what others have sent as JSON reads as its JSON, and
    /// what is sent need be none. So programs share a queue that know different types, or none.
    ///
    /// ```
    /// use table_core::Store;
    ///
    /// # let store = Store::temporary()?;
    /// let numbers = store.queue::<u32>("numbers")?;
    /// numbers.send(&42)?;
    /// let texts = numbers.into_text();
    /// texts.send(&"not a number".to_owned())?;
    /// let all: Vec<_> = texts.peek(2)?.into_iter().map(|text| text.into_inner()).collect();
    /// assert_eq!(all, ["42", "not a number"]);
    /// # Ok::<(), table_core::Error>(())
    /// ```
    #[must_use]
    pub fn into_text(self) -> Queue<String> {
        let Self { store, name, id, dequeues, .. } = self;
        Queue { store, name, id, dequeues, json: Json::TEXT }
    }

    /// Returns the queue's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how much it holds, and what has become of its messages so far. The counts are kept with every change.
    pub fn stats(&self) -> Result<QueueStats> {
        self.asked("read the counts of", |queues| queues.stats(self.id))
    }

    /// Lets no process receive anything until it is [resumed](Self::resume). Messages are sent, and those
    /// that are held are completed, as before.
    pub fn pause(&self) -> Result<()> {
        self.ask("pause", Task::Pause(true)).map(drop)
    }

    /// Takes a [pause](Self::pause) back.
    pub fn resume(&self) -> Result<()> {
        self.ask("resume", Task::Pause(false)).map(drop)
    }

    /// Removes every message that is there when it begins, those that are held as well; returns how many. It goes in steps,
    /// and others write in between.
    pub fn clear(&self) -> Result<u64> {
        let (mut all, mut first) = (0_u64, None);
        loop {
            let task = Task::Clear { below: first, most: crate::messages::MOST_AT_ONCE };
            let Answer::Cleared { gone, below, is_all } = self.ask("clear", task)? else {
                return Err(damaged());
            };
            all = all.saturating_add(gone);
            first = Some(below);
            if is_all {
                return Ok(all);
            }
        }
    }

    /// Returns the store that it is of.
    #[cfg(feature = "async")]
    pub(crate) fn store(&self) -> &Tables {
        &self.store
    }

    /// Returns what is asked of this queue.
    pub(crate) fn queue_ops(&self, tasks: Vec<Task>) -> Vec<QueueOp> {
        tasks.into_iter().map(|task| QueueOp { queue: self.id, name: None, task }).collect()
    }

    /// Asks one thing of the queue.
    fn ask(&self, attempted: &'static str, task: Task) -> Result<Answer> {
        self.ask_all(attempted, vec![task])?.pop().ok_or_else(damaged)
    }

    /// Asks several things of the queue, which are done as one.
    fn ask_all(&self, attempted: &'static str, tasks: Vec<Task>) -> Result<Vec<Answer>> {
        let queue_ops = self.queue_ops(tasks);
        let asked = Counted::asked(&queue_ops);
        self.asked(attempted, |queues| {
            let answers = queues.carry_out(queue_ops)?;
            telemetry::messages(&**self.store.backend(), || asked.answered(&answers));
            Ok(answers)
        })
    }

    fn asked<R>(&self, attempted: &'static str, ask: impl FnOnce(&dyn Queues) -> Result<R>) -> Result<R> {
        let store = &**self.store.backend();
        let asked = telemetry::in_queue(store, attempted, &self.name, || store.queues().and_then(ask));
        asked.map_err(|error| self.named(attempted, error))
    }

    #[cold]
    pub(crate) fn named(&self, attempted: &'static str, error: Error) -> Error {
        error.attempted(attempted).queue(&self.name)
    }
}

impl<T> Queue<T> {
    /// Sends a message; returns its number. When this returns, the message is on disk.
    pub fn send(&self, message: &T) -> Result<u64> {
        self.message(message).send().map(|(id, _)| id)
    }

    /// Sends a message that can't be received before so long.
    pub fn send_after(&self, message: &T, delay: Duration) -> Result<u64> {
        self.message(message).after(delay).send().map(|(id, _)| id)
    }

    /// Sends a message unless one of the same key is in the queue, waiting or being dealt with; whether it did.
    pub fn send_unique(&self, key: &str, message: &T) -> Result<bool> {
        self.message(message).unique(key).send().map(|(_, is_new)| is_new)
    }

    /// Sends up to 1,000 messages as one: all of them, or none. Returns their numbers.
    pub fn send_all<'m>(&self, messages: impl IntoIterator<Item = &'m T>) -> Result<Vec<u64>>
    where
        T: 'm,
    {
        let tasks = self.sends(messages)?;
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        sent(self.ask_all(SEND, tasks)?)
    }

    /// Returns what is asked to send these messages.
    pub(crate) fn sends<'m>(&self, messages: impl IntoIterator<Item = &'m T>) -> Result<Vec<Task>>
    where
        T: 'm,
    {
        let tasks = || {
            let sending = |message| Ok(Task::Send(self.message(message).sending()?));
            let tasks = messages.into_iter().map(sending).collect::<Result<Vec<_>>>()?;
            check_many(tasks.len())?;
            Ok(tasks)
        };
        tasks().map_err(|error| self.named(SEND, error))
    }

    /// Returns a message with more to say of it: when it shows, how long it lives, a unique key.
    pub fn message<'m>(&'m self, message: &'m T) -> Message<'m, T> {
        Message::new(self, message)
    }
}

impl<T> Queue<T> {
    /// Receives the next message, and hides it from other receivers for so long; `None` if there is none, or the queue is
    /// paused.
    ///
    /// Messages come in the order in which they were sent, as far as they are neither given back nor sent for later.
    /// Those are next when their time has come.
    pub fn receive(&self, visibility: Duration) -> Result<Option<Received<T>>> {
        self.receive_many(1, visibility).map(|mut received| received.pop())
    }

    /// Receives up to so many messages in one transaction, 1,000 at most.
    ///
    /// A message that is not of the queue's type is given back with that error, and set aside in the end as any other that
    /// is never completed. It is [`SchemaMismatch`](crate::ErrorKind::SchemaMismatch) only where nothing else was received.
    pub fn receive_many(&self, most: usize, visibility: Duration) -> Result<Vec<Received<T>>> {
        let task = self.receives(most, visibility)?;
        if most == 0 {
            return Ok(Vec::new());
        }
        let Answer::Received(deliveries) = self.ask(RECEIVE, task)? else { return Err(damaged()) };
        self.received(deliveries)
    }

    /// Returns what is asked to receive up to so many messages.
    pub(crate) fn receives(&self, most: usize, visibility: Duration) -> Result<Task> {
        let checked = check_many(most).and_then(|()| check_visibility(visibility));
        checked.map_err(|error| self.named(RECEIVE, error))?;
        Ok(Task::Receive { most, visibility, dequeues: self.dequeues })
    }

    /// Receives a message; if there is none, waits for one for so long at most.
    ///
    /// What this process sends is received at once. For what others send, and for what shows when its time has come, the
    /// queue is looked at again and again, every tenth of a second at the latest; a look takes no lock and writes nothing.
    pub fn wait(&self, timeout: Duration, visibility: Duration) -> Result<Option<Received<T>>> {
        self.wait_for(1, timeout, visibility).map(|mut received| received.pop())
    }

    /// Receives up to so many messages: those that are there as soon as one is. Waits for one for so long at most.
    pub fn wait_for(&self, most: usize, timeout: Duration, visibility: Duration) -> Result<Vec<Received<T>>> {
        let begun = Instant::now();
        let [mut looks_away, longest] = LOOKS_AWAY;
        loop {
            let seen = self.arrivals(0, Duration::ZERO)?;
            let received = self.receive_many(most, visibility)?;
            let left = timeout.saturating_sub(begun.elapsed());
            if !received.is_empty() || most == 0 || left.is_zero() {
                return Ok(received);
            }
            self.arrivals(seen, looks_away.min(left))?;
            looks_away = (looks_away * 2).min(longest);
        }
    }

    /// Returns the next messages that would be received, 1,000 at most: they stay where they are, and none is held.
    pub fn peek(&self, most: usize) -> Result<Vec<Peeked<T>>> {
        const PEEK: &str = "look into";
        check_many(most).map_err(|error| self.named(PEEK, error))?;
        let found = self.asked(PEEK, |queues| queues.peek(self.id, most))?;
        let peeked = found.into_iter().map(|delivery| {
            let read = (self.json.read)(&delivery.body);
            Ok(Peeked::new(delivery, read?))
        });
        peeked.collect::<Result<_>>().map_err(|error: Error| self.named(PEEK, error))
    }

    fn arrivals(&self, seen: u64, most: Duration) -> Result<u64> {
        self.asked("wait for", |queues| Ok(queues.arrivals(seen, most)))
    }
}

impl<T> Queue<T> {
    /// Deletes messages that were received from this queue, in one transaction; how many were still held. The others are
    /// gone already, or held by another receiver now.
    pub fn delete_all<'m>(&self, received: impl IntoIterator<Item = &'m Received<T>>) -> Result<usize>
    where
        T: 'm,
    {
        match self.deletes(received)? {
            Some(task) => self.deleted(&self.ask(DELETE, task)?),
            None => Ok(0),
        }
    }

    /// Returns what is asked to delete these messages; `None` if none of them is of this queue.
    pub(crate) fn deletes<'m>(
        &self,
        received: impl IntoIterator<Item = &'m Received<T>>,
    ) -> Result<Option<Task>>
    where
        T: 'm,
    {
        let of_this = received.into_iter().filter(|received| received.queue().id == self.id);
        let receipts: Vec<_> = of_this.map(Received::receipt).collect();
        check_many(receipts.len()).map_err(|error| self.named(DELETE, error))?;
        Ok((!receipts.is_empty()).then_some(Task::CompleteEach(receipts)))
    }

    /// Counts the messages that are deleted.
    pub(crate) fn deleted(&self, answer: &Answer) -> Result<usize> {
        let Answer::Each(each) = answer else { return Err(damaged()) };
        let gone = each.iter().flatten().count();
        telemetry::messages(&**self.store.backend(), || Counted::completed(gone));
        Ok(gone)
    }
}

/// Returns the numbers of messages that were sent.
pub(crate) fn sent(answers: Vec<Answer>) -> Result<Vec<u64>> {
    let sent = answers.into_iter().map(|answer| match answer {
        Answer::Sent { id, .. } => Ok(id),
        _ => Err(damaged()),
    });
    sent.collect()
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Self {
        let (store, name) = (self.store.clone(), self.name.clone());
        Self { store, name, id: self.id, dequeues: self.dequeues, json: self.json }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("name", &self.name).finish_non_exhaustive()
    }
}
