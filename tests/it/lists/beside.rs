//! Many who write entities of one list at one time.

use integration_tests::together::{left, write_beside_each_other};
use integration_tests::{Scratch, assert_sound};

use super::{Employee, assert_listed, employee};

#[test]
fn writers_of_one_list_are_never_in_each_others_way() {
    let scratch = Scratch::new();
    let store = scratch.store();
    write_beside_each_other(
        &store,
        |id| employee("Sales", id, "Jones"),
        |one| one.team = Some("red".into()),
        |staff, snapshot| {
            let count = staff.at(snapshot).rows().department("Sales").count().unwrap();
            let list = staff.at(snapshot).list(Employee::by_last_name("Sales", "Jones")).unwrap();
            assert_eq!(list.len() as u64, count);
            assert!(list.entities().all(|one| one.unwrap().last_name == "Jones"));
        },
    );
    let left = left().map(|id| Employee { team: Some("red".into()), ..employee("Sales", id, "Jones") });
    assert_listed(&store, &left.collect::<Vec<_>>());
    assert_sound(&store);
}
