//! Blobs that entities hold.

use std::io::{self, Read};

use integration_tests::assert_sound;
use table_core::blob::Blob;
use table_core::store::BlobStats;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store, Value};

use super::{bytes, stats, store};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    photo: Blob,
}

fn employee(id: u32, photo: Blob) -> Employee {
    Employee { department: "Sales".into(), id, name: format!("n{id}"), photo }
}

#[test]
fn an_entitys_blob_is_there_as_long_as_a_row_refers_to_it() {
    let (dir, store) = store();
    let staff = store.table::<Employee>().unwrap();
    let put = bytes(3_000_000, 1);
    let photo = store.upload("image/jpeg", &*put).unwrap();
    assert_eq!((photo.len(), photo.is_empty()), (3_000_000, false));
    staff.insert(&employee(1, photo)).unwrap();
    assert!(stats(&store).is_none_or(|stats| stats.waiting == 0));
    let found = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
    assert_eq!(found.photo, photo);
    assert!(found.photo.get(&store).unwrap() == put);
    let copied = staff.by_name().department("Sales").name("n1").first().unwrap().unwrap();
    assert_eq!(copied.photo, photo);
    // A second entity holds the same, and one of them goes.
    staff.insert(&employee(2, photo)).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert!(photo.get(&store).unwrap() == put);
    assert_sound(&store);
    // The other gets another one.
    let mut reader = photo.open(&store).unwrap();
    let second = store.upload("image/png", &b"second"[..]).unwrap();
    staff.update(Employee::key("Sales", 2), |employee| employee.photo = second).unwrap();
    for error in [photo.get(&store).unwrap_err(), photo.open(&store).map(drop).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::BlobGone, "{error}");
    }
    let mut read = Vec::new();
    reader.read_to_end(&mut read).unwrap();
    assert!(read == put, "a reader goes on to its end");
    let error = staff.insert(&employee(3, photo)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert_eq!(staff.get(Employee::key("Sales", 3)).unwrap(), None);
    assert_eq!(second.open(&store).unwrap().content_type(), "image/png");
    assert_sound(&store);
    if let Some(store) = store.lmdb() {
        store.copy_to(dir.path().join("copy")).unwrap();
        let copy = Store::open(dir.path().join("copy")).unwrap();
        assert_eq!(second.get(&copy).unwrap(), b"second");
    }
    store.drop_table("Company").unwrap();
    if let Some(store) = store.lmdb() {
        store.reclaim().unwrap();
        assert_eq!(store.stats().unwrap().blobs, BlobStats::default());
    }
    assert_eq!(second.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    assert_sound(&store);
}

#[test]
fn an_empty_field_refers_to_nothing() {
    let (_dir, store) = store();
    let staff = store.table::<Employee>().unwrap();
    let nothing = Blob::default();
    staff.insert(&employee(1, nothing)).unwrap();
    let found = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
    assert_eq!((found.photo, found.photo.len()), (nothing, 0));
    assert_eq!(found.photo.get(&store).unwrap(), b"");
    assert_eq!(found.photo.open(&store).unwrap_err().kind(), ErrorKind::BlobNotFound);
    // An upload of nothing is a blob all the same.
    let empty = store.upload("image/jpeg", io::empty()).unwrap();
    assert_ne!(empty, nothing);
    staff.insert(&employee(2, empty)).unwrap();
    assert!(empty.open(&store).unwrap().is_empty());
    assert_sound(&store);
}

/// Rows by name hold references as bytes, and are counted as any others.
#[test]
fn a_reference_that_is_copied_by_name_counts() {
    let (_dir, store) = store();
    let staff = store.table::<Employee>().unwrap();
    let photo = store.upload("image/jpeg", &b"photo"[..]).unwrap();
    staff.insert(&employee(1, photo)).unwrap();
    let rows = store.dynamic_table("Company").unwrap();
    let held = rows.get("Sales", "empid_000001").unwrap().unwrap().get("Photo").unwrap().clone();
    let row = |value: Value| DynamicEntity::new("Notes", "1").with("Held", value);
    rows.insert(&row(held.clone())).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(photo.get(&store).unwrap(), b"photo");
    rows.merge(&DynamicEntity::new("Notes", "1").with("Other", 1), IfMatch::Any).unwrap();
    assert_eq!(photo.get(&store).unwrap(), b"photo");
    assert_sound(&store);
    rows.merge(&row(Value::Binary(Vec::new())), IfMatch::Any).unwrap();
    assert_eq!(photo.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    // What is gone can't come back.
    let error = rows.merge(&row(held), IfMatch::Any).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BlobGone);
    assert_eq!(rows.get("Notes", "1").unwrap().unwrap().get("Held"), Some(&Value::Binary(Vec::new())));
    assert_sound(&store);
}

/// Of plans that share a transaction only the one goes that is refused.
#[test]
fn threads_that_hold_and_let_go_of_one_blob_leave_what_they_say() {
    let (_dir, store) = store();
    let staff = store.table::<Employee>().unwrap();
    let photo = store.upload("image/jpeg", &b"photo"[..]).unwrap();
    staff.insert(&employee(0, photo)).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..5_u32 {
            let staff = &staff;
            scope.spawn(move || {
                for round in 0..20 {
                    staff.insert(&employee(thread * 100 + round, photo)).unwrap();
                    if round % 2 == 0 {
                        staff.delete(Employee::key("Sales", thread * 100 + round)).unwrap();
                    }
                }
            });
        }
    });
    assert_sound(&store);
    assert_eq!(staff.all().into_iter().count(), 41);
    for found in staff.all() {
        let found = found.unwrap();
        staff.delete(Employee::key("Sales", found.id)).unwrap();
    }
    assert_eq!(photo.get(&store).unwrap_err().kind(), ErrorKind::BlobGone);
    assert!(stats(&store).is_none_or(|stats| stats == BlobStats::default()));
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    an_entitys_blob_is_there_as_long_as_a_row_refers_to_it
    an_empty_field_refers_to_nothing
    a_reference_that_is_copied_by_name_counts
    threads_that_hold_and_let_go_of_one_blob_leave_what_they_say
}
