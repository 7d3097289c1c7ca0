//! Index lists: rows that list the entities of one value, kept by every change of those.

mod beside;
mod damaged;
mod declared;
mod long;
mod made;
mod random;

use integration_tests::executors::Executor;
use integration_tests::listed::{Employee, assert_listed, employee};
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::__executor::Abilities;
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Store};

#[test]
fn for_goes_through_the_entities_of_a_list() {
    let store = Store::temporary().unwrap();
    let staff = store.table::<Employee>().unwrap();
    for (id, name) in [(7, "Jones"), (3, "Jones"), (5, "Cao")] {
        staff.insert(&employee("Sales", id, name)).unwrap();
    }
    let jones = staff.list(Employee::by_last_name("Sales", "Jones")).unwrap();
    // As it was when the list was read, whatever becomes of it.
    staff.update(Employee::key("Sales", 7), |one| one.last_name = "Cao".into()).unwrap();
    let mut ids = Vec::new();
    for one in &jones {
        ids.push(one.unwrap().id);
    }
    assert_eq!(ids, [3, 7]);
    assert_eq!(jones.entities().map(|one| one.unwrap().id).collect::<Vec<_>>(), ids);
    let mut owned = jones.into_iter();
    assert_eq!(owned.next().unwrap().unwrap().id, 3);
    assert_eq!(owned.next().unwrap().unwrap().id, 7);
    assert!(owned.next().is_none() && owned.next().is_none());

    let snapshot = store.snapshot().unwrap();
    let at = staff.at(&snapshot);
    let cao = at.list(Employee::by_last_name("Sales", "Cao")).unwrap();
    assert_eq!((&cao).into_iter().map(|one| one.unwrap().id).collect::<Vec<_>>(), [5, 7]);
    assert_eq!(cao.into_iter().count(), 2);
    let mut found = 0;
    for one in staff.list(Employee::by_last_name("Sales", "Smith")).unwrap() {
        one.unwrap();
        found += 1;
    }
    assert_eq!(found, 0, "nobody is called so");
}

#[test]
fn every_change_of_an_entity_keeps_its_lists() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let mut ann = employee("Sales", 1, "Jones");
    let mut bob = Employee { team: Some("red".into()), ..employee("Sales", 2, "Jones") };
    staff.insert(&ann).unwrap();
    assert_listed(&store, std::slice::from_ref(&ann));
    staff.put(&bob).unwrap();
    assert_listed(&store, &[ann.clone(), bob.clone()]);
    staff.update(Employee::key("Sales", 1), |ann| ann.last_name = "Cao".into()).unwrap();
    ann.last_name = "Cao".into();
    staff
        .merge(Employee::key("Sales", 2), Employee::patch().team(Some("blue".into())), IfMatch::Any)
        .unwrap();
    bob.team = Some("blue".into());
    assert_listed(&store, &[ann.clone(), bob.clone()]);
    bob.skills = vec!["Rust".into(), "rust".into(), "SQL".into()];
    staff.replace(&bob, IfMatch::Any).unwrap();
    ann.skills = vec!["sql".into()];
    ann.team = Some("blue".into());
    staff.put(&ann).unwrap();
    assert_listed(&store, &[ann.clone(), bob.clone()]);
    staff.move_to(Employee::key("Sales", 2), |bob| (bob.id, bob.team) = (20, None)).unwrap();
    (bob.id, bob.team) = (20, None);
    assert_listed(&store, &[ann.clone(), bob.clone()]);
    assert!(staff.insert(&ann).is_err());
    assert!(staff.delete(Employee::key("Sales", 3)).is_err());
    let taken = Employee { email: bob.email.clone(), ..employee("Sales", 7, "Cao") };
    assert_eq!(staff.insert(&taken).unwrap_err().kind(), ErrorKind::UniqueConflict);
    assert_listed(&store, &[ann.clone(), bob.clone()]);

    // Several in one transaction are on the list together.
    let cleo = employee("Legal", 1, "Cao");
    store
        .transaction()
        .delete(Employee::key("Sales", 1))
        .insert(&Employee { department: "Legal".into(), id: 5, ..ann.clone() })
        .insert(&cleo)
        .update(Employee::key("Sales", 20), |bob| bob.last_name = "Smith".into())
        .commit()
        .unwrap();
    ann = Employee { department: "Legal".into(), id: 5, ..ann };
    bob.last_name = "Smith".into();
    assert_listed(&store, &[ann.clone(), bob.clone(), cleo.clone()]);
    let many: Vec<_> = (30..40).map(|id| employee("Legal", id, "Cao")).collect();
    let report = staff.bulk_insert(many.clone()).unwrap();
    assert!(report.failures.is_empty());
    let all: Vec<_> = [vec![ann, bob, cleo], many].concat();
    assert_listed(&store, &all);
    staff.delete_partition(Employee::partition("Legal")).unwrap().run().unwrap();
    assert_listed(&store, &all[1..2]);
    staff.delete(Employee::key("Sales", 20)).unwrap();
    assert_listed(&store, &[]);
    assert_sound(&store);
}

#[test]
fn two_entities_that_exchange_keys_in_one_batch_stay_on_their_lists() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let people: Vec<_> = (1..4).map(|id| employee("Sales", id, "Jones")).collect();
    staff.bulk_insert(people).unwrap().into_result().unwrap();
    let batch = || {
        staff
            .egt(Employee::partition("Sales"))
            .move_to(Employee::key("Sales", 3), |one| one.id = 4)
            .move_to(Employee::key("Sales", 2), |one| one.id = 3)
            .update(Employee::key("Sales", 1), |one| one.last_name = "Cao".into())
    };
    let explained = batch().explain().unwrap().to_string();
    assert!(explained.contains("add to  `last_Jones`  the list of by_last_name"), "{explained}");
    assert!(explained.contains("add to  `last_Cao`  the list of by_last_name"), "{explained}");
    batch().commit().unwrap();
    let jones = staff.list(Employee::by_last_name("Sales", "Jones")).unwrap();
    let ids: Vec<_> = jones.entities().map(|one| one.unwrap().id).collect();
    assert_eq!(ids, [3, 4]);
    assert!(staff.check().unwrap().is_sound());
    let gone = staff.egt(Employee::partition("Sales")).delete(Employee::key("Sales", 1));
    let explained = gone.explain().unwrap().to_string();
    assert!(explained.contains("take from `last_Cao`  the list of by_last_name"), "{explained}");
}

#[test]
fn a_list_is_read_in_one_snapshot() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.bulk_insert((1..4).map(|id| employee("Sales", id, "Jones"))).unwrap().into_result().unwrap();
    let snapshot = store.snapshot().unwrap();
    let list = staff.list(Employee::by_last_name("Sales", "Jones")).unwrap();
    staff.delete(Employee::key("Sales", 1)).unwrap();
    staff.update(Employee::key("Sales", 2), |one| one.last_name = "Cao".into()).unwrap();
    let names = |one: table_core::Result<table_core::Stored<Employee>>| one.unwrap().last_name.clone();
    assert_eq!(list.entities().map(names).collect::<Vec<_>>(), ["Jones", "Jones", "Jones"]);
    let then = staff.at(&snapshot).list(Employee::by_last_name("Sales", "Jones")).unwrap();
    assert_eq!((then.len(), then.entities().filter(Result::is_ok).count()), (3, 3));
    assert_eq!(staff.list(Employee::by_last_name("Sales", "Jones")).unwrap().len(), 1);
    assert!(staff.list(Employee::by_last_name("Sales", "Smith")).unwrap().is_empty());
    let explained = then.explain().unwrap().to_string();
    assert!(
        explained.contains("point read of \"Sales\"") && explained.contains("point read of each entity"),
        "{explained}"
    );
    // A value that no key holds is an error.
    let refused = staff.list(Employee::by_last_name("Sales", "a/b")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidKey, "{refused}");
}

#[test]
fn a_list_is_not_written_by_hand() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee("Sales", 1, "Jones")).unwrap();
    let mine = DynamicEntity::new("Sales", "last_Jones")
        .with("EntityType", "employee.by_last_name")
        .with("Ids", "7");
    for refused in [
        staff.dynamic().put(&mine).map(drop),
        staff.dynamic().merge(&mine, IfMatch::Any).map(drop),
        staff.dynamic().delete("Sales", "last_Jones").map(drop),
    ] {
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::DeclaredKind);
    }
    assert_listed(&store, &[employee("Sales", 1, "Jones")]);
}

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Clubs", kind = "member")]
#[key(partition = "{club}", row = "member_{year:04}_{id:06}")]
#[index_list(by_city, row = "city_{city}_{year:04}", of = id, name = living_in)]
struct Member {
    club: String,
    year: u16,
    id: u32,
    city: String,
}

/// What an executor can do with a list: as the service it can't add to a row, and says so before anything is written.
fn members_of_a_city_are_listed() {
    let scratch = Scratch::new();
    let store = scratch.tables();
    let members = store.table::<Member>().unwrap();
    let member = |id, city: &str| Member { club: "Chess".into(), year: 2024, id, city: city.into() };
    let done = members.insert(&member(1, "Bern"));
    let bern = || members.list(Member::living_in("Chess", "Bern", 2024_u16));
    if !Executor::of_test().abilities().additions {
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(
            error.to_string().contains("`additions`") && error.to_string().contains("list `by_city`"),
            "{error}"
        );
        assert!(bern().unwrap().is_empty());
        assert_eq!(members.rows().across_partitions().count().unwrap(), 0);
        return;
    }
    done.unwrap();
    members.insert(&member(2, "Bern")).unwrap();
    members.update(Member::key("Chess", 2024_u16, 1), |one| one.city = "Oslo".into()).unwrap();
    members.insert(&member(3, "Bern")).unwrap();
    members.delete(Member::key("Chess", 2024_u16, 2)).unwrap();
    let found: Vec<_> = bern().unwrap().entities().map(|one| one.unwrap().id).collect();
    assert_eq!(found, [3]);
    assert_eq!(members.list(Member::living_in("Chess", "Oslo", 2024_u16)).unwrap().len(), 1);
    members.delete(Member::key("Chess", 2024_u16, 3)).unwrap();
    assert!(bern().unwrap().is_empty());
}

#[test]
fn a_list_is_kept_on_lmdb() {
    members_of_a_city_are_listed();
}

on_other_executors! {
    members_of_a_city_are_listed
    every_change_of_an_entity_keeps_its_lists_elsewhere
}

/// The part of the changes that needs no job and no other place.
fn every_change_of_an_entity_keeps_its_lists_elsewhere() {
    // The list of a team is in another table.
    let Abilities { additions, groups, .. } = Executor::of_test().abilities();
    if !additions || !groups {
        return;
    }
    let scratch = Scratch::new();
    let store = scratch.tables();
    let staff = store.table::<Employee>().unwrap();
    let mut people = Vec::new();
    for id in 0..20 {
        let mut one = employee("Sales", id, ["Jones", "Cao"][id as usize % 2]);
        one.skills = vec![format!("s{}", id % 3)];
        one.team = (id % 4 == 0).then(|| "red".into());
        staff.insert(&one).unwrap();
        people.push(one);
    }
    assert_listed(&store, &people);
    for id in 0..10 {
        staff.delete(Employee::key("Sales", id)).unwrap();
    }
    assert_listed(&store, &people[10..]);
}
