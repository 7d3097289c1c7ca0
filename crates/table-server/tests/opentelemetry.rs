//! Spans as OpenTelemetry has them, exported to a collector of the test's own.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by a panic")]

#[path = "support/signing.rs"]
mod signing;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use serde_json::{Value, json};
use table_core::{DynamicEntity, Store};
use table_server::account::{Given, KeyKeeper};
use table_server::listen::{Limits, Server};
use table_server::service::{Service, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing_subscriber::layer::SubscriberExt;

const ACCOUNT: &str = "acme";
const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

/// Sends each span to a collector, as a line of JSON.
#[derive(Debug)]
struct Exporter(Mutex<TcpStream>);

impl SpanExporter for Exporter {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        for span in spans {
            let attributes: BTreeMap<_, _> = span
                .attributes
                .iter()
                .map(|known| (known.key.as_str().to_owned(), known.value.as_str().into_owned()))
                .collect();
            let line = json!({
                "name": span.name,
                "trace": span.span_context.trace_id().to_string(),
                "span": span.span_context.span_id().to_string(),
                "parent": span.parent_span_id.to_string(),
                "attributes": attributes,
            });
            writeln!(self.0.lock().unwrap(), "{line}").unwrap();
        }
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        self.0.lock().unwrap().shutdown(Shutdown::Write).unwrap();
        Ok(())
    }
}

/// Takes in what one exporter sends, until it shuts its side.
fn collect() -> (TcpStream, thread::JoinHandle<Vec<Value>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let exporter = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (stream, _) = listener.accept().unwrap();
    let read = |line: std::io::Result<String>| serde_json::from_str(&line.unwrap()).unwrap();
    (exporter, thread::spawn(move || BufReader::new(stream).lines().map(read).collect()))
}

/// Returns the spans of a name, and of an operation.
fn named<'s>(spans: &'s [Value], name: &str, operation: &str) -> Vec<&'s Value> {
    let is_it = |span: &&Value| span["name"] == name && span["attributes"]["db.operation.name"] == operation;
    spans.iter().filter(is_it).collect()
}

/// The trace of a caller, and the span in it that the request is sent in.
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// Sends a request, with this header besides.
async fn post(address: SocketAddr, path: &str, header: &str, body: &str) -> String {
    let (date, authorization) = signing::signed(ACCOUNT, KEY, path);
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nx-ms-date: {date}\r\nauthorization: {authorization}\r\n\
         content-length: {length}\r\n{header}\r\n{body}"
    );
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test]
async fn spans_reach_a_collector_with_their_names_parents_and_attributes() {
    let (exporter, collected) = collect();
    let provider = SdkTracerProvider::builder().with_simple_exporter(Exporter(Mutex::new(exporter))).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();

    // A program of one process.
    let store = Store::temporary().unwrap();
    let company = store.create_table("Company").unwrap();
    tracing::info_span!("hire").in_scope(|| {
        let mia = DynamicEntity::new("Sales", "mia").with("Age", 41);
        company.insert(&mia).unwrap();
        company.insert(&mia).unwrap_err();
        assert!(company.get("Sales", "mia").unwrap().is_some());
    });

    // A server, and a caller that has a trace of its own.
    let given = Given { key1: Some(KEY.to_owned().into()), key2: None };
    let account = KeyKeeper::open(store.to_async(), ACCOUNT, given).await.unwrap();
    let service = Arc::new(Service::new(store.to_async(), Arc::new(account), Settings::default()));
    let server = Server::bind(([127, 0, 0, 1], 0).into(), Limits::default(), service).await.unwrap();
    let address = server.address();
    let serving = tokio::spawn(server.run(std::future::pending()));
    let body = r#"{"PartitionKey":"Sales","RowKey":"jun"}"#;
    let traced = format!("traceparent: 00-{TRACE}-{CALLER}-01\r\n");
    assert!(post(address, "/acme/Company", &traced, body).await.starts_with("HTTP/1.1 201 "));
    for wrong in [
        "",
        "traceparent: 00-0-0-01\r\n",
        "traceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-01\r\n",
    ] {
        assert!(post(address, "/acme/Company", wrong, body).await.starts_with("HTTP/1.1 409 "));
    }
    serving.abort();
    drop(serving.await);
    provider.shutdown().unwrap();
    let spans = collected.join().unwrap();

    let hire = spans.iter().find(|span| span["name"] == "hire").unwrap();
    assert_eq!(hire["parent"], "0000000000000000");
    for (name, operation) in [("commit", "insert"), ("query", "get")] {
        let found = named(&spans, name, operation);
        let of_hire: Vec<_> = found.iter().filter(|span| span["parent"] == hire["span"]).collect();
        assert!(!of_hire.is_empty(), "{name} {operation}: {spans:#?}");
        for span in of_hire {
            assert_eq!(span["trace"], hire["trace"]);
            assert_eq!(span["attributes"]["db.system.name"], "table-core");
            assert_eq!(span["attributes"]["db.collection.name"], "Company");
        }
    }
    let failed = named(&spans, "commit", "insert");
    assert!(
        failed.iter().any(|span| span["attributes"]["error.type"] == "EntityAlreadyExists"),
        "{failed:#?}"
    );

    let requests = named(&spans, "request", "InsertEntity");
    let joined: Vec<_> = requests.iter().filter(|span| span["trace"] == TRACE).collect();
    assert_eq!((requests.len(), joined.len()), (4, 1), "{requests:#?}");
    assert_eq!(joined[0]["parent"], CALLER);
    assert_eq!(joined[0]["attributes"]["http.response.status_code"], "201");
    let commits = named(&spans, "commit", "insert");
    let of_request = |span: &&&Value| span["parent"] == joined[0]["span"] && span["trace"] == TRACE;
    assert_eq!(commits.iter().filter(of_request).count(), 1, "{commits:#?}");
    let text = format!("{spans:?}");
    assert!(!text.contains("Sales") && !text.contains("jun"), "{text}");
}
