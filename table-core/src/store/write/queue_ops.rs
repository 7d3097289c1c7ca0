//! What a plan does with queues, inside the transaction of its rows.

use std::sync::PoisonError;

use super::apply::FEW_PUTS;
use super::encoded::EncodedPlan;
use super::transaction::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::Clock;
use crate::model::Ticks;
use crate::store::lmdb;
use crate::store::queues::{Outcome, QueueOverlay, QueueTxnState, QueueWrites};
use crate::store::records::features::Feature;

impl Transaction<'_> {
    /// Finds out what a plan's operations of queues do, and writes nothing. An error refuses the plan alone.
    pub(super) fn overlay_queues(
        &mut self,
        plan: &EncodedPlan,
        timestamp: Ticks,
    ) -> Result<Option<(QueueWrites, Vec<Outcome>)>> {
        let Some(queue_ops) = &plan.queue_ops else { return Ok(None) };
        // A caller that asks for queues has opened the database before, while no transaction of this process was open.
        let db = match self.queues {
            Some(db) => db,
            // Only damage can make LMDB lose the database.
            None if self.meta.features.has(Feature::Queues) => return Err(lmdb::damaged_page()),
            None => {
                let because = "the store had no queue when the transaction began";
                return Err(Error::new(ErrorKind::QueueNotFound).because(because));
            }
        };
        if self.txn_state.is_none() {
            self.txn_state =
                Some(Box::new(QueueTxnState::open(db, &self.txn, self.meta.features.has(Feature::Pending))?));
        }
        let Some(txn_state) = &self.txn_state else { return Ok(None) };
        let clock = Clock { now: self.now, store: timestamp };
        let is_propagated = self.scratch.puts + txn_state.writes() <= FEW_PUTS;
        let mut overlay = QueueOverlay::begin(self.environment, &self.txn, txn_state, clock, is_propagated)?;
        let outcomes = queue_ops.work.iter().map(|work| overlay.carry_out(work)).collect::<Result<_>>()?;
        Ok(Some((overlay.end()?, outcomes)))
    }

    /// Writes what the overlay holds. An error spoils the transaction.
    pub(super) fn carry_out(
        &mut self,
        writes: Option<(QueueWrites, Vec<Outcome>)>,
        plan: &EncodedPlan,
    ) -> Result<()> {
        let (Some((writes, outcomes)), Some(txn_state)) = (writes, &mut self.txn_state) else {
            return Ok(());
        };
        if writes.is_of_entries() {
            self.meta.features.set(Feature::Pending);
        }
        txn_state.write(&mut self.txn, writes)?;
        if let Some(queue_ops) = &plan.queue_ops {
            *queue_ops.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
