//! What a plan does with queues, inside the transaction of its rows.

use std::sync::PoisonError;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::Clock;
use table_engine::model::Ticks;

use super::apply::FEW_PUTS;
use super::encoded::EncodedPlan;
use super::transaction::Transaction;
use crate::lmdb;
use crate::queues::{DraftedQueues, Outcome, QueueOverlay, QueueTxnState};
use crate::records::features::Feature;
use crate::verified::OverlayContext;

impl Transaction<'_> {
    /// Finds out what a plan's operations of queues do, and writes nothing. An error refuses the plan alone.
    pub(super) fn overlay_queues(
        &mut self,
        plan: &EncodedPlan,
        timestamp: Ticks,
    ) -> Result<Option<(DraftedQueues, Vec<Outcome>)>> {
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
            self.txn_state = Some(Box::new(QueueTxnState::open(db, &self.txn)?));
        }
        let Some(txn_state) = &self.txn_state else { return Ok(None) };
        let clock = Clock { now: self.now, store: timestamp };
        let changed_little = self.scratch.puts + txn_state.writes() <= FEW_PUTS;
        let at = OverlayContext { clock, meta: &self.meta, changed_little };
        let mut overlay = QueueOverlay::begin(self.environment, &self.txn, txn_state, at)?;
        let outcomes = queue_ops.work.iter().map(|work| overlay.carry_out(work)).collect::<Result<_>>()?;
        Ok(Some((overlay.end()?, outcomes)))
    }

    /// Writes what the overlay holds. An error spoils the transaction.
    pub(super) fn carry_out(
        &mut self,
        writes: Option<(DraftedQueues, Vec<Outcome>)>,
        plan: &EncodedPlan,
    ) -> Result<()> {
        let (Some((writes, outcomes)), Some(txn_state)) = (writes, &mut self.txn_state) else {
            return Ok(());
        };
        for feature in writes.features() {
            self.meta.features.set(*feature);
        }
        txn_state.write(&mut self.txn, writes)?;
        if let Some(queue_ops) = &plan.queue_ops {
            *queue_ops.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
