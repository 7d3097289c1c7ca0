//! Index lists: rows that list the entities of one value, kept by every change of those.

mod beside;
mod damaged;
mod declared;
mod long;
mod made;
mod random;

use std::collections::BTreeMap;

use integration_tests::executors::Executor;
use integration_tests::{Scratch, assert_sound, on_other_executors};
use table_core::{DynamicEntity, Entity, ErrorKind, IfMatch, Query, Store, Tables};

/// Somebody who is found by a name that others have, too.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index_list(by_last_name, row = "last_{last_name}", of = id)]
#[index_list(by_skill, row = "skill_{skills[]:lower}", of = id)]
#[index_list(by_team, table = "Teams", partition = "all", row = "team_{team}", of(department, id), atomic)]
pub(crate) struct Employee {
    pub(crate) department: String,
    pub(crate) id: u32,
    pub(crate) email: String,
    pub(crate) last_name: String,
    #[property(json)]
    pub(crate) skills: Vec<String>,
    pub(crate) team: Option<String>,
}

pub(crate) fn employee(department: &str, id: u32, last_name: &str) -> Employee {
    Employee {
        department: department.into(),
        id,
        email: format!("{department}{id}@contoso.com"),
        last_name: last_name.into(),
        skills: Vec::new(),
        team: None,
    }
}

/// Where each list lies, its kind, and the keys that are on it, as (table, partition, row).
pub(crate) type Lists = BTreeMap<(String, String, String), Vec<(String, u32)>>;

/// What a plain look at the entities finds.
pub(crate) fn wanted(staff: &[Employee]) -> Lists {
    let mut lists = Lists::new();
    for one in staff {
        let mut put = |table: &str, partition: &str, row: String| {
            let ids = lists.entry((table.into(), partition.into(), row)).or_default();
            ids.push((one.department.clone(), one.id));
            ids.sort();
            ids.dedup();
        };
        put("Company", &one.department, format!("last_{}", one.last_name));
        for skill in &one.skills {
            put("Company", &one.department, format!("skill_{}", skill.to_lowercase()));
        }
        if let Some(team) = &one.team {
            put("Teams", "all", format!("team_{team}"));
        }
    }
    lists
}

/// What the rows of the lists say, read by their properties.
pub(crate) fn stored(store: &Tables) -> Lists {
    let mut lists = Lists::new();
    for table in ["Company", "Teams"] {
        for row in store.dynamic_table(table).unwrap().query(&Query::new()).unwrap() {
            let row = row.unwrap();
            let text = |name: &str| row.get(name).and_then(|value| value.as_str()).map(str::to_owned);
            let Some(ids) = text("Ids") else { continue };
            let kind = text("EntityType").unwrap();
            assert!(
                ["by_last_name", "by_skill", "by_team"].iter().any(|name| kind == format!("employee.{name}"))
            );
            let ids = ids.split(',').map(|id| match id.split_once(';') {
                Some((department, id)) => (department.to_owned(), id.parse().unwrap()),
                None => (row.partition_key().to_owned(), id.parse().unwrap()),
            });
            lists.insert((table.into(), row.partition_key().into(), row.row_key().into()), ids.collect());
        }
    }
    lists
}

/// The lists say what a plain look finds, the typed reads give the entities, and a check agrees.
pub(crate) fn assert_listed(store: &Tables, staff: &[Employee]) {
    let wanted = wanted(staff);
    assert_eq!(stored(store), wanted);
    let table = store.table::<Employee>().unwrap();
    for ((_, partition, row), ids) in &wanted {
        let (list, value) = row.split_once('_').unwrap();
        let key = match list {
            "last" => Employee::by_last_name(&**partition, value),
            "skill" => Employee::by_skill(&**partition, value),
            _ => Employee::by_team(value),
        };
        let list = table.list(key).unwrap();
        assert_eq!(list.len(), ids.len());
        let found: Vec<_> = list.entities().map(Result::unwrap).collect();
        for (found, (department, id)) in found.iter().zip(ids) {
            let one = staff.iter().find(|one| (&one.department, one.id) == (department, *id)).unwrap();
            assert_eq!(&**found, one);
        }
        for (key, (department, id)) in list.keys().zip(ids) {
            assert!(key == Employee::key(&**department, *id));
        }
    }
    if Executor::of_test() == Executor::Lmdb {
        let report = table.check().unwrap();
        assert!(report.is_sound(), "{report}: {:?}", report.problems);
        assert_eq!(report.lists, wanted.len() as u64);
    }
}

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
    if Executor::of_test() == Executor::Service {
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
    if Executor::of_test() == Executor::Service {
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
