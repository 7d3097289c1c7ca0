//! Stores that come into being: in directories that are made with them, by two threads at once, with keys.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};

use table_core::crypt::KeyRing;
use table_core::{DynamicEntity, OpenOptions, Store};

use super::run::Acks;
use super::{batches, sealed, wrong};

/// How many stores are made; every second has keys.
const STORES: u32 = 4;

fn place(root: &Path, number: u32) -> PathBuf {
    root.join(format!("a{number}/b/store"))
}

/// How a store is opened: all in the ring of the first that has keys.
fn options(root: &Path, number: u32, ring: &mut Option<Arc<KeyRing>>) -> table_core::Result<OpenOptions> {
    if number.is_multiple_of(2) {
        return Ok(Store::options());
    }
    if ring.is_none() {
        let path = super::run::ring(root);
        *ring = Some(Arc::new(if path.exists() { KeyRing::open(path)? } else { KeyRing::create(path)? }));
    }
    let ring = ring.clone().expect("it was made");
    Ok(Store::options().encryption(ring))
}

pub(super) fn run(root: &Path) {
    let acks = Acks::open();
    let mut ring = None;
    for number in 0..STORES {
        let options = options(root, number, &mut ring).unwrap();
        let path = place(root, number);
        if number == 3 {
            // What the program makes itself, it does not flush.
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let (options, path, start, acks) = (&options, &path, &start, &acks);
                scope.spawn(move || {
                    if number > 1 {
                        start.wait();
                    } else if thread == 1 {
                        return;
                    }
                    let store = options.open(path).unwrap();
                    acks.say(format_args!("made {number}"));
                    let table = store.create_table_if_missing("Rows").unwrap();
                    table.insert(&DynamicEntity::new("p", format!("row {thread}"))).unwrap();
                    acks.say(format_args!("row {number} {thread}"));
                });
            }
        });
        if !number.is_multiple_of(2) {
            let store = options.open(&path).unwrap();
            sealed::put(&store, 0, 1).unwrap();
            acks.say(format_args!("sealed {number}"));
        }
    }
}

pub(super) fn verify(root: &Path, acks: super::Acks<'_>) -> Result<u64, String> {
    let said = |line: String| acks.contains(&line);
    for opening in 0..2 {
        let mut ring = None;
        for number in 0..STORES {
            let made = said(format!("made {number}"));
            let options = options(root, number, &mut ring).map_err(|e| wrong("the ring", e))?;
            // One that was acknowledged must be there; any other must be made, or be whole.
            let options = options.create(!made || opening > 0);
            let store = options.open(place(root, number)).map_err(|e| wrong("opening", e))?;
            let report = store.check().map_err(|e| wrong("checking", e))?;
            if !report.problems.is_empty() {
                return Err(format!("{:?}", report.problems));
            }
            for thread in 0..2 {
                if said(format!("row {number} {thread}")) {
                    let table = store.dynamic_table("Rows").map_err(|e| wrong("the table", e))?;
                    let row = table.get("p", &format!("row {thread}")).map_err(|e| wrong("the row", e))?;
                    row.ok_or_else(|| format!("row {thread} of store {number} is gone"))?;
                }
            }
            if said(format!("sealed {number}")) {
                sealed::check(&store, &["put 0 1".into()])?;
            }
            batches::write_on(&store)?;
            if !number.is_multiple_of(2) {
                sealed::put(&store, 20, 1).map_err(|e| wrong("sealing", e))?;
            }
        }
    }
    Ok(0)
}
