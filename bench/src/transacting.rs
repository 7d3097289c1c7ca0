//! Store transactions: how long one of as many rows as there may be takes, and for how long others wait for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use table_core::{Durability, Store, limits};

use crate::measure::{count_of, nanoseconds};
use crate::place::Place;
use crate::{Arguments, Result, report};

/// Somebody, with no copy: an entity is a row.
#[derive(table_core::Entity)]
#[entity(table = "Company", kind = "employee")]
#[key(partition = "{department}", row = "empid_{id:010}")]
struct Employee {
    department: String,
    id: u32,
    email: String,
    salary: i64,
}

impl Employee {
    fn new(id: u32) -> Self {
        Self {
            department: format!("dept{:02}", id % 50),
            id,
            email: format!("{id}@contoso.com"),
            salary: i64::from(id % 977),
        }
    }
}

/// What one transaction took, and the longest time of another thread's insert meanwhile, and before.
#[derive(Clone, Copy)]
struct Found {
    took: Duration,
    waited: Duration,
    usual: Duration,
}

fn measured(store: &Store, round: u32) -> Result<Found> {
    let staff = store.table::<Employee>()?;
    let count = u32::try_from(limits::TRANSACTION_ROWS)?;
    let many: Vec<_> = (round * count..(round + 1) * count).map(Employee::new).collect();
    let (is_over, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<(Duration, Duration)> {
            let (mut waited, mut usual) = (Duration::ZERO, Duration::ZERO);
            let mut id = u32::MAX / 2 + round * 10_000_000;
            while !is_over.load(Ordering::Relaxed) {
                let (was_begun, begun) = (has_begun.load(Ordering::Relaxed), Instant::now());
                staff.insert(&Employee::new(id))?;
                id += 1;
                let longest =
                    if was_begun || has_begun.load(Ordering::Relaxed) { &mut waited } else { &mut usual };
                *longest = (*longest).max(begun.elapsed());
            }
            Ok((waited, usual))
        });
        thread::sleep(Duration::from_millis(50));
        let mut transaction = store.transaction();
        for employee in &many {
            transaction = transaction.insert(employee);
        }
        let begun = Instant::now();
        has_begun.store(true, Ordering::Relaxed);
        let done = transaction.commit();
        let took = begun.elapsed();
        is_over.store(true, Ordering::Relaxed);
        done?;
        let (waited, usual) = other.join().map_err(|_| "the other thread has failed")??;
        Ok(Found { took, waited, usual })
    })
}

pub(crate) fn run(_: &Arguments) -> Result<()> {
    println!("\n## A store transaction of {} rows", limits::TRANSACTION_ROWS);
    let place = Place::in_memory()?;
    report::machine(
        place.path(),
        "in memory; inserts into 50 partitions, beside a thread that inserts one by one; the median of nine",
    );
    println!("| | the transaction | a row of it | longest insert of others meanwhile | before it |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, durability) in [("relaxed", Durability::Relaxed), ("durable", Durability::Durable)] {
        let store = Store::options().durability(durability).map_size(1 << 30).open(place.join(name))?;
        let mut all = Vec::new();
        for round in 0..9 {
            all.push(measured(&store, round)?);
        }
        let median = |of: fn(&Found) -> Duration| {
            let mut times: Vec<_> = all.iter().map(of).collect();
            times.sort();
            times.get(times.len() / 2).copied().unwrap_or_default()
        };
        let took = median(|found| found.took);
        let row = nanoseconds(took) / count_of(u64::try_from(limits::TRANSACTION_ROWS)?) / 1e3;
        println!(
            "| {name} | {took:.1?} | {row:.1} µs | {:.1?} | {:.1?} |",
            median(|found| found.waited),
            median(|found| found.usual)
        );
    }
    Ok(())
}
