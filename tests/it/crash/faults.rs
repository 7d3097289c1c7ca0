//! System calls that fail, and death in each of them: `strace` does it. Without `strace`, nothing is tested here.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use integration_tests::child::Child;
use integration_tests::{Scratch, work};
use table_core::{Query, Store};

use super::{PROGRAM, child, size};

/// The calls by which a commit reaches the disk, and the header before the first.
const CALLS: [&str; 5] = ["write", "pwrite64", "pwritev", "writev", "fdatasync"];

/// Whether there is a `strace` that may trace; says so if not.
pub(super) fn traces() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null());
    let traces = strace.status().is_ok_and(|status| status.success());
    if !traces {
        println!("no strace, or it may not trace: skipped");
    }
    traces
}

/// A store for the child, with its first batch.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    child("prepare", &[scratch.path().join("store").to_str().unwrap()]).finish();
    scratch
}

/// Runs a child under `strace` and gives what it said, with the calls that it made on the data file.
fn traced(
    scratch: &Scratch,
    role: &str,
    arguments: &[&str],
    inject: Option<&str>,
) -> (Vec<String>, Vec<String>) {
    let log = scratch.path().join("log");
    let mut command = Command::new("strace");
    // One thread makes every call: those that reclaim in the background are not followed.
    command.args(["-y", "-e", &format!("trace={}", CALLS.join(",")), "-o"]).arg(&log);
    if let Some(inject) = inject {
        command.args(["-e", &format!("inject={inject}")]);
    }
    command.args([PROGRAM, role]).arg(scratch.path().join("store")).args(arguments).stderr(Stdio::null());
    let (_, lines) = Child::spawn(&mut command).end();
    let log = fs::read_to_string(&log).unwrap();
    let calls = log.lines().filter(|line| line.contains("data.mdb"));
    (lines, calls.filter_map(|line| line.split('(').next()).map(str::to_owned).collect())
}

/// The calls of the child's first batch: the header as it was and a flush, writes of data and a flush, the new header.
fn first_commit() -> Vec<String> {
    let (lines, mut calls) = traced(&prepared(), "batches", &["0"], None);
    assert!(lines.starts_with(&["batch 1".into(), "batch 2".into(), "batch 3".into()]), "{lines:#?}");
    assert!(calls.starts_with(&["write".into(), "fdatasync".into()]), "{calls:?}");
    let flush = 2 + calls[2..].iter().position(|call| call == "fdatasync").unwrap();
    calls.truncate(flush + 2);
    assert!(flush > 2 && calls[flush + 1] == "pwrite64", "{calls:?}");
    calls
}

/// `CALL:when=N` for the call at this place of a sequence.
fn at(calls: &[String], place: usize, what: &str) -> String {
    let call = &calls[place];
    let number = calls[..=place].iter().filter(|other| *other == call).count();
    format!("{call}:{what}:when={number}")
}

#[test]
fn a_failed_data_write_or_flush_is_an_error_and_nothing_was_written() {
    if !traces() {
        return;
    }
    let calls = first_commit();
    for place in 0..calls.len() - 1 {
        for (error, kind) in [("EIO", "Io"), ("ENOSPC", "DiskFull"), ("EDQUOT", "DiskFull")] {
            let inject = at(&calls, place, &format!("error={error}"));
            let (lines, _) = traced(&prepared(), "batches", &["0"], Some(&inject));
            let expected = [&*format!("batch {kind}"), "batch 2", "batch 3", "get true", "query 3"];
            assert_eq!(lines[..5], expected, "{inject}");
            assert_eq!(lines[lines.len() - 3..], ["reopened 3", "problems 0", "batch 4"], "{inject}");
        }
    }
}

#[test]
fn a_failed_header_write_stops_the_store_until_it_is_opened_anew() {
    if !traces() {
        return;
    }
    let calls = first_commit();
    let inject = at(&calls, calls.len() - 1, "error=EIO");
    // With every reader slot taken the failure is harder to tell.
    for snapshots in ["0", "1"] {
        let (lines, _) = traced(&prepared(), "batches", &[snapshots], Some(&inject));
        let (told, anew) = lines.split_at(lines.len() - 3);
        assert!(told.iter().all(|line| line.ends_with(" OutcomeUnknown")), "{snapshots}: {lines:#?}");
        assert_eq!(told.len(), 14);
        assert!(["reopened 0", "reopened 1"].contains(&&*anew[0]), "{lines:#?}");
        assert_eq!(anew[1..], ["problems 0", "batch 4"]);
    }
}

#[test]
fn death_in_any_call_of_a_commit_leaves_all_of_it_or_nothing() {
    if !traces() {
        return;
    }
    let (lines, calls) = traced(&prepared(), "steps", &[], None);
    assert_eq!(lines, ["batch", "create", "work", "drop", "reclaim"]);
    println!("{} calls: {}", calls.len(), calls.join(" "));
    let most = usize::try_from(size("CRASH_DEATHS", 64)).unwrap();
    let step = calls.len().div_ceil(most);
    let (mut tried, mut died) = (0, 0);
    for place in (0..calls.len()).step_by(step) {
        let scratch = prepared();
        let inject = at(&calls, place, "signal=SIGKILL");
        let (lines, made) = traced(&scratch, "steps", &[], Some(&inject));
        tried += 1;
        // The thread in the background may have made some of the calls this time: then the last of them never come.
        died += usize::from(made.len() <= place + 1);
        verify(&scratch.path().join("store"), &lines, &inject);
    }
    assert!(died * 4 >= tried * 3, "{died} of {tried} died");
}

/// Compares the store with the steps that the child has said are done; the next may be, or not.
fn verify(path: &Path, lines: &[String], inject: &str) {
    let done = |step: &str| lines.iter().any(|line| line == step);
    let store = Store::options().verify_first(true).open(path).unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{inject}: {:#?}", report.problems);
    let rows = store.dynamic_table("Fault").unwrap().query(&Query::new()).unwrap();
    let numbers: Vec<_> =
        rows.map(|row| row.unwrap().get("Number").and_then(|n| n.as_i64()).unwrap()).collect();
    assert!(numbers == [1; 5] || numbers == [0; 5] && !done("batch"), "{inject}: {numbers:?}");
    let tables = store.tables().unwrap();
    let has = |name: &str| tables.iter().any(|table| table == name);
    assert!(has("New") || !done("create"), "{inject}");
    assert!(!has("New") || done("batch"), "{inject}");
    let mut writer = work::Writer::new(0, 1);
    for name in work::TABLES {
        let rows: Vec<_> = match store.dynamic_table(name) {
            Ok(table) => table.query(&Query::new()).unwrap().map(Result::unwrap).collect(),
            Err(_) => Vec::new(),
        };
        let at = writer.table();
        writer.advance();
        assert!(rows.is_empty() && !done("work") || rows.iter().eq(writer.rows[at].values()), "{inject}");
    }
    if done("drop") {
        assert!(!has("Others"), "{inject}");
    } else if has("Others") {
        let others = store.dynamic_table("Others").unwrap().query(&Query::new()).unwrap();
        assert_eq!(others.map(Result::unwrap).count(), 50, "{inject}");
    }
    store.reclaim().unwrap();
    assert_eq!(store.stats().unwrap().dropped, 0, "{inject}");
    assert!(store.check().unwrap().problems.is_empty(), "{inject}");
}
