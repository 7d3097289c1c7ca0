//! Sealed properties: sealed by the store's keys, and refused where it is open without them.

use std::sync::Arc;

use integration_tests::{Scratch, assert_sound};
use table_core::crypt::MemoryKeys;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Clinic", kind = "patient")]
#[key(partition = "{ward}", row = "patient_{id:04}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique)]
#[index(by_name, row = "name_{name}_{id:04}", copy(ssn))]
struct Patient {
    ward: String,
    id: u32,
    name: String,
    #[encrypt(blind)]
    ssn: String,
    #[encrypt(scope = partition)]
    notes: Option<String>,
}

#[test]
fn what_is_sealed_is_sealed_by_the_stores_keys() {
    let scratch = Scratch::new();
    let keys = Arc::new(MemoryKeys::new().unwrap());
    let store = scratch.store_with(&integration_tests::relaxed().encryption(keys));
    let patients = store.table::<Patient>().unwrap();
    let ann = Patient { ward: "a".into(), id: 1, name: "Ann".into(), ssn: "1-2".into(), notes: None };
    patients.insert(&ann).unwrap();
    let table = store.dynamic_table("Clinic").unwrap();
    let bob = DynamicEntity::new("a", "patient_0002")
        .with("EntityType", "patient")
        .with("Name", "Bob")
        .with("Ssn", "3-4")
        .with("Notes", "none");
    table.insert(&bob).unwrap();
    let found = patients.get(Patient::by_ssn("a", "3-4")).unwrap().unwrap();
    assert_eq!((found.id, found.notes.as_deref()), (2, Some("none")));
    let plain = |text: &str| {
        table
            .query(&Query::new())
            .unwrap()
            .any(|row| row.unwrap().properties().any(|(_, value)| value.as_str() == Some(text)))
    };
    assert!(!plain("3-4") && !plain("none"));

    // What a merge does not touch goes on as it was, and is unique all the while.
    table.merge(&DynamicEntity::new("a", "patient_0002").with("Name", "Rob"), IfMatch::Any).unwrap();
    assert_eq!(patients.get(Patient::by_ssn("a", "3-4")).unwrap().unwrap().name, "Rob");
    let taken = DynamicEntity::new("a", "patient_0002").with("Ssn", "1-2");
    assert_eq!(table.merge(&taken, IfMatch::Any).unwrap_err().kind(), ErrorKind::UniqueConflict);
    table.merge(&taken.with("Ssn", "5-6"), IfMatch::Any).unwrap();
    assert!(patients.get(Patient::by_ssn("a", "3-4")).unwrap().is_none());
    assert!(patients.get(Patient::by_ssn("a", "5-6")).unwrap().is_some());
    table.delete("a", "patient_0002").unwrap();
    assert_eq!(patients.all().count().unwrap(), 1);
    assert!(patients.check().unwrap().is_sound());
    assert_sound(&store);
}

/// Values are sealed, and rows with a sealed value that are copies are signed: without keys neither can be done.
#[test]
fn without_keys_the_sealed_property_is_in_the_way() {
    let scratch = Scratch::new();
    {
        let keys = Arc::new(MemoryKeys::new().unwrap());
        let store = scratch.store_with(&integration_tests::relaxed().encryption(keys));
        let ann = Patient { ward: "a".into(), id: 1, name: "Ann".into(), ssn: "1-2".into(), notes: None };
        store.table::<Patient>().unwrap().insert(&ann).unwrap();
    }
    let store = scratch.store_with(&integration_tests::relaxed());
    let table = store.dynamic_table("Clinic").unwrap();
    let change = DynamicEntity::new("a", "patient_0001").with("Name", "Eve");
    let error = table.merge(&change, IfMatch::Any).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DeclaredKind, "{error}");
    assert!(
        error
            .to_string()
            .contains("`property Ssn encrypted blind String`: the store is open without the keys"),
        "{error}"
    );
}
