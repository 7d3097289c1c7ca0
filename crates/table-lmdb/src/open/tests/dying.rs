//! Entries at which LMDB, or a hash of what it gives, would end the process.

use table_engine::DynamicEntity;
use table_engine::row::key::Number;

use super::*;
use crate::Store;

/// LMDB's flag of an entry that has several values, which no store's has.
const SEVERAL: u8 = 0x04;

/// Where each key of a database lies in the file of a store. Four bytes before it are the entry's flags, and four more
/// before those the length of its value.
fn keys(store: &Store, name: &str) -> Vec<usize> {
    places(store, name, |key, _, _| Some(key))
}

/// Where the pages begin that a database's values have of their own.
fn own_pages(store: &Store, name: &str) -> Vec<usize> {
    places(store, name, |_, value, page| (value % page == 16).then_some(value - 16))
}

/// Places of entries in the file of a store, by those of their keys and values, and by how long a page is.
fn places(store: &Store, name: &str, place_of: impl Fn(usize, usize, usize) -> Option<usize>) -> Vec<usize> {
    let environment = &store.shared().environment;
    let dbs = environment.dbs;
    let db = match name {
        "data" => dbs.data,
        "names" => dbs.names,
        "catalog" => dbs.catalog,
        optional_db => OptionalDb::ALL
            .into_iter()
            .find(|known| known.name() == optional_db)
            .and_then(|optional_db| environment.known(optional_db))
            .unwrap(),
    };
    let (pages, txn) = (dbs.pages, environment.read_txn().unwrap());
    let place = |bytes: &[u8]| {
        let within = bytes.as_ptr().addr() - pages.place(bytes);
        usize::try_from(pages.number(bytes).unwrap()).unwrap() * pages.size() + within
    };
    let entries = db.iter(&txn).unwrap().map(Result::unwrap);
    entries.filter_map(|(key, value)| place_of(place(key), place(value), pages.size())).collect()
}

/// Opens the store with a byte of each entry in turn changed, and makes sure that what is asked of it is right or an error.
/// How many were errors.
fn asks_damaged<T: PartialEq + std::fmt::Debug>(
    path: &Path,
    bytes: impl Iterator<Item = usize>,
    flips: u8,
    ask: impl Fn(&Store) -> Vec<Result<T>>,
) -> usize {
    let file = fs::read(path.join(DATA)).unwrap();
    let mut number = 0;
    let mut answers = |file: &[u8]| {
        // A place of its own: a thread of the former store may still be about.
        number += 1;
        let path = path.with_file_name(format!("flip {number}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join(DATA), file).unwrap();
        let answers = match Store::open(&path) {
            Ok(store) => ask(&store),
            Err(error) => vec![Err(error)],
        };
        fs::remove_dir_all(&path).unwrap();
        answers
    };
    let right: Vec<T> = answers(&file).into_iter().map(Result::unwrap).collect();
    let mut errors = 0;
    for at in bytes {
        let mut damaged = file.clone();
        damaged[at] ^= flips;
        for (answer, right) in answers(&damaged).into_iter().zip(&right) {
            match answer {
                Ok(answer) => assert_eq!(answer, *right, "byte {at}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {at}: {error}");
                    errors += 1;
                }
            }
        }
    }
    errors
}

#[test]
fn a_small_record_that_is_said_to_reach_beyond_the_file_is_damaged() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    for table in ["First", "Second"] {
        let table = store.create_table(table).unwrap();
        for row in 0..20 {
            let row = DynamicEntity::new("p", row.to_string()).with("Number", row).with("Text", "x");
            table.insert(&row).unwrap();
        }
    }
    let entries: Vec<_> = ["names", "catalog"].iter().flat_map(|name| keys(&store, name)).collect();
    drop(store);
    assert!(entries.len() >= 10, "{entries:?}");
    let ask = |store: &Store| {
        let number = |table: &str| -> Result<_> {
            let row = store.dynamic_table(table)?.get("p", "7")?;
            Ok(row.and_then(|row| row.get("Number").and_then(table_engine::Value::as_i32)))
        };
        ["First", "Second"].map(number).into_iter().collect()
    };
    // 16 MiB and 1 GiB more.
    for (byte, flips) in [(5, 0x01), (5, 0x40)] {
        let errors = asks_damaged(&path, entries.iter().map(|key| key - byte), flips, ask);
        assert!(errors > entries.len() / 2, "{errors} of {}", entries.len());
    }
}

#[test]
fn a_range_of_rows_is_not_gone_through_where_lmdb_would_end_the_process() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    for row in 0..60 {
        table.insert(&DynamicEntity::new("p", row.to_string()).with("Text", "x".repeat(300))).unwrap();
    }
    let entries = keys(&store, "data");
    drop((table, store));
    let ask = |store: &Store| {
        let digest = || {
            let inner = store.shared();
            let txn = inner.environment.read_txn()?;
            crate::write::range::digest_of_snapshot(&inner.environment, &txn, &Number::of(1))
        };
        vec![digest()]
    };
    assert_eq!(asks_damaged(&path, entries.iter().map(|key| key - 4), SEVERAL, ask), entries.len());
}

#[cfg(feature = "queue")]
#[test]
fn messages_are_not_gone_through_where_lmdb_would_end_the_process() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    for queue in ["first", "second"] {
        let queue = store.queue::<String>(queue).unwrap();
        queue.send_all(&vec!["x".repeat(200); 40]).unwrap();
    }
    let entries = keys(&store, OptionalDb::Queues.name());
    drop(store);
    let ask = |store: &Store| {
        ["first", "second"]
            .map(|name| {
                let queue = store.queue::<String>(name)?;
                let peeked = queue.peek(50)?.len();
                let received = queue.receive_many(3, Duration::from_secs(60))?;
                queue.delete_all(&received)?;
                Ok((peeked, received.len(), queue.stats()?.ready))
            })
            .into_iter()
            .collect()
    };
    let errors = asks_damaged(&path, entries.iter().map(|key| key - 4), SEVERAL, ask);
    assert!(errors >= entries.len(), "{errors} of {}", entries.len());
}

#[cfg(feature = "blob")]
#[test]
fn blobs_are_not_gone_through_where_lmdb_would_end_the_process() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let container = store.container("files").unwrap();
    for name in 0..40 {
        container.put(&name.to_string(), &[7; 600]).unwrap();
    }
    let entries = keys(&store, OptionalDb::Blobs.name());
    drop((container, store));
    let ask = |store: &Store| {
        let look = || {
            let container = store.container("files")?;
            let mut names = 0;
            for found in container.list("")? {
                found?;
                names += 1;
            }
            container.put("new", b"new")?;
            container.delete("7")?;
            Ok((names, container.get("12")?.map(|bytes| bytes.len())))
        };
        vec![look()]
    };
    let errors = asks_damaged(&path, entries.iter().map(|key| key - 4), SEVERAL, ask);
    assert!(errors > entries.len() / 2, "{errors} of {}", entries.len());
}

#[test]
fn the_rows_of_a_dropped_table_are_not_removed_where_one_is_said_to_be_longer() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    for row in 0..60 {
        table.insert(&DynamicEntity::new("p", row.to_string()).with("Text", "x".repeat(60))).unwrap();
    }
    let entries = keys(&store, "data");
    drop((table, store));
    let ask = |store: &Store| {
        store.drop_table("Table").unwrap();
        vec![store.reclaim()]
    };
    // 256 bytes more.
    assert_eq!(asks_damaged(&path, entries.iter().map(|key| key - 7), 0x01, ask), entries.len());
}

#[test]
fn a_page_that_is_said_to_be_changed_is_not_written_to() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    let row = |row: u32| DynamicEntity::new("p", row.to_string()).with("Text", "x".repeat(300));
    for number in 0..60 {
        table.insert(&row(number)).unwrap();
    }
    let environment = &store.shared().environment;
    let (size, pages) = {
        let (pages, txn) = (environment.dbs.pages, environment.read_txn().unwrap());
        let header = environment.reader.header(u64::try_from(txn.id()).unwrap()).unwrap();
        (pages.size(), usize::try_from(header.last_page).unwrap())
    };
    drop((table, store));
    let ask = |store: &Store| {
        let write = || {
            let table = store.dynamic_table("Table")?;
            table.insert(&row(100))?;
            table.delete("p", "7")?;
            table.put(&row(30))?;
            match table.insert(&row(31)) {
                Ok(_) => panic!("a row was put twice"),
                Err(error) if error.kind() == ErrorKind::EntityAlreadyExists => Ok(()),
                Err(error) => Err(error),
            }
        };
        vec![write()]
    };
    // In memory LMDB notes so of a page that was changed, of one that is free again, and of one that is kept.
    for (byte, flips) in [(10, 0x10), (11, 0x40), (11, 0x80)] {
        let errors = asks_damaged(&path, (2..=pages).map(|page| page * size + byte), flips, ask);
        assert!(errors > 3, "{errors} of {pages}");
    }
}

#[test]
fn a_row_of_a_dropped_table_does_not_make_anothers_pages_free() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let table = store.create_table("Table").unwrap();
    table.insert(&DynamicEntity::new("p", "large").with("Text", "x".repeat(9_000))).unwrap();
    let page = own_pages(&store, "data")[0];
    drop((table, store));
    let ask = |store: &Store| {
        store.drop_table("Table").unwrap();
        vec![store.reclaim()]
    };
    assert_eq!(asks_damaged(&path, page..page + 8, 0x01, ask), 8);
}

#[cfg(feature = "queue")]
#[test]
fn a_message_does_not_make_anothers_pages_free() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let queue = store.queue::<String>("queue").unwrap();
    queue.send(&"x".repeat(9_000)).unwrap();
    let page = own_pages(&store, OptionalDb::Queues.name())[0];
    drop((queue, store));
    let ask = |store: &Store| {
        let receive = || {
            let received = store.queue::<String>("queue")?.receive(Duration::from_secs(60))?;
            received.map(|received| received.delete()).transpose().map(|done| done.is_some())
        };
        vec![receive()]
    };
    assert_eq!(asks_damaged(&path, page..page + 8, 0x01, ask), 8);
}

#[cfg(feature = "blob")]
#[test]
fn a_blob_does_not_make_anothers_pages_free() {
    let dir = scratch();
    let path = dir.path().join("store");
    let store = Store::open(&path).unwrap();
    let container = store.container("files").unwrap();
    container.put("large", &[7; 9_000]).unwrap();
    let page = own_pages(&store, OptionalDb::Blobs.name())[0];
    drop((container, store));
    let ask = |store: &Store| vec![store.container("files").and_then(|files| files.delete("large"))];
    assert_eq!(asks_damaged(&path, page..page + 8, 0x01, ask), 8);
}
