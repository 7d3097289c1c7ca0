//! Measures reads and changes while a table grows, on the server that `TABLE_POSTGRES` names: flat but for the depth of the
//! server's index.
//!
//! `ROWS` lists the numbers of entities, each of which has three rows; `MILLIS` says for how long each call is repeated.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "it measures")]

use std::time::{Duration, Instant};

use table_core::{Entity, Table};
use table_postgres::PostgresTables;
use tokio::runtime::Builder;
use tokio_postgres::NoTls;

const DEPARTMENTS: u32 = 20;
const STEP: u32 = 50_000;

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

/// Returns how long a call takes on the average, of numbers below this one at random.
fn measure(span: Duration, below: u32, call: impl Fn(u32)) -> f64 {
    let mut state = 1_u64;
    let (begun, mut calls) = (Instant::now(), 0);
    while begun.elapsed() < span {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        call(u32::try_from((state >> 33) % u64::from(below)).unwrap());
        calls += 1;
    }
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(calls)
}

fn measure_all(staff: &Table<Employee>, rows: u32, span: Duration) {
    let of_range = rows - 100 * DEPARTMENTS;
    let get = measure(span, rows, |id| {
        assert_eq!(staff.get(Employee::key(department(id), id)).unwrap().unwrap().id, id);
    });
    let by_email = measure(span, rows, |id| {
        let found = staff.get(Employee::by_email(department(id), format!("e{id}@contoso.com")));
        assert_eq!(found.unwrap().unwrap().id, id);
    });
    let range = measure(span, of_range, |id| {
        let found = staff.rows().department(department(id)).id(id..id + 100 * DEPARTMENTS).into_iter();
        assert_eq!(found.filter(|row| row.as_ref().unwrap().age > 0).count(), 100);
    });
    let change = measure(span, rows, |id| {
        staff.update(Employee::key(department(id), id), |one| one.first_name.push('x')).unwrap();
    });
    println!("{rows:>9} {get:>9.0} {by_email:>9.0} {range:>9.0} {change:>9.0}");
}

fn main() {
    let variable = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
    let address = variable("TABLE_POSTGRES", "postgres://postgres@127.0.0.1:5432/postgres");
    let span = Duration::from_millis(variable("MILLIS", "2000").parse().unwrap());
    let schema = format!("growth_{}", std::process::id());
    let tables = PostgresTables::options().schema(&schema).connect(&address).unwrap();
    let staff = tables.table::<Employee>().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (client, connection) = runtime.block_on(tokio_postgres::connect(&address, NoTls)).unwrap();
    runtime.spawn(connection);
    println!("us       get  by email  range 100  change");
    let mut there = 0;
    for rows in variable("ROWS", "100000 1000000").split(' ').map(|rows| rows.parse::<u32>().unwrap()) {
        let (begun, before) = (Instant::now(), there);
        while there < rows {
            let next = rows.min(there + STEP);
            staff.bulk_insert((there..next).map(employee)).unwrap().into_result().unwrap();
            there = next;
        }
        let rate = f64::from(rows - before) / begun.elapsed().as_secs_f64();
        // As the server does by itself some time after a load.
        runtime.block_on(client.batch_execute("VACUUM ANALYZE")).unwrap();
        measure_all(&staff, rows, span);
        println!("          loaded with {rate:.0} entities a second");
    }
    drop(staff);
    drop(tables);
    runtime.block_on(client.batch_execute(&format!("DROP SCHEMA {schema} CASCADE"))).unwrap();
}
