//! Answers that are lost: whatever message a connection is cut at, what was asked for happens once.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

mod support;

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use support::proxy::{Cut, Proxy};
use support::{options, server_at, server_port};
use table_core::Entity;
use table_postgres::PostgresTables;

#[derive(Clone, Debug, PartialEq, Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
struct Employee {
    department: String,
    id: u32,
    email: String,
    count: i64,
}

fn employee(id: u32) -> Employee {
    Employee { department: "Sales".into(), id, email: format!("{id}@example.com"), count: 0 }
}

/// Does a bit of everything, and checks that each has happened once.
fn work(tables: &PostgresTables, id: u32) {
    let staff = tables.table::<Employee>().unwrap();
    let key = || Employee::key("Sales", id);
    staff.insert(&employee(id)).unwrap();
    staff.update(key(), |employee| employee.count += 1).unwrap();
    staff
        .update(key(), |employee| {
            employee.count += 1;
            employee.email = format!("new{id}@example.com");
        })
        .unwrap();
    let found = staff.get(key()).unwrap().unwrap();
    assert_eq!((found.count, &*found.email), (2, &*format!("new{id}@example.com")));
    assert_eq!(staff.all().into_iter().filter(|row| row.as_ref().unwrap().id == id).count(), 1);
    staff.egt(Employee::partition("Sales")).insert(&employee(id + 1)).delete(key()).commit().unwrap();
    assert!(staff.get(key()).unwrap().is_none());
    staff.delete(Employee::key("Sales", id + 1)).unwrap();
}

#[test]
fn a_connection_may_be_cut_at_any_message() {
    let proxy = Proxy::begin(server_port());
    let tables = options().connect(&server_at(proxy.port)).unwrap();
    work(&tables, 0);
    proxy.stop();
    let mut runs = 0;
    for cut in [Cut::Before, Cut::Behind] {
        for message in 0.. {
            proxy.cut_at(message, cut);
            work(&tables, 10);
            if proxy.stop() == 0 {
                break;
            }
            runs += 1;
        }
    }
    println!("{runs} cuts");
    assert!(runs > 60, "{runs}");
}

#[test]
fn eight_threads_lose_nothing_and_do_nothing_twice() {
    const ADDS: u32 = 50;
    let proxy = Proxy::begin(server_port());
    let tables = options().connect(&server_at(proxy.port)).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..4 {
        staff.insert(&employee(id)).unwrap();
    }
    proxy.cut_one_in(150, 7);
    let done = AtomicU32::new(0);
    thread::scope(|scope| {
        for at in 0..8 {
            let (staff, done) = (&staff, &done);
            scope.spawn(move || {
                for add in 0..ADDS {
                    let id = (at + add) % 4;
                    staff.update(Employee::key("Sales", id), |employee| employee.count += 1).unwrap();
                    staff.insert(&employee(1_000 + at * ADDS + add)).unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let cuts = proxy.stop();
    println!("{cuts} cuts");
    assert!(cuts > 10, "{cuts}");
    let all: Vec<_> = staff.all().into_iter().map(Result::unwrap).collect();
    assert_eq!(all.iter().map(|employee| employee.count).sum::<i64>(), i64::from(done.into_inner()));
    assert_eq!(all.len(), 4 + 8 * usize::try_from(ADDS).unwrap());
}
