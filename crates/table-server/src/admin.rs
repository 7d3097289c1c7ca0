//! What the operator of a server asks of it: whether it lives, whether it is ready, what it has done; and new keys.
//!
//! It is served on an address of its own, without a signature: the address is for this machine, or for a network on which
//! all may know these things.

use std::fmt;
#[cfg(feature = "metrics")]
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Method, StatusCode, header};
use table_core::asynchronous::AsyncTables;

use crate::account::{AccountError, KeyKeeper, KeyName};
use crate::exchange::{Operation, Request, Response};
use crate::listen::{Counters, Handle};

/// Answers the requests of the operator of a server.
#[derive(Clone)]
pub struct Admin {
    tables: AsyncTables,
    counters: Arc<Counters>,
    is_draining: Arc<AtomicBool>,
    keys: Option<Arc<KeyKeeper>>,
}

impl fmt::Debug for Admin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admin").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl Admin {
    /// Makes one for a server with these counters, over these tables. It has no keys to rotate.
    #[must_use]
    pub fn new(tables: AsyncTables, counters: Arc<Counters>) -> Self {
        Self { tables, counters, is_draining: Arc::default(), keys: None }
    }

    /// Lets `POST /keys/1` and `POST /keys/2` replace keys. The answer is the new key, so the address must be one that this
    /// machine alone can reach.
    #[must_use]
    pub fn with_keys(mut self, keys: Arc<KeyKeeper>) -> Self {
        self.keys = Some(keys);
        self
    }

    /// Makes `/readyz` say no from now on: the server is about to stop, and clients are to go elsewhere.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    async fn answer(&self, request: &Request) -> Response {
        let is_read = matches!(request.head.method, Method::GET | Method::HEAD);
        match request.head.uri.path() {
            "/healthz" if is_read => text(StatusCode::OK, "alive\n"),
            "/readyz" if is_read => self.ready().await,
            "/metrics" if is_read => self.metrics(),
            "/healthz" | "/readyz" | "/metrics" => wrong_method("GET, HEAD"),
            path => match (&self.keys, path) {
                (Some(keys), "/keys/1") => rotate(keys, KeyName::Key1, request).await,
                (Some(keys), "/keys/2") => rotate(keys, KeyName::Key2, request).await,
                _ => text(StatusCode::NOT_FOUND, "there are /healthz, /readyz and /metrics\n"),
            },
        }
    }

    async fn ready(&self) -> Response {
        if self.is_draining.load(Ordering::Relaxed) {
            return text(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping\n");
        }
        // The cheapest read that goes to the store's file.
        match self.tables.run(|tables| tables.tables_page(None, None, 1).map(drop)).await {
            Ok(()) => text(StatusCode::OK, "ready\n"),
            Err(error) => {
                text(StatusCode::SERVICE_UNAVAILABLE, format!("the store can't be read: {error}\n"))
            }
        }
    }

    fn metrics(&self) -> Response {
        let mut numbers = self.counters.to_string();
        numbers.push_str(&store_numbers(&self.tables));
        let mut response = text(StatusCode::OK, numbers + "# EOF\n");
        let of_type = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, of_type);
        response
    }
}

impl Handle for Admin {
    async fn handle(&self, request: Request) -> Response {
        let mut response = self.answer(&request).await;
        response.extensions_mut().insert(Operation("Admin"));
        response
    }
}

/// Returns the lines of the store's numbers, without the one that ends a text.
#[cfg(feature = "metrics")]
fn store_numbers(tables: &AsyncTables) -> String {
    let mut numbers = String::new();
    match tables.blocking().metrics() {
        Ok(metrics) => drop(write!(numbers, "{metrics}")),
        Err(error) => drop(writeln!(numbers, "# the store's own: {error}")),
    }
    numbers.strip_suffix("# EOF\n").map(str::to_owned).unwrap_or(numbers)
}

#[cfg(not(feature = "metrics"))]
fn store_numbers(_: &AsyncTables) -> String {
    String::new()
}

async fn rotate(keys: &KeyKeeper, which: KeyName, request: &Request) -> Response {
    if request.head.method != Method::POST {
        return wrong_method("POST");
    }
    // Browsers say where a page is from that sends something. No page has any business here, and one of any origin could
    // reach this address from the browser of the operator.
    if ["origin", "sec-fetch-site"].iter().any(|name| request.head.headers.contains_key(*name)) {
        return text(StatusCode::FORBIDDEN, "keys are not rotated for pages of a browser\n");
    }
    match keys.rotate(which).await {
        Ok(key) => {
            let mut response = text(StatusCode::OK, format!("{}\n", key.as_str()));
            response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
        Err(error @ (AccountError::Exchanged(_) | AccountError::Busy)) => {
            text(StatusCode::CONFLICT, format!("the key is as it was: {error}\n"))
        }
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, format!("the key is as it was: {error}\n")),
    }
}

fn wrong_method(allowed: &'static str) -> Response {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, format!("only {allowed}\n"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Response {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let of_type = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, of_type);
    response
}
