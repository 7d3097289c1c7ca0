//! Loads: many plans, each of which happens or fails by itself.

use super::{JobStep, TableExec};
use crate::error::{Error, ErrorKind, Result};
use crate::plan::{Plan, Refused};
use crate::sealing::SealedAt;

/// Takes in plans and carries them out together, as far as that is quicker; each happens or fails by itself.
pub trait Loader {
    /// Takes a plan in; or refuses what no look at the store would change.
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused>;

    /// Adds a plan of these tables of the loader's store, which need not be those that the loader was made for.
    fn add_of(
        &mut self,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: &SealedAt,
    ) -> Result<(), Refused> {
        let _ = (tables, plan, sealed_at);
        let because = "the loader takes plans of its own tables alone";
        Err(Refused::whole(Error::new(ErrorKind::Unsupported).because(because)))
    }

    /// Takes in what becomes of a job when everything that was taken in before it has happened. If anything of that is
    /// refused, the step is too, and nothing happens, whatever the outcomes say of the rest.
    fn add_step(&mut self, step: JobStep) -> Result<(), Refused> {
        let because = format!("the store keeps no jobs, and can't carry out a step of `{}`", step.name);
        Err(Refused::whole(Error::new(ErrorKind::Unsupported).because(because)))
    }

    /// Takes in a plan and what becomes of a job with it: both happen, or neither.
    fn add_with_step(&mut self, plan: &Plan<'_>, step: JobStep) -> Result<(), Refused> {
        let _ = plan;
        self.add_step(step)
    }

    /// Makes room for so many plans, or for fewer.
    fn expect(&mut self, plans: usize) {
        let _ = plans;
    }

    /// Returns whether the plans taken in are to be carried out before the next is taken.
    fn is_full(&self) -> bool;

    /// Carries out the plans taken in; returns what became of each, in their order.
    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>>;
}
