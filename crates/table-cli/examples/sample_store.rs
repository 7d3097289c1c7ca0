//! Makes a store to look at: the kinds of the example programs, with what a store has on a bad day.
//!
//! `sample_store DIRECTORY [READINGS]`: employees with copies that disagree, sealed numbers, a queue with messages that nobody
//! could deal with, copies that are to follow, a job that was broken off, and so many readings of sensors.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use table_core::crypt::{MemoryKeys, Secret};
use table_core::store::Propagate;
use table_core::{Durability, DynamicEntity, Entity, IfMatch, Store, Ticks};

/// The employee as an earlier release has it, without the index by age.
mod before {
    use table_core::Entity;

    #[derive(Entity)]
    #[entity(table = "Company", kind = "employee")]
    #[key(partition = "{department}", row = "empid_{id:06}")]
    #[index(by_email, row = "email_{email}", unique)]
    #[index(by_name, row = "name_{last_name}_{id:06}", copy(email))]
    #[index(
        by_city,
        table = "Cities",
        partition = "{city}",
        row = "{department}_{id:06}",
        copy(last_name),
        eventual
    )]
    pub(super) struct Employee {
        pub(super) department: String,
        pub(super) id: u32,
        pub(super) first_name: String,
        pub(super) last_name: String,
        pub(super) email: String,
        pub(super) city: String,
        pub(super) age: u32,
        pub(super) salary: i64,
        pub(super) hired: table_core::Ticks,
        pub(super) remote: Option<bool>,
    }
}

#[derive(Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:06}")]
#[index(by_email, row = "email_{email}", unique)]
#[index(by_name, row = "name_{last_name}_{id:06}", copy(email))]
#[index(by_age, row = "age_{age:03}_{id:06}", copy = keys)]
#[index(
    by_city,
    table = "Cities",
    partition = "{city}",
    row = "{department}_{id:06}",
    copy(last_name),
    eventual
)]
struct Employee {
    department: String,
    id: u32,
    first_name: String,
    last_name: String,
    email: String,
    city: String,
    age: u32,
    salary: i64,
    hired: Ticks,
    remote: Option<bool>,
}

#[derive(Entity)]
#[entity(table = "Company", kind = "department")]
#[key(partition = "{name}", row = "department")]
struct Department {
    name: String,
    head_count: u32,
    floor: Option<i32>,
}

#[derive(Entity)]
#[entity(table = "Numbers", kind = "number")]
#[key(partition = "{company}", row = "empid_{id:04}")]
#[index(by_ssn, row = "ssn_{ssn:blind}", unique, copy = keys)]
struct Number {
    company: String,
    id: u32,
    #[encrypt(blind)]
    ssn: Secret<String>,
    #[encrypt]
    salary: i64,
    note: Option<String>,
}

#[derive(Entity)]
#[entity(table = "Readings", kind = "reading")]
#[key(partition = "sensor_{sensor:04}", row = "{number:010}")]
struct Reading {
    sensor: u32,
    number: u32,
    value: f64,
}

const DEPARTMENTS: [&str; 6] = ["Engineering", "Finance", "Legal", "Marketing", "Sales", "Support"];
const FIRST: [&str; 8] = ["Mia", "Jun", "Ann", "Bob", "Aylin", "Tom\u{e1}s", "Ken", "Noor"];
const LAST: [&str; 9] = ["Jones", "Kwok", "Hall", "Cao", "Garc\u{ed}a", "Smith", "Okafor", "Novak", "Weber"];
const CITIES: [&str; 5] = ["Basel", "Lisbon", "Nairobi", "Osaka", "Toronto"];

/// How many readings a sensor has.
const OF_ONE_SENSOR: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("sample_store DIRECTORY [READINGS]")?;
    let readings: u32 = arguments.next().map_or(Ok(2_000), |count| count.parse())?;
    let options = Store::options().durability(Durability::Relaxed).propagate(Propagate::Manual);
    let store = options.encryption(Arc::new(MemoryKeys::new()?)).open(directory)?;
    employees(&store)?;
    numbers(&store)?;
    notes(&store)?;
    queues(&store)?;
    store.table::<Reading>()?.bulk_insert((0..readings).map(reading))?.into_result()?;
    // A job that is broken off: the index by age.
    let staff = store.table::<Employee>()?;
    let mut job = staff.rebuild()?.steps_of(600);
    while job.progress().changed == 0 && job.step()? {}
    // Copies that disagree, and one that is gone: what writes leave that know of no copies.
    let raw = store.dynamic_table("Company")?.raw();
    raw.merge(
        &DynamicEntity::new("Sales", "name_Hall_001001").with("Email", "nobody@contoso.com"),
        IfMatch::Any,
    )?;
    raw.delete("Sales", "email_kwok.1000@contoso.com")?;
    raw.merge(
        &DynamicEntity::new("Engineering", "empid_000018").with("Email", "moved@contoso.com"),
        IfMatch::Any,
    )?;
    store.close()?;
    Ok(())
}

fn pick<'p>(from: &[&'p str], at: u32) -> &'p str {
    let at = usize::try_from(at).unwrap_or_default();
    from.get(at % from.len()).copied().unwrap_or_default()
}

fn employees(store: &Store) -> Result<(), Box<dyn Error>> {
    let hired: Ticks = "2019-03-01T08:00:00Z".parse()?;
    let employee = |id: u32| before::Employee {
        department: pick(&DEPARTMENTS, id / 250).into(),
        id,
        first_name: pick(&FIRST, id * 7).into(),
        last_name: pick(&LAST, id).into(),
        email: format!("{}.{id}@contoso.com", pick(&LAST, id).to_lowercase()),
        city: pick(&CITIES, id * 3).into(),
        age: 21 + id * 13 % 45,
        salary: 42_000 + i64::from(id * 977 % 90_000),
        hired: hired.checked_add(Duration::from_secs(u64::from(id) * 77_777)).unwrap_or(hired),
        remote: id.is_multiple_of(3).then_some(id.is_multiple_of(2)),
    };
    let staff = store.table::<before::Employee>()?;
    staff.bulk_insert((0..1_500).map(employee))?.into_result()?;
    store.propagate()?;
    for id in [7, 8, 9] {
        let key = before::Employee::key("Engineering", id);
        staff.update(key, |employee| employee.city = "Oslo".into())?;
    }
    let departments = store.table::<Department>()?;
    for (name, floor) in DEPARTMENTS.iter().zip(1..) {
        departments.insert(&Department { name: (*name).into(), head_count: 250, floor: Some(floor) })?;
    }
    Ok(())
}

fn numbers(store: &Store) -> Result<(), Box<dyn Error>> {
    let number = |id: u32| Number {
        company: "contoso".into(),
        id,
        ssn: format!("{:03}-{:02}-{:04}", 100 + id, id % 100, 1_000 + id).into(),
        salary: 50_000 + i64::from(id),
        note: id.is_multiple_of(4).then(|| "asked for a new card".to_owned()),
    };
    store.table::<Number>()?.bulk_insert((0..40).map(number))?.into_result()?;
    Ok(())
}

/// Rows of no declared kind, with values that a page must not take for its own.
fn notes(store: &Store) -> Result<(), Box<dyn Error>> {
    let notes = store.create_table_if_missing("Notes")?;
    let at: Ticks = "2026-05-04T12:00:00Z".parse()?;
    for (row, text) in [
        ("0001", "call the lab about the second delivery"),
        ("0002", "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"),
        ("0003", "a line\nand \"another\" & more"),
        ("<b>0004", "a key that looks like a page"),
    ] {
        let note =
            DynamicEntity::new("inbox", row).with("Text", text).with("At", at).with("Open", row != "0001");
        notes.put(&note.with("Size", 1.5).with("Raw", vec![0_u8, 159, 146, 150]))?;
    }
    let long = "It goes on and on, and no page should become wider for it. ".repeat(40);
    notes.put(&DynamicEntity::new("long", "0001").with("Text", long))?;
    Ok(())
}

fn queues(store: &Store) -> Result<(), Box<dyn Error>> {
    let hires = store.queue::<String>("hires")?.into_text();
    for id in 0..14 {
        hires.send(&format!("{{\"department\":\"{}\",\"id\":{id}}}", pick(&DEPARTMENTS, id)))?;
    }
    // Each is received once too often.
    let hasty = hires.max_dequeues(1);
    for received in hasty.receive_many(3, Duration::from_secs(60))? {
        received.fail("the badge printer does not answer: <timeout>", Duration::ZERO)?;
    }
    for received in hasty.receive_many(3, Duration::from_secs(60))? {
        received.delete()?;
    }
    let mails = store.queue::<String>("mails")?.into_text();
    mails.send(&"{\"to\":\"mia@contoso.com\"}".to_owned())?;
    mails.pause()?;
    Ok(())
}

fn reading(at: u32) -> Reading {
    let (sensor, number) = (at / OF_ONE_SENSOR, at % OF_ONE_SENSOR);
    Reading { sensor, number, value: f64::from(at * 31 % 977) / 10.0 }
}
