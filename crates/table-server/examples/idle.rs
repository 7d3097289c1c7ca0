//! Opens connections to a server on which nothing is asked, and prints how much memory the server takes for them.
//!
//! ```text
//! cargo build --release -p table-server
//! cargo run --release -p table-server --example idle -- target/release/table-server 10000
//! ```

#![allow(clippy::print_stdout, reason = "a program for developers")]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What the server may take in all, in KiB.
const BOUND: u64 = 100 * 1024;
/// Longer than a connection keeps its buffers.
const REST: Duration = Duration::from_secs(5);

/// A server that ends with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let program = arguments.next().ok_or("name the program `table-server`, and how many connections")?;
    let count: usize = arguments.next().map_or(Ok(10_000), |count| count.parse())?;
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit)?;

    let directory = tempfile::tempdir()?;
    let mut child = Command::new(program)
        .args(["--address", "127.0.0.1:0", "--admin-address", "none", "--max-connections"])
        .arg(count.saturating_add(1).to_string())
        .arg("--directory")
        .arg(directory.path())
        .stdout(Stdio::piped())
        .spawn()?;
    let output = child.stdout.take().ok_or("the server has no output")?;
    let server = Server(child);
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address =
        line.trim().strip_prefix("listening at ").ok_or_else(|| format!("the server says: {line}"))?;

    report(&server, "no connection")?;
    let mut connections = (0..count).map(|_| TcpStream::connect(address)).collect::<Result<Vec<_>, _>>()?;
    std::thread::sleep(Duration::from_secs(1));
    let fresh = report(&server, &format!("{count} connections, nothing asked"))?;
    for connection in &mut connections {
        connection.set_read_timeout(Some(Duration::from_secs(10)))?;
        connection.write_all(b"GET /devstoreaccount1/Tables HTTP/1.1\r\nhost: x\r\n\r\n")?;
        let mut answer = [0; 4_096];
        let length = connection.read(&mut answer)?;
        if !answer.starts_with(b"HTTP/1.1 403 ") {
            return Err(format!(
                "the server answers: {}",
                String::from_utf8_lossy(answer.get(..length).unwrap_or_default())
            )
            .into());
        }
    }
    report(&server, "one request by each, just answered")?;
    std::thread::sleep(REST);
    let rested = report(&server, "the same connections, at rest")?;
    let most = fresh.max(rested);
    if most > BOUND {
        return Err(format!("{most} KiB are more than {BOUND} KiB").into());
    }
    Ok(())
}

/// Prints how much of the machine's memory the server has, and returns it, in KiB.
fn report(server: &Server, when: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.0.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()).ok_or("the system tells no memory")?;
    println!("{number:>9} KiB: {when}");
    Ok(number.parse()?)
}
