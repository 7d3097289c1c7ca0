//! What a plan does with queues, inside the transaction of its rows.

use std::sync::PoisonError;

use super::apply::FEW_PUTS;
use super::encoded::Prepared;
use super::transaction::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::Clock;
use crate::model::Ticks;
use crate::store::lmdb;
use crate::store::queues::{Draft, Drafted, Outcome, QueueTxnState};
use crate::store::records::features::Feature;

impl Transaction<'_> {
    /// Finds out what a plan's errands do, and writes nothing. An error refuses the plan alone.
    pub(super) fn draft_errands(
        &mut self,
        plan: &Prepared,
        timestamp: Ticks,
    ) -> Result<Option<(Drafted, Vec<Outcome>)>> {
        let Some(errands) = &plan.errands else { return Ok(None) };
        // Whoever asks for something has opened the database before, and no transaction of this process was open then.
        let db = match self.queues {
            Some(db) => db,
            // Damage has LMDB forget it.
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
        let is_settled = self.scratch.puts + txn_state.writes() <= FEW_PUTS;
        let mut draft = Draft::begin(self.environment, &self.txn, txn_state, clock, is_settled)?;
        let outcomes = errands.work.iter().map(|work| draft.carry_out(work)).collect::<Result<_>>()?;
        Ok(Some((draft.end()?, outcomes)))
    }

    /// Writes what was drafted. An error spoils the transaction.
    pub(super) fn carry_out(
        &mut self,
        drafted: Option<(Drafted, Vec<Outcome>)>,
        plan: &Prepared,
    ) -> Result<()> {
        let (Some((drafted, outcomes)), Some(txn_state)) = (drafted, &mut self.txn_state) else {
            return Ok(());
        };
        if drafted.is_of_entries() {
            self.meta.features.set(Feature::Pending);
        }
        txn_state.write(&mut self.txn, drafted)?;
        if let Some(errands) = &plan.errands {
            *errands.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
