//! Sealed blobs that rows hold, and whose keys are rotated and destroyed.

use std::collections::BTreeSet;
use std::path::Path;

use table_core::{Durability, Store};

use super::run::{self, Acks};
use super::{sealed, wrong};
use crate::blobbed::{Scan, bytes, put_sealed, rotate_sealed};

/// Every fourth has more than a stage.
const NUMBERS: u32 = 12;

pub(super) fn run(root: &Path, level: Durability) {
    let acks = Acks::open();
    let store = sealed::open(root, level).unwrap();
    acks.say("open");
    for number in 0..NUMBERS {
        put_sealed(&store, number, &bytes(number)).unwrap();
        acks.say(format_args!("scan {number}"));
        if number % 3 == 2 {
            let former = number - 1;
            acks.say(format_args!("removes {former}"));
            store.table::<Scan>().unwrap().delete(Scan::key("all", former)).unwrap();
            acks.say(format_args!("removed {former}"));
        }
        if number % 4 == 3 {
            rotate_sealed(&store).unwrap();
            acks.say("rotated");
        }
    }
}

pub(super) fn verify(root: &Path, level: Durability, acks: super::Acks<'_>) -> Result<u64, String> {
    let open = || sealed::open(root, level);
    run::open_twice(
        root,
        level,
        acks,
        open,
        |_, store, _| look(store, acks).map(Some),
        |opening, store| {
            if opening > 0 {
                return clear(store);
            }
            put_sealed(store, NUMBERS, &bytes(3)).map_err(|e| wrong("putting on", e))
        },
    )
}

/// How many acknowledged commits are not there; an error if a blob that is held can't be read, or has other bytes.
fn look(store: &Store, acks: super::Acks<'_>) -> Result<u64, String> {
    let numbers = |word: &str| -> BTreeSet<u32> {
        acks.iter()
            .filter_map(|ack| ack.strip_prefix(word))
            .filter_map(|number| number.parse().ok())
            .collect()
    };
    let (put, removes, removed) = (numbers("scan "), numbers("removes "), numbers("removed "));
    let scans = store.table::<Scan>().map_err(|e| wrong("the table of scans", e))?;
    let mut lost = 0;
    for number in 0..NUMBERS {
        let found = scans.get(Scan::key("all", number)).map_err(|e| wrong("a scan", e))?;
        if let Some(found) = &found
            && found.scan.get(store).map_err(|e| wrong("a sealed blob", e))? != bytes(number)
        {
            return Err(format!("scan {number} has other bytes"));
        }
        let is_lost = put.contains(&number) && !removes.contains(&number) && found.is_none();
        lost += u64::from(is_lost || removed.contains(&number) && found.is_some());
    }
    Ok(lost)
}

/// Removes everything. Nothing may be left then but uploads, which expire.
fn clear(store: &Store) -> Result<(), String> {
    let clear = || {
        store.drop_table("Scans")?;
        store.reclaim()?;
        store.stats()
    };
    let left = clear().map_err(|e| wrong("clearing", e))?.blobs;
    if left.blobs == left.waiting { Ok(()) } else { Err(format!("left are {left:?}")) }
}
