//! Batches by several threads, and tables that come and go.

use std::collections::BTreeMap;
use std::path::Path;

use table_core::{Durability, DynamicEntity, Query, Store};

use super::run::Acks;
use super::wrong;
use crate::work::{self, TABLES, Writer};

/// Threads that write.
const WRITERS: usize = 3;
/// Batches of each.
const BATCHES: u64 = 30;
/// Tables that are made and dropped again.
const PASSING: u64 = 6;

/// The rows of both tables.
type State = [BTreeMap<String, DynamicEntity>; 2];

/// What a writer's rows are after each number of its batches.
pub fn states(writer: usize, seed: u64, batches: u64) -> Vec<State> {
    let mut writer = Writer::new(writer, seed);
    let mut states = vec![writer.rows.clone()];
    for _ in 0..batches {
        writer.advance();
        states.push(writer.rows.clone());
    }
    states
}

/// The rows that a writer has in a store.
pub fn rows(store: &Store, partition: &str) -> table_core::Result<State> {
    let mut found = State::default();
    for (name, rows) in TABLES.iter().zip(&mut found) {
        if !store.tables()?.iter().any(|table| table == name) {
            continue;
        }
        for entity in store.dynamic_table(name)?.query(&Query::new().partition(partition))? {
            let entity = entity?;
            rows.insert(entity.row_key().to_owned(), entity);
        }
    }
    Ok(found)
}

/// How many of a writer's batches a store has, of those around the number that was acknowledged.
pub fn done(store: &Store, writer: usize, seed: u64, acked: u64, batches: u64) -> Result<u64, String> {
    let found = rows(store, Writer::new(writer, seed).partition()).map_err(|e| wrong("reading", e))?;
    let states = states(writer, seed, (acked + 1).min(batches));
    let number = (0..states.len()).rev().find(|number| states[*number] == found);
    let number =
        number.ok_or_else(|| format!("the rows of writer {writer} are of no moment up to {acked}"))?;
    Ok(number as u64)
}

pub(super) fn open(root: &Path, level: Durability) -> table_core::Result<Store> {
    super::run::options().durability(level).open(root.join("store"))
}

pub(super) fn run(root: &Path, level: Durability, seed: u64) {
    let acks = Acks::open();
    let store = open(root, level).unwrap();
    acks.say("open");
    for name in TABLES {
        store.create_table(name).unwrap();
        acks.say(format_args!("made {name}"));
    }
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let (store, acks) = (&store, &acks);
            scope.spawn(move || {
                let mut writer = Writer::new(number, seed);
                while writer.done < BATCHES {
                    let table = store.dynamic_table(TABLES[writer.table()]).unwrap();
                    work::commit(&table, writer.partition(), &writer.batch()).unwrap();
                    writer.advance();
                    acks.say(format_args!("done {number} {}", writer.done));
                }
            });
        }
        for number in 0..PASSING {
            let name = format!("Passing{number}");
            let table = store.create_table(&name).unwrap();
            acks.say(format_args!("made {name}"));
            store
                .bulk((0..20).map(|row| {
                    let row = DynamicEntity::new("p", format!("row {row}")).with("Text", "x".repeat(200));
                    table.batch("p").insert(row)
                }))
                .unwrap()
                .into_result()
                .unwrap();
            acks.say(format_args!("drop {name}"));
            store.drop_table(&name).unwrap();
            acks.say(format_args!("gone {name}"));
            store.reclaim().unwrap();
        }
    });
}

/// The last number that was acknowledged for a writer.
pub(super) fn acked(acks: super::Acks<'_>, writer: usize) -> u64 {
    let start = format!("done {writer} ");
    let last = acks.iter().rev().find_map(|ack| ack.strip_prefix(&start));
    last.map_or(0, |number| number.parse().expect("a number"))
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    seed: u64,
    acks: super::Acks<'_>,
) -> Result<u64, String> {
    let mut lost = 0;
    for opening in 0..2 {
        if opening == 0 && acks.iter().any(|ack| ack == "open") && !root.join("store/data.mdb").exists() {
            return Err("the store is gone".into());
        }
        let store = open(root, level).map_err(|e| wrong("opening", e))?;
        let report = store.check().map_err(|e| wrong("checking", e))?;
        if !report.problems.is_empty() {
            return Err(format!("{:?}", report.problems));
        }
        let mut lost_now = 0;
        for writer in 0..WRITERS {
            let acked = acked(acks, writer);
            let done = done(&store, writer, seed, acked, BATCHES)?;
            let missing = acked.saturating_sub(done);
            if missing > u64::from(level == Durability::Relaxed) {
                return Err(format!("writer {writer} had {acked} batches acknowledged and has {done}"));
            }
            lost_now = missing.max(lost_now);
        }
        // A relaxed store may have lost the last commit, and these are of a thread of their own.
        if level == Durability::Durable {
            check_tables(&store, acks)?;
        }
        if opening == 0 {
            lost = lost_now;
            write_on(&store)?;
        } else if lost_now != lost {
            return Err("the second opening shows another state than the first".into());
        }
    }
    Ok(lost)
}

/// What was made is there until it was to be dropped, and gone once it was.
fn check_tables(store: &Store, acks: super::Acks<'_>) -> Result<(), String> {
    let tables = store.tables().map_err(|e| wrong("listing", e))?;
    let said = |word: &str, name: &str| acks.iter().any(|ack| *ack == format!("{word} {name}"));
    for ack in acks {
        let Some(name) = ack.strip_prefix("made ") else { continue };
        let there = tables.iter().any(|table| table == name);
        if !there && !said("drop", name) {
            return Err(format!("table {name} is gone"));
        }
        if there && said("gone", name) {
            return Err(format!("table {name} is back"));
        }
    }
    Ok(())
}

/// The store takes more.
pub(super) fn write_on(store: &Store) -> Result<(), String> {
    let write = || -> table_core::Result<()> {
        let table = store.create_table_if_missing("Afterwards")?;
        table.put(&DynamicEntity::new("p", "row").with("Text", "x".repeat(3_000)))?;
        store.reclaim().map(drop)
    };
    write().map_err(|e| wrong("writing on", e))
}
