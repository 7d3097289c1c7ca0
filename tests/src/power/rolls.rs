//! Index lists that go from their rows into blobs and back, by one thread that goes on when it is refused something.

use std::collections::BTreeSet;
use std::path::Path;

use table_core::{Durability, Result, Store};

use super::run::{self, Acks, GivenUp, Run};
use super::{batches, wrong};
use crate::rolls::{OF_ROW, discharge, enlist, sides};

/// Fewer than a row holds, and how many come behind them, by two.
const FIRST: u32 = OF_ROW - 1;
const MORE: u32 = 12;

pub(super) fn run(root: &Path, level: Durability) {
    run::work_alone(|| batches::open(root, level), work);
}

fn work(run: &mut Run<impl Fn() -> Result<Store>>, acks: &Acks) -> std::result::Result<(), GivenUp> {
    run.attempt(|store| enlist(store, 0..FIRST, 0))?;
    acks.say(format_args!("first {FIRST}"));
    for number in (FIRST..FIRST + MORE).step_by(2) {
        run.attempt(|store| enlist(store, number..number + 2, 0))?;
        acks.say(format_args!("roll {number}"));
        // The list is as long as its row by turns.
        for gone in [number, number + 1] {
            acks.say(format_args!("removes {gone}"));
            run.attempt(|store| discharge(store, gone))?;
            acks.say(format_args!("removed {gone}"));
        }
        if number == FIRST + MORE / 2 {
            run.close();
        }
    }
    Ok(())
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    acks: super::Acks<'_>,
) -> std::result::Result<u64, String> {
    let open = || batches::open(root, level);
    let look = |_, store: &Store, _: &_| look(store, acks).map(Some);
    run::open_twice(root, level, acks, open, look, |opening, store| {
        if opening > 0 {
            return clear(store);
        }
        // One on the other side, which is not looked for.
        enlist(store, 900_000..900_001, 1).map_err(|e| wrong("putting on", e))
    })
}

/// How many acknowledged commits are not there; an error if a list says something else than the entities.
fn look(store: &Store, acks: super::Acks<'_>) -> std::result::Result<u64, String> {
    let numbers = |word: &str| -> BTreeSet<u32> {
        acks.iter()
            .filter_map(|ack| ack.strip_prefix(word))
            .filter_map(|number| number.parse().ok())
            .collect()
    };
    let found = sides(store).map_err(|e| wrong("looking", e))?;
    let found =
        found.map_err(|side| format!("the list of side {side} says something else than its entities"))?;
    let there: BTreeSet<_> = found.into_values().flatten().collect();
    let (removes, removed) = (numbers("removes "), numbers("removed "));
    let first = numbers("first ").first().map_or(0..0, |first| 0..*first);
    let pairs = numbers("roll ");
    let is_missing = |number: &u32| !removes.contains(number) && !there.contains(number);
    // What was put together is lost together.
    let lost = u64::from(first.clone().any(|number| is_missing(&number)))
        + pairs.iter().filter(|number| is_missing(number) || is_missing(&(**number + 1))).count() as u64;
    Ok(lost + removed.intersection(&there).count() as u64)
}

/// Removes the table, with which no blob may be left.
fn clear(store: &Store) -> std::result::Result<(), String> {
    let clear = || {
        if store.tables()?.iter().any(|table| table == "Rolls") {
            store.drop_table("Rolls")?;
        }
        store.reclaim()?;
        store.stats()
    };
    let left = clear().map_err(|e| wrong("clearing", e))?.blobs;
    if left.blobs == 0 { Ok(()) } else { Err(format!("left are {left:?}")) }
}
