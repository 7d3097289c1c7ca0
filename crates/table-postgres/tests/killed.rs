//! Servers and their processes that are killed under load: nothing that was acknowledged is lost, and nothing happens twice.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a test that fails panics"
)]

mod support;

use std::io::Write;
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

/// A time that something took.
#[derive(Clone, Copy)]
struct Span {
    begun: Instant,
    ended: Instant,
}

impl Span {
    /// Returns the time that a call takes.
    fn of<T>(call: impl FnOnce() -> T) -> Self {
        let begun = Instant::now();
        drop(call());
        Self { begun, ended: Instant::now() }
    }

    fn length(self) -> Duration {
        self.ended - self.begun
    }

    fn overlaps(self, other: Self) -> bool {
        self.begun < other.ended && other.begun < self.ended
    }
}

/// What a client has done.
#[derive(Default)]
struct Client {
    inserted: u32,
    counted: i64,
    /// The time until each answer.
    waits: Vec<Span>,
}

/// Inserts and counts until it is told to end.
fn load(staff: &Table<Employee>, at: u32, ends: &AtomicBool, done: &AtomicU32) -> Client {
    let mut client = Client::default();
    while !ends.load(Ordering::Relaxed) {
        let id = 10 + at * 100_000 + client.inserted;
        let (department, email) = ("Sales".to_owned(), format!("{id}@example.com"));
        let employee = Employee { department, id, email, count: 0 };
        client.waits.push(Span::of(|| staff.insert(&employee).unwrap()));
        client.inserted += 1;
        let key = Employee::key("Sales", client.inserted % 3);
        client.waits.push(Span::of(|| staff.update(key, |employee| employee.count += 1).unwrap()));
        client.counted += 1;
        done.fetch_add(1, Ordering::Relaxed);
    }
    client
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

/// Has kills come under load, so many, each when some work was done since the last one. Returns what the clients have done.
fn under_load(address: &str, kills: u32, kill: impl Fn(u32)) -> Vec<Client> {
    let tables = options().connect(address).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    for id in 0..3 {
        let (department, email) = ("Sales".to_owned(), format!("{id}@example.com"));
        staff.insert(&Employee { department, id, email, count: 0 }).unwrap();
    }
    let (ends, done) = (AtomicBool::new(false), AtomicU32::new(0));
    let clients: Vec<_> = thread::scope(|scope| {
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
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let inserted = clients.iter().map(|client| client.inserted).sum();
    let counted = clients.iter().map(|client| client.counted).sum();
    say(&format!("{kills} kills, {inserted} inserts, {counted} counts"));
    is_sound(&staff, inserted, counted);
    clients
}

fn is_long() -> bool {
    std::env::var("TABLE_POSTGRES_LONG").is_ok_and(|long| !long.is_empty())
}

/// Returns how many kills there are: few, unless the tests run long.
fn kills(few: u32, many: u32) -> u32 {
    if is_long() { many } else { few }
}

/// Prints a line; where the tests run long it is shown even if they pass, which `println` is not.
fn say(line: &str) {
    if is_long() {
        std::io::stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
    } else {
        println!("{line}");
    }
}

/// Returns the shortest, the median and the longest of some times, for people.
fn spread(mut times: Vec<Duration>) -> String {
    times.sort_unstable();
    let [shortest, .., longest] = &times[..] else { return format!("{times:.2?}") };
    format!("{shortest:.2?} to {longest:.2?}, median {:.2?}", times[times.len() / 2])
}

/// A standby that took over.
struct FailOver {
    /// From the kill until the server that was killed followed as the standby.
    whole: Span,
    promoted: Instant,
}

/// Prints of each fail-over how long it took, and the longest time that each client has waited for an answer then.
fn say_waits(fail_overs: &[FailOver], clients: &[Client]) {
    let mut all = Vec::new();
    for (at, FailOver { whole, promoted }) in fail_overs.iter().enumerate() {
        let longest = |client: &Client| {
            let then = client.waits.iter().filter(|wait| wait.overlaps(*whole));
            then.map(|wait| wait.length()).max()
        };
        let waits: Vec<_> = clients.iter().filter_map(longest).collect();
        let (promoted, took) = (*promoted - whole.begun, whole.length());
        all.extend_from_slice(&waits);
        say(&format!(
            "fail-over {}: promoted after {promoted:.2?}, a standby again after {took:.2?}; clients waited {}",
            at + 1,
            spread(waits)
        ));
    }
    let took = fail_overs.iter().map(|fail_over| fail_over.whole.length()).collect();
    say(&format!("{} fail-overs took {}; clients waited {}", fail_overs.len(), spread(took), spread(all)));
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
    let fail_overs = Mutex::new(Vec::new());
    let clients = under_load(&primary.address_with(standby), kills(2, 20), |number| {
        let (primary, standby) = if number % 2 == 0 { (primary, standby) } else { (standby, primary) };
        let begun = Instant::now();
        primary.kill();
        standby.promote();
        let promoted = Instant::now();
        primary.follow(standby);
        let whole = Span { begun, ended: Instant::now() };
        fail_overs.lock().unwrap().push(FailOver { whole, promoted });
    });
    say_waits(&fail_overs.into_inner().unwrap(), &clients);
}
