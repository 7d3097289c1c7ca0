//! Copies of a store with sealed values, made while it changes.

use std::path::{Path, PathBuf};

use table_core::{Durability, Store};

use super::run::Acks;
use super::{batches, sealed, wrong};

const LEVEL: Durability = Durability::Durable;

/// How many copies are made.
const COPIES: u32 = 3;
/// How many rows are sealed.
const ROWS: u32 = 5;

fn target(root: &Path, copy: u32) -> PathBuf {
    // The first with a directory of its own to be made, the others beside each other.
    root.join(if copy == 0 { "x/y/copy".into() } else { format!("copy {copy}") })
}

/// What is acknowledged of a copy that was made when all rows had had this turn.
fn rows(turn: u32) -> Vec<String> {
    (0..ROWS).map(|id| format!("put {id} {turn}")).collect()
}

pub(super) fn run(root: &Path) {
    let acks = Acks::open();
    let store = sealed::open(root, LEVEL).unwrap();
    acks.say("open");
    for copy in 0..COPIES {
        for id in 0..ROWS {
            acks.say(format_args!("try {id} {}", copy + 1));
            sealed::put(&store, id, copy + 1).unwrap();
            acks.say(format_args!("put {id} {}", copy + 1));
        }
        acks.say(format_args!("copy {copy}"));
        store.copy_to(target(root, copy)).unwrap();
        acks.say(format_args!("copied {copy}"));
        if copy == 0 {
            sealed::rotate(&store).unwrap();
        }
    }
}

/// Opens a copy with the ring of the store.
fn open_copy(root: &Path, copy: u32) -> table_core::Result<Store> {
    let ring = table_core::crypt::KeyRing::open(super::run::ring(root))?;
    Store::options().create(false).encryption(std::sync::Arc::new(ring)).open(target(root, copy))
}

pub(super) fn verify(root: &Path, acks: super::Acks<'_>) -> Result<u64, String> {
    let said = |line: String| acks.contains(&line);
    sealed::verify(root, LEVEL, acks)?;
    for copy in 0..COPIES {
        let place = target(root, copy).join("data.mdb");
        if !place.exists() {
            if said(format!("copied {copy}")) {
                return Err(format!("copy {copy} is gone"));
            }
            continue;
        }
        // A copy that was not acknowledged is whole, or not there.
        for _ in 0..2 {
            let store = open_copy(root, copy).map_err(|e| wrong("opening a copy", e))?;
            sealed::check(&store, &rows(copy + 1)).map_err(|e| wrong("a copy", e))?;
            batches::write_on(&store)?;
        }
    }
    Ok(0)
}
