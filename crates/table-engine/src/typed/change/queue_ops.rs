//! What a transaction does with messages besides its changes of entities.

use super::attempt::{Attempt, PlanScratch, ReadRequest};
use crate::error::{Error, Result};
use crate::handle::tables::Tables;
use crate::messages::QueueOp;
use crate::plan::{Committed, Plan, PlanBuilder, Seals, Version, WriteExplain};
use crate::row::view::RowView;
use crate::sealing::SealedAt;

/// Messages that are sent and completed with changes of entities: an attempt that reads nothing and adds no row.
#[derive(Debug, Default)]
pub(crate) struct QueueOpsAttempt {
    queue_ops: Vec<QueueOp>,
    /// Why one of them can't be.
    refused: Option<Error>,
}

impl QueueOpsAttempt {
    /// Adds one.
    #[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "there is none without queues"))]
    pub(crate) fn add(&mut self, queue_op: Result<QueueOp>) {
        match queue_op {
            Ok(queue_op) => self.queue_ops.push(queue_op),
            Err(error) if self.refused.is_none() => self.refused = Some(error),
            Err(_) => {}
        }
    }

    /// Returns itself, if there is anything to do.
    pub(crate) fn checked(self) -> Result<Option<Self>> {
        match self.refused {
            Some(error) => Err(error),
            None if self.queue_ops.is_empty() => Ok(None),
            None => Ok(Some(self)),
        }
    }
}

/// Sends and completes messages that go with no change: no table comes with them.
pub(crate) fn commit(store: &Tables, attempt: QueueOpsAttempt) -> Result<Committed> {
    let plan = attempt.into_plan();
    let done = store.backend().abilities().check(&plan);
    let done = done.and_then(|()| store.backend().commit(&[], &plan, &SealedAt::NOTHING));
    done.map_err(|refused| plan.explain_refusal(refused).error.attempted("commit a transaction"))
}

/// Returns the rows that such touch: none.
#[inline]
#[expect(clippy::unnecessary_wraps, reason = "as changes are shown")]
pub(crate) fn explain(_: &Tables, attempt: QueueOpsAttempt) -> Result<WriteExplain> {
    Ok(WriteExplain::of(&attempt.into_plan()))
}

impl QueueOpsAttempt {
    fn into_plan(self) -> Plan<'static> {
        Plan { queue_ops: self.queue_ops, is_wide: true, ..Plan::default() }
    }
}

impl Attempt for QueueOpsAttempt {
    #[cfg(feature = "access")]
    fn rights(&self) -> Option<crate::executor::Rights> {
        Some(crate::executor::Rights::NONE)
    }

    #[cfg(feature = "access")]
    fn queue_ops(&self) -> &[QueueOp] {
        &self.queue_ops
    }

    fn begin(&mut self) {}

    fn partition(&self) -> Result<Option<&str>> {
        Ok(None)
    }

    fn reads(&self) -> bool {
        false
    }

    fn next_read(&mut self) -> Result<Option<ReadRequest>> {
        Ok(None)
    }

    fn on_row(&mut self, _row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        Ok(())
    }

    fn release(&mut self, _need: ReadRequest) {}

    fn make(&mut self) -> Result<()> {
        Ok(())
    }

    fn plan<'p>(
        &'p self,
        _number: usize,
        _seals: &dyn Seals,
        _scratch: &'p mut PlanScratch<'p>,
        builder: &mut PlanBuilder<'p>,
    ) -> Result<()> {
        builder.add_queue_ops(&self.queue_ops);
        Ok(())
    }

    fn takes_what_it_finds(&self) -> bool {
        false
    }
}
