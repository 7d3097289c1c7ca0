//! One request: its body is read, it is handed over, its answer is counted.

use std::sync::Arc;
use std::time::Instant;

use http::HeaderValue;
use http_body::Body;
use hyper::body::Incoming;

use super::body::{self, Outgoing, Unread};
use super::budget::Budget;
use super::counters::Counters;
use super::guarded::{Panicked, guarded};
use super::pace::Pace;
use super::{Handle, Limits, refusal};
#[cfg(feature = "tracing")]
use crate::exchange::{Collection, Detail};
use crate::exchange::{Operation, Peer, Request, Response};
use crate::fault::Fault;
use crate::ids::RequestIds;

/// What the connections of a server share.
#[derive(Debug)]
pub(super) struct Shared<H> {
    pub(super) handler: H,
    pub(super) limits: Limits,
    pub(super) counters: Arc<Counters>,
    pub(super) bodies: Budget,
    /// Names what is refused before it comes to the handler, which has ids of its own.
    pub(super) ids: RequestIds,
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
    let mut response = traced(&shared, peer, request).await;
    name(&mut response, &shared.ids);
    let operation = response.extensions().get::<Operation>().map_or("other", |operation| operation.0);
    shared.counters.answered(operation, response.status().as_u16(), began.elapsed());
    response.map(|bytes| Outgoing::new(bytes, pace))
}

/// Gives an answer an id, if its handler has not.
fn name(response: &mut Response, ids: &RequestIds) {
    if !response.headers().contains_key(refusal::REQUEST_ID)
        && let Ok(id) = HeaderValue::from_str(&ids.next())
    {
        response.headers_mut().insert(refusal::REQUEST_ID, id);
    }
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
    #[cfg(feature = "opentelemetry")]
    super::trace_context::join(&span, request.headers());
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
    span.in_scope(|| report(&response, code));
    response
}

/// Reports a failure of the server's own, by the request's id, which its client has too.
#[cfg(feature = "tracing")]
fn report(response: &Response, code: Option<&str>) {
    let (status, detail) = (response.status(), response.extensions().get::<Detail>());
    if !status.is_server_error() && detail.is_none() {
        return;
    }
    macro_rules! report {
        ($level:ident) => {
            tracing::$level!(
                target: "table_server::failed",
                {
                    request_id = response.headers().get(refusal::REQUEST_ID).and_then(|id| id.to_str().ok()),
                    "db.operation.name" = response.extensions().get().map(|Operation(name)| name),
                    "db.collection.name" = response.extensions().get().map(|Collection(name)| name.as_str()),
                    "error.type" = code,
                    detail = detail.map(|Detail(detail)| detail.as_str()),
                },
                "a request was not carried out"
            )
        };
    }
    // What is busy or not built in is no defect of what is stored.
    if matches!(status.as_u16(), 501 | 503) { report!(warn) } else { report!(error) }
}

#[cfg(not(feature = "tracing"))]
async fn traced<H: Handle>(shared: &Shared<H>, peer: Peer, request: hyper::Request<Incoming>) -> Response {
    asked(shared, peer, request).await
}

async fn asked<H: Handle>(shared: &Shared<H>, peer: Peer, request: hyper::Request<Incoming>) -> Response {
    let limits = &shared.limits;
    let refusing = |fault: &Fault, is_last| refusal::response(fault, is_last, &shared.ids.next());
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
            return refusing(&fault, true);
        }
        Ok(Err(Unread::Broken)) => return refusing(&refusal::broken(), true),
        Err(_) => {
            shared.counters.timed_out();
            return refusing(&refusal::too_slow(), true);
        }
    };
    // The call itself may panic as well as what it returns.
    // In a box, since a handler's future has kilobytes, and each of the futures around it would be moved with them.
    let handled =
        guarded(async { Box::pin(shared.handler.handle(Request { head, body, peer })).await }).await;
    handled.unwrap_or_else(|Panicked| {
        shared.counters.panicked();
        refusing(&refusal::panicked(), false)
    })
}
