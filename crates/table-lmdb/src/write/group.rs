//! A group of prepared writes that share a transaction: each is carried out by itself, and gets an answer of its own.

use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::model::Ticks;
use table_engine::plan::{Act, Refused};
use table_engine::telemetry::{Committed, Stamp, Telemetry};

use super::encoded::EncodedPlan;
use super::queue::{State, WriterTicket};
use super::transaction::Transaction;

/// A prepared write in a group and where its answer goes.
#[derive(Debug)]
pub(crate) struct Member {
    pub(super) prepared: Box<EncodedPlan>,
    /// When the write came.
    pub(super) since: Stamp,
    /// None for the leader's own.
    pub(super) turn: Option<Arc<WriterTicket>>,
    pub(super) result: Option<Result<Ticks, Refused>>,
}

/// The members of a group. One that has no answer when the group ends by a panic gets that as its error.
#[derive(Default)]
pub(crate) struct Members(pub(super) Vec<Member>);

impl Members {
    pub(crate) fn push(&mut self, prepared: Box<EncodedPlan>, since: Stamp) {
        self.0.push(Member { prepared, since, turn: None, result: None });
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns how many rows they write or remove.
    pub(crate) fn rows(&self) -> usize {
        self.0.iter().map(|member| member.prepared.rows.len()).sum()
    }

    /// Stamps the first of a sequence of one caller's, which is one operation.
    pub(crate) fn stamp(&mut self, since: Stamp) {
        if let Some(first) = self.0.first_mut() {
            first.since = since;
        }
    }

    /// Counts how long each has waited for the transaction.
    pub(super) fn waited(&self, telemetry: &Telemetry) {
        for Member { since, .. } in &self.0 {
            if Telemetry::COUNTS {
                telemetry.waited(since.elapsed());
            }
            since.waited();
        }
    }

    /// Gives each member that waits its answer, and the list back.
    pub(super) fn answered(mut self) -> Vec<Member> {
        self.answer();
        std::mem::take(&mut self.0)
    }

    fn answer(&mut self) {
        for member in &mut self.0 {
            if let Some(turn) = member.turn.take() {
                let result = member.result.take();
                turn.set(State::Done(result.unwrap_or_else(panicked)));
            }
        }
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        self.answer();
    }
}

/// Members of a transaction that has not been committed. Their results are forgotten with it: after a panic nothing was written.
struct Uncommitted<'m>(&'m mut [Member]);

impl Drop for Uncommitted<'_> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(|member| member.result = None);
    }
}

/// Returns the answer of a member whose leader has panicked.
pub(super) fn panicked() -> Result<Ticks, Refused> {
    Err(Refused::whole(Error::new(ErrorKind::WriterPanicked)))
}

/// Applies every member's prepared write and commits, if anything was written. An error means that nothing was.
pub(super) fn attempt(
    mut group: Transaction<'_>,
    members: &mut [Member],
    telemetry: &Telemetry,
) -> Result<bool> {
    let members = Uncommitted(members);
    let begun = Stamp::now();
    let (mut some_done, mut some_refused, mut has_step) = (false, false, false);
    for member in members.0.iter_mut() {
        #[cfg(test)]
        reach(&member.prepared);
        has_step |= member.prepared.step.is_some();
        // A job does not go on while anything of its step can't happen.
        let result = if member.prepared.step.is_some() && some_refused {
            let because = "something of the step was refused";
            Err(member.prepared.locate_all(Error::new(ErrorKind::ConditionNotMet).because(because)))
        } else {
            group.apply(&mut member.prepared)?
        };
        some_done |= result.is_ok();
        some_refused |= result.is_err();
        member.result = Some(result);
    }
    // A step happens whole or not at all: what a job has done, and what it says of it, is one.
    let written = some_done && !(has_step && some_refused);
    if written {
        let (apply, applied) = (begun.elapsed(), Stamp::now());
        group.commit()?;
        if Telemetry::is_wanted() {
            let committed = Committed { apply, flush: applied.elapsed(), ..written_by(members.0) };
            telemetry.committed(&committed);
            let done = members.0.iter().filter(|member| matches!(member.result, Some(Ok(_))));
            done.for_each(|member| member.since.committed(&committed));
        }
    }
    // The results stand: nothing is left that could take the writes back.
    std::mem::forget(members);
    Ok(written)
}

/// Counts the writes of a transaction that were not refused, and their rows.
fn written_by(members: &[Member]) -> Committed {
    let mut all = Committed::default();
    for member in members.iter().filter(|member| matches!(member.result, Some(Ok(_)))) {
        let rows = &member.prepared.rows;
        let removed = rows.iter().filter(|row| matches!(row.act, Act::Remove)).count();
        let written = rows.len() - removed + member.prepared.additions.len();
        all.batches += 1;
        all.rows_written += u64::try_from(written).unwrap_or(u64::MAX);
        all.rows_removed += u64::try_from(removed).unwrap_or(u64::MAX);
    }
    all
}

/// A table on which a prepared write panics: nothing in the store itself panics.
#[cfg(test)]
pub(super) const PANICS: &str = "Panics";

#[cfg(test)]
fn reach(prepared: &EncodedPlan) {
    assert!(prepared.groups.iter().all(|group| &*group.table.name != PANICS), "as the test wants it");
}
