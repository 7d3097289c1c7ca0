//! What the tests share: a store for each, in a schema of its own, and a proxy before the server.

#![allow(dead_code, reason = "not every program of tests needs all of it")]
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "a test that fails panics"
)]

pub(crate) mod proxy;
#[cfg(unix)]
pub(crate) mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use table_core::__executor::Backend;
use table_postgres::{PostgresOptions, PostgresTables};

/// The variable that names the server; `server.sh` starts one.
const SERVER: &str = "TABLE_POSTGRES";

/// Returns the address of the server that tests use.
pub(crate) fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_| panic!("`{SERVER}` is not set: run the tests by `test.sh`"))
}

/// Returns the address of the server, at another port of this machine.
pub(crate) fn server_at(port: u16) -> String {
    let server = server();
    let (before, rest) = server.rsplit_once(':').unwrap();
    let (_, after) = rest.split_once('/').unwrap();
    format!("{before}:{port}/{after}")
}

/// Returns the port of the server.
pub(crate) fn server_port() -> u16 {
    let server = server();
    let (_, rest) = server.rsplit_once(':').unwrap();
    rest.split_once('/').unwrap().0.parse().unwrap()
}

/// Returns the name of a schema that no other test has.
pub(crate) fn schema() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs statements on the server, as its own user.
pub(crate) fn execute(sql: &str) {
    let done = std::process::Command::new("psql").args([&*server(), "-qc", sql]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// Returns what the server's own user is answered, a row a line.
pub(crate) fn ask(sql: &str) -> String {
    let done = std::process::Command::new("psql").args([&*server(), "-Atqc", sql]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim_end().to_owned()
}

/// Begins a process that holds a table of the server, as what writes to it does, until it is killed; returns when it does.
pub(crate) fn hold(table: &str) -> std::process::Child {
    use std::io::Read;

    let sql = format!("BEGIN; LOCK TABLE {table} IN ROW EXCLUSIVE MODE; SELECT 1");
    let mut psql = std::process::Command::new("psql");
    let piped = psql.args([&*server(), "-Atq"]).stdin(std::process::Stdio::piped());
    let mut child = piped.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("{sql};\n").as_bytes()).unwrap();
    // It answers once it holds the table.
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    child
}

/// Returns options of a store that no other test has.
pub(crate) fn options() -> PostgresOptions {
    PostgresTables::options().schema(schema())
}

/// Returns an empty store.
pub(crate) fn tables() -> PostgresTables {
    options().connect(&server()).unwrap()
}

/// Returns an empty store as the engine holds it.
pub(crate) fn backend() -> Arc<dyn Backend> {
    tables().backend().clone()
}
