//! Ids of requests.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use table_core::Uuid;

/// Makes ids that tell requests apart, also those of other processes and of former runs.
#[derive(Debug)]
pub(crate) struct RequestIds {
    run: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new() -> Self {
        // The standard library's hashes have random keys. An id is no secret.
        Self { run: RandomState::new().hash_one(Uuid::nil()), next: AtomicU64::new(1) }
    }

    /// Returns the next id, as a UUID is written.
    pub(crate) fn next(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(self.run, number).to_string()
    }
}
