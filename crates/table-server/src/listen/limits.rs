//! What a client may take of the server.

use std::time::Duration;

/// What a client may take of the server: bytes, time and connections.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How many connections there may be at once.
    ///
    /// One more is answered with 503 `ServerBusy` and closed, or closed without an answer if it is to be encrypted. To let it
    /// wait would look to its client like a server that is gone, for as long as the others please to stay.
    pub connections: usize,
    /// How many bytes the line and the headers of a request may have: 8 KiB at least. More is answered with 431,
    /// and so are more than 100 headers.
    pub header_bytes: usize,
    /// How many bytes a body may have. More is answered with 413.
    pub body_bytes: usize,
    /// How many bytes the bodies of all requests may have that are being read or answered; never fewer than one body may
    /// have. What comes beyond that is answered with 503 `ServerBusy`.
    pub bodies_bytes: usize,
    /// How long a client may take for TLS's handshake.
    pub handshake_time: Duration,
    /// How long the headers of a request may take from their first byte on.
    pub header_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a connection is kept on which nothing is asked.
    pub idle_time: Duration,
    /// How long a client may read nothing of its answer.
    pub write_time: Duration,
    /// How long answers that are under way may take when the server is told to stop.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            header_bytes: 64 * 1024,
            body_bytes: 4 * 1024 * 1024,
            bodies_bytes: 64 * 1024 * 1024,
            handshake_time: Duration::from_secs(10),
            header_time: Duration::from_secs(30),
            body_time: Duration::from_secs(30),
            idle_time: Duration::from_secs(120),
            write_time: Duration::from_secs(30),
            drain_time: Duration::from_secs(25),
        }
    }
}
