//! Copies that follow: noted by the statement of the change, propagated by whatever process, and never lost.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use std::thread;
use std::time::{Duration, Instant};

use support::proxy::{Cut, Proxy};
use support::{schema, server, server_at, server_port};
use table_core::Entity;
use table_core::store::Propagate;
use table_core::typed::{Eventual, Propagation};
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{name}", row = "{department}_{id:06}", eventual)]
#[index_list(by_town, table = "Towns", partition = "towns", row = "{town}", of(department, id), eventual)]
struct Employee {
    department: String,
    id: u32,
    name: String,
    town: String,
}

fn employee(id: u32, name: &str) -> Employee {
    Employee { department: "Sales".into(), id, name: name.into(), town: format!("town{}", id % 3) }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

fn by_hand(schema: &str, address: &str) -> PostgresTables {
    PostgresTables::options().schema(schema).propagate(Propagate::Manual).connect(address).unwrap()
}

/// Makes sure that the copies are those of the entities, and nothing waits.
fn assert_followed(tables: &PostgresTables) {
    assert_eq!(tables.pending_propagation().unwrap().entities, 0);
    let staff = tables.table::<Employee>().unwrap();
    let mut all: Vec<_> = staff.all().into_iter().map(|one| (*one.unwrap()).clone()).collect();
    all.sort_by_key(|one| one.id);
    let names: std::collections::BTreeSet<_> = all.iter().map(|one| one.name.clone()).collect();
    let mut copies = Vec::new();
    for name in &names {
        copies.extend(staff.by_name().name(name).into_iter().map(Result::unwrap));
    }
    copies.sort_by_key(|one| one.id);
    assert_eq!(copies.iter().map(|one| (**one).clone()).collect::<Vec<_>>(), all);
    let rows = |table: &str| {
        let rows = tables.dynamic_table(table).unwrap();
        rows.query(&table_core::Query::new()).unwrap().count()
    };
    assert_eq!(rows("Names"), all.len());
    let towns: std::collections::BTreeSet<_> = all.iter().map(|one| one.town.clone()).collect();
    assert_eq!(rows("Towns"), towns.len());
}

#[test]
fn copies_follow_when_they_are_propagated_and_are_of_the_entitys_version() {
    let tables = by_hand(&schema(), &server());
    let staff = tables.table::<Employee>().unwrap();
    let mut written = staff.insert(&employee(1, "Jones")).unwrap();
    staff.insert(&employee(2, "Hall")).unwrap();
    assert_eq!(staff.by_name().name("Jones").into_iter().count(), 0);
    assert_eq!(tables.pending_propagation().unwrap().entities, 2);
    assert_eq!(tables.propagate().unwrap(), Propagation::Complete);
    let copy = staff.by_name().name("Jones").into_iter().next().unwrap().unwrap();
    assert_eq!(Eventual::as_of(&copy), written);
    assert_followed(&tables);

    // Several changes are one entry, and the last one counts.
    for name in ["Smith", "Hill", "Jones"] {
        staff.update(key(1), |one| one.name = name.into()).unwrap();
    }
    staff.delete(key(2)).unwrap();
    assert_eq!(tables.pending_propagation().unwrap().entities, 2);
    assert_eq!(staff.by_name().name("Hall").into_iter().count(), 1);
    assert_eq!(tables.propagate().unwrap(), Propagation::Complete);
    written = table_core::Stored::etag(&staff.get(key(1)).unwrap().unwrap());
    let copy = staff.by_name().name("Jones").into_iter().next().unwrap().unwrap();
    assert_eq!(Eventual::as_of(&copy), written);
    assert_followed(&tables);
}

#[test]
fn what_one_process_leaves_another_finds() {
    let schema = schema();
    let first = by_hand(&schema, &server());
    first.table::<Employee>().unwrap().insert(&employee(1, "Jones")).unwrap();
    drop(first);
    // It has a thread of its own, which begins when the kind is opened.
    let second = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let staff = second.table::<Employee>().unwrap();
    let begun = Instant::now();
    while staff.by_name().name("Jones").into_iter().count() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        thread::sleep(Duration::from_millis(20));
    }
    staff.insert(&employee(2, "Hall")).unwrap();
    while second.pending_propagation().unwrap().entities > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(20));
    }
    assert_followed(&second);
}

#[test]
fn tables_are_dropped_together_and_entries_go() {
    let tables = by_hand(&schema(), &server());
    let staff = tables.table::<Employee>().unwrap();
    staff.insert(&employee(1, "Jones")).unwrap();
    tables.propagate().unwrap();
    staff.insert(&employee(2, "Jones")).unwrap();
    tables.drop_tables(&["Company", "Names", "Towns"]).unwrap();
    tables.propagate().unwrap();
    assert_eq!(tables.pending_propagation().unwrap().entities, 0);
}

#[test]
fn writers_and_propagators_at_once_leave_what_the_entities_say() {
    let schema = schema();
    let tables = by_hand(&schema, &server());
    let staff = tables.table::<Employee>().unwrap();
    thread::scope(|scope| {
        for writer in 0..3 {
            let staff = &staff;
            scope.spawn(move || {
                for at in 0..20_u32 {
                    let id = (writer * 7 + at) % 10;
                    match at % 5 {
                        0..=2 => drop(staff.put(&employee(id, &format!("name{writer}_{at}"))).unwrap()),
                        3 => drop(staff.update(key(id), |one| one.town = "elsewhere".into())),
                        _ => drop(staff.delete(key(id))),
                    }
                }
            });
        }
        for _ in 0..2 {
            let schema = &schema;
            scope.spawn(move || {
                let other = by_hand(schema, &server());
                other.table::<Employee>().unwrap();
                for _ in 0..15 {
                    other.propagate().unwrap();
                }
            });
        }
    });
    while tables.propagate().unwrap() != Propagation::Complete {}
    assert_followed(&tables);
}

#[test]
fn a_change_with_copies_that_follow_is_one_statement() {
    let proxy = Proxy::begin(server_port());
    let tables = by_hand(&schema(), &server_at(proxy.port));
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..3 {
        staff.insert(&employee(id, "Jones")).unwrap();
    }
    proxy.round_trips();
    staff.insert(&employee(10, "Jones")).unwrap();
    let found = proxy.round_trips();
    assert!(found <= 1, "{found}");
}

#[test]
fn entries_bear_cuts_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let schema = schema();
    let tables = by_hand(&schema, &server_at(proxy.port));
    let staff = tables.table::<Employee>().unwrap();
    let work = |id: u32| {
        staff.insert(&employee(id, "Jones")).unwrap();
        while tables.propagate().unwrap() != Propagation::Complete {}
        staff.update(key(id), |one| one.name = "Hall".into()).unwrap();
        while tables.propagate().unwrap() != Propagation::Complete {}
        assert_followed(&tables);
        staff.delete(key(id)).unwrap();
        while tables.propagate().unwrap() != Propagation::Complete {}
        assert_followed(&tables);
    };
    work(0);
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in (0..300).step_by(3) {
            proxy.cut_at(message, cut);
            work(1);
            runs += 1;
            if proxy.stop() == 0 {
                break;
            }
        }
    }
    println!("{runs} cuts");
    assert!(runs > 20, "{runs}");
}
