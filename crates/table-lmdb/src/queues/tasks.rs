//! What users ask of queues, done in the overlay one after another.

use std::time::Duration;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::{
    Answer, Delivery, Entry, Fate, Message, Receipt, Release, Sending, StoredMessage, Task, keys, name,
};
use table_engine::model::Ticks;

use super::overlay::QueueOverlay;
use super::view;
use super::work::{Among, FoundMessage, Outcome, STRETCH, Work};

/// Messages whose time is over, or which are set aside, that one call removes besides those that it receives.
const MOST_REMOVED: usize = 256;

/// The entry of a message that its holder speaks of.
pub(super) struct HeldEntry {
    pub(super) id: u64,
    pub(super) entry: Entry,
    pub(super) record: Vec<u8>,
}

impl QueueOverlay<'_> {
    /// Does what a user asks.
    pub(super) fn carry_out_task(&mut self, work: &Work) -> Result<Outcome> {
        match work {
            Work::Task(queue, task) => self.task(*queue, task).map(Outcome::Answer),
            Work::Create(name) => self.create(name).map(|(number, is_new)| Outcome::Queue(number, is_new)),
            Work::Bury(name) => self.mark_dropped(name).map(|number| Outcome::Queue(number, false)),
            work => self.carry_out(work),
        }
    }

    fn task(&mut self, queue: u32, task: &Task) -> Result<Answer> {
        // A queue that was dropped is refused, whatever is asked.
        self.state(queue)?;
        match task {
            Task::Send(sending) => self.send(queue, sending),
            Task::Post(sending) => self.post(queue, sending).map(Answer::Posted),
            Task::ByReceipt(receipt, what) => self.by_receipt(queue, receipt, what),
            Task::Complete(receipt) => self.complete(queue, *receipt).map(|()| Answer::Done),
            Task::CompleteEach(receipts) => {
                self.each(receipts, |overlay, receipt| overlay.complete(queue, receipt).map(|()| receipt))
            }
            Task::Extend(receipt, visibility) => self.extend(queue, *receipt, *visibility).map(Answer::Held),
            Task::ExtendEach(receipts, visibility) => {
                self.each(receipts, |overlay, receipt| overlay.extend(queue, receipt, *visibility))
            }
            Task::Update(receipt, text, visibility) => {
                self.update(queue, *receipt, text)?;
                self.extend(queue, *receipt, *visibility).map(Answer::Held)
            }
            Task::Release(receipt, release) => self.release(queue, *receipt, release).map(|()| Answer::Done),
            Task::Receive { most, visibility, dequeues } => {
                self.receive(queue, *most, *visibility, *dequeues).map(Answer::Received)
            }
            Task::Pause(is_paused) => {
                self.state(queue)?.is_paused = *is_paused;
                Ok(Answer::Done)
            }
            Task::Clear { below, most } => {
                let below = below.unwrap_or(self.state(queue)?.next);
                let gone = self.clear(queue, below, *most)?;
                Ok(Answer::Cleared { gone: gone.0, below, is_all: gone.1 })
            }
        }
    }

    /// Does the same with each of several messages; those that are held no more are left as they are.
    fn each(
        &mut self,
        receipts: &[Receipt],
        one: impl Fn(&mut Self, Receipt) -> Result<Receipt>,
    ) -> Result<Answer> {
        let each = receipts.iter().map(|receipt| match one(self, *receipt) {
            Ok(receipt) => Ok(Some(receipt)),
            Err(error) if error.kind() == ErrorKind::StaleReceipt => Ok(None),
            Err(error) => Err(error),
        });
        Ok(Answer::Each(each.collect::<Result<_>>()?))
    }

    pub(super) fn send(&mut self, queue: u32, sending: &Sending) -> Result<Answer> {
        if let Some(unique) = &sending.unique {
            let key = keys::unique(queue, unique);
            let number = |body: &[u8]| body.try_into().ok().map(u64::from_le_bytes);
            if let Some(id) = self.read(&key, number)? {
                return Ok(Answer::Sent { id, is_new: false });
            }
        }
        let clock = self.at.clock;
        let state = self.state(queue)?;
        let id = state.next;
        state.next = id.wrapping_add(1);
        state.totals.sent = state.totals.sent.wrapping_add(1);
        let expires = sending.lives.map(|lives| clock.now.checked_add(lives).unwrap_or(Ticks::MAX));
        let unique = sending.unique.as_deref();
        let (mut sent, mut entry) = (clock.store, Entry::sent(clock, sending.after));
        if let Some(history) = &sending.history {
            sent = history.sent;
            entry = entry.with_history(history);
        }
        self.add_message(queue, id, &Message { sent, expires, unique, text: &sending.body })?;
        self.add_entry(queue, id, &entry)?;
        Ok(Answer::Sent { id, is_new: true })
    }

    /// Returns the entry of a message that is held by this receipt.
    fn held(&self, queue: u32, receipt: Receipt) -> Result<(Entry, Vec<u8>)> {
        let key = keys::lease(queue, receipt.id);
        let Some(record) = self.find(&key)? else { return Err(self.stale(queue, receipt)) };
        let entry = Entry::hidden(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        if !entry.is_held_by(receipt) {
            return Err(self.stale(queue, receipt));
        }
        Ok((entry, record.into_owned()))
    }

    /// Returns why a receipt holds nothing.
    #[cold]
    fn stale(&self, queue: u32, receipt: Receipt) -> Error {
        let id = receipt.id;
        let because = match self.find(&keys::message(queue, id)) {
            Err(error) => return error,
            Ok(None) => format!("message {id} is gone: somebody has completed or cleared it"),
            Ok(Some(_)) => format!(
                "message {id} is held no more: it was given back, or hidden for too short a time, and somebody else may \
                 have received it since"
            ),
        };
        Error::new(ErrorKind::StaleReceipt).because(because)
    }

    fn complete(&mut self, queue: u32, receipt: Receipt) -> Result<()> {
        let (entry, record) = self.held(queue, receipt)?;
        self.take_out(queue, receipt.id, &entry, &record)?;
        let totals = &mut self.state(queue)?.totals;
        totals.completed = totals.completed.wrapping_add(1);
        Ok(())
    }

    fn extend(&mut self, queue: u32, receipt: Receipt, visibility: Duration) -> Result<Receipt> {
        let (entry, record) = self.held(queue, receipt)?;
        self.remove_entry(queue, receipt.id, &entry, &record)?;
        let entry = entry.extended(self.at.clock, visibility);
        self.add_entry(queue, receipt.id, &entry)?;
        Ok(entry.receipt(receipt.id))
    }

    fn update(&mut self, queue: u32, receipt: Receipt, text: &str) -> Result<()> {
        self.held(queue, receipt)?;
        self.rewrite(queue, receipt.id, text)
    }

    /// Has a message say something else.
    pub(super) fn rewrite(&mut self, queue: u32, id: u64, text: &str) -> Result<()> {
        let (key, record) = self.message(queue, id)?;
        let former = Message::decode(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        let message = Message { text, ..former.clone() };
        self.remove_message(queue, id)?;
        self.add_message(queue, id, &message)
    }

    fn release(&mut self, queue: u32, receipt: Receipt, release: &Release) -> Result<()> {
        let (entry, record) = self.held(queue, receipt)?;
        self.give_back(queue, HeldEntry { id: receipt.id, entry, record }, release)
    }

    /// Gives back a message, whose entry and its record were found.
    pub(super) fn give_back(
        &mut self,
        queue: u32,
        HeldEntry { id, entry, record }: HeldEntry,
        release: &Release,
    ) -> Result<()> {
        self.remove_entry(queue, id, &entry, &record)?;
        let entry =
            entry.released(self.at.clock, release.delay, release.error.as_deref(), release.is_untried);
        if !release.is_untried && entry.count >= release.dequeues && self.set_aside(queue, id, &entry)? {
            return Ok(());
        }
        self.add_entry(queue, id, &entry)
    }

    /// Moves a message, whose entry is removed, to the queue for messages that are set aside. Returns whether there is such a
    /// queue, or room for one.
    fn set_aside(&mut self, queue: u32, id: u64, entry: &Entry) -> Result<bool> {
        let mut directory = self.directory()?;
        let Some(poison) = directory.get(queue).and_then(|queue| name::poison_of(&queue.name)) else {
            return Ok(false);
        };
        let known = directory.find(&poison).map(|queue| queue.number);
        let target = if let Some(number) = known {
            number
        } else {
            let Some(number) = directory.add(&poison) else { return Ok(false) };
            self.set_directory(directory);
            self.add_state(number);
            number
        };
        let (key, record) = self.message(queue, id)?;
        let former = Message::decode(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        let message = Message { expires: None, unique: None, ..former };
        let (clock, state) = (self.at.clock, self.state(target)?);
        let new = state.next;
        state.next = new.wrapping_add(1);
        state.totals.sent = state.totals.sent.wrapping_add(1);
        self.add_message(target, new, &message)?;
        let error = if entry.error.is_empty() {
            format!("received {} times, and never completed or given back", entry.count).into()
        } else {
            entry.error.clone()
        };
        self.add_entry(target, new, &Entry { error, ..Entry::sent(clock, Duration::ZERO) })?;
        self.remove_message(queue, id)?;
        let totals = &mut self.state(queue)?.totals;
        totals.poisoned = totals.poisoned.wrapping_add(1);
        Ok(true)
    }

    fn receive(
        &mut self,
        queue: u32,
        most: usize,
        visibility: Duration,
        dequeues: u32,
    ) -> Result<Vec<Delivery>> {
        let mut deliveries = Vec::new();
        if self.state(queue)?.is_paused {
            return Ok(deliveries);
        }
        let (now, mut removed) = (self.at.clock.now, 0);
        for among in [Among::Shown, Among::Ready] {
            let (mut after, mut is_end, mut met) = (None, false, 0);
            while !is_end && deliveries.len() < most && removed < MOST_REMOVED {
                let wanted = (most - deliveries.len()).min(STRETCH);
                let found;
                (found, is_end) = self.chunk(queue, among, after.as_deref(), wanted, &mut met)?;
                after = found.last().map(|last| last.key.clone());
                for found in found {
                    match self.deliver(queue, found, visibility, dequeues)? {
                        Some(delivery) => deliveries.push(delivery),
                        None => removed += 1,
                    }
                }
            }
            // Each message that was hidden from a later time on, as the clock is now, has been received or removed.
            if among == Among::Shown && is_end {
                let state = self.state(queue)?;
                if state.latest_from > now {
                    state.latest_from = now;
                }
            }
            if among == Among::Ready && is_end {
                view::check_ready(&self.state_before(queue)?, met)?;
            }
        }
        Ok(deliveries)
    }

    /// Gives out a message that was found, or removes it if it is not to be given out.
    fn deliver(
        &mut self,
        queue: u32,
        found: FoundMessage,
        visibility: Duration,
        dequeues: u32,
    ) -> Result<Option<Delivery>> {
        let FoundMessage { record, id, entry, .. } = found;
        let message = self.view.message(queue, id)?;
        match entry.fate(message.expires, self.at.clock.now, dequeues) {
            Fate::Expire => {
                self.take_out(queue, id, &entry, &record)?;
                let totals = &mut self.state(queue)?.totals;
                totals.expired = totals.expired.wrapping_add(1);
                return Ok(None);
            }
            Fate::SetAside => {
                self.remove_entry(queue, id, &entry, &record)?;
                if self.set_aside(queue, id, &entry)? {
                    return Ok(None);
                }
            }
            Fate::Deliver => self.remove_entry(queue, id, &entry, &record)?,
        }
        let entry = entry.received(self.at.clock, visibility);
        self.add_entry(queue, id, &entry)?;
        Ok(Some(delivery(id, &entry, &message)))
    }

    fn create(&mut self, name: &str) -> Result<(u32, bool)> {
        let (number, is_new) = self.list(name)?;
        if is_new {
            self.add_state(number);
        }
        Ok((number, is_new))
    }

    fn mark_dropped(&mut self, name: &str) -> Result<u32> {
        let number = self
            .list_as_dropped(name)?
            .ok_or_else(|| Error::new(ErrorKind::QueueNotFound).because("there is no such queue"))?;
        self.state(number)?.is_dropped = true;
        Ok(number)
    }
}

/// Returns a message as it is given out, or looked at.
pub(crate) fn delivery(id: u64, entry: &Entry, message: &Message<'_>) -> Delivery {
    Delivery {
        receipt: entry.receipt(id),
        count: entry.count,
        sent: message.sent,
        expires: message.expires,
        error: Some(entry.error.clone()).filter(|error| !error.is_empty()),
        body: message.text.into(),
    }
}

/// Returns a message as it stands at a time.
pub(crate) fn stored(id: u64, entry: &Entry, message: &Message<'_>, now: Ticks) -> StoredMessage {
    StoredMessage {
        id,
        text: message.text.into(),
        sent: message.sent,
        expires: message.expires,
        hidden_until: entry.until().filter(|_| !entry.is_visible(now)),
        count: entry.count,
        error: Some(entry.error.clone()).filter(|error| !error.is_empty()),
        unique: message.unique.map(Into::into),
    }
}
