//! A studio as a process, and a browser that knows what it was told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A studio that runs.
pub(crate) struct Studio {
    process: Child,
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// What it has answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Studio {
    /// Starts one over a store, with these flags besides.
    pub(crate) fn start(store: &Path, flags: &[&str]) -> Self {
        Self::start_in(store, flags, &[])
    }

    /// Starts one with these variables.
    pub(crate) fn start_in(store: &Path, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tables"));
        command.args(["studio", "--store"]).arg(store).args(flags).env_remove("TABLES_STORE");
        command.envs(variables.iter().copied());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let rest = line.trim().strip_prefix("http://127.0.0.1:").expect("an address of this machine");
        let (port, token) = rest.split_once("/?token=").expect("a token in the address");
        Self { process, port: port.parse().unwrap(), token: token.to_owned() }
    }

    /// Returns the header by which the browser is known.
    pub(crate) fn cookie(&self) -> String {
        format!("Cookie: tables-studio-{}={}", self.port, self.token)
    }

    /// Sends a request as it is, with these headers alone.
    pub(crate) fn send(&self, line: &str, headers: &[&str], body: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            request.push_str(header);
            request.push_str("\r\n");
        }
        if !body.is_empty() {
            request.push_str(&["Content-Length: ", &body.len().to_string(), "\r\n"].concat());
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// Loads a page as the browser does that was let in.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        self.send(&format!("GET {path}"), &[&host, &self.cookie()], "")
    }

    /// Sends a form of a page, which has the token that the page has.
    pub(crate) fn post(&self, page: &str, path: &str, fields: &str) -> Answer {
        let form = self.form_token(page);
        let address = format!("127.0.0.1:{}", self.port);
        let headers = [
            &*format!("Host: {address}"),
            &*format!("Origin: http://{address}"),
            &*self.cookie(),
            "Content-Type: application/x-www-form-urlencoded",
        ];
        self.send(&format!("POST {path}"), &headers, &format!("form={form}{fields}"))
    }

    /// Returns the token of a page's forms.
    pub(crate) fn form_token(&self, page: &str) -> String {
        let page = self.get(page).body;
        let (_, behind) = page.split_once("name=\"form\" value=\"").expect("a form");
        behind.split('"').next().unwrap().to_owned()
    }

    /// Reads a piece of a page until something stands in it, and returns what was sent so far.
    pub(crate) fn read_events(&self, path: &str, until: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", self.cookie());
        stream.write_all(request.as_bytes()).unwrap();
        let (mut sent, mut piece) = (String::new(), [0; 4096]);
        while !sent.contains(until) {
            let count = stream.read(&mut piece).expect("events come");
            assert!(count > 0, "the events ended: {sent}");
            sent.push_str(&String::from_utf8_lossy(&piece[..count]));
        }
        sent
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}
