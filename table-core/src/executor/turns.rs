//! Who goes first where many change the same entities.

use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

/// Gives turns to changes that others have been too quick for: one change of a store has the turn at a time, in this
/// process.
#[derive(Debug, Default)]
pub struct Turns(Mutex<()>);

impl Turns {
    /// The turn, if it comes within so long. Never waits for ever: the change that has it may be waiting for this one.
    pub(crate) fn take(&self, patience: Duration) -> Option<MutexGuard<'_, ()>> {
        let begun = Instant::now();
        loop {
            match self.0.try_lock() {
                Ok(turn) => return Some(turn),
                Err(TryLockError::Poisoned(turn)) => return Some(turn.into_inner()),
                Err(TryLockError::WouldBlock) if begun.elapsed() > patience => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
            }
        }
    }
}
