//! Jobs over a table with a damaged row: what they can't see they say, and don't leave out.

use std::fs;

use integration_tests::releases::second;
use integration_tests::{Scratch, relaxed};
use table_core::ErrorKind;

use super::filled;

/// A bit of a row's key flips: in the number of its table, in its partition key, in what separates the keys, in its row key.
#[test]
fn a_row_whose_key_is_damaged_ends_no_job_early() {
    let scratch = Scratch::new();
    let path = scratch.path().join("damaged");
    drop(filled(&relaxed().open(&path).unwrap(), 700));
    let file = path.join("data.mdb");
    let sound = fs::read(&file).unwrap();
    let key = b"Sales\0empid_000300";
    let places: Vec<_> = (0..sound.len() - key.len()).filter(|at| sound[*at..].starts_with(key)).collect();
    assert!(!places.is_empty());
    for (offset, bit) in [(-1, 1), (-1, 6), (0, 1), (4, 0), (5, 1), (5, 6), (6, 0), (17, 0), (17, 5)] {
        let mut bytes = sound.clone();
        for place in &places {
            bytes[place.checked_add_signed(offset).unwrap()] ^= 1 << bit;
        }
        fs::write(&file, bytes).unwrap();
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
