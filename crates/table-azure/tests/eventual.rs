//! Copies that follow their entities, on this project's own server and on the emulator. `lossy` has them where requests are lost.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside their functions")]

#[path = "support/server.rs"]
mod server;

use std::thread;
use std::time::Duration;

use table_azure::client::Operation;
use table_azure::{AzureOptions, AzureTables};
use table_core::store::Propagate;
use table_core::typed::{Eventual, Propagation};
use table_core::{DynamicEntity, Entity, ErrorKind, Query, Table};

use self::server::{Own, connection};

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_name, table = "Names", partition = "{last_name}", row = "{department}_{id:06}", eventual)]
struct Employee {
    department: String,
    id: u32,
    last_name: String,
}

fn employee(id: u32, last_name: &str) -> Employee {
    Employee { department: "Sales".into(), id, last_name: last_name.into() }
}

fn manual(server: &Own) -> AzureTables {
    AzureOptions::new().propagate(Propagate::Manual).connect(&connection(server.address)).unwrap()
}

/// Returns the names under which the copy of an employee lies.
fn names(staff: &Table<Employee>, id: u32) -> Vec<&'static str> {
    let is_there = |name: &&str| staff.get(Employee::by_name(*name, "Sales", id)).unwrap().is_some();
    ["Jones", "Smith", "Brown"].into_iter().filter(is_there).collect()
}

#[test]
fn copies_follow_when_they_are_asked_to_and_say_as_of_what() {
    let server = Own::start();
    follow(&manual(&server));
}

/// The emulator's answers differ in small things.
#[test]
fn copies_follow_on_the_emulator() {
    let Ok(emulator) = std::env::var("TABLE_AZURE_EMULATOR") else {
        println!("==== `TABLE_AZURE_EMULATOR` names no emulator: NOTHING IS TESTED ON IT ====");
        return;
    };
    let run = std::env::var("TABLE_AZURE_PREFIX").unwrap_or_default();
    let prefix = format!("{run}E{}x", std::process::id());
    follow(&AzureOptions::new().propagate(Propagate::Manual).prefix(&prefix).connect(&emulator).unwrap());
}

fn follow(store: &AzureTables) {
    let staff = store.table::<Employee>().unwrap();
    let written = staff.insert(&employee(1, "Jones")).unwrap();
    assert_eq!(names(&staff, 1), [""; 0]);
    assert_eq!(store.pending_propagation().unwrap().entities, 1);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    let copy: Eventual<Employee> = staff.get(Employee::by_name("Jones", "Sales", 1)).unwrap().unwrap();
    assert_eq!((copy.id, Eventual::as_of(&copy)), (1, written));
    // It moves, twice before anybody looks, and goes.
    for name in ["Smith", "Brown"] {
        staff.update(Employee::key("Sales", 1), |employee| employee.last_name = name.into()).unwrap();
    }
    assert_eq!(names(&staff, 1), ["Jones"]);
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(names(&staff, 1), ["Brown"]);
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(names(&staff, 1), [""; 0]);
    // And is there again, under a name that it had.
    staff.insert(&employee(1, "Jones")).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!((names(&staff, 1), store.pending_propagation().unwrap().entities), (vec!["Jones"], 0));
    assert_eq!(staff.by_name().last_name("Jones").count().unwrap(), 1);
}

#[test]
fn no_read_shows_what_is_noted() {
    let server = Own::start();
    let store = manual(&server);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1, "Jones")).unwrap();
    store.propagate().unwrap();
    staff.update(Employee::key("Sales", 1), |employee| employee.last_name = "Smith".into()).unwrap();
    let (company, others) = (store.dynamic_table("Company").unwrap(), store.dynamic_table("Names").unwrap());
    let rows: Vec<_> = company.query(&Query::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.iter().map(DynamicEntity::row_key).collect::<Vec<_>>(), ["empid_000001"]);
    assert!(rows.iter().all(|row| row.properties().all(|(name, _)| !name.starts_with("Tc"))));
    assert_eq!(company.page(&Query::new(), 1, None).unwrap().entities.len(), 1);
    assert!(company.get("Sales", "TcOutbox~empid_000001").unwrap().is_none());
    store.propagate().unwrap();
    assert!(others.get("Jones", "Sales_000001").unwrap().is_none());
    assert_eq!(others.query(&Query::new()).unwrap().count(), 1);
}

#[test]
fn a_thread_of_the_process_that_writes_brings_copies_up_to_date() {
    let server = Own::start();
    let store = AzureTables::connect(&connection(server.address)).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for id in 0..20 {
        staff.insert(&employee(id, "Jones")).unwrap();
    }
    let is_there = || staff.by_name().last_name("Jones").count().unwrap() == 20;
    // A minute, which is far more than it takes.
    assert!((0..6_000).any(|_| is_there() || {
        thread::sleep(Duration::from_millis(10));
        false
    }));
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
}

/// A process that has died has left notes, which another finds that goes over the tables.
#[test]
fn another_process_finds_what_one_has_left() {
    let server = Own::start();
    manual(&server).table::<Employee>().unwrap().insert(&employee(1, "Jones")).unwrap();
    let other = manual(&server);
    assert_eq!(other.pending_propagation().unwrap().unknown_kinds, ["employee"]);
    let incomplete = other.propagate().unwrap();
    assert!(matches!(incomplete, Propagation::Incomplete { .. }), "{incomplete:?}");
    let staff = other.table::<Employee>().unwrap();
    assert_eq!(other.propagate().unwrap(), Propagation::Complete);
    assert_eq!(names(&staff, 1), ["Jones"]);
}

#[test]
fn a_batch_has_room_for_what_is_noted() {
    let server = Own::start();
    let store = manual(&server);
    let staff = store.table::<Employee>().unwrap();
    let all: Vec<_> = (0..34).map(|id| employee(id, "Jones")).collect();
    let batch = |count| {
        all.iter().take(count).fold(staff.egt(Employee::partition("Sales")), table_core::typed::Egt::insert)
    };
    let refused = batch(34).commit().unwrap_err();
    assert!(refused.to_string().contains("102 rows"), "{refused}");
    assert!(staff.get(Employee::key("Sales", 0)).unwrap().is_none());
    batch(33).commit().unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(staff.by_name().last_name("Jones").count().unwrap(), 33);
}

/// What is wrong with a copy's key is told when the entity is written, and nothing is.
#[test]
fn a_copy_under_a_key_that_is_none_is_refused_with_its_entity() {
    let server = Own::start();
    let staff = manual(&server).table::<Employee>().unwrap();
    let error = staff.insert(&employee(1, &"a".repeat(600))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::KeyTooLong, "{error}");
    assert!(staff.get(Employee::key("Sales", 1)).unwrap().is_none());
}

/// Tombstones go when they are old, and with them the versions of entities that are gone; the version of one that is there stays.
#[test]
fn old_tombstones_go() {
    let server = Own::start();
    let options = || AzureOptions::new().propagate(Propagate::Manual);
    let store = options().keep_tombstones(Duration::ZERO).connect(&connection(server.address)).unwrap();
    let staff = store.table::<Employee>().unwrap();
    for id in [1, 2] {
        staff.insert(&employee(id, "Jones")).unwrap();
        staff.update(Employee::key("Sales", id), |employee| employee.last_name = "Smith".into()).unwrap();
    }
    staff.delete(Employee::key("Sales", 1)).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    // The first call looks for tombstones before it makes them.
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!(raw_keys(&store, "Names"), ["Sales_000002"]);
    assert_eq!(raw_keys(&store, "Company"), ["TcVersion~empid_000002", "empid_000002"]);
    staff.insert(&employee(1, "Jones")).unwrap();
    assert_eq!(store.propagate().unwrap(), Propagation::Complete);
    assert_eq!((names(&staff, 1), names(&staff, 2)), (vec!["Jones"], vec!["Smith"]));
}

/// Returns the row keys of all rows of a table, as the service has them.
fn raw_keys(store: &AzureTables, table: &str) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(store.client().page(table, &table_azure::client::PageRequest::default()));
    page.unwrap().entities.iter().map(|row| row.row_key().to_owned()).collect()
}

/// An entry that can't be read is told to be damaged, and holds nothing else up.
#[test]
fn an_entry_that_is_damaged_is_told() {
    let server = Own::start();
    let store = manual(&server);
    let staff = store.table::<Employee>().unwrap();
    staff.insert(&employee(1, "Jones")).unwrap();
    let body = br#"{"PartitionKey":"Sales","RowKey":"TcOutbox~empid_000001","TcRow":"outbox"}"#.to_vec();
    let broken = [Operation::replace("TcOutbox~empid_000001", None, body)];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(store.client().execute("Company", "Sales", &broken)).unwrap();
    assert_eq!(store.propagate().unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(staff.get(Employee::key("Sales", 1)).unwrap().unwrap().last_name, "Jones");
}
