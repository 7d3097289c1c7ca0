//! No room: a limit on the size of files stands for a full disk, a small map for a full map.
//!
//! Where a file may not grow further, a write ends early, as it does where a disk is full.

use std::process::Command;

use integration_tests::child::Child;
use integration_tests::random::Random;
use integration_tests::{Scratch, relaxed};
use table_core::{DynamicEntity, ErrorKind, Query, Store};

use super::{PROGRAM, seed, size};

/// What leaves no room.
#[derive(Clone, Copy, Debug)]
enum Limit {
    /// Files of at most so many blocks of 512 bytes.
    File(u64),
    /// A map of so many bytes.
    Map(u64),
}

impl Limit {
    fn error(self) -> ErrorKind {
        match self {
            Self::File(_) => ErrorKind::DiskFull,
            Self::Map(_) => ErrorKind::MapFull,
        }
    }

    /// What a child says that has `bytes` in each row of a batch, until it ends.
    fn run(self, role: &str, scratch: &Scratch, bytes: u64) -> Vec<String> {
        let store = scratch.path().join("store");
        let (blocks, map) = match self {
            Self::File(blocks) => (blocks.to_string(), 0),
            Self::Map(bytes) => ("unlimited".into(), bytes),
        };
        // Without the trap the signal would kill the process, as `SIGXFSZ` does to one that does not expect it.
        let script = format!(r#"ulimit -f {blocks}; trap '' XFSZ; exec "$@""#);
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, "sh", PROGRAM, role])
            .arg(store)
            .args([map, bytes].map(|n| n.to_string()));
        Child::spawn(&mut command).finish()
    }
}

/// The words after this one, in the first line that starts with it.
fn after<'l>(lines: &'l [String], word: &str) -> Vec<&'l str> {
    let line = lines.iter().find(|line| line.split(' ').next() == Some(word));
    line.unwrap_or_else(|| panic!("no {word}: {lines:#?}")).split(' ').skip(1).collect()
}

fn open(scratch: &Scratch) -> Store {
    relaxed().verify_first(true).open(scratch.path().join("store")).unwrap()
}

fn fill(limit: Limit, bytes: u64) {
    let scratch = Scratch::new();
    let lines = limit.run("fill", &scratch, bytes);
    let full = format!("{:?}", limit.error());
    assert_eq!(after(&lines, "full")[1], full, "{lines:#?}");
    assert_eq!(after(&lines, "again"), [&*full]);
    // What takes room from nobody goes on, or says the same.
    for line in &lines {
        if let Some((what @ ("delete" | "drop" | "reclaim"), outcome)) = line.split_once(' ') {
            assert!(outcome == "Ok" || outcome == full, "{what}: {outcome}");
        }
    }
    assert!(lines.iter().any(|line| line == "delete Ok") || after(&lines, "full")[0] == "0", "{lines:#?}");
    assert_eq!(after(&lines, "drop"), ["Ok"]);
    assert_eq!(after(&lines, "after")[1], full);

    // With room again, all goes on.
    let store = open(&scratch);
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    let table = store.dynamic_table("Full").unwrap();
    let batches: u64 = after(&lines, "end")[0].parse().unwrap();
    assert_eq!(table.query(&Query::new()).unwrap().map(Result::unwrap).count() as u64, 10 * batches);
    for row in 0..100 {
        table.insert(&DynamicEntity::new("more", row.to_string()).with("Text", "x".repeat(3_000))).unwrap();
    }
    store.reclaim().unwrap();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_full_disk_is_an_error_that_harms_nothing_and_passes() {
    let mut random = Random::new(seed());
    for _ in 0..size("CRASH_FULL", 5) {
        let bytes = [40, 1_000, 30_000][usize::try_from(random.below(3)).unwrap()];
        fill(Limit::File(600 + random.below(1_400)), bytes);
    }
}

#[test]
fn a_full_map_is_an_error_that_harms_nothing_and_dropping_a_table_gives_room() {
    let mut random = Random::new(seed());
    for _ in 0..size("CRASH_FULL", 5) {
        let bytes = [40, 1_000, 30_000][usize::try_from(random.below(3)).unwrap()];
        fill(Limit::Map(400_000 + random.below(600_000)), bytes);
    }
}

#[test]
fn a_batch_that_does_not_fit_harms_none_that_shares_its_commit() {
    for limit in [Limit::File(600), Limit::Map(300_000)] {
        let scratch = Scratch::new();
        let lines = limit.run("crowd", &scratch, 30_000);
        let small = after(&lines, "small");
        assert!(small[0].parse::<u64>().unwrap() > 0);
        assert_eq!(small[1], "0", "small batches failed with the large one");
        assert_eq!(after(&lines, "large"), [format!("{:?}", limit.error())]);
        assert_eq!(after(&lines, "shared"), ["true"]);
        assert!(open(&scratch).check().unwrap().problems.is_empty());
    }
}

#[test]
fn a_bulk_load_without_room_says_how_far_it_came() {
    for (limit, bytes) in [
        (Limit::File(1_200), 100),
        (Limit::File(1_999), 30_000),
        (Limit::Map(1 << 20), 100),
        (Limit::Map(2 << 20), 30_000),
    ] {
        let scratch = Scratch::new();
        let lines = limit.run("bulk", &scratch, bytes);
        assert_eq!(after(&lines, "bulk")[0], format!("{:?}", limit.error()));
        let there = after(&lines, "there")[0];
        // The third was refused for what it was, and is not counted.
        let none_from = there.parse::<u64>().unwrap() + 1;
        let text = format!("{there} batches were committed, and none from number {none_from} on");
        assert!(lines[0].ends_with(&text), "{lines:#?}");
        assert!(open(&scratch).check().unwrap().problems.is_empty());
    }
}
