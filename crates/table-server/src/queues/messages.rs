//! Messages: put, received, looked at, updated, deleted.

use std::time::Duration;

use http::{HeaderName, StatusCode};
use table_core::queue::PopReceipt;
use table_core::{Error, ErrorKind};
use table_wire::date;

use super::QueueService;
use super::call::{Call, Need, seconds, wrong_value};
use super::texts::{self, MessageText};
use crate::exchange::Response;
use crate::fault::Fault;
use crate::service::answer;

/// How many messages are received or looked at in one request.
const MOST: i64 = 32;
/// How long a message is hidden that is received, if the request does not say.
const HIDDEN: Duration = Duration::from_secs(30);
/// How long a message lives, in seconds, if the request does not say: seven days.
const LIVES: i64 = 7 * 24 * 60 * 60;
/// The header of the receipt of a message that was updated.
const RECEIPT: HeaderName = HeaderName::from_static("x-ms-popreceipt");
/// The header of the time at which it shows.
const NEXT_VISIBLE: HeaderName = HeaderName::from_static("x-ms-time-next-visible");

impl QueueService {
    /// Puts a message into a queue.
    pub(super) async fn put_message(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        call.need(&Need::of_account("a", 'o').or_of_queue('a'))?;
        let hidden = call.hidden(0)?.unwrap_or_default();
        let lives = match call.number("messagettl", -1..=i64::MAX)? {
            Some(-1) => None,
            Some(0) => {
                return Err(wrong_value("messagettl", "-1, for ever, or a number of seconds from 1 on"));
            }
            lives => Some(seconds(lives.unwrap_or(LIVES))),
        };
        if lives.is_some_and(|lives| lives <= hidden) {
            return Err(wrong_value("visibilitytimeout", "less than `messagettl`"));
        }
        let text = texts::read(&call.request.body)?;
        let queue = self.queue(name).await?;
        let mut message = queue.message(&text).after(hidden);
        if let Some(lives) = lives {
            message = message.time_to_live(lives);
        }
        let posted = message.post().await.map_err(too_large)?;
        let posted = posted.ok_or_else(|| Error::new(ErrorKind::Corrupt))?;
        Ok(answer::xml(StatusCode::CREATED, texts::write(&[MessageText::posted(&posted)])))
    }

    /// Answers with messages, received or looked at.
    pub(super) async fn get_messages(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        let is_peek = match call.get("peekonly") {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => return Err(wrong_value("peekonly", "`true` or `false`")),
        };
        let (letters, letter) = if is_peek { ("r", 'r') } else { ("p", 'p') };
        call.need(&Need::of_account(letters, 'o').or_of_queue(letter))?;
        let most = usize::try_from(call.number("numofmessages", 1..=MOST)?.unwrap_or(1)).unwrap_or(1);
        let hidden = call.hidden(1)?;
        // To receive is a write, which the secondary address has none of.
        if call.is_secondary && !is_peek {
            return Err(Fault::read_only_secondary());
        }
        let queue = self.queue(name).await?;
        let messages = if is_peek {
            texts::write(&queue.peek(most).await?.iter().map(MessageText::peeked).collect::<Vec<_>>())
        } else {
            let received = queue.try_receive_many(most, hidden.unwrap_or(HIDDEN)).await?;
            let received = received.iter().map(|message| MessageText::received(message.blocking()));
            texts::write(&received.collect::<Vec<_>>())
        };
        Ok(answer::xml(StatusCode::OK, messages))
    }

    /// Removes all messages of a queue.
    pub(super) async fn clear_messages(&self, call: &Call<'_>, name: &str) -> Result<Response, Fault> {
        call.need(&Need::of_account("d", 'o'))?;
        self.queue(name).await?.clear().await?;
        Ok(answer::empty(StatusCode::NO_CONTENT))
    }

    /// Hides a message anew, and has it say something else if there is a body.
    pub(super) async fn update_message(
        &self,
        call: &Call<'_>,
        name: &str,
        id: &str,
    ) -> Result<Response, Fault> {
        call.need(&Need::of_account("u", 'o').or_of_queue('u'))?;
        let receipt = call.must_get("popreceipt")?;
        call.must_get("visibilitytimeout")?;
        let hidden = call.hidden(0)?.unwrap_or_default();
        let text = (!call.request.body.is_empty()).then(|| texts::read(&call.request.body)).transpose()?;
        let queue = self.queue(name).await?;
        let receipt = receipt_of(id, receipt)?;
        let updated = queue.update_by(&receipt, text.as_ref(), hidden).await;
        let (receipt, until) = updated.map_err(too_large)?;
        let mut response = answer::empty(StatusCode::NO_CONTENT);
        answer::add(&mut response, RECEIPT, &receipt.to_string());
        answer::add(&mut response, NEXT_VISIBLE, &date::format(until));
        Ok(response)
    }

    /// Deletes a message.
    pub(super) async fn delete_message(
        &self,
        call: &Call<'_>,
        name: &str,
        id: &str,
    ) -> Result<Response, Fault> {
        call.need(&Need::of_account("p", 'o').or_of_queue('p'))?;
        let receipt = call.must_get("popreceipt")?;
        let queue = self.queue(name).await?;
        queue.delete_by(&receipt_of(id, receipt)?).await?;
        Ok(answer::empty(StatusCode::NO_CONTENT))
    }
}

/// Reads the receipt for the message of this id.
fn receipt_of(id: &str, receipt: &str) -> Result<PopReceipt, Fault> {
    let message = texts::read_id(id).ok_or_else(|| Error::new(ErrorKind::MessageNotFound))?;
    let receipt: PopReceipt = receipt.parse()?;
    if message == (receipt.sent, receipt.id) {
        Ok(receipt)
    } else {
        Err(Error::new(ErrorKind::StaleReceipt).into())
    }
}

/// Answers of a message that is too large as of any body that is.
fn too_large(error: Error) -> Fault {
    if error.kind() == ErrorKind::MessageTooLarge {
        let text = "The request body is too large and exceeds the maximum permissible limit.";
        return Fault::new(413, "RequestBodyTooLarge", text);
    }
    error.into()
}
