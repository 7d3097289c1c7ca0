//! Jobs over a table with a damaged row: what they can't see they say, and don't leave out.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use integration_tests::releases::second;
use integration_tests::{Scratch, relaxed};
use table_core::crypt::MemoryKeys;
use table_core::{ErrorKind, Store};

use super::filled;

/// Flips a bit in every place of a file that has this key, so far from where it begins.
fn flip(file: &Path, key: &[u8], offset: isize, bit: u8) {
    let mut bytes = fs::read(file).unwrap();
    let places: Vec<_> = (0..bytes.len() - key.len()).filter(|at| bytes[*at..].starts_with(key)).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place.checked_add_signed(offset).unwrap()] ^= 1 << bit;
    }
    fs::write(file, bytes).unwrap();
}

/// A bit of a row's key flips: in the number of its table, in its partition key, in what separates the keys, in its row key.
#[test]
fn a_row_whose_key_is_damaged_ends_no_job_early() {
    let scratch = Scratch::new();
    let path = scratch.path().join("damaged");
    drop(filled(&relaxed().open(&path).unwrap(), 700));
    let file = path.join("data.mdb");
    let sound = fs::read(&file).unwrap();
    for (offset, bit) in [(-1, 1), (-1, 6), (0, 1), (4, 0), (5, 1), (5, 6), (6, 0), (17, 0), (17, 5)] {
        fs::write(&file, &sound).unwrap();
        flip(&file, b"Sales\0empid_000300", offset, bit);
        let store = relaxed().open(&path).unwrap();
        let table = store.table::<second::Employee>().unwrap();
        // Of itself or of the sweep before it: the job meets the row.
        let error = table.rebuild().unwrap().run().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{offset} {bit}: {error}");
        let unread = table.get(second::Employee::by_email("Sales", "650@contoso.com")).unwrap_err();
        assert_eq!(unread.kind(), ErrorKind::IndexBuilding, "{offset} {bit}: {unread}");
        assert_eq!(table.drop_index("by_email").unwrap().run().unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

/// A check goes on behind such a row: what is wrong with the copies of the entities there is told as well.
#[test]
fn a_row_whose_key_is_damaged_ends_no_check_of_copies() {
    let scratch = Scratch::new();
    let path = scratch.path().join("damaged");
    let store = relaxed().open(&path).unwrap();
    filled(&store, 700);
    let raw = store.dynamic_table("Company").unwrap().raw();
    raw.delete("Sales", "age_020_000650").unwrap();
    let wrong = |store: &Store| {
        let report = store.check().unwrap();
        let rows = report.wrong_copies.iter().filter_map(|wrong| wrong.row.clone());
        (rows.map(|(_, row)| row).collect::<Vec<_>>(), report.problems.len())
    };
    assert_eq!(wrong(&store), (vec!["empid_000650".to_owned()], 0));
    drop((raw, store));
    // In the number of the table: the row seems to be of another one.
    flip(&path.join("data.mdb"), b"Sales\0empid_000300", -1, 1);
    let (rows, problems) = wrong(&relaxed().open(&path).unwrap());
    assert!(problems > 0 && rows.contains(&"empid_000650".to_owned()), "{problems} {rows:?}");
}

/// Nor is a property taken for sealed, since the look for plain values met such a row.
#[test]
fn a_row_whose_key_is_damaged_hides_no_plain_value() {
    macro_rules! patient {
        ($module:ident, $(#[$seals:meta])?) => {
            mod $module {
                #[derive(table_core::Entity, Debug)]
                #[entity(table = "Patients", kind = "patient")]
                #[key(partition = "{clinic}", row = "id_{id:06}")]
                pub(super) struct Patient {
                    pub(super) clinic: String,
                    pub(super) id: u32,
                    $(#[$seals])?
                    pub(super) card: String,
                }
            }
        };
    }
    patient!(plain,);
    patient!(dual, #[encrypt(dual)]);
    patient!(sealed, #[encrypt]);
    let scratch = Scratch::new();
    let path = scratch.path().join("damaged");
    let options = relaxed().encryption(Arc::new(MemoryKeys::new().unwrap()));
    let store = options.open(&path).unwrap();
    let patient = |id| plain::Patient { clinic: "North".into(), id, card: format!("card {id}") };
    store
        .table::<plain::Patient>()
        .unwrap()
        .bulk_insert((0..300).map(patient))
        .unwrap()
        .into_result()
        .unwrap();
    let table = store.table::<dual::Patient>().unwrap();
    let late = |id| dual::Patient { clinic: "North".into(), id, card: "late".into() };
    table.insert(&late(300)).unwrap();
    for id in 0..20 {
        table.put(&late(id)).unwrap();
    }
    let error = store.table::<sealed::Patient>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
    assert!(error.to_string().contains("280 values of `Card`"), "{error}");
    drop((table, store));
    // Every row before it is sealed.
    flip(&path.join("data.mdb"), b"North\0id_000010", -1, 1);
    let store = options.open(&path).unwrap();
    let error = store.table::<sealed::Patient>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
}
