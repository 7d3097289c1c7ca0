//! Messages as XML, and their ids.

use table_core::queue::{Peeked, PopReceipt, Posted, Received};
use table_core::{Ticks, Uuid};
use table_wire::date;

use crate::fault::Fault;
use crate::wire::xml::{self, Element, Writer};

/// The longest body that is read: a text of 64 KiB may be some times as long with its escapes.
const BODY_BYTES: usize = 1 << 20;

/// Reads the text of a message that a client sends.
pub(super) fn read(body: &[u8]) -> Result<String, Fault> {
    let root = Element::read_whole(body, "QueueMessage", BODY_BYTES)?;
    let text = root.child("MessageText")?.ok_or_else(|| xml::invalid("there is no `MessageText`"))?;
    if text.children.is_empty() {
        Ok(text.text.clone())
    } else {
        Err(xml::invalid("`MessageText` holds elements"))
    }
}

/// A message as a client is told of it.
pub(super) struct MessageText<'m> {
    id: String,
    sent: Ticks,
    expires: Option<Ticks>,
    /// Its receipt, and when it shows: of one that is looked at, neither is told.
    held: Option<Held>,
    count: Option<u32>,
    text: Option<&'m str>,
}

/// By what a message is held, and until when.
struct Held {
    receipt: PopReceipt,
    until: Ticks,
}

impl<'m> MessageText<'m> {
    /// Returns what is told of a message to its sender.
    pub(super) fn posted(posted: &Posted) -> Self {
        let held = Held { receipt: posted.receipt, until: posted.hidden_until };
        Self {
            id: id(posted.sent, posted.receipt.id),
            sent: posted.sent,
            expires: posted.expires,
            held: Some(held),
            count: None,
            text: None,
        }
    }

    /// Returns what is told of a message that was received.
    pub(super) fn received(received: &'m Received<String>) -> Self {
        Self {
            id: id(received.sent(), received.id()),
            sent: received.sent(),
            expires: received.expires(),
            held: Some(Held { receipt: received.pop_receipt(), until: received.hidden_until() }),
            count: Some(received.count()),
            text: Some(received),
        }
    }

    /// Returns what is told of a message that was looked at.
    pub(super) fn peeked(peeked: &'m Peeked<String>) -> Self {
        Self {
            id: id(peeked.sent(), peeked.id()),
            sent: peeked.sent(),
            expires: peeked.expires(),
            held: None,
            count: Some(peeked.count()),
            text: Some(peeked),
        }
    }

    fn write(&self, writer: &mut Writer) {
        writer.element("QueueMessage", |writer| {
            writer.text("MessageId", &self.id);
            writer.text("InsertionTime", &date::format(self.sent));
            // What stays for ever has the end of times.
            writer.text("ExpirationTime", &date::format(self.expires.unwrap_or(Ticks::MAX)));
            if let Some(Held { receipt, until }) = &self.held {
                writer.text("PopReceipt", &receipt.to_string());
                writer.text("TimeNextVisible", &date::format(*until));
            }
            writer.optional("DequeueCount", self.count.map(|count| count.to_string()).as_deref());
            writer.optional("MessageText", self.text);
        });
    }
}

/// Returns messages as XML.
pub(super) fn write(messages: &[MessageText<'_>]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.element("QueueMessagesList", |writer| {
        for message in messages {
            message.write(writer);
        }
    });
    writer.finish()
}

/// Returns the id of a message, in the form that the service's have: of when it was sent, and of its number in the queue.
fn id(sent: Ticks, number: u64) -> String {
    Uuid::from_u64_pair(sent.get(), number).to_string()
}

/// Reads an id.
pub(super) fn read_id(text: &str) -> Option<(Ticks, u64)> {
    let (sent, number) = text.parse::<Uuid>().ok()?.as_u64_pair();
    Some((Ticks::new(sent)?, number))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_read_as_they_were_sent() {
        let of = |inner: &str| {
            let body =
                format!("<?xml version='1.0' encoding='utf-8'?>\n<QueueMessage>{inner}</QueueMessage>");
            read(body.as_bytes()).map_err(|fault| fault.code.into_owned())
        };
        assert_eq!(of("\n  <MessageText>  a &lt;b/&gt;\n </MessageText>\n"), Ok("  a <b/>\n ".to_owned()));
        assert_eq!(of("<MessageText/>"), Ok(String::new()));
        assert_eq!(of("<MessageText><![CDATA[<x>]]></MessageText>"), Ok("<x>".to_owned()));
        assert_eq!(of("<MessageText>&#13;\u{e9}\u{1f600}</MessageText>"), Ok("\r\u{e9}\u{1f600}".to_owned()));
        let quoted = "&quot;".repeat(64 << 10);
        assert_eq!(of(&format!("<MessageText>{quoted}</MessageText>")).map(|text| text.len()), Ok(64 << 10));
        for bad in [
            "",
            "<Text>a</Text>",
            "<MessageText><b/></MessageText>",
            "<MessageText>a</MessageText><MessageText>b</MessageText>",
            "<MessageText>&other;</MessageText>",
            "<MessageText>&#0;</MessageText>",
            "<MessageText>a</MessageText",
        ] {
            assert_eq!(of(bad), Err("InvalidXmlDocument".to_owned()), "{bad}");
        }
        assert!(read(b"").is_err() && read(b"\xff").is_err() && read(&vec![b' '; BODY_BYTES + 1]).is_err());
    }

    proptest! {
        #[test]
        fn no_body_ends_in_a_panic(body in "(<QueueMessage>|</QueueMessage>|<MessageText>|</MessageText>|&amp;|&|[ -~\\PC]){0,12}") {
            drop(read(body.as_bytes()));
        }

        #[test]
        fn ids_come_back(sent in 0..=Ticks::MAX.get(), number: u64) {
            let sent = Ticks::new(sent).unwrap();
            prop_assert_eq!(read_id(&id(sent, number)), Some((sent, number)));
        }
    }
}
