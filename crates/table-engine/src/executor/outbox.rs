//! Deferred copies, as an executor keeps them, and what propagates them in this process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::Backend;
use crate::error::{Error, Result};
use crate::model::Ticks;
use crate::outbox::{OutboxCount, OutboxEntry};
use crate::schema::Schema;
use crate::sorting;

/// The entries of a store: the entities whose copies are to follow.
///
/// Its errors say what is wrong; the caller adds what was attempted.
pub trait Outbox {
    /// Returns the entries behind that of this table, partition key and row key, in the order of those: so many at most.
    fn after(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>>;

    /// Returns of those entries what this process may have to do with, in the same order: all, where it takes no longer to
    /// find them all.
    fn recent(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>> {
        self.after(last, most)
    }

    /// Returns how many there are; of a store that would have to look for them, how many of them this process knows of at
    /// the least: none if there may be none.
    fn count(&self) -> Result<OutboxCount>;

    /// Removes those of tables that were dropped, and other marks of copies that nothing needs any more.
    fn purge(&self) -> Result<()>;

    /// Returns what propagates them in this process.
    fn propagators(&self) -> &Arc<Propagators>;
}

/// What is left of an entry that was propagated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remaining {
    /// Nothing.
    Nothing,
    /// Some of what is to follow, or what follows that: it takes another step.
    Some,
}

/// What propagates the entities of one kind.
pub(crate) trait Propagator: Send + Sync {
    /// Returns the declaration by which it does so.
    fn schema(&self) -> &'static Schema;

    /// Propagates these entries, which are of its kind; what became of each.
    fn propagate(&self, store: &Arc<dyn Backend>, entries: &[OutboxEntry]) -> Result<Vec<Result<Remaining>>>;
}

/// Runs in the background as long as there is something to propagate.
pub(crate) type Background = fn(Weak<dyn Backend>, Arc<Propagators>);

/// How often, at most, reads look for entries that no process propagates.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// How long such an entry has been there. A process that is at work propagates it sooner.
const LEFT_FOR: Duration = Duration::from_secs(2);

/// How many entries such a look reads at most, since a read of a user's waits for it.
const LOOKED_AT: usize = 64;

/// The start of the times in [`Propagators::looks_at`], since an atomic can't hold an `Instant`.
static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The propagation of this process: a propagator for each kind that it has opened, and a thread that exists as long as there
/// is something to do.
#[derive(Default)]
pub struct Propagators {
    /// Whether nothing is propagated but when it is asked for.
    is_manual: bool,
    /// When a read may look again, in milliseconds.
    looks_at: AtomicU64,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Of each kind, one for each version of its struct, the last one first.
    kinds: BTreeMap<&'static str, Vec<Arc<dyn Propagator>>>,
    /// The store and what runs for it, once a kind is known.
    background: Option<(Weak<dyn Backend>, Background)>,
    /// Whether the thread is there.
    is_running: bool,
    /// How often something has come.
    news: u64,
    /// Whether the thread is to let go of the store for a while.
    is_held: bool,
    /// Whether the store is no more.
    is_over: bool,
    /// Why the last attempt of the thread failed as a whole.
    failure: Option<Error>,
}

impl Propagators {
    /// Makes the propagators of a store: with `is_manual` they do nothing by themselves.
    pub fn new(is_manual: bool) -> Self {
        Self { is_manual, ..Self::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what propagates a kind, the last version of its struct first: one of them at most can write it.
    #[inline]
    pub(crate) fn of(&self, kind: &str) -> Vec<Arc<dyn Propagator>> {
        self.state().kinds.get(kind).cloned().unwrap_or_default()
    }

    /// Returns whether this process propagates a kind.
    pub(crate) fn propagates(&self, kind: &str) -> bool {
        self.state().kinds.contains_key(kind)
    }

    /// Returns whether this declaration propagates its kind already.
    #[inline]
    pub(crate) fn knows(&self, schema: &'static Schema) -> bool {
        let state = self.state();
        let mut known = state.kinds.get(schema.kind).into_iter().flatten();
        known.any(|known| std::ptr::eq(known.schema(), schema))
    }

    /// Takes in what propagates a kind, in the place of another of its version, and has what is there propagated.
    #[inline]
    pub(crate) fn add(
        &self,
        store: &Arc<dyn Backend>,
        propagator: Arc<dyn Propagator>,
        background: Background,
    ) {
        let mut state = self.state();
        let schema = propagator.schema();
        let known = state.kinds.entry(schema.kind).or_default();
        known.retain(|known| known.schema().version != schema.version);
        known.push(propagator);
        sorting::sort_by_key(known, |known| std::cmp::Reverse(known.schema().version));
        state.background = Some((Arc::downgrade(store), background));
    }

    /// Says that something has come: the thread looks, and is begun if it is not there.
    pub fn notify(self: &Arc<Self>) {
        let mut state = self.state();
        state.news = state.news.wrapping_add(1);
        self.changed.notify_all();
        if self.is_manual || state.is_running || state.is_over {
            return;
        }
        let Some((store, run)) = state.background.clone() else { return };
        let propagators = self.clone();
        let thread = std::thread::Builder::new().name("table-core propagate".into());
        match thread.spawn(move || run(store, propagators)) {
            Ok(_) => state.is_running = true,
            // The next change tries again.
            Err(error) => {
                let because = "no thread could be started";
                state.failure = Some(Error::new(crate::ErrorKind::Io).because(because).caused_by(error));
            }
        }
    }

    /// Has entries propagated that another process has left, if there are any. Reads of deferred copies call this: the
    /// entries would otherwise stay until the next write. Most calls look at the clock, and at nothing else.
    pub(crate) fn look(self: &Arc<Self>, outbox: &dyn Outbox) {
        if self.is_manual {
            return;
        }
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let (now, next) = (millis(BEGUN.elapsed()), self.looks_at.load(Ordering::Relaxed));
        let after = now.saturating_add(millis(LOOK_EVERY));
        // Relaxed: the time decides which thread looks, and orders nothing else.
        let is_mine = now >= next
            && self.looks_at.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // A read does not fail because this look does.
        if !is_mine || !outbox.count().is_ok_and(|count| count.entries > 0) {
            return;
        }
        let now = Ticks::now();
        let is_left = |entry: &OutboxEntry| {
            entry.table.is_some()
                && self.propagates(&entry.kind)
                && entry.is_due(now)
                && now.saturating_since(entry.latest) > LEFT_FOR
        };
        if outbox.recent(None, LOOKED_AT).is_ok_and(|entries| entries.iter().any(is_left)) {
            self.notify();
        }
    }

    /// Returns how often something has come.
    pub(crate) fn news(&self) -> u64 {
        self.state().news
    }

    /// Notes why an attempt failed as a whole, or that it did not.
    pub(crate) fn note(&self, failure: Option<Error>) {
        self.state().failure = failure;
    }

    /// Returns why the last attempt of the thread failed as a whole.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.state().failure.as_ref().map(Error::again)
    }

    /// Ends the thread that calls it, unless something has come since `seen`. Whether it has ended.
    pub(crate) fn end(&self, seen: u64) -> bool {
        let mut state = self.state();
        let ends = state.is_over || state.news == seen;
        state.is_running = !ends;
        ends
    }

    /// Ends the thread that calls it, whatever has come: the next news begin another.
    pub(crate) fn give_up(&self) {
        self.state().is_running = false;
    }

    /// Waits for news since `seen`, for so long at most. False if the store is no more.
    #[inline]
    pub(crate) fn wait(&self, seen: u64, most: Duration) -> bool {
        let waits = |state: &mut State| state.news == seen && !state.is_over;
        let waited = self.changed.wait_timeout_while(self.state(), most, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    /// Has the thread let go of the store, soon; or go on.
    pub fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
        self.changed.notify_all();
    }

    /// Returns whether the thread is to let go of the store.
    pub(crate) fn is_held(&self) -> bool {
        self.state().is_held
    }

    /// Returns whether there is a thread.
    pub fn is_running(&self) -> bool {
        self.state().is_running
    }

    /// Waits as long as the store is to be let go. False if it is no more.
    #[inline]
    pub(crate) fn await_release(&self) -> bool {
        let waits = |state: &mut State| state.is_held && !state.is_over;
        !self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Says that the store is no more.
    pub fn over(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

impl fmt::Debug for Propagators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Propagators").field("is_manual", &self.is_manual).finish_non_exhaustive()
    }
}
