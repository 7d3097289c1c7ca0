//! What a declaration of lists looks like, and what a store notes of it.

use integration_tests::{Scratch, assert_sound};
use table_core::{Entity, ErrorKind};

use super::{Employee, assert_listed, employee};

#[test]
fn a_schema_shows_its_lists_and_where_they_lie() {
    let drawn = Employee::SCHEMA.to_string();
    let line = |kind: &str| drawn.lines().find(|line| line.starts_with(kind)).unwrap_or_default().to_owned();
    let names = line("employee.by_last_name, list");
    assert!(names.contains("last_{last_name}") && names.contains("Ids: list of Id"), "{drawn}");
    let teams = line("employee.by_team, list, in table Teams, atomic");
    assert!(teams.contains("Ids: list of Department and Id"), "{drawn}");
    let list = Employee::SCHEMA.indexes.iter().find(|index| index.name == "by_team").unwrap().list.unwrap();
    assert_eq!(list.ids.source, "department, id");
}

#[test]
fn a_list_follows_when_its_table_is_dropped_or_that_of_its_entities() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let member = |id| Employee { team: Some("red".into()), ..employee("Sales", id, "Jones") };
    store.table::<Employee>().unwrap().bulk_insert((1..4).map(member)).unwrap().into_result().unwrap();
    let red = || store.table::<Employee>().unwrap().list(Employee::by_team("red")).map(|list| list.len());
    assert_eq!(red().unwrap(), 3);
    // Its own: it is to be made anew, and is kept all the while.
    store.drop_table("Teams").unwrap();
    assert_eq!(red().unwrap_err().kind(), ErrorKind::IndexBuilding);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&member(9)).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_listed(&store, &[member(2), member(3), member(9)]);
    // The entities': what they had put on it is of nobody.
    store.drop_table("Company").unwrap();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(red().unwrap_err().kind(), ErrorKind::IndexBuilding);
    staff.insert(&member(2)).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert_listed(&store, &[member(2)]);
    // Both.
    store.drop_tables(&["Company", "Teams"]).unwrap();
    store.table::<Employee>().unwrap().insert(&member(3)).unwrap();
    assert_listed(&store, &[member(3)]);
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    a_list_follows_when_its_table_is_dropped_or_that_of_its_entities
}
