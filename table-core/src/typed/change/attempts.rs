//! How often a change is made again when others write the same entities, and how long it waits between.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::handle::table::DynamicTable;
use crate::model::ETag;
use crate::typed::change::{Planned, planned, read};

/// How often a change is tried when others write the entity at the same time.
const ATTEMPTS: u32 = 64;

/// How often it may lose before it asks for a turn, which one in the process has at a time: whoever has it gives way to
/// nobody, and those who wait for it don't contend.
const LOSSES_BORNE: u32 = 8;

/// The longest wait between two of them.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Carries out the changes as one, from the start again if somebody else wrote one of the entities meanwhile.
///
/// `batch` is the partition of a batch, whose errors say which of the changes they are about.
pub(in crate::typed) fn commit(
    table: &DynamicTable,
    operations: &mut [&mut dyn Planned],
    batch: Option<&str>,
) -> Result<ETag> {
    let (mut last, mut turn) = (None, None);
    for losses in 0..ATTEMPTS {
        if losses >= LOSSES_BORNE && turn.is_none() {
            turn = table.turn(LONGEST_WAIT);
        }
        // Nobody waits after the first loss, so nothing is timed before it.
        let begun = (losses > 0).then(Instant::now);
        match read(table, operations, batch) {
            // A key that was destroyed with nothing left under it: the row was read before it was sealed anew.
            Err(error) if error.kind() == ErrorKind::KeySuperseded && losses == 0 => continue,
            done => done?,
        }
        let sealer = table.sealer()?;
        let done = planned(operations, batch, &sealer, |plan| {
            table.carry_out(plan, &sealer.sealed_at()).map_err(|failure| {
                let found = failure.error.kind() == ErrorKind::EntityAlreadyExists
                    && failure.of.and_then(|at| operations.get(at)).is_some_and(|o| o.takes_what_it_finds());
                let error = match failure.of {
                    Some(of) if batch.is_some() => failure.error.at_index(of),
                    _ => failure.error,
                };
                (error, failure.was_stale || found)
            })
        })?;
        match done {
            Ok(etag) => return Ok(etag),
            Err((error, true)) => {
                last = Some(error);
                if let (None, Some(begun)) = (&turn, begun) {
                    give_way(losses, begun.elapsed());
                }
            }
            Err((error, false)) => return Err(error),
        }
    }
    let error = last.unwrap_or_else(|| Error::new(ErrorKind::ConditionNotMet));
    Err(error
        .with_kind(ErrorKind::ConditionNotMet)
        .because(format!("others were quicker {ATTEMPTS} times in a row")))
}

/// Waits by chance, longer from loss to loss: then those who contend for an entity come one after another, and not all
/// at one time for one of them to win.
fn give_way(losses: u32, took: Duration) {
    let most = took.saturating_mul(losses).min(LONGEST_WAIT);
    if most.is_zero() {
        return;
    }
    // Each state has keys of its own.
    let chance = u32::try_from(RandomState::new().hash_one(losses) >> 32).unwrap_or_default();
    thread::sleep(most.mul_f64(f64::from(chance) / f64::from(u32::MAX)));
}
