//! Plaintext in files: a compacted copy has none of what was plain once.

use std::fs;
use std::path::Path;

use table_core::{Entity, Store};

use super::{CANARY, Scratch};

#[derive(Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Plain {
    department: String,
    id: u32,
    name: String,
    ssn: String,
}

#[derive(Entity, Debug)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Dual {
    department: String,
    id: u32,
    name: String,
    #[encrypt(dual)]
    ssn: String,
}

/// How often the canary is in the files of a directory, and how many files those are.
fn found(dir: &Path) -> (usize, usize) {
    let (mut canaries, mut files) = (0, 0);
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let (more, of) = if path.is_dir() {
            found(&path)
        } else {
            let bytes = fs::read(&path).unwrap();
            (bytes.windows(CANARY.len()).filter(|window| *window == CANARY.as_bytes()).count(), 1)
        };
        (canaries, files) = (canaries + more, files + of);
    }
    (canaries, files)
}

#[test]
fn a_compacted_copy_shows_nothing_that_was_plain_once() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let table = store.table::<Plain>().unwrap();
    let plain = |id| Plain {
        department: "Sales".into(),
        id,
        name: format!("Name{id}"),
        ssn: format!("{CANARY} {id}").repeat(1 + usize::try_from(id % 40).unwrap()),
    };
    table.bulk_insert((0..600).map(plain)).unwrap().into_result().unwrap();
    for id in 0..100 {
        table.delete(Plain::key("Sales", id)).unwrap();
    }
    let dual = store.table::<Dual>().unwrap();
    assert_eq!(dual.reencrypt().unwrap().run().unwrap().changed, 500);
    // LMDB keeps it where it was until the page is needed: that is what the copy is for.
    assert!(found(&scratch.path()).0 > 0);
    let copy = scratch.path().with_file_name("copy");
    store.copy_to(&copy).unwrap();
    let (canaries, files) = found(&copy);
    assert_eq!(canaries, 0);
    assert!(files >= 3, "{files} files");
    let copied = scratch.store_at(&copy);
    let ssns = copied.table::<Dual>().unwrap().rows().department("Sales").into_iter();
    assert_eq!(ssns.filter(|e| e.as_ref().unwrap().ssn.starts_with(CANARY)).count(), 500);
}

#[test]
fn what_was_sealed_from_the_start_is_in_no_file_at_any_time() {
    let scratch = Scratch::new();
    let store: Store = scratch.store();
    let staff = super::staff(&store);
    let look = || assert_eq!(found(scratch.path().parent().unwrap()).0, 0);
    staff.bulk_insert((0..300).map(super::employee)).unwrap().into_result().unwrap();
    look();
    for round in 0..3 {
        store.encryption().unwrap().rotate_all().unwrap();
        let mut job = staff.reencrypt().unwrap();
        while job.step().unwrap() {
            look();
        }
        for id in 0..50 {
            staff.delete(super::key(round * 50 + id)).unwrap();
        }
        look();
    }
    store.copy_to(scratch.path().with_file_name("copy")).unwrap();
    drop((staff, store));
    look();
}
