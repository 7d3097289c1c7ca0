//! What a plan does with blobs, inside the transaction of its rows.

use std::cmp::Ordering;
use std::sync::PoisonError;

use table_engine::contents::BlobId;
use table_engine::error::{Error, ErrorKind, Result};
use table_engine::messages::Clock;
use table_engine::model::Ticks;
use table_engine::plan::Refused;

use super::apply::FEW_PUTS;
use super::encoded::EncodedPlan;
use super::references::References;
use super::transaction::Transaction;
use crate::blobs::{BlobOutcome, BlobOverlay, BlobTxnState, BlobWrites, Sealed, not_here};
use crate::records::features::Feature;
use crate::verified::OverlayContext;

/// Why a plan's changes of blobs could not be put into the overlay.
struct NotOverlaid {
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

impl From<Error> for NotOverlaid {
    fn from(error: Error) -> Self {
        Self { error, of: None }
    }
}

impl Transaction<'_> {
    /// Finds out what a plan does to blobs, and writes nothing.
    pub(super) fn overlay_blobs(
        &mut self,
        plan: &EncodedPlan,
        timestamp: Ticks,
    ) -> Result<Option<(BlobWrites, Vec<BlobOutcome>)>, Refused> {
        let lists = std::mem::take(&mut self.scratch.lists);
        let is_counted = self.meta.features.has(Feature::BlobRows) || !lists.is_empty();
        let references = if is_counted || plan.refers {
            self.writing().references(plan).map_err(|error| plan.locate_all(error))?
        } else {
            References::default()
        };
        let clock = Clock { now: self.now, store: timestamp };
        let writes = if is_counted {
            self.overlay_counted(plan, clock, &lists, &references)
        } else {
            self.refuse_any(&references).and_then(|()| {
                // References that its rows hold all the same stay in them, and are not counted.
                self.overlay_counted(plan, clock, &lists, &References::default())
            })
        };
        writes.map_err(|NotOverlaid { error, of }| match of {
            Some(of) => self.writing().refuse_reference(plan, of, error),
            None => plan.locate_all(error),
        })
    }

    /// Refuses references that come where the store has had no blob that rows may refer to.
    fn refuse_any(&self, references: &References) -> Result<(), NotOverlaid> {
        match references.blobs.iter().find(|(_, referred)| referred.more > 0) {
            None => Ok(()),
            Some((id, referred)) => {
                let error = not_here(*id, &self.meta.identity, None);
                Err(NotOverlaid { error, of: Some(Of { id: *id, by: referred.by }) })
            }
        }
    }

    fn overlay_counted(
        &mut self,
        plan: &EncodedPlan,
        clock: Clock,
        lists: &[Sealed],
        references: &References,
    ) -> Result<Option<(BlobWrites, Vec<BlobOutcome>)>, NotOverlaid> {
        if plan.blobs.is_none() && references.blobs.is_empty() {
            return Ok(None);
        }
        // A caller that asks for blobs has opened the database before, while no transaction of this process was open.
        let db = self.blobs.ok_or_else(|| {
            let because = "the store had no container when the transaction began";
            Error::new(ErrorKind::ContainerNotFound).because(because)
        })?;
        if self.blob_txn_state.is_none() {
            self.blob_txn_state = Some(Box::new(BlobTxnState::open(db, &self.txn)?));
        }
        let Some(txn_state) = &self.blob_txn_state else { return Ok(None) };
        let changed_little = self.scratch.puts + txn_state.writes() <= FEW_PUTS;
        let at = OverlayContext { clock, meta: &self.meta, changed_little };
        let mut overlay = BlobOverlay::begin(self.environment, &self.txn, txn_state, at)?;
        let work = plan.blobs.iter().flat_map(|queue_ops| &queue_ops.work);
        let mut outcomes = work.map(|work| overlay.carry_out(work)).collect::<Result<Vec<_>>>()?;
        for (news, feature) in [
            (!lists.is_empty(), Feature::BlobRows),
            (!lists.is_empty(), Feature::BlobLists),
            (references.has_sealed, Feature::SealedBlobs),
        ] {
            if news && !self.meta.features.has(feature) {
                overlay.set_feature(feature);
            }
        }
        lists.iter().try_for_each(|list| overlay.compose(list))?;
        for (id, referred) in &references.blobs {
            match referred.more.cmp(&0) {
                Ordering::Less => overlay.let_go(*id, referred.count())?,
                Ordering::Equal => {}
                Ordering::Greater => {
                    let of = Some(Of { id: *id, by: referred.by });
                    let taken = overlay.take(*id, referred.count(), referred.length);
                    taken.map_err(|error| NotOverlaid { error, of })?;
                }
            }
        }
        if overlay.has_left {
            outcomes.push(BlobOutcome::Left);
        }
        Ok(Some((overlay.end()?, outcomes)))
    }

    /// Writes what the overlay holds. An error spoils the transaction.
    pub(super) fn carry_out_blobs(
        &mut self,
        writes: Option<(BlobWrites, Vec<BlobOutcome>)>,
        plan: &EncodedPlan,
    ) -> Result<()> {
        let (Some((writes, outcomes)), Some(txn_state)) = (writes, &mut self.blob_txn_state) else {
            return Ok(());
        };
        for feature in writes.features() {
            self.meta.features.set(*feature);
        }
        txn_state.write(&mut self.txn, writes)?;
        if let Some(queue_ops) = &plan.blobs {
            *queue_ops.outcomes.lock().unwrap_or_else(PoisonError::into_inner) = outcomes;
        }
        Ok(())
    }
}
