//! A server that answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use table_azure::client::{Client, Credential, Endpoint, Retries};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const KEY: &str = "YSBrZXkgdGhhdCBvcGVucyBub3RoaW5nIGJ1dCB0aGUgc3RvcmUgb2YgYSB0ZXN0";

/// What the stub does with a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// It answers with this status, these headers and this body.
    Answer(u16, &'static str, String),
    /// It closes the connection.
    Close,
    /// It answers nothing.
    Silence,
}

/// Returns an answer of one of the service's refusals.
pub(crate) fn refusal(status: u16, code: &str) -> Act {
    let body = format!(
        "{{\"odata.error\":{{\"code\":\"{code}\",\"message\":{{\"lang\":\"en-US\",\"value\":\"No.\\nTime:x\"}}}}}}"
    );
    Act::Answer(status, "", body)
}

pub(crate) fn answer(status: u16, headers: &'static str, body: &str) -> Act {
    Act::Answer(status, headers, body.to_owned())
}

/// A stub, and the requests that it has got.
pub(crate) struct Stub {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    /// Starts a stub, which does these in turn, and then closes connections.
    pub(crate) async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = format!("http://{}/acme", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let acts = Arc::new(Mutex::new(acts.into_iter().collect::<VecDeque<_>>()));
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, acts.clone(), seen.clone()));
            }
        });
        Self { address, requests }
    }

    pub(crate) fn client(&self) -> Client {
        self.client_of(Credential::Key(table_engine::access::sas::AccountKey::new("acme", KEY).unwrap()))
    }

    pub(crate) fn client_of(&self, credential: Credential) -> Client {
        let retries = Retries::default().attempts(3).first_wait(Duration::from_millis(1));
        Client::new(Endpoint::parse(&self.address).unwrap(), credential, retries, Duration::from_millis(300))
            .unwrap()
    }

    /// Returns the requests, each with its head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, acts: Arc<Mutex<VecDeque<Act>>>, seen: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read(&mut stream).await {
        seen.lock().unwrap().push(request);
        let act = acts.lock().unwrap().pop_front();
        match act {
            Some(Act::Answer(status, headers, body)) => {
                let length = body.len();
                let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {length}\r\n{headers}\r\n");
                // No answer but one of these has a body.
                let body = if status == 204 { String::new() } else { body };
                stream.write_all((head + &body).as_bytes()).await.unwrap();
            }
            Some(Act::Silence) => std::future::pending().await,
            Some(Act::Close) | None => return,
        }
    }
}

/// Reads a request with its body; `None` where the connection ends.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some(head + str::from_utf8(&body).unwrap())
}
