//! What traces nothing: the types of `spans` without the feature `tracing`.

use std::marker::PhantomData;
use std::time::Duration;

use super::{Committed, Messages, Written};
use crate::error::ErrorKind;
use crate::query::QueryPlan;

/// Nothing is said of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Origin;

/// Nothing.
#[derive(Clone, Debug, Default)]
pub struct Operation;

/// No operation.
#[derive(Debug)]
pub struct Entered<'o>(PhantomData<&'o Operation>);

/// No operation.
#[derive(Debug)]
pub struct Measured;

/// No operation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp;

/// Counts nothing.
#[derive(Debug, Default)]
pub(super) struct Tally;

/// Returns false.
#[inline]
pub(super) fn is_enabled() -> bool {
    false
}

/// Does nothing.
#[inline]
pub(super) fn messages(_messages: Messages) {}

impl Origin {
    /// Returns what says nothing.
    #[inline]
    pub(super) fn new(_namespace: &str, _slow_after: Option<Duration>) -> Self {
        Self
    }

    /// Does nothing.
    #[inline]
    pub(super) fn failed(&self, _kind: ErrorKind, _table: &str) {}

    /// Does nothing.
    #[inline]
    pub(super) fn damage(&self, _kind: ErrorKind, _table: &str) {}

    /// Does nothing.
    #[inline]
    pub(super) fn outbox_failing(&self, _table: &str, _kind: &str, _tries: u32, _error: ErrorKind) {}

    /// Begins nothing.
    #[inline]
    pub(super) fn get(&self, _table: &str) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn query(&self, _table: &str) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn commit<'w>(&self, _written: impl FnOnce() -> Written<'w>) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn job(&self, _name: &str, _table: &str) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn queue(&self, _attempted: &str, _queue: &str) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn blob(&self, _attempted: &str, _container: &str) -> Operation {
        Operation
    }

    /// Begins nothing.
    #[inline]
    pub(super) fn open(&self) -> Operation {
        Operation
    }
}

impl Operation {
    /// Nothing.
    pub const NONE: Self = Self;

    /// Does nothing.
    #[inline]
    pub fn enter(&self) -> Entered<'_> {
        Entered(PhantomData)
    }

    /// Does nothing.
    #[inline]
    pub fn measure(&self) -> Measured {
        Measured
    }

    /// Returns that there is none.
    #[inline]
    pub fn is_none(&self) -> bool {
        true
    }

    /// Does nothing.
    #[inline]
    pub fn returned(&self, _rows: u64) {}

    /// Does nothing.
    #[inline]
    pub fn failed(&self, _kind: ErrorKind) {}

    /// Does nothing.
    #[inline]
    pub fn check_slow(&self) {}

    /// Returns what counts nothing.
    #[inline]
    pub(super) fn given(&self) -> Tally {
        Tally
    }
}

impl Stamp {
    /// Nothing.
    pub(super) const NONE: Self = Self;

    /// Returns nothing.
    #[inline]
    pub(super) fn now() -> Self {
        Self
    }

    /// Returns zero.
    #[inline]
    pub(super) fn elapsed(self) -> Duration {
        Duration::ZERO
    }

    /// Does nothing.
    #[inline]
    pub(super) fn waited(self) {}

    /// Does nothing.
    #[inline]
    pub(super) fn committed(self, _commit: &Committed) {}

    /// Returns nothing.
    #[inline]
    pub(super) fn until_slow(self) -> Option<Duration> {
        None
    }

    /// Does nothing.
    #[inline]
    pub(super) fn check_slow(self) {}
}

impl Tally {
    /// Nothing.
    pub(super) const NONE: Self = Self;

    /// Returns what counts nothing.
    #[inline]
    pub(super) fn looking() -> Self {
        Self
    }

    /// Does nothing.
    #[inline]
    pub(super) fn note(&self, _rows: u64) {}

    /// Does nothing.
    #[inline]
    pub(super) fn planned(&self, _plan: &QueryPlan) {}

    /// Does nothing.
    #[inline]
    pub(super) fn check_slow(&self) {}
}
