//! What counts nothing: the types of `counters` without the feature `metrics`.

use std::time::Duration;

use super::{Committed, Messages};
use crate::error::ErrorKind;

/// Counts nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters(());

/// Counts nothing.
#[derive(Debug, Default)]
pub(super) struct Tally;

/// No time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp;

impl Stamp {
    /// No time.
    pub(super) const NONE: Self = Self;

    /// Returns no time.
    #[inline]
    pub(super) fn now() -> Self {
        Self
    }

    /// Returns zero.
    #[inline]
    pub(super) fn elapsed(self) -> Duration {
        Duration::ZERO
    }
}

impl Tally {
    /// Does nothing.
    #[inline]
    pub(super) fn note(&self, _rows: u64) {}
}

impl Counters {
    /// Whether anything is counted.
    pub(super) const IS_ON: bool = false;

    /// Does nothing.
    #[inline]
    pub(super) fn point_read(&self) {}

    /// Returns what counts nothing.
    #[inline]
    pub(super) fn query(&self) -> Tally {
        Tally
    }

    /// Returns what counts nothing.
    #[inline]
    pub(super) fn rows_read(&self) -> Tally {
        Tally
    }

    /// Does nothing.
    #[inline]
    pub(super) fn committed(&self, _commit: &Committed) {}

    /// Does nothing.
    #[inline]
    pub(super) fn waited(&self, _wait: Duration) {}

    /// Does nothing.
    #[inline]
    pub(super) fn submitted(&self, _is_taken: bool) {}

    /// Does nothing.
    #[inline]
    pub(super) fn conflict(&self) {}

    /// Does nothing.
    #[inline]
    pub(super) fn job_rows(&self, _rows: u64) {}

    /// Does nothing.
    #[inline]
    pub(super) fn messages(&self, _messages: Messages) {}

    /// Does nothing.
    #[inline]
    pub(super) fn failed(&self, _kind: ErrorKind) {}
}
