//! A client of HTTP/1.1 over any stream, which signs what it sends.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::signing::signed;

/// The account of emulators and its key, which the binary has if none is given.
pub(crate) const ACCOUNT: &str = table_server::config::WELL_KNOWN_ACCOUNT;
pub(crate) const KEY: &str = table_server::config::WELL_KNOWN_KEY;

/// A connection.
pub(crate) struct Client<S> {
    stream: BufReader<S>,
    key: String,
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Client<TcpStream> {
    pub(crate) fn connect(address: SocketAddr, key: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        Ok(Self::new(stream, key))
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn new(stream: S, key: &str) -> Self {
        Self { stream: BufReader::new(stream), key: key.to_owned() }
    }

    /// Sends a request that the key has signed, and reads the answer.
    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Answer> {
        let path = format!("/{ACCOUNT}/{path}");
        let (date, authorization) = signed(ACCOUNT, &self.key, &path);
        let headers =
            format!("x-ms-date: {date}\r\nauthorization: {authorization}\r\nprefer: return-no-content\r\n");
        self.ask(method, &path, &headers, body)
    }

    /// Sends a request as it is, and reads the answer.
    pub(crate) fn ask(&mut self, method: &str, path: &str, headers: &str, body: &str) -> Result<Answer> {
        let length = body.len();
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(text.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "the server closed the connection"));
            }
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.stream.read_exact(&mut body)?;
        Ok(Answer { status: head[9..12].parse().unwrap(), body: String::from_utf8(body).unwrap() })
    }

    /// Inserts an entity into the table `Load`.
    pub(crate) fn insert(&mut self, partition: &str, row: u64) -> Result<u16> {
        let body = format!(r#"{{"PartitionKey":"{partition}","RowKey":"{row:08}","Number":{row}}}"#);
        Ok(self.send("POST", "Load", &body)?.status)
    }
}
