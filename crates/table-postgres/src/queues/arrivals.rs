//! Wakes the threads and the tasks of this process that wait for messages.
//!
//! What other processes send is found by looking: a `NOTIFY` in each transaction would cost the server most of its speed.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use table_engine::__executor::Room;

/// How often this process has changed queues.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    changes: Mutex<u64>,
    changed: Condvar,
    /// The tasks that wait.
    pub(super) tasks: Room,
}

impl Arrivals {
    /// Notifies the threads and the tasks that messages may have come.
    pub(crate) fn notify(&self) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        *changes = changes.wrapping_add(1);
        self.changed.notify_all();
        drop(changes);
        self.tasks.wake(usize::MAX);
    }

    /// Waits until the count of notifications is another than `seen`, for `most` at most, and returns the count.
    pub(super) fn wait(&self, seen: u64, most: Duration) -> u64 {
        let changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        if most.is_zero() {
            return *changes;
        }
        let waited = self.changed.wait_timeout_while(changes, most, |changes| *changes == seen);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
