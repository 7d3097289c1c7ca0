//! What the server's plans say of the statements of reads and changes: each finds its rows by their keys, however large the table.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use support::options;
use support::server::Server;
use table_core::{Entity, Table};

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
    let (name, email) = (format!("name{:03}", id % 1_000), format!("{id}@example.com"));
    Employee { department: "Sales".into(), id, name, email }
}

fn key(id: u32) -> table_core::Key<Employee> {
    Employee::key("Sales", id)
}

/// Does each sort of read and change, at this place.
fn work(staff: &Table<Employee>, at: u32) {
    staff.get(key(at)).unwrap().unwrap();
    staff.get(Employee::by_email("Sales", format!("{at}@example.com"))).unwrap().unwrap();
    assert_eq!(staff.rows().department("Sales").id(at..at + 100).into_iter().count(), 100);
    let name = format!("name{:03}", at % 1_000);
    assert!(staff.by_name().department("Sales").name(name).into_iter().count() > 10);
    staff.update(key(at), |employee| employee.email.push('x')).unwrap();
    staff.update(key(at + 1), |employee| employee.name.push('x')).unwrap();
    staff.insert(&employee(200_000 + at)).unwrap();
    staff.put(&employee(at + 2)).unwrap();
    staff.delete(key(at + 3)).unwrap();
    // Few rows are values of a statement, and many are arrays.
    for count in [2, 10] {
        let of = || at + 10 * count..at + 11 * count;
        let egt = staff.egt(Employee::partition("Sales"));
        of().fold(egt, |egt, id| egt.delete(key(id))).commit().unwrap();
        let all: Vec<_> = of().map(employee).collect();
        let mut egt = staff.egt(Employee::partition("Sales"));
        for one in &all {
            egt = egt.insert(one);
        }
        egt.commit().unwrap();
    }
}

/// A plan that the server has written to its log: the statement, and the lines of what it did.
struct Explained {
    statement: String,
    lines: Vec<String>,
}

/// Returns the plans of statements about the rows of the first table, from what the server has logged.
fn explained(log: &str) -> Vec<Explained> {
    let mut all = Vec::new();
    for entry in log.split(" plan:\n").skip(1) {
        // A line of the log that continues one begins with a tab.
        let lines: Vec<_> = entry.lines().take_while(|line| line.starts_with('\t')).collect();
        let plan = lines.iter().position(|line| line.contains("(cost=")).unwrap_or(lines.len());
        let (statement, plan) = lines.split_at(plan);
        let statement = statement.join("\n");
        if statement.contains("rows_1") {
            all.push(Explained { statement, lines: plan.iter().map(|line| (*line).to_owned()).collect() });
        }
    }
    all
}

#[test]
fn plans_name_the_primary_key() {
    let server = Server::new(0);
    server.start_with(&[
        "shared_preload_libraries=auto_explain".into(),
        "auto_explain.log_min_duration=0".into(),
        "fsync=off".into(),
    ]);
    let tables = options().connect(&server.address()).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    staff.bulk_insert((0..100_000).map(employee)).unwrap().into_result().unwrap();
    let loaded = std::fs::read_to_string(server.directory.join("log")).unwrap().len();
    // After some rounds the server plans no more, and takes one plan for all times.
    for round in 0..10 {
        work(&staff, 10_000 + round * 1_000);
    }
    let log = std::fs::read_to_string(server.directory.join("log")).unwrap();
    let all = explained(log.get(loaded..).unwrap());
    assert!(all.len() >= 10 * 15, "{}", all.len());
    let mut found = 0;
    for Explained { statement, lines } in &all {
        let plan = lines.join("\n");
        for (at, line) in lines.iter().enumerate() {
            if !line.contains(" on rows_1") || line.contains("Insert on") || line.contains("Update on") {
                continue;
            }
            if line.contains("Delete on") {
                continue;
            }
            let next = lines.get(at + 1).map_or("", |next| next.as_str());
            let by_key = line.contains("using rows_1_pkey on rows_1")
                && next.contains("Index Cond:")
                && next.contains("pk = ")
                && next.contains("rk");
            assert!(by_key, "{statement}\n{plan}");
            found += 1;
        }
    }
    // Each change finds what it changes, and each read what it gives.
    assert!(found >= 10 * 15, "{found}");
}
