//! Spans of what a program does and of its requests, as OpenTelemetry has them, and the trace that a request names.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "support/server.rs"]
mod server;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter};
use table_azure::AzureTables;
use table_core::asynchronous::block_on;
use table_core::{Entity, ErrorKind};
use tracing_subscriber::layer::SubscriberExt;

use self::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
}

/// Keeps the spans that have ended.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<SpanData>>>);

impl SpanExporter for Kept {
    async fn export(&self, spans: Vec<SpanData>) -> OTelSdkResult {
        self.0.lock().unwrap().extend(spans);
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

/// Returns what a span says under a name.
fn said(span: &SpanData, name: &str) -> Option<String> {
    span.attributes.iter().find(|known| known.key.as_str() == name).map(|known| known.value.to_string())
}

/// Answers requests that there is no such table, until a connection says nothing; returns their heads.
fn answer(listener: &TcpListener) -> Vec<String> {
    let mut heads = Vec::new();
    loop {
        let (mut stream, _) = listener.accept().unwrap();
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte).unwrap() == 0 {
                return heads;
            }
            head.extend(byte);
        }
        heads.push(String::from_utf8(head).unwrap());
        let body = r#"{"odata.error":{"code":"TableNotFound","message":{"lang":"en-US","value":"none"}}}"#;
        let length = body.len();
        write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
    }
}

#[test]
fn requests_are_part_of_their_callers_trace_and_name_it() {
    let kept = Kept::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(kept.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    tracing::subscriber::set_global_default(tracing_subscriber::registry().with(layer)).unwrap();

    // What the service is told.
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let tables = AzureTables::connect(&connection(address)).unwrap();
    let answering = thread::spawn(move || answer(&listener));
    let asked = tracing::info_span!("ask").in_scope(|| tables.dynamic_table("Company").map(drop));
    assert_eq!(asked.unwrap_err().kind(), ErrorKind::TableNotFound);
    drop(TcpStream::connect(address).unwrap());
    let heads = answering.join().unwrap();

    // What the spans say of changes and reads, blocking and awaited.
    let own = Own::start();
    let tables = AzureTables::connect(&connection(own.address)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    let mia = Employee { department: "Sales".into(), id: 41, name: "Mia".into() };
    tracing::info_span!("hire").in_scope(|| {
        staff.insert(&mia).unwrap();
        assert_eq!(staff.insert(&mia).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    });
    let awaited = block_on(tables.to_async().table::<Employee>()).unwrap();
    tracing::info_span!("look").in_scope(|| {
        assert!(block_on(awaited.get(Employee::key("Sales", 41))).unwrap().is_some());
    });
    drop(own);
    provider.shutdown().unwrap();
    let spans = kept.0.lock().unwrap();
    let named = |name: &str| spans.iter().find(|span| span.name == name).unwrap();
    let below = |parent: &SpanData, name: &str| -> Vec<&SpanData> {
        let is_below = |span: &&SpanData| {
            span.parent_span_id == parent.span_context.span_id()
                && span.span_context.trace_id() == parent.span_context.trace_id()
        };
        spans.iter().filter(is_below).filter(|span| span.name == name).collect()
    };

    let requests = below(named("ask"), "request");
    assert!(!heads.is_empty() && heads.len() == requests.len(), "{spans:#?}");
    for (request, head) in requests.into_iter().zip(heads) {
        let context = &request.span_context;
        let header = format!("traceparent: 00-{}-{}-01\r\n", context.trace_id(), context.span_id());
        assert!(head.contains(&header), "{header}{head}");
        assert_eq!(said(request, "http.request.method").unwrap(), "GET");
        assert_eq!(said(request, "http.response.status_code").unwrap(), "404");
        assert_eq!(said(request, "error.type").unwrap(), "TableNotFound");
        assert_eq!(said(request, "http.request.resend_count"), None);
        assert!(said(request, "server.address").unwrap().starts_with("127.0.0.1:"));
    }

    let commits = below(named("hire"), "commit");
    assert_eq!(commits.len(), 2, "{spans:#?}");
    for commit in &commits {
        assert_eq!(said(commit, "db.namespace").unwrap(), "acme");
        assert_eq!(said(commit, "db.collection.name").unwrap(), "Company");
        assert!(
            below(commit, "request").iter().all(|request| said(request, "http.request.method").is_some())
        );
    }
    let requests: Vec<_> = commits.iter().flat_map(|commit| below(commit, "request")).collect();
    assert!(requests.len() >= 2, "{spans:#?}");
    assert!(
        commits.iter().any(|commit| said(commit, "error.type").as_deref() == Some("EntityAlreadyExists"))
    );
    // An awaited read asks for what it lacks between its passes.
    assert_eq!(below(named("look"), "request").len(), 1, "{spans:#?}");
    assert!(!below(named("look"), "query").is_empty(), "{spans:#?}");
    // No key and no value is told.
    let text = format!("{spans:?}");
    assert!(!text.contains("Sales") && !text.contains("000041") && !text.contains("Mia"), "{text}");
}
