//! Batches by one thread that goes on when it is refused something.

use std::path::Path;

use table_core::Durability;

use super::run::{self, Acks, GivenUp, Run};
use super::{batches, mixed, wrong};
use crate::work::{TABLES, Writer};

/// How many there are.
pub(super) const BATCHES: u64 = 24;

pub(super) fn run(root: &Path, level: Durability, seed: u64) {
    let acks = Acks::open();
    let mut run = Run::new(|| batches::open(root, level));
    let mut work = || {
        run.store()?;
        acks.say("open");
        for name in TABLES {
            run.attempt(|store| store.create_table_if_missing(name).map(drop))?;
        }
        let mut writer = Writer::new(0, seed);
        mixed::write(&mut run, &acks, &mut writer, seed, BATCHES / 2)?;
        // Who opens it anew finds the cache as it was.
        run.close();
        mixed::write(&mut run, &acks, &mut writer, seed, BATCHES)
    };
    match work() {
        Ok(()) => acks.say("end"),
        Err(GivenUp) => acks.say("given up"),
    }
}

pub(super) fn verify(
    root: &Path,
    level: Durability,
    seed: u64,
    acks: super::Acks<'_>,
) -> Result<u64, String> {
    let acked = batches::acked(acks, 0);
    let mut lost = 0;
    for opening in 0..2 {
        if opening == 0 && acks.iter().any(|ack| ack == "open") && !root.join("store/data.mdb").exists() {
            return Err("the store is gone".into());
        }
        let store = run::open_left(|| batches::open(root, level)).map_err(|e| wrong("opening", e))?;
        let report = store.check().map_err(|e| wrong("checking", e))?;
        if !report.problems.is_empty() {
            return Err(format!("{:?}", report.problems));
        }
        let lost_now = acked.saturating_sub(batches::done(&store, 0, seed, acked, BATCHES)?);
        if lost_now > u64::from(level == Durability::Relaxed) {
            return Err(format!("{lost_now} batches that were acknowledged are lost"));
        }
        if opening == 0 {
            lost = lost_now;
            batches::write_on(&store)?;
        } else if lost != lost_now {
            return Err("the second opening shows another state than the first".into());
        }
    }
    Ok(lost)
}
