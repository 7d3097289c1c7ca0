//! A client that signs its requests.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;
use table_core::Store;
use table_core::asynchronous::block_on;
use table_server::account::{Given, KeyKeeper};
use table_server::exchange::{Peer, Request, Response};
use table_server::service::{Service, Settings};

use crate::signing::signed;

pub(crate) const ACCOUNT: &str = "acme";
pub(crate) const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";
/// The account's second key.
pub(crate) const KEY2: &str = "YW5vdGhlciBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGVpdGhlciwgYnV0IGEgdGVzdA==";

/// A service over a temporary store.
pub(crate) struct Client {
    pub(crate) service: Service,
    #[allow(dead_code, reason = "the store is dropped behind the service")]
    pub(crate) store: Store,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Response);

impl Client {
    pub(crate) fn new() -> Self {
        Self::of_settings(Settings::default())
    }

    pub(crate) fn of_settings(settings: Settings) -> Self {
        let store = Store::temporary().unwrap();
        let given = Given { key1: Some(KEY.to_owned().into()), key2: Some(KEY2.to_owned().into()) };
        let account = block_on(KeyKeeper::open(store.to_async(), ACCOUNT, given)).unwrap();
        let service = Service::new(store.to_async(), Arc::new(account), settings);
        Self { service, store }
    }

    /// Sends a request that the account's key has signed.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.ask(signed_request(method, path, headers, body))
    }

    /// Sends a request without a signature.
    pub(crate) fn send_as_it_is(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        self.ask(request(method, path, headers, body))
    }

    /// Sends a request with a token in its query.
    pub(crate) fn with_token(&self, method: &str, path: &str, token: &str, body: &str) -> Answer {
        self.with_token_from(Peer::LOCAL, method, path, token)(&[], body)
    }

    /// Returns what sends headers and a body with a token by a connection.
    pub(crate) fn with_token_from(
        &self,
        peer: Peer,
        method: &str,
        path: &str,
        token: &str,
    ) -> impl Fn(&[(&str, &str)], &str) -> Answer {
        let mark = if path.contains('?') { '&' } else { '?' };
        let address = format!("{path}{mark}{token}");
        let method = method.to_owned();
        move |headers, body| {
            let mut request =
                http::Request::builder().method(&*method).uri(&address).header("host", "127.0.0.1:10002");
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            self.ask(Request { head, body: Bytes::copy_from_slice(body.as_bytes()), peer })
        }
    }

    /// Sends a request as it is given.
    pub(crate) fn ask(&self, request: Request) -> Answer {
        Answer(block_on(is_send(self.service.call(request))))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, &[], body)
    }
}

/// Returns a request that the account's key has signed.
pub(crate) fn signed_request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request {
    let (date, authorization) = signed(ACCOUNT, KEY, path);
    let mut all = vec![("x-ms-date", &*date), ("authorization", &*authorization)];
    all.extend(headers);
    request(method, path, &all, body)
}

fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Request {
    let mut request = http::Request::builder().method(method).uri(path).header("host", "127.0.0.1:10002");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (head, ()) = request.body(()).unwrap().into_parts();
    Request { head, body: Bytes::copy_from_slice(body.as_bytes()), peer: Peer::LOCAL }
}

/// A server spawns what it answers.
fn is_send<F: Future + Send>(future: F) -> F {
    future
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.0.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn text(&self) -> &str {
        str::from_utf8(self.0.body()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(self.text()).unwrap()
    }

    /// Returns the status and the code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.status(), self.header("x-ms-error-code"))
    }
}
