//! Damage in the list of free pages, by which nothing is written.

use std::ops::ControlFlow;

use table_engine::DynamicEntity;

use super::*;
use crate::Store;
use crate::tests_scratch::in_memory;

fn row(number: u32) -> DynamicEntity {
    DynamicEntity::new("p", format!("row {number:04}")).with("Number", 7)
}

/// A store of which many pages are free.
fn store(path: &Path) -> Store {
    let store = Store::open(path).unwrap();
    let table = store.create_table("Table").unwrap();
    for number in 0..200 {
        table.insert(&row(number)).unwrap();
    }
    for number in 0..100 {
        table.delete("p", &format!("row {number:04}")).unwrap();
    }
    store
}

/// Flips bits of a store's file, each in a copy: nothing can be written then, and everything be read.
fn nothing_is_written(dir: &Path, file: &[u8], flips: impl Iterator<Item = (usize, usize)>) {
    for (flip, (at, bit)) in flips.enumerate() {
        let path = dir.join(format!("flip {flip}"));
        fs::create_dir(&path).unwrap();
        let mut damaged = file.to_vec();
        damaged[at] ^= 1 << bit;
        fs::write(path.join("data.mdb"), damaged).unwrap();
        let store = Store::open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        for _ in 0..2 {
            assert_eq!(table.insert(&row(0)).unwrap_err().kind(), ErrorKind::Corrupt, "byte {at}, bit {bit}");
        }
        assert_eq!(table.get("p", "row 0150").unwrap().unwrap().get("Number"), row(0).get("Number"));
        assert!(!store.check().unwrap().problems.is_empty());
    }
}

#[test]
fn nothing_is_written_by_a_list_of_free_pages_whose_own_pages_are_not_whole() {
    let dir = in_memory();
    let path = dir.path().join("whole");
    drop(store(&path));
    let file = fs::read(path.join("data.mdb")).unwrap();
    let header = Header::read(&mut io::Cursor::new(&file)).unwrap();
    let page = usize::try_from(header.free_root.unwrap() * header.page_size).unwrap();
    // Where the room on the page ends.
    let bytes = [page + 14, page + 15];
    nothing_is_written(dir.path(), &file, bytes.into_iter().flat_map(|at| (0..8).map(move |bit| (at, bit))));
}

#[test]
fn nothing_is_written_by_a_list_of_free_pages_that_can_not_be_right() {
    let dir = in_memory();
    let path = dir.path().join("whole");
    let store = store(&path);
    // Where the numbers lie in the file.
    let environment = &store.shared().environment;
    let (pages, txn) = (environment.dbs.pages, environment.read_txn().unwrap());
    let header = environment.reader.header(u64::try_from(txn.id()).unwrap()).unwrap();
    let mut places = Vec::new();
    environment.reader.each_list(&txn, &header, |_, list| {
        for number in list {
            let page = usize::try_from(pages.number(number).unwrap()).unwrap();
            let at = page * pages.size() + number.as_ptr().addr() % pages.size();
            places.push(at);
        }
        ControlFlow::Continue(())
    });
    assert!(places.len() > 3, "{places:?}");
    drop(txn);
    drop(store);
    let file = fs::read(path.join("data.mdb")).unwrap();
    // The number becomes one of no page, another's that is free, or one's that is in use.
    let flips = (0..64).map(|bit| (places[bit % places.len()] + bit / 8, bit % 8));
    nothing_is_written(dir.path(), &file, flips.chain(places.iter().map(|at| (*at, 0))));
}
