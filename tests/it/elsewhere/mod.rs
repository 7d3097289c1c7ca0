//! Copies in other partitions and other tables than their entities, which come and go with them.

mod declared;
mod dropped;
mod mended;
mod renamed;
mod sealed;
mod states;

use std::sync::Barrier;

use integration_tests::elsewhere::{Employee, Worker, check, implied};
use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound};
use table_core::query::QueryClass;
use table_core::{DynamicEntity, EntitySet, ErrorKind, IfMatch, Query, Store, Stored, Tables};

fn employee(department: &str, id: u32, email: &str) -> Employee {
    Employee {
        department: department.into(),
        id,
        last_name: format!("n{}", id % 2),
        email: email.into(),
        badge: Some(id),
        is_inside: true,
        skills: vec!["b".into(), "a".into()],
        age: 30,
    }
}

/// Every row of the store's tables.
fn seen(store: &Tables) -> Vec<(String, DynamicEntity)> {
    let mut seen = Vec::new();
    for name in store.tables().unwrap() {
        for row in store.dynamic_table(&name).unwrap().query(&Query::new()).unwrap() {
            seen.push((name.clone(), row.unwrap()));
        }
    }
    seen
}

/// Three employees in two departments.
fn company() -> (Scratch, Tables) {
    let scratch = Scratch::new();
    let tables = scratch.tables();
    let staff = tables.table::<Employee>().unwrap();
    for (department, id) in [("Sales", 1), ("Legal", 2), ("Sales", 3)] {
        staff.insert(&employee(department, id, &format!("{id}@contoso.com"))).unwrap();
    }
    (scratch, tables)
}

/// The three employees in a store on LMDB.
fn company_on_lmdb() -> (Scratch, Store) {
    let (scratch, tables) = company();
    (scratch, Store::of(&tables).unwrap())
}

#[test]
fn copies_elsewhere_come_change_and_go_with_their_entity() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    assert_eq!(check(&store).unwrap().len(), 3);
    assert_eq!(seen(&store).len(), 3 * implied(&employee("Sales", 1, "")).len());
    staff
        .update(Employee::key("Sales", 1), |employee| {
            employee.last_name = "n7".into();
            employee.email = "new@contoso.com".into();
            employee.is_inside = false;
            employee.skills.truncate(1);
        })
        .unwrap();
    assert_eq!(check(&store).unwrap().len(), 3);
    staff.move_to(Employee::key("Legal", 2), |employee| employee.id = 20).unwrap();
    staff.merge(Employee::key("Sales", 3), Employee::patch().badge(None), IfMatch::Any).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(check(&store).unwrap().len(), 2);
    // What would be the same is not written at all.
    let before = seen(&store);
    let versions = |store: &Tables| {
        let rows = store.dynamic_table("Names").unwrap().query(&Query::new()).unwrap();
        rows.map(|row| row.unwrap().etag()).collect::<Vec<_>>()
    };
    let etags = versions(&store);
    staff.update(Employee::key("Legal", 20), |_| {}).unwrap();
    assert_eq!((seen(&store), versions(&store)), (before, etags));
    let report =
        staff.bulk_insert((0..50).map(|id| employee("Bulk", 100 + id, &format!("bulk{}", id % 40)))).unwrap();
    assert_eq!((report.committed, report.failures.len()), (40, 10));
    assert!(report.failures.iter().all(|failure| failure.error.kind() == ErrorKind::UniqueConflict));
    assert_eq!(check(&store).unwrap().len(), 42);
    assert_sound(&store);
}

#[test]
fn copies_elsewhere_are_found_by_key_by_range_and_page_by_page() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    // A point, in another partition and in another table.
    let found = staff.get(Employee::by_email("2@contoso.com")).unwrap().unwrap();
    assert_eq!((&*found.department, found.id), ("Legal", 2));
    assert_eq!(*found, *staff.get(Employee::key("Legal", 2)).unwrap().unwrap());
    let found = staff.get(Employee::by_badge(3)).unwrap().unwrap();
    assert_eq!(found.key(), Employee::key("Sales", 3));
    let found = staff.get(Employee::by_name("n1", "Sales", 3)).unwrap().unwrap();
    assert_eq!((&*found.email, found.key()), ("3@contoso.com", Employee::key("Sales", 3)));
    assert!(staff.get(Employee::by_email("4@contoso.com")).unwrap().is_none());
    assert!(staff.get(Employee::by_name("n0", "Sales", 3)).unwrap().is_none());
    let many =
        staff.get_many(["1", "9", "3"].map(|id| Employee::by_email(format!("{id}@contoso.com")))).unwrap();
    assert_eq!(many.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true]);

    // Ranges, in the order of the keys there.
    let ids = |rows: Vec<u32>| rows;
    let query = staff.by_name().last_name("n1");
    let explain = query.explain().unwrap();
    assert_eq!(explain.class(), QueryClass::PartitionScan);
    let found = query.clone().into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids(found), [1, 3]);
    let found =
        staff.by_name().last_name("n1").department("Sales").into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids(found), [1, 3]);
    let found = staff.by_badge().badge(2..).rev().into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids(found), [3, 2]);
    let found =
        staff.by_skill().department("Sales").skill("a").into_iter().map(|row| row.unwrap().id).collect();
    assert_eq!(ids(found), [1, 3]);
    assert_eq!(staff.by_name().across_partitions().count().unwrap(), 3);
    assert_eq!(staff.by_email().email(table_core::prefix("1")).count().unwrap(), 1);

    // The entities themselves, from another table in the same snapshot.
    let snapshot = store.snapshot().unwrap();
    staff.delete(Employee::key("Sales", 3)).unwrap();
    let at = staff.at(&snapshot);
    let entities: Vec<_> =
        at.by_name().last_name("n1").entities().into_iter().map(|e| e.unwrap().age).collect();
    assert_eq!(entities, [30, 30]);
    assert!(at.get(Employee::by_badge(3)).unwrap().is_some());
    assert!(staff.get(Employee::by_badge(3)).unwrap().is_none());
    let entities: Vec<_> = staff.by_badge().entities().into_iter().map(Result::unwrap).collect();
    assert_eq!(
        entities.iter().map(|e| (&*e.department, e.id)).collect::<Vec<_>>(),
        [("Sales", 1), ("Legal", 2)]
    );

    // Pages, and what continues them.
    let query = staff.by_badge();
    let first = query.page(1, None).unwrap();
    let second = query.page(1, first.next.as_ref()).unwrap();
    assert_eq!((first.entities[0].id, second.entities[0].id), (1, 2));
    let third = second.next.map(|next| query.page(1, Some(&next)).unwrap().entities.len());
    assert_eq!(third.unwrap_or_default(), 0);
    let refused = staff.by_name().across_partitions().page(1, first.next.as_ref()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidContinuation);
}

#[test]
fn what_is_unique_is_so_over_all_partitions() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    let before = seen(&store);
    let taken = staff.insert(&Employee { badge: None, ..employee("New", 9, "1@contoso.com") }).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::UniqueConflict);
    assert_eq!(
        taken.to_string(),
        "cannot insert into table `Company`, partition `all`, row `email_1@contoso.com`: another entity has this key in \
         the unique index `by_email`"
    );
    let taken = staff.update(Employee::key("Legal", 2), |employee| employee.badge = Some(3)).unwrap_err();
    assert_eq!(
        (taken.kind(), taken.table_name(), taken.row_key()),
        (ErrorKind::UniqueConflict, Some("Names"), Some("00003"))
    );
    let egt = staff.egt(Employee::partition("Sales"));
    let taken = egt
        .update(Employee::key("Sales", 1), |employee| employee.email = "x".into())
        .update(Employee::key("Sales", 3), |employee| employee.email = "x".into())
        .commit()
        .unwrap_err();
    assert_eq!((taken.kind(), taken.index()), (ErrorKind::UniqueConflict, Some(1)));
    assert_eq!(seen(&store), before);
    // Over partitions two exchange what is unique.
    let email = |email: &'static str| move |employee: &mut Employee| employee.email = email.into();
    store
        .transaction()
        .update(Employee::key("Sales", 1), email("2@contoso.com"))
        .update(Employee::key("Legal", 2), email("1@contoso.com"))
        .commit()
        .unwrap();
    assert_eq!(staff.get(Employee::by_email("1@contoso.com")).unwrap().unwrap().id, 2);
    check(&store).unwrap();
}

#[test]
fn of_many_who_claim_one_key_in_different_partitions_one_has_it() {
    const CLAIMANTS: u32 = 8;
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    for round in 0..20 {
        let barrier = Barrier::new(CLAIMANTS as usize);
        let won: Vec<bool> = std::thread::scope(|scope| {
            let claim = |id: u32| {
                let (barrier, staff) = (&barrier, &staff);
                scope.spawn(move || {
                    let email = format!("claim{round}");
                    let new = Employee { badge: None, ..employee(&format!("d{id}"), 1_000 + round, &email) };
                    barrier.wait();
                    match staff.insert(&new) {
                        Ok(_) => true,
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::UniqueConflict, "{error}");
                            false
                        }
                    }
                })
            };
            let claims: Vec<_> = (0..CLAIMANTS).map(claim).collect();
            claims.into_iter().map(|claim| claim.join().unwrap()).collect()
        });
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
    }
    assert_eq!(check(&store).unwrap().len(), 23);
}

#[test]
fn random_changes_leave_the_copies_that_the_entities_imply() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let mut worker = Worker::new(&store, 20_261_122).unwrap();
    for step in 0..1_500 {
        worker.step();
        if step % 25 == 0 {
            check(&store).unwrap();
        }
    }
    check(&store).unwrap();
    assert!(worker.done > 300, "{}", worker.done);
    // The same by several at one time.
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let mut worker = Worker::new(&store, seed).unwrap();
            scope.spawn(move || (0..200).filter(|_| worker.step()).count());
        }
    });
    check(&store).unwrap();
    assert_sound(&store);
}

#[derive(EntitySet)]
enum Company {
    Employee(Employee),
}

#[test]
fn a_set_keeps_the_copies_too_and_shows_none() {
    let (_scratch, store) = company();
    let set = store.set::<Company>().unwrap();
    let new = employee("Sales", 5, "5@contoso.com");
    set.egt(Employee::partition("Sales")).insert(&new).delete(Employee::key("Sales", 1)).commit().unwrap();
    store.egt::<Company>(Employee::partition("Sales")).delete(Employee::key("Sales", 3)).commit().unwrap();
    let by_name = DynamicEntity::new("Legal", "empid_000002")
        .with("EntityType", "employee")
        .with("Email", "any@contoso.com");
    set.merge_any(&by_name, IfMatch::Any).unwrap();
    let found = set.across_partitions().into_iter().map(|entity| match Stored::into_inner(entity.unwrap()) {
        Company::Employee(employee) => (employee.id, employee.email),
    });
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(2, "any@contoso.com".to_owned()), (5, "5@contoso.com".to_owned())]
    );
    assert_eq!(check(&store).unwrap().len(), 2);
}

#[test]
fn what_a_change_touches_elsewhere_is_explained() {
    let (_scratch, store) = company();
    let staff = store.table::<Employee>().unwrap();
    let new = Employee { badge: None, skills: Vec::new(), ..employee("Sales", 5, "5@contoso.com") };
    let explain = staff.egt(Employee::partition("Sales")).insert(&new).explain().unwrap();
    let places = [("Company", "Sales", 2), ("Names", "name_n1", 1), ("Company", "all", 1)];
    assert_eq!(explain.places().collect::<Vec<_>>(), places);
    let drawn = "4 of 10000 rows, all or none:\n\
                 in partition `Sales` of `Company`:\n  insert  `empid_000005`  the employee itself\n  \
                 insert  `age_030_000005`  its copy for by_age\n\
                 in partition `name_n1` of `Names`:\n  insert  `Sales_000005`  its copy for by_name\n\
                 in partition `all` of `Company`:\n  insert  `email_5@contoso.com`  its copy for by_email";
    assert_eq!(explain.to_string(), drawn);
}

/// The service has no transaction over partitions: it refuses such a change by the name of what it takes.
#[test]
fn the_service_refuses_it_by_its_name() {
    Executor::Service.run(|| {
        let scratch = Scratch::new();
        let store = scratch.tables();
        let staff = store.table::<Employee>().unwrap();
        let error = staff.insert(&employee("Sales", 1, "1@contoso.com")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.to_string().contains("takes the ability `groups`"), "{error}");
        assert!(seen(&store).is_empty());
    });
}

mod on_a_map {
    use super::Executor;

    #[test]
    fn copies_elsewhere_come_change_and_go_with_their_entity() {
        Executor::Map.run(super::copies_elsewhere_come_change_and_go_with_their_entity);
    }

    #[test]
    fn copies_elsewhere_are_found_by_key_by_range_and_page_by_page() {
        Executor::Map.run(super::copies_elsewhere_are_found_by_key_by_range_and_page_by_page);
    }

    #[test]
    fn what_is_unique_is_so_over_all_partitions() {
        Executor::Map.run(super::what_is_unique_is_so_over_all_partitions);
    }

    #[test]
    fn of_many_who_claim_one_key_in_different_partitions_one_has_it() {
        Executor::Map.run(super::of_many_who_claim_one_key_in_different_partitions_one_has_it);
    }

    #[test]
    fn random_changes_leave_the_copies_that_the_entities_imply() {
        Executor::Map.run(super::random_changes_leave_the_copies_that_the_entities_imply);
    }

    #[test]
    fn a_set_keeps_the_copies_too_and_shows_none() {
        Executor::Map.run(super::a_set_keeps_the_copies_too_and_shows_none);
    }

    #[test]
    fn what_a_change_touches_elsewhere_is_explained() {
        Executor::Map.run(super::what_a_change_touches_elsewhere_is_explained);
    }
}

integration_tests::on_executors_with_jobs! {
    copies_elsewhere_come_change_and_go_with_their_entity
    copies_elsewhere_are_found_by_key_by_range_and_page_by_page
    what_is_unique_is_so_over_all_partitions
    of_many_who_claim_one_key_in_different_partitions_one_has_it
    random_changes_leave_the_copies_that_the_entities_imply
    a_set_keeps_the_copies_too_and_shows_none
    what_a_change_touches_elsewhere_is_explained
}
