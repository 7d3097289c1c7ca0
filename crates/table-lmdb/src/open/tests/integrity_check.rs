//! Damage that a look at every page finds, and what it takes for no damage.

use lmdb_verify::{Page, Tree, state_of_write};

use table_engine::error::{ErrorKind, Result};

use crate::lmdb;
use crate::open::NAMES;
use crate::records::meta::Meta;
use crate::tests_scratch::in_memory;

#[test]
fn a_value_that_shrank_where_it_was_written_may_be_changed_and_one_that_takes_others_pages_may_not() {
    let dir = in_memory();
    let written = crate::Store::open(dir.path()).unwrap();
    let environment = &written.shared().environment;
    let mut txn = environment.write_txn().unwrap();
    for (key, value) in
        [(&b"spare"[..], vec![1; 9_000]), (b"spare", vec![1; 3_000]), (b"whole", vec![2; 9_000])]
    {
        environment.dbs.data.put(&mut txn, key, &value).unwrap();
    }
    let main = environment.dbs.main;
    Meta::begin(main, &txn).unwrap().write(main, &mut txn).unwrap();
    environment.commit(txn).unwrap();
    drop(written);
    // What is on the pages of its own writes a process does not look at.
    let store = crate::Store::open(dir.path()).unwrap();
    let environment = &store.shared().environment;
    let (data, pages) = (environment.dbs.data, environment.dbs.pages);
    let check = |key: &[u8]| -> Result<(bool, u64)> {
        let txn = environment.write_txn().unwrap();
        let value = data.get(&txn, key).unwrap().unwrap();
        let has_spare = pages.has_spare(value).map_err(lmdb::damage)?;
        let checked = environment.reader.check_run(&txn, state_of_write(&txn), value);
        checked.map(|()| (has_spare, pages.number(value).unwrap())).map_err(lmdb::damage)
    };
    let (has_spare, at) = check(b"whole").unwrap();
    assert!(!has_spare);
    let page = u64::try_from(pages.size()).unwrap();
    // Through the file, which the map shows. One page more is of something else, or beyond the last.
    let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("data.mdb")).unwrap();
    for count in [0_u32, 1, 2, 4, 5, 1 << 20, 1 << 31, u32::MAX] {
        std::os::unix::fs::FileExt::write_at(&file, &count.to_le_bytes(), at * page + 12).unwrap();
        assert_eq!(check(b"whole").unwrap_err().kind(), ErrorKind::Corrupt, "{count}");
    }
    std::os::unix::fs::FileExt::write_at(&file, &3_u32.to_le_bytes(), at * page + 12).unwrap();
    for _ in 0..2 {
        assert!(check(b"spare").unwrap().0);
    }
}

/// Flips each bit of some bytes of a store's file, which the map shows; each flip must be found, and no other.
fn each_flip_is_found(store: &crate::Store, bytes: impl Iterator<Item = u64>) {
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    assert!(environment.reader.check_pages(&txn).problems.is_empty());
    let path = environment.env.path().join("data.mdb");
    let file = std::fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    for at in bytes {
        for bit in 0..8 {
            let flip = || {
                let mut flipped = [0];
                std::os::unix::fs::FileExt::read_exact_at(&file, &mut flipped, at).unwrap();
                flipped[0] ^= 1 << bit;
                std::os::unix::fs::FileExt::write_at(&file, &flipped, at).unwrap();
            };
            flip();
            let found = environment.reader.check_pages(&txn).problems;
            flip();
            let kind = found.into_iter().next().map(|found| lmdb::damage(found).kind());
            assert_eq!(kind, Some(ErrorKind::Corrupt), "byte {at}, bit {bit}");
        }
    }
    assert!(environment.reader.check_pages(&txn).problems.is_empty());
}

/// A store with rows, of which one has pages of its own, and where each entry's key or value lies in its file.
fn store(dir: &std::path::Path) -> (crate::Store, impl Fn(&[u8]) -> u64) {
    let store = crate::Store::open(dir).unwrap();
    let table = store.create_table("Table").unwrap();
    let row = |row: &str, length| table_engine::DynamicEntity::new("p", row).with("Text", "x".repeat(length));
    for number in 0..200 {
        table.insert(&row(&number.to_string(), 90)).unwrap();
    }
    table.insert(&row("large", 9_000)).unwrap();
    let pages = store.shared().environment.dbs.pages;
    let place = move |bytes: &[u8]| {
        let within = bytes.as_ptr().addr() - pages.place(bytes);
        pages.number(bytes).unwrap() * u64::try_from(pages.size()).unwrap() + u64::try_from(within).unwrap()
    };
    (store, place)
}

#[test]
fn a_flipped_bit_in_what_a_database_is_said_to_be_is_found() {
    let dir = in_memory();
    let (store, place) = store(dir.path());
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let records = NAMES.map(|name| place(environment.dbs.main.get(&txn, name.as_bytes()).unwrap().unwrap()));
    // Its flags and its depth, how many entries it has, and its root. The rest is padding, and numbers of pages that
    // LMDB does not go by.
    let bytes = records.into_iter().flat_map(|at| (4..8).chain(32..48).map(move |byte| at + byte));
    each_flip_is_found(&store, bytes);
}

#[test]
fn a_flipped_bit_in_the_flags_of_an_entry_is_found() {
    let dir = in_memory();
    let (store, place) = store(dir.path());
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let mut keys = Vec::new();
    for db in [environment.dbs.main, environment.dbs.data, environment.dbs.catalog] {
        keys.extend(db.iter(&txn).unwrap().map(|entry| place(entry.unwrap().0)));
    }
    assert!(keys.len() > 201);
    // They stand four bytes before the key, behind the size of the value and before that of the key.
    each_flip_is_found(&store, keys.into_iter().flat_map(|key| [key - 4, key - 3]));
}

#[test]
fn a_key_of_a_branch_that_is_not_between_those_of_others_is_found() {
    let dir = in_memory();
    let (store, place) = store(dir.path());
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let root = Tree::find(&environment.reader, &txn, txn.id()).unwrap().root();
    let branch = Page::parse(environment.reader.page(&txn, root).unwrap(), root).unwrap();
    assert!(branch.is_branch() && branch.len() > 3);
    // The first key stands for none. Behind the table's number and the partition key stands a zero, which is in all keys:
    // with any other byte in its place a key is above them.
    let keys = (1..branch.len()).map(|at| place(branch.key(at).unwrap()));
    each_flip_is_found(&store, keys.map(|key| key + 2));
}

#[test]
fn a_check_goes_no_further_where_lmdb_would_end_the_process() {
    let dir = in_memory();
    let (store, place) = store(dir.path());
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let key = place(environment.dbs.data.first(&txn).unwrap().unwrap().0);
    drop(txn);
    // Of the flags of a row's entry the third says that it has several values.
    let file = std::fs::OpenOptions::new().read(true).write(true).open(dir.path().join("data.mdb")).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, &[4], key - 4).unwrap();
    let report = store.check().unwrap();
    let told: Vec<_> = report.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("is damaged") && told[1].contains("were not looked at"), "{told:?}");
    std::os::unix::fs::FileExt::write_at(&file, &[0], key - 4).unwrap();
    assert!(store.check().unwrap().problems.is_empty());
}
