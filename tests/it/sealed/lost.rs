//! Entities whose keys are lost or destroyed: what can be done without their values is done.

use table_core::crypt::Scope;
use table_core::{DynamicEntity, ErrorKind, IfMatch, Stored, Table};

use super::{Employee, Scratch, assert_copies_agree, employee, key, kind, refused, rows, staff};

/// Two entities whose keys are destroyed.
fn shredded(scratch: &Scratch) -> (table_core::Store, Table<Employee>) {
    let store = scratch.store();
    let staff = staff(&store);
    for id in [2, 3] {
        staff.insert(&employee(id)).unwrap();
    }
    store.encryption().unwrap().shred(&Scope::store()).unwrap();
    assert_eq!(kind(staff.get(key(2))), ErrorKind::KeyShredded);
    (store, staff)
}

#[test]
fn an_entity_is_removed_with_its_copies() {
    let scratch = Scratch::new();
    let (store, staff) = shredded(&scratch);
    let etag = staff.dynamic().get("Sales", "empid_000002").unwrap().unwrap().etag().unwrap();
    let stale = staff.dynamic().get("Sales", "empid_000003").unwrap().unwrap().etag().unwrap();
    assert_eq!(kind(staff.delete_if(key(2), stale)), ErrorKind::ConditionNotMet);
    // Without even a provider.
    drop((store, staff));
    let store = scratch.without_provider();
    let staff = super::staff(&store);
    staff.delete_if(key(2), etag).unwrap();
    assert_eq!(kind(staff.delete(key(2))), ErrorKind::EntityNotFound);
    // Copies that hold sealed fields are signed, and so are not read by who has no keys.
    drop((store, staff));
    let store = scratch.store();
    let staff = super::staff(&store);
    let left: Vec<_> = rows(staff.dynamic()).iter().map(|row| row.row_key().to_owned()).collect();
    assert!(left.iter().all(|row| row.contains('3')), "{left:?}");
    assert_eq!(left.len(), 6, "{left:?}");
    drop((store, staff));
    let store = scratch.without_provider();
    let staff = super::staff(&store);
    staff.egt(Employee::partition("Sales")).delete(key(3)).commit().unwrap();
    assert_eq!(rows(staff.dynamic()), []);
    assert!(store.check().unwrap().problems.is_empty());
}

#[test]
fn a_new_entity_takes_the_place_of_a_lost_one() {
    let scratch = Scratch::new();
    let (store, staff) = shredded(&scratch);
    let changed = Employee {
        email: "new@contoso.com".into(),
        present: false,
        skills: vec!["law".into()],
        age: 50,
        ..employee(2)
    };
    staff.put(&changed).unwrap();
    let etag = staff.dynamic().get("Sales", "empid_000003").unwrap().unwrap().etag().unwrap();
    staff.replace(&employee(3), etag).unwrap();
    assert_eq!(*staff.get(key(2)).unwrap().unwrap(), changed);
    assert_eq!(*staff.get(key(3)).unwrap().unwrap(), employee(3));
    // 2: itself, e-mail, one skill, age; 3: itself, e-mail, three skills, age.
    assert_eq!(assert_copies_agree(staff.dynamic()), 4 + 6);
    assert!(staff.get(Employee::by_email("Sales", "2@contoso.com")).unwrap().is_none());
    assert!(staff.get(Employee::by_badge("Sales", 2)).unwrap().is_none());
    let all = (&employee(2), &employee(3));
    staff.egt(Employee::partition("Sales")).put(all.0).replace(all.1, IfMatch::Any).commit().unwrap();
    drop(store);
}

#[test]
fn what_needs_the_values_says_what_does_not() {
    let scratch = Scratch::new();
    let (_store, staff) = shredded(&scratch);
    let before = rows(staff.dynamic());
    let errors = [
        refused(staff.update(key(2), |e| e.age = 1)),
        refused(staff.merge(key(2), Employee::patch().age(1), IfMatch::Any)),
        refused(staff.move_to(key(2), |e| e.id = 9)),
        refused(staff.egt(Employee::partition("Sales")).update(key(2), |e| e.age = 1).commit()),
    ];
    for error in errors {
        assert_eq!(
            (error.kind(), error.row_key()),
            (ErrorKind::KeyShredded, Some("empid_000002")),
            "{error}"
        );
        assert!(error.to_string().contains("`put` and `replace`"), "{error}");
    }
    assert_eq!(rows(staff.dynamic()), before);
    // A job tells of them, and seals nothing over.
    let report = staff.reencrypt().unwrap().run().unwrap();
    assert_eq!((report.changed, report.failed), (0, 2));
    assert_eq!(rows(staff.dynamic()), before);
}

/// The key in a unique index may be another entity's where the lost one has no copy there.
#[test]
fn a_copy_of_another_entity_is_left_alone() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    let absent = Employee { present: false, badge: 7, ..employee(2) };
    let present = Employee { present: true, badge: 7, ..employee(3) };
    staff.insert(&absent).unwrap();
    staff.insert(&present).unwrap();
    let was = staff.dynamic().get("Sales", "badge_0007").unwrap().unwrap();
    store.encryption().unwrap().shred(&Scope::store()).unwrap();
    staff.delete(key(2)).unwrap();
    assert_eq!(staff.dynamic().get("Sales", "badge_0007").unwrap(), Some(was));
    assert_eq!(assert_copies_agree(staff.dynamic()), 1 + 1 + 1 + 1 + 3 + 1);
    staff.delete(key(3)).unwrap();
    assert_eq!(rows(staff.dynamic()), []);
}

/// A value that was tampered with is as lost as one whose key is.
#[test]
fn an_entity_with_a_value_that_does_not_open_is_replaced_and_removed() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    for value in [table_core::Value::from("plain"), table_core::Value::Binary(vec![7; 90])] {
        staff.insert(&employee(2)).unwrap();
        let change = DynamicEntity::new("Sales", "empid_000002").with("Ssn", value);
        staff.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
        assert_eq!(kind(staff.get(key(2))), ErrorKind::DecryptionFailed);
        assert_eq!(kind(staff.update(key(2), |e| e.age = 1)), ErrorKind::DecryptionFailed);
        staff.put(&employee(2)).unwrap();
        assert_eq!(*staff.get(key(2)).unwrap().unwrap(), employee(2));
        assert_copies_agree(staff.dynamic());
        staff.dynamic().raw().merge(&change, IfMatch::Any).unwrap();
        let etag = staff.dynamic().get("Sales", "empid_000002").unwrap().unwrap().etag().unwrap();
        staff.delete_if(key(2), etag).unwrap();
        assert_eq!(rows(staff.dynamic()), []);
    }
    let stored: Option<Stored<Employee>> = staff.get(key(2)).unwrap();
    assert!(stored.is_none());
}
