//! Blobs on LMDB, with a clock that the tests set: random operations against a plain model, and flipped bits.

mod damage;
#[cfg(feature = "json")]
mod logs;
mod model;
mod rows;
mod uploads;

use table_engine::contents::{BlobAnswer, BlobTask};
use table_engine::error::Result;
use table_engine::model::Ticks;

use crate::Store;
use crate::write::transaction::CLOCK;

/// Returns how many runs of random operations there are; `cargo xtask test --soak` has five times as many.
fn cases(usual: u32) -> u32 {
    std::env::var("TABLE_CORE_BLOBS").map_or(usual, |cases| cases.parse().unwrap())
}

/// What this thread takes for the time.
fn set_clock(now: u64) {
    CLOCK.set(Some(Ticks::new(now).unwrap()));
}

fn ask(store: &Store, task: BlobTask) -> Result<BlobAnswer> {
    store.backend().clone().blobs()?.carry_out(vec![task]).map(|answers| answers[0])
}

fn assert_sound(store: &Store) {
    let report = store.check().unwrap();
    assert!(report.problems.is_empty(), "{:#?}", report.problems);
}

/// Bytes that are those of no other number.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend_from_slice(&next());
    }
    bytes.truncate(length);
    bytes
}
