//! Clients that send too much, too slowly, or nothing.

use std::time::{Duration, Instant};

use bytes::Bytes;
use table_server::exchange::{Request, Response};
use table_server::listen::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{Running, answer, echo, get, has_id, rest, short};

/// Says whether a connection was closed when a limit had passed, on a machine that may be slow.
fn near(began: Instant, limit: Duration) -> bool {
    let took = began.elapsed();
    took + Duration::from_millis(20) >= limit && took < limit + Duration::from_secs(5)
}

#[tokio::test]
async fn headers_that_come_byte_by_byte_are_cut_off() {
    let server = Running::start(short(), echo).await;
    let mut stream = server.connect().await;
    let began = Instant::now();
    for byte in b"GET / HTTP/1.1\r\nhost: a-long-name-of-a-host\r\nmore: " {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(rest(&mut stream).await, "");
    assert!(near(began, short().header_time), "{:?}", began.elapsed());
    assert_eq!(server.counters.timeouts(), 1);
}

#[tokio::test]
async fn a_connection_on_which_nothing_is_asked_is_closed_before_and_after_a_request() {
    let server = Running::start(short(), echo).await;
    let began = Instant::now();
    let (mut fresh, mut used) = (server.connect().await, server.connect().await);
    get(&mut used, "/").await;
    assert_eq!(rest(&mut fresh).await, "");
    assert!(near(began, short().idle_time), "{:?}", began.elapsed());
    assert_eq!(rest(&mut used).await, "");
    // Each request lets it live on.
    let mut kept = server.connect().await;
    for _ in 0..4 {
        tokio::time::sleep(short().idle_time / 2).await;
        get(&mut kept, "/").await;
    }
}

#[tokio::test]
async fn the_beginning_of_a_request_behind_another_is_waited_for_and_not_for_ever() {
    let server = Running::start(short(), echo).await;
    let both = b"GET /a HTTP/1.1\r\nhost: x\r\n\r\nGET /b HT";
    for is_sent in [true, false] {
        let mut stream = server.connect().await;
        stream.write_all(both).await.unwrap();
        assert!(answer(&mut stream).await.contains("GET /a 0 "));
        let began = Instant::now();
        // Longer than a connection keeps its buffers at rest.
        tokio::time::sleep(Duration::from_millis(150)).await;
        if is_sent {
            stream.write_all(b"TP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
            assert!(answer(&mut stream).await.contains("GET /b 0 "));
        }
        assert_eq!(rest(&mut stream).await, "");
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(server.counters.timeouts(), 1);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_a_408() {
    let server = Running::start(short(), echo).await;
    let began = Instant::now();
    let text = server.exchange(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf").await;
    assert!(text.starts_with("HTTP/1.1 408 ") && text.contains("\r\nconnection: close\r\n"), "{text}");
    assert!(has_id(&text), "{text}");
    assert!(
        text.contains("{\"odata.error\":{\"code\":\"OperationTimedOut\",\"message\":{\"lang\":\"en-US\"")
    );
    assert!(near(began, short().body_time), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_slow_answer_is_no_fault_of_the_client() {
    let server = Running::start(short(), |request: Request| async {
        tokio::time::sleep(short().idle_time * 2).await;
        echo(request).await
    })
    .await;
    let mut stream = server.connect().await;
    assert!(get(&mut stream, "/slow").await.contains("GET /slow 0 "));
    assert_eq!(server.counters.timeouts(), 0);
}

#[tokio::test]
async fn who_does_not_read_is_given_up() {
    let server =
        Running::start(short(), |_: Request| async { Response::new(Bytes::from(vec![7; 64 << 20])) }).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut first = [0; 1];
    stream.read_exact(&mut first).await.unwrap();
    let began = Instant::now();
    while server.counters.connections() > 0 {
        assert!(began.elapsed() < crate::PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(server.counters.timeouts(), 1);
}

#[tokio::test]
async fn headers_beyond_the_limit_are_a_431() {
    let server = Running::start(Limits::default(), echo).await;
    let within = format!("GET / HTTP/1.1\r\nlong: {}\r\nconnection: close\r\n\r\n", "x".repeat(60 << 10));
    let mut stream = server.connect().await;
    stream.write_all(within.as_bytes()).await.unwrap();
    assert!(answer(&mut stream).await.contains("GET / 0 "));
    let beyond = format!("GET / HTTP/1.1\r\nlong: {}\r\n\r\n", "x".repeat(80 << 10));
    let text = server.exchange(beyond).await;
    assert!(text.starts_with("HTTP/1.1 431 ") && has_id(&text), "{text}");
}

#[tokio::test]
async fn more_than_a_hundred_headers_are_a_431() {
    let server = Running::start(Limits::default(), echo).await;
    let request = |count: usize| {
        let headers = "h: x\r\n".repeat(count - 1);
        format!("GET / HTTP/1.1\r\n{headers}connection: close\r\n\r\n")
    };
    assert!(server.exchange(request(100)).await.contains("GET / 0 "));
    let text = server.exchange(request(101)).await;
    assert!(text.starts_with("HTTP/1.1 431 ") && has_id(&text), "{text}");
}

#[tokio::test]
async fn a_connection_goes_on_after_it_has_rested() {
    let server = Running::start(Limits::default(), echo).await;
    let mut stream = server.connect().await;
    for path in ["/a", "/b"] {
        assert!(get(&mut stream, path).await.contains(&format!("GET {path} 0 ")));
        // Longer than it keeps its buffers.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    // What comes in pieces, or more than one at a time, is put together as ever.
    stream.write_all(b"G").await.unwrap();
    tokio::time::sleep(Duration::from_millis(20)).await;
    stream.write_all(b"ET /c HTTP/1.1\r\nhost: x\r\n\r\nGET /d HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert!(answer(&mut stream).await.contains("GET /c 0 "));
    assert!(answer(&mut stream).await.contains("GET /d 0 "));
    assert_eq!((server.counters.connections(), server.counters.timeouts()), (1, 0));
    assert_eq!(server.end().await.abandoned, 0);
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test]
async fn a_body_of_the_limit_is_taken_and_one_byte_more_is_a_413() {
    let server = Running::start(Limits::default(), echo).await;
    let limit = Limits::default().body_bytes;
    let request = |bytes: usize| {
        let head =
            format!("POST / HTTP/1.1\r\nhost: x\r\ncontent-length: {bytes}\r\nconnection: close\r\n\r\n");
        [head.into_bytes(), vec![b'x'; bytes]].concat()
    };
    assert!(server.exchange(request(limit)).await.contains(&format!("POST / {limit} ")));
    let text = server.exchange(request(limit + 1)).await;
    assert!(text.starts_with("HTTP/1.1 413 ") && has_id(&text), "{text}");
    assert!(text.contains("\r\nx-ms-error-code: RequestBodyTooLarge\r\n"), "{text}");
    assert!(text.contains("\r\ncontent-type: application/json;odata=minimalmetadata;"), "{text}");
    assert!(text.contains("{\"odata.error\":{\"code\":\"RequestBodyTooLarge\""), "{text}");
}

#[tokio::test]
async fn a_body_of_chunks_is_cut_off_at_the_limit_and_its_sender_reads_why() {
    let server = Running::start(Limits::default(), echo).await;
    let chunk = [&b"10000\r\n"[..], &vec![b'x'; 0x1_0000], b"\r\n"].concat();
    let mut sent = b"POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..100 {
        sent.extend_from_slice(&chunk);
    }
    sent.extend_from_slice(b"0\r\n\r\n");
    let text = server.exchange(sent).await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
}

#[tokio::test]
async fn bodies_beyond_the_room_for_all_are_a_503_until_others_are_answered() {
    let mut limits = Limits::default();
    (limits.body_bytes, limits.bodies_bytes) = (64 << 10, 100 << 10);
    let (go, gone) = tokio::sync::watch::channel(false);
    let server = Running::start(limits, move |request: Request| {
        let mut gone = gone.clone();
        async move {
            if request.head.uri.path() == "/held" {
                gone.wait_for(|is_gone| *is_gone).await.unwrap();
            }
            echo(request).await
        }
    })
    .await;
    let post = |path: &str, bytes: usize| {
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {bytes}\r\n\r\n");
        [head.into_bytes(), vec![b'x'; bytes]].concat()
    };
    // What is announced and does not come takes nothing.
    let mut silent = server.connect().await;
    silent.write_all(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 65536\r\n\r\n").await.unwrap();
    let mut held = server.connect().await;
    held.write_all(&post("/held", 60 << 10)).await.unwrap();
    let began = Instant::now();
    while server.counters.received_bytes() < 60 << 10 {
        assert!(began.elapsed() < crate::PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    let text = server.exchange(post("/", 50 << 10)).await;
    assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("x-ms-error-code: ServerBusy\r\n"), "{text}");
    assert!(has_id(&text), "{text}");
    let mut small = server.connect().await;
    small.write_all(&post("/small", 30 << 10)).await.unwrap();
    assert!(answer(&mut small).await.contains("POST /small 30720 "));
    go.send(true).unwrap();
    assert!(answer(&mut held).await.contains("POST /held 61440 "));
    small.write_all(&post("/large", 60 << 10)).await.unwrap();
    assert!(answer(&mut small).await.contains("POST /large 61440 "));
}

#[tokio::test]
async fn who_asks_before_it_sends_too_much_sends_nothing() {
    let server = Running::start(Limits::default(), echo).await;
    let text = server
        .exchange(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999\r\nexpect: 100-continue\r\n\r\n")
        .await;
    assert!(text.starts_with("HTTP/1.1 413 "), "{text}");
}

#[tokio::test]
async fn a_connection_beyond_the_limit_is_a_503_until_another_ends() {
    let mut limits = Limits::default();
    limits.connections = 2;
    let server = Running::start(limits, echo).await;
    let (mut first, mut second) = (server.connect().await, server.connect().await);
    get(&mut first, "/").await;
    get(&mut second, "/").await;
    let text = server.exchange(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n"), "{text}");
    assert!(has_id(&text), "{text}");
    assert!(text.contains("\"code\":\"ServerBusy\""), "{text}");
    assert!(server.counters.to_string().contains("table_server_connections_refused_total 1\n"));
    drop(first);
    let began = Instant::now();
    while server.counters.connections() > 1 {
        assert!(began.elapsed() < crate::PATIENCE);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut third = server.connect().await;
    third.write_all(b"GET /third HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    assert!(answer(&mut third).await.contains("GET /third 0 "));
}
