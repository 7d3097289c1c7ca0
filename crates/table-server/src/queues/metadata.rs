//! The metadata of queues: names and texts that clients send and get as headers.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use table_core::__executor::RecordOwner;

use crate::exchange::{Request, Response};
use crate::fault::Fault;
use crate::records::Records;

/// The record that keeps them.
const RECORD: &str = "metadata";

/// What the names of the headers begin with.
const PREFIX: &str = "x-ms-meta-";
/// How long names and values may be together.
const MOST_BYTES: usize = 8 << 10;

/// The metadata of a queue, by name. HTTP's headers have no case, so the names are in small letters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Metadata(BTreeMap<String, String>);

impl Metadata {
    /// Reads the metadata that a request has.
    pub(super) fn of(request: &Request) -> Result<Self, Fault> {
        let mut all = BTreeMap::new();
        for header in request.head.headers.keys() {
            let Some(name) = header.as_str().strip_prefix(PREFIX) else { continue };
            if name.is_empty() {
                let text = "The key for one of the metadata key-value pairs is empty.";
                return Err(Fault::new(400, "EmptyMetadataKey", text));
            }
            let value = request.header(header.as_str()).filter(|_| is_name(name)).ok_or_else(|| {
                let text = "The metadata specified is invalid. It has characters that are not permitted.";
                Fault::new(400, "InvalidMetadata", text)
            })?;
            all.insert(name.to_owned(), value.trim().to_owned());
        }
        if all.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > MOST_BYTES {
            let text = "The metadata specified exceeds the maximum allowed limit (8KB).";
            return Err(Fault::new(400, "MetadataTooLarge", text));
        }
        Ok(Self(all))
    }

    /// Reads metadata as it is kept: a line for each, the name before the first colon.
    fn read(text: &[u8]) -> Self {
        let text = str::from_utf8(text).unwrap_or_default();
        let pairs = text.lines().filter_map(|line| line.split_once(':'));
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    /// Returns it as it is kept; `None` if there is none. No name has a colon, and no value a line feed.
    fn text(&self) -> Option<Vec<u8>> {
        let lines: String = self.0.iter().flat_map(|(name, value)| [name, ":", value, "\n"]).collect();
        (!lines.is_empty()).then(|| lines.into_bytes())
    }

    /// Returns the metadata that is kept of a queue.
    pub(super) async fn kept(records: &Records, queue: &str) -> Result<Self, Fault> {
        let stored = records.get(RecordOwner::Queue(queue), RECORD).await?;
        Ok(stored.map(|text| Self::read(&text)).unwrap_or_default())
    }

    /// Keeps it as a queue's, in place of what the queue has.
    pub(super) async fn keep(&self, records: &Records, queue: &str) -> Result<(), Fault> {
        records.set(RecordOwner::Queue(queue), RECORD, self.text().as_deref()).await
    }

    /// Adds it to an answer.
    pub(super) fn add_to(&self, response: &mut Response) {
        for (name, value) in &self.0 {
            let name = HeaderName::from_bytes(format!("{PREFIX}{name}").as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
                response.headers_mut().insert(name, value);
            }
        }
    }

    /// Returns each name and its value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Returns whether it is a name as programs have them, which is one of XML's elements, too.
fn is_name(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::exchange::Peer;

    fn of(headers: &[(&str, &str)]) -> Result<Metadata, String> {
        let mut request = http::Request::builder().method("PUT").uri("/acme/hires");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let request = Request { head, body: Bytes::new(), peer: Peer::LOCAL };
        Metadata::of(&request).map_err(|fault| fault.code.into_owned())
    }

    #[test]
    fn metadata_is_kept_and_told_as_it_was_sent() {
        let read = of(&[
            ("X-Ms-Meta-Hello", "a: b"),
            ("x-ms-meta-_n4", " 43 "),
            ("x-ms-date", "now"),
            ("x-ms-meta-e", ""),
        ]);
        let read = read.unwrap();
        let pairs: Vec<_> = read.iter().collect();
        assert_eq!(pairs, [("_n4", "43"), ("e", ""), ("hello", "a: b")]);
        assert_eq!(Metadata::read(&read.text().unwrap()), read);
        let mut response = Response::default();
        read.add_to(&mut response);
        assert_eq!(response.headers().get("x-ms-meta-hello").unwrap(), "a: b");
        assert_eq!(of(&[]).unwrap().text(), None);
    }

    #[test]
    fn what_no_metadata_can_be_is_refused() {
        assert_eq!(of(&[("x-ms-meta-", "a")]), Err("EmptyMetadataKey".to_owned()));
        for bad in ["x-ms-meta-1a", "x-ms-meta-a-b", "x-ms-meta-a.b"] {
            assert_eq!(of(&[(bad, "a")]), Err("InvalidMetadata".to_owned()), "{bad}");
        }
        assert_eq!(of(&[("x-ms-meta-a", "\u{e9}")]), Err("InvalidMetadata".to_owned()));
        let long = "x".repeat((8 << 10) - 1);
        assert!(of(&[("x-ms-meta-a", &long)]).is_ok());
        assert_eq!(of(&[("x-ms-meta-ab", &long)]), Err("MetadataTooLarge".to_owned()));
    }
}
