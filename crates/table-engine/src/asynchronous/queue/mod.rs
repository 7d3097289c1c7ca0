//! Queues, awaited.

mod asking;
mod receipts;
mod received;
mod sending;
mod stream;
mod waiting;
mod worker;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use self::asking::{ask, ask_all};
pub use self::received::AsyncReceived;
pub use self::sending::AsyncMessage;
pub use self::stream::MessageStream;
use self::waiting::Looks;
pub use self::worker::AsyncWorker;
use super::{AsyncTables, Reads, pool};
use crate::error::Result;
use crate::messages::{Answer, MOST_AT_ONCE, Task};
use crate::queue::asking::damaged;
use crate::queue::{DELETE, Messages, Peeked, Queue, QueueStats, RECEIVE, SEND, sent};

/// A queue of messages of one type, whose calls are awaited; [`AsyncTables::queue`] gives it.
///
/// It has the methods of [`Queue`], with two differences: [`receive`](Self::receive) waits for a message, and
/// [`try_receive`](Self::try_receive) does not. A task that waits costs no thread.
///
/// What is asked of it is given to the store as [writes](crate::asynchronous) are. A future that is dropped before the store has
/// it asks for nothing; later, it is carried out all the same. What a future would have received that is dropped is given back at
/// once, and not counted as received: so it may be one of the branches of a `select!`, or have a time limit.
///
/// It derefs to the [`Queue`], so that [`AsyncEgt::send`](super::AsyncEgt::send) takes it. A handle is cheap to clone, and may be
/// shared between tasks.
///
/// ```
/// use std::time::Duration;
///
/// use serde::{Deserialize, Serialize};
/// use table_core::Store;
/// use table_core::asynchronous::{AsyncQueue, block_on};
///
/// #[derive(Serialize, Deserialize)]
/// struct Hire {
///     department: String,
///     id: u32,
/// }
///
/// # block_on(async {
/// let store = Store::temporary()?.to_async();
/// let hires: AsyncQueue<Hire> = store.queue("hires").await?;
/// hires.send(&Hire { department: "Sales".into(), id: 7 }).await?;
///
/// // Waits until there is one. Others don't see it for half a minute.
/// let hire = hires.receive(Duration::from_secs(30)).await?;
/// assert_eq!((hire.id, hire.count()), (7, 1));
/// assert!(hires.try_receive(Duration::from_secs(30)).await?.is_none());
///
/// // Done: it is gone.
/// hire.delete().await?;
/// assert_eq!(hires.stats().await?.completed, 1);
/// # Ok::<(), table_core::Error>(())
/// # }).unwrap();
/// ```
pub struct AsyncQueue<T> {
    queue: Queue<T>,
    reads: Reads,
    /// When one of the tasks that wait has looked last: of the clones of a handle.
    looks: Arc<Looks>,
}

impl<T> Queue<T> {
    /// Returns the queue with calls that are awaited.
    #[must_use]
    pub fn to_async(&self) -> AsyncQueue<T> {
        AsyncQueue { queue: self.clone(), reads: Reads::Inline, looks: Arc::default() }
    }
}

impl AsyncTables {
    /// Returns the queue of this name, made if there is none; see [`Tables::queue`](crate::Tables::queue).
    pub async fn queue<T: Messages + 'static>(&self, name: &str) -> Result<AsyncQueue<T>> {
        let name = name.to_owned();
        let queue = self.run(move |tables| tables.queue(&name)).await?;
        Ok(self.awaited(queue))
    }

    /// Returns the queue of this name; `None` if there is none. See [`Tables::find_queue`](crate::Tables::find_queue).
    pub async fn find_queue<T: Messages + 'static>(&self, name: &str) -> Result<Option<AsyncQueue<T>>> {
        let name = name.to_owned();
        let found = self.run(move |tables| tables.find_queue(&name)).await?;
        Ok(found.map(|queue| self.awaited(queue)))
    }

    /// Makes a queue of this name, unless there is one; see [`Tables::create_queue`](crate::Tables::create_queue).
    pub async fn create_queue<T: Messages + 'static>(&self, name: &str) -> Result<(AsyncQueue<T>, bool)> {
        let name = name.to_owned();
        let (queue, is_new) = self.run(move |tables| tables.create_queue(&name)).await?;
        Ok((self.awaited(queue), is_new))
    }

    fn awaited<T>(&self, queue: Queue<T>) -> AsyncQueue<T> {
        AsyncQueue { queue, reads: self.reading(), looks: Arc::default() }
    }

    /// Returns the names of all queues, in alphabetical order.
    pub async fn queues(&self) -> Result<Vec<String>> {
        self.run(crate::Tables::queues).await
    }

    /// Drops a queue with all its messages; see [`Tables::drop_queue`](crate::Tables::drop_queue).
    pub async fn drop_queue(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        self.run(move |tables| tables.drop_queue(&name)).await
    }
}

impl<T> AsyncQueue<T> {
    /// Returns the queue with calls that block.
    pub fn blocking(&self) -> &Queue<T> {
        &self.queue
    }

    /// Returns the queue as one from which a message is set aside when it was received so often without being completed; see
    /// [`Queue::max_dequeues`].
    #[must_use]
    pub fn max_dequeues(self, dequeues: u32) -> Self {
        Self { queue: self.queue.max_dequeues(dequeues), ..self }
    }

    /// Returns the queue as one whose messages are their texts, as they are; see [`Queue::into_text`].
    #[must_use]
    pub fn into_text(self) -> AsyncQueue<String> {
        let Self { queue, reads, looks } = self;
        AsyncQueue { queue: queue.into_text(), reads, looks }
    }

    /// Returns the queue's name.
    pub fn name(&self) -> &str {
        self.queue.name()
    }

    /// Lets no process receive anything until it is [resumed](Self::resume); what waits for a message waits on.
    pub async fn pause(&self) -> Result<()> {
        ask(&self.queue, "pause", Task::Pause(true)).await.map(drop)
    }

    /// Takes a [pause](Self::pause) back.
    pub async fn resume(&self) -> Result<()> {
        ask(&self.queue, "resume", Task::Pause(false)).await.map(drop)
    }

    /// Removes every message that is there when it begins, those that are held as well; returns how many. It goes in steps:
    /// dropped in between, it has removed some.
    pub async fn clear(&self) -> Result<u64> {
        let (mut all, mut first) = (0_u64, None);
        loop {
            let task = Task::Clear { below: first, most: MOST_AT_ONCE };
            let Answer::Cleared { gone, below, is_all } = ask(&self.queue, "clear", task).await? else {
                return Err(damaged());
            };
            all = all.saturating_add(gone);
            first = Some(below);
            if is_all {
                return Ok(all);
            }
        }
    }

    /// Returns how much it holds, and what has become of its messages so far.
    pub async fn stats(&self) -> Result<QueueStats>
    where
        T: 'static,
    {
        self.read(Queue::stats).await
    }

    /// Returns the next messages that would be received, 1,000 at most: they stay where they are, and none is held.
    pub async fn peek(&self, most: usize) -> Result<Vec<Peeked<T>>>
    where
        T: Send + 'static,
    {
        self.read(move |queue| queue.peek(most)).await
    }

    async fn read<R: Send + 'static>(
        &self,
        read: impl FnOnce(&Queue<T>) -> Result<R> + Send + 'static,
    ) -> Result<R>
    where
        T: 'static,
    {
        match self.reads {
            Reads::Inline => read(&self.queue),
            Reads::Spawned => {
                let queue = self.queue.clone();
                pool::run(move || read(&queue)).await
            }
        }
    }
}

impl<T> AsyncQueue<T> {
    /// Sends a message; returns its number. When this returns, the message is on disk.
    pub async fn send(&self, message: &T) -> Result<u64> {
        self.message(message).send().await.map(|(id, _)| id)
    }

    /// Sends a message that can't be received before so long.
    pub async fn send_after(&self, message: &T, delay: Duration) -> Result<u64> {
        self.message(message).after(delay).send().await.map(|(id, _)| id)
    }

    /// Sends a message unless one of the same key is in the queue, waiting or being dealt with; whether it did.
    pub async fn send_unique(&self, key: &str, message: &T) -> Result<bool> {
        self.message(message).unique(key).send().await.map(|(_, is_new)| is_new)
    }

    /// Sends up to 1,000 messages as one: all of them, or none. Returns their numbers.
    pub async fn send_all<'m>(&self, messages: impl IntoIterator<Item = &'m T>) -> Result<Vec<u64>>
    where
        T: 'm,
    {
        let tasks = self.queue.sends(messages)?;
        if tasks.is_empty() {
            return Ok(Vec::new());
        }
        sent(ask_all(&self.queue, SEND, tasks).await?)
    }

    /// Returns a message with more to say of it: when it shows, how long it lives, a unique key.
    pub fn message<'m>(&'m self, message: &'m T) -> AsyncMessage<'m, T> {
        AsyncMessage::new(&self.queue, message)
    }
}

impl<T> AsyncQueue<T> {
    /// Receives the next message if there is one, and hides it from other receivers for so long; `None` if there is none, or the
    /// queue is paused.
    pub async fn try_receive(&self, visibility: Duration) -> Result<Option<AsyncReceived<T>>> {
        self.try_receive_many(1, visibility).await.map(|mut received| received.pop())
    }

    /// Receives up to so many messages in one transaction, 1,000 at most; see [`Queue::receive_many`].
    pub async fn try_receive_many(&self, most: usize, visibility: Duration) -> Result<Vec<AsyncReceived<T>>> {
        let task = self.queue.receives(most, visibility)?;
        if most == 0 {
            return Ok(Vec::new());
        }
        let Answer::Received(deliveries) = ask(&self.queue, RECEIVE, task).await? else {
            return Err(damaged());
        };
        received::read(&self.queue, deliveries)
    }

    /// Deletes messages that were received from this queue, in one transaction; how many were still held. The others are
    /// gone already, or held by another receiver now.
    pub async fn delete_all<'m>(
        &self,
        received: impl IntoIterator<Item = &'m AsyncReceived<T>>,
    ) -> Result<usize>
    where
        T: 'm,
    {
        match self.queue.deletes(received.into_iter().map(AsyncReceived::blocking))? {
            Some(task) => self.queue.deleted(&ask(&self.queue, DELETE, task).await?),
            None => Ok(0),
        }
    }
}

/// The queue, for transactions that send to it. What else it has is here as well, awaited.
impl<T> Deref for AsyncQueue<T> {
    type Target = Queue<T>;

    fn deref(&self) -> &Queue<T> {
        &self.queue
    }
}

impl<T> Clone for AsyncQueue<T> {
    fn clone(&self) -> Self {
        Self { queue: self.queue.clone(), reads: self.reads, looks: self.looks.clone() }
    }
}

impl<T> fmt::Debug for AsyncQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncQueue").field("name", &self.name()).finish_non_exhaustive()
    }
}
