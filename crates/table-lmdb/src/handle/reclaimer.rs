//! What a process knows of its freeing the space of dropped tables.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use table_engine::error::{Error, ErrorKind};
use table_engine::model::Ticks;

/// Why the space of dropped tables is not being freed; see [`StoreStats`](crate::StoreStats::reclaim_failure).
///
/// ```
/// # use table_core::Store;
/// # let dir = tempfile::tempdir()?;
/// # let store = Store::open(dir.path().join("company.tables"))?;
/// if let Some(failure) = store.stats()?.reclaim_failure {
///     eprintln!("dropped tables still take room, since {}: {}", failure.since, failure.message);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReclaimFailure {
    /// What is wrong, for a program to act on.
    pub kind: ErrorKind,
    /// What the last attempt failed with, for people.
    pub message: String,
    /// When the first attempt failed; each one since then has.
    pub since: Ticks,
}

/// What this process knows of its freeing of space.
#[derive(Debug, Default)]
pub(crate) struct Reclaimer {
    /// Whether a thread of it does so in the background.
    is_running: AtomicBool,
    failure: Mutex<Option<ReclaimFailure>>,
}

impl Reclaimer {
    /// Returns the failure of the last step, unless it succeeded.
    pub(crate) fn failure(&self) -> Option<ReclaimFailure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes what became of a step.
    pub(crate) fn note(&self, error: Option<&Error>) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        *failure = error.map(|error| ReclaimFailure {
            kind: error.kind(),
            message: error.to_string(),
            since: failure.as_ref().map_or_else(Ticks::now, |first| first.since),
        });
    }

    /// Returns whether the caller is to be the thread in the background.
    pub(crate) fn begin(&self) -> bool {
        !self.is_running.swap(true, Ordering::AcqRel)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Acquire)
    }

    pub(crate) fn end(&self) {
        self.is_running.store(false, Ordering::Release);
    }
}
