//! Several processes on one store.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use integration_tests::child::{Child, PATIENCE};
use integration_tests::random::Random;
use integration_tests::{Scratch, relaxed};
use table_core::{DynamicEntity, ErrorKind, IfMatch, Query, Store};

use super::{child, seed, size};

#[test]
fn every_increment_counts_and_times_rise_across_processes() {
    let times = size("CRASH_INCREMENTS", 5_000);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.create_table("Counter").unwrap();
    table.insert(&DynamicEntity::new("counter", "counter").with("Value", 0_i64)).unwrap();

    let arguments = [path.to_str().unwrap().to_owned(), times.to_string()];
    let mut children: Vec<Child> = (0..4).map(|_| child("increment", &arguments)).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(|child| child.say("go"));
    let (mut ticks, mut conflicts) = (BTreeMap::new(), 0_u64);
    for child in children {
        for line in child.finish() {
            let (value, number) = line.split_once(' ').unwrap();
            let number: u64 = number.parse().unwrap();
            match value.parse::<u64>() {
                Ok(value) => assert_eq!(ticks.insert(value, number), None, "two processes wrote {value}"),
                Err(_) => conflicts += number,
            }
        }
    }
    println!("{} increments, {conflicts} conflicts", ticks.len());
    let counter = table.get("counter", "counter").unwrap().unwrap();
    assert_eq!(counter.get("Value").and_then(|value| value.as_i64()), i64::try_from(4 * times).ok());
    assert!(ticks.keys().copied().eq(1..=4 * times));
    assert!(ticks.values().zip(ticks.values().skip(1)).all(|(earlier, later)| earlier < later));
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_table_made_anew_elsewhere_is_never_written_through_an_old_handle() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let mut children: Vec<Child> = (0..2).map(|_| child("old-handle", &[path.to_str().unwrap()])).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    for incarnation in 0..size("CRASH_INCARNATIONS", 150) {
        if incarnation > 0 {
            store.drop_table("Again").unwrap();
        }
        let table = store.create_table("Again").unwrap();
        let incarnation = i64::try_from(incarnation).unwrap();
        table.insert(&DynamicEntity::new("mark", "mark").with("Incarnation", incarnation)).unwrap();
        std::thread::sleep(Duration::from_millis(4));
        for row in table.query(&Query::new()).unwrap() {
            let row = row.unwrap();
            assert_eq!(
                row.get("Incarnation").and_then(|number| number.as_i64()),
                Some(incarnation),
                "{row:?}"
            );
        }
    }
    children.iter_mut().for_each(|child| child.say("stop"));
    for child in children {
        let lines = child.finish();
        println!("written and refused: {lines:?}");
        let numbers: Vec<u64> = lines[0].split(' ').map(|number| number.parse().unwrap()).collect();
        assert!(numbers[0] > 0 && numbers[1] > 0, "it both wrote and was refused");
    }
    store.reclaim().unwrap();
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn tables_come_and_go_in_several_processes_and_no_key_is_there_already() {
    let rounds = size("CRASH_DROPS", 30);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let stays = store.create_table("Stays").unwrap();
    let arguments =
        |number: usize| [path.to_str().unwrap().to_owned(), number.to_string(), rounds.to_string()];
    let mut children: Vec<Child> = (0..3).map(|number| child("come-and-go", &arguments(number))).collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(|child| child.say("go"));
    for mut child in children {
        (0..rounds).for_each(|round| child.expect(&format!("round {round}")));
        child.finish();
    }
    assert_eq!(u64::try_from(stays.query(&Query::new()).unwrap().count()), Ok(3 * rounds * 20));
    store.reclaim().unwrap();
    let (stats, report) = (store.stats().unwrap(), store.check().unwrap());
    assert_eq!((stats.dropped, stats.tables.len()), (0, 1));
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn names_that_one_process_brings_up_are_read_by_the_others_at_once() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.create_table("Names").unwrap();
    let mut child = child("echo", &[path.to_str().unwrap()]);
    child.expect("ready");
    for number in 0..size("CRASH_NAMES", 200) {
        let key = format!("row{number}");
        // Now a new name and a new symbol, now one of them, now none.
        let (name, kind) = (format!("P{}", number / 2), format!("T{}", number / 3));
        let etag = table
            .insert(&DynamicEntity::new("parent", &key).with(&name, 1).with("EntityType", &*kind))
            .unwrap();
        child.say(&format!("get parent {key}"));
        let read = table.get("parent", &key).unwrap();
        assert_eq!(child.line(), format!("{read:?}"));
        assert_eq!(read.unwrap().etag(), Some(etag));
        child.say(&format!("find {name} {kind}"));
        assert!(child.line().split(' ').any(|found| found == key), "{name} {kind}");

        let (name, kind) = (format!("C{}", number / 2), format!("D{}", number / 3));
        child.say(&format!("put {key} {name} {kind}"));
        child.expect("done");
        let row = DynamicEntity::new("child", &key).with(&name, 1).with("EntityType", &*kind);
        assert_eq!(table.get("child", &key).unwrap(), Some(row));
    }
    child.finish();
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn processes_that_bring_up_the_same_names_agree_on_them() {
    let rows = size("CRASH_NAMES", 200);
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = store.create_table("Names").unwrap();
    let mut children: Vec<Child> = (0..3)
        .map(|number| child("intern", &[path.to_str().unwrap(), &number.to_string(), &rows.to_string()]))
        .collect();
    children.iter_mut().for_each(|child| child.expect("ready"));
    children.iter_mut().for_each(|child| child.say("go"));
    children.iter_mut().for_each(|child| child.expect("written"));
    children.iter_mut().for_each(|child| child.say("read"));
    let seen: Vec<_> = table.query(&Query::new()).unwrap().map(|row| format!("{:?}", row.unwrap())).collect();
    assert_eq!(seen.len() as u64, 3 * rows);
    for child in children {
        assert_eq!(child.finish(), seen);
    }
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

#[test]
fn the_slots_of_a_killed_reader_are_free_again() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = Store::options().max_readers(4).open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    table.insert(&DynamicEntity::new("p", "r")).unwrap();
    for round in 0..5 {
        let mut child = child("read-and-stay", &[path.to_str().unwrap(), "4"]);
        child.expect("ready");
        // The child lives, so its slots are its own.
        assert_eq!(table.get("p", "r").unwrap_err().kind(), ErrorKind::TooManyReaders);
        table.merge(&DynamicEntity::new("p", "r").with("Round", round), IfMatch::Any).unwrap();
        child.kill();
        if round % 2 == 0 {
            assert_eq!(
                table.get("p", "r").unwrap().unwrap().get("Round").and_then(|n| n.as_i32()),
                Some(round)
            );
            assert_eq!(store.clear_stale_readers().unwrap(), 0, "reading has freed them");
        } else {
            assert_eq!(store.clear_stale_readers().unwrap(), 4);
        }
        let snapshots: Vec<_> = (0..4).map(|_| store.snapshot().unwrap()).collect();
        assert_eq!(snapshots[3].get(&table, "p", "r").unwrap(), table_row(round));
    }
}

fn table_row(round: i32) -> Option<DynamicEntity> {
    Some(DynamicEntity::new("p", "r").with("Round", round))
}

#[test]
fn too_many_snapshots_are_an_error_until_one_is_dropped() {
    let scratch = Scratch::new();
    let store = Store::options().max_readers(8).open(scratch.path().join("store")).unwrap();
    let table = store.create_table("Table").unwrap();
    let etag = table.insert(&DynamicEntity::new("p", "r")).unwrap();
    let mut snapshots: Vec<_> = (0..7).map(|_| store.snapshot().unwrap()).collect();
    let rows = table.query(&Query::new()).unwrap();

    let full = |error: table_core::Error| assert_eq!(error.kind(), ErrorKind::TooManyReaders, "{error}");
    store.snapshot().map(drop).map_err(full).unwrap_err();
    table.get("p", "r").map(drop).map_err(full).unwrap_err();
    table.query(&Query::new()).map(drop).map_err(full).unwrap_err();
    table.page(&Query::new(), 10, None).map(drop).map_err(full).unwrap_err();
    store.tables().map(drop).map_err(full).unwrap_err();
    store.stats().map(drop).map_err(full).unwrap_err();
    store.check().map(drop).map_err(full).unwrap_err();
    store.copy_to(scratch.path().join("copy")).map_err(full).unwrap_err();
    assert!(!scratch.path().join("copy").exists());
    // Writers need no slot.
    let etag = table.replace(&DynamicEntity::new("p", "r").with("A", 1), etag).unwrap();
    store.create_table("Other").unwrap();
    store.drop_table("Other").unwrap();
    assert_eq!(store.reclaim().unwrap(), 0);

    assert_eq!(rows.count(), 1);
    assert_eq!(table.get("p", "r").unwrap().unwrap().etag(), Some(etag));
    snapshots.pop();
    store.copy_to(scratch.path().join("copy")).unwrap();
    assert_eq!(store.snapshots().len(), 6);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_writer_killed_in_a_transaction_holds_nobody_up() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    store.create_table("Load").unwrap();
    let table = store.create_table("Table").unwrap();
    let mut random = Random::new(seed());
    for round in 0..size("CRASH_LOCKS", 20) {
        let mut child = child("load", &[path.to_str().unwrap()]);
        child.expect("ready");
        std::thread::sleep(Duration::from_micros(5_000 + random.below(30_000)));
        child.kill();
        let (sender, done) = mpsc::channel();
        std::thread::spawn({
            let table = table.clone();
            move || sender.send(table.insert(&DynamicEntity::new("p", format!("{round:05}"))))
        });
        done.recv_timeout(PATIENCE).expect("the lock is free").unwrap();
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
        // Each partition was written by one batch, though many share a transaction.
        let rounds = store.dynamic_table("Load").unwrap().query(&Query::new()).unwrap();
        let mut partitions = BTreeMap::<_, Vec<_>>::new();
        for row in rounds.map(Result::unwrap) {
            partitions.entry(row.partition_key().to_owned()).or_default().push(row.get("Round").cloned());
        }
        assert!(partitions.values().all(|rows| rows.len() == 50 && rows.iter().all(|row| *row == rows[0])));
    }
}
