//! Blobs, as a user has them: by name, in fields, in logs.

mod containers;
mod fields;
mod foreign;
mod logs;
mod relied_on;

use integration_tests::Scratch;
use integration_tests::opened::{Needs, Opened};
use table_core::Store;
use table_core::store::BlobStats;

/// Opens a store of the test's executor.
fn store() -> (Scratch, Opened) {
    let scratch = Scratch::new();
    let store = scratch.open(&Needs::default());
    (scratch, store)
}

fn store_on_lmdb() -> (Scratch, Store) {
    let (scratch, store) = store();
    let store = store.lmdb().unwrap().clone();
    (scratch, store)
}

/// Returns what a store on LMDB says of its blobs, which others don't count.
fn stats(store: &Opened) -> Option<BlobStats> {
    store.lmdb().map(|store| store.stats().unwrap().blobs)
}

fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}
