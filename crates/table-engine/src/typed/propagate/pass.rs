//! Going over all that is to follow, once or as long as there is something.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::{AT_ONCE, panicked};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Backend, Propagator, Propagators, Remaining, telemetry};
use crate::model::Ticks;
use crate::outbox::OutboxEntry;
use crate::plan::{OutboxOp, Plan};
use crate::sealing::SealedAt;

/// Which entries are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tries {
    /// Those whose time has come.
    Due,
    /// All that were noted by this time, but those that were set aside.
    Now(Ticks),
}

impl Tries {
    /// Returns whether an entry is of those that are asked for, now or later.
    fn asks_for(self, entry: &OutboxEntry) -> bool {
        match self {
            Self::Due => true,
            Self::Now(noted_by) => entry.since <= noted_by,
        }
    }
}

/// What a pass has left.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// How many entries another thread or process has changed or propagated meanwhile.
    pub(super) again: u64,
    /// How many entries were propagated in part, with more to follow.
    pub(super) more: u64,
    /// Whether dependents have taken fields of an entity; their own deferred copies may be to follow now.
    pub(super) brings_more: bool,
    /// When the next entry that has failed is to be tried.
    pub(super) next: Option<Ticks>,
    /// Why a kind could not be propagated at all.
    pub(super) refused: Option<Error>,
}

/// Goes over the entries once, and propagates those that this process can, each by itself: a failure is noted, and holds up no
/// other entry.
#[inline]
pub(super) fn pass(store: &Arc<dyn Backend>, tries: Tries) -> Result<Pass> {
    let outbox = store.outbox()?;
    let (mut done, mut last) = (Pass::default(), None);
    loop {
        if tries == Tries::Due && outbox.propagators().is_held() {
            // A caller holds the background thread back; it goes on when it is released.
            return Ok(Pass { again: 1, ..done });
        }
        let entries = match tries {
            Tries::Due => outbox.recent(last.as_ref(), AT_ONCE)?,
            Tries::Now(_) => outbox.after(last.as_ref(), AT_ONCE)?,
        };
        last = entries.last().cloned();
        if last.is_none() {
            return Ok(done);
        }
        let now = Ticks::now();
        let mut kinds: BTreeMap<String, Vec<OutboxEntry>> = BTreeMap::new();
        for entry in entries
            .into_iter()
            .filter(|entry| entry.table.is_some() && !entry.is_aside && tries.asks_for(entry))
        {
            if !outbox.propagators().propagates(&entry.kind) {
                continue;
            }
            if tries != Tries::Due || entry.is_due(now) {
                kinds.entry(entry.kind.clone()).or_default().push(entry);
            } else {
                done.next = Some(done.next.map_or(entry.not_before, |next| next.min(entry.not_before)));
            }
        }
        for (kind, entries) in kinds {
            let results = match propagate(store, &outbox.propagators().of(&kind), &entries) {
                // Its table was dropped, and the entries with it.
                Err(error) if is_no_table(error.kind()) => continue,
                Err(error) if error.kind().stops() => return Err(error),
                // The kind is declared otherwise than it is noted, say: others are propagated all the same.
                Err(error) => {
                    telemetry::outbox_refused(&**store, &kind, error.kind());
                    done.refused.get_or_insert(error);
                    continue;
                }
                Ok(results) => results,
            };
            for (entry, result) in entries.into_iter().zip(results) {
                done.brings_more |= result.is_ok() && !entry.dependents.is_empty();
                match result {
                    Ok(Remaining::Nothing) => {}
                    Ok(Remaining::Some) => done.more += 1,
                    Err(error) if is_stale(&error) => done.again += 1,
                    Err(error) if error.kind().stops() => return Err(error),
                    Err(error) => {
                        let next = fail(store, entry, &error)?;
                        done.next = done.next.into_iter().chain(next).min();
                    }
                }
            }
        }
    }
}

/// Propagates entries of a kind by that version of its struct which can write it: a program may have registered several.
#[inline]
fn propagate(
    store: &Arc<dyn Backend>,
    propagators: &[Arc<dyn Propagator>],
    entries: &[OutboxEntry],
) -> Result<Vec<Result<Remaining>>> {
    let mut propagated = Ok(Vec::new());
    for propagator in propagators {
        propagated = propagator.propagate(store, entries);
        let is_of_another =
            |error: &Error| matches!(error.kind(), ErrorKind::LayoutChanged | ErrorKind::MigrationPending);
        if !propagated.as_ref().is_err_and(is_of_another) {
            break;
        }
    }
    propagated
}

/// Returns whether a refusal says that the entity, its entry, its indexes or their tables are others by now.
fn is_stale(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConditionNotMet
            | ErrorKind::EntityNotFound
            | ErrorKind::EntityAlreadyExists
            // It was dropped meanwhile.
            | ErrorKind::TableNotFound
            | ErrorKind::TableRenamed
    )
}

/// Returns whether a refusal says that no table has the name: it was dropped, or is called otherwise now.
pub(super) fn is_no_table(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::TableNotFound | ErrorKind::TableRenamed)
}

/// Notes that an entry has failed. Returns about when it is to be tried again.
#[inline]
fn fail(store: &Arc<dyn Backend>, entry: OutboxEntry, error: &Error) -> Result<Option<Ticks>> {
    telemetry::outbox_failing(&**store, &entry, error.kind());
    let outbox_ops = vec![OutboxOp::Fail(entry.source, entry.version, error.to_string())];
    let plan = Plan { outbox_ops, ..Plan::default() };
    match store.commit(&[], &plan, &SealedAt::NOTHING) {
        Ok(committed) => Ok(committed
            .etag(0)
            .timestamp()
            .checked_add(Duration::from_millis(250) * (2 << entry.tries.min(8)))),
        // Its entity has changed.
        Err(refused) if is_stale(&refused.error) => Ok(Some(Ticks::now())),
        Err(refused) => Err(refused.error),
    }
}

/// How long the thread waits after an attempt that failed as a whole, at first and at most.
const FIRST_DELAY: Duration = Duration::from_millis(100);
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Propagates as long as the store is open and there is something that this process can propagate. Runs as a thread.
#[inline]
#[expect(clippy::needless_pass_by_value, reason = "a thread has what it is given")]
pub(super) fn background(store: Weak<dyn Backend>, propagators: Arc<Propagators>) {
    let mut delay = FIRST_DELAY;
    loop {
        if !propagators.await_release() {
            return propagators.give_up();
        }
        let seen = propagators.news();
        // Holding the store only for a pass lets the last handle close it between passes.
        let Some(open) = store.upgrade() else { return propagators.give_up() };
        let done = catch_unwind(AssertUnwindSafe(|| pass(&open, Tries::Due)));
        drop(open);
        let left = done.unwrap_or_else(|_| Err(panicked()));
        let left = left.and_then(|pass| pass.refused.map_or(Ok(Pass { refused: None, ..pass }), Err));
        let wait = match left {
            Ok(pass) => {
                propagators.note(None);
                delay = FIRST_DELAY;
                match pass.next {
                    _ if pass.again + pass.more > 0 => Duration::from_millis(1),
                    Some(next) => next.saturating_since(Ticks::now()).max(Duration::from_millis(1)),
                    None if propagators.end(seen) => return,
                    None => continue,
                }
            }
            Err(error) => {
                let is_over = matches!(
                    error.kind(),
                    ErrorKind::OutcomeUnknown
                        | ErrorKind::Superseded
                        | ErrorKind::ReadOnly
                        | ErrorKind::Corrupt
                );
                propagators.note(Some(error));
                if is_over {
                    return propagators.give_up();
                }
                delay = (delay * 2).min(LONGEST_DELAY);
                delay
            }
        };
        if !propagators.wait(seen, wait) {
            return propagators.give_up();
        }
    }
}
