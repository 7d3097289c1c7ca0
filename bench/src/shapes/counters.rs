//! One slot of one entity, counted by several threads: added to in place, and read, changed and written.

use std::thread;
use std::time::Instant;

use table_core::{Entity, Store};

use super::ROUNDS;
use crate::Result;
use crate::measure::{median, nanoseconds};

#[derive(Entity, Clone)]
#[entity(table = "Counters", kind = "counter")]
#[key(partition = "{site}", row = "counter_{number:06}")]
struct Counter {
    site: String,
    number: u32,
    #[series]
    hits: [Option<i64>; 24],
}

/// Counts in each round.
const COUNTS: u32 = 4_000;
const THREADS: [u32; 3] = [1, 4, 16];

pub(super) fn run(store: &Store) -> Result<()> {
    let counters = store.table::<Counter>()?;
    let mut number = 0;
    println!("\n| threads that count in one slot | added, a second | read, changed and written, a second |");
    println!("| ---: | ---: | ---: |");
    for threads in THREADS {
        let mut rates = [Vec::new(), Vec::new()];
        for _ in 0..ROUNDS {
            for (rates, adds) in rates.iter_mut().zip([true, false]) {
                let each = COUNTS / threads;
                number += 1;
                counters.insert(&Counter { site: "docs".to_owned(), number, hits: [Some(0); 24] })?;
                let key = || Counter::key("docs", number);
                let begun = Instant::now();
                thread::scope(|scope| -> Result<()> {
                    let count = || -> Result<()> {
                        for _ in 0..each {
                            if adds {
                                counters.add(key(), Counter::add().hits(3, 1))?;
                            } else {
                                counters.update(key(), |counter| {
                                    counter.hits[3] = counter.hits[3].map(|hits| hits + 1);
                                })?;
                            }
                        }
                        Ok(())
                    };
                    let all: Vec<_> = (0..threads).map(|_| scope.spawn(count)).collect();
                    all.into_iter().try_for_each(|one| one.join().map_err(|_| "a thread has failed")?)
                })?;
                rates.push(f64::from(each * threads) * 1e9 / nanoseconds(begun.elapsed()));
                let counted = counters.get(key())?.and_then(|counter| counter.hits[3]);
                if counted != Some(i64::from(each * threads)) {
                    return Err(format!("{counted:?} of {} counts are there", each * threads).into());
                }
            }
        }
        let [added, written] = rates.map(|rates| median(&rates));
        println!("| {threads} | {added:.0} | {written:.0} |");
    }
    Ok(())
}
