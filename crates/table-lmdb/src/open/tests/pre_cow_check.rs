//! Damage on the pages of small databases, which LMDB copies to change them.

use std::os::unix::fs::FileExt;

use lmdb_verify::Tree;

use table_engine::DynamicEntity;

use super::*;
use crate::Store;
use crate::tests_scratch::in_memory;

#[test]
fn nothing_is_written_where_the_room_on_a_page_of_a_small_database_is_not_where_its_header_says() {
    let dir = in_memory();
    let path = dir.path().join("store");
    let row = |number: u32| DynamicEntity::new("p", number.to_string()).with("Number", number);
    let roots = {
        let store = Store::open(&path).unwrap();
        store.create_table("Table").unwrap().insert(&row(1)).unwrap();
        let environment = &store.shared().environment;
        let txn = environment.read_txn().unwrap();
        let tree = |name| Tree::of_database(&environment.reader, name, &txn, txn.id()).unwrap();
        ["names", "catalog"]
            .map(|name| usize::try_from(tree(name).root()).unwrap() * environment.dbs.pages.size())
    };
    let data = path.join("data.mdb");
    let whole = fs::read(&data).unwrap();
    let corrupt =
        |done: Result<()>, bit| assert_eq!(done.unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
    for (of_names, bit) in [true, false].into_iter().flat_map(|of| (0..16).map(move |bit| (of, bit))) {
        let store = Store::open(&path).unwrap();
        // The bit turns while the store is open: an opening would look at the page.
        let at = roots[usize::from(!of_names)] + 14 + bit / 8;
        let turn = |by: u8| {
            let file = File::options().write(true).open(&data).unwrap();
            file.write_all_at(&[whole[at] ^ by], u64::try_from(at).unwrap()).unwrap();
        };
        turn(1 << (bit % 8));
        corrupt(store.create_table("Other").map(drop), bit);
        let table = store.dynamic_table("Table");
        // A table is found on a page of the catalog that is whole.
        assert_eq!(table.is_ok(), of_names);
        if let Ok(table) = table {
            corrupt(table.insert(&row(2)).map(drop), bit);
            assert_eq!(table.get("p", "1").unwrap().unwrap().get("Number"), row(1).get("Number"));
        }
        assert!(!store.check().unwrap().problems.is_empty());
        drop(store);
        assert_eq!(Store::open(&path).unwrap_err().kind(), ErrorKind::Corrupt, "bit {bit}");
        turn(0);
    }
    Store::open(&path).unwrap().dynamic_table("Table").unwrap().insert(&row(2)).unwrap();
}
