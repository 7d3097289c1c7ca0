//! Connections and requests. What blocks runs on threads of its own.

use std::convert::Infallible;
use std::io;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method as HttpMethod, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use super::super::views::Studio;
use super::answer::{Answer, Body, events};
use super::gate::{Gate, Passage};
use super::live;
use super::request::{Method, Request};

/// The most bytes of a form.
const FORM_BYTES: usize = 64 << 10;
/// The most connections at once, those that wait for events among them.
const CONNECTIONS: usize = 64;
/// Threads for calls that block.
const THREADS: usize = 8;
/// For how long the headers of a request may be on their way.
const HEADER_TIME: Duration = Duration::from_secs(10);

/// What every request is answered with.
pub(super) struct Shared {
    gate: Gate,
    pub(super) studio: Arc<Studio>,
}

/// Answers until a signal says to stop.
pub(crate) fn serve(listener: StdListener, gate: Gate, studio: Studio) -> io::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS).build()?;
    let shared = Arc::new(Shared { gate, studio: Arc::new(studio) });
    let served = runtime.block_on(accept(listener, shared));
    // A check that is under way is not waited for.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

async fn accept(listener: StdListener, shared: Arc<Shared>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let room = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            _ = interrupt.recv() => return Ok(()),
            _ = terminate.recv() => return Ok(()),
            accepted = listener.accept() => accepted.ok().map(|(stream, _)| stream),
        };
        let Some(stream) = accepted else {
            // The process has no file left, say: the next one may find one.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
        let shared = Arc::clone(&shared);
        drop(tokio::spawn(async move {
            connection(stream, shared).await;
            drop(permit);
        }));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>) {
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&shared, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME);
    // A browser that breaks off is no error of anybody's.
    drop(http.serve_connection(TokioIo::new(stream), service).await);
}

async fn respond(shared: &Arc<Shared>, request: hyper::Request<Incoming>) -> Response<Body> {
    let method = match *request.method() {
        HttpMethod::GET => Method::Get,
        HttpMethod::POST => Method::Post,
        _ => return Answer::line(405, "Pages are read by GET, and changed by POST.").into_response(),
    };
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, FORM_BYTES).collect().await else {
        return Answer::line(413, "A form has at most 64 KiB.").into_response();
    };
    let body = body.to_bytes();
    let form = std::str::from_utf8(&body).unwrap_or_default();
    let read = Request::read(method, head.uri.path(), head.uri.query().unwrap_or_default(), form);
    let Some(request) = read else {
        return Answer::line(400, "The address has an escape that is no text.").into_response();
    };
    if let Passage::Answered(answer) = shared.gate.look(&head.headers, &request) {
        return answer.into_response();
    }
    if let [live, page] = request.path.as_slice()
        && live == "live"
        && method == Method::Get
    {
        return events(live::send(Arc::clone(&shared.studio), page.clone()));
    }
    let studio = Arc::clone(&shared.studio);
    let answered = tokio::task::spawn_blocking(move || studio.answer(&request)).await;
    answered
        .unwrap_or_else(|_| Answer::line(500, "The page could not be made: its thread has ended."))
        .into_response()
}
