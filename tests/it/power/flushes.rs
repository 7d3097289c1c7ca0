//! Flushes that fail, and then the power.

use integration_tests::power::log::Note;

use super::{Recording, Seen, seed, size};

/// `EIO`.
const EIO: u32 = 5;

/// Has every n-th call of a kind fail, as the stride says, and looks at images of what the process then did.
fn sweep(work: &str, call: &str, mode: &str, stride: u64, images: u64) -> Seen {
    let mut seen = Seen::default();
    let mut place = 1 + seed() % stride;
    loop {
        let fault = format!("{call}:{place}:{EIO}:{mode}");
        let recording = Recording::of(work, seed(), Some(&fault));
        assert!(recording.status.success(), "{work}, {fault}: {}", recording.status);
        if recording.count(|note| matches!(note, Note::Fault(_))) == 0 {
            assert!(place > stride, "{fault} never came");
            return seen;
        }
        recording.assert_complete();
        let more = recording.images(images, false);
        assert!(more.bad == 0, "{work}, {fault}: {:#?}", more.texts);
        seen.add(more);
        place += stride;
    }
}

fn sweeps(work: &str) {
    let (stride, images) = (size("POWER_STRIDE", 12), size("POWER_EACH", 12));
    for (call, mode) in [("sync", "once"), ("sync", "ever"), ("pwrite", "late"), ("writev", "late")] {
        let seen = sweep(work, call, mode, stride, images);
        seen.assert_good(&format!("{work}, {call} fails {mode}"));
    }
}

#[test]
fn a_flush_that_failed_costs_a_durable_store_nothing() {
    sweeps("plain durable");
    sweeps("mixed durable");
}

#[test]
fn a_flush_that_failed_costs_a_relaxed_store_the_last_commit_at_most() {
    sweeps("plain relaxed");
    sweeps("mixed relaxed");
}
