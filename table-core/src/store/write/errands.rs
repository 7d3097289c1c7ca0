//! What a plan does with queues, inside the transaction of its rows.

use std::sync::PoisonError;

use super::apply::FEW_PUTS;
use super::encoded::Prepared;
use super::transaction::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::Clock;
use crate::model::Ticks;
use crate::store::lmdb;
use crate::store::queues::{Books, Draft, Drafted, Outcome};
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
        if self.books.is_none() {
            self.books =
                Some(Box::new(Books::open(db, &self.txn, self.meta.features.has(Feature::Pending))?));
        }
        let Some(books) = &self.books else { return Ok(None) };
        let clock = Clock { now: self.now, store: timestamp };
        let is_settled = self.scratch.puts + books.writes() <= FEW_PUTS;
        let mut draft = Draft::begin(self.environment, &self.txn, books, clock, is_settled)?;
        let outcomes = errands.work.iter().map(|work| draft.carry_out(work)).collect::<Result<_>>()?;
        Ok(Some((draft.end()?, outcomes)))
    }

    /// Writes what was drafted. An error spoils the transaction.
    pub(super) fn carry_out(
        &mut self,
        drafted: Option<(Drafted, Vec<Outcome>)>,
        plan: &Prepared,
    ) -> Result<()> {
        let (Some((drafted, outcomes)), Some(books)) = (drafted, &mut self.books) else { return Ok(()) };
        if drafted.is_of_entries() {
            self.meta.features.set(Feature::Pending);
        }
        books.write(&mut self.txn, drafted)?;
        if let Some(errands) = &plan.errands {
            *errands.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
