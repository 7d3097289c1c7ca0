//! What is not opened, and what is said of it.

use table_core::crypt::Scope;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Projection, Store, Value};

use super::{CANARY, Employee, Pay, Scratch, employee, key, kind, rows, sealed, staff};

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Employee)]
struct Contact {
    name: String,
    email: String,
}

#[test]
fn what_was_moved_changed_or_never_sealed_is_refused() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let staff = staff(&store);
    for id in [1, 2] {
        staff.insert(&employee(id)).unwrap();
    }
    let table = &staff.dynamic().raw();
    let put = |row: &str, property: &str, value: Value| {
        let change = DynamicEntity::new("Sales", row).with(property, value);
        table.merge(&change, IfMatch::Any).unwrap();
    };
    let [own, copy, _] = <[DynamicEntity; 3]>::try_from(rows(table, 1)).unwrap();
    let other = rows(table, 2).swap_remove(0);
    let bytes = |row: &DynamicEntity, property| Value::Binary(sealed(row, property).unwrap());
    let mut flipped = sealed(&own, "Ssn").unwrap();
    *flipped.last_mut().unwrap() ^= 1;
    let mistakes = [
        bytes(&other, "Ssn"),
        bytes(&own, "Note"),
        bytes(&own, "Grade"),
        Value::Binary(flipped),
        Value::Binary(vec![]),
        Value::from(CANARY),
    ];
    for mistake in &mistakes {
        put("empid_000001", "Ssn", mistake.clone());
        assert_eq!(kind(staff.get(key(1))), ErrorKind::DecryptionFailed);
        put("empid_000001", "Ssn", bytes(&own, "Ssn"));
    }
    // A copy that holds sealed fields is signed, and not to be written so at all.
    let change = DynamicEntity::new("Sales", copy.row_key()).with("Ssn", bytes(&own, "Ssn"));
    assert_eq!(kind(table.merge(&change, IfMatch::Any)), ErrorKind::SchemaMismatch);
    put("empid_000001", "Ssn", bytes(&other, "Ssn"));
    // What leaves the field out can be read; what would write it back unseen is refused.
    assert_eq!(staff.get_as::<Contact>(key(1)).unwrap().unwrap().name, "Name1");
    assert_eq!(staff.view(key(1), |e| e.salary()).unwrap(), Some(1 << 40));
    assert_eq!(kind(staff.view(key(1), |e| e.ssn())), ErrorKind::DecryptionFailed);
    assert_eq!(kind(staff.update(key(1), |e| e.age = 50)), ErrorKind::DecryptionFailed);
    assert_eq!(
        kind(staff.rows().department("Sales").into_iter().next().unwrap()),
        ErrorKind::DecryptionFailed
    );
}

#[test]
fn readers_without_keys_see_what_is_not_sealed() {
    let scratch = Scratch::new();
    {
        let store = scratch.store();
        staff(&store).insert(&employee(1)).unwrap();
    }
    let is_closed_to = |store: &Store, expected: ErrorKind| {
        let staff = staff(store);
        assert_eq!(kind(staff.get(key(1))), expected);
        assert_eq!(kind(staff.get(Employee::by_email("Sales", "1@contoso.com"))), expected);
        assert_eq!(kind(staff.view(key(1), |e| e.ssn())), expected);
        assert_eq!(kind(staff.get_as::<Pay>(key(1))), expected);
        assert_eq!(kind(staff.update(key(1), |e| e.age = 1)), expected);
        assert_eq!(staff.view(key(1), |e| e.name().map(str::to_owned)).unwrap().unwrap(), "Name1");
        assert_eq!(staff.get_as::<Contact>(key(1)).unwrap().unwrap().email, "1@contoso.com");
        // Copies are signed: they are read by who has keys, whatever has become of the values'.
        let contacts = staff.by_email().department("Sales").select::<Contact>();
        let contacts: Vec<_> =
            contacts.into_iter().map(|found| found.map(drop).map_err(|e| e.kind())).collect();
        let closed = if expected == ErrorKind::KeyUnavailable { Err(expected) } else { Ok(()) };
        assert_eq!(contacts, [closed]);
        staff
    };
    {
        let store = Store::options().map_size(1 << 28).open(scratch.path()).unwrap();
        let staff = is_closed_to(&store, ErrorKind::KeyUnavailable);
        assert_eq!(kind(staff.insert(&employee(2))), ErrorKind::KeyUnavailable);
        assert!(staff.get(key(2)).unwrap().is_none());
        // A plan that is only shown takes no key.
        let (two, partition) = (employee(2), Employee::partition("Sales"));
        assert_eq!(staff.egt(partition).insert(&two).explain().unwrap().rows(), 4);
    }
    let store = scratch.store();
    let encryption = store.encryption().unwrap();
    encryption.shred(&Scope::store()).unwrap();
    is_closed_to(&store, ErrorKind::KeyShredded);
    // What comes later has a key of its own.
    let staff = staff(&store);
    staff.insert(&employee(2)).unwrap();
    assert_eq!(*staff.get(key(2)).unwrap().unwrap(), employee(2));
}

#[test]
fn pictures_and_layouts_say_what_is_sealed() {
    let picture = <Employee as Entity>::SCHEMA.to_string();
    assert!(
        picture.contains("Ssn: encrypted String, ") && picture.contains("Note: encrypted String?"),
        "{picture}"
    );

    #[derive(Entity)]
    #[entity(table = "Payroll", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Open {
        department: String,
        id: u32,
        ssn: String,
    }

    #[derive(Entity)]
    #[entity(table = "Payroll", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    struct Sealed {
        department: String,
        id: u32,
        #[encrypt]
        ssn: String,
    }

    let scratch = Scratch::new();
    let store = scratch.store();
    let open = store.table::<Open>().unwrap();
    open.insert(&Open { department: "Sales".into(), id: 1, ssn: String::new() }).unwrap();
    let error = store.table::<Sealed>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    assert!(error.to_string().contains("+ property Ssn encrypted String"), "{error}");
}
