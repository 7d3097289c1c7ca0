//! Messages as they are received, or looked at.

use std::fmt;
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::asking::{check_hidden, check_visibility, damaged};
use super::worker::growing;
use super::{DELETE, Queue, RECEIVE};
use crate::error::{Error, ErrorKind, Result};
use crate::messages::{Answer, Delivery, QueueOp, Receipt, Release, Task};
use crate::model::Ticks;

/// What is attempted, as it follows "cannot " in an error.
pub(crate) const EXTEND: &str = "extend a message of";
pub(crate) const RELEASE: &str = "give a message back to";
pub(crate) const UPDATE: &str = "update a message of";
pub(crate) const NEXT: &str = "go on to the next message of";

/// A message that was received, and is held: no other receiver gets it until its time is over.
///
/// It is the message's value (it derefs to it) with what is known of the message. Dropping it does nothing: the message
/// shows again when its time is over. A receiver that holds a message no more, since it was hidden for too short a time or
/// given back, is refused by [`StaleReceipt`](crate::ErrorKind::StaleReceipt), and nothing happens.
pub struct Received<T> {
    queue: Queue<T>,
    value: T,
    known: MessageMeta,
    receipt: Mutex<Receipt>,
}

/// A message that was looked at, which does not hold it.
pub struct Peeked<T> {
    value: T,
    known: MessageMeta,
}

/// What is known of a message besides its value.
struct MessageMeta {
    id: u64,
    count: u32,
    sent: Ticks,
    expires: Option<Ticks>,
    error: Option<Box<str>>,
}

impl MessageMeta {
    fn of(delivery: Delivery) -> Self {
        let Delivery { receipt, count, sent, expires, error, .. } = delivery;
        Self { id: receipt.id, count, sent, expires, error }
    }
}

impl<T> Received<T> {
    /// Returns the message's number, which no other of its queue has or had.
    pub fn id(&self) -> u64 {
        self.known.id
    }

    /// Returns how often it has been received, this time included.
    pub fn count(&self) -> u32 {
        self.known.count
    }

    /// Returns when it was sent.
    pub fn sent(&self) -> Ticks {
        self.known.sent
    }

    /// Returns the time at which it is gone if it was not received; `None` if it stays for ever.
    pub fn expires(&self) -> Option<Ticks> {
        self.known.expires
    }

    /// Returns the time until which no other receiver gets it.
    pub fn hidden_until(&self) -> Ticks {
        self.receipt().until
    }

    /// Returns why it was given back last, or set aside.
    pub fn last_error(&self) -> Option<&str> {
        self.known.error.as_deref()
    }

    /// Returns its value by itself. The message stays held, and nothing can be done with it any more.
    pub fn into_inner(self) -> T {
        self.value
    }

    /// Completes the message: it is gone.
    #[doc(alias = "complete")]
    pub fn delete(&self) -> Result<()> {
        self.ask(DELETE, self.completes()).map(drop)
    }

    /// Hides it for so long from now on.
    pub fn extend(&self, visibility: Duration) -> Result<()> {
        self.hold_by_answer(&self.ask(EXTEND, self.extends(visibility)?)?)
    }

    /// Gives it back: it shows after so long. It stays counted as received, and is set aside if that was the last time.
    pub fn release(&self, delay: Duration) -> Result<()> {
        self.give_back(Release { delay, ..Release::default() })
    }

    /// Gives it back, and says why: the error stays with the message, in the clear, up to 1,024 bytes of it. The next receiver
    /// of the message can [ask](Self::last_error) for it, and it goes to the poison queue with the message.
    pub fn fail(&self, error: impl fmt::Display, delay: Duration) -> Result<()> {
        self.give_back(Release { delay, error: Some(error.to_string().into()), ..Release::default() })
    }

    fn give_back(&self, release: Release) -> Result<()> {
        self.ask(RELEASE, self.releases(release)?).map(drop)
    }

    /// Returns what is asked to complete it.
    pub(crate) fn completes(&self) -> Task {
        Task::Complete(self.receipt())
    }

    /// Returns what is asked to hide it for so long.
    pub(crate) fn extends(&self, visibility: Duration) -> Result<Task> {
        check_visibility(visibility).map_err(|error| self.queue.named(EXTEND, error))?;
        Ok(Task::Extend(self.receipt(), visibility))
    }

    /// Returns what is asked to give it back.
    pub(crate) fn releases(&self, release: Release) -> Result<Task> {
        check_hidden(release.delay).map_err(|error| self.queue.named(RELEASE, error))?;
        Ok(Task::Release(self.receipt(), Release { dequeues: self.queue.dequeues, ..release }))
    }

    /// Returns what is asked to have it say something else.
    pub(crate) fn updates(&self, value: &T, visibility: Duration) -> Result<Task> {
        let text = check_visibility(visibility).and_then(|()| (self.queue.json.write)(value));
        let text = text.map_err(|error| self.queue.named(UPDATE, error))?;
        Ok(Task::Update(self.receipt(), text.into(), visibility))
    }

    /// Holds it by what the queue has answered.
    pub(crate) fn hold_by_answer(&self, answer: &Answer) -> Result<()> {
        let Answer::Held(receipt) = answer else { return Err(damaged()) };
        self.hold_by(*receipt);
        Ok(())
    }

    /// Takes note that it says this from now on.
    pub(crate) fn set_value(&mut self, value: T) {
        self.value = value;
    }

    pub(crate) fn queue(&self) -> &Queue<T> {
        &self.queue
    }

    pub(super) fn receipt(&self) -> Receipt {
        *self.receipt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn hold_by(&self, receipt: Receipt) {
        *self.receipt.lock().unwrap_or_else(PoisonError::into_inner) = receipt;
    }

    /// Returns the operation that completes it in a transaction.
    pub(crate) fn queue_op(&self) -> QueueOp {
        let (queue, name) = (self.queue.id, Some(self.queue.name.clone()));
        QueueOp { queue, name, task: Task::Complete(self.receipt()) }
    }

    fn ask(&self, attempted: &'static str, task: Task) -> Result<Answer> {
        self.queue.ask(attempted, task)
    }
}

impl<T> Received<T> {
    /// Has the message say something else from now on, and hides it for so long. A job of several steps notes so how far
    /// it has come: the next receiver of the message goes on from there.
    pub fn update(&mut self, value: T, visibility: Duration) -> Result<()> {
        self.hold_by_answer(&self.ask(UPDATE, self.updates(&value, visibility)?)?)?;
        self.set_value(value);
        Ok(())
    }
}

impl<T> Received<T> {
    /// Completes the message and receives the next one, in one transaction: half of what it costs one after the other.
    /// `None` if there is none, or if the next one is not of the queue's type, which is then given back.
    pub fn complete_and_receive(&self, visibility: Duration) -> Result<Option<Self>> {
        let queue = &self.queue;
        let answers = queue.ask_all(NEXT, self.completes_and_receives(visibility)?)?;
        match answers.into_iter().next_back() {
            Some(Answer::Received(deliveries)) => match queue.received(deliveries) {
                // The message is completed, whatever the next one is.
                Err(error) if error.kind() == ErrorKind::SchemaMismatch => Ok(None),
                received => received.map(|mut next| next.pop()),
            },
            _ => Err(damaged()),
        }
    }
}

impl<T> Received<T> {
    /// Returns what is asked to complete it and to receive the next message.
    pub(crate) fn completes_and_receives(&self, visibility: Duration) -> Result<Vec<Task>> {
        let queue = &self.queue;
        check_visibility(visibility).map_err(|error| queue.named(NEXT, error))?;
        let receive = Task::Receive { most: 1, visibility, dequeues: queue.dequeues };
        Ok(vec![self.completes(), receive])
    }
}

/// Messages as they come out of a queue.
pub(crate) struct ReadDeliveries<T> {
    pub(crate) received: Vec<Received<T>>,
    /// What gives back those that are not of the queue's type, one by one.
    pub(crate) give_back: Vec<Task>,
    wrong: Option<Error>,
}

impl<T> ReadDeliveries<T> {
    /// Returns the messages, or the error if none is of the queue's type.
    pub(crate) fn messages(self, queue: &Queue<T>) -> Result<Vec<Received<T>>> {
        match self.wrong {
            Some(error) if self.received.is_empty() => Err(queue.named(RECEIVE, error)),
            _ => Ok(self.received),
        }
    }
}

impl<T> Queue<T> {
    /// Messages as they are received. One that is not of this type is given back with that error.
    pub(super) fn received(&self, deliveries: Vec<Delivery>) -> Result<Vec<Received<T>>> {
        let mut read = self.read(deliveries);
        for task in read.give_back.drain(..) {
            // Whether that succeeds or not, it is the message that is spoken of.
            drop(self.ask(RECEIVE, task));
        }
        read.messages(self)
    }

    /// Reads messages.
    pub(crate) fn read(&self, deliveries: Vec<Delivery>) -> ReadDeliveries<T> {
        let received = Vec::with_capacity(deliveries.len());
        let mut read = ReadDeliveries { received, give_back: Vec::new(), wrong: None };
        for delivery in deliveries {
            match (self.json.read)(&delivery.body) {
                Ok(value) => read.received.push(Received::new(self.clone(), value, delivery)),
                Err(error) => {
                    let text: String = error.to_string();
                    let release = Release {
                        delay: growing(delivery.count),
                        error: Some(text.into()),
                        is_untried: false,
                        dequeues: self.dequeues,
                    };
                    read.give_back.push(Task::Release(delivery.receipt, release));
                    read.wrong.get_or_insert(error);
                }
            }
        }
        read
    }
}

impl<T> Received<T> {
    fn new(queue: Queue<T>, value: T, delivery: Delivery) -> Self {
        let receipt = Mutex::new(delivery.receipt);
        Self { queue, value, known: MessageMeta::of(delivery), receipt }
    }
}

impl<T> Peeked<T> {
    pub(super) fn new(delivery: Delivery, value: T) -> Self {
        Self { value, known: MessageMeta::of(delivery) }
    }

    /// Returns the message's number.
    pub fn id(&self) -> u64 {
        self.known.id
    }

    /// Returns how often it has been received.
    pub fn count(&self) -> u32 {
        self.known.count
    }

    /// Returns when it was sent.
    pub fn sent(&self) -> Ticks {
        self.known.sent
    }

    /// Returns the time at which it is gone if it was not received; `None` if it stays for ever.
    pub fn expires(&self) -> Option<Ticks> {
        self.known.expires
    }

    /// Returns why it was given back last, or set aside.
    pub fn last_error(&self) -> Option<&str> {
        self.known.error.as_deref()
    }

    /// Returns its value by itself.
    pub fn into_inner(self) -> T {
        self.value
    }
}

impl<T> Deref for Received<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Deref for Peeked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Received<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Received");
        shown.field("queue", &self.queue.name()).field("id", &self.id()).field("count", &self.count());
        shown.field("value", &self.value).finish_non_exhaustive()
    }
}

impl<T: fmt::Debug> fmt::Debug for Peeked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Peeked");
        shown.field("id", &self.id()).field("count", &self.count());
        shown.field("value", &self.value).finish_non_exhaustive()
    }
}
