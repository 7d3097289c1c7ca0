//! A process of the binary.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Answer, Client, KEY};

/// Longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A server that is ready. It is killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) queues: Option<SocketAddr>,
    pub(crate) connection_string: String,
}

/// Returns the command that starts a server over a directory at any free ports. No setting of the environment gets through.
pub(crate) fn command(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_table-server"));
    command.env_clear().arg("--directory").arg(directory);
    command.args(["--address=127.0.0.1:0", "--admin-address=127.0.0.1:0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Running {
    pub(crate) fn start(directory: &Path, flags: &[&str]) -> Self {
        let mut child = command(directory).args(flags).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut lines = String::new();
        let line = loop {
            let begin = lines.len();
            if output.read_line(&mut lines).unwrap() == 0 {
                let mut errors = String::new();
                child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
                panic!("the server ended: {lines}{errors}");
            }
            if lines[begin..].starts_with("listening at ") {
                break lines[begin..].trim().to_owned();
            }
        };
        let (address, admin) = line.split_once("; health and metrics at http://").unwrap();
        let address = address.strip_prefix("listening at ").unwrap();
        let (address, queues) = match address.split_once(", for queues at ") {
            Some((address, queues)) => (address, Some(queues.parse().unwrap())),
            None => (address, None),
        };
        let address = address.parse().unwrap();
        let admin = admin.parse().unwrap();
        let mut connection_string = String::new();
        output.read_line(&mut connection_string).unwrap();
        Self { child, output, address, admin, queues, connection_string }
    }

    pub(crate) fn client(&self) -> Client<std::net::TcpStream> {
        Client::connect(self.address, KEY).unwrap()
    }

    /// Asks at the operator's address.
    pub(crate) fn ask_admin(&self, method: &str, path: &str) -> Answer {
        Client::connect(self.admin, KEY).unwrap().ask(method, path, "", "").unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the process ends, and returns how, and what it has printed since it was ready.
    pub(crate) fn wait(&mut self) -> (ExitStatus, String) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        (status, text)
    }

    /// Reads lines until one begins so, and returns it.
    #[cfg(feature = "tls")]
    pub(crate) fn line(&mut self, beginning: &str) -> String {
        let mut line = String::new();
        while !line.starts_with(beginning) {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
        }
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
