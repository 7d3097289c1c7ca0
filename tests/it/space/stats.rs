//! The space of the file, and who keeps it from being used.

use std::time::{Duration, Instant};

use integration_tests::child::Child;
use integration_tests::{Scratch, relaxed};
use table_core::store::{OldestSnapshot, SpaceStats};
use table_core::{DynamicEntity, DynamicTable, ErrorKind, Query, Store};

use super::PROGRAM;

fn filled(store: &Store) -> DynamicTable {
    let table = store.create_table("Table").unwrap();
    (0..100).for_each(|row| write(&table, row));
    table
}

fn write(table: &DynamicTable, row: i32) {
    let row = DynamicEntity::new("p", format!("{:02}", row % 100)).with("Text", "x".repeat(2_000));
    table.put(&row).unwrap();
}

fn space(store: &Store) -> (SpaceStats, Option<OldestSnapshot>) {
    let stats = store.stats().unwrap();
    let space = stats.space;
    let sum = space.live_bytes + space.free_bytes + space.held_back_bytes;
    // A transaction may have taken pages at the end and given them back unwritten, or may be writing there.
    assert!(sum.abs_diff(stats.file_bytes) < 100_000, "{stats:?}");
    (space, stats.oldest_snapshot)
}

#[test]
fn all_of_the_file_is_live_or_free_while_nobody_looks() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = filled(&store);
    let (first, oldest) = space(&store);
    assert_eq!((first.held_back_bytes, oldest), (0, None));
    assert!(first.live_bytes > 100 * 2_000 && first.free_bytes > 0);

    // Changes take free pages, and the file stays as it is.
    (0..500).for_each(|row| write(&table, row));
    let (then, _) = space(&store);
    assert_eq!(then.live_bytes, first.live_bytes);
    assert!(then.free_bytes < 200_000);

    store.drop_table("Table").unwrap();
    store.reclaim().unwrap();
    let (empty, _) = space(&store);
    assert!(empty.live_bytes < 100_000 && empty.free_bytes > 200_000, "{empty:?}");
}

#[test]
fn what_a_snapshot_and_an_iterator_hold_back_is_told_with_their_age() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = filled(&store);
    let begun = Instant::now();
    for holder in ["snapshot", "iterator"] {
        let snapshot = (holder == "snapshot").then(|| store.snapshot().unwrap());
        let rows = (holder == "iterator").then(|| {
            let mut rows = table.query(&Query::new()).unwrap();
            rows.next().unwrap().unwrap();
            rows
        });
        // Nothing has been freed since.
        let (before, oldest) = space(&store);
        assert_eq!(before.held_back_bytes, 0, "{holder}");
        let oldest = oldest.unwrap();
        (0..100).for_each(|row| write(&table, row));
        std::thread::sleep(Duration::from_millis(20));
        let (space, still) = space(&store);
        let still = still.unwrap();
        assert!(space.held_back_bytes >= 100 * 3 * 4_096, "{holder}: {space:?}");
        assert_eq!((still.process, still.transaction), (std::process::id(), oldest.transaction));
        let age = still.age.unwrap();
        assert!(age >= Duration::from_millis(20) && age <= begun.elapsed(), "{holder}: {age:?}");
        drop((snapshot, rows));
        let (after, none) = self::space(&store);
        assert_eq!((after.held_back_bytes, none), (0, None), "{holder}");
        assert!(after.free_bytes >= space.held_back_bytes);
    }
}

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "LMDB's table of readers is found by way of /proc, on Linux alone"
)]
fn what_another_process_holds_back_is_told_with_its_number() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().open(&path).unwrap();
    let table = filled(&store);
    let mut child = Child::start(PROGRAM, "hold", &[path.to_str().unwrap(), "Table"]);
    child.expect("snapshot");
    (0..50).for_each(|row| write(&table, row));
    let (held, oldest) = space(&store);
    assert!(held.held_back_bytes > 50 * 4_096, "{held:?}");
    let oldest = oldest.unwrap();
    assert_eq!((oldest.process, oldest.age), (child.id(), None));

    // An older one of this process's is named before it, a younger one is not.
    let own = store.snapshot().unwrap();
    assert_eq!(space(&store).1, Some(oldest));
    child.say("on");
    child.expect("nothing");
    let (held, of_own) = space(&store);
    assert_eq!(held.held_back_bytes, 0);
    assert_eq!(of_own.unwrap().process, std::process::id());
    drop(own);

    child.say("on");
    child.expect("iterator");
    (0..50).for_each(|row| write(&table, row));
    let (held, oldest) = space(&store);
    assert!(held.held_back_bytes > 50 * 4_096, "{held:?}");
    assert_eq!(oldest.unwrap().process, child.id());

    // One that has died holds back nothing.
    child.say("die");
    let (status, _) = child.end();
    assert!(!status.success());
    let (after, oldest) = space(&store);
    assert_eq!((after.held_back_bytes, oldest), (0, None));
    assert_eq!(store.clear_stale_readers().unwrap(), 0, "its slot is free");
}

#[test]
fn the_stats_are_right_while_others_write() {
    let scratch = Scratch::new();
    let store = relaxed().open(scratch.path().join("store")).unwrap();
    let table = filled(&store);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..3_000).for_each(|row| write(&table, row)));
        let mut looks = 0;
        while !writer.is_finished() {
            let stats = store.stats().unwrap();
            let space = stats.space;
            let sum = space.live_bytes + space.free_bytes + space.held_back_bytes;
            // The file may have grown since its header was looked at, and never shrinks.
            assert!(space.live_bytes > 200_000 && sum < stats.file_bytes + 100_000, "{stats:?}");
            looks += 1;
        }
        assert!(looks > 10);
    });
}

/// Writes until the map is full, and says how that is told.
fn fill(table: &DynamicTable) -> String {
    for row in 0..100_000 {
        let row = DynamicEntity::new("p", format!("{:02}", row % 100)).with("Text", "y".repeat(2_000));
        if let Err(error) = table.put(&row) {
            assert_eq!(error.kind(), ErrorKind::MapFull);
            return error.to_string();
        }
    }
    panic!("the map is never full");
}

#[test]
fn a_full_map_names_the_snapshot_that_fills_it() {
    let scratch = Scratch::new();
    let store = relaxed().map_size(2 << 20).open(scratch.path().join("store")).unwrap();
    let table = filled(&store);
    let snapshot = store.snapshot().unwrap();
    let text = fill(&table);
    let me = std::process::id();
    assert!(text.contains("map size of 2097152 bytes, of which "), "{text}");
    let end = format!(
        " are free and held back by a snapshot that is 0 s old in process {me}; drop that, or open the store with a \
         larger `map_size`"
    );
    assert!(text.ends_with(&end), "{text}");
    // Who drops it can write.
    drop(snapshot);
    (0..100).for_each(|row| write(&table, row));
}

#[test]
fn a_map_that_is_full_of_data_says_nothing_of_snapshots() {
    let scratch = Scratch::new();
    let store = relaxed().map_size(1 << 20).open(scratch.path().join("store")).unwrap();
    let table = store.create_table("Table").unwrap();
    let text = (0..10_000).find_map(|row| {
        let row = DynamicEntity::new("p", format!("{row:06}")).with("Text", "y".repeat(2_000));
        table.insert(&row).err().map(|error| error.to_string())
    });
    let text = text.unwrap();
    let end = "the store has reached its map size of 1048576 bytes; open it with a larger `map_size`";
    assert!(text.ends_with(end), "{text}");
}

#[test]
#[cfg_attr(
    not(target_os = "linux"),
    ignore = "LMDB's table of readers is found by way of /proc, on Linux alone"
)]
fn a_full_map_names_another_process() {
    let scratch = Scratch::new();
    let path = scratch.path().join("store");
    let store = relaxed().map_size(2 << 20).open(&path).unwrap();
    let table = filled(&store);
    let mut child = Child::start(PROGRAM, "hold", &[path.to_str().unwrap(), "Table"]);
    child.expect("snapshot");
    let text = fill(&table);
    assert!(text.contains(&format!("held back by a snapshot in process {}; ", child.id())), "{text}");
    child.say("on");
    child.expect("nothing");
    (0..100).for_each(|row| write(&table, row));
}
