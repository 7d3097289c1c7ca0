use super::Tree;
use crate::{DynamicEntity, Store};

#[test]
fn a_search_finds_what_lmdb_finds() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = store.create_table("Table").unwrap();
    let look = |least: u32| {
        let environment = &store.lmdb().unwrap().environment;
        let txn = environment.read_txn().unwrap();
        let tree = Tree::find(environment, &txn, txn.id()).unwrap().unwrap();
        assert!(tree.depth >= least, "{} levels", tree.depth);
        let data = environment.dbs.data;
        assert_eq!(tree.row(environment, &txn, b"").unwrap(), None);
        assert_eq!(tree.row(environment, &txn, &[0xff]).unwrap(), None);
        let mut rows = 0;
        for row in data.iter(&txn).unwrap() {
            let (key, bytes) = row.unwrap();
            let found = tree.row(environment, &txn, key).unwrap().unwrap();
            assert!(std::ptr::eq(found, bytes), "{}", key.escape_ascii());
            for beside in [&[key, &[0]].concat(), &key[..key.len() - 1]] {
                let expected = data.get(&txn, beside).unwrap();
                assert_eq!(
                    tree.row(environment, &txn, beside).unwrap(),
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
