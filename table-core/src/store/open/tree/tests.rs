use super::Tree;
use crate::error::ErrorKind;
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

#[test]
fn a_leaf_is_not_split_at_a_damaged_key() {
    // One that is above all others then, and one that is below.
    for flip in [0x02, 0x20] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store");
        let key = |number: u32| format!("row_{number:03}");
        {
            let table = Store::open(&path).unwrap().create_table("Table").unwrap();
            for number in 0..40 {
                table.insert(&DynamicEntity::new("p", key(number * 2))).unwrap();
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

        let store = Store::open(&path).unwrap();
        let table = store.dynamic_table("Table").unwrap();
        let (mut there, mut refused): (Vec<_>, _) = ((0..40).map(|number| number * 2).collect(), 0);
        for number in (41..80).step_by(2) {
            match table.insert(&DynamicEntity::new("p", key(number)).with("Text", "x".repeat(100))) {
                Ok(_) => there.push(number),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
                    refused += 1;
                }
            }
            for number in there.iter().filter(|number| **number != 30) {
                let found = table.get("p", &key(*number));
                assert!(!matches!(found, Ok(None)), "row {number} is said not to be there");
            }
        }
        assert!(refused > 0, "the leaf was split");
    }
}
