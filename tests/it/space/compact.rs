//! A compacted copy in the place of the store's file: beside other processes, and after death at any step.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use integration_tests::child::Child;
use integration_tests::{Scratch, relaxed};
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, DynamicTable, ErrorKind, Query, Store};

use super::PROGRAM;

const ROWS: usize = 200;

fn row(row: usize) -> DynamicEntity {
    DynamicEntity::new("p", format!("{row:03}")).with("Text", "x".repeat(1_000))
}

fn fill(table: &DynamicTable) {
    for number in 0..ROWS {
        table.insert(&row(number)).unwrap();
    }
}

/// A store with many free pages.
fn made(path: &Path) {
    let store = relaxed().open(path).unwrap();
    let table = store.create_table("Table").unwrap();
    for number in 0..10 * ROWS {
        table
            .insert(&DynamicEntity::new("q", format!("{number:05}")).with("Text", "y".repeat(2_000)))
            .unwrap();
    }
    for number in 0..10 * ROWS {
        table.delete("q", &format!("{number:05}")).unwrap();
    }
    fill(&table);
    let gone = store.create_table("Gone").unwrap();
    fill(&gone);
    store.drop_table("Gone").unwrap();
}

fn rows(table: &DynamicTable) -> usize {
    table.query(&Query::new()).unwrap().map(Result::unwrap).count()
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path.join("data.mdb")).unwrap().ino()
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.collect();
    names.sort();
    names
}

#[test]
fn the_disk_gets_its_space_back_and_everything_is_there() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let store = relaxed().open(&path).unwrap();
    let before = store.stats().unwrap();
    let entities: Vec<_> =
        store.dynamic_table("Table").unwrap().query(&Query::new()).unwrap().map(Result::unwrap).collect();
    let page = store.dynamic_table("Table").unwrap().page(&Query::new(), 10, None).unwrap();
    let store = store.compact().unwrap();
    let after = store.stats().unwrap();
    assert!(after.file_bytes * 4 < before.file_bytes, "{} {}", after.file_bytes, before.file_bytes);
    assert_eq!((after.space.free_bytes, after.dropped), (0, 0));
    assert_eq!(names(&path), ["data.mdb", "lock.mdb"]);
    assert!(store.check().unwrap().problems.is_empty());
    let table = store.dynamic_table("Table").unwrap();
    let now: Vec<_> = table.query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert!(now == entities && now.iter().zip(&entities).all(|(now, then)| now.etag() == then.etag()));
    // It is the same store: a page goes on where the old file's ended.
    let next = table.page(&Query::new(), 10, page.next.as_ref()).unwrap();
    assert_eq!(next.entities, entities[10..20]);
    // And it is written, closed, opened and compacted as ever.
    drop(table);
    for round in 0..3 {
        let table = store.dynamic_table("Table").unwrap();
        table.insert(&DynamicEntity::new("later", format!("{round}"))).unwrap();
    }
    let store = store.compact().unwrap();
    drop(store);
    let store = Store::options().verify_first(true).open(&path).unwrap();
    assert_eq!(rows(&store.dynamic_table("Table").unwrap()), ROWS + 3);
}

#[test]
fn encrypted_values_open_afterwards() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let options = relaxed().encryption(Arc::new(MemoryKeys::new().unwrap()));
    let store = options.open(&path).unwrap();
    let sealed = store.create_table("Table").unwrap().encrypting(|_, _, name| name == "Ssn");
    sealed.insert(&DynamicEntity::new("p", "r").with("Ssn", "078-05-1120")).unwrap();
    drop(sealed);
    let store = store.compact().unwrap();
    let sealed = store.dynamic_table("Table").unwrap().encrypting(|_, _, name| name == "Ssn");
    let row = sealed.get("p", "r").unwrap().unwrap();
    assert_eq!(row.get("Ssn").and_then(|value| value.as_str()), Some("078-05-1120"));
    sealed.insert(&DynamicEntity::new("p", "s").with("Ssn", "1")).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn other_handles_of_this_process_keep_it_from_beginning() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let file = inode(&path);
    for holder in ["clone", "table", "snapshot", "iterator"] {
        let store = relaxed().open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        let held = (
            (holder == "clone").then(|| store.clone()),
            (holder == "table").then(|| table.clone()),
            (holder == "snapshot").then(|| store.snapshot().unwrap()),
            (holder == "iterator").then(|| table.query(&Query::new()).unwrap()),
        );
        drop(table);
        let error = store.compact().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StoreInUse, "{holder}: {error}");
        assert!(error.to_string().starts_with("cannot compact the store: "), "{error}");
        assert_eq!(inode(&path), file, "{holder}");
        drop(held);
        let store = relaxed().open(&path).unwrap();
        assert_eq!(rows(&store.dynamic_table("Table").unwrap()), ROWS);
    }
    let reading = Store::options().read_only(true).open(&path).unwrap();
    assert_eq!(reading.compact().unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(inode(&path), file);
}

#[test]
fn another_process_goes_on_with_its_snapshots_and_is_told_at_its_next_use() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    made(&path);
    let store = relaxed().open(&path).unwrap();
    store.reclaim().unwrap();
    let copy = scratch.path().join("copy");
    let arguments = [path.to_str().unwrap(), "Table", copy.to_str().unwrap()];
    let mut child = Child::start(PROGRAM, "witness", &arguments);
    child.expect("ready");
    let store = store.compact().unwrap();
    let table = store.dynamic_table("Table").unwrap();
    // All of this is the new file's.
    for number in 0..ROWS {
        table.put(&row(number).with("New", true)).unwrap();
    }
    table.insert(&DynamicEntity::new("p", "since")).unwrap();
    child.say("on");
    child.expect(&format!("snapshot {ROWS}"));
    child.expect(&format!("iterator {}", ROWS - 1));
    for what in [
        "get",
        "query",
        "insert",
        "batch",
        "open a table",
        "create",
        "drop",
        "tables",
        "reclaim",
        "check",
        "stats",
        "copy",
    ] {
        let line = child.line();
        // A check finds a problem where nothing can be read.
        assert!(line == format!("{what} Superseded") || what == "check", "{line}");
    }
    assert_eq!(child.line(), "open OptionsConflict");
    child.say("on");
    child.expect("insert done");
    child.expect(&format!("rows {}", ROWS + 2));
    child.finish();
    assert!(!copy.exists());
    assert_eq!(rows(&table), ROWS + 2);
    assert!(table.get("p", "kept").unwrap().is_some() && table.get("p", "lost").unwrap().is_none());
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn no_write_of_another_process_is_lost() {
    const TIMES: i64 = 1_500;
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let mut store = relaxed().open(&path).unwrap();
    let table = store.create_table("Counter").unwrap();
    table.insert(&DynamicEntity::new("counter", "counter").with("Value", 0_i64)).unwrap();
    drop(table);
    let arguments = [path.to_str().unwrap().to_owned(), TIMES.to_string()];
    let mut children: Vec<_> = (0..3).map(|_| Child::start(PROGRAM, "go-on", &arguments)).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    for _ in 0..25 {
        store = store.compact().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let opened: Vec<_> = children.into_iter().map(|child| child.finish().pop().unwrap()).collect();
    println!("opened again: {opened:?}");
    assert!(opened.iter().any(|opened| opened != "0"));
    let counter = store.dynamic_table("Counter").unwrap().get("counter", "counter").unwrap().unwrap();
    assert_eq!(counter.get("Value").and_then(|value| value.as_i64()), Some(3 * TIMES));
    assert!(store.check().unwrap().problems.is_empty());
}

/// The calls by which files are written, named and removed.
const CALLS: [&str; 11] = [
    "pwrite64",
    "pwritev",
    "writev",
    "write",
    "fsync",
    "fdatasync",
    "rename",
    "unlink",
    "unlinkat",
    "rmdir",
    "mkdir",
];

/// Runs a compaction under `strace` and gives its calls since it had opened the store, and whether it said that it did.
fn traced(scratch: &Scratch, inject: Option<&str>) -> (Vec<String>, Vec<String>) {
    let log = scratch.path().join("log");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", &format!("trace={}", CALLS.join(",")), "-o"]).arg(&log);
    if let Some(inject) = inject {
        command.args(["-e", &format!("inject={inject}")]);
    }
    command.args([PROGRAM, "compact"]).arg(scratch.path().join("store")).stderr(Stdio::null());
    let (_, lines) = Child::spawn(&mut command).end();
    let log = fs::read_to_string(&log).unwrap();
    // `PID CALL(ARGUMENTS`
    let calls = log.lines().filter_map(|line| line.split_once(' ')?.1.trim_start().split_once('('));
    (lines, calls.map(|(call, _)| call.to_owned()).collect())
}

#[test]
fn death_or_a_failure_in_any_call_leaves_one_file_or_the_other() {
    let strace = Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !strace.is_ok_and(|status| status.success()) {
        println!("no strace, or it may not trace: skipped");
        return;
    }
    let prepared = || {
        let scratch = Scratch::new();
        let path = scratch.path().join("store");
        let store = relaxed().open(&path).unwrap();
        let table = store.create_table("Table").unwrap();
        fill(&table);
        scratch
    };
    let (lines, calls) = traced(&prepared(), None);
    assert_eq!(lines, ["opened", "compact done"]);
    println!("{} calls: {}", calls.len(), calls.join(" "));
    let mut ends = [0; 2];
    for place in 0..calls.len() {
        for what in ["signal=SIGKILL", "error=EIO", "error=ENOSPC"] {
            let call = &calls[place];
            let number = calls[..=place].iter().filter(|other| *other == call).count();
            let inject = format!("{call}:{what}:when={number}");
            let scratch = prepared();
            let path = scratch.path().join("store");
            let old = inode(&path);
            // Another process has the store open all the while, under the old file's lock.
            let mut child = Child::start(PROGRAM, "witness", &[path.to_str().unwrap(), "Table", "-"]);
            child.expect("ready");
            let (lines, _) = traced(&scratch, Some(&inject));
            // The next one finds a store, alone, with all there was.
            let store =
                relaxed().verify_first(true).open(&path).unwrap_or_else(|error| panic!("{inject}: {error}"));
            assert_eq!(names(&path), ["data.mdb", "lock.mdb"], "{inject}");
            let new = inode(&path) != old;
            assert!(new || !lines.contains(&"compact done".to_owned()), "{inject}: {lines:?}");
            ends[usize::from(new)] += 1;
            let table = store.dynamic_table("Table").unwrap();
            assert_eq!(rows(&table), ROWS, "{inject}");
            table.insert(&DynamicEntity::new("p", "since")).unwrap();
            // The other process writes into the same file, or is told.
            child.say("on");
            child.expect(&format!("snapshot {ROWS}"));
            child.expect(&format!("iterator {}", ROWS - 1));
            let kind = child.line();
            assert!(kind == if new { "get Superseded" } else { "get done" }, "{inject}: {kind}");
            if new {
                child.say("on");
                let rest = child.finish();
                assert_eq!(
                    rest[rest.len() - 2..],
                    ["insert done".to_owned(), format!("rows {}", ROWS + 2)],
                    "{inject}"
                );
            }
            assert!(store.check().unwrap().problems.is_empty(), "{inject}");
        }
    }
    println!("the old file {}, the new one {}", ends[0], ends[1]);
    assert!(ends[0] > 0 && ends[1] > 0);
}
