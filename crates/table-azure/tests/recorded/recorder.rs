//! What passes requests on to a server, and keeps them without what differs from run to run.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A proxy that keeps what it passes on. Its threads end with the connections.
pub(crate) struct Recorder {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<String>>,
}

impl Recorder {
    pub(crate) fn start(server: SocketAddr) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<String>>::default();
        let keeps = requests.clone();
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let keeps = keeps.clone();
                thread::spawn(move || pass_on(&client, server, address, &keeps));
            }
        });
        Self { address, requests }
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.requests.lock().unwrap())
    }
}

/// Passes the requests of a connection on, until one side ends it.
fn pass_on(mut client: &TcpStream, server: SocketAddr, own: SocketAddr, keeps: &Mutex<String>) -> Option<()> {
    let server = TcpStream::connect(server).ok()?;
    let (mut asks, mut answers) = (BufReader::new(client), BufReader::new(&server));
    loop {
        let (head, body) = message(&mut asks)?;
        keeps.lock().unwrap().push_str(&told(&head, &body, own));
        (&server).write_all(&[head.as_bytes(), &body].concat()).ok()?;
        let (head, body) = message(&mut answers)?;
        client.write_all(&[head.as_bytes(), &body].concat()).ok()?;
    }
}

/// Reads a request or an answer, whose length is said; `None` where the connection ends.
fn message(stream: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_lowercase();
    let length = lower.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0_usize)];
    stream.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// Returns the text of a request, without what differs from run to run: its headers in alphabetical order.
fn told(head: &str, body: &[u8], own: SocketAddr) -> String {
    let mut lines = head.trim_end().lines();
    let request = lines.next().unwrap_or_default();
    let mut headers: Vec<_> = lines
        .map(|line| {
            let (name, value) = line.split_once(": ").unwrap_or((line, ""));
            let name = name.to_lowercase();
            let value = match &*name {
                "authorization" => value.split(':').next().unwrap_or_default(),
                "x-ms-date" | "content-length" => "*",
                _ => value,
            };
            format!("{name}: {value}")
        })
        .collect();
    headers.sort();
    let body = String::from_utf8_lossy(body).replace("\r\n", "\n");
    let mut text = format!("{request}\n{}\n\n", headers.join("\n"));
    if !body.is_empty() {
        text.push_str(body.trim_end());
        text.push_str("\n\n");
    }
    let text = text.replace(&own.to_string(), "HOST");
    let is_hex: Sign = |c| c.is_ascii_hexdigit();
    let hidden: [(&str, Sign); 5] = [
        ("batch_", is_hex),
        ("changeset_", is_hex),
        ("\"TcCommit\":\"", |c| c.is_ascii_hexdigit() || c == ';'),
        ("datetime'", |c| c != '\''),
        ("\"Id\":\"", |c| c.is_ascii_digit()),
    ];
    hidden.into_iter().fold(text, |text, (before, is_of_it)| hide(&text, before, is_of_it))
}

/// Says whether a sign differs from run to run.
type Sign = fn(char) -> bool;

/// Returns the text with a star in the place of the signs of this sort that follow each of these words.
fn hide(text: &str, before: &str, is_of_it: Sign) -> String {
    let mut parts = text.split(before);
    let mut hidden = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        hidden.push_str(before);
        let rest = part.trim_start_matches(is_of_it);
        if rest.len() < part.len() {
            hidden.push('*');
        }
        hidden.push_str(rest);
    }
    hidden
}
