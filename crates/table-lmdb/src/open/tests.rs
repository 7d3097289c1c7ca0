//! Opening as a whole: many threads, many processes, crashes and cut files.
//!
//! What needs another process runs this test binary again with a role for [`child`] to play.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

use super::*;

mod creating;
mod cut;
#[cfg(unix)]
mod dying;
mod flushes;
mod free_list;
#[cfg(unix)]
mod hostile;
mod integrity_check;
mod meet;
#[cfg(unix)]
mod names;
mod pre_cow_check;
mod raw_pages;
mod records;
mod sharing;
mod tree;
#[cfg(unix)]
mod turns;
mod whole_file;

pub(super) use self::cut::{rightly_short, varied};
pub(super) use crate::tests_scratch::in_memory as scratch;

const ROLE: &str = "TABLE_CORE_TEST_ROLE";
const PLACE: &str = "TABLE_CORE_TEST_PLACE";

/// What stands for the store around an environment.
#[derive(Debug)]
pub(super) struct Handle(pub(super) Environment);

pub(super) fn open_with(path: &Path, options: &OpenOptions) -> Result<Arc<Handle>> {
    open(path, options, |environment| Ok(Arc::new(Handle(environment))))
}

pub(super) fn open_store(path: &Path) -> Result<Arc<Handle>> {
    open_with(path, &OpenOptions::default())
}

impl Handle {
    pub(super) fn put(&self, rows: impl IntoIterator<Item = (String, Vec<u8>)>) {
        let mut txn = self.0.env.write_txn().unwrap();
        for (key, value) in rows {
            self.0.dbs.data.put(&mut txn, key.as_bytes(), &value).unwrap();
        }
        self.commit(txn);
    }

    /// Commits as a store does, with its own record.
    pub(super) fn commit(&self, mut txn: heed::RwTxn<'_>) {
        Meta::begin(self.0.dbs.main, &txn).unwrap().write(self.0.dbs.main, &mut txn).unwrap();
        txn.commit().unwrap();
    }

    /// Reads every byte of every database, and says how many rows there are.
    pub(super) fn read_all(&self) -> usize {
        let txn = self.0.read_txn().unwrap();
        let Databases { main: _, data, names, catalog, tombstones, pages: _ } = self.0.dbs;
        let bytes = |db: Db| {
            db.iter(&txn)
                .unwrap()
                .map(|row| row.unwrap().1.iter().map(|byte| usize::from(*byte)).sum())
                .collect()
        };
        let sums: [Vec<usize>; 4] = [data, names, catalog, tombstones].map(bytes);
        sums.iter().map(Vec::len).sum()
    }
}

/// Starts this binary as another process that plays a role.
fn play(role: &str, place: &Path) -> Child {
    play_in(Command::new(std::env::current_exe().unwrap()), role, place)
}

fn play_in(mut binary: Command, role: &str, place: &Path) -> Child {
    binary
        .args(["--exact", "open::tests::child", "--nocapture", "--test-threads=1"])
        .env(ROLE, role)
        .env(PLACE, place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for a role to end well: neither a failed assertion nor a signal.
#[track_caller]
fn ends_well(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Waits until a role has printed a line.
fn wait_for(child: &mut Child, line: &str) {
    let mut text = String::new();
    let out = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    while !text.contains(line) {
        assert_eq!(out.read(&mut byte).unwrap(), 1, "{text}");
        text.push(char::from(byte[0]));
    }
}

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().unwrap();
}

/// Not a test by itself: what another test runs as a process of its own.
#[test]
fn child() {
    let (Ok(role), Some(place)) = (std::env::var(ROLE), std::env::var_os(PLACE)) else { return };
    let place = PathBuf::from(place);
    match role.as_str() {
        "create" => creating::play_creator(&place),
        "open in little room" => creating::open_in_little_room(&place),
        "die reading" => sharing::die_reading(&place),
        "die writing" => sharing::die_writing(&place),
        "hold" => sharing::hold(&place),
        "open cut files" => cut::open_all(&place),
        #[cfg(unix)]
        "lock" => turns::lock(&place),
        role => panic!("{role}"),
    }
}
