//! What counts nothing: the types of [`counters`](super) without the feature `metrics`.

use std::time::Duration;

use super::{Committed, Messages};
use crate::error::ErrorKind;

/// Counts nothing.
#[derive(Clone, Debug, Default)]
pub struct Telemetry(());

/// Counts nothing.
#[derive(Debug, Default)]
pub struct Tally;

/// No time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stamp;

impl Stamp {
    /// No time.
    pub const NONE: Self = Self;

    /// Returns no time.
    #[inline]
    pub fn now() -> Self {
        Self
    }

    /// Returns zero.
    #[inline]
    pub fn elapsed(self) -> Duration {
        Duration::ZERO
    }
}

impl Tally {
    /// Does nothing.
    #[inline]
    pub fn add(&mut self, _rows: u64) {}
}

impl Telemetry {
    /// Whether anything is counted.
    pub const IS_ON: bool = false;

    /// Does nothing.
    #[inline]
    pub fn point_read(&self) {}

    /// Returns what counts nothing.
    #[inline]
    pub fn query(&self) -> Tally {
        Tally
    }

    /// Returns what counts nothing.
    #[inline]
    pub fn rows_read(&self) -> Tally {
        Tally
    }

    /// Does nothing.
    #[inline]
    pub fn committed(&self, _commit: &Committed) {}

    /// Does nothing.
    #[inline]
    pub fn waited(&self, _wait: Duration) {}

    /// Does nothing.
    #[inline]
    pub fn submitted(&self, _is_taken: bool) {}

    /// Does nothing.
    #[inline]
    pub fn conflict(&self) {}

    /// Does nothing.
    #[inline]
    pub fn job_rows(&self, _rows: u64) {}

    /// Does nothing.
    #[inline]
    pub fn messages(&self, _messages: Messages) {}

    /// Does nothing.
    #[inline]
    pub fn failed(&self, _kind: ErrorKind) {}
}
