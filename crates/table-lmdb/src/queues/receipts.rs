//! Messages that are posted, and spoken of by receipts that have been text in between.

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::{Answer, ByReceipt, Delivery, Entry, Message, PopReceipt, Sending, Spot, keys};

use super::overlay::QueueOverlay;
use super::tasks::{HeldEntry, delivery};
use super::view;

impl QueueOverlay<'_> {
    /// Sends a message; returns it with its receipt, unless another has its unique key.
    pub(super) fn post(&mut self, queue: u32, sending: &Sending) -> Result<Option<Delivery>> {
        let Answer::Sent { id, is_new: true } = self.send(queue, sending)? else { return Ok(None) };
        let (key, record) = self.message(queue, id)?;
        let message = Message::decode(view::body(&record)).ok_or_else(|| view::damaged(&key))?;
        let entry = Entry::sent(self.at.clock, sending.after);
        let mut posted = delivery(id, &entry, &message);
        if let Spot::Ready(since) = entry.spot {
            posted.receipt.until = since;
        }
        Ok(Some(posted))
    }

    /// Does this with the message of a receipt.
    pub(super) fn by_receipt(
        &mut self,
        queue: u32,
        receipt: &PopReceipt,
        what: &ByReceipt,
    ) -> Result<Answer> {
        let HeldEntry { id, entry, record } = self.of_receipt(queue, receipt)?;
        match what {
            ByReceipt::Delete => {
                self.take_out(queue, id, &entry, &record)?;
                let totals = &mut self.state(queue)?.totals;
                totals.completed = totals.completed.wrapping_add(1);
                Ok(Answer::Done)
            }
            ByReceipt::Update(text, visibility) => {
                if let Some(text) = text {
                    self.rewrite(queue, id, text)?;
                }
                self.remove_entry(queue, id, &entry, &record)?;
                let entry = entry.renewed(self.at.clock, *visibility);
                self.add_entry(queue, id, &entry)?;
                Ok(Answer::Held(entry.receipt(id)))
            }
            ByReceipt::Release(release) => {
                self.give_back(queue, HeldEntry { id, entry, record }, release).map(|()| Answer::Done)
            }
        }
    }

    /// Returns the entry of the message that a receipt is for, if nobody has received it since.
    fn of_receipt(&self, queue: u32, receipt: &PopReceipt) -> Result<HeldEntry> {
        let (id, now) = (receipt.id, self.at.clock.now);
        let key = keys::message(queue, id);
        let times = |body: &[u8]| Message::decode(body).map(|message| (message.sent, message.expires));
        let is_there = match self.read(&key, times)? {
            Some((sent, expires)) => sent == receipt.sent && expires.is_none_or(|expires| now < expires),
            None => false,
        };
        if receipt.queue != queue || !is_there {
            return Err(gone(id));
        }
        let hidden = keys::lease(queue, id);
        let found = if let Some(record) = self.find(&hidden)? {
            let entry = Entry::hidden(view::body(&record)).ok_or_else(|| view::damaged(&hidden))?;
            Some(HeldEntry { id, entry, record: record.into_owned() })
        } else {
            // One that is ready is held by nobody; that nobody has received it yet is what its sender's receipt says. It has
            // been ready since it was sent, then.
            let ready = keys::ready(queue, receipt.sent, id);
            match self.find(&ready)? {
                Some(record) => {
                    let entry = Entry::ready(receipt.sent, view::body(&record));
                    let entry = entry.ok_or_else(|| view::damaged(&ready))?;
                    Some(HeldEntry { id, entry, record: record.into_owned() })
                }
                None => None,
            }
        };
        found.filter(|found| found.entry.is_last_given(receipt)).ok_or_else(|| stale(id))
    }
}

#[cold]
fn gone(id: u64) -> Error {
    Error::new(ErrorKind::MessageNotFound).because(format!(
        "message {id} is gone: somebody has completed or cleared it, or its time is over, or the receipt is another queue's"
    ))
}

#[cold]
fn stale(id: u64) -> Error {
    Error::new(ErrorKind::StaleReceipt).because(format!(
        "the receipt for message {id} holds no more: somebody has received, updated or given it back since"
    ))
}
