//! One request: its body is read, it is handed over, its answer is counted.

use std::sync::Arc;
use std::time::Instant;

use http_body::Body;
use hyper::body::Incoming;

use super::body::{self, Outgoing, Unread};
use super::budget::Budget;
use super::counters::Counters;
use super::guarded::{Panicked, guarded};
use super::pace::Pace;
use super::{Handle, Limits, refusal};
#[cfg(feature = "tracing")]
use crate::exchange::Collection;
use crate::exchange::{Operation, Peer, Request, Response};

/// What the connections of a server share.
#[derive(Debug)]
pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) limits: Limits,
    pub(super) counters: Arc<Counters>,
    pub(super) bodies: Budget,
}

/// Answers a request.
pub(super) async fn answer<H: Handle>(
    shared: Arc<Shared<H>>,
    peer: Peer,
    pace: Arc<Pace>,
    request: hyper::Request<Incoming>,
) -> http::Response<Outgoing> {
    pace.asked();
    let _in_flight = shared.counters.in_flight();
    let began = Instant::now();
    let response = traced(&shared, peer, request).await;
    let operation = response.extensions().get::<Operation>().map_or("other", |operation| operation.0);
    shared.counters.answered(operation, response.status().as_u16(), began.elapsed());
    response.map(|bytes| Outgoing::new(bytes, pace))
}

/// Answers a request within a span. It names neither the path nor the query: keys and signatures stand there.
#[cfg(feature = "tracing")]
async fn traced<H: Handle>(shared: &Shared<H>, peer: Peer, request: hyper::Request<Incoming>) -> Response {
    use tracing::Instrument;
    use tracing::field::Empty;

    let span = tracing::debug_span!(
        target: "table_server::request",
        "request",
        "http.request.method" = request.method().as_str(),
        "url.scheme" = if peer.is_secure { "https" } else { "http" },
        "db.system.name" = "table-core",
        "db.collection.name" = Empty,
        "db.operation.name" = Empty,
        "http.response.status_code" = Empty,
        "error.type" = Empty,
    );
    let response = asked(shared, peer, request).instrument(span.clone()).await;
    if let Some(Operation(name)) = response.extensions().get() {
        span.record("db.operation.name", name);
    }
    if let Some(Collection(name)) = response.extensions().get() {
        span.record("db.collection.name", name);
    }
    span.record("http.response.status_code", response.status().as_u16());
    // The codes of the protocol are a few words of its own, never a text of a client.
    let code = response.headers().get("x-ms-error-code").and_then(|code| code.to_str().ok());
    if let Some(code) = code {
        span.record("error.type", code);
    }
    if response.status().is_server_error() {
        let _entered = span.enter();
        tracing::warn!(target: "table_server::failed", { "error.type" = code }, "a request was not carried out");
    }
    response
}

#[cfg(not(feature = "tracing"))]
async fn traced<H: Handle>(shared: &Shared<H>, peer: Peer, request: hyper::Request<Incoming>) -> Response {
    asked(shared, peer, request).await
}

async fn asked<H: Handle>(shared: &Shared<H>, peer: Peer, request: hyper::Request<Incoming>) -> Response {
    let limits = &shared.limits;
    let (head, mut incoming) = request.into_parts();
    // Given back when the answer is made.
    let mut room = shared.bodies.room();
    let body = if incoming.is_end_stream() {
        Ok(Ok(bytes::Bytes::new()))
    } else {
        tokio::time::timeout(limits.body_time, body::read(&mut incoming, limits.body_bytes, &mut room)).await
    };
    let body = match body {
        Ok(Ok(body)) => body,
        Ok(Err(refused @ (Unread::TooLarge | Unread::NoRoom))) => {
            // Who waits to be told to go on is not told, and sends nothing.
            if !head.headers.contains_key(http::header::EXPECT) {
                body::linger(incoming);
            }
            let too_large = || refusal::too_large(limits.body_bytes);
            let fault = if refused == Unread::NoRoom { refusal::no_room() } else { too_large() };
            return refusal::response(&fault, true);
        }
        Ok(Err(Unread::Broken)) => return refusal::response(&refusal::broken(), true),
        Err(_) => {
            shared.counters.timed_out();
            return refusal::response(&refusal::too_slow(), true);
        }
    };
    // The call itself may panic as well as what it returns.
    let handled = guarded(async { shared.handler.handle(Request { head, body, peer }).await }).await;
    handled.unwrap_or_else(|Panicked| {
        shared.counters.panicked();
        #[cfg(feature = "tracing")]
        tracing::error!(target: "table_server::panic", "a request made the service panic");
        refusal::response(&refusal::panicked(), false)
    })
}
