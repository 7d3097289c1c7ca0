//! What calls cost the server: round trips, and rows that are found by their keys.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use std::process::Command;

use support::proxy::Proxy;
use support::{schema, server, server_at, server_port};
use table_core::Entity;
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:06}")]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
}

fn employee(id: u32) -> Employee {
    let (name, email) = (format!("name{:03}", id % 100), format!("{id}@example.com"));
    Employee { department: "Sales".into(), id, name, email }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

#[test]
fn calls_take_no_more_round_trips_than_they_must() {
    let proxy = Proxy::begin(server_port());
    let tables = PostgresTables::options().schema(schema()).connect(&server_at(proxy.port)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..200 {
        staff.insert(&employee(id)).unwrap();
    }
    let read = |count: usize| {
        assert_eq!(
            staff.rows().department("Sales").id(0..u32::try_from(count).unwrap()).into_iter().count(),
            count
        );
    };
    let mut next = 1_000;
    let mut new = || {
        next += 1;
        employee(next)
    };
    // The statements are prepared the first time.
    for round in 0..2 {
        let costs = |what: &str, most: u64, run: &mut dyn FnMut()| {
            proxy.round_trips();
            run();
            (what.to_owned(), most, proxy.round_trips())
        };
        let (one, pair, put) = (new(), [new(), new()], new());
        let all = [
            costs("get", 1, &mut || drop(staff.get(key(1)).unwrap().unwrap())),
            costs("get by address", 1, &mut || {
                staff.get(Employee::by_email("Sales", "1@example.com")).unwrap().unwrap();
            }),
            costs("a range of 100", 1, &mut || read(100)),
            costs("a range of 200", 2, &mut || read(200)),
            costs("a range by an index", 1, &mut || {
                assert_eq!(staff.by_name().department("Sales").name("name007").into_iter().count(), 2);
            }),
            costs("insert", 1, &mut || {
                staff.insert(&one).unwrap();
            }),
            costs("a refused insert", 2, &mut || drop(staff.insert(&one).unwrap_err())),
            costs("two inserts", 1, &mut || {
                let [first, second] = &pair;
                staff.egt(Employee::partition("Sales")).insert(first).insert(second).commit().unwrap();
            }),
            costs("put", 2, &mut || {
                staff.put(&put).unwrap();
            }),
            costs("change", 2, &mut || {
                staff.update(key(2), |employee| employee.email = format!("new{}", one.email)).unwrap();
            }),
            costs("delete", 2, &mut || {
                staff.delete(key(one.id)).unwrap();
            }),
        ];
        if round > 0 {
            for (what, most, found) in all {
                // The end of a transaction that has read is sent behind its answer, and waited for by nobody.
                assert!(found <= most + 1, "{what}: {found} and not {most}");
            }
        }
    }
}

#[test]
fn rows_are_found_by_their_keys_whatever_the_server_takes_a_table_to_be() {
    let schema = schema();
    let tables = PostgresTables::options().schema(&schema).connect(&server()).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    // Prepared while the table is empty, as of a program that is started first.
    for _ in 0..10 {
        assert!(staff.get(key(1)).unwrap().is_none());
    }
    let work = |from: u32| {
        for id in from..from + 50 {
            staff.insert(&employee(id)).unwrap();
            staff.get(key(id)).unwrap().unwrap();
            staff.get(Employee::by_email("Sales", format!("{id}@example.com"))).unwrap().unwrap();
            staff.update(key(id), |employee| employee.name = "other".into()).unwrap();
        }
        assert_eq!(staff.rows().department("Sales").id(from..from + 50).into_iter().count(), 50);
        assert!(staff.by_name().department("Sales").name("other").into_iter().count() >= 50);
        staff.delete(key(from)).unwrap();
        let numbers = [from + 1, from + 2, from + 3].map(employee);
        let egt = staff.egt(Employee::partition("Sales"));
        numbers.iter().fold(egt, |egt, one| egt.delete(key(one.id))).commit().unwrap();
    };
    work(0);
    // Then the server looks at it while it is small.
    support::execute(&format!("ANALYZE {schema}.rows_1"));
    work(100);
    support::execute(&format!("VACUUM ANALYZE {schema}.rows_1"));
    work(200);
    // Connections tell what they have counted when they end.
    drop(staff);
    drop(tables);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let sql = format!(
        "SELECT seq_scan, idx_scan > 500 FROM pg_stat_user_tables WHERE schemaname = '{schema}' AND relname = 'rows_1'"
    );
    let found = Command::new("psql").args([&*server(), "-Atc", &sql]).output().unwrap();
    // To analyse is to read the table as it lies.
    let found = String::from_utf8(found.stdout).unwrap();
    let (whole, by_key) = found.trim().split_once('|').unwrap();
    assert!(whole.parse::<u32>().unwrap() <= 3, "{found}");
    assert_eq!(by_key, "t", "{found}");
}
