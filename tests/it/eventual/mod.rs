//! Copies that follow their entities into other partitions and tables.

mod lists;
mod propagation;

use integration_tests::eventual::{Employee, check, implied};
use integration_tests::executors::Executor;
use integration_tests::opened::{Needs, Opened};
use integration_tests::stops::Texts;
use integration_tests::{Scratch, assert_sound, on_executors_with_jobs};
use table_core::store::Propagate;
use table_core::typed::Eventual;
use table_core::typed::Propagation;
use table_core::{EntitySet, ErrorKind, IfMatch, Key, Store, Stored};

fn employee(department: &str, id: u32, last_name: &str) -> Employee {
    Employee {
        department: department.into(),
        id,
        last_name: last_name.into(),
        email: format!("{id}@contoso.com"),
        badge: Some(id),
        is_inside: true,
        skills: Texts(vec!["b".into(), "a".into()]),
        code: Some(id),
        age: 30,
    }
}

/// Opens the store of the test's executor, which propagates nothing by itself.
fn manual(scratch: &Scratch) -> Opened {
    scratch.open(&Needs { propagate: Propagate::Manual, ..Needs::default() })
}

/// Three employees in two departments, whose copies have not followed yet.
fn company() -> (Scratch, Opened) {
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let staff = store.table::<Employee>().unwrap();
    for (department, id, name) in [("Sales", 1, "Jones"), ("Legal", 2, "Jones"), ("Sales", 3, "Hall")] {
        staff.insert(&employee(department, id, name)).unwrap();
    }
    (scratch, store)
}

/// Three employees in a store on LMDB, whose copies have not followed yet.
fn company_on_lmdb() -> (Scratch, Store) {
    let (scratch, store) = company();
    let store = store.lmdb().unwrap().clone();
    (scratch, store)
}

#[test]
fn copies_follow_what_is_inserted_changed_moved_and_deleted() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    let by_name = |name: &str| staff.by_name().last_name(name).count().unwrap();
    assert_eq!((by_name("Jones"), store.pending_propagation().unwrap().entities), (0, 3));
    // What is atomic is there at once, and so is what lies beside the entity.
    assert!(staff.get(Employee::by_code(2)).unwrap().is_some());
    assert_eq!(staff.by_age().department("Sales").age(30).count().unwrap(), 2);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!((by_name("Jones"), store.pending_propagation().unwrap().entities), (2, 0));
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_sound(&store);

    staff
        .update(Employee::key("Sales", 1), |e| {
            e.last_name = "Hill".into();
            e.is_inside = false;
            e.skills.0.truncate(1);
        })
        .unwrap();
    staff.move_to(Employee::key("Legal", 2), |e| e.id = 20).unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();
    // The old copies stay until it is propagated.
    assert_eq!((by_name("Jones"), by_name("Hill"), by_name("Hall")), (2, 0, 1));
    assert_eq!(store.pending_propagation().unwrap().entities, 4);
    assert_sound(&store);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!((by_name("Jones"), by_name("Hill"), by_name("Hall")), (1, 1, 0));
    assert_eq!(check(&store).unwrap().len(), 2);
    // Nothing to do is nothing done.
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_sound(&store);
}

#[test]
fn what_changes_no_copy_leaves_nothing_to_be_done() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    // The code is in no copy that follows but the whole ones, and the age too.
    staff.update(Employee::key("Sales", 1), |_| {}).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    staff.update(Employee::key("Sales", 1), |e| e.age = 31).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    store.propagate().unwrap();
    assert_eq!(check(&store).unwrap().len(), 3);
}

#[test]
fn many_changes_before_one_propagation_leave_what_the_last_one_says() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    let key = || Employee::key("Sales", 1);
    for round in 0..20 {
        staff.update(key(), |e| e.last_name = format!("name{round}")).unwrap();
    }
    staff.delete(key()).unwrap();
    staff.insert(&employee("Sales", 1, "Jones")).unwrap();
    staff.update(key(), |e| e.last_name = "Again".into()).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_sound(&store);
}

#[test]
fn a_row_that_follows_says_of_which_version_it_is() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    let first = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
    let copy: Eventual<Employee> =
        staff.get(Employee::by_email("1@contoso.com", "Sales", 1)).unwrap().unwrap();
    assert_eq!((Eventual::as_of(&copy), &*copy), (Stored::etag(&first), &*first));
    assert_eq!(format!("{copy:?}"), format!("{first:?}"));
    let row = staff.by_name().last_name("Jones").department("Sales").first().unwrap().unwrap();
    assert_eq!(
        (Eventual::as_of(&row), &*row.email, row.key()),
        (Stored::etag(&first), "1@contoso.com", Key::of(&*first))
    );
    // A change that touches one of its copies alone leaves the others as of the version that they are.
    staff.update(Employee::key("Sales", 1), |e| e.skills.0.push("c".into())).unwrap();
    let then = staff.get(Employee::by_email("1@contoso.com", "Sales", 1)).unwrap().unwrap();
    assert_eq!(Eventual::as_of(&then), Stored::etag(&first));
    store.propagate().unwrap();
    let second = staff.get(Employee::key("Sales", 1)).unwrap().unwrap();
    let now = staff.get(Employee::by_email("1@contoso.com", "Sales", 1)).unwrap().unwrap();
    assert_eq!((Eventual::as_of(&now), now == *second), (Stored::etag(&second), true));
}

#[test]
fn entities_leave_out_what_no_longer_belongs() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 4, "Jones")).unwrap();
    staff.insert(&employee("Sales", 5, "Jones")).unwrap();
    store.propagate().unwrap();
    staff.delete(Employee::key("Legal", 2)).unwrap();
    staff.update(Employee::key("Sales", 1), |e| e.last_name = "Hall".into()).unwrap();
    staff.update(Employee::key("Sales", 4), |e| e.age = 50).unwrap();
    let rows: Vec<_> = staff.by_name().last_name("Jones").into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(rows, [2, 1, 4, 5]);
    let jones = || staff.by_name().last_name("Jones").entities();
    let ids: Vec<_> = jones().into_iter().map(|e| (e.as_ref().unwrap().id, e.unwrap().age)).collect();
    assert_eq!(ids, [(4, 50), (5, 30)]);
    // What is left out does not count.
    assert_eq!(jones().count().unwrap(), 2);
    assert_eq!(jones().first().unwrap().unwrap().id, 4);
    assert_eq!(jones().top(1).into_iter().count(), 1);
    assert_eq!(jones().top(2).into_iter().count(), 2);
    assert!(jones().exists().unwrap());
    let page = jones().page(3, None).unwrap();
    assert_eq!(page.entities.iter().map(|e| e.id).collect::<Vec<_>>(), [4]);
    let page = jones().page(3, page.next.as_ref()).unwrap();
    assert_eq!((page.entities.iter().map(|e| e.id).collect::<Vec<_>>(), page.next), (vec![5], None));
    // Sparse: the function says no by now.
    staff.update(Employee::key("Sales", 5), |e| e.is_inside = false).unwrap();
    let badges = staff.by_badge().badge(5).entities();
    assert_eq!(badges.into_iter().count(), 0);
    assert!(!staff.by_name().last_name("Hall").department("Sales").id(1).entities().exists().unwrap());
    store.propagate().unwrap();
    assert!(staff.by_name().last_name("Hall").department("Sales").id(1).entities().exists().unwrap());
}

#[test]
fn a_plan_shows_what_follows_and_a_schema_when() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    store.propagate().unwrap();
    let plan = staff.egt(Employee::partition("Sales")).update(Employee::key("Sales", 1), |e| {
        e.last_name = "Hill".into();
    });
    let plan = plan.explain().unwrap();
    let text = plan.to_string();
    assert!(
        text.contains(
            "later put    `Sales_000001` in partition `name_Hill` of `Names`  the employee's copy for by_name"
        ),
        "{text}"
    );
    assert!(text.contains("later remove `Sales_000001` in partition `name_Jones` of `Names`"), "{text}");
    assert!(
        text.contains("later add to `Hill` in partition `surnames` of `Names`  the list of by_surname"),
        "{text}"
    );
    assert!(text.contains("later take from `Jones` in partition `surnames` of `Names`"), "{text}");
    assert!(plan.deferred().any(|row| row == ("Names", "name_Hill", "Sales_000001", true)));
    assert_eq!(plan.deferred().filter(|(.., comes)| !comes).count(), 2);
    assert_eq!(store.pending_propagation().unwrap().entities, 0);
    let drawn = Employee::SCHEMA.to_string();
    assert!(drawn.contains("employee.by_name, in table Names, eventual"), "{drawn}");
}

use table_core::Entity as _;

#[test]
fn sets_bulk_loads_and_store_transactions_keep_what_follows() {
    #[derive(EntitySet)]
    enum Company {
        #[expect(dead_code, reason = "it is read by its kind")]
        Employee(Employee),
    }
    let scratch = Scratch::new();
    let store = manual(&scratch);
    let staff = store.table::<Employee>().unwrap();
    let report = staff.bulk_insert((0..300).map(|id| employee("Bulk", id, &format!("n{}", id % 7)))).unwrap();
    assert_eq!((report.committed, report.failures.len()), (300, 0));
    let (ann, bob) = (employee("Sales", 1_000, "Ann"), employee("Legal", 1_001, "Bob"));
    store.egt::<Company>(Employee::partition("Sales")).insert(&ann).commit().unwrap();
    store.transaction().insert(&bob).delete(Employee::key("Bulk", 7)).commit().unwrap();
    let set = store.set::<Company>().unwrap();
    let change = table_core::DynamicEntity::new("Bulk", "empid_000008").with("LastName", "Set");
    set.merge_any(&change, IfMatch::Any).unwrap();
    assert_eq!(store.pending_propagation().unwrap().entities, 302);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(check(&store).unwrap().len(), 301);
    assert_eq!(staff.by_name().last_name("Set").count().unwrap(), 1);
    assert_sound(&store);
}

#[test]
fn a_copy_that_could_never_lie_where_it_is_to_is_refused_with_its_entity() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    for (name, kind) in [("a/b".to_owned(), ErrorKind::InvalidKey), ("x".repeat(600), ErrorKind::KeyTooLong)]
    {
        let error = staff.insert(&employee("Sales", 9, &name)).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(staff.get(Employee::key("Sales", 9)).unwrap().is_none());
    }
    // The keys are not too long each, but both together.
    let long = employee(&"d".repeat(400), 9, &"é".repeat(500));
    let long = Employee { skills: Texts(vec!["ü".repeat(500)]), ..long };
    let long = Employee { department: "ö".repeat(500), ..long };
    let error = staff.insert(&long).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyTooLong, "{error}");
    assert_eq!(store.pending_propagation().unwrap().entities, 3);
}

#[test]
fn other_executors_refuse_what_follows_by_name() {
    for executor in [Executor::Map, Executor::Service] {
        executor.run(|| {
            let tables = Scratch::new().tables();
            let staff = tables.table::<Employee>().unwrap();
            let error = staff.insert(&Employee { code: None, ..employee("Sales", 1, "Jones") }).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains("the ability `eventual`"), "{error}");
            assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
            for error in [
                tables.propagate().map(drop),
                tables.pending_propagation().map(drop),
                tables.retry_failed().map(drop),
            ] {
                assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
            }
        });
    }
}

#[test]
fn every_row_is_what_an_employee_implies() {
    let (_scratch, store) = company();
    store.propagate().unwrap();
    let rows: usize = check(&store).unwrap().iter().map(|employee| implied(employee).len()).sum();
    assert_eq!(rows, 3 * 8);
}

on_executors_with_jobs! {
    copies_follow_what_is_inserted_changed_moved_and_deleted
    what_changes_no_copy_leaves_nothing_to_be_done
    many_changes_before_one_propagation_leave_what_the_last_one_says
    a_row_that_follows_says_of_which_version_it_is
    entities_leave_out_what_no_longer_belongs
    a_plan_shows_what_follows_and_a_schema_when
    sets_bulk_loads_and_store_transactions_keep_what_follows
    a_copy_that_could_never_lie_where_it_is_to_is_refused_with_its_entity
    every_row_is_what_an_employee_implies
}
