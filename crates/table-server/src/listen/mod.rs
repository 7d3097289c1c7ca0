//! Connections: HTTP/1.1 over sockets, with a limit to everything that a client can make the server wait for or keep.
//!
//! A [`Server`] reads requests and hands them, with their bodies, to a [`Handle`]. What comes of a client that sends too
//! much, too slowly or nothing at all is settled here, and never reaches it.

mod answer;
mod body;
mod budget;
mod connection;
mod counters;
mod guarded;
mod limits;
mod pace;
mod refusal;
mod server;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "opentelemetry")]
mod trace_context;
mod watched;

pub use self::counters::Counters;
pub use self::limits::Limits;
pub use self::server::{Drained, Server};
#[cfg(feature = "tls")]
pub use self::tls::{Tls, TlsError};
use crate::exchange::{Request, Response};

/// Answers requests.
///
/// Functions of a request that return a future are such. An answer is awaited to its end even if the client has gone, so
/// that no write is given up half way; a panic in it becomes an answer of status 500.
pub trait Handle: Send + Sync + 'static {
    /// Answers a request.
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send;
}

impl<F, A> Handle for F
where
    F: Fn(Request) -> A + Send + Sync + 'static,
    A: Future<Output = Response> + Send,
{
    fn handle(&self, request: Request) -> impl Future<Output = Response> + Send {
        self(request)
    }
}
