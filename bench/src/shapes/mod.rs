//! Series, counters, wide entities, index lists and heaps of period tables: times of single operations, of table-core alone.
//!
//! `--only series,counters,wide,lists,heap` runs some of it. `--op NAME` runs one operation of the wide entities, for
//! `valgrind --tool=callgrind --toggle-collect='*profiled*'`.

mod counters;
mod heap;
mod lists;
mod series;
mod wide;

use std::time::Instant;

use table_core::{Durability, Store};

use crate::measure::{median, nanoseconds};
use crate::place::Place;
use crate::{Arguments, Result, report};

/// Each figure is the median of so many rounds.
const ROUNDS: usize = 9;
/// Entities of each kind.
const ENTITIES: u32 = 1_000;

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let place = Place::in_memory()?;
    let options = Store::options().durability(Durability::Relaxed).map_size(1 << 30);
    let store = options.open(place.join("shapes"))?;
    // What is asked for if nothing is said is another part's.
    if arguments.op != "get" {
        return wide::profile(&store, arguments);
    }
    println!("\n## Shapes");
    report::machine(
        place.path(),
        "relaxed, in memory; one thread where no other number stands; medians of nine rounds in turn",
    );
    let is_wanted = |what: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == what);
    if is_wanted("series") {
        series::run(&store)?;
    }
    if is_wanted("counters") {
        counters::run(&store)?;
    }
    if is_wanted("wide") {
        wide::run(&store)?;
    }
    if is_wanted("lists") {
        lists::run(&store)?;
    }
    if is_wanted("heap") {
        heap::run(&place)?;
    }
    Ok(())
}

/// One operation, many times: it gets the number of the time.
type Work<'w> = &'w mut dyn FnMut(u32) -> Result<()>;

/// Microseconds of each of the works, round by round in turn, of so many operations a round.
fn in_turn<const N: usize>(operations: u32, mut works: [Work<'_>; N]) -> Result<[f64; N]> {
    let mut times = [const { Vec::new() }; N];
    let mut next = 0;
    // The first round warms up.
    for round in 0..=ROUNDS {
        for (work, times) in works.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            for number in next..next + operations {
                work(number)?;
            }
            let each = nanoseconds(begun.elapsed()) / 1e3 / f64::from(operations);
            next += operations;
            if round > 0 {
                times.push(each);
            }
        }
    }
    Ok(times.map(|times| median(&times)))
}
