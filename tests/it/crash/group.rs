//! Threads that write at one time.
//!
//! That a leader panics can't be brought about from outside: nothing under its transaction panics, and no code of
//! the caller's runs there. The unit tests of `store/write/commit.rs` bring it about.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use integration_tests::Scratch;
use table_core::{DynamicEntity, ErrorKind, Query, Store};

use super::size;

const THREADS: usize = 16;

/// A store on a disk, if the directory for temporary files is on one.
fn disk() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    (dir, store)
}

#[test]
fn threads_that_write_at_one_time_all_get_on() {
    let (_dir, store) = disk();
    let table = store.create_table("Table").unwrap();
    table.insert(&DynamicEntity::new("shared", "counter").with("Value", 0_i64)).unwrap();
    let stop = AtomicBool::new(false);
    let counts: Vec<[u64; 3]> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (table, store, stop) = (&table, &store, &stop);
                scope.spawn(move || {
                    let own = format!("thread {thread}");
                    let [mut inserts, mut added, mut tables] = [0_u64; 3];
                    // Each gets at least one turn of each kind, however slow the disk is.
                    while !stop.load(Ordering::Relaxed) || inserts == 0 || added == 0 {
                        table.insert(&DynamicEntity::new(&own, format!("row {inserts:06}"))).unwrap();
                        inserts += 1;
                        let counter = table.get("shared", "counter").unwrap().unwrap();
                        let value = counter.get("Value").and_then(|value| value.as_i64()).unwrap();
                        match table.merge(
                            &DynamicEntity::new("shared", "counter").with("Value", value + 1),
                            counter.etag().unwrap(),
                        ) {
                            Ok(_) => added += 1,
                            Err(error) => assert_eq!(error.kind(), ErrorKind::ConditionNotMet, "{error}"),
                        }
                        // A refused batch leaves those that share its commit alone.
                        let refused = table.insert(&DynamicEntity::new(&own, "row 000000")).unwrap_err();
                        assert_eq!(refused.kind(), ErrorKind::EntityAlreadyExists);
                        if thread == 0 {
                            // Some wait for the lead itself.
                            store.create_table("Passing").unwrap();
                            store.drop_table("Passing").unwrap();
                            tables += 1;
                        }
                    }
                    [inserts, added, tables]
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(size("CRASH_GROUP_MILLIS", 1_000)));
        stop.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum = |kind: usize| counts.iter().map(|counts| counts[kind]).sum::<u64>();
    let stats = store.stats().unwrap();
    let least = counts.iter().map(|counts| counts[0]).min().unwrap();
    println!("{} inserts (fewest {least}), {} additions, {stats:?}", sum(0), sum(1));
    assert!(counts[0][2] > 0);
    for (thread, counts) in counts.iter().enumerate() {
        let rows = table.query(&Query::new().partition(format!("thread {thread}"))).unwrap();
        let rows: Vec<_> = rows.map(|row| row.unwrap().row_key().to_owned()).collect();
        assert!(rows.iter().eq((0..counts[0]).map(|row| format!("row {row:06}")).collect::<Vec<_>>().iter()));
    }
    let counter = table.get("shared", "counter").unwrap().unwrap();
    assert_eq!(counter.get("Value").and_then(|value| value.as_i64()), i64::try_from(sum(1)).ok());
    assert!(stats.commits < stats.batches, "they shared commits");
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_thread_alone_and_threads_without_sharing_write_the_same() {
    for limit in [1, 2, 256] {
        let scratch = Scratch::new();
        let store = Store::options().group_limit(limit).open(scratch.path().join("store")).unwrap();
        let table = store.create_table("Table").unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let table = &table;
                scope.spawn(move || {
                    for number in 0..100 {
                        let key = format!("row {:02}", number % 10);
                        let row = DynamicEntity::new(format!("thread {thread}"), key).with("Number", number);
                        table.put(&row).unwrap();
                    }
                });
            }
        });
        table.delete("thread 0", "row 00").unwrap();
        let stats = store.stats().unwrap();
        assert_eq!(stats.batches, 401, "{limit}");
        assert!(limit > 1 || stats.commits == 401, "{limit}: {stats:?}");
        let rows: Vec<_> = table.query(&Query::new()).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 39);
        let number = |row: &DynamicEntity| row.get("Number").and_then(|number| number.as_i32()).unwrap();
        assert!(rows.iter().all(|row| number(row) >= 90));
    }
}
