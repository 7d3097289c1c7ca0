//! Processes that put, upload, hold and log are killed: what was acknowledged is there whole, what was not is there whole
//! or not at all, and nothing is left that nothing leads to but uploads, which expire.

use std::collections::BTreeSet;
use std::time::Duration;

use integration_tests::blobbed::{Picture, Scan, bytes, staged};
use integration_tests::random::Random;
use integration_tests::rolls::{OF_ROW, Roll, discharge, enlist, sides};
use integration_tests::{Scratch, vault};
use table_core::blob::Log;
use table_core::{ErrorKind, Store};

use super::{child, seed, size};

/// What the children have said.
#[derive(Default)]
struct Said {
    files: BTreeSet<u32>,
    pictures: BTreeSet<u32>,
    entries: BTreeSet<u32>,
    /// Those that were to be removed: they may be there or not.
    doubtful: BTreeSet<u32>,
    removed: BTreeSet<u32>,
}

impl Said {
    fn hear(&mut self, line: &str) {
        let (what, number) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
        let number: u32 = number.parse().unwrap();
        let _ = match what {
            "file" => self.files.insert(number),
            "picture" => self.pictures.insert(number),
            "entries" => self.entries.insert(number),
            "removes" => self.doubtful.insert(number),
            "removed" => self.removed.insert(number),
            _ => panic!("{line}"),
        };
    }

    /// Whether one that was acknowledged must be there.
    fn keeps(&self, number: u32) -> bool {
        !self.doubtful.contains(&number)
    }
}

/// The bytes of a number, of either kind of work.
fn made(kind: &str, number: u32) -> Vec<u8> {
    if kind == "staged" { staged(number) } else { bytes(number) }
}

fn compare(store: &Store, said: &Said, kind: &str) {
    let files = store.container("files").unwrap();
    let mut found = BTreeSet::new();
    for blob in files.list("").unwrap() {
        let blob = blob.unwrap();
        let number: u32 = blob.name.parse().unwrap();
        assert!(files.get(&blob.name).unwrap().unwrap() == made(kind, number), "file {number}");
        found.insert(number);
    }
    let missing = |said: &Said, wanted: &BTreeSet<u32>, found: &BTreeSet<u32>| -> Vec<u32> {
        wanted.difference(found).copied().filter(|number| said.keeps(*number)).collect()
    };
    assert_eq!(missing(said, &said.files, &found), Vec::<u32>::new());
    assert!(found.is_disjoint(&said.removed));
    let pictures = store.table::<Picture>().unwrap();
    found.clear();
    for picture in pictures.all() {
        let picture = picture.unwrap();
        assert!(
            picture.picture.get(store).unwrap() == made(kind, picture.number),
            "picture {}",
            picture.number
        );
        found.insert(picture.number);
    }
    assert_eq!(missing(said, &said.pictures, &found), Vec::<u32>::new());
    assert!(found.is_disjoint(&said.removed));
    let log: Log<u32> = store.log("numbers").unwrap();
    let mut entries: Vec<_> = log.entries().unwrap().map(|entry| entry.unwrap().value).collect();
    entries.sort_unstable();
    let firsts: Vec<_> = entries.iter().copied().step_by(4).collect();
    let whole = firsts.iter().flat_map(|first| *first..first + 4);
    assert!(whole.eq(entries.iter().copied()), "what was gathered is there once, and whole");
    let found: BTreeSet<_> = firsts.iter().map(|first| first / 4).collect();
    assert!(said.entries.is_subset(&found), "what was flushed is there");
}

#[test]
fn what_was_put_at_once_is_there_whole_however_often_the_writers_are_killed() {
    killed("single", size("CRASH_BLOB_KILLS", 6));
}

#[test]
fn what_was_put_in_stages_is_there_whole_however_often_the_writers_are_killed() {
    killed("staged", size("CRASH_BLOB_KILLS", 6));
}

#[test]
fn what_was_sealed_is_there_whole_however_often_the_writers_are_killed() {
    let scratch = Scratch::new();
    drop(vault::open(scratch.path()).unwrap());
    let mut random = Random::new(seed());
    let (mut said, mut done) = (Said::default(), 0);
    let cycles = size("CRASH_BLOB_KILLS", 6);
    for cycle in 0..cycles {
        let start = |number: u64| {
            let first = (cycle * 2 + number) * 100_000;
            child("blob-work", &[scratch.path().to_str().unwrap(), &first.to_string(), "sealed"])
        };
        let mut children = [start(0), start(1)];
        children.iter_mut().for_each(|child| child.expect("ready"));
        for child in children {
            std::thread::sleep(Duration::from_micros(random.below(150_000)));
            for line in child.kill() {
                said.hear(&line);
                done += 1;
            }
        }
        let store = vault::open(scratch.path()).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "kill {cycle}: {:#?}", report.problems);
        let scans = store.table::<Scan>().unwrap();
        let mut found = BTreeSet::new();
        for scan in scans.all() {
            let scan = scan.unwrap();
            let number = scan.number;
            assert!(scan.scan.get(&store).unwrap() == bytes(number), "scan {number}");
            let copy = scans.get(Scan::by_size("all", scan.bytes, number)).unwrap().unwrap();
            assert!(copy.scan == scan.scan, "the copy of scan {number}");
            found.insert(number);
        }
        let missing = said.pictures.difference(&found).filter(|number| said.keeps(**number)).count();
        assert_eq!(missing, 0, "kill {cycle}");
        assert!(found.is_disjoint(&said.removed));
        // Keeps it small.
        if cycle % 4 == 3 {
            for number in found {
                scans.delete(Scan::key("all", number)).unwrap();
            }
            said.pictures.clear();
        }
    }
    let store = vault::open(scratch.path()).unwrap();
    store.drop_table("Scans").unwrap();
    store.reclaim().unwrap();
    let stats = store.stats().unwrap().blobs;
    assert_eq!(stats.blobs, stats.waiting, "nothing is left but uploads that have not expired");
    println!("sealed: {} kills, {done} acknowledged, {} uploads left", cycles * 2, stats.waiting);
    assert!(done > cycles / 2, "too little was done");
}

#[test]
fn long_lists_agree_with_their_entities_however_often_the_writers_are_killed() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    // One is in a blob, and one goes there and comes back.
    let store = Store::open(&path).unwrap();
    let there = OF_ROW + 40;
    enlist(&store, 0..there, 0).unwrap();
    enlist(&store, there..there + OF_ROW - 3, 1).unwrap();
    let there = there + OF_ROW - 3;
    drop(store);
    let mut random = Random::new(seed());
    let (mut said, mut done) = (Said::default(), 0);
    let cycles = size("CRASH_LIST_KILLS", 6);
    for cycle in 0..cycles {
        let start = |number: u64| {
            let first = (cycle * 2 + number + 10) * 1_000;
            child("blob-work", &[path.to_str().unwrap(), &first.to_string(), "lists"])
        };
        let mut children = [start(0), start(1)];
        children.iter_mut().for_each(|child| child.expect("ready"));
        for child in children {
            std::thread::sleep(Duration::from_micros(random.below(150_000)));
            for line in child.kill() {
                said.hear(&line);
                done += 1;
            }
        }
        let store = Store::options().verify_first(true).open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "kill {cycle}: {:#?}", report.problems);
        let found = sides(&store).unwrap().unwrap_or_else(|side| panic!("kill {cycle}: the list of {side}"));
        let found: BTreeSet<_> = found.into_values().flatten().collect();
        assert!((0..there).all(|number| found.contains(&number)));
        let missing = said.pictures.difference(&found).filter(|number| said.keeps(**number)).count();
        assert_eq!(missing, 0, "kill {cycle}");
        assert!(found.is_disjoint(&said.removed));
        // Keeps it small.
        for number in found.range(there..) {
            discharge(&store, *number).unwrap();
        }
        said.pictures.clear();
        assert_eq!(store.stats().unwrap().blobs.blobs, 1);
    }
    let store = Store::open(&path).unwrap();
    store.drop_table("Rolls").unwrap();
    store.reclaim().unwrap();
    assert_eq!(store.stats().unwrap().blobs.blobs, 0);
    println!("lists: {} kills, {done} acknowledged", cycles * 2);
    assert!(done > cycles / 2, "too little was done");
}

#[test]
fn a_long_list_that_another_process_has_changed_since_the_snapshot_says_so() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    // This process has opened the store before there was any blob in it.
    let store = Store::open(&path).unwrap();
    let rolls = store.table::<Roll>().unwrap();
    let path = path.to_str().unwrap();
    let mut others = child("blob-work", &[path, "0", "enlist"]);
    others.expect("enlisted");
    let early = store.snapshot().unwrap();
    drop(others.kill());
    let mut others = child("blob-work", &[path, "5000", "lists"]);
    others.expect("ready");
    others.expect("picture 5000");
    drop(others.kill());
    let error = rolls.at(&early).list(Roll::by_side(0)).map(|list| list.len()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone, "{error}");
    let text = error.to_string();
    assert!(text.contains("take another snapshot") && text.contains("side_"), "{text}");
    // All else of the snapshot is as it was, and the next one has the list, though others change it meanwhile.
    assert_eq!(rolls.at(&early).rows().count().unwrap(), u64::from(OF_ROW + 1));
    let late = store.snapshot().unwrap();
    let there = rolls.at(&late).list(Roll::by_side(0)).unwrap().len();
    assert!(there > OF_ROW as usize + 1, "{there}");
    enlist(&store, 800_000..800_001, 0).unwrap();
    assert_eq!(rolls.at(&late).list(Roll::by_side(0)).unwrap().len(), there);
    assert_eq!(rolls.list(Roll::by_side(0)).unwrap().len(), there + 1);
}

#[test]
fn what_was_logged_is_there_whole_however_often_the_writers_are_killed() {
    killed("logs", size("CRASH_LOG_KILLS", 10));
}

/// Kills two writers at a time, so many times.
fn killed(kind: &str, cycles: u64) {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    drop(Store::open(&path).unwrap());
    let mut random = Random::new(seed());
    let (mut said, mut done) = (Said::default(), 0);
    for cycle in 0..cycles {
        let start = |number: u64| {
            let first = (cycle * 2 + number) * 100_000;
            child("blob-work", &[path.to_str().unwrap(), &first.to_string(), kind])
        };
        let mut children = [start(0), start(1)];
        children.iter_mut().for_each(|child| child.expect("ready"));
        for child in children {
            std::thread::sleep(Duration::from_micros(random.below(150_000)));
            for line in child.kill() {
                said.hear(&line);
                done += 1;
            }
        }
        let store = Store::options().verify_first(true).open(&path).unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "kill {cycle}: {:#?}", report.problems);
        compare(&store, &said, kind);
        // Keeps it small.
        if cycle % 4 == 3 && kind != "logs" {
            store.drop_container("files").unwrap();
            let pictures = store.table::<Picture>().unwrap();
            let all: Vec<_> = pictures.all().into_iter().map(|picture| picture.unwrap().number).collect();
            for number in all {
                pictures.delete(Picture::key("all", number)).unwrap();
            }
            said.files.clear();
            said.pictures.clear();
        }
    }
    let store = Store::open(&path).unwrap();
    for name in store.containers().unwrap() {
        store.drop_container(&name).unwrap();
    }
    if kind != "logs" {
        store.drop_table("Pictures").unwrap();
    }
    store.reclaim().unwrap();
    let stats = store.stats().unwrap().blobs;
    assert_eq!(stats.names, 0);
    assert_eq!(stats.blobs, stats.waiting, "nothing is left but uploads that have not expired");
    println!("{kind}: {} kills, {done} acknowledged, {} uploads left", cycles * 2, stats.waiting);
    assert!(done > cycles / 2, "too little was done");
}
