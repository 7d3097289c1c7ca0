//! Places in the middle of what a process does, where it can be stopped until it is told to go on: in the closures of changes,
//! between what they have read and what they write, and where the elements of a field are gone through, which the thread that
//! plans copies does: a writer, a job, and a propagator.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use table_core::schema::KeyElements;

/// Texts, each of which gets a row of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Texts(pub Vec<String>);

impl KeyElements for Texts {
    type Element = String;

    fn elements(&self) -> impl Iterator<Item = &String> {
        here();
        self.0.iter()
    }
}

/// How many places are left until the process stops; 0 if it does not.
static LEFT: AtomicU64 = AtomicU64::new(0);
/// What it does then.
static THEN: Mutex<Option<fn()>> = Mutex::new(None);

/// Has this process stop at the `at`th place from now on, by this function; at none if `at` is 0.
pub fn stop(at: u64, by: fn()) {
    *THEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(by);
    LEFT.store(at, Ordering::Relaxed);
}

/// Such a place.
pub fn here() {
    let left = LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    if left == Ok(1) {
        let then = *THEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(then) = then {
            then();
        }
    }
}
