//! What a plan does with blobs, inside the transaction of its rows.

use std::cmp::Ordering;
use std::sync::PoisonError;

use super::apply::FEW_PUTS;
use super::encoded::Prepared;
use super::references::References;
use super::transaction::Transaction;
use crate::contents::BlobId;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::Clock;
use crate::model::Ticks;
use crate::plan::Refused;
use crate::store::blobs::{BlobDraft, BlobOutcome, BlobTxnState, DraftedAt, DraftedBlobs, Sealed, not_here};
use crate::store::records::features::Feature;

/// Why a plan's changes of blobs could not be drafted.
struct Undrafted {
    error: Error,
    /// The reference that it is about.
    of: Option<Of>,
}

/// A reference of a plan.
pub(super) struct Of {
    pub(super) id: BlobId,
    /// The place in the plan of the row that comes with it.
    pub(super) by: usize,
}

impl From<Error> for Undrafted {
    fn from(error: Error) -> Self {
        Self { error, of: None }
    }
}

impl Transaction<'_> {
    /// Finds out what a plan does to blobs, and writes nothing.
    pub(super) fn draft_blobs(
        &mut self,
        plan: &Prepared,
        timestamp: Ticks,
    ) -> Result<Option<(DraftedBlobs, Vec<BlobOutcome>)>, Refused> {
        let lists = std::mem::take(&mut self.scratch.lists);
        let is_counted = self.meta.features.has(Feature::BlobRows) || !lists.is_empty();
        let references = if is_counted || plan.refers {
            self.writing().references(plan).map_err(|error| plan.locate_all(error))?
        } else {
            References::default()
        };
        let clock = Clock { now: self.now, store: timestamp };
        let drafted = if is_counted {
            self.draft_counted(plan, clock, &lists, &references)
        } else {
            self.refuse_any(&references).and_then(|()| {
                // References that its rows hold all the same stay in them, and are not counted.
                self.draft_counted(plan, clock, &lists, &References::default())
            })
        };
        drafted.map_err(|Undrafted { error, of }| match of {
            Some(of) => self.writing().refuse_reference(plan, of, error),
            None => plan.locate_all(error),
        })
    }

    /// Refuses references that come where the store has had no blob that rows may refer to.
    fn refuse_any(&self, references: &References) -> Result<(), Undrafted> {
        match references.blobs.iter().find(|(_, referred)| referred.more > 0) {
            None => Ok(()),
            Some((id, referred)) => {
                let error = not_here(*id, &self.meta.identity, None);
                Err(Undrafted { error, of: Some(Of { id: *id, by: referred.by }) })
            }
        }
    }

    fn draft_counted(
        &mut self,
        plan: &Prepared,
        clock: Clock,
        lists: &[Sealed],
        references: &References,
    ) -> Result<Option<(DraftedBlobs, Vec<BlobOutcome>)>, Undrafted> {
        if plan.blobs.is_none() && references.blobs.is_empty() {
            return Ok(None);
        }
        // Whoever asks for something has opened the database before, and no transaction of this process was open then.
        let db = self.blobs.ok_or_else(|| {
            let because = "the store had no container when the transaction began";
            Error::new(ErrorKind::ContainerNotFound).because(because)
        })?;
        if self.blob_txn_state.is_none() {
            self.blob_txn_state = Some(Box::new(BlobTxnState::open(db, &self.txn)?));
        }
        let Some(txn_state) = &self.blob_txn_state else { return Ok(None) };
        let at = DraftedAt { clock, identity: &self.meta.identity };
        let is_settled = self.scratch.puts + txn_state.writes() <= FEW_PUTS;
        let mut draft = BlobDraft::begin(self.environment, &self.txn, txn_state, at, is_settled)?;
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
        for (id, referred) in &references.blobs {
            match referred.more.cmp(&0) {
                Ordering::Less => draft.let_go(*id, referred.count())?,
                Ordering::Equal => {}
                Ordering::Greater => {
                    let of = Some(Of { id: *id, by: referred.by });
                    let taken = draft.take(*id, referred.count(), referred.length);
                    taken.map_err(|error| Undrafted { error, of })?;
                }
            }
        }
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
        let (Some((drafted, outcomes)), Some(txn_state)) = (drafted, &mut self.blob_txn_state) else {
            return Ok(());
        };
        for feature in drafted.features() {
            self.meta.features.set(*feature);
        }
        txn_state.write(&mut self.txn, drafted)?;
        if let Some(errands) = &plan.blobs {
            *errands.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
