//! Receipts that leave the program: texts by which a message is deleted, updated or given back later, in any process.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::task::Release;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;

/// A receipt for a message, which may be kept as text: who has it may delete, update or give back the message until somebody
/// receives it again.
///
/// It names the message and how often it had been received. What was sent when is part of it, so that it fits no other message
/// of a queue that was dropped and made anew, or put back from a copy. It is no secret, and nothing that guards a queue.
///
/// ```
/// # #[cfg(feature = "queue")] {
/// use table_core::queue::PopReceipt;
///
/// let receipt: PopReceipt = "1-2a-3-8ded36d6ab1d8a0".parse()?;
/// assert_eq!(receipt.id, 42);
/// assert_eq!(receipt.to_string(), "1-2a-3-8ded36d6ab1d8a0");
/// assert!("1-2a-3".parse::<PopReceipt>().is_err());
/// # }
/// # Ok::<(), table_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PopReceipt {
    /// The number of the queue, which no other of the store has or had.
    pub queue: u32,
    /// The message.
    pub id: u64,
    /// How often its receipts had changed then.
    pub delivery: u32,
    /// When it was sent.
    pub sent: Ticks,
}

/// What is done with a message by a receipt.
#[derive(Clone, Debug)]
pub enum ByReceipt {
    /// It goes.
    Delete,
    /// It says something else, if there is a text, and is hidden for so long from now on, by another receipt.
    Update(Option<Arc<str>>, Duration),
    /// It is given back.
    Release(Release),
}

impl fmt::Display for PopReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, id, delivery, sent } = self;
        write!(f, "{queue:x}-{id:x}-{delivery:x}-{:x}", sent.get())
    }
}

impl FromStr for PopReceipt {
    type Err = Error;

    /// Reads the text of a receipt: [`StaleReceipt`](ErrorKind::StaleReceipt) for any other text.
    fn from_str(text: &str) -> Result<Self> {
        let read = || {
            let mut parts = text.split('-').map(number);
            let mut next = || parts.next().flatten();
            let (queue, id, delivery, sent) = (next()?, next()?, next()?, next()?);
            let is_all = parts.next().is_none();
            is_all.then_some(Self {
                queue: queue.try_into().ok()?,
                id,
                delivery: delivery.try_into().ok()?,
                sent: Ticks::new(sent)?,
            })
        };
        read().ok_or_else(|| Error::new(ErrorKind::StaleReceipt).because("the text is no receipt of a queue"))
    }
}

/// Reads a number as it is written: without a sign, capital letters or zeros before it.
fn number(text: &str) -> Option<u64> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    let is_plain = text.bytes().all(is_digit) && (text == "0" || !text.starts_with('0'));
    u64::from_str_radix(text, 16).ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_read_as_it_was_written_and_nothing_else_is() {
        for receipt in [
            PopReceipt { queue: 1, id: 1, delivery: 0, sent: Ticks::MIN },
            PopReceipt { queue: u32::MAX, id: u64::MAX, delivery: u32::MAX, sent: Ticks::MAX },
        ] {
            assert_eq!(receipt.to_string().parse::<PopReceipt>().unwrap(), receipt);
        }
        for text in [
            "",
            "-",
            "1",
            "1-2-3",
            "1-2-3-4-5",
            "1-2-3-",
            "1-2-3-g",
            "01-2-3-4",
            "+1-2-3-4",
            "1-2-3-4 ",
            "A-2-3-4",
            "100000000-2-3-4",
            "1-2-100000000-4",
            "1-10000000000000000-3-4",
            "1-2-3-ffffffffffffffff",
            "\u{661}-2-3-4",
        ] {
            let error = text.parse::<PopReceipt>().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StaleReceipt, "{text}");
        }
    }
}
