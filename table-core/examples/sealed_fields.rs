//! What encrypted properties cost an entity: typed insert and get with none, one and three of them; and what it costs to
//! sign its rows.
//! `cargo run --release -p table-core --features encrypt --example sealed_fields [ENTITIES]`.
//!
//! The kinds take turns, round by round; a figure is the median of the rounds. Each entity has two rows, its own and a
//! whole copy, and a transaction of its own. With `TMPDIR` on a memory file system flushes are free.

#![allow(clippy::print_stdout, reason = "the figures are this program's output")]

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use table_core::crypt::MemoryKeys;
use table_core::{Entity, Store, Table};

const ROUNDS: usize = 15;

#[derive(Entity)]
#[entity(table = "Plain", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
struct Plain {
    department: String,
    id: u32,
    email: String,
    ssn: String,
    iban: String,
    salary: i64,
}

#[derive(Entity)]
#[entity(table = "One", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
struct One {
    department: String,
    id: u32,
    email: String,
    #[encrypt]
    ssn: String,
    iban: String,
    salary: i64,
}

#[derive(Entity)]
#[entity(table = "Three", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
struct Three {
    department: String,
    id: u32,
    email: String,
    #[encrypt]
    ssn: String,
    #[encrypt]
    iban: String,
    #[encrypt]
    salary: i64,
}

#[derive(Entity)]
#[entity(table = "Signed", kind = "employee", signed)]
#[key(partition = "{department}", row = "empid_{id:08}")]
#[index(by_email, row = "email_{email}", unique)]
struct Signed {
    department: String,
    id: u32,
    email: String,
    ssn: String,
    iban: String,
    salary: i64,
}

/// Inserts entities of these numbers, and reads them; nanoseconds for each.
type Round = Box<dyn Fn(std::ops::Range<u32>) -> table_core::Result<(f64, f64)>>;

fn timed(
    numbers: std::ops::Range<u32>,
    run: impl Fn(u32) -> table_core::Result<()>,
) -> table_core::Result<f64> {
    let count = f64::from(numbers.end - numbers.start);
    let begun = Instant::now();
    for number in numbers {
        run(number)?;
    }
    Ok(begun.elapsed().as_secs_f64() * 1e9 / count)
}

macro_rules! round {
    ($store:expr, $name:ident) => {{
        let table: Table<$name> = $store.table::<$name>()?;
        Box::new(move |numbers: std::ops::Range<u32>| {
            let made = |id| $name {
                department: "Sales".into(),
                id,
                email: format!("{id}@contoso.com"),
                ssn: "078-05-1120".into(),
                iban: "DE89 3704 0044 0532 0130 00".into(),
                salary: 90_000,
            };
            let staff: Vec<_> = numbers.clone().map(made).collect();
            let first = numbers.start;
            let of = |id: u32| usize::try_from(id - first).ok().and_then(|at| staff.get(at));
            let insert = timed(numbers.clone(), |id| of(id).map_or(Ok(()), |e| table.insert(e).map(drop)))?;
            let get = timed(numbers, |id| {
                let found = table.get($name::key("Sales", id))?;
                black_box(found.map(|e| e.ssn.len() + e.iban.len() + usize::from(e.salary == 0)));
                Ok(())
            })?;
            Ok((insert, get))
        })
    }};
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or_default()
}

fn main() -> Result<(), Box<dyn Error>> {
    let each = std::env::args().nth(1).map_or(Ok(2_000), |text| text.parse::<u32>())?;
    let dir = tempfile::tempdir()?;
    let store = Store::options().encryption(Arc::new(MemoryKeys::new()?)).open(dir.path().join("store"))?;
    let kinds: [(&str, Round); 4] = [
        ("0", round!(store, Plain)),
        ("0, signed", round!(store, Signed)),
        ("1", round!(store, One)),
        ("3", round!(store, Three)),
    ];
    let mut figures = vec![(Vec::new(), Vec::new()); kinds.len()];
    let mut first = 0;
    for _ in 0..ROUNDS {
        for ((_, round), (inserts, gets)) in kinds.iter().zip(&mut figures) {
            let (insert, get) = round(first..first + each)?;
            inserts.push(insert);
            gets.push(get);
        }
        first += each;
    }
    println!("encrypted properties   insert          get");
    for ((name, _), (inserts, gets)) in kinds.iter().zip(figures) {
        println!("{name:>20} {:>8.2} us {:>9.2} us", median(inserts) / 1e3, median(gets) / 1e3);
    }
    Ok(())
}
