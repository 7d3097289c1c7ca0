//! What clients can do to a server, by real sockets.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

mod drain;
mod framing;
mod limits;
#[cfg(feature = "tls")]
mod tls;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use table_server::exchange::{Operation, Request, Response};
use table_server::listen::{Counters, Drained, Handle, Limits, Server};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs.
struct Running {
    address: std::net::SocketAddr,
    counters: Arc<Counters>,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Drained>,
}

impl Running {
    async fn start(limits: Limits, handler: impl Handle) -> Self {
        let server = Server::bind(([127, 0, 0, 1], 0).into(), limits, handler).await.unwrap();
        Self::of(server)
    }

    fn of(server: Server<impl Handle>) -> Self {
        let (address, counters) = (server.address(), server.counters());
        let (stop, stopped) = oneshot::channel::<()>();
        let ended = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self { address, counters, stop: Some(stop), ended }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes by a connection of their own, and returns all that comes until the server closes it.
    async fn exchange(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        rest(&mut stream).await
    }

    fn stop(&mut self) {
        self.stop.take().unwrap().send(()).unwrap();
    }

    async fn end(mut self) -> Drained {
        self.stop();
        tokio::time::timeout(PATIENCE, self.ended).await.unwrap().unwrap()
    }
}

/// Answers with the method, the path, how many bytes the body has, and who asked.
async fn echo(request: Request) -> Response {
    let text = format!(
        "{} {} {} {:?}\n",
        request.head.method,
        request.head.uri.path(),
        request.body.len(),
        request.peer
    );
    let mut response = Response::new(Bytes::from(text));
    response.extensions_mut().insert(Operation("Echo"));
    response
}

/// Limits of a few tenths of a second, each told from the others.
fn short() -> Limits {
    let mut limits = Limits::default();
    limits.handshake_time = Duration::from_millis(200);
    limits.header_time = Duration::from_millis(300);
    limits.body_time = Duration::from_millis(400);
    limits.idle_time = Duration::from_millis(700);
    limits.write_time = Duration::from_millis(500);
    limits.drain_time = Duration::from_millis(900);
    limits
}

/// Reads until the other end closes the connection.
async fn rest(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    // A reset after the answer is an end, too.
    let end = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut read)).await;
    assert!(end.is_ok(), "not closed after {:?}", String::from_utf8_lossy(&read));
    String::from_utf8(read).unwrap()
}

/// Reads one answer whose length is said.
async fn answer(stream: &mut (impl AsyncRead + Unpin)) -> String {
    let mut read = Vec::new();
    let reading = async {
        while !read.ends_with(b"\r\n\r\n") {
            read.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(read).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut body).await.unwrap();
        head + &String::from_utf8(body).unwrap()
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap()
}

/// Returns whether an answer has an id, and says it in its text too.
fn has_id(text: &str) -> bool {
    let id = text.lines().find_map(|line| line.strip_prefix("x-ms-request-id: "));
    id.is_some_and(|id| id.len() == 36 && text.contains(&format!("\\nRequestId:{id}\\nTime:")))
}

/// Asks for a path and returns the answer.
async fn get(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str) -> String {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await.unwrap();
    answer(stream).await
}
