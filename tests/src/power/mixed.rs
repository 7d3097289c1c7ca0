//! A little of everything, by one thread that goes on when it is refused something: what faults are tried on.

use std::path::Path;
use std::sync::Arc;

use table_core::crypt::KeyRing;
use table_core::{Durability, DynamicEntity, ErrorKind, Store};

use super::run::{self, Acks, GivenUp, Run, ring};
use super::{batches, sealed, wrong};
use crate::work::{self, TABLES, Writer};

/// Batches before and after the store is opened anew.
const BATCHES: u64 = 5;
/// How often a copy may be tried.
const COPIES: u32 = 3;
/// Sealed rows.
const ROWS: u32 = 4;

pub(super) fn run(root: &Path, level: Durability, seed: u64) {
    let acks = Acks::open();
    let mut run = Run::new(|| sealed::open(root, level));
    // Whatever was refused for good: what was acknowledged is what counts.
    match work(&mut run, &acks, root, seed) {
        Ok(()) => acks.say("end"),
        Err(GivenUp) => acks.say("given up"),
    }
}

fn work(
    run: &mut Run<impl Fn() -> table_core::Result<Store>>,
    acks: &Acks,
    root: &Path,
    seed: u64,
) -> Result<(), GivenUp> {
    run.store()?;
    acks.say("open");
    for name in TABLES {
        run.attempt(|store| store.create_table_if_missing(name).map(drop))?;
    }
    let mut writer = Writer::new(0, seed);
    write(run, acks, &mut writer, seed, BATCHES)?;
    seal(run, acks, 1)?;
    run.attempt(sealed::rotate)?;
    acks.say("rotated");
    acks.say("copy");
    let mut copy = 0;
    run.attempt(|store| {
        copy += 1;
        store.copy_to(root.join(format!("copy {copy}")))
    })?;
    acks.say(format_args!("copied {copy}"));
    run.attempt(|store| {
        let table = store.create_table_if_missing("Passing")?;
        table.put(&DynamicEntity::new("p", "row")).map(drop)
    })?;
    acks.say("drop");
    run.attempt(|store| match store.drop_table("Passing") {
        // The attempt before it may have been more than it said.
        Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(()),
        dropped => dropped,
    })?;
    acks.say("gone");
    run.attempt(|store| store.reclaim().map(drop))?;
    run.close();
    write(run, acks, &mut writer, seed, 2 * BATCHES)?;
    seal(run, acks, 2)
}

/// Goes on with the batches to a number of them.
pub(super) fn write(
    run: &mut Run<impl Fn() -> table_core::Result<Store>>,
    acks: &Acks,
    writer: &mut Writer,
    seed: u64,
    end: u64,
) -> Result<(), GivenUp> {
    for _ in 0..3 * end {
        if writer.done == end {
            return Ok(());
        }
        let store = run.store()?;
        let committed = store
            .dynamic_table(TABLES[writer.table()])
            .and_then(|table| work::commit(&table, writer.partition(), &writer.batch()));
        drop(store);
        let done = match committed {
            Ok(_) => writer.done + 1,
            Err(error) => {
                eprintln!("{error}");
                if error.kind() == ErrorKind::OutcomeUnknown {
                    run.close();
                }
                let store = run.store()?;
                // What can't be read now is looked at once more.
                let look = || batches::done(&store, 0, seed, writer.done, end);
                let done = look().or_else(|_| look()).map_err(|_| GivenUp)?;
                assert!(
                    done == writer.done || error.kind() == ErrorKind::OutcomeUnknown,
                    "what was refused has happened: {error}"
                );
                done
            }
        };
        if done > writer.done {
            writer.advance();
            acks.say(format_args!("done 0 {done}"));
        }
    }
    Err(GivenUp)
}

fn seal(
    run: &mut Run<impl Fn() -> table_core::Result<Store>>,
    acks: &Acks,
    turn: u32,
) -> Result<(), GivenUp> {
    for id in 0..ROWS {
        acks.say(format_args!("try {id} {turn}"));
        run.attempt(|store| sealed::put(store, id, turn))?;
        acks.say(format_args!("put {id} {turn}"));
    }
    Ok(())
}

/// The batches and the rows are what was acknowledged, or what was tried next.
fn check(store: &Store, level: Durability, seed: u64, acks: super::Acks<'_>) -> Result<u64, String> {
    let mut lost = sealed::check(store, acks)?;
    let acked = batches::acked(acks, 0);
    lost += acked.saturating_sub(batches::done(store, 0, seed, acked, 2 * BATCHES)?);
    if lost > u64::from(level == Durability::Relaxed) {
        return Err(format!("{lost} commits that were acknowledged are lost"));
    }
    let there = store.tables().map_err(|e| wrong("listing", e))?.iter().any(|table| table == "Passing");
    if there && level == Durability::Durable && acks.iter().any(|ack| ack == "gone") {
        return Err("a table that was dropped is back".into());
    }
    Ok(lost)
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    seed: u64,
    acks: super::Acks<'_>,
) -> Result<u64, String> {
    let opened = acks.iter().any(|ack| ack == "open");
    let mut lost = 0;
    for opening in 0..2 {
        if opening == 0 && opened && !root.join("store/data.mdb").exists() {
            return Err("the store is gone".into());
        }
        let store = run::open_left(|| sealed::open(root, level)).map_err(|e| wrong("opening", e))?;
        let lost_now = check(&store, level, seed, acks)?;
        if opening == 0 {
            lost = lost_now;
            batches::write_on(&store)?;
            sealed::put(&store, 20, 1).map_err(|e| wrong("sealing on", e))?;
        } else if lost != lost_now {
            return Err("the second opening shows another state than the first".into());
        }
    }
    for copy in 1..=COPIES {
        check_copy(root, seed, copy, acks)?;
    }
    Ok(lost)
}

/// A copy that was acknowledged is there; any that is there is whole.
fn check_copy(root: &Path, seed: u64, copy: u32, acks: super::Acks<'_>) -> Result<(), String> {
    let path = root.join(format!("copy {copy}"));
    if !path.join("data.mdb").exists() {
        let acked = acks.iter().any(|ack| *ack == format!("copied {copy}"));
        return if acked { Err(format!("copy {copy} is gone")) } else { Ok(()) };
    }
    let ring = KeyRing::open(ring(root)).map_err(|e| wrong("the ring", e))?;
    let options = Store::options().create(false).encryption(Arc::new(ring));
    let store = options.open(path).map_err(|e| wrong("opening a copy", e))?;
    let rows: Vec<String> = (0..ROWS).map(|id| format!("put {id} 1")).collect();
    sealed::check(&store, &rows).map_err(|e| wrong("a copy", e))?;
    let done = batches::done(&store, 0, seed, BATCHES, BATCHES)?;
    if done == BATCHES { Ok(()) } else { Err(format!("a copy has {done} batches of {BATCHES}")) }
}
