//! Sealed when they are written, typed when they are read, and kept where nothing has changed.

use table_core::crypt::KeyHandle;
use table_core::{DynamicEntity, EdmType, IfMatch, Stored, View};

use super::{Employee, Pay, Payroll, Scratch, employee, key, rows, sealed, staff};

/// The names of the sealed properties and the types of what is sealed.
const SEALED: [(&str, EdmType); 12] = [
    ("Ssn", EdmType::String),
    ("Photo", EdmType::Binary),
    ("Retired", EdmType::Boolean),
    ("Grade", EdmType::Int32),
    ("Salary", EdmType::Int64),
    ("Share", EdmType::Double),
    ("Born", EdmType::DateTime),
    ("Pass", EdmType::Guid),
    ("Note", EdmType::String),
    ("Tags", EdmType::String),
    ("Level", EdmType::Int32),
    ("Iban", EdmType::String),
];

#[test]
fn every_type_comes_back_by_every_way() {
    let scratch = Scratch::new();
    let (one, two) = (employee(1), Employee { note: None, ..employee(2) });
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&one).unwrap();
    staff.put(&two).unwrap();
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), one);
    assert_eq!(*staff.get(key(2)).unwrap().unwrap(), two);
    assert_eq!(*staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap(), one);
    let copy = staff.get(Employee::by_name("Sales", "Name1", 1)).unwrap().unwrap();
    assert_eq!((&copy.ssn, copy.salary), (&one.ssn, one.salary));
    assert_eq!(staff.get_as::<Pay>(key(1)).unwrap().unwrap().salary, one.salary);
    let of_copy = staff.get_as::<Pay>(Employee::by_name("Sales", "Name1", 1)).unwrap();
    assert_eq!(of_copy.unwrap().salary, one.salary);
    let found = staff.rows().department("Sales").into_iter().map(|e| Stored::into_inner(e.unwrap()));
    assert_eq!(found.collect::<Vec<_>>(), [one.clone(), two.clone()]);
    let found =
        staff.by_age().department("Sales").entities().into_iter().map(|e| Stored::into_inner(e.unwrap()));
    assert_eq!(found.collect::<Vec<_>>(), [one.clone(), two]);
    let pays = staff.by_name().department("Sales").select::<Pay>().into_iter();
    assert!(pays.map(Result::unwrap).all(|pay| pay.salary == one.salary));
    let seen = staff.view(key(1), |e| {
        assert_eq!((e.ssn()?, e.photo()?, e.note()?), (one.ssn.clone(), one.photo.clone(), one.note.clone()));
        assert_eq!((e.retired()?, e.grade()?, e.share()?), (true, -7, 0.1));
        assert_eq!((e.born()?, e.pass()?, e.level()?), (one.born, one.pass, 200));
        assert_eq!((e.tags()?, e.account()?), (one.tags.clone(), one.account.clone()));
        View::to_entity(&e)
    });
    assert_eq!(*seen.unwrap().unwrap(), one);

    // And after the store is opened anew.
    drop((staff, store));
    let store = scratch.store();
    assert_eq!(*store.table::<Employee>().unwrap().get(key(1)).unwrap().unwrap(), one);
}

#[test]
fn properties_are_stored_sealed_and_copies_hold_the_same_bytes() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let rows = rows(staff.dynamic(), 1);
    let encryption = store.encryption().unwrap();
    for (property, edm) in SEALED {
        let bytes = sealed(&rows[0], property).unwrap();
        assert!(KeyHandle::of(&bytes).is_some(), "{property}");
        let cell = staff.dynamic().cell("Sales", "empid_000001", property).unwrap();
        assert_eq!(encryption.open(&cell, &bytes).unwrap().edm_type(), edm, "{property}");
        assert_eq!(sealed(&rows[1], property).unwrap(), bytes, "{property}");
    }
    for property in ["Ssn", "Salary"] {
        assert_eq!(sealed(&rows[2], property), sealed(&rows[0], property));
    }
    assert_eq!(sealed(&rows[2], "Photo"), None);
}

#[test]
fn changes_seal_anew_only_what_they_touch() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let before = rows(staff.dynamic(), 1);
    let check = |changed: &[&str], rewritten: [bool; 3], before: &[DynamicEntity]| {
        let after = rows(staff.dynamic(), 1);
        for (before, after) in before.iter().zip(&after) {
            for (property, _) in SEALED {
                let same = sealed(before, property) == sealed(after, property);
                let is_there = sealed(before, property).is_some();
                assert_eq!(!same, is_there && changed.contains(&property), "{property}");
            }
        }
        for ((before, after), rewritten) in before.iter().zip(&after).zip(rewritten) {
            assert_eq!(before.etag() != after.etag(), rewritten, "{}", before.row_key());
        }
        for (property, _) in SEALED {
            assert_eq!(sealed(&after[1], property), sealed(&after[0], property));
        }
        after
    };
    // What an update leaves alone keeps its bytes, and a copy without it is not touched.
    staff.update(key(1), |e| e.age = 41).unwrap();
    let before = check(&[], [true, true, false], &before);
    staff.update(key(1), |e| e.salary += 1).unwrap();
    let before = check(&["Salary"], [true, true, true], &before);
    staff.merge(key(1), Employee::patch().grade(8), IfMatch::Any).unwrap();
    let before = check(&["Grade"], [true, true, false], &before);
    let mut whole = Stored::into_inner(staff.get(key(1)).unwrap().unwrap());
    whole.photo = b"other".to_vec();
    staff.replace(&whole, IfMatch::Any).unwrap();
    let before = check(&["Photo"], [true, true, false], &before);
    whole.account.iban = "other".into();
    staff.put(&whole).unwrap();
    let before = check(&["Iban"], [true, true, false], &before);
    assert_eq!(*staff.get(key(1)).unwrap().unwrap(), whole);

    // A value that goes leaves nothing.
    staff.update(key(1), |e| e.note = None).unwrap();
    assert_eq!(sealed(&rows(staff.dynamic(), 1)[0], "Note"), None);

    // Another row, another cell: all is sealed anew.
    staff.move_to(key(1), |e| e.id = 3).unwrap();
    let moved = staff.dynamic().get("Sales", "empid_000003").unwrap().unwrap();
    assert_ne!(sealed(&moved, "Ssn"), sealed(&before[0], "Ssn"));
    assert_eq!(staff.get(key(3)).unwrap().unwrap().salary, (1 << 40) + 1);
    assert_eq!(staff.get(Employee::by_email("Sales", "1@contoso.com")).unwrap().unwrap().id, 3);
}

#[test]
fn a_set_seals_what_it_is_given() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    staff.insert(&employee(1)).unwrap();
    let set = store.set::<Payroll>().unwrap();
    let found = set.get_any("Sales", "empid_000001").unwrap().unwrap();
    assert_eq!(*found, Payroll::Employee(employee(1)));
    let change = DynamicEntity::new("Sales", "empid_000001").with("Salary", 5_i64).with("Age", 50);
    let before = rows(staff.dynamic(), 1);
    set.merge_any(&change, IfMatch::Any).unwrap();
    let after = rows(staff.dynamic(), 1);
    assert_ne!(sealed(&before[0], "Salary"), sealed(&after[0], "Salary"));
    assert_eq!(sealed(&before[0], "Ssn"), sealed(&after[0], "Ssn"));
    let stored = staff.get(key(1)).unwrap().unwrap();
    assert_eq!((stored.salary, stored.age), (5, 50));
}
