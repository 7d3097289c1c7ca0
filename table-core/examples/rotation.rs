//! What a rotation takes: the job that seals anew, the count of what is left, and the destruction of keys:
//! `cargo run --release -p table-core --features encrypt --example rotation [ENTITIES] [KEYS]`.

#![allow(clippy::print_stdout, reason = "the figures are this program's output")]

use std::sync::Arc;
use std::time::Instant;

use table_core::crypt::{KeyScope, MemoryKeys, Scope};
use table_core::{Entity, Store, ValueRef};

#[derive(Entity)]
#[entity(table = "Payroll", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{name}_{id:08}", copy(salary))]
struct Employee {
    department: String,
    id: u32,
    name: String,
    email: String,
    #[encrypt]
    ssn: String,
    #[encrypt]
    salary: i64,
}

fn employee(id: u32) -> Employee {
    Employee {
        department: format!("department {:03}", id % 100),
        id,
        name: format!("name {}", id % 1_000),
        email: format!("{id}@contoso.com"),
        ssn: "078-05-1120".into(),
        salary: 90_000,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |usual| arguments.next().map_or(Ok(usual), |text| text.parse::<u32>());
    let (entities, keys) = (number(100_000)?, number(20_000)?);
    let dir = tempfile::tempdir()?;
    let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(dir.path().join("store"))?;
    let (staff, encryption) = (store.table::<Employee>()?, store.encryption()?);
    staff.bulk_insert((0..entities).map(employee))?.into_result()?;
    println!("{entities} entities of three rows, two values sealed in each");

    encryption.rotate(&Scope::store())?;
    let (begun, mut slowest) = (Instant::now(), 0.0_f64);
    let mut job = staff.reencrypt()?;
    loop {
        let step = Instant::now();
        if !job.step()? {
            break;
        }
        slowest = slowest.max(step.elapsed().as_secs_f64());
    }
    let seconds = begun.elapsed().as_secs_f64();
    println!(
        "reencrypt      {:8.2} us an entity; the slowest step {:.1} ms",
        seconds * 1e6 / f64::from(entities),
        slowest * 1e3
    );

    let begun = Instant::now();
    staff.reencrypt()?.run()?;
    println!("nothing to do  {:8.2} us an entity", begun.elapsed().as_secs_f64() * 1e6 / f64::from(entities));

    let begun = Instant::now();
    let counts = store.sealed_values()?;
    println!(
        "sealed_values  {:8.2} us an entity, {} keys",
        begun.elapsed().as_secs_f64() * 1e6 / f64::from(entities),
        counts.len()
    );

    let texts: Vec<String> = (0..keys).map(|number| format!("partition {number}")).collect();
    for text in &texts {
        let cell = staff.dynamic().cell(text, "row", "Ssn")?.scoped(KeyScope::Partition);
        encryption.seal(&cell, ValueRef::Int64(7))?;
    }
    let begun = Instant::now();
    encryption.shred(&staff.dynamic().partition_key_scope(texts.first().map_or("", |text| text))?)?;
    println!("shred          {:8.2} ms beside {keys} keys", begun.elapsed().as_secs_f64() * 1e3);
    Ok(())
}
