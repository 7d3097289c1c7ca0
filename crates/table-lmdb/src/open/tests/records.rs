//! Pages of the small databases that are damaged: LMDB is not to follow them.

use table_engine::DynamicEntity;

use super::*;
use crate::Store;

/// A store with rows, the place of the page of its small records in its file, and where the room on it ends.
fn store(path: &Path) -> (Vec<u8>, usize, usize) {
    let store = Store::open(path).unwrap();
    for table in ["First", "Second", "Third"] {
        let table = store.create_table(table).unwrap();
        table.insert(&DynamicEntity::new("p", "row").with("Number", 7)).unwrap();
    }
    drop(store);
    let file = fs::read(path.join(DATA)).unwrap();
    let header = Header::read(&mut io::Cursor::new(&file)).unwrap();
    let page = usize::try_from(header.main_root.unwrap() * header.page_size).unwrap();
    let lower = u16::from_le_bytes([file[page + 12], file[page + 13]]);
    (file, page, usize::from(lower))
}

/// Where the leaf of a database lies in the file, whose description stands on the page of the small records.
fn leaf_of(file: &[u8], main: usize, name: &str) -> usize {
    let entry = entries(file, main).into_iter().find(|at| {
        let length = usize::from(u16::from_le_bytes([file[at + 6], file[at + 7]]));
        &file[at + 8..at + 8 + length] == name.as_bytes()
    });
    let root = entry.unwrap() + 8 + name.len() + 40;
    usize::try_from(u64::from_le_bytes(*file[root..].first_chunk().unwrap())).unwrap() * 4_096
}

/// Where the entries of a page lie in the file.
fn entries(file: &[u8], page: usize) -> Vec<usize> {
    let lower = usize::from(u16::from_le_bytes([file[page + 12], file[page + 13]]));
    let offsets = file[page + 16..page + lower].as_chunks().0;
    offsets.iter().map(|offset| page + usize::from(u16::from_le_bytes(*offset))).collect()
}

#[test]
fn what_lmdb_goes_by_on_the_pages_of_the_small_databases_is_looked_at_before_it_is_read() {
    let dir = scratch();
    let path = dir.path().join("store");
    let (file, main, _) = store(&path);
    let (mut refused, mut readable) = (0, 0);
    for page in [main, leaf_of(&file, main, "names"), leaf_of(&file, main, "catalog")] {
        let entries = entries(&file, page);
        assert!(entries.len() >= 3, "{} entries", entries.len());
        // The kind of page, the bounds of its room and where its entries lie; the size of each entry's value, and its kind.
        let head = page + 10..page + 16 + entries.len() * 2;
        let fields = entries.iter().flat_map(|at| *at..at + 6);
        for (at, bit) in head.chain(fields).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut damaged = file.clone();
            damaged[at] ^= 1 << bit;
            fs::write(path.join(DATA), &damaged).unwrap();
            let what = format!("page {}, byte {}, bit {bit}", page / 4_096, at - page);
            // A size that is one less has its entry fill the same room.
            match Store::open(&path) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{what}: {error}"),
                Ok(store) => {
                    assert!(entries.contains(&at) && bit == 0, "{what}");
                    assert!(!store.check().unwrap().problems.is_empty(), "{what}");
                }
            }
            // Nothing here may end the process, whatever can still be read.
            match Store::options().read_only(true).open(&path) {
                Ok(store) => {
                    readable += 1;
                    for table in ["First", "Second", "Third"] {
                        drop(store.dynamic_table(table).and_then(|table| table.get("p", "row")));
                    }
                }
                Err(error) => {
                    refused += 1;
                    // Where the store's own record is not found any more, it may be another program's.
                    let is_right = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Incompatible);
                    assert!(is_right, "{what}: {error}");
                }
            }
        }
    }
    assert!(refused > 100 && readable > 100, "{refused} refused, {readable} readable");
    fs::write(path.join(DATA), file).unwrap();
    Store::open(&path).unwrap();
}

#[test]
fn a_store_is_not_opened_for_writing_where_an_entry_of_the_small_records_does_not_lie_on_its_page() {
    let dir = scratch();
    let path = dir.path().join("store");
    let (file, page, lower) = store(&path);
    let entries = (lower - 16) / 2;
    assert!(entries > 8, "{entries} entries");
    // The header behind the page's own number, and where each entry lies.
    let bytes = page + 10..page + lower;
    for (at, bit) in bytes.flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << bit;
        fs::write(path.join(DATA), &damaged).unwrap();
        let error = open_store(&path).expect_err(&format!("byte {}, bit {bit}", at - page));
        assert_eq!(error.kind(), ErrorKind::Corrupt, "byte {}, bit {bit}: {error}", at - page);
        assert_eq!(fs::read(path.join(DATA)).unwrap(), damaged, "nothing is written");
    }
    fs::write(path.join(DATA), file).unwrap();
    open_store(&path).unwrap();
}

#[test]
fn what_is_left_of_it_can_be_read() {
    let dir = scratch();
    let path = dir.path().join("store");
    let (mut file, page, _) = store(&path);
    // The room ends later than it does: what is written next would lie on what is there.
    file[page + 14] ^= 0x20;
    fs::write(path.join(DATA), file).unwrap();
    let text = Store::open(&path).unwrap_err().to_string();
    assert!(text.contains("is damaged: page ") && text.contains("`OpenOptions::read_only`"), "{text}");
    let store = Store::options().read_only(true).open(&path).unwrap();
    for table in ["First", "Second", "Third"] {
        let row = store.dynamic_table(table).unwrap().get("p", "row").unwrap().unwrap();
        assert_eq!(row.get("Number").unwrap().as_i32(), Some(7));
    }
    assert!(!store.check().unwrap().problems.is_empty());
}
