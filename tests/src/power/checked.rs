//! A store with keys that is there, opened and checked: with its keys, without them, and with them again.

use std::path::Path;
use std::sync::Arc;

use table_core::crypt::KeyRing;
use table_core::{Durability, Result, Store};

use super::run::{self, Acks, told};
use super::{sealed, wrong};

/// How often each look is taken: where one call fails, the second time none does.
const TIMES: usize = 2;

/// Rows.
const ROWS: u32 = 3;

pub(super) fn prepare(root: &Path) {
    let store = sealed::open(root, Durability::Relaxed).unwrap();
    for id in 0..ROWS {
        sealed::put(&store, id, 1).unwrap();
    }
    // A key that is destroyed, beside one that is not.
    sealed::rotate(&store).unwrap();
}

/// Opens and checks, and says of each what came of it: `clean`, `problems` with them, or `error` with its kind.
pub(super) fn run(root: &Path) {
    let acks = Acks::open();
    let options = || run::options().durability(Durability::Relaxed).create(false);
    let with_keys = || {
        let keys = Arc::new(KeyRing::open(run::ring(root))?);
        options().encryption(keys).open(root.join("store"))
    };
    let without = || options().open(root.join("store"));
    look(&acks, "with keys", &with_keys);
    look(&acks, "without keys", &without);
    look(&acks, "with keys again", &with_keys);
    acks.say("end");
}

fn look(acks: &Acks, how: &str, open: &dyn Fn() -> Result<Store>) {
    for time in 1..=TIMES {
        let store = match open() {
            Ok(store) => store,
            Err(error) => {
                acks.say(format_args!("open {how} {time}: {}", told(&error)));
                continue;
            }
        };
        for time in 1..=TIMES {
            match store.check() {
                Ok(report) if report.problems.is_empty() => {
                    acks.say(format_args!("check {how} {time}: clean"));
                }
                Ok(report) => acks.say(format_args!("check {how} {time}: problems {:?}", report.problems)),
                Err(error) => acks.say(format_args!("check {how} {time}: {}", told(&error))),
            }
        }
        return;
    }
}

/// What is there is what was prepared.
pub(super) fn verify(root: &Path) -> std::result::Result<u64, String> {
    let store =
        run::open_left(|| sealed::open(root, Durability::Relaxed)).map_err(|e| wrong("opening", e))?;
    let rows: Vec<String> = (0..ROWS).map(|id| format!("put {id} 1")).collect();
    sealed::check(&store, &rows)?;
    sealed::put(&store, ROWS, 1).map_err(|e| wrong("sealing on", e))?;
    Ok(0)
}
