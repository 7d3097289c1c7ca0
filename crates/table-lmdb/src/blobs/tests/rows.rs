//! Blobs that rows refer to: whatever is done to the rows, in the end there are the blobs that they hold, and no other.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use table_derive::Entity;
use table_engine::Table;
use table_engine::blob::Blob;
use table_engine::contents::UPLOAD_STANDS;
use table_engine::error::ErrorKind;

use super::*;
use crate::tests_scratch::in_memory;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    photo: Blob,
    sketch: Option<Blob>,
}

#[derive(Clone, Debug)]
enum Operation {
    /// Puts an entity with a new blob, and another of those that were seen before, if there is one.
    Put {
        id: u32,
        length: usize,
        sketch: Option<usize>,
    },
    Rename {
        id: u32,
        name: u8,
    },
    Swap {
        one: u32,
        other: u32,
    },
    Delete {
        id: u32,
    },
    /// By properties: the row alone.
    Raw {
        id: u32,
        copy: bool,
    },
    Upload,
    Drop,
    Later,
}

fn operation() -> impl Strategy<Value = Operation> {
    let id = || 0..4_u32;
    prop_oneof![
        4 => (id(), 0..150_000_usize, prop::option::of(0..20_usize))
            .prop_map(|(id, length, sketch)| Operation::Put { id, length, sketch }),
        2 => (id(), any::<u8>()).prop_map(|(id, name)| Operation::Rename { id, name }),
        2 => (id(), id()).prop_map(|(one, other)| Operation::Swap { one, other }),
        3 => id().prop_map(|id| Operation::Delete { id }),
        1 => (id(), any::<bool>()).prop_map(|(id, copy)| Operation::Raw { id, copy }),
        1 => Just(Operation::Upload),
        1 => Just(Operation::Drop),
        1 => Just(Operation::Later),
    ]
}

/// Compares the blobs that there are with those that the entities hold.
fn compare(
    store: &Store,
    staff: &Table<Employee>,
    contents: &BTreeMap<Blob, Vec<u8>>,
    waiting: &BTreeSet<Blob>,
) {
    let mut held = BTreeSet::new();
    for employee in staff.all() {
        let employee = employee.unwrap();
        for blob in [Some(employee.photo), employee.sketch].into_iter().flatten() {
            assert!(blob.get(store).unwrap() == contents[&blob], "{blob:?}");
            held.insert(blob);
        }
    }
    // A raw row holds what it was copied from.
    let rows = store.dynamic_table("Company").unwrap();
    for row in rows.query(&table_engine::Query::new().partition("Copies")).unwrap() {
        let row = row.unwrap();
        let Some(table_engine::Value::Binary(bytes)) = row.get("Photo") else { panic!("{row:?}") };
        held.extend(contents.keys().filter(|blob| blob.reference() == *bytes));
    }
    let stats = store.stats().unwrap().blobs;
    assert!(held.is_disjoint(waiting));
    assert_eq!(stats.waiting, u64::try_from(waiting.len()).unwrap());
    assert_eq!(stats.blobs, u64::try_from(held.len() + waiting.len()).unwrap());
}

/// Every so many operations each page and record of the store is looked at; what it counts is compared after each.
const LOOKED_AT: usize = 8;

fn run(operations: &[Operation]) {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let now = Ticks::now().get();
    set_clock(now);
    let mut staff = store.table::<Employee>().unwrap();
    let (mut contents, mut uploads) = (BTreeMap::new(), BTreeSet::new());
    let hour = u64::try_from(UPLOAD_STANDS.as_nanos() / 100).unwrap();
    for (number, operation) in operations.iter().enumerate() {
        let seed = u64::try_from(number).unwrap() + 1;
        let key = |id| Employee::key("Sales", id);
        match *operation {
            Operation::Put { id, length, sketch } => {
                let put = bytes(length, seed);
                let photo = store.upload("image/jpeg", &*put).unwrap();
                let sketch = sketch.and_then(|at| contents.keys().rev().nth(at).copied());
                contents.insert(photo, put);
                let name = format!("n{number}");
                let employee = Employee { department: "Sales".into(), id, name, photo, sketch };
                match staff.put(&employee) {
                    // The other one may have waited.
                    Ok(_) => drop(sketch.map(|sketch| uploads.remove(&sketch))),
                    Err(error) => {
                        // The other one is gone by now, and this one waits.
                        assert_eq!(error.kind(), ErrorKind::BlobGone, "{error}");
                        assert!(sketch.unwrap().get(&store).is_err());
                        uploads.insert(photo);
                    }
                }
            }
            Operation::Rename { id, name } => {
                let renamed = staff.update(key(id), |employee| employee.name = format!("r{name}"));
                assert!(renamed.is_ok() || renamed.unwrap_err().kind() == ErrorKind::EntityNotFound);
            }
            Operation::Swap { one, other } => {
                let (Some(a), Some(b)) = (staff.get(key(one)).unwrap(), staff.get(key(other)).unwrap())
                else {
                    continue;
                };
                if one != other {
                    staff
                        .egt(Employee::partition("Sales"))
                        .update(key(one), |employee| employee.photo = b.photo)
                        .update(key(other), |employee| employee.photo = a.photo)
                        .commit()
                        .unwrap();
                }
            }
            Operation::Delete { id } => {
                let deleted = staff.delete(key(id));
                assert!(deleted.is_ok() || deleted.unwrap_err().kind() == ErrorKind::EntityNotFound);
            }
            Operation::Raw { id, copy } => {
                let rows = store.dynamic_table("Company").unwrap();
                let copied = format!("{id}");
                if !copy {
                    drop(rows.delete("Copies", &copied));
                } else if let Some(employee) = staff.get(key(id)).unwrap() {
                    let row = table_engine::DynamicEntity::new("Copies", copied)
                        .with("Photo", table_engine::Value::Binary(employee.photo.reference()));
                    rows.put(&row).unwrap();
                }
            }
            Operation::Upload => {
                uploads.insert(store.upload("image/jpeg", &*bytes(100, seed)).unwrap());
            }
            Operation::Drop => {
                store.drop_table("Company").unwrap();
                store.reclaim().unwrap();
                staff = store.table().unwrap();
            }
            Operation::Later => {
                // The thread that frees space goes by the system's clock, so this one comes back to it.
                set_clock(now + hour);
                store.shared().purge_blobs().unwrap();
                set_clock(now);
                uploads.clear();
            }
        }
        compare(&store, &staff, &contents, &uploads);
        if number % LOOKED_AT == 0 {
            assert_sound(&store);
        }
    }
    assert_sound(&store);
    store.drop_table("Company").unwrap();
    store.reclaim().unwrap();
    set_clock(now + hour);
    store.shared().purge_blobs().unwrap();
    assert_eq!(store.stats().unwrap().blobs, crate::BlobStats::default());
    CLOCK.set(None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(25), ..ProptestConfig::default() })]
    #[test]
    fn blobs_are_there_as_long_as_rows_refer_to_them(operations in prop::collection::vec(operation(), 1..400)) {
        run(&operations);
    }
}

#[test]
fn an_upload_that_no_entity_came_to_hold_in_time_is_gone() {
    let dir = in_memory();
    let store = Store::open(dir.path().join("store")).unwrap();
    let begun = Ticks::now().get();
    set_clock(begun);
    let staff = store.table::<Employee>().unwrap();
    let photo = store.upload("image/jpeg", &[1, 2, 3][..]).unwrap();
    let hour = u64::try_from(UPLOAD_STANDS.as_nanos() / 100).unwrap();
    set_clock(begun + hour);
    store.shared().purge_blobs().unwrap();
    let employee = Employee { department: "Sales".into(), id: 1, name: "Jun".into(), photo, sketch: None };
    let error = staff.insert(&employee).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert!(error.to_string().contains("table `Company`, partition `Sales`"), "{error}");
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap(), None);
    assert_eq!(photo.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    assert_sound(&store);
    CLOCK.set(None);
}
