//! Spans of the crate `tracing`: one for each operation.
//!
//! A span belongs to the thread that called: it is a child of that thread's span, and ends there. A thread that carries out
//! other threads' writes notes what it has measured as [`Figures`], and the caller's thread puts them into its span. So no
//! span is held longer than its operation takes.
//!
//! Fields are named as OpenTelemetry names them, where it does. No field holds a key, a value or a part of a filter: there are
//! names of stores, tables, queues and containers, numbers, and kinds of errors.

mod begin;
mod figures;

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::{Level, Span, field};

pub(super) use self::begin::SYSTEM;
pub(super) use self::figures::Figures;
use self::figures::Rows;
use super::{Committed, Messages};
use crate::error::ErrorKind;
use crate::query::QueryPlan;

thread_local! {
    /// What is measured of the operation that the thread carries out.
    static CURRENT: RefCell<Option<Arc<Figures>>> = const { RefCell::new(None) };
}

/// Returns whether a subscriber may take warnings or spans: a load of an atomic, and nothing else where none does.
#[inline]
pub(super) fn is_enabled() -> bool {
    Level::WARN <= STATIC_MAX_LEVEL && Level::WARN <= LevelFilter::current()
}

/// Returns the figures of the operation that the thread carries out.
#[inline]
fn current() -> Option<Arc<Figures>> {
    if is_enabled() { CURRENT.try_with(|current| current.borrow().clone()).ok().flatten() } else { None }
}

/// Notes messages that the operation of the thread has sent, received or completed.
#[inline]
pub(super) fn messages(messages: Messages) {
    if let Some(figures) = current() {
        figures.messages(messages);
    }
}

/// What spans and events say of a store.
#[derive(Clone, Debug, Default)]
pub struct Origin(Arc<About>);

#[derive(Debug, Default)]
struct About {
    namespace: Box<str>,
    slow_after: Option<Duration>,
}

impl Origin {
    /// Returns what is said of a store of this name, whose operations are slow after so long.
    pub(super) fn new(namespace: &str, slow_after: Option<Duration>) -> Self {
        Self(Arc::new(About { namespace: namespace.into(), slow_after }))
    }

    pub(super) fn namespace(&self) -> &str {
        &self.0.namespace
    }

    /// Notes an error of the operation that the thread carries out. Damage is reported.
    #[inline]
    pub(super) fn failed(&self, kind: ErrorKind, table: &str) {
        if Level::ERROR <= STATIC_MAX_LEVEL && Level::ERROR <= LevelFilter::current() {
            self.note(kind, table);
        }
    }

    #[cold]
    fn note(&self, kind: ErrorKind, table: &str) {
        if let Some(figures) = current() {
            figures.failed(kind);
        }
        self.damage(kind, table);
    }
}

/// An operation that is under way; it ends when this and all its clones are dropped. Empty where no subscriber takes it.
#[derive(Clone, Debug, Default)]
#[must_use = "the operation ends when this is dropped"]
pub struct Operation(Option<Arc<Running>>);

struct Running {
    span: Span,
    figures: Arc<Figures>,
}

impl Operation {
    /// No operation.
    pub const NONE: Self = Self(None);

    /// Makes the span the thread's current one until what is returned is dropped.
    #[inline]
    pub fn enter(&self) -> Entered<'_> {
        Entered { _span: self.0.as_ref().map(|running| running.span.enter()), _measured: self.measure() }
    }

    /// Makes what the thread measures the operation's until what is returned is dropped, and leaves the thread's span.
    #[inline]
    pub fn measure(&self) -> Measured {
        Measured(self.0.as_ref().map(|running| Around(replace(Some(running.figures.clone())))))
    }

    /// Returns whether there is none.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Notes so many rows as what it gives.
    #[inline]
    pub fn returned(&self, rows: u64) {
        if let Some(running) = &self.0 {
            running.figures.rows(Rows::Returned, rows);
        }
    }

    /// Notes that it has failed.
    #[inline]
    pub fn failed(&self, kind: ErrorKind) {
        if let Some(running) = &self.0 {
            running.figures.failed(kind);
        }
    }

    /// Reports that it is slow and still runs, if it is.
    #[inline]
    pub fn check_slow(&self) {
        if let Some(running) = &self.0 {
            running.span.in_scope(|| running.figures.check_slow());
        }
    }

    /// Returns what the rows that it gives are counted with.
    #[inline]
    pub(super) fn given(&self) -> Tally {
        Tally(self.0.as_ref().map(|running| (running.figures.clone(), Rows::Returned)))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Self { span, figures } = self;
        span.in_scope(|| {
            if !span.is_disabled() {
                figures.each(&mut |name, value| {
                    span.record(name, value);
                });
            }
            figures.ended();
        });
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("figures", &self.figures).finish_non_exhaustive()
    }
}

/// The time for which an operation is the thread's.
#[derive(Debug)]
#[must_use = "the thread leaves the span when this is dropped"]
pub struct Entered<'o> {
    _span: Option<tracing::span::Entered<'o>>,
    _measured: Measured,
}

/// The time for which what the thread measures is an operation's.
#[derive(Debug)]
#[must_use = "the operation around it goes on when this is dropped"]
pub struct Measured(#[expect(dead_code, reason = "it is there for its drop")] Option<Around>);

/// The figures of the operation around another one, which are the thread's again when this is dropped.
#[derive(Debug)]
struct Around(Option<Arc<Figures>>);

impl Drop for Around {
    fn drop(&mut self) {
        replace(self.0.take());
    }
}

/// Makes figures the thread's, and returns those that were. A thread that ends has none.
fn replace(figures: Option<Arc<Figures>>) -> Option<Arc<Figures>> {
    CURRENT.try_with(|current| current.replace(figures)).ok().flatten()
}

/// When a write came, and what is measured of its operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamp {
    at: Option<Instant>,
    figures: Option<Arc<Figures>>,
}

impl Stamp {
    pub(super) const NONE: Self = Self { at: None, figures: None };

    #[inline]
    pub(super) fn now() -> Self {
        if is_enabled() { Self { at: Some(Instant::now()), figures: current() } } else { Self::NONE }
    }

    #[inline]
    pub(super) fn elapsed(&self) -> Duration {
        self.at.map(|then| then.elapsed()).unwrap_or_default()
    }

    #[inline]
    pub(super) fn waited(&self) {
        if let Some(figures) = &self.figures {
            figures.waited(self.elapsed());
        }
    }

    #[inline]
    pub(super) fn committed(&self, commit: &Committed) {
        if let Some(figures) = &self.figures {
            figures.committed(commit);
        }
    }

    #[inline]
    pub(super) fn until_slow(&self) -> Option<Duration> {
        self.figures.as_ref()?.until_slow()
    }

    #[inline]
    pub(super) fn check_slow(&self) {
        if let Some(figures) = &self.figures {
            figures.check_slow();
        }
    }
}

/// The operation that rows are counted for.
#[derive(Debug, Default)]
pub(super) struct Tally(Option<(Arc<Figures>, Rows)>);

impl Tally {
    pub(super) const NONE: Self = Self(None);

    /// Returns what counts the rows that the operation of the thread looks at.
    #[inline]
    pub(super) fn looking() -> Self {
        Self(current().map(|figures| (figures, Rows::Read)))
    }

    /// Adds so many rows.
    #[inline]
    pub(super) fn note(&self, rows: u64) {
        if let Some((figures, which)) = &self.0 {
            figures.rows(*which, rows);
        }
    }

    #[inline]
    pub(super) fn planned(&self, plan: &QueryPlan) {
        if let Some((figures, _)) = &self.0 {
            figures.planned(plan);
        }
    }

    #[inline]
    pub(super) fn check_slow(&self) {
        if let Some((figures, _)) = &self.0 {
            figures.check_slow();
        }
    }
}

/// What a field of a span can be.
type FieldValue<'v> = &'v dyn field::Value;
