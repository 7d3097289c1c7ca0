//! Batches by one thread that compacts the store between them.

use std::path::Path;

use table_core::{Durability, Store};

use super::run::{Acks, GivenUp, Run};
use super::{batches, mixed, plain};
use crate::work::{TABLES, Writer};

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
        for end in (1..=plain::BATCHES).filter(|end| end % 6 == 0) {
            mixed::write(&mut run, &acks, &mut writer, seed, end)?;
            run.renew(Store::compact)?;
        }
        // Who opens it anew finds the cache as it was.
        run.close();
        run.store()
    };
    match work() {
        Ok(_) => acks.say("end"),
        Err(GivenUp) => acks.say("given up"),
    }
}
