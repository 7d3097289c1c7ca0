//! Index lists that follow their entities.

use integration_tests::eventual::{Employee, check};
use integration_tests::{Scratch, assert_sound};
use table_core::typed::Propagation;
use table_core::{DynamicEntity, ErrorKind, Result, Stored, Table};

use super::{company, employee};

/// Who is on a list, and of those who the list says to be there still.
fn on(staff: &Table<Employee>, name: &str) -> (Vec<u32>, Vec<u32>) {
    let list = staff.list(Employee::by_surname(name)).unwrap();
    let id = |keys: (&str, &str)| keys.1.trim_start_matches("empid_").parse().unwrap();
    let listed = list.keys().map(|key| id(key.as_strs().unwrap())).collect();
    let there = list.entities().map(|found| Ok(found?.id)).collect::<Result<_>>().unwrap();
    (listed, there)
}

#[test]
fn a_list_follows_what_is_inserted_changed_moved_and_deleted() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(on(&staff, "Jones"), (vec![], vec![]));
    assert_sound(&store);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    // In the order of the ids: of the department, then of the number.
    assert_eq!(on(&staff, "Jones"), (vec![2, 1], vec![2, 1]));
    assert_eq!(staff.list(Employee::by_talent("a")).unwrap().len(), 3);
    check(&store).unwrap();

    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    staff.move_to(Employee::key("Legal", 2), |e| e.id = 20).unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();
    // Who left is on the list until it is propagated, and is left out where the entities are asked for.
    assert_eq!(on(&staff, "Jones"), (vec![2, 1], vec![]));
    assert_eq!(on(&staff, "Hall"), (vec![3], vec![]));
    assert_eq!(on(&staff, "Hill"), (vec![], vec![]));
    assert!(staff.check().unwrap().is_sound());
    assert_eq!(staff.repair().unwrap().run().unwrap().mended, 0);
    assert_sound(&store);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(on(&staff, "Jones"), (vec![20], vec![20]));
    assert_eq!(on(&staff, "Hill"), (vec![1], vec![1]));
    // A list that nobody is on is no row.
    assert!(store.dynamic_table("Names").unwrap().get("surnames", "Hall").unwrap().is_none());
    check(&store).unwrap();
    assert_sound(&store);
}

#[test]
fn who_comes_back_before_it_is_propagated_stays_and_who_moves_within_a_list_is_there_once() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let staff = store.table::<Employee>().unwrap();
    for name in ["Hill", "Jones"] {
        staff.update(Employee::key("Sales", 1), |e| e.last_name = name.into()).unwrap();
    }
    staff.delete(Employee::key("Legal", 2)).unwrap();
    staff.insert(&employee("Legal", 2, "Jones")).unwrap();
    staff.move_to(Employee::key("Sales", 3), |e| e.id = 4).unwrap();
    store.propagate().unwrap();
    assert_eq!(on(&staff, "Jones"), (vec![2, 1], vec![2, 1]));
    assert_eq!(on(&staff, "Hall"), (vec![4], vec![4]));
    assert_eq!(on(&staff, "Hill"), (vec![], vec![]));
    check(&store).unwrap();
}

#[test]
fn what_does_not_concern_a_list_leaves_it_as_it_is() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let staff = store.table::<Employee>().unwrap();
    let list = || store.dynamic_table("Names").unwrap().get("surnames", "Jones").unwrap().unwrap().etag();
    let before = list();
    // A copy follows, and is put again with its entity's version; the list says the same as before.
    staff.update(Employee::key("Sales", 1), |e| e.email = "new@contoso.com".into()).unwrap();
    store.propagate().unwrap();
    assert_eq!(list(), before);
    // It has a time of its own, and not an entity's.
    let written = staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hall".into()).unwrap();
    store.propagate().unwrap();
    assert!(list().unwrap().timestamp() > Stored::timestamp(&written));
}

#[test]
fn a_list_is_made_and_removed_by_a_job_and_mended() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    staff.drop_index("by_surname").unwrap().run().unwrap();
    assert_eq!(staff.list(Employee::by_surname("Jones")).unwrap_err().kind(), ErrorKind::IndexBuilding);
    // What changes meanwhile is not listed, and what is to be propagated says nothing of it.
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hill".into()).unwrap();
    store.propagate().unwrap();
    assert!(store.dynamic_table("Names").unwrap().get("surnames", "Hill").unwrap().is_none());
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hall".into()).unwrap();
    staff.rebuild().unwrap().run().unwrap();
    assert!(store.jobs().unwrap().is_empty());
    store.propagate().unwrap();
    assert_eq!(on(&staff, "Hall"), (vec![1, 3], vec![1, 3]));
    check(&store).unwrap();

    // By hand: one is taken off a list and another put on it.
    let names = store.dynamic_table("Names").unwrap().raw();
    let wrong = DynamicEntity::new("surnames", "Hall").with("EntityType", "employee.by_surname");
    names.put(&wrong.with("Ids", "Legal;000002,Sales;000003")).unwrap();
    assert_eq!(staff.check().unwrap().problems.len(), 2);
    assert_eq!(staff.repair().unwrap().run().unwrap().mended, 2);
    check(&store).unwrap();
}

#[test]
fn a_row_in_the_place_of_a_list_holds_up_no_other_and_is_told() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store
        .dynamic_table("Names")
        .unwrap()
        .put(&DynamicEntity::new("surnames", "Hall").with("Age", 1_i32))
        .unwrap();
    assert!(matches!(store.propagate().unwrap(), Propagation::Incomplete { .. }));
    let pending_propagation = store.pending_propagation().unwrap();
    assert_eq!((pending_propagation.entities, pending_propagation.failing.len()), (1, 1));
    assert!(
        pending_propagation.failing[0].error.contains("`by_surname` is of another kind"),
        "{pending_propagation}"
    );
    assert_eq!(on(&staff, "Jones"), (vec![2, 1], vec![2, 1]));
    store.dynamic_table("Names").unwrap().delete("surnames", "Hall").unwrap();
    assert_eq!(store.retry_failed().unwrap(), 1);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    check(&store).unwrap();
}

#[test]
fn many_who_follow_onto_one_list_are_put_there_together() {
    let scratch = Scratch::new();
    let store = super::manual(&scratch);
    let staff = store.table::<Employee>().unwrap();
    for id in 0..2_000 {
        let mut one = employee("Sales", id, "Jones");
        (one.code, one.badge) = (None, None);
        one.skills.0.clear();
        staff.insert(&one).unwrap();
    }
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(staff.list(Employee::by_surname("Jones")).unwrap().len(), 2_000);
    assert_sound(&store);
}

integration_tests::on_executors_with_jobs! {
    a_list_follows_what_is_inserted_changed_moved_and_deleted
    who_comes_back_before_it_is_propagated_stays_and_who_moves_within_a_list_is_there_once
    what_does_not_concern_a_list_leaves_it_as_it_is
    a_list_is_made_and_removed_by_a_job_and_mended
    a_row_in_the_place_of_a_list_holds_up_no_other_and_is_told
    many_who_follow_onto_one_list_are_put_there_together
}
