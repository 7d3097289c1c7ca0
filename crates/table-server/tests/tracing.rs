//! What spans and events say of requests, and what they must never say.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

#[path = "support/signing.rs"]
mod signing;

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use table_core::Store;
use table_server::account::{Given, KeyKeeper};
use table_server::listen::{Limits, Server};
use table_server::service::{Service, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

const ACCOUNT: &str = "acme";
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

/// Takes in the text of everything that is told, of all targets and levels.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<String>>);

impl Visit for Told {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{}={value:?}", field.name()).unwrap();
    }
}

impl Subscriber for Told {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        writeln!(self.0.lock().unwrap(), "span {}", span.metadata().name()).unwrap();
        span.record(&mut self.clone());
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn spans_name_operations_and_tables_and_never_keys_values_or_signatures() {
    let told = Told::default();
    tracing::subscriber::set_global_default(told.clone()).unwrap();
    let store = Store::temporary().unwrap();
    let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
    let account = KeyKeeper::open(store.to_async(), ACCOUNT, given).await.unwrap();
    let service = Arc::new(Service::new(store.to_async(), Arc::new(account), Settings::default()));
    let server = Server::bind(([127, 0, 0, 1], 0).into(), Limits::default(), service).await.unwrap();
    let address = server.address();
    let serving = tokio::spawn(server.run(std::future::pending()));

    let entity = r#"{"PartitionKey":"canary","RowKey":"canary","Value":"canary"}"#;
    let mut signatures = Vec::new();
    for (method, path, body, is_signed) in [
        ("POST", "/acme/Tables", r#"{"TableName":"Company"}"#, true),
        ("POST", "/acme/Company", entity, true),
        ("POST", "/acme/Company", entity, true),
        ("GET", "/acme/Company(PartitionKey='canary',RowKey='canary')", "", true),
        ("GET", "/acme/Company()?$filter=Value%20eq%20'canary'", "", true),
        ("GET", "/acme/Company()?sv=2019-02-02&tn=Company&sp=r&sig=canary", "", false),
        ("GET", "/acme/Canary()?sig=canary", "", false),
    ] {
        let (date, mut authorization) = signing::signed(ACCOUNT, KEY, path);
        if !is_signed {
            authorization = "SharedKeyLite acme:canary".to_owned();
        }
        signatures.push(authorization.rsplit_once(':').unwrap().1.to_owned());
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let head =
            format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-ms-date: {date}\r\n");
        let length = body.len();
        let rest = format!("authorization: {authorization}\r\ncontent-length: {length}\r\n\r\n{body}");
        stream.write_all((head + &rest).as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(if is_signed { "HTTP/1.1 " } else { "HTTP/1.1 403 " }), "{answer}");
    }
    serving.abort();

    let text = told.0.lock().unwrap().clone();
    for part in [
        "span request\n",
        "http.request.method=\"GET\"\n",
        "url.scheme=\"http\"\n",
        "db.system.name=\"table-core\"\n",
        "db.collection.name=\"Company\"\n",
        "db.operation.name=\"InsertEntity\"\n",
        "db.operation.name=\"QueryEntities\"\n",
        "http.response.status_code=201\n",
        "http.response.status_code=403\n",
        "error.type=\"EntityAlreadyExists\"\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    let text = text.to_lowercase();
    assert!(!text.contains("canary") && !text.contains("sharedkey") && !text.contains("sig="), "{text}");
    assert!(signatures.iter().all(|signature| !text.contains(&signature.to_lowercase())), "{text}");
    assert!(!text.contains(&KEY.to_lowercase()));
}
