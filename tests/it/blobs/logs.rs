//! Logs.

use std::time::Duration;

use integration_tests::assert_sound;
use serde::{Deserialize, Serialize};
use table_core::blob::Log;
use table_core::{ErrorKind, Store, Ticks};

use super::{store, store_on_lmdb};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Request {
    path: String,
    status: u16,
}

fn request(number: u16) -> Request {
    Request { path: format!("/{number}"), status: 200 }
}

fn day() -> Duration {
    Duration::from_secs(86_400)
}

#[test]
fn what_was_flushed_is_read_in_the_order_of_its_times() {
    let (_dir, store) = store();
    let one: Log<Request> = store.log("requests").unwrap();
    let other: Log<Request> = store.log("requests").unwrap();
    let begun = Ticks::now();
    for number in 0..50 {
        let log = if number % 2 == 0 { &one } else { &other };
        log.append(&request(number)).unwrap();
    }
    assert_eq!(one.entries().unwrap().count(), 0, "it is gathered");
    one.flush().unwrap();
    assert_eq!(one.entries().unwrap().count(), 25);
    other.flush().unwrap();
    // Two writers, a blob each; in the rare case that the hour has changed, two.
    let blobs = one.blobs(..).unwrap();
    assert!((2..=4).contains(&blobs.len()), "{blobs:?}");
    let entries: Vec<_> = one.entries().unwrap().map(|entry| entry.unwrap()).collect();
    assert!(entries.is_sorted_by_key(|entry| entry.at));
    assert!(entries.iter().all(|entry| entry.at >= begun));
    let mut found: Vec<_> = entries.iter().map(|entry| entry.value.clone()).collect();
    found.sort_by_key(|request| request.path[1..].parse::<u16>().unwrap());
    assert_eq!(found, (0..50).map(request).collect::<Vec<_>>());
    // A range has just what lies in it.
    let (from, to) = (entries[10].at, entries[40].at);
    let wanted = |is_in: &dyn Fn(Ticks) -> bool| entries.iter().filter(|entry| is_in(entry.at)).count();
    assert_eq!(one.during(from..to).unwrap().count(), wanted(&|at| at >= from && at < to));
    assert_eq!(one.during(from..=to).unwrap().count(), wanted(&|at| at >= from && at <= to));
    assert_eq!(one.during(..begun).unwrap().count(), 0);
    assert_sound(&store);
}

#[test]
fn a_reader_sees_one_moment_and_a_large_log_whole() {
    let (_dir, store) = store();
    let log: Log<String> = store.log("large").unwrap();
    for number in 0..3_000 {
        log.append(&format!("{number} {}", "x".repeat(number % 200))).unwrap();
    }
    log.flush().unwrap();
    let mut entries = log.entries().unwrap();
    assert!(entries.next().unwrap().unwrap().value.starts_with("0 "));
    log.append(&"after".into()).unwrap();
    log.flush().unwrap();
    assert_eq!(entries.count(), 2_999);
    assert_eq!(log.entries().unwrap().count(), 3_001);
    assert!(log.blobs(..).unwrap().iter().any(|blob| blob.length > 100_000));
    // What the last clone has gathered is written when it goes.
    let clone = log.clone();
    clone.append(&"last".into()).unwrap();
    drop((log, clone));
    assert_eq!(store.log::<String>("large").unwrap().entries().unwrap().count(), 3_002);
}

#[test]
fn old_hours_are_dropped_and_exported_ones_are_files() {
    let (dir, store) = store();
    let log: Log<Request> = store.log("requests").unwrap();
    let other: Log<Request> = store.log("other").unwrap();
    for log in [&log, &other] {
        log.append(&request(1)).unwrap();
        log.flush().unwrap();
    }
    let now = Ticks::now();
    assert_eq!(log.drop_before(now.checked_sub(day()).unwrap()).unwrap(), 0);
    let target = dir.path().join("exported");
    assert_eq!(log.export(now.checked_add(day()).unwrap().., &target).unwrap(), 0);
    assert_eq!(log.export(.., &target).unwrap(), 1);
    let blob = &log.blobs(..).unwrap()[0];
    let text = std::fs::read_to_string(target.join(&blob.name)).unwrap();
    assert!(
        text.starts_with("{\"at\":\"") && text.ends_with("\"entry\":{\"path\":\"/1\",\"status\":200}}\n"),
        "{text}"
    );
    assert_eq!(log.drop_before(now.checked_add(day()).unwrap()).unwrap(), 1);
    assert_eq!((log.entries().unwrap().count(), other.entries().unwrap().count()), (0, 1));
    assert_sound(&store);
}

#[test]
fn what_is_no_entry_is_told() {
    let (_dir, store) = store();
    assert_eq!(store.log::<u32>("No").map(drop).unwrap_err().kind(), ErrorKind::InvalidLogName);
    let texts: Log<String> = store.log("numbers").unwrap();
    texts.append(&"one".into()).unwrap();
    texts.flush().unwrap();
    let numbers: Log<u32> = store.log("numbers").unwrap();
    numbers.append(&2).unwrap();
    numbers.flush().unwrap();
    let read: Vec<_> = numbers.entries().unwrap().map(|entry| entry.map(|entry| entry.value)).collect();
    assert_eq!(read.len(), 2, "the next one follows");
    assert_eq!(read.iter().filter(|entry| entry.is_err()).count(), 1);
    let error = read.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), ErrorKind::SchemaMismatch);
    assert!(error.to_string().contains("container `logs`, blob `numbers/"), "{error}");
    assert!(!error.to_string().contains("one"), "{error}");
    let error = texts.append(&"x".repeat(1 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobTooLarge);
    let floats: Log<f64> = store.log("floats").unwrap();
    assert_eq!(floats.append(&f64::NAN).unwrap_err().kind(), ErrorKind::ValueOutOfRange);
    // Somebody has put something else there.
    let container = store.container("logs").unwrap();
    container.put("numbers/readme.txt", b"hello").unwrap();
    let error = numbers.blobs(..).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidBlobName, "{error}");
    assert!(numbers.entries().unwrap().any(|entry| entry.is_err()));
    container.delete("numbers/readme.txt").unwrap();
    container.append(&numbers.blobs(..).unwrap()[0].name, b"half a li").unwrap();
    let last = numbers.entries().unwrap().last().unwrap().unwrap_err();
    assert_eq!(last.kind(), ErrorKind::SchemaMismatch, "{last}");
}

#[test]
fn many_writers_share_a_log() {
    let (_dir, store) = store();
    let shared: Log<Request> = store.log("requests").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..6_u16 {
            let (store, shared) = (&store, &shared);
            scope.spawn(move || {
                let own: Log<Request> = store.log("requests").unwrap();
                let log = if thread % 2 == 0 { shared } else { &own };
                for number in 0..200 {
                    log.append(&request(thread * 1_000 + number)).unwrap();
                    if number % 50 == 49 {
                        log.flush().unwrap();
                    }
                }
            });
        }
    });
    shared.flush().unwrap();
    let mut found: Vec<_> = shared.entries().unwrap().map(|entry| entry.unwrap().value.path).collect();
    assert_eq!(found.len(), 1_200);
    found.sort();
    found.dedup();
    assert_eq!(found.len(), 1_200);
    assert_sound(&store);
}

/// A store for reading only has its logs.
#[test]
fn a_log_is_read_where_nothing_is_written() {
    let (dir, store) = store_on_lmdb();
    let log: Log<Request> = store.log("requests").unwrap();
    log.append(&request(1)).unwrap();
    log.flush().unwrap();
    drop((log, store));
    let store = Store::options().read_only(true).open(dir.path().join("store")).unwrap();
    let log: Log<Request> = store.log("requests").unwrap();
    assert_eq!(log.entries().unwrap().count(), 1);
    log.append(&request(2)).unwrap();
    assert_eq!(log.flush().unwrap_err().kind(), ErrorKind::ReadOnly);
}

integration_tests::on_executors_with_jobs! {
    what_was_flushed_is_read_in_the_order_of_its_times
    a_reader_sees_one_moment_and_a_large_log_whole
    old_hours_are_dropped_and_exported_ones_are_files
    what_is_no_entry_is_told
    many_writers_share_a_log
}
