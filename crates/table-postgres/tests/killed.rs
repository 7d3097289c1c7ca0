//! Servers and their processes that are killed under load: nothing that was acknowledged is lost, and nothing happens twice.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test that fails panics"
)]

mod support;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use support::options;
use support::server::Server;
use table_core::{Entity, Table};

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

const THREADS: u32 = 4;

/// Inserts and counts until it is told to end; returns how many employees it has inserted, and how often it has counted.
fn load(staff: &Table<Employee>, at: u32, ends: &AtomicBool, done: &AtomicU32) -> (u32, i64) {
    let (mut inserted, mut counted) = (0, 0);
    while !ends.load(Ordering::Relaxed) {
        let id = 10 + at * 100_000 + inserted;
        let (department, email) = ("Sales".to_owned(), format!("{id}@example.com"));
        staff.insert(&Employee { department, id, email, count: 0 }).unwrap();
        inserted += 1;
        staff.update(Employee::key("Sales", inserted % 3), |employee| employee.count += 1).unwrap();
        counted += 1;
        done.fetch_add(1, Ordering::Relaxed);
    }
    (inserted, counted)
}

fn is_sound(staff: &Table<Employee>, inserted: u32, counted: i64) {
    let all: Vec<_> = staff.all().into_iter().map(Result::unwrap).collect();
    assert_eq!(all.len(), usize::try_from(inserted).unwrap() + 3);
    assert_eq!(all.iter().map(|employee| employee.count).sum::<i64>(), counted);
    for employee in all.iter().step_by(50) {
        let copy = staff.get(Employee::by_email("Sales", &employee.email)).unwrap().unwrap();
        assert_eq!((copy.id, copy.count), (employee.id, employee.count));
    }
}

/// Has kills come under load, so many, each when some work was done since the last one.
fn under_load(address: &str, kills: u32, kill: impl Fn(u32)) {
    let tables = options().connect(address).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..3 {
        let (department, email) = ("Sales".to_owned(), format!("{id}@example.com"));
        staff.insert(&Employee { department, id, email, count: 0 }).unwrap();
    }
    let (ends, done) = (AtomicBool::new(false), AtomicU32::new(0));
    let (inserted, counted) = thread::scope(|scope| {
        let load = |at| {
            let (staff, ends, done) = (&staff, &ends, &done);
            scope.spawn(move || load(staff, at, ends, done))
        };
        let threads: Vec<_> = (0..THREADS).map(load).collect();
        for number in 0..kills {
            let (before, until) = (done.load(Ordering::Relaxed), Instant::now() + Duration::from_secs(60));
            while done.load(Ordering::Relaxed) < before + 20 && Instant::now() < until {
                thread::sleep(Duration::from_millis(u64::from(number % 7)));
            }
            kill(number);
        }
        ends.store(true, Ordering::Relaxed);
        let all = threads.into_iter().map(|thread| thread.join().unwrap());
        all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    });
    println!("{kills} kills, {inserted} inserts, {counted} counts");
    is_sound(&staff, inserted, counted);
}

/// Returns how many kills there are: few, unless the tests run long.
fn kills(few: u32, many: u32) -> u32 {
    let is_long = std::env::var("TABLE_POSTGRES_LONG").is_ok_and(|long| !long.is_empty());
    if is_long { many } else { few }
}

#[test]
fn what_a_server_has_acknowledged_is_there_after_it_was_killed() {
    let server = Server::begin(0);
    under_load(&server.address(), kills(3, 50), |_| {
        server.kill();
        server.start();
    });
    under_load(&server.address(), kills(6, 200), |number| {
        let until = Instant::now() + Duration::from_secs(60);
        while !server.kill_a_child(number) {
            assert!(Instant::now() < until, "no process serves a connection");
            thread::sleep(Duration::from_millis(20));
        }
    });
}

#[test]
fn a_standby_takes_over_and_has_all_that_was_acknowledged() {
    let servers = [Server::begin(1), Server::new(2)];
    let [primary, standby] = &servers;
    standby.follow(primary);
    let longest = Mutex::new(Vec::new());
    under_load(&primary.address_with(standby), kills(2, 20), |number| {
        let (primary, standby) = if number % 2 == 0 { (primary, standby) } else { (standby, primary) };
        let begun = Instant::now();
        primary.kill();
        standby.promote();
        primary.follow(standby);
        longest.lock().unwrap().push(begun.elapsed());
    });
    println!("fail-overs took {:?}", longest.into_inner().unwrap());
}
