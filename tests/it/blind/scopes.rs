//! Whose keys they are: of nobody, of a partition, of a table.

use table_core::crypt::{KeyHandle, KeyScope, Scope};
use table_core::typed::Column;
use table_core::{Entity, ErrorKind, Projection, Stored};

use super::{Employee, Named, SSN, Scratch, employee, key, refused, staff};

#[test]
fn readers_without_keys_can_look_up_nothing() {
    let scratch = Scratch::new();
    {
        let store = scratch.store();
        staff(&store).insert(&employee(1, SSN)).unwrap();
    }
    let store = scratch.without_provider();
    let staff = staff(&store);
    refused(&staff, ErrorKind::KeyUnavailable, || staff.get(Employee::by_ssn("Sales", SSN)).map(drop));
    refused(&staff, ErrorKind::KeyUnavailable, || staff.by_ssn().department("Sales").ssn(SSN).count());
    let filtered = || staff.rows().department("Sales").filter(|e| e.ssn.eq(SSN));
    refused(&staff, ErrorKind::KeyUnavailable, || filtered().count());
    refused(&staff, ErrorKind::KeyUnavailable, || filtered().explain());
    refused(&staff, ErrorKind::KeyUnavailable, || staff.insert(&employee(2, SSN)));
    assert_eq!(staff.get_as::<Named>(key(1)).unwrap().unwrap().id, 1);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Patients", kind = "patient")]
#[key(partition = "{clinic}", row = "{id:06}")]
#[index(by_card, row = "card_{card:blind}", unique)]
struct Patient {
    clinic: String,
    id: u32,
    #[encrypt(blind, scope = partition)]
    card: String,
    #[encrypt(scope = table)]
    note: String,
    #[encrypt]
    phone: String,
}

#[derive(Projection, Debug, PartialEq)]
#[projection(of = Patient)]
struct Phone {
    note: String,
    phone: String,
}

fn patient(clinic: &str, id: u32, card: &str) -> Patient {
    Patient { clinic: clinic.into(), id, card: card.into(), note: "note".into(), phone: "1".into() }
}

#[test]
fn a_partitions_values_are_shredded_by_themselves() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let patients = store.table::<Patient>().unwrap();
    let encryption = store.encryption().unwrap();
    for clinic in ["East", "West"] {
        patients.insert(&patient(clinic, 1, "c1")).unwrap();
        patients.insert(&patient(clinic, 2, "c2")).unwrap();
    }
    let table = patients.dynamic();
    let (east, of_table) = (table.partition_key_scope("East").unwrap(), table.key_scope());
    let row = table.get("East", "000001").unwrap().unwrap();
    let scope_of = |property: &str| {
        let handle = KeyHandle::of(row.get(property).unwrap().as_bytes().unwrap()).unwrap();
        encryption.keys().unwrap().into_iter().find(|key| key.handle == handle).unwrap().scope
    };
    assert_eq!(
        (scope_of("Card"), scope_of("Note"), scope_of("Phone")),
        (east.clone(), of_table, Scope::store())
    );
    assert_eq!(patients.get(Patient::by_card("East", "c2")).unwrap().unwrap().id, 2);

    encryption.shred(&east).unwrap();
    assert_eq!(patients.get(Patient::key("East", 1)).unwrap_err().kind(), ErrorKind::KeyShredded);
    assert_eq!(*patients.get(Patient::key("West", 1)).unwrap().unwrap(), patient("West", 1, "c1"));
    let rest = patients.get_as::<Phone>(Patient::key("East", 1)).unwrap().unwrap();
    assert_eq!(rest, Phone { note: "note".into(), phone: "1".into() });
    // What is no more is found by nothing, and stands in nobody's way.
    assert!(patients.get(Patient::by_card("East", "c1")).unwrap().is_none());
    assert_eq!(patients.rows().clinic("East").filter(|p| p.card.eq("c1")).count().unwrap(), 0);
    let found = patients.rows().across_partitions().filter(|p| p.card.eq("c1"));
    let found: Vec<_> = found.into_iter().map(|p| Stored::into_inner(p.unwrap())).collect();
    assert_eq!(found, [patient("West", 1, "c1")]);
    patients.insert(&patient("East", 3, "c1")).unwrap();
    assert_eq!(patients.get(Patient::by_card("East", "c1")).unwrap().unwrap().id, 3);
}

#[test]
fn pictures_and_layouts_say_what_can_be_looked_up() {
    let picture = <Patient as Entity>::SCHEMA.to_string();
    assert!(picture.contains("Card: encrypted by partition blind String"), "{picture}");
    assert!(picture.contains("Note: encrypted by table String"), "{picture}");

    #[derive(Entity)]
    #[entity(table = "Patients", kind = "patient")]
    #[key(partition = "{clinic}", row = "{id:06}")]
    #[index(by_card, row = "card_{card:blind}", unique)]
    struct Other {
        clinic: String,
        id: u32,
        #[encrypt(blind, tokens = table)]
        card: String,
        #[encrypt(scope = table)]
        note: String,
        #[encrypt(scope = store)]
        phone: String,
    }

    let scratch = Scratch::new();
    let store = scratch.store();
    let patient =
        Patient { clinic: "c".into(), id: 1, card: "1".into(), note: "n".into(), phone: "5".into() };
    store.table::<Patient>().unwrap().insert(&patient).unwrap();
    let error = store.table::<Other>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LayoutChanged);
    let text = error.to_string();
    assert!(text.contains("+ property Card encrypted blind by table String"), "{text}");
    assert!(!text.contains("Phone") && !text.contains("Note"), "{text}");
    let _: (Option<Column<u8>>, KeyScope) = (None, KeyScope::Store);
}

integration_tests::on_executors_with_jobs! {
    readers_without_keys_can_look_up_nothing
    a_partitions_values_are_shredded_by_themselves
    pictures_and_layouts_say_what_can_be_looked_up
}
