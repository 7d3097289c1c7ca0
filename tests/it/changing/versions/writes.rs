//! Entities of a former version that are changed while a migration is under way, and what the former program can do then.

use integration_tests::Scratch;
use table_core::{ErrorKind, IfMatch, Stored};

use super::v2::Employee;
use super::{assert_converted, filled, first, key, second, v1};

#[test]
fn a_change_converts_the_entity_that_it_finds() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 700);
    let staff = store.table::<Employee>().unwrap();
    let job = store.migration::<Employee>().unwrap().steps().unwrap();

    let stored = staff.update(key(600), |e| e.last_name = "Jones".into()).unwrap();
    assert_eq!((&*stored.first_name, &*stored.last_name), ("Jun", "Jones"));
    staff.put(&Employee { age: 77, ..second(601) }).unwrap();
    let etag = Stored::etag(&staff.get(key(602)).unwrap().unwrap());
    staff.replace(&Employee { age: 78, ..second(602) }, etag).unwrap();
    let wrong = staff.replace(&second(602), etag).unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::ConditionNotMet, "{wrong}");
    staff.merge(key(603), Employee::patch().age(79), IfMatch::Any).unwrap();
    staff.delete(key(604)).unwrap();
    staff.move_to(key(605), |e| e.id = 5_000).unwrap();
    staff.insert(&second(6_000)).unwrap();
    assert_eq!(staff.insert(&second(606)).unwrap_err().kind(), ErrorKind::EntityAlreadyExists);
    assert_eq!(staff.get_or_insert(&second(607)).unwrap(), second(607));
    let mut both = staff.egt(Employee::partition("Sales"));
    both = both.update(key(608), |e| e.age = 1).delete(key(609));
    both.commit().unwrap();
    let added = second(6_001);
    let mut transaction = store.transaction();
    transaction = transaction.update(key(610), |e: &mut Employee| e.age = 2).insert(&added);
    transaction.commit().unwrap();
    staff.bulk_insert([second(6_002)]).unwrap().into_result().unwrap();

    let ages = [(601, 77), (602, 78), (603, 79), (608, 1), (610, 2)];
    let check = || {
        for (id, age) in ages {
            assert_eq!(staff.get(key(id)).unwrap().unwrap().age, age, "{id}");
        }
        assert_eq!(staff.get(key(604)).unwrap(), None);
        assert_eq!(staff.get(key(605)).unwrap(), None);
        assert_eq!(staff.get(key(5_000)).unwrap().unwrap().email, "605@contoso.com");
        assert_eq!(staff.all().count().unwrap(), 701);
    };
    check();
    job.run().unwrap();
    check();
    assert_converted(&store, 701);
    let found = staff.get(Employee::by_email("Sales", "605@contoso.com")).unwrap().unwrap();
    assert_eq!(found.id, 5_000);
    assert_eq!(staff.by_last_name().department("Sales").last_name("Jones").count().unwrap(), 1);
}

#[test]
fn a_converted_entity_keeps_its_version() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 5);
    let staff = store.table::<Employee>().unwrap();
    let before = staff.get(key(3)).unwrap().unwrap();
    store.migration::<Employee>().unwrap().run().unwrap();
    let after = staff.get(key(3)).unwrap().unwrap();
    assert_eq!(before, after);
    // A program that has read it before may write it after.
    staff.replace(&Employee { age: 9, ..second(3) }, Stored::etag(&before)).unwrap();
}

#[test]
fn the_former_program_writes_no_more_once_it_is_begun_and_misreads_nothing() {
    let scratch = Scratch::new();
    let store = filled(&scratch, 1_200);
    let older = store.table::<v1::Employee>().unwrap();
    let old_key = |id| v1::Employee::key("Sales", id);
    older.update(old_key(1), |e| e.age = 30).unwrap();
    let mut job = store.migration::<Employee>().unwrap().steps().unwrap();
    let refused = || {
        for error in [
            older.update(old_key(1_100), |e| e.age = 31).unwrap_err(),
            older.insert(&first(9_000)).unwrap_err(),
            older.put(&first(1_100)).unwrap_err(),
            older.delete(old_key(1_100)).unwrap_err(),
            older.all().count().unwrap_err(),
            older.rows().department("Sales").into_iter().next().unwrap().unwrap_err(),
            older.get(v1::Employee::by_email("Sales", "7@contoso.com")).unwrap_err(),
            older.by_age().department("Sales").count().unwrap_err(),
            older.get(old_key(9_000)).unwrap_err(),
            store.table::<v1::Employee>().unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
            assert!(error.to_string().contains("version 2"), "{error}");
        }
    };
    refused();
    // What is not converted yet it still reads, by its key.
    assert_eq!(older.get(old_key(1_100)).unwrap().unwrap(), first(1_100));
    let found = loop {
        job.step().unwrap();
        if let Err(error) = older.get(old_key(0)) {
            break error;
        }
    };
    assert_eq!(found.kind(), ErrorKind::LayoutChanged);
    assert_eq!(older.get(old_key(1_199)).unwrap().unwrap(), first(1_199));
    job.run().unwrap();
    refused();
    assert_eq!(older.get(old_key(1_100)).unwrap_err().kind(), ErrorKind::LayoutChanged);
    assert_converted(&store, 1_200);
}

#[test]
fn what_neither_version_knows_is_carried_along() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let badged = store.table::<super::Badged>().unwrap();
    for id in 0..4 {
        let v1::Employee { department, id, name, age, email } = first(id);
        badged
            .insert(&super::Badged { department, id, name, age, email, badge: Some(format!("b{id}")) })
            .unwrap();
    }
    let staff = store.table::<Employee>().unwrap();
    let job = store.migration::<Employee>().unwrap().steps().unwrap();
    staff.update(key(1), |e| e.age = 3).unwrap();
    job.run().unwrap();
    let company = store.dynamic_table("Company").unwrap();
    for id in 0..4 {
        let row = company.get("Sales", &format!("empid_{id:06}")).unwrap().unwrap();
        assert_eq!(row.get("Badge").and_then(|badge| badge.as_str()), Some(&*format!("b{id}")));
        assert!(row.get("Name").is_none() && row.get("FirstName").is_some());
    }
    assert_converted(&store, 4);
}

integration_tests::on_executors_with_jobs! {
    a_change_converts_the_entity_that_it_finds
    a_converted_entity_keeps_its_version
    the_former_program_writes_no_more_once_it_is_begun_and_misreads_nothing
    what_neither_version_knows_is_carried_along
}

integration_tests::on_azure! {
    a_change_converts_the_entity_that_it_finds
    what_neither_version_knows_is_carried_along
}
