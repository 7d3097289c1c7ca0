//! A client of queues that signs its requests.

use std::sync::Arc;

use bytes::Bytes;
use table_core::Store;
use table_core::access::sas::AccountKey;
use table_core::asynchronous::block_on;
use table_server::account::{Given, KeyKeeper};
use table_server::exchange::{Operation, Peer, Request, Response};
use table_server::queues::QueueService;

use crate::signing::signed_for_queues;

pub(crate) const ACCOUNT: &str = "acme";
pub(crate) const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

pub(crate) fn key() -> AccountKey {
    AccountKey::new(ACCOUNT, KEY).unwrap()
}

/// A service over a temporary store.
pub(crate) struct Client {
    service: QueueService,
    pub(crate) store: Store,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer(pub(crate) Response);

impl Client {
    pub(crate) fn new() -> Self {
        let store = Store::temporary().unwrap();
        let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
        let account = block_on(KeyKeeper::open(store.to_async(), ACCOUNT, given)).unwrap();
        Self { service: QueueService::new(store.to_async(), Arc::new(account)), store }
    }

    /// Makes one with the queue `hires`.
    pub(crate) fn with_queue() -> Self {
        let client = Self::new();
        assert_eq!(client.send("PUT", "/acme/hires", &[], "").status(), 201);
        client
    }

    /// Sends a request that the account's key has signed, with headers of the service's own.
    pub(crate) fn send(&self, method: &str, path: &str, own: &[(&str, &str)], body: &str) -> Answer {
        let (date, authorization) = signed_for_queues(&key(), method, path, own);
        let mut headers = vec![("x-ms-date", &*date), ("authorization", &*authorization)];
        headers.extend(own);
        self.send_as_it_is(method, path, &headers, body)
    }

    /// Sends a request without a signature.
    pub(crate) fn send_as_it_is(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = http::Request::builder().method(method).uri(path).header("host", "127.0.0.1:10001");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        self.ask(Request { head, body: Bytes::copy_from_slice(body.as_bytes()), peer: Peer::LOCAL })
    }

    pub(crate) fn ask(&self, request: Request) -> Answer {
        Answer(block_on(is_send(self.service.call(request))))
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], "")
    }

    /// Puts a text, and returns the path of the message with its receipt.
    pub(crate) fn put(&self, text: &str, query: &str) -> String {
        let answer = self.send("POST", &format!("/acme/hires/messages{query}"), &[], &message(text));
        assert_eq!(answer.status(), 201, "{}", answer.text());
        answer.address()
    }
}

/// Returns the body of a message.
pub(crate) fn message(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    format!("<QueueMessage><MessageText>{text}</MessageText></QueueMessage>")
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

    pub(crate) fn operation(&self) -> &str {
        self.0.extensions().get::<Operation>().map_or("", |operation| operation.0)
    }

    /// Returns the texts of all elements of a name.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        self.text().split(&*open).skip(1).map(|rest| rest.split(&*close).next().unwrap()).collect()
    }

    /// Returns the path of the only message of the answer, with its receipt.
    pub(crate) fn address(&self) -> String {
        let ([id], [receipt]) = (&self.all("MessageId")[..], &self.all("PopReceipt")[..]) else {
            panic!("{}", self.text())
        };
        format!("/acme/hires/messages/{id}?popreceipt={receipt}")
    }

    /// Returns the status and the code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.status(), self.header("x-ms-error-code"))
    }
}
