//! Requests that are too much, or none of the protocol: refused, and never by a failure of the server.

use bytes::Bytes;
use http::{HeaderValue, Method, Uri};
use table_server::exchange::{Peer, Request};

use crate::client::Client;

fn client() -> Client {
    let client = Client::new();
    client.post("/acme/Tables", r#"{"TableName":"Company"}"#);
    client
}

#[test]
fn what_is_large_is_taken_up_to_its_limit() {
    let client = client();
    let insert = |row: &str, properties: &str| {
        let body = format!("{{\"PartitionKey\":\"p\",\"RowKey\":\"{row}\"{properties}}}");
        client.post("/acme/Company", &body).status()
    };
    let properties = |count: usize| (0..count).map(|number| format!(",\"A{number}\":1")).collect::<String>();
    assert_eq!((insert("a", &properties(252)), insert("b", &properties(256))), (201, 400));
    let texts = |count: usize| {
        (0..count).map(|number| format!(",\"A{number}\":\"{}\"", "x".repeat(30_000))).collect::<String>()
    };
    assert_eq!((insert("c", &texts(16)), insert("d", &texts(18))), (201, 400));
    assert_eq!((insert(&"k".repeat(512), ""), insert(&"k".repeat(513), "")), (201, 400));
    assert_eq!(insert("e", &format!(",\"A\":\"{}\"", "x".repeat(4 << 20))), 400);
}

#[test]
fn long_queries_are_answered() {
    let client = client();
    let status = |query: &str| client.get(&format!("/acme/Company()?{query}")).status();
    let terms = |count: usize| vec!["A%20eq%201"; count].join("%20or%20");
    let nested = |depth: usize| format!("{}A%20eq%201{}", "(".repeat(depth), ")".repeat(depth));
    for query in [
        format!("$filter={}", terms(1_000)),
        format!("$filter={}", nested(10_000)),
        format!("$filter={}A%20eq%201", "not%20".repeat(4_000)),
        format!("$filter=A%20eq%20'{}'", "x".repeat(32 << 10)),
        format!("$select={}", vec!["Name"; 1_000].join(",")),
        (0..1_000).map(|number| format!("p{number}=1&")).collect(),
    ] {
        let status = status(&query);
        assert!(status == 200 || status == 400, "{status} to {}", &query[..40]);
    }
    assert_eq!((status("$filter=%ff"), status("$filter=A%20eq%20%"), status("$select=%c3")), (400, 400, 400));
}

#[test]
fn as_many_properties_are_selected_as_an_entity_has() {
    let client = client();
    client.post("/acme/Company", r#"{"PartitionKey":"p","RowKey":"r","A0":1}"#);
    let names = |count: usize| (0..count).map(|number| format!("A{number}")).collect::<Vec<_>>().join(",");
    for resource in ["Company()", "Company(PartitionKey='p',RowKey='r')"] {
        let select = |count| client.get(&format!("/acme/{resource}?$select={}", names(count))).refusal().0;
        assert_eq!((select(255), select(256)), (200, 400), "{resource}");
    }
}

#[test]
fn requests_of_no_resource_are_refused() {
    let client = client();
    for (method, address) in [
        ("OPTIONS", "*"),
        ("GET", "*"),
        ("CONNECT", "acme:443"),
        ("GET", "/"),
        ("GET", "//"),
        ("GET", "/acme"),
        ("GET", "/acme//"),
        ("HEAD", "/acme/Company()"),
        ("TRACE", "/acme/Company()"),
        ("OPTIONS", "/acme/Company()"),
        ("GET", "http://elsewhere/acme/Company()"),
        ("GET", "/acme/%ff"),
        ("GET", "/acme/Company(PartitionKey='%ff',RowKey='')"),
    ] {
        let mut request = http::Request::new(());
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap();
        *request.uri_mut() = address.parse::<Uri>().unwrap();
        for name in ["host", "authorization", "x-ms-date", "if-match", "accept", "origin"] {
            request.headers_mut().insert(name, HeaderValue::from_bytes(b"\xff\xfe").unwrap());
        }
        let (head, ()) = request.into_parts();
        let answer = client.ask(Request { head, body: Bytes::new(), peer: Peer::LOCAL });
        assert!((400..404).contains(&answer.status()), "{method} {address} {}", answer.status());
        if !address.contains(':') {
            let signed = client.send(method, address, &[], "").status();
            assert!((200..500).contains(&signed), "{method} {address} {signed}");
        }
    }
}
