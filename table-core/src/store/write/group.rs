//! A group of prepared writes that share a transaction: each is carried out by itself, and told what came of it.

use std::sync::Arc;

use super::encoded::Prepared;
use super::queue::{State, Turn};
use super::transaction::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Ticks;
use crate::plan::Refused;

/// A prepared write in a group and where its answer goes.
pub(crate) struct Member {
    pub(super) prepared: Prepared,
    /// None for the leader's own.
    pub(super) turn: Option<Arc<Turn>>,
    pub(super) result: Option<Result<Ticks, Refused>>,
}

/// The members of a group; whoever has no answer when it ends, by a panic, is told so.
#[derive(Default)]
pub(crate) struct Members(pub(super) Vec<Member>);

impl Members {
    pub(crate) fn push(&mut self, prepared: Prepared) {
        self.0.push(Member { prepared, turn: None, result: None });
    }

    pub(crate) fn reserve(&mut self, more: usize) {
        self.0.reserve(more);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Prepared> for Members {
    fn from_iter<I: IntoIterator<Item = Prepared>>(all: I) -> Self {
        let mut members = Self::default();
        all.into_iter().for_each(|prepared| members.push(prepared));
        members
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        for member in &mut self.0 {
            if let Some(turn) = member.turn.take() {
                let result = member.result.take();
                turn.set(State::Done(result.unwrap_or_else(panicked)));
            }
        }
    }
}

/// The answer to who got none.
pub(super) fn panicked() -> Result<Ticks, Refused> {
    Err(Refused::whole(Error::new(ErrorKind::WriterPanicked)))
}

/// Applies every member's prepared write and commits, if anything was written. An error means that nothing was.
pub(super) fn attempt(mut group: Transaction<'_>, members: &mut [Member]) -> Result<bool> {
    // Kept back until the commit: whoever has an answer gets it, also if a panic comes in between.
    let mut results = Vec::with_capacity(members.len());
    for member in members.iter_mut() {
        #[cfg(test)]
        reach(&member.prepared);
        // A job does not go on while anything of its step can't happen.
        let result = if member.prepared.step.is_some() && results.iter().any(Result::is_err) {
            let because = "something of the step was refused";
            Err(member.prepared.locate_all(Error::new(ErrorKind::ConditionNotMet).because(because)))
        } else {
            group.apply(&mut member.prepared)?
        };
        results.push(result);
    }
    // A step happens whole or not at all: what a job has done, and what it says of it, is one.
    let is_step = members.iter().any(|member| member.prepared.step.is_some());
    let written = if is_step { results.iter().all(Result::is_ok) } else { results.iter().any(Result::is_ok) };
    if written {
        group.commit()?;
    }
    for (member, result) in members.iter_mut().zip(results) {
        member.result = Some(result);
    }
    Ok(written)
}

/// A table that makes panic whoever applies a prepared write to it: in the store itself nothing does.
#[cfg(test)]
pub(super) const PANICS: &str = "Panics";

#[cfg(test)]
fn reach(prepared: &Prepared) {
    assert!(prepared.groups.iter().all(|group| &*group.table.name != PANICS), "as the test wants it");
}
