//! A message as it stands in its queue.

use crate::model::Ticks;

/// A message with all that its queue keeps of it, so that a copy in another store stands as it does here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// The message's number, by which its own queue knows it.
    pub id: u64,
    /// What was sent: its JSON, or its text in a queue of texts.
    pub text: Box<str>,
    /// When it was sent.
    pub sent: Ticks,
    /// The time at which it is gone if it was not received; `None` if it stays for ever.
    pub expires: Option<Ticks>,
    /// The time until which no receiver gets it; `None` if one may get it now.
    pub hidden_until: Option<Ticks>,
    /// How often it has been received.
    pub count: u32,
    /// Why it was given back last, or set aside.
    pub error: Option<Box<str>>,
    /// The key that no other message of the queue has.
    pub unique: Option<Box<str>>,
}
