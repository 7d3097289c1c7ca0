//! What a plan does with blobs, inside the transaction of its rows.

use std::sync::PoisonError;

use super::apply::FEW_PUTS;
use super::encoded::Prepared;
use super::references::References;
use super::transaction::Transaction;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::Clock;
use crate::model::Ticks;
use crate::store::blobs::{BlobBooks, BlobDraft, BlobOutcome, DraftedBlobs};
use crate::store::records::features::Feature;

impl Transaction<'_> {
    /// Finds out what a plan does to blobs, and writes nothing. An error refuses the plan alone.
    pub(super) fn draft_blobs(
        &mut self,
        plan: &Prepared,
        timestamp: Ticks,
    ) -> Result<Option<(DraftedBlobs, Vec<BlobOutcome>)>> {
        let lists = std::mem::take(&mut self.scratch.lists);
        let references = if self.meta.features.has(Feature::BlobRows) || !lists.is_empty() {
            self.writing().references(plan)?
        } else {
            References::default()
        };
        if plan.blobs.is_none() && references.blobs.is_empty() {
            return Ok(None);
        }
        // Whoever asks for something has opened the database before, and no transaction of this process was open then.
        let db = self.blobs.ok_or_else(|| {
            let because = "the store had no container when the transaction began";
            Error::new(ErrorKind::ContainerNotFound).because(because)
        })?;
        if self.blob_books.is_none() {
            self.blob_books = Some(Box::new(BlobBooks::open(db, &self.txn)?));
        }
        let Some(books) = &self.blob_books else { return Ok(None) };
        let clock = Clock { now: self.now, store: timestamp };
        let is_settled = self.scratch.puts + books.writes() <= FEW_PUTS;
        let mut draft = BlobDraft::begin(self.environment, &self.txn, books, clock, is_settled)?;
        let work = plan.blobs.iter().flat_map(|errands| &errands.work);
        let mut outcomes = work.map(|work| draft.carry_out(work)).collect::<Result<Vec<_>>>()?;
        for (news, feature) in [
            (!lists.is_empty(), Feature::BlobRows),
            (!lists.is_empty(), Feature::BlobLists),
            (references.has_sealed, Feature::SealedBlobs),
        ] {
            if news && !self.meta.features.has(feature) {
                draft.set_feature(feature);
            }
        }
        lists.iter().try_for_each(|list| draft.compose(list))?;
        draft.refer(&references.blobs)?;
        if draft.has_left {
            outcomes.push(BlobOutcome::Left);
        }
        Ok(Some((draft.end()?, outcomes)))
    }

    /// Writes what was drafted. An error spoils the transaction.
    pub(super) fn carry_out_blobs(
        &mut self,
        drafted: Option<(DraftedBlobs, Vec<BlobOutcome>)>,
        plan: &Prepared,
    ) -> Result<()> {
        let (Some((drafted, outcomes)), Some(books)) = (drafted, &mut self.blob_books) else {
            return Ok(());
        };
        for feature in drafted.features() {
            self.meta.features.set(*feature);
        }
        books.write(&mut self.txn, drafted)?;
        if let Some(errands) = &plan.blobs {
            *errands.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
