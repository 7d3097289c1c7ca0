//! Processes that run out of room: started under a limit on the size of files, or with a small map.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use table_core::{Batch, DynamicEntity, DynamicTable, ErrorKind, IfMatch, Query, Store};

use crate::say;

/// Rows of a batch.
const ROWS: usize = 10;

/// The store, with a map of so many bytes unless that is zero.
fn open(path: &str, map: &str) -> Store {
    let options = integration_tests::relaxed();
    match map.parse().unwrap() {
        0 => options.open(path).unwrap(),
        bytes => options.map_size(bytes).open(path).unwrap(),
    }
}

fn batch(table: &DynamicTable, partition: &str, number: u64, bytes: usize) -> Batch {
    (0..ROWS).fold(table.batch(partition), |batch, row| {
        let row = DynamicEntity::new(partition, format!("row {number:06} {row:02}"));
        batch.insert(row.with("Batch", i64::try_from(number).unwrap()).with("Text", "x".repeat(bytes)))
    })
}

/// What an operation came to, in a word.
fn word<T>(result: table_core::Result<T>) -> String {
    result.map_or_else(|error| format!("{:?}", error.kind()), |_| "Ok".into())
}

/// Counts the rows of a partition; each batch must be there whole.
fn batches_in(table: &DynamicTable, partition: &str) -> u64 {
    let rows = table.query(&Query::new().partition(partition)).unwrap();
    let numbers: Vec<_> =
        rows.map(|row| row.unwrap().get("Batch").and_then(|batch| batch.as_i64()).unwrap()).collect();
    assert!(
        numbers
            .chunks(ROWS)
            .all(|batch| batch.len() == ROWS && batch.iter().all(|number| *number == batch[0]))
    );
    (numbers.len() / ROWS) as u64
}

/// `fill STORE MAP BYTES`: inserts batches until there is no room, then sees what can still be done.
///
/// It says `full BATCHES ERROR`, then `delete`, `again`, `drop`, `reclaim` and `after` with what came of each.
pub fn fill(arguments: &[&str]) {
    let [path, map, bytes] = arguments else { panic!("arguments") };
    let store = open(path, map);
    let bytes: usize = bytes.parse().unwrap();
    let other = store.create_table("Other").unwrap();
    for number in 0..20 {
        batch(&other, "other", number, 100).commit().unwrap();
    }
    let table = store.create_table("Full").unwrap();
    let mut done = 0;
    let error = loop {
        match batch(&table, "full", done, bytes).commit() {
            Ok(_) => done += 1,
            Err(error) => break error,
        }
    };
    say(format!("full {done} {:?} {error}", error.kind()));
    let check = |done| {
        assert_eq!((batches_in(&table, "full"), batches_in(&other, "other")), (done, 20));
        let report = store.check().unwrap();
        assert!(report.problems.is_empty(), "{:#?}", report.problems);
    };
    check(done);
    // The same again gives the same, and harms nothing.
    say(format!("again {}", word(batch(&table, "full", done, bytes).commit())));
    check(batches_in(&table, "full"));
    let done = batches_in(&table, "full");
    let mut deleted = 0;
    for number in (0..done).rev().take(5) {
        let deletes = (0..ROWS)
            .fold(table.batch("full"), |batch, row| batch.delete(format!("row {number:06} {row:02}")));
        let word = word(deletes.commit());
        deleted += u64::from(word == "Ok");
        say(format!("delete {word}"));
    }
    check(done - deleted);
    say(format!("drop {}", word(store.drop_table("Other"))));
    say(format!("reclaim {}", word(store.reclaim())));
    let mut more = 0;
    let last = loop {
        match batch(&table, "full", done + more, bytes).commit() {
            Ok(_) => more += 1,
            Err(error) => break error.kind(),
        }
    };
    say(format!("after {more} {last:?}"));
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
    say(format!("end {}", batches_in(&table, "full")));
}

/// `crowd STORE MAP BYTES`: threads that write little, and one whose batch of so many bytes can't fit.
///
/// It says `small BATCHES FAILED` and `large FAILED KIND`.
pub fn crowd(arguments: &[&str]) {
    let [path, map, bytes] = arguments else { panic!("arguments") };
    let store = open(path, map);
    let bytes: usize = bytes.parse().unwrap();
    let table = store.create_table("Crowd").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..6)
        .map(|thread| {
            let (table, stop) = (table.clone(), stop.clone());
            std::thread::spawn(move || {
                let partition = format!("thread {thread}");
                let (mut done, mut failed) = (0_u64, 0_u64);
                while !stop.load(Ordering::Relaxed) {
                    // The same rows again: in a sound store this needs no more room.
                    let row = DynamicEntity::new(&partition, format!("row {:02}", done % 20));
                    match table.put(&row.with("Number", i64::try_from(done).unwrap())) {
                        Ok(_) => done += 1,
                        Err(error) => {
                            eprintln!("{error}");
                            failed += 1;
                        }
                    }
                }
                (done, failed)
            })
        })
        .collect();
    let mut kinds = Vec::new();
    for number in 0..30 {
        kinds.push(word(batch(&table, "large", number, bytes).commit()));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    stop.store(true, Ordering::Relaxed);
    let (mut done, mut failed) = (0, 0);
    for thread in threads {
        let (thread_done, thread_failed) = thread.join().unwrap();
        done += thread_done;
        failed += thread_failed;
    }
    say(format!("small {done} {failed}"));
    kinds.dedup();
    say(format!("large {}", kinds.join(" ")));
    assert_eq!(batches_in(&table, "large"), 0);
    let stats = store.stats().unwrap();
    say(format!("shared {}", stats.batches > stats.commits));
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

/// `bulk STORE MAP BYTES`: a bulk load that does not fit. It says `bulk ERROR` and `there BATCHES`.
pub fn bulk(arguments: &[&str]) {
    let [path, map, bytes] = arguments else { panic!("arguments") };
    let store = open(path, map);
    let bytes: usize = bytes.parse().unwrap();
    let table = store.create_table("Bulk").unwrap();
    // The third batch is refused, whatever room there is.
    let batches = (0..10_000).map(|number| match number {
        2 => table.batch("bulk").merge(DynamicEntity::new("bulk", "nobody"), IfMatch::Any),
        number => batch(&table, "bulk", number, bytes),
    });
    let error = store.bulk(batches).unwrap_err();
    say(format!("bulk {:?} {error}", error.kind()));
    let there = batches_in(&table, "bulk");
    say(format!("there {there}"));
    assert!(matches!(error.kind(), ErrorKind::DiskFull | ErrorKind::MapFull));
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}
