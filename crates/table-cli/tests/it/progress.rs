//! The bar of progress: on a terminal, and nowhere else.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use table_core::Store;

use crate::terminal;

/// So many entities are written at once.
const CHUNK: usize = 10_000;

/// Longer than a command runs without a bar.
const LONG: Duration = Duration::from_millis(1_500);

/// An import of what comes by a pipe.
struct Import {
    child: Child,
    sent: usize,
}

impl Import {
    fn start(store: &Path, more: &[&str], err: Stdio) -> Self {
        let rejects = store.with_extension("rejects");
        let child = Command::new(env!("CARGO_BIN_EXE_tables"))
            .args(["import", "--write", "Any", "-", "--relaxed", "--store"])
            .arg(store)
            .arg("--rejects")
            .arg(rejects)
            .args(more)
            .env_remove("TABLES_STORE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(err)
            .spawn()
            .unwrap();
        Self { child, sent: 0 }
    }

    /// Sends entities, one more than are written at once, so that the others are.
    fn send(&mut self) {
        let mut text = String::new();
        for _ in 0..=CHUNK {
            writeln!(text, "{{\"PartitionKey\":\"p\",\"RowKey\":\"{:06}\"}}", self.sent).unwrap();
            self.sent += 1;
        }
        self.child.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Ends the pipe; returns what the command has printed.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        let done = self.child.wait_with_output().unwrap();
        assert!(done.status.success());
        format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr))
    }
}

fn store() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("any.tables");
    Store::open(&path).unwrap().close().unwrap();
    (directory, path)
}

/// Reads a screen until the program has gone.
fn rest_of(mut screen: File) -> String {
    let mut rest = Vec::new();
    // The terminal is gone when the last who has it open ends.
    drop(screen.read_to_end(&mut rest));
    String::from_utf8_lossy(&rest).into_owned()
}

#[test]
fn a_terminal_shows_how_far_it_has_come_and_nothing_of_it_in_the_end() {
    let (_directory, path) = store();
    let (mut screen, user) = terminal::open();
    let mut import = Import::start(&path, &[], Stdio::from(user));
    import.send();
    let (mut shown, mut piece) = (String::new(), [0; 4096]);
    while !shown.contains("import Any  10000 rows") {
        let read = screen.read(&mut piece).unwrap_or(0);
        assert!(read > 0, "the import has ended: {shown:?}");
        shown.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    let out = import.end();
    assert!(out.contains("\"written\":10001,") && !out.contains('\u{1b}'), "{out}");
    let rest = rest_of(screen);
    assert!(rest.ends_with("\r\u{1b}[2K"), "{rest:?}");
}

#[test]
fn a_pipe_and_who_wants_none_get_no_bar() {
    let (_directory, path) = store();
    let (screen, user) = terminal::open();
    let mut import = Import::start(&path, &["--quiet"], Stdio::from(user));
    import.send();
    thread::sleep(LONG);
    let out = import.end();
    assert!(out.contains("\"written\":10001,"), "{out}");
    assert_eq!(rest_of(screen), "");

    let mut import = Import::start(&path, &["--mode", "replace"], Stdio::piped());
    import.send();
    thread::sleep(LONG);
    let out = import.end();
    assert!(out.starts_with("{\"table\":\"Any\",\"read\":10001,") && out.lines().count() == 1, "{out}");
}
