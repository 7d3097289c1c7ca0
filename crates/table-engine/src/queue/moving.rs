//! Messages as they stand in a queue, and put into another one so.

use std::ops::ControlFlow;
use std::time::Duration;

use super::asking::{check_many, check_text, damaged};
use super::{Queue, SEND};
use crate::error::{Error, Result};
use crate::messages::{Answer, History, LONGEST_DELAY, Sending, StoredMessage, Task};
use crate::model::Ticks;

const LIST: &str = "list the messages of";

impl<T> Queue<T> {
    /// Gives each message of the queue, those that are hidden or held by a receiver too, in the order in which they would be
    /// received, until `each` says that it has enough. They stay where they are, and are all of one moment: a snapshot is held
    /// until this returns. Those whose time is over are left out.
    ///
    /// A store that can't list messages that are hidden answers [`Unsupported`](crate::ErrorKind::Unsupported).
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use std::time::Duration;
    ///
    /// use table_core::Store;
    ///
    /// # let (here, there) = (Store::temporary()?, Store::temporary()?);
    /// let hires = here.queue::<u32>("hires")?;
    /// hires.send(&7)?;
    /// hires.send_after(&8, Duration::from_secs(3_600))?;
    ///
    /// let mut all = Vec::new();
    /// hires.stored(|message| {
    ///     all.push(message);
    ///     Ok(ControlFlow::Continue(()))
    /// })?;
    /// let copies = there.queue::<u32>("hires")?;
    /// assert_eq!(copies.restore(&all)?, 2);
    /// assert_eq!((copies.stats()?.ready, copies.stats()?.hidden), (1, 1));
    /// # Ok::<(), table_core::Error>(())
    /// ```
    pub fn stored(&self, mut each: impl FnMut(StoredMessage) -> Result<ControlFlow<()>>) -> Result<()> {
        self.asked(LIST, |queues| queues.stored(self.id, &mut each))
    }

    /// Sends up to 1,000 messages as they stand in another queue, all of them or none: for as long as they still were to be
    /// hidden and to live there, with their unique keys, and with what became of them so far. Returns how many were sent, which
    /// are all but those whose unique key a message of this queue has.
    pub fn restore(&self, messages: &[StoredMessage]) -> Result<usize> {
        if messages.is_empty() {
            return Ok(0);
        }
        let now = Ticks::now();
        let tasks = || {
            check_many(messages.len())?;
            let task = |message| Ok(Task::Send(sending(message, now)?));
            messages.iter().map(task).collect::<Result<Vec<_>>>()
        };
        let tasks = tasks().map_err(|error: Error| self.named(SEND, error))?;
        let mut sent = 0;
        for answer in self.ask_all(SEND, tasks)? {
            let Answer::Sent { is_new, .. } = answer else { return Err(damaged()) };
            sent += usize::from(is_new);
        }
        Ok(sent)
    }
}

/// Returns what is asked to send a message as it stands at a time.
fn sending(message: &StoredMessage, now: Ticks) -> Result<Sending> {
    check_text(&message.text, "in the other queue")?;
    let after = message.hidden_until.map_or(Duration::ZERO, |until| left(until, now)).min(LONGEST_DELAY);
    let history = History {
        sent: message.sent,
        count: message.count,
        error: message.error.clone().unwrap_or_default(),
    };
    Ok(Sending {
        body: message.text.as_ref().into(),
        after,
        lives: message.expires.map(|expires| left(expires, now)),
        unique: message.unique.as_deref().map(Into::into),
        history: Some(history),
    })
}

/// Returns how long a time is away; nothing if it has come.
fn left(time: Ticks, now: Ticks) -> Duration {
    time.saturating_since(now)
}
