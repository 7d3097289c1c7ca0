//! Processes that a test starts, talks to by lines, and kills.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for anything that should happen at once.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The child said nothing and did not end.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

/// A running process. It is killed when the value is dropped.
#[derive(Debug)]
pub struct Child {
    process: std::process::Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Child {
    /// Starts a program in one of its roles.
    pub fn start<S: AsRef<std::ffi::OsStr>>(program: &str, role: &str, arguments: &[S]) -> Self {
        Self::spawn(Command::new(program).arg(role).args(arguments))
    }

    /// Starts a command whose output lines are to be read.
    pub fn spawn(command: &mut Command) -> Self {
        let mut process =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process can be started");
        let output = process.stdout.take().expect("its output is piped");
        let (sender, lines) = mpsc::channel();
        // Ends with the process: its end closes the pipe.
        thread::spawn(move || {
            for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                drop(sender.send(String::from_utf8_lossy(&line).into_owned()));
            }
        });
        let input = process.stdin.take();
        Self { process, input, lines }
    }

    /// The next line, or `None` when the process has closed its output. An error if neither comes in time.
    pub fn next_within(&mut self, patience: Duration) -> Result<Option<String>, Silent> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err(Silent),
        }
    }

    /// The next line, or `None` when the process has closed its output. Panics if neither comes in time.
    pub fn line_within(&mut self, patience: Duration) -> Option<String> {
        self.next_within(patience).expect("the child says something")
    }

    /// The next line; panics if the process ends instead.
    pub fn line(&mut self) -> String {
        self.line_within(PATIENCE).unwrap_or_else(|| panic!("the child is gone: {}", self.status()))
    }

    /// Waits for this very line.
    pub fn expect(&mut self, line: &str) {
        assert_eq!(self.line(), line);
    }

    /// Sends a line.
    pub fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        let said = writeln!(input, "{line}").and_then(|()| input.flush());
        said.unwrap_or_else(|error| panic!("the child is gone: {error}, {}", self.status()));
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// How the process ended, which it has: whether by itself or by whose signal.
    pub fn status(&mut self) -> ExitStatus {
        self.process.wait().expect("the process can be waited for")
    }

    /// Kills the process and gives the lines that it had still written. Panics if it has panicked before: that is no death
    /// that the test brought about.
    pub fn kill(mut self) -> Vec<String> {
        self.stop();
        // The pipe holds what was written before the end.
        let lines: Vec<_> = self.lines.iter().collect();
        assert_ne!(self.status().code(), Some(101), "the child panicked before it was killed: {lines:#?}");
        lines
    }

    /// Waits for the process to end by itself and gives the rest of its lines.
    pub fn end(mut self) -> (ExitStatus, Vec<String>) {
        drop(self.input.take());
        let deadline = Instant::now() + PATIENCE;
        let mut lines = Vec::new();
        while let Some(line) = self.line_within(deadline.saturating_duration_since(Instant::now())) {
            lines.push(line);
        }
        (self.status(), lines)
    }

    /// Waits for the process to end well.
    pub fn finish(self) -> Vec<String> {
        let (status, lines) = self.end();
        assert!(status.success(), "{status}: {lines:#?}");
        lines
    }

    /// Sends `SIGKILL` and waits for the end.
    fn stop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop();
    }
}
