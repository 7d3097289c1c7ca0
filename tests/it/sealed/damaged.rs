//! Rows whose keys are damaged: what counts sealed and plain values says that it can't see them all.

use std::fs;

use table_core::ErrorKind;
use table_core::crypt::Scope;

use super::migration::{Dual, Plain, Sealed};
use super::{Scratch, employee, kind, staff};

/// Where bits flip, from the first byte of a row's partition key: in the number of its table, in its partition key, in
/// what separates the keys, in its row key.
const FLIPS: [(isize, u8); 9] = [(-1, 1), (-1, 6), (0, 1), (4, 0), (5, 1), (5, 6), (6, 0), (17, 0), (17, 5)];

/// Flips each of the bits in the key of the row, in a store of its own at a time, and calls for what was made of it.
fn each_flip(scratch: &Scratch, key: &[u8], mut check: impl FnMut(&str)) {
    let file = scratch.path().join("data.mdb");
    let sound = fs::read(&file).unwrap();
    let places: Vec<_> = (0..sound.len() - key.len()).filter(|at| sound[*at..].starts_with(key)).collect();
    assert!(!places.is_empty());
    for (offset, bit) in FLIPS {
        let mut bytes = sound.clone();
        for place in &places {
            bytes[place.checked_add_signed(offset).unwrap()] ^= 1 << bit;
        }
        fs::write(&file, bytes).unwrap();
        check(&format!("bit {bit} of byte {offset}"));
    }
}

/// A key that still seals a value of a row which nobody finds is not done with.
#[test]
fn a_row_whose_key_is_damaged_is_not_left_out_of_sealed_values() {
    let scratch = Scratch::new();
    let store = scratch.store();
    for id in 0..300 {
        staff(&store).insert(&employee(id)).unwrap();
    }
    store.encryption().unwrap().rotate(&Scope::store()).unwrap();
    let old = store.encryption().unwrap().keys().unwrap()[0].handle;
    drop(store);
    each_flip(&scratch, b"Sales\0empid_000150", |at| {
        let store = scratch.store();
        assert_eq!(kind(store.sealed_values()), ErrorKind::Corrupt, "{at}");
        assert_eq!(kind(store.encryption().unwrap().destroy(old)), ErrorKind::Corrupt, "{at}");
    });
}

/// A kind whose values are to be sealed is not taken for sealed, and its plain values not for the last.
#[test]
fn a_row_whose_key_is_damaged_is_not_left_out_of_plain_values() {
    let scratch = Scratch::new();
    let store = scratch.store();
    store.table::<Plain>().unwrap().insert(&Plain::new(150)).unwrap();
    let both = store.table::<Dual>().unwrap();
    for id in (0..300).filter(|id| *id != 150) {
        both.insert(&Dual::new(id)).unwrap();
    }
    drop((both, store));
    assert_eq!(kind(scratch.store().table::<Sealed>()), ErrorKind::LayoutChanged);
    each_flip(&scratch, b"Sales\0empid_000150", |at| {
        assert_eq!(kind(scratch.store().table::<Sealed>()), ErrorKind::Corrupt, "{at}");
    });
}
