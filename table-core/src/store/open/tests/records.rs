//! Pages of small records that are damaged: LMDB is not to follow them.

use super::*;
use crate::{DynamicEntity, Store};

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
