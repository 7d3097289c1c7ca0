//! The snapshots that live in this process.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The snapshots that live, by the order in which they were taken.
#[derive(Debug, Default)]
pub(crate) struct Live(Arc<Mutex<Register>>);

#[derive(Debug, Default)]
struct Register {
    next: u64,
    /// By their numbers, which rise: mostly few, so that a place in a list is found at once.
    taken: Vec<(u64, (Instant, usize))>,
}

impl Live {
    /// Returns the oldest, by what it sees: when it was taken, and the number of the last transaction that it sees.
    pub(crate) fn oldest(&self) -> Option<(Instant, usize)> {
        self.all().into_iter().min_by_key(|(taken, transaction)| (*transaction, *taken))
    }

    /// Returns all of them, the oldest first: when each was taken, and the number of the last transaction that it sees.
    pub(crate) fn all(&self) -> Vec<(Instant, usize)> {
        let register = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        register.taken.iter().map(|(_, taken)| *taken).collect()
    }

    pub(crate) fn register(&self, transaction: usize) -> Ticket {
        let taken = Instant::now();
        let mut register = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = register.next;
        register.next += 1;
        register.taken.push((number, (taken, transaction)));
        Ticket { register: Arc::downgrade(&self.0), number, taken }
    }
}

/// A snapshot's place in the list; leaves it when dropped.
#[derive(Debug)]
pub(crate) struct Ticket {
    register: Weak<Mutex<Register>>,
    number: u64,
    taken: Instant,
}

impl Ticket {
    /// Returns how long the snapshot has lived.
    pub(crate) fn age(&self) -> Duration {
        self.taken.elapsed()
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if let Some(register) = self.register.upgrade() {
            let mut register = register.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(at) = register.taken.binary_search_by_key(&self.number, |(number, _)| *number) {
                register.taken.remove(at);
            }
        }
    }
}
