//! A table that is dropped, whose space a thread in the background frees while another reads; then all handles go, and
//! the store is opened at once.

use std::path::Path;
use std::time::{Duration, Instant};

use table_core::store::StoreStats;
use table_core::{DynamicEntity, Query, Result, Store};

use super::run::{self, Acks, told};
use super::wrong;

/// The table that is read, and its rows.
const KEPT: (&str, i64) = ("Kept", 20);
/// The table that is dropped, and its rows: several steps.
const DROPPED: (&str, i64) = ("Dropped", 5_000);
/// How long the thread may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often the store is opened anew, and looked at.
const TIMES: i64 = 3;

fn row(number: i64) -> DynamicEntity {
    DynamicEntity::new("p", format!("{number:06}")).with("Number", number)
}

fn open(root: &Path) -> Result<Store> {
    run::options().open(root.join("store"))
}

pub(super) fn prepare(root: &Path) {
    let store = crate::relaxed().open(root.join("store")).unwrap();
    for (name, count) in [KEPT, DROPPED] {
        let table = store.create_table(name).unwrap();
        let numbers: Vec<_> = (0..count).collect();
        for some in numbers.chunks(100) {
            let batch = some.iter().fold(table.batch("p"), |batch, number| batch.insert(row(*number)));
            batch.commit().unwrap();
        }
    }
}

/// Reads each row that is kept; text of what is wrong with them.
fn read(store: &Store) -> Result<String> {
    let table = store.dynamic_table(KEPT.0)?;
    let one = table.get("p", "000007")?;
    let all = table.query(&Query::new().partition("p"))?.collect::<Result<Vec<_>>>()?;
    // Rows that were written later may be there.
    let numbers: Vec<_> = all.iter().filter_map(|row| row.get("Number")?.as_i64()).collect();
    let is_right = one.is_some() && numbers.iter().copied().filter(|n| *n < KEPT.1).eq(0..KEPT.1);
    Ok(if is_right { String::new() } else { format!("wrong {numbers:?}") })
}

/// Says what came of something: `clean` if it was empty text.
fn say(acks: &Acks, what: &str, outcome: Result<String>) {
    let text = outcome.unwrap_or_else(|error| told(&error));
    acks.say(format_args!("{what}: {}", if text.is_empty() { "clean" } else { &text }));
}

fn nothing(_: impl Sized) -> String {
    String::new()
}

pub(super) fn run(root: &Path) {
    let acks = Acks::open();
    match open(root) {
        Err(error) => say(&acks, "open", Err(error)),
        Ok(store) => {
            acks.say("open");
            say(&acks, "drop", store.drop_table(DROPPED.0).map(nothing));
            read_meanwhile(&acks, &store);
        }
    }
    for time in 0..TIMES {
        // Every handle is gone, at this very moment.
        acks.say("anew");
        let since = Instant::now();
        let opened = open(root);
        acks.say(format_args!("took {}", since.elapsed().as_millis()));
        let store = match opened {
            Ok(store) => store,
            Err(error) => {
                say(&acks, "open", Err(error));
                continue;
            }
        };
        say(&acks, "read", read(&store));
        let put = store.dynamic_table(KEPT.0).and_then(|table| table.put(&row(KEPT.1 + time)));
        say(&acks, "put", put.map(nothing));
        say(&acks, "reclaim", store.reclaim().map(nothing));
        let problems = |problems: Vec<_>| {
            if problems.is_empty() { String::new() } else { format!("wrong {problems:?}") }
        };
        say(&acks, "check", store.check().map(|report| problems(report.problems)));
    }
    acks.say("end");
}

/// Reads until the space is free, or anything is refused.
fn read_meanwhile(acks: &Acks, store: &Store) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let found = read(store);
        if !matches!(&found, Ok(text) if text.is_empty()) {
            return say(acks, "read", found);
        }
        match store.stats() {
            // Its last commit is seen before the thread knows what became of it: this waits for the thread.
            Ok(stats) if stats.dropped == 0 => return say(acks, "background", store.reclaim().map(nothing)),
            Ok(StoreStats { reclaim_failure: Some(failure), .. }) => {
                let text = format!("error {:?} {}", failure.kind, failure.message);
                return say(acks, "background", Ok(text));
            }
            Ok(_) if Instant::now() < deadline => {}
            Ok(_) => return say(acks, "background", Ok("wrong: it does not end".into())),
            Err(error) => return say(acks, "stats", Err(error)),
        }
    }
}

/// The rows that are kept are there, and nothing of the table that was dropped once its space is freed.
pub(super) fn verify(root: &Path, acks: super::Acks<'_>) -> std::result::Result<u64, String> {
    let store = run::open_left(|| open(root)).map_err(|e| wrong("opening", e))?;
    let look = || {
        let found = read(&store)?;
        store.reclaim()?;
        Ok((found, store.stats()?.dropped, store.tables()?, store.check()?.problems))
    };
    let (found, left, tables, problems) = look().map_err(|e: table_core::Error| wrong("looking", e))?;
    let was_dropped = acks.iter().any(|ack| ack == "drop: clean");
    if !found.is_empty() || left > 0 || !problems.is_empty() || was_dropped && tables.len() > 1 {
        return Err(format!("{found} {left} {tables:?} {problems:?}"));
    }
    Ok(0)
}
