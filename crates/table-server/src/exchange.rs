//! What is asked of the service, and what it answers.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;

/// A request whose body has arrived.
pub struct Request {
    /// The method, the address and the headers.
    pub head: http::request::Parts,
    /// The body.
    pub body: Bytes,
    /// The connection that it came by.
    pub peer: Peer,
}

/// Shows neither the address nor the headers nor the body: keys of entities, tokens and signatures stand there.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head, body, peer } = self;
        f.debug_struct("Request")
            .field("method", &head.method)
            .field("body_bytes", &body.len())
            .field("peer", peer)
            .finish_non_exhaustive()
    }
}

/// An answer.
pub type Response = http::Response<Bytes>;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub address: IpAddr,
    /// Whether the connection is encrypted.
    pub is_secure: bool,
}

impl Peer {
    /// A program on this machine, by plain HTTP.
    pub const LOCAL: Self = Self { address: IpAddr::V4(Ipv4Addr::LOCALHOST), is_secure: false };
}

impl Request {
    /// Returns the text of a header; `None` if it is not there or no text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.headers.get(name)?.to_str().ok()
    }
}

/// What went wrong within the server: put among the answer's extensions, and logged for who runs the server. It holds no key,
/// no signature and no value of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail(pub String);

/// The name of the operation that an answer is of, such as `InsertEntity`: put among the answer's extensions by a
/// [`Handle`](crate::listen::Handle), counted, and named in spans. It must be one of a few names, never a text of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Operation(pub &'static str);

/// The name of the table that an answer is of: put among the answer's extensions, and named in spans. Only a sender who is
/// known has one named.
#[cfg(feature = "tracing")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection(pub String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret_and_no_value() {
        let request = http::Request::builder()
            .uri("/acme/Company(PartitionKey='canary',RowKey='canary')?sig=canary")
            .header("authorization", "SharedKey acme:canary");
        let (head, ()) = request.body(()).unwrap().into_parts();
        let request = Request { head, body: Bytes::from_static(b"canary"), peer: Peer::LOCAL };
        let shown = format!("{request:?}");
        assert!(shown.contains("GET") && shown.contains("127.0.0.1") && !shown.contains("canary"), "{shown}");
    }
}
