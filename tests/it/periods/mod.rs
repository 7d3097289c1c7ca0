//! Entities with a table for each period.

mod bounds;
mod changes;
mod model;
mod queries;
mod sealed;

use table_core::{Entity, Store, Ticks};

/// A time, to the tick.
fn at(text: &str) -> Ticks {
    text.parse().unwrap()
}

/// What the guide keeps in a table for each day.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Logins{at:%Y%m%d}", kind = "login", keep = "2 days")]
#[key(partition = "{user}", row = "at_{at:ticks}")]
#[index(by_address, row = "address_{address}_{at:ticks}", copy = keys)]
struct Login {
    user: String,
    at: Ticks,
    address: String,
    count: u32,
}

fn login(user: &str, time: &str) -> Login {
    Login { user: user.into(), at: at(time), address: "10.0.0.7".into(), count: 1 }
}

/// A store in a directory that goes with it.
fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    (dir, store)
}
