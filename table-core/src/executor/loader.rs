//! Many plans, each by itself.

use super::TableExec;
use crate::error::Result;
use crate::plan::{Plan, Refused};
use crate::sealing::SealedAt;

/// Takes in plans and carries them out together, as far as that is quicker; each happens or fails by itself.
pub trait Loader {
    /// Takes a plan in; or refuses what no look at the store would change.
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused>;

    /// Whether those that were taken in are to be carried out before another comes.
    fn is_full(&self) -> bool;

    /// Carries out those that were taken in; what became of each, in their order.
    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>>;
}

/// For an executor to which many plans are no more than each of them.
pub(crate) struct OneByOne<'t> {
    table: &'t dyn TableExec,
    done: Vec<Result<(), Refused>>,
}

impl<'t> OneByOne<'t> {
    pub(crate) fn new(table: &'t dyn TableExec) -> Self {
        Self { table, done: Vec::new() }
    }
}

impl Loader for OneByOne<'_> {
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        let store = self.table.store();
        let done = store.abilities().check(plan).and_then(|()| store.commit(&[self.table], plan, sealed_at));
        self.done.push(done.map(drop));
        Ok(())
    }

    fn is_full(&self) -> bool {
        !self.done.is_empty()
    }

    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>> {
        Ok(std::mem::take(&mut self.done))
    }
}
