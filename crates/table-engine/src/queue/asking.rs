//! What may be asked of a queue, and how its answers are read.

use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{MESSAGE_BYTES, MESSAGE_HIDDEN};
use crate::messages::{LONGEST_DELAY, MOST_AT_ONCE};

#[cold]
fn out_of_range(because: String) -> Error {
    Error::new(ErrorKind::ValueOutOfRange).because(because)
}

pub(super) fn check_many(many: usize) -> Result<()> {
    if many <= MOST_AT_ONCE {
        return Ok(());
    }
    Err(out_of_range(format!("one call takes {MOST_AT_ONCE} messages at most, and not {many}")))
}

pub(crate) fn check_visibility(visibility: Duration) -> Result<()> {
    if visibility.is_zero() {
        return Err(out_of_range("a message must be hidden for some time, or everybody receives it".into()));
    }
    check_hidden(visibility)
}

pub(crate) fn check_hidden(hidden: Duration) -> Result<()> {
    if hidden <= MESSAGE_HIDDEN {
        return Ok(());
    }
    let days = MESSAGE_HIDDEN.as_secs() / 86_400;
    Err(out_of_range(format!("a message may be hidden for {days} days at a time, and not for {hidden:?}")))
}

pub(crate) fn check_delay(delay: Duration) -> Result<()> {
    if delay <= LONGEST_DELAY {
        return Ok(());
    }
    Err(out_of_range(format!("a message may wait for ten years at most, and not for {delay:?}")))
}

/// Refuses a text that is too long. `form` says what of the message it is.
pub(super) fn check_text(text: &str, form: &str) -> Result<()> {
    if text.len() <= MESSAGE_BYTES {
        return Ok(());
    }
    Err(Error::new(ErrorKind::MessageTooLarge).because(format!(
        "the message has {} bytes {form}, and may have {MESSAGE_BYTES}; keep what is large in a table, and send its key",
        text.len()
    )))
}

/// Returns a message from its text. What stands in the text is not shown.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|_| {
        let because = format!("the message's text is not the JSON of `{}`", std::any::type_name::<T>());
        Error::new(ErrorKind::SchemaMismatch).because(because)
    })
}

/// Returns an answer of another kind than was asked for.
#[cold]
pub(crate) fn damaged() -> Error {
    Error::new(ErrorKind::Corrupt).because("the queue answered something else than it was asked")
}
