//! Bits that flip in blobs' records: a blob is read as it was put, or there is an error; none is missing without one.

use table_engine::contents::keys::Key;
use table_engine::contents::{BlobContent, BlobId};
use table_engine::error::ErrorKind;

use super::*;
use crate::open::OptionalDb;
use crate::records::meta::Meta;
use crate::tests_scratch::in_memory;

/// Returns the blobs of the store, by name.
fn blobs() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("empty", Vec::new()),
        ("small", bytes(300, 1)),
        ("large", bytes(150_000, 2)),
        ("last", bytes(65_512, 3)),
    ]
}

fn filled(store: &Store) {
    let files = store.container("files").unwrap();
    for (name, bytes) in blobs() {
        files.put(name, &bytes).unwrap();
    }
    store.container("other").unwrap().put("small", b"another").unwrap();
    ask(store, BlobTask::Stage(BlobContent::of(BlobId::new(&[1; 16]), 0, "video/mp4", &bytes(70_000, 4))))
        .unwrap();
}

/// Returns every record of the blobs' database.
fn records(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let environment = &store.shared().environment;
    let db = environment.known(OptionalDb::Blobs).unwrap();
    let txn = environment.read_txn().unwrap();
    let pairs = db.iter(&txn).unwrap();
    pairs.map(|pair| pair.map(|(key, record)| (key.to_vec(), record.to_vec())).unwrap()).collect()
}

/// Puts other bytes under a key, as damage would, or none.
fn put(store: &Store, key: &[u8], record: Option<&[u8]>) {
    let environment = &store.shared().environment;
    let db = environment.known(OptionalDb::Blobs).unwrap();
    let mut txn = environment.write_txn().unwrap();
    let mut meta = Meta::begin(environment.dbs.main, &txn).unwrap();
    match record {
        Some(record) => db.put(&mut txn, key, record).unwrap(),
        None => drop(db.delete(&mut txn, key).unwrap()),
    }
    meta.write(environment.dbs.main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
}

/// Reads everything; the kinds of error that there were. What is read is right.
fn read_all(store: &Store) -> Vec<ErrorKind> {
    let mut errors = Vec::new();
    let files = match store.container("files") {
        Ok(files) => files,
        Err(error) => return vec![error.kind()],
    };
    for (name, bytes) in blobs() {
        match files.get(name) {
            Ok(found) => assert!(found == Some(bytes), "{name}"),
            Err(error) => errors.push(error.kind()),
        }
    }
    match files.list("").and_then(Iterator::collect::<Result<Vec<_>>>) {
        Ok(listed) => assert_eq!(listed.len(), blobs().len()),
        Err(error) => errors.push(error.kind()),
    }
    errors
}

/// A read that meets a wrong record reports it, and so does the check.
fn assert_seen(store: &Store, key: &[u8], what: &str) {
    let report = store.check().unwrap();
    assert!(!report.problems.is_empty(), "{what}: the check sees nothing");
    let errors = read_all(store);
    assert!(errors.iter().all(|kind| *kind == ErrorKind::Corrupt), "{what}: {errors:?}");
    let is_read = match Key::parse(key) {
        Some(Key::Directory) => true,
        Some(Key::Name(container, _)) => container == 1,
        _ => false,
    };
    assert!(!is_read || !errors.is_empty(), "{what}: nobody sees it");
}

#[test]
fn a_flipped_bit_of_any_record_is_an_error() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    filled(&store);
    let records = records(&store);
    assert!(records.len() > 18, "{}", records.len());
    assert_eq!(read_all(&store), []);
    for (key, record) in &records {
        // A bit of each byte of what is small, some of what is large.
        let step = if record.len() > 1_000 { 60_013 } else { 9 };
        for bit in (0..record.len() * 8).step_by(step) {
            let mut flipped = record.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            put(&store, key, Some(&flipped));
            assert_seen(&store, key, &format!("{:?}, bit {bit}", Key::parse(key)));
        }
        put(&store, key, Some(record));
    }
    assert_eq!(read_all(&store), []);
    assert_sound(&store);
}

#[test]
fn a_flipped_bit_of_any_key_is_an_error() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    filled(&store);
    let all = records(&store);
    for (key, record) in &all {
        for bit in 0..key.len() * 8 {
            let mut flipped = key.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if all.iter().any(|(other, _)| *other == flipped) {
                continue;
            }
            put(&store, key, None);
            put(&store, &flipped, Some(record));
            let report = store.check();
            assert!(
                report.is_err() || !report.unwrap().problems.is_empty(),
                "{:?}, bit {bit}",
                Key::parse(key)
            );
            put(&store, &flipped, None);
            put(&store, key, Some(record));
        }
    }
    assert_eq!(read_all(&store), []);
    assert_sound(&store);
}

/// The record of another blob, segment or name is not taken for one's own; neither is an older one, where the check looks.
#[test]
fn a_record_in_anothers_place_is_an_error() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    filled(&store);
    let all = records(&store);
    for (one, other) in all.iter().zip(all.iter().skip(1)) {
        put(&store, &one.0, Some(&other.1));
        assert_seen(&store, &one.0, &format!("{:?}", Key::parse(&one.0)));
        put(&store, &one.0, Some(&one.1));
    }
    assert_sound(&store);
}

/// Nothing is written over what is damaged, and nothing of it is removed.
#[test]
fn a_write_that_meets_damage_is_refused() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    filled(&store);
    let files = store.container("files").unwrap();
    for (key, record) in records(&store) {
        let met = match Key::parse(&key) {
            Some(Key::Directory | Key::Counters) => true,
            Some(Key::Name(_, name)) => name == "small",
            _ => false,
        };
        if !met {
            continue;
        }
        let mut flipped = record.clone();
        flipped[0] ^= 1;
        put(&store, &key, Some(&flipped));
        let before = records(&store);
        let is_of_other = matches!(Key::parse(&key), Some(Key::Name(2, _)));
        if !is_of_other {
            for error in [
                files.put("small", b"new").unwrap_err(),
                files.append("small", b"new").unwrap_err(),
                files.delete("small").unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            }
        }
        assert!(records(&store) == before);
        put(&store, &key, Some(&record));
    }
    assert_sound(&store);
}

/// After the first of several records that are put a leaf has other entries, and a search looks at others of them.
#[test]
fn a_blob_is_not_put_on_the_wrong_side_of_a_damaged_key() {
    let dir = in_memory();
    let options = Store::options().durability(crate::Durability::Relaxed).map_size(1 << 26);
    let name = |number: u32| format!("blob {number:03}");
    {
        let files = options.open(dir.path().join("store")).unwrap().container("files").unwrap();
        for number in (0..24).map(|number| 2 * number) {
            files.put(&name(number), b"contents").unwrap();
        }
    }
    let file = std::fs::read(dir.path().join("store/data.mdb")).unwrap();
    let sought = name(24).into_bytes();
    let places = || (0..file.len() - sought.len()).filter(|at| file[*at..].starts_with(&sought));
    let (mut put, mut refused) = (0, 0);
    // Of each byte, one flip that makes it greater and one that makes it less, and by much.
    for (at, flip) in (0..sought.len()).flat_map(|at| [0x01, 0x02, 0x10, 0x20, 0x40].map(|flip| (at, flip))) {
        let copy = in_memory();
        let mut damaged = file.clone();
        places().for_each(|place| damaged[place + at] ^= flip);
        std::fs::write(copy.path().join("data.mdb"), &damaged).unwrap();
        let store = options.open(copy.path()).unwrap();
        let Ok(files) = store.container("files") else { continue };
        let container = store.backend().clone().blobs().unwrap().container("files").unwrap();
        let mut added = Vec::new();
        let some: Vec<_> =
            (0..24).map(|number| 2 * number + 1).filter(|number| !(20..29).contains(number)).collect();
        let task = |number: &u32| BlobTask::Put {
            container,
            name: name(*number),
            content: BlobContent::of(BlobId::new(&[1; 16]), 0, "", b"more"),
            is_new: true,
        };
        match store.backend().clone().blobs().unwrap().carry_out(some.iter().map(task).collect()) {
            Ok(_) => {
                put += 1;
                added.extend(some);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                refused += 1;
            }
        }
        let there = (0..24).map(|number| 2 * number).filter(|number| *number != 24);
        for number in there.chain(added) {
            let found = files.get(&name(number));
            assert!(
                !matches!(found, Ok(None)),
                "byte {at} by {flip:#x}: blob {number} is said not to be there"
            );
        }
    }
    println!("{put} put, {refused} refused");
    assert!(refused > 0, "{put} put");
}
