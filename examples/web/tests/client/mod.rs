//! The service on a port of its own, and a client that writes HTTP/1.1 by hand: so that it can also stop half-way.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use web_example::{Config, Server};

type Done = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// A service that runs, with a directory of its own.
pub struct Service {
    pub address: SocketAddr,
    pub directory: TempDir,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Done>,
}

impl Service {
    pub async fn start() -> Self {
        Self::start_with(tempfile::tempdir().unwrap(), |_| {}).await
    }

    /// Starts it in this directory, with what `set` changes of the configuration.
    pub async fn start_with(directory: TempDir, set: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(directory.path().join("company.tables"));
        config.address.set_port(0);
        set(&mut config);
        let server = Server::bind(config).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let address = server.address();
        let running = tokio::spawn(server.run(async { drop(stopped.await) }));
        Self { address, directory, stop, running }
    }

    /// Tells it to stop, and waits for its end. Returns its directory.
    pub async fn stop(self) -> TempDir {
        self.stop.send(()).unwrap();
        tokio::time::timeout(Duration::from_secs(30), self.running).await.unwrap().unwrap().unwrap();
        self.directory
    }

    /// Sends one request, by a connection of its own.
    pub async fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        Client::connect(self.address).await.unwrap().ask(method, path, headers, body).await.unwrap()
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "").await
    }

    pub async fn create(&self, department: &str, body: &Value) -> Reply {
        self.ask("POST", &format!("/departments/{department}/employees"), &[], &body.to_string()).await
    }

    /// Returns the lines of a department's export.
    pub async fn export(&self, department: &str) -> Vec<Value> {
        self.get(&format!("/departments/{department}/export")).await.lines()
    }
}

/// A connection, which is kept.
pub struct Client(BufReader<TcpStream>);

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn lines(&self) -> Vec<Value> {
        self.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the status, and the code of an error.
    pub fn code(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    pub fn etag(&self) -> &str {
        &self.headers["etag"]
    }
}

impl Client {
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        TcpStream::connect(address).await.map(BufReader::new).map(Self)
    }

    /// Connects with as little room for what is received as there can be.
    pub async fn narrow(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.connect(address).await.map(BufReader::new).map(Self)
    }

    pub async fn ask(&mut self, method: &str, path: &str, headers: &[&str], body: &str) -> io::Result<Reply> {
        self.write(&request(method, path, headers, body)).await?;
        self.reply().await
    }

    pub async fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes()).await
    }

    /// Reads an answer. One that ends early is an error.
    pub async fn reply(&mut self) -> io::Result<Reply> {
        let status = self.line().await?;
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or(io::ErrorKind::UnexpectedEof)?;
        let mut headers = HashMap::new();
        loop {
            let line = self.line().await?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        let mut body = Vec::new();
        if headers.contains_key("transfer-encoding") {
            loop {
                let length = usize::from_str_radix(&self.line().await?, 16).map_err(io::Error::other)?;
                self.read(length, &mut body).await?;
                self.line().await?;
                if length == 0 {
                    break;
                }
            }
        } else if let Some(length) = headers.get("content-length") {
            self.read(length.parse().unwrap(), &mut body).await?;
        }
        Ok(Reply { status, headers, body: String::from_utf8(body).unwrap() })
    }

    async fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).await?;
        line.strip_suffix("\r\n").map(str::to_owned).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    async fn read(&mut self, length: usize, body: &mut Vec<u8>) -> io::Result<()> {
        let begin = body.len();
        body.resize(begin + length, 0);
        self.0.read_exact(&mut body[begin..]).await.map(drop)
    }
}

/// Returns a request as text. Its body is JSON unless a header says otherwise.
pub fn request(method: &str, path: &str, headers: &[&str], body: &str) -> String {
    let mut text =
        format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|header| header.starts_with("Content-Type")) {
        text.push_str("Content-Type: application/json\r\n");
    }
    for header in headers {
        text = text + header + "\r\n";
    }
    text + "\r\n" + body
}
