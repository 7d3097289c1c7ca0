//! Where a message stands, and what becomes of it.
//!
//! A message is hidden only from one time until another. A clock that is set back to before the first shows it, so nothing
//! is hidden for longer than it was to be. What holds a message is the number of the turn in which it was received, never
//! a time: two turns may end at one time, when a clock is set back.
//!
//! The message and its entry are two records, so that receiving moves some forty bytes and not the body. A hidden message has
//! its entry under its number, where its holder finds it whatever a heartbeat has made of the time, and a record by time
//! besides.

use std::time::Duration;

use super::receipt::PopReceipt;
use super::task::{History, Receipt};
use super::{ERROR_BYTES, keys};
use crate::fields::Fields;
use crate::model::Ticks;

/// What time it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// By the system's clock, which may be set back.
    pub now: Ticks,
    /// By the store, whose times rise: the order in which messages are received.
    pub store: Ticks,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// It may be received; since when.
    Ready(Ticks),
    /// It may not be received from the one time until the other.
    Hidden {
        from: Ticks,
        until: Ticks,
        /// Whether a receiver holds it.
        is_held: bool,
    },
}

/// The entry of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub spot: Spot,
    /// How many turns there were: the last one's holder may speak of the message.
    pub delivery: u32,
    /// How often it was received and tried.
    pub count: u32,
    /// Why it was given back last.
    pub error: Box<str>,
}

/// What becomes of a message that is to be received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Its time is over.
    Expire,
    /// It was received too often.
    SetAside,
    Deliver,
}

const HELD: u8 = 1;

fn later(time: Ticks, by: Duration) -> Ticks {
    time.checked_add(by).unwrap_or(Ticks::MAX)
}

fn earlier(time: Ticks, by: Duration) -> Ticks {
    time.checked_sub(by).unwrap_or(Ticks::MIN)
}

impl Entry {
    /// Returns the entry of a message that is sent, and hidden for so long first.
    pub fn sent(clock: Clock, after: Duration) -> Self {
        Self { spot: Spot::waiting(clock, after), delivery: 0, count: 0, error: Box::default() }
    }

    /// Returns the entry of a message that was received so often, and given back so, in the queue that it is copied from.
    #[must_use]
    pub fn with_history(self, history: &History) -> Self {
        Self { count: history.count, error: shortened(&history.error).into(), ..self }
    }

    /// Returns whether the message may be received.
    pub fn is_visible(&self, now: Ticks) -> bool {
        match self.spot {
            Spot::Ready(_) => true,
            Spot::Hidden { from, until, .. } => !(from <= now && now < until),
        }
    }

    /// Returns whether the receiver that has this receipt holds the message.
    pub fn is_held_by(&self, receipt: Receipt) -> bool {
        matches!(self.spot, Spot::Hidden { is_held: true, .. }) && self.delivery == receipt.delivery
    }

    /// Returns what becomes of the message now that it would be received.
    pub fn fate(&self, expires: Option<Ticks>, now: Ticks, dequeues: u32) -> Fate {
        if expires.is_some_and(|expires| expires <= now) {
            Fate::Expire
        } else if self.count >= dequeues {
            Fate::SetAside
        } else {
            Fate::Deliver
        }
    }

    /// Returns the entry once the message has been received.
    #[must_use]
    pub fn received(self, clock: Clock, visibility: Duration) -> Self {
        let (delivery, count) = (self.delivery.wrapping_add(1), self.count.saturating_add(1));
        Self { spot: Spot::held(clock, visibility), delivery, count, ..self }
    }

    /// Returns the entry of the message held for so long from now on.
    #[must_use]
    pub fn extended(self, clock: Clock, visibility: Duration) -> Self {
        Self { spot: Spot::held(clock, visibility), ..self }
    }

    /// Returns the entry of the message held for so long from now on, by a receipt that no former holder has.
    #[must_use]
    pub fn renewed(self, clock: Clock, visibility: Duration) -> Self {
        let delivery = self.delivery.wrapping_add(1);
        Self { spot: Spot::held(clock, visibility), delivery, ..self }
    }

    /// Returns whether nobody has received the message since this receipt was given: the receiver holds it, or the sender's is
    /// the only one yet.
    pub fn is_last_given(&self, receipt: &PopReceipt) -> bool {
        let is_held = matches!(self.spot, Spot::Hidden { is_held: true, .. });
        // Once it was received, a message that is not held was given back, and with it the receipt.
        self.delivery == receipt.delivery && (is_held || self.delivery == 0)
    }

    /// Returns the entry of the message given back.
    #[must_use]
    pub fn released(self, clock: Clock, delay: Duration, error: Option<&str>, is_untried: bool) -> Self {
        let count = self.count.saturating_sub(u32::from(is_untried));
        let error = error.map_or(self.error, |error| shortened(error).into());
        Self { spot: Spot::waiting(clock, delay), count, error, ..self }
    }

    /// Returns the key under which it stands.
    pub fn key(&self, queue: u32, id: u64) -> Vec<u8> {
        match self.spot {
            Spot::Ready(since) => keys::ready(queue, since, id),
            Spot::Hidden { .. } => keys::lease(queue, id),
        }
    }

    /// Returns the time until which the message is hidden, if it is.
    pub fn until(&self) -> Option<Ticks> {
        match self.spot {
            Spot::Ready(_) => None,
            Spot::Hidden { until, .. } => Some(until),
        }
    }

    /// Returns the receipt by which it is held.
    pub fn receipt(&self, id: u64) -> Receipt {
        Receipt { id, delivery: self.delivery, until: self.until().unwrap_or(Ticks::MIN) }
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(33 + self.error.len());
        body.extend_from_slice(&self.delivery.to_le_bytes());
        body.extend_from_slice(&self.count.to_le_bytes());
        if let Spot::Hidden { from, until, is_held } = self.spot {
            body.extend_from_slice(&from.get().to_le_bytes());
            body.extend_from_slice(&until.get().to_le_bytes());
            body.push(if is_held { HELD } else { 0 });
        }
        body.extend_from_slice(self.error.as_bytes());
        body
    }

    /// Returns the entry of a message that is ready since this time.
    pub fn ready(since: Ticks, body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (delivery, count) = (body.u32()?, body.u32()?);
        Some(Self { spot: Spot::Ready(since), delivery, count, error: body.rest()?.into() })
    }

    /// Returns the entry of a message that is hidden.
    pub fn hidden(body: &[u8]) -> Option<Self> {
        let mut body = Fields(body);
        let (delivery, count) = (body.u32()?, body.u32()?);
        let (from, until, flags) = (body.ticks()?, body.ticks()?, body.u8()?);
        let spot = Spot::Hidden { from, until, is_held: flags == HELD };
        let is_right = flags <= HELD && from <= until;
        is_right.then_some(Self { spot, delivery, count, error: body.rest()?.into() })
    }
}

impl Spot {
    /// Returns where a message stands that is held for so long from now on.
    fn held(clock: Clock, visibility: Duration) -> Self {
        Self::Hidden { from: clock.now, until: later(clock.now, visibility), is_held: true }
    }

    /// Returns where a message stands that is not held, and hidden for so long.
    ///
    /// A clock that is set back by less than that makes the wait longer by as much; it doesn't show at once what was to
    /// come in a month.
    fn waiting(clock: Clock, delay: Duration) -> Self {
        if delay.is_zero() {
            return Self::Ready(clock.store);
        }
        Self::Hidden { from: earlier(clock.now, delay), until: later(clock.now, delay), is_held: false }
    }
}

/// Returns as much of an error as is kept.
pub(super) fn shortened(error: &str) -> &str {
    let end = (0..=ERROR_BYTES.min(error.len())).rev().find(|end| error.is_char_boundary(*end));
    end.and_then(|end| error.get(..end)).unwrap_or_default()
}

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;
