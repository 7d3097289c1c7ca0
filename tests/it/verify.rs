//! Damaged files that are looked through before LMDB goes by them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use integration_tests::child::Child;
use integration_tests::{Scratch, relaxed};
use table_core::crypt::KeyRing;
use table_core::{DynamicEntity, ErrorKind, Query, Store};

const PROGRAM: &str = env!("CARGO_BIN_EXE_crash-child");

fn size(variable: &str, usual: usize) -> usize {
    std::env::var(variable).map_or(usual, |text| text.parse().expect("a number"))
}

/// A small store with large values, free pages and keys.
fn made(path: &Path, ring: &Path) {
    let provider = Arc::new(KeyRing::create(ring).unwrap());
    let store = relaxed().encryption(provider).open(path).unwrap();
    let table = store.create_table("Table").unwrap();
    let sealed = table.encrypting(|_, _, name| name == "Secret");
    for round in 0..3 {
        for row in 0..40 {
            let length = if row == 7 { 6_000 } else { 200 + round };
            let row = DynamicEntity::new("p", format!("{row:03}")).with("Text", "x".repeat(length));
            sealed.put(&row.with("Secret", "secret")).unwrap();
        }
    }
    store.create_table("Dropped").unwrap();
    store.drop_table("Dropped").unwrap();
    store.reclaim().unwrap();
    store.encryption().unwrap().rotate_all().unwrap();
}

/// What became of the flips.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    failed: usize,
    sound: usize,
    /// Those that ended the process, or had it run for ever.
    died: Vec<String>,
}

/// Every `step`th flip of a bit, in as many processes as there are processors.
fn flip(verify: bool, step: usize) -> Tally {
    let scratch = Scratch::new();
    let [store, ring] = ["store", "ring"].map(|name| scratch.path().join(name));
    made(&store, &ring);
    let threads = std::thread::available_parallelism().map_or(2, |threads| threads.get());
    let mut all = Tally::default();
    std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let (store, ring, work) = (&store, &ring, scratch.path().join(format!("work {part}")));
                scope.spawn(move || flip_some(store, ring, &work, verify, part * step, step * threads))
            })
            .collect();
        for part in parts {
            let part = part.join().unwrap();
            all.refused += part.refused;
            all.failed += part.failed;
            all.sound += part.sound;
            all.died.extend(part.died);
        }
    });
    let done = all.refused + all.failed + all.sound + all.died.len();
    println!(
        "{done} flips, looked through first: {verify}; refused {}, failed later {}, unharmed {}, died {}",
        all.refused,
        all.failed,
        all.sound,
        all.died.len()
    );
    all
}

fn flip_some(store: &Path, ring: &Path, work: &Path, verify: bool, mut first: usize, step: usize) -> Tally {
    let mut tally = Tally::default();
    loop {
        let mut command = Command::new(PROGRAM);
        command.arg("verify").args([store, work, ring]).arg(verify.to_string());
        command.args([size("VERIFY_RANDOM", 2_000), first, step].map(|number| number.to_string()));
        // LMDB tells there what it dies of.
        let mut child = Child::spawn(command.env("CRASH_CHILD_SECONDS", "3600").stderr(Stdio::null()));
        let mut flipped = None;
        loop {
            match child.next_within(Duration::from_secs(30)) {
                Ok(Some(line)) if line == "end" => return tally,
                Ok(Some(line)) => match &*line {
                    "refused" => tally.refused += 1,
                    "failed" => tally.failed += 1,
                    "sound" => tally.sound += 1,
                    flip => flipped = Some(flip.to_owned()),
                },
                // It died, or would never come to an end.
                Ok(None) | Err(_) => {
                    let flip = flipped.take().expect("a child dies of a flip alone");
                    let number: usize = flip.split(' ').nth(1).unwrap().parse().unwrap();
                    tally.died.push(flip);
                    first = number + step;
                    break;
                }
            }
        }
    }
}

#[test]
fn no_flipped_bit_ends_a_process_that_looks_first() {
    let step = size("VERIFY_STEP", if cfg!(debug_assertions) { 23 } else { 11 });
    let looked = flip(true, step);
    assert!(looked.died.is_empty(), "{:#?}", looked.died);
    assert!(looked.refused > 100);
    // The control: without a look so many are met later, by who reads or writes. Few end the process by now, if any.
    let blind = flip(false, step);
    assert!(blind.failed + blind.died.len() > looked.failed + 100);
    assert!(looked.refused > blind.refused + 100);
}

#[test]
fn sound_stores_are_opened_whatever_has_been_done_to_them() {
    let scratch = Scratch::new();
    let [store, ring] = ["store", "ring"].map(|name| scratch.path().join(name));
    made(&store, &ring);
    let options = Store::options().verify_first(true).encryption(Arc::new(KeyRing::open(&ring).unwrap()));
    for _ in 0..3 {
        let opened = options.open(&store).unwrap();
        let table = opened.dynamic_table("Table").unwrap();
        assert_eq!(table.query(&Query::new()).unwrap().count(), 40);
        for row in 0..300 {
            let row = DynamicEntity::new("q", format!("{row:03}")).with("Text", "y".repeat(row * 31));
            table.put(&row).unwrap();
        }
        table.query(&Query::new().partition("q")).unwrap().for_each(|row| {
            let row = row.unwrap();
            table.delete(row.partition_key(), row.row_key()).unwrap();
        });
        opened.copy_to(scratch.path().join("copy")).unwrap();
        drop((opened, table));
        options.open(scratch.path().join("copy")).unwrap();
        std::fs::remove_dir_all(scratch.path().join("copy")).unwrap();
    }
}

#[test]
fn it_is_looked_through_while_others_write() {
    let scratch = Scratch::new();
    let [store, ring] = ["store", "ring"].map(|name| scratch.path().join(name));
    made(&store, &ring);
    let mut child = Child::start(PROGRAM, "overwrite", &[store.to_str().unwrap(), "Table"]);
    for _ in 0..20 {
        drop(Store::options().verify_first(true).open(&store).unwrap());
    }
    child.expect("done");
    child.finish();
}

#[test]
fn keys_are_looked_through_too() {
    let scratch = Scratch::new();
    let [store, ring] = ["store", "ring"].map(|name| scratch.path().join(name));
    made(&store, &ring);
    let data = store.join("keys/data.mdb");
    let mut bytes = std::fs::read(&data).unwrap();
    // The flags of each page but the header's: as if it were being changed.
    for page in (2 * 4_096..bytes.len()).step_by(4_096) {
        bytes[page + 10] |= 0x10;
    }
    std::fs::write(&data, bytes).unwrap();
    let options = Store::options().encryption(Arc::new(KeyRing::open(&ring).unwrap()));
    let error = options.clone().verify_first(true).open(&store).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(error.to_string().contains("keys/data.mdb"), "{error}");
}

#[test]
fn a_lock_file_of_the_keys_that_is_a_link_is_refused() {
    let scratch = Scratch::new();
    let [store, ring, target] = ["store", "ring", "target"].map(|name| scratch.path().join(name));
    made(&store, &ring);
    std::fs::write(&target, "precious").unwrap();
    let lock = store.join("keys/lock.mdb");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&target, &lock).unwrap();
    let options = Store::options().encryption(Arc::new(KeyRing::open(&ring).unwrap()));
    let error = options.open(&store).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert!(error.to_string().contains("keys/lock.mdb` is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}
