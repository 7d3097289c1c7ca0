//! Searches for rows, and damaged keys that writes come to.

use lmdb_verify::Page;

use table_engine::error::ErrorKind;
use table_engine::{Batch, DynamicEntity, DynamicTable, IfMatch};

use crate::Store;
use crate::tests_scratch::in_memory;

#[test]
fn a_search_finds_what_lmdb_finds() {
    let dir = in_memory();
    let store = Store::open(dir.path()).unwrap();
    let table = store.create_table("Table").unwrap();
    let look = |least: u32| {
        let environment = &store.shared().environment;
        let txn = environment.read_txn().unwrap();
        let tree = environment.rows_tree(&txn, txn.id()).unwrap();
        assert!(tree.depth() >= least, "{} levels", tree.depth());
        let data = environment.dbs.data;
        assert_eq!(tree.get(&environment.reader, &txn, b"").unwrap(), None);
        assert_eq!(tree.get(&environment.reader, &txn, &[0xff]).unwrap(), None);
        let mut rows = 0;
        for row in data.iter(&txn).unwrap() {
            let (key, bytes) = row.unwrap();
            let found = tree.get(&environment.reader, &txn, key).unwrap().unwrap();
            assert!(std::ptr::eq(found, bytes), "{}", key.escape_ascii());
            for beside in [&[key, &[0]].concat(), &key[..key.len() - 1]] {
                let expected = data.get(&txn, beside).unwrap();
                assert_eq!(
                    tree.get(&environment.reader, &txn, beside).unwrap(),
                    expected,
                    "{}",
                    beside.escape_ascii()
                );
            }
            rows += 1;
        }
        rows
    };
    assert_eq!(look(0), 0);
    for number in 0..160 {
        // Keys so long that few stand on a branch; some rows have pages of their own.
        let size = if number % 20 == 3 { 9_000 } else { number };
        let entity = DynamicEntity::new("p", format!("{:0>450}", number * 7 % 160));
        table.insert(&entity.with("Text", "x".repeat(size))).unwrap();
    }
    assert_eq!(look(3), 160);
}

fn row_key(number: u32) -> String {
    format!("row_{number:03}")
}

/// The numbers of the rows in a damaged leaf whose keys are sound.
fn sound() -> impl Iterator<Item = u32> {
    (0..40).map(|number| number * 2).filter(|number| *number != 30)
}

/// A store of one leaf with the even rows up to 78, of whose 30th the first byte of the key is another.
fn with_a_damaged_key(path: &std::path::Path, flip: u8) -> Store {
    {
        let table = Store::open(path).unwrap().create_table("Table").unwrap();
        for number in 0..40 {
            table.insert(&DynamicEntity::new("p", row_key(number * 2))).unwrap();
        }
    }
    let data = path.join("data.mdb");
    let mut bytes = std::fs::read(&data).unwrap();
    let sought = b"p\0row_030";
    let places: Vec<_> =
        (0..bytes.len() - sought.len()).filter(|at| bytes[*at..].starts_with(sought)).collect();
    for at in places {
        bytes[at] ^= flip;
    }
    std::fs::write(&data, bytes).unwrap();
    Store::open(path).unwrap()
}

/// Makes one key that is above all others, and one that is below.
const FLIPS: [u8; 2] = [0x02, 0x20];

/// None of these rows is taken for absent.
fn assert_there(table: &DynamicTable, rows: impl Iterator<Item = u32>) {
    for number in rows {
        let found = table.get("p", &row_key(number));
        assert!(!matches!(found, Ok(None)), "row {number} is said not to be there");
    }
}

#[test]
fn a_leaf_is_not_split_at_a_damaged_key() {
    for flip in FLIPS {
        let dir = in_memory();
        let store = with_a_damaged_key(&dir.path().join("store"), flip);
        let table = store.dynamic_table("Table").unwrap();
        let (mut added, mut refused) = (Vec::new(), 0);
        for number in (41..80).step_by(2) {
            match table.insert(&DynamicEntity::new("p", row_key(number)).with("Text", "x".repeat(100))) {
                Ok(_) => added.push(number),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    refused += 1;
                }
            }
            assert_there(&table, sound().chain(added.iter().copied()));
        }
        assert!(refused > 0, "the leaf was split");
    }
}

#[test]
fn a_load_does_not_put_rows_on_the_wrong_side_of_a_damaged_key() {
    for flip in FLIPS {
        let dir = in_memory();
        let store = with_a_damaged_key(&dir.path().join("store"), flip);
        let table = store.dynamic_table("Table").unwrap();
        let new = || (0..40).map(|number| number * 2 + 1);
        let row = |number: u32| DynamicEntity::new("p", row_key(number)).with("Text", "x".repeat(100));
        let report = store.bulk(new().map(|number| table.batch("p").insert(row(number)))).unwrap();
        assert!(report.failures.iter().all(|failure| failure.error.kind() == ErrorKind::Corrupt));
        // The leaf is looked at before any row is put on it.
        assert_eq!(report.committed, 0);
        let failed: Vec<_> = report.failures.iter().map(|failure| failure.index).collect();
        let added = new().zip(0..).filter(|(_, batch)| !failed.contains(batch)).map(|(number, _)| number);
        assert_there(&table, sound().chain(added));
    }
}

/// A row of a store of two levels.
fn row(number: u32) -> DynamicEntity {
    DynamicEntity::new("p", row_key(number)).with("Text", "x".repeat(60))
}

/// Makes a store with every second row, whose leaves lie below one branch; where in its file that is.
fn of_two_levels(path: &std::path::Path) -> usize {
    let store = Store::open(path).unwrap();
    let table = store.create_table("Table").unwrap();
    for number in 0..500 {
        table.insert(&row(number * 2)).unwrap();
    }
    let environment = &store.shared().environment;
    let txn = environment.read_txn().unwrap();
    let tree = environment.rows_tree(&txn, txn.id()).unwrap();
    assert_eq!(tree.depth(), 2);
    usize::try_from(tree.root()).unwrap() * environment.dbs.pages.size()
}

/// Where a leaf is split its branch has other entries, and a search looks at others of them: of several rows of one
/// transaction each is told that the branch is damaged.
#[test]
fn a_load_does_not_split_leaves_under_a_damaged_key_of_a_branch() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let root = of_two_levels(&path);
    let data = path.join("data.mdb");
    let whole = std::fs::read(&data).unwrap();
    // Keys of the root that would not rise any more: those that have one on both sides.
    let page = Page::parse(&whole[root..root + 4_096], u64::try_from(root / 4_096).unwrap()).unwrap();
    let place = |at| page.key(at).unwrap().as_ptr().addr() - whole.as_ptr().addr();
    let keys: Vec<usize> = (2..page.len() - 1).map(|at| place(at) + 1).collect();
    assert!(keys.len() > 8, "{} keys", keys.len());
    for flip in FLIPS {
        for key in &keys {
            let mut bytes = whole.clone();
            bytes[*key] ^= flip;
            std::fs::write(&data, bytes).unwrap();
            let store = Store::open(&path).unwrap();
            let table = store.dynamic_table("Table").unwrap();
            // Odd ones are new on every leaf, and some even ones are there.
            let loaded = || (0..1_000).filter(|number| number % 2 == 1 || number % 20 == 0);
            let report = store.bulk(loaded().map(|number| table.batch("p").insert(row(number)))).unwrap();
            let mut failures = report.failures.into_iter().peekable();
            let mut added = Vec::new();
            for (number, batch) in loaded().zip(0..) {
                match failures.next_if(|failure| failure.index == batch) {
                    None => added.push(number),
                    Some(failure) if failure.error.kind() == ErrorKind::EntityAlreadyExists => {}
                    Some(failure) => assert_eq!(failure.error.kind(), ErrorKind::Corrupt),
                }
            }
            assert!(added.iter().all(|number| number % 2 == 1), "a row was added twice");
            // The first of a leaf is put where it belongs.
            assert!(added.len() <= keys.len() + 3, "{} rows were added", added.len());
            assert_there(&table, (0..500).map(|number| number * 2).chain(added));
        }
    }
}

/// LMDB copies a page before it changes it: what lies before the room, and what lies behind it, as the page's header says where
/// that ends. And it puts a further entry there.
#[test]
fn nothing_is_written_under_a_branch_whose_room_is_not_where_its_header_says() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let root = of_two_levels(&path);
    let data = path.join("data.mdb");
    let whole = std::fs::read(&data).unwrap();
    let corrupt = |done: table_engine::Result<()>| assert_eq!(done.unwrap_err().kind(), ErrorKind::Corrupt);
    // The end of the room is the last field of the header.
    for (byte, bit) in [14, 15].into_iter().flat_map(|byte| (0..8).map(move |bit| (byte, bit))) {
        let mut bytes = whole.clone();
        bytes[root + byte] ^= 1 << bit;
        std::fs::write(&data, bytes).unwrap();
        let store = Store::open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        for number in [1, 499, 999] {
            let there = row(number - 1);
            corrupt(table.insert(&row(number)).map(drop));
            corrupt(table.merge(&there, IfMatch::Any).map(drop));
            corrupt(table.replace(&there, IfMatch::Any).map(drop));
            corrupt(table.put(&there).map(drop));
            corrupt(table.delete("p", there.row_key()));
            let loaded = [number, number + 1].map(|number| table.batch("p").insert(row(number)));
            assert_eq!(store.bulk(loaded).unwrap().committed, 0);
        }
        assert_there(&table, (0..500).map(|number| number * 2));
        assert!(!store.check().unwrap().problems.is_empty());
    }
}

/// After the first of them the leaf has other entries, and a search looks at others of them.
#[test]
fn a_batch_does_not_put_rows_on_the_wrong_side_of_a_damaged_key() {
    let (mut done, mut refused) = (0, 0);
    for (flip, first) in FLIPS.into_iter().flat_map(|flip| [1, 17, 31, 45].map(|first| (flip, first))) {
        for count in [1, 2, 3, 6] {
            let dir = in_memory();
            let store = with_a_damaged_key(&dir.path().join("store"), flip);
            let table = store.dynamic_table("Table").unwrap();
            let new = || (0..count).map(|number| first + 2 * number);
            let rows = new().map(|number| DynamicEntity::new("p", row_key(number)));
            let gone = row_key(if first == 1 { 70 } else { 2 });
            // One that goes changes the leaf as well.
            let batch = table.batch("p").delete(gone);
            match rows.fold(batch, Batch::insert).commit() {
                Ok(_) => {
                    done += 1;
                    assert_there(&table, sound().filter(|row| ![2, 70].contains(row)).chain(new()));
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    refused += 1;
                    assert_there(&table, sound());
                }
            }
        }
    }
    assert!(refused > 0, "{done} batches were carried out");
}
