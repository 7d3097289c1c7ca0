//! Sealed values whose keys are rotated and destroyed.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use table_core::crypt::{KeyRing, Scope};
use table_core::store::Propagate;
use table_core::{Durability, Entity, ErrorKind, Key, Store};

use super::run::{Acks, ring};
use super::{batches, wrong};

/// A row whose secret says which it is, and how often it was written.
#[derive(Entity, Clone, Debug, PartialEq)]
#[entity(table = "Sealed", kind = "secret")]
#[key(partition = "p", row = "secret_{id:04}")]
#[index(by_text, row = "text_{text:blind}", unique, copy = keys)]
pub struct Secret {
    id: u32,
    turn: u32,
    #[encrypt(blind)]
    text: String,
    #[encrypt]
    more: String,
}

/// How many there are.
const ROWS: u32 = 12;
/// How often all are written.
const TURNS: u32 = 4;

impl Secret {
    /// A row's state.
    pub fn new(id: u32, turn: u32) -> Self {
        Self { id, turn, text: format!("secret {id} at {turn}"), more: "more ".repeat(20 + turn as usize) }
    }
}

/// How often a store is opened that was closed a moment ago: its thread that frees space may still hold it.
const ATTEMPTS: u32 = 2_000;

/// The store with its keys in a ring.
pub fn open(root: &Path, level: Durability) -> table_core::Result<Store> {
    let ring = ring(root);
    let ring = if ring.exists() { KeyRing::open(ring) } else { KeyRing::create(ring) };
    // What is to follow stays so, for who looks at that.
    let options =
        super::run::options().durability(level).propagate(Propagate::Manual).encryption(Arc::new(ring?));
    for _ in 1..ATTEMPTS {
        match options.open(root.join("store")) {
            Err(error) if error.kind() == ErrorKind::OptionsConflict => {
                std::thread::sleep(Duration::from_millis(1));
            }
            opened => return opened,
        }
    }
    options.open(root.join("store"))
}

/// Writes a row; it may be there.
pub fn put(store: &Store, id: u32, turn: u32) -> table_core::Result<()> {
    store.table::<Secret>()?.put(&Secret::new(id, turn)).map(drop)
}

/// Gives the store a new key, seals everything with it, and destroys the old one.
pub fn rotate(store: &Store) -> table_core::Result<()> {
    let encryption = store.encryption()?;
    encryption.rotate(&Scope::store())?;
    store.table::<Secret>()?.reencrypt()?.run()?;
    encryption.destroy_unused().map(drop)
}

pub(super) fn run(root: &Path, level: Durability) {
    let acks = Acks::open();
    let store = open(root, level).unwrap();
    acks.say("open");
    for turn in 1..=TURNS {
        for id in 0..ROWS {
            acks.say(format_args!("try {id} {turn}"));
            put(&store, id, turn).unwrap();
            acks.say(format_args!("put {id} {turn}"));
        }
        rotate(&store).unwrap();
        acks.say("rotated");
    }
}

/// The state that a row was last said to have, and those that were tried after it.
fn allowed(acks: super::Acks<'_>, id: u32) -> (Option<u32>, Vec<u32>) {
    let (mut acked, mut tried) = (None, Vec::new());
    for ack in acks {
        let words: Vec<&str> = ack.split(' ').collect();
        let [word @ ("try" | "put"), row, turn] = *words else { continue };
        if row.parse() != Ok(id) {
            continue;
        }
        let turn = turn.parse().expect("a number");
        if word == "put" {
            acked = Some(turn);
            tried.clear();
        } else {
            tried.push(turn);
        }
    }
    (acked, tried)
}

/// Compares the rows with what was acknowledged. Gives how many acknowledged rows are of the moment before, as the very
/// last may be in a relaxed store.
pub fn check(store: &Store, acks: super::Acks<'_>) -> Result<u64, String> {
    let report = store.check().map_err(|e| wrong("checking", e))?;
    if !report.problems.is_empty() {
        return Err(format!("{:?}", report.problems));
    }
    let mut lost = 0;
    let table = store.table::<Secret>().map_err(|e| wrong("the table of sealed rows", e))?;
    for id in 0..ROWS {
        let (acked, tried) = allowed(acks, id);
        let row = table.get(Key::of(&Secret::new(id, 0))).map_err(|e| wrong("a sealed row", e))?;
        let turn = row.as_ref().map(|row| row.turn);
        if let Some(row) = &row {
            if **row != Secret::new(id, row.turn) {
                return Err(format!("row {id} holds {row:?}"));
            }
            let found = table.get(Secret::by_text(row.text.as_str())).map_err(|e| wrong("a token", e))?;
            if found.map(|found| found.id) != Some(id) {
                return Err(format!("row {id} is not found by its token"));
            }
        }
        if turn == acked || turn.is_some_and(|turn| tried.contains(&turn)) {
            continue;
        }
        lost += 1;
        // Only what was said last may be missing, and then the state before it is there.
        let last = acks.iter().rfind(|ack| ack.starts_with("put "));
        let expected = acked.map(|turn| format!("put {id} {turn}"));
        let before = acked.and_then(|turn| turn.checked_sub(1)).filter(|turn| *turn > 0);
        if last != expected.as_ref() || turn != before {
            return Err(format!(
                "row {id} is at {turn:?}, was acknowledged at {acked:?}, tried at {tried:?}"
            ));
        }
    }
    Ok(lost)
}

pub(super) fn verify(root: &Path, level: Durability, acks: super::Acks<'_>) -> Result<u64, String> {
    let opened = acks.iter().any(|ack| ack == "open");
    let mut lost = 0;
    for opening in 0..2 {
        if opening == 0 && opened && !root.join("store/data.mdb").exists() {
            return Err("the store is gone".into());
        }
        let store = open(root, level).map_err(|e| wrong("opening", e))?;
        let lost_now = check(&store, acks)?;
        if lost_now > 0 && level == Durability::Durable {
            return Err("a durable row is lost".into());
        }
        if opening == 0 {
            lost = lost_now;
            batches::write_on(&store)?;
            put(&store, ROWS, 1).map_err(|e| wrong("sealing on", e))?;
        } else if lost != lost_now {
            return Err("the second opening shows another state than the first".into());
        }
    }
    Ok(lost)
}
