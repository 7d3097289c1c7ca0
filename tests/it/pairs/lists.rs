//! Entities that are listed, written on the ways that their own module does not go.

use integration_tests::company::Department;
use integration_tests::listed::{Employee, assert_listed, employee};
use integration_tests::{Scratch, assert_sound};
use table_core::{DynamicEntity, EntitySet, IfMatch, Store};

#[derive(EntitySet, Clone, Debug, PartialEq)]
enum Company {
    Department(Department),
    Employee(Employee),
}

#[test]
fn lists_follow_changes_of_sets_and_store_transactions() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let set = store.set::<Company>().unwrap();
    let (mut first, mut second) = (employee("Sales", 1, "Jones"), employee("Sales", 2, "Jones"));
    let sales = Department { name: "Sales".into(), head_count: 2 };
    set.egt(Employee::partition("Sales")).insert(&first).insert(&second).insert(&sales).commit().unwrap();
    assert_listed(&store, &[first.clone(), second.clone()]);
    // A list is no entity of the set.
    assert_eq!(set.across_partitions().count().unwrap(), 3);

    let third = employee("Legal", 3, "Jones");
    let patch = Employee::patch().last_name("Hall").skills(vec!["Law".into()]);
    let transaction =
        store.transaction().insert(&third).merge(Employee::key("Sales", 1), patch, IfMatch::Any);
    assert!(transaction.commit().is_ok());
    (first.last_name, first.skills) = ("Hall".into(), vec!["Law".into()]);
    assert_listed(&store, &[first.clone(), second.clone(), third.clone()]);
    let change = DynamicEntity::new("Sales", "empid_000002").with("LastName", "Hall").with("Team", "blue");
    set.merge_any(&change, IfMatch::Any).unwrap();
    (second.last_name, second.team) = ("Hall".into(), Some("blue".into()));
    assert_listed(&store, &[first, second.clone(), third.clone()]);
    set.delete_any("Sales", "empid_000001").unwrap();
    assert_listed(&store, &[second.clone(), third.clone()]);

    let copy = scratch.path().join("copy");
    store.copy_to(&copy).unwrap();
    assert_listed(&Store::open(&copy).unwrap(), &[second, third]);
    let cost = store.table::<Employee>().unwrap().cost().unwrap();
    assert_eq!(cost.entities, 2);
    assert_sound(&store);
}
