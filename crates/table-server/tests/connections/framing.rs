//! What HTTP/1.1 permits, and what it does not.

use std::time::Duration;

use table_server::exchange::{Request, Response};
use table_server::listen::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Running, answer, echo, get, has_id, rest};

#[tokio::test]
async fn one_connection_carries_request_after_request_and_knows_its_peer() {
    let server = Running::start(Limits::default(), echo).await;
    let mut stream = server.connect().await;
    for path in ["/a", "/b", "/c"] {
        let text = get(&mut stream, path).await;
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        let peer = "Peer { address: 127.0.0.1, is_secure: false }";
        assert!(text.ends_with(&format!("\r\n\r\nGET {path} 0 {peer}\n")), "{text}");
    }
    assert_eq!(server.counters.connections(), 1);
    let numbers = server.counters.to_string();
    let line = "table_server_requests_total{db_operation_name=\"Echo\",http_response_status_code=\"200\"} 3";
    assert!(numbers.lines().any(|found| found == line), "{numbers}");
}

#[tokio::test]
async fn methods_pass_on_and_head_has_no_body() {
    let server = Running::start(Limits::default(), echo).await;
    let mut stream = server.connect().await;
    stream.write_all(b"MERGE /t HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    assert!(answer(&mut stream).await.contains("\r\n\r\nMERGE /t 2 "));
    stream.write_all(b"HEAD /t HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
    let head = rest(&mut stream).await;
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with("\r\n\r\n"), "{head}");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_their_order() {
    let server = Running::start(Limits::default(), |request: Request| async {
        // The first takes the longest.
        let first = request.head.uri.path() == "/0";
        tokio::time::sleep(Duration::from_millis(if first { 100 } else { 0 })).await;
        echo(request).await
    })
    .await;
    let mut sent = String::new();
    for number in 0..20 {
        let head = format!("POST /{number} HTTP/1.1\r\nhost: x\r\n");
        sent = sent + &head + "content-length: 3\r\n\r\nabc";
    }
    sent += "GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let text = server.exchange(sent).await;
    let mut before = 0;
    for number in 0..20 {
        let at = text.find(&format!("\r\n\r\nPOST /{number} 3 ")).unwrap();
        assert!(at >= before);
        before = at;
    }
    assert!(text[before..].contains("\r\n\r\nGET /last 0 "), "{text}");
}

#[tokio::test]
async fn the_first_of_two_pipelined_answers_does_not_wait_for_the_second() {
    let server = Running::start(Limits::default(), |request: Request| async {
        if request.head.uri.path() == "/never" {
            std::future::pending::<()>().await;
        }
        echo(request).await
    })
    .await;
    let mut stream = server.connect().await;
    let both = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\nGET /never HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(both).await.unwrap();
    assert!(answer(&mut stream).await.contains("GET /a 0 "));
}

#[tokio::test]
async fn what_is_no_request_is_refused_by_an_id_also_behind_an_answer() {
    let server = Running::start(Limits::default(), echo).await;
    for (before, count) in [("", 1), ("GET /a HTTP/1.1\r\nhost: x\r\n\r\n", 2)] {
        let text = server.exchange(format!("{before}no request at all\r\n\r\n")).await;
        let refused = text.rfind("HTTP/1.1 400 Bad Request\r\n").unwrap();
        assert!(has_id(&text[refused..]), "{text}");
        assert!(text[refused..].contains("What was sent is not a request of HTTP/1.1."), "{text}");
        assert_eq!(text.matches("HTTP/1.1 ").count(), count, "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_looks_as_a_refusal_of_what_is_no_request_is_sent() {
    let server = Running::start(Limits::default(), |_: Request| async {
        let mut response = Response::default();
        *response.status_mut() = http::StatusCode::BAD_REQUEST;
        response
    })
    .await;
    let mut stream = server.connect().await;
    for _ in 0..2 {
        let text = get(&mut stream, "/").await;
        assert!(text.starts_with("HTTP/1.1 400 ") && text.contains("\r\nx-ms-request-id: "), "{text}");
    }
}

#[tokio::test]
async fn chunked_bodies_are_put_together() {
    let server =
        Running::start(Limits::default(), |request: Request| async { Response::new(request.body) }).await;
    let mut stream = server.connect().await;
    stream
        .write_all(b"POST /t HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n")
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    stream.write_all(b"6;note=1\r\n, ther\r\n1\r\ne\r\n0\r\ntrailer: 1\r\n\r\n").await.unwrap();
    assert!(answer(&mut stream).await.ends_with("\r\n\r\nhello, there"));
    assert!(get(&mut stream, "/").await.starts_with("HTTP/1.1 200"));
}

#[tokio::test]
async fn a_broken_chunk_is_refused_and_reaches_nobody() {
    let server =
        Running::start(Limits::default(), |_: Request| async { unreachable!("no request is whole") }).await;
    let text = server
        .exchange(b"POST /t HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nhello\r\n")
        .await;
    // It ends the connection, with or without words.
    assert!(text.is_empty() || text.starts_with("HTTP/1.1 400 "), "{text}");
    assert!(server.counters.to_string().contains("table_server_panics_total 0\n"));
}

#[tokio::test]
async fn who_asks_to_go_on_is_told_to() {
    let server = Running::start(Limits::default(), echo).await;
    let mut stream = server.connect().await;
    stream
        .write_all(b"PUT /t HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\nexpect: 100-continue\r\n\r\n")
        .await
        .unwrap();
    let mut told = [0; 25];
    stream.read_exact(&mut told).await.unwrap();
    assert_eq!(&told, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"body").await.unwrap();
    assert!(answer(&mut stream).await.contains("\r\n\r\nPUT /t 4 "));
}

#[tokio::test]
async fn who_closes_its_half_is_answered() {
    let server = Running::start(Limits::default(), |request: Request| async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        echo(request).await
    })
    .await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /half HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    assert!(rest(&mut stream).await.contains("\r\n\r\nGET /half 0 "));
}

#[tokio::test]
async fn who_goes_away_does_not_stop_what_it_asked_for() {
    let (done, finished) = tokio::sync::oneshot::channel();
    let done = std::sync::Mutex::new(Some(done));
    let server = Running::start(Limits::default(), move |request: Request| {
        let done = done.lock().unwrap().take().unwrap();
        async {
            tokio::time::sleep(Duration::from_millis(150)).await;
            done.send(()).unwrap();
            echo(request).await
        }
    })
    .await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /gone HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    drop(stream);
    tokio::time::timeout(crate::PATIENCE, finished).await.unwrap().unwrap();
}

#[tokio::test]
async fn garbage_is_refused_and_disturbs_nobody() {
    let server = Running::start(Limits::default(), echo).await;
    let mut neighbour = server.connect().await;
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..],
        b"\0\0\0\0\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost x\r\n\r\n",
        b"GET / HTTP/1.1\r\na: b\x01\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        b"POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let text = server.exchange(garbage).await;
        assert!(text.is_empty() || text.starts_with("HTTP/1.1 4"), "{garbage:?}: {text}");
        assert!(get(&mut neighbour, "/").await.contains("GET / 0 "));
    }
    // What is asked reaches the handler once, for the neighbour each time, and never for garbage.
    let line =
        "table_server_requests_total{db_operation_name=\"Echo\",http_response_status_code=\"200\"} 10\n";
    assert!(server.counters.to_string().contains(line), "{}", server.counters);
}

#[tokio::test]
async fn a_panic_is_a_500_and_the_connection_goes_on() {
    let server = Running::start(Limits::default(), |request: Request| {
        assert!(request.head.uri.path() != "/at-once", "it is meant to");
        async {
            tokio::task::yield_now().await;
            assert!(request.head.uri.path() != "/later", "it is meant to");
            echo(request).await
        }
    })
    .await;
    let mut stream = server.connect().await;
    for path in ["/at-once", "/later"] {
        let text = get(&mut stream, path).await;
        assert!(text.starts_with("HTTP/1.1 500 "), "{text}");
        assert!(text.contains("\r\nx-ms-error-code: InternalError\r\n"), "{text}");
        assert!(!text.contains("meant"), "{text}");
    }
    assert!(get(&mut stream, "/fine").await.contains("GET /fine 0 "));
    assert!(server.counters.to_string().contains("table_server_panics_total 2\n"));
    assert_eq!(server.counters.requests_in_flight(), 0);
}
