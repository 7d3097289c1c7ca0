//! A store that another process writes to.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use table_core::{Durability, DynamicEntity, Store};

const ROWS: usize = 4_000;

fn row(number: usize, round: usize) -> DynamicEntity {
    DynamicEntity::new("p", format!("{number:06}")).with("Text", format!("{round:010}").repeat(20))
}

#[test]
fn a_reader_that_waits_holds_nothing_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.tables");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Long").unwrap();
    let batches = (0..ROWS / 100).map(|hundred| {
        (0..100).fold(table.batch("p"), |batch, one| batch.insert(row(hundred * 100 + one, 0)))
    });
    store.bulk(batches).unwrap().into_result().unwrap();

    let mut reader = Command::new(env!("CARGO_BIN_EXE_tables"))
        .args(["query", "Long", "--format", "jsonl", "--store"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = reader.stdout.take().unwrap();
    let mut printed = vec![0];
    out.read_exact(&mut printed).unwrap();
    // It has begun to print, and more than the pipe takes is to come: it waits for its reader, without a snapshot.
    while store.stats().unwrap().oldest_snapshot.is_some() {
        std::thread::yield_now();
    }
    let before = store.stats().unwrap().file_bytes;
    for round in 1..=200 {
        table.put(&row(ROWS - 1, round)).unwrap();
    }
    let stats = store.stats().unwrap();
    assert_eq!(stats.space.held_back_bytes, 0);
    assert!(stats.file_bytes <= before + (1 << 20), "{before} became {}", stats.file_bytes);

    out.read_to_end(&mut printed).unwrap();
    assert!(reader.wait().unwrap().success());
    let printed = String::from_utf8(printed).unwrap();
    assert_eq!(printed.lines().count(), ROWS);
    // The pages behind are of the time when they are read.
    assert!(printed.lines().last().unwrap().contains(&format!("{:010}", 200)));
}

#[test]
fn a_list_of_blobs_that_waits_holds_nothing_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("blobs.tables");
    let store = Store::options().durability(Durability::Relaxed).open(&path).unwrap();
    let photos = store.container("photos").unwrap();
    for number in 0..1_500 {
        photos.put(&format!("{number:06}/{}", "long".repeat(40)), b"x").unwrap();
    }
    let mut reader = Command::new(env!("CARGO_BIN_EXE_tables"))
        .args(["blobs", "photos", "--format", "jsonl", "--store"])
        .arg(&path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = reader.stdout.take().unwrap();
    let mut printed = vec![0];
    out.read_exact(&mut printed).unwrap();
    // More is to come than the pipe takes: it waits for its reader, without a snapshot.
    let others = store.container("others").unwrap();
    let begun = Instant::now();
    loop {
        others.put("one", b"x").unwrap();
        std::thread::sleep(Duration::from_millis(50));
        if store.stats().unwrap().oldest_snapshot.is_none() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "a snapshot is held");
    }
    out.read_to_end(&mut printed).unwrap();
    assert!(reader.wait().unwrap().success());
    assert_eq!(String::from_utf8(printed).unwrap().lines().count(), 1_500);
}
