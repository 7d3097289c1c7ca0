//! The end of a server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use table_server::exchange::Request;
use table_server::listen::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::{Running, echo, get, rest, short};

#[tokio::test]
async fn what_is_under_way_is_answered_and_what_is_idle_is_closed() {
    let mut server = Running::start(Limits::default(), |request: Request| async {
        if request.head.uri.path() == "/slow" {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        echo(request).await
    })
    .await;
    let (mut fresh, mut used, mut busy) =
        (server.connect().await, server.connect().await, server.connect().await);
    get(&mut used, "/").await;
    busy.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    while server.counters.requests_in_flight() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let began = Instant::now();
    server.stop();
    assert_eq!(rest(&mut fresh).await, "");
    assert_eq!(rest(&mut used).await, "");
    assert!(TcpStream::connect(server.address).await.is_err(), "nobody listens any more");
    let text = rest(&mut busy).await;
    assert!(text.contains("\r\nconnection: close\r\n") && text.contains("GET /slow 0 "), "{text}");
    assert_eq!(server.ended.await.unwrap().abandoned, 0);
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn what_is_not_answered_in_time_is_given_up() {
    let server = Running::start(short(), |_: Request| std::future::pending()).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    while server.counters.requests_in_flight() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let counters = server.counters.clone();
    let began = Instant::now();
    assert_eq!(server.end().await.abandoned, 1);
    assert!(began.elapsed() >= short().drain_time);
    assert_eq!((counters.connections(), counters.requests_in_flight()), (0, 0));
    assert_eq!(rest(&mut stream).await, "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_under_load_answers_all_that_was_carried_out() {
    let carried_out = Arc::new(AtomicU64::new(0));
    let count = carried_out.clone();
    let server = Running::start(Limits::default(), move |request: Request| {
        let count = count.clone();
        async move {
            tokio::time::sleep(Duration::from_millis(2)).await;
            count.fetch_add(1, Ordering::SeqCst);
            echo(request).await
        }
    })
    .await;
    let mut clients = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let mut stream = server.connect().await;
        clients.spawn(async move {
            let mut answers = 0;
            loop {
                let mut read = vec![0; 1_024];
                if stream.write_all(b"GET /load HTTP/1.1\r\nhost: x\r\n\r\n").await.is_err() {
                    return answers;
                }
                match stream.read(&mut read).await {
                    Ok(bytes) if bytes > 0 => answers += 1,
                    _ => return answers,
                }
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(server.end().await.abandoned, 0);
    let mut answered = 0;
    while let Some(answers) = clients.join_next().await {
        answered += answers.unwrap();
    }
    assert!(answered > 100, "{answered}");
    assert_eq!(answered, carried_out.load(Ordering::SeqCst));
}
