//! Measures the library beside SQL that is written by hand, in turns, on the server that `TABLE_POSTGRES` names.
//!
//! By hand there are no rows for copies, no times, no versions of structs and no answer for a change whose connection was lost;
//! both refuse a key and an address that are taken. `ROWS`, `MILLIS`, `ROUNDS` and `CONNECTIONS` set how much
//! is done, `ONLY` what. `ONLY=load` loads `ROWS` employees into an empty table, by the library and by `COPY`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    reason = "it measures"
)]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::{Entity, Table};
use table_postgres::PostgresTables;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, NoTls, Statement};

const DEPARTMENTS: u32 = 20;

#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:09}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:09}")]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    age: i32,
    email: String,
}

fn department(id: u32) -> String {
    format!("dept_{:02}", id % DEPARTMENTS)
}

fn employee(id: u32) -> Employee {
    Employee {
        department: department(id),
        id,
        first_name: format!("First{}", id % 97),
        last_name: format!("Last{:04}", id / DEPARTMENTS % 500),
        age: i32::try_from(20 + id % 50).unwrap(),
        email: format!("e{id}@contoso.com"),
    }
}

const SETUP: &str = "
    DROP TABLE IF EXISTS hand;
    CREATE TABLE hand (dept text COLLATE \"C\" NOT NULL, empid int NOT NULL, first text NOT NULL, last text NOT NULL,
        age int NOT NULL, email text COLLATE \"C\" NOT NULL, ver int NOT NULL DEFAULT 1, PRIMARY KEY (dept, empid));
    CREATE UNIQUE INDEX ON hand (dept, email);
    CREATE INDEX ON hand (dept, last, empid)";

const COLUMNS: &str = "SELECT dept, empid, first, last, age, email, ver FROM hand WHERE dept = $1 AND";

/// A connection with what is prepared on it.
struct Hand {
    runtime: Runtime,
    client: Client,
    get: Statement,
    by_email: Statement,
    range: Statement,
    insert: Statement,
    change: Statement,
}

impl Hand {
    fn connect(address: &str) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (client, connection) = runtime.block_on(tokio_postgres::connect(address, NoTls)).unwrap();
        runtime.spawn(connection);
        let prepare = |sql: &str| runtime.block_on(client.prepare(sql)).unwrap();
        let get = prepare(&format!("{COLUMNS} empid = $2"));
        let by_email = prepare(&format!("{COLUMNS} email = $2"));
        let range = prepare(&format!("{COLUMNS} empid >= $2 AND empid < $3 ORDER BY empid"));
        let insert = prepare(
            "INSERT INTO hand (dept, empid, first, last, age, email) VALUES ($1, $2, $3, $4, $5, $6)",
        );
        let change =
            prepare("UPDATE hand SET email = $3, ver = ver + 1 WHERE dept = $1 AND empid = $2 AND ver = $4");
        Self { runtime, client, get, by_email, range, insert, change }
    }

    /// Copies so many employees into the table.
    fn load(&self, rows: u32) {
        let types = [Type::TEXT, Type::INT4, Type::TEXT, Type::TEXT, Type::INT4, Type::TEXT];
        self.runtime.block_on(async {
            let sql = "COPY hand (dept, empid, first, last, age, email) FROM STDIN (FORMAT binary)";
            let mut writer =
                std::pin::pin!(BinaryCopyInWriter::new(self.client.copy_in(sql).await.unwrap(), &types));
            for id in 0..rows {
                let one = employee(id);
                let empid = i32::try_from(one.id).unwrap();
                let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                    [&one.department, &empid, &one.first_name, &one.last_name, &one.age, &one.email];
                writer.as_mut().write(&values).await.unwrap();
            }
            assert_eq!(writer.finish().await.unwrap(), u64::from(rows));
        });
    }

    fn run(&self, work: Work, id: u32, new: u32) {
        let (dept, empid) = (department(id), i32::try_from(id).unwrap());
        let client = &self.client;
        self.runtime.block_on(async {
            match work {
                Work::Get => {
                    let rows = client.query(&self.get, &[&dept, &empid]).await.unwrap();
                    assert_eq!(rows.first().unwrap().get::<_, i32>(1), empid);
                }
                Work::ByEmail => {
                    client.query(&self.by_email, &[&dept, &format!("e{id}@contoso.com")]).await.unwrap();
                }
                Work::Range => {
                    let to = empid + i32::try_from(100 * DEPARTMENTS).unwrap();
                    let rows = client.query(&self.range, &[&dept, &empid, &to]).await.unwrap();
                    let read = rows.iter().map(|row| Employee {
                        department: row.get(0),
                        id: row.get::<_, i32>(1).cast_unsigned(),
                        first_name: row.get(2),
                        last_name: row.get(3),
                        age: row.get(4),
                        email: row.get(5),
                    });
                    assert_eq!(read.filter(|employee| employee.age > 0).count(), 100);
                }
                Work::Insert => {
                    let new = employee(new);
                    let empid = i32::try_from(new.id).unwrap();
                    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                        [&new.department, &empid, &new.first_name, &new.last_name, &new.age, &new.email];
                    client.execute(&self.insert, &values).await.unwrap();
                }
                Work::Change => {
                    let rows = client.query(&self.get, &[&dept, &empid]).await.unwrap();
                    let version: i32 = rows.first().unwrap().get(6);
                    let email = format!("m{new}@contoso.com");
                    client.execute(&self.change, &[&dept, &empid, &email, &version]).await.unwrap();
                }
            }
        });
    }
}

fn set_up(address: &str) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (client, connection) = runtime.block_on(tokio_postgres::connect(address, NoTls)).unwrap();
    runtime.spawn(connection);
    runtime.block_on(client.batch_execute(SETUP)).unwrap();
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Get,
    ByEmail,
    Range,
    Insert,
    Change,
}

fn run(staff: &Table<Employee>, work: Work, id: u32, new: u32) {
    let dept = department(id);
    match work {
        Work::Get => assert_eq!(staff.get(Employee::key(&dept, id)).unwrap().unwrap().id, id),
        Work::ByEmail => {
            staff.get(Employee::by_email(&dept, format!("e{id}@contoso.com"))).unwrap();
        }
        Work::Range => {
            let rows = staff.rows().department(&dept).id(id..id + 100 * DEPARTMENTS).into_iter();
            assert_eq!(rows.filter(|row| row.as_ref().unwrap().age > 0).count(), 100);
        }
        Work::Insert => drop(staff.insert(&employee(new)).unwrap()),
        Work::Change => {
            staff.update(Employee::key(&dept, id), |e| e.email = format!("m{new}@contoso.com")).unwrap();
        }
    }
}

/// Returns a number below this one, from a state that goes on.
fn random(state: &AtomicU64, below: u32) -> u32 {
    let mut x = state.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((x >> 33) % u64::from(below)).unwrap()
}

fn variable(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

/// Returns how many MiB the process has in memory, and had at the most; 0 where the system does not say.
fn memory() -> [u64; 2] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ["VmRSS:", "VmHWM:"].map(|name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
        kibibytes.unwrap_or_default() / 1_024
    })
}

/// Loads so many employees by the library, and by `COPY`.
fn load(staff: &Table<Employee>, address: &str, rows: u32) {
    println!("{} MiB in memory", memory()[0]);
    let begun = Instant::now();
    let employees = (0..rows).map(|id| {
        if id > 0 && id % (rows / 5).max(1) == 0 {
            println!("{id} taken in: {} MiB in memory, {:.1} s", memory()[0], begun.elapsed().as_secs_f64());
        }
        employee(id)
    });
    let loaded = staff.bulk_insert(employees).unwrap().into_result().unwrap();
    let library = begun.elapsed().as_secs_f64();
    assert_eq!(loaded, u64::from(rows));
    println!("at the most {} MiB in memory", memory()[1]);
    let hand = Hand::connect(address);
    let begun = Instant::now();
    hand.load(rows);
    let by_hand = begun.elapsed().as_secs_f64();
    println!("{rows} rows: {library:.1} s, by hand {by_hand:.1} s, {:.2} times", library / by_hand);
}

fn main() {
    let address = variable("TABLE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres");
    let rows: u32 = variable("ROWS", "40000").parse().unwrap();
    let span = Duration::from_millis(variable("MILLIS", "300").parse().unwrap());
    let rounds: usize = variable("ROUNDS", "5").parse().unwrap();
    let schema = format!("by_hand_{}", std::process::id());
    let tables = PostgresTables::options().schema(schema).connect(&address).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    set_up(&address);
    if variable("ONLY", "") == "load" {
        return load(&staff, &address, rows);
    }
    thread::scope(|scope| {
        for part in 0..4 {
            let staff = &staff;
            scope.spawn(move || {
                for id in (0..rows).filter(|id| id % 4 == part) {
                    staff.insert(&employee(id)).unwrap();
                }
            });
        }
    });
    let hand = Hand::connect(&address);
    (0..rows).for_each(|id| hand.run(Work::Insert, id, id));
    hand.runtime.block_on(hand.client.batch_execute("VACUUM ANALYZE")).unwrap();
    let (next, seed) = (AtomicU32::new(rows), AtomicU64::new(1));
    for connections in variable("CONNECTIONS", "1 16").split(' ').map(|n| n.parse::<usize>().unwrap()) {
        let hands: Vec<_> = (0..connections).map(|_| Hand::connect(&address)).collect();
        for work in [Work::Get, Work::ByEmail, Work::Range, Work::Insert, Work::Change] {
            if !variable("ONLY", &format!("{work:?}")).contains(&format!("{work:?}")) {
                continue;
            }
            let mut times = [Vec::new(), Vec::new()];
            for round in 0..=rounds {
                for (engine, times) in times.iter_mut().enumerate() {
                    let done = AtomicU32::new(0);
                    let begun = Instant::now();
                    thread::scope(|scope| {
                        for hand in &hands {
                            let (staff, done, next, seed) = (&staff, &done, &next, &seed);
                            scope.spawn(move || {
                                while begun.elapsed() < span {
                                    let new = if matches!(work, Work::Insert | Work::Change) {
                                        next.fetch_add(1, Ordering::Relaxed)
                                    } else {
                                        0
                                    };
                                    let id = random(seed, rows - 100 * DEPARTMENTS);
                                    if engine == 0 {
                                        run(staff, work, id, new);
                                    } else {
                                        hand.run(work, id, new);
                                    }
                                    done.fetch_add(1, Ordering::Relaxed);
                                }
                            });
                        }
                    });
                    if round > 0 {
                        times.push(begun.elapsed().as_secs_f64() * 1e6 / f64::from(done.into_inner()));
                    }
                }
            }
            let [library, hand] = times.map(|mut times| {
                times.sort_by(f64::total_cmp);
                [times[times.len() / 2], times[0]]
            });
            println!(
                "{connections:>2} connections, {work:?}: {:.0} us, by hand {:.0} us, {:.2} times; the quickest rounds {:.0} \
                 and {:.0} us, {:.2} times",
                library[0],
                hand[0],
                library[0] / hand[0],
                library[1],
                hand[1],
                library[1] / hand[1]
            );
        }
    }
}
