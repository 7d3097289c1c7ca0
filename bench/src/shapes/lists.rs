//! Entities put on one index list: loaded, and inserted one by one.

use std::time::Instant;

use table_core::{Entity, Store};

use crate::Result;
use crate::measure::nanoseconds;

#[derive(Entity)]
#[entity(table = "Orders", kind = "order")]
#[key(partition = "{shop}", row = "order_{number:010}")]
#[index_list(by_state, row = "state_{state}", of = number)]
struct Order {
    shop: String,
    number: u64,
    state: String,
}

/// How many are on the list by then. Some 44,000 are more than its row holds.
const UNTIL: [u64; 5] = [4_000, 16_000, 40_000, 100_000, 200_000];
/// Inserted one by one, of which each writes the list.
const SINGLE: u64 = 200;

pub(super) fn run(store: &Store) -> Result<()> {
    let orders = store.table::<Order>()?;
    let order = |number| Order { shop: "Bern".to_owned(), number, state: "sent".to_owned() };
    println!("\n| on the list | an entity of a load up to there, µs | one more by itself, µs |");
    println!("| ---: | ---: | ---: |");
    let mut from = 0;
    for to in UNTIL {
        let begun = Instant::now();
        let report = orders.bulk_insert((from..to).map(order))?;
        let loaded = nanoseconds(begun.elapsed()) / 1e3 / crate::measure::count_of(to - from);
        if !report.failures.is_empty() {
            return Err("some were not loaded".into());
        }
        from = to + SINGLE;
        let begun = Instant::now();
        for number in to..from {
            orders.insert(&order(number))?;
        }
        let single = nanoseconds(begun.elapsed()) / 1e3 / crate::measure::count_of(SINGLE);
        println!("| {to} | {loaded:.1} | {single:.1} |");
    }
    Ok(())
}
