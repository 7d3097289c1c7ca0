//! What is planned of the rows of an entity that is changed: the values of its fields as they were and will be, and the rows that
//! they make.

use std::ops::DerefMut;

use super::{EntityAttempt, FOUND};
use crate::error::Result;
use crate::plan::{Printed, Seals, Values};
use crate::typed::change::Change;
use crate::typed::change::attempt::PlanScratch;
use crate::typed::change::entity_images::{EntityImages, EntityMeta};
use crate::typed::change::read_set::{OfIndex, Rows};
use crate::typed::encrypt::sealing;

impl<S: DerefMut<Target: EntityImages>> EntityAttempt<'_, S> {
    /// Returns the values of the entity as it was, if they are kept apart and are what is stored: then they need not be laid
    /// out.
    pub(super) fn stored_values(&self) -> Option<&Values<'static>> {
        if self.meta.seals { None } else { self.kept_values() }
    }

    /// Lays out the values of the fields, sealed where they are to be stored so.
    pub(super) fn lay_out<'p>(&'p self, seals: &dyn Seals, scratch: &mut PlanScratch<'p>) -> Result<()> {
        let schema = self.meta.schema;
        if self.stored_values().is_none() {
            scratch.old = self.old_values()?;
        }
        scratch.new = self.new_values()?;
        if self.meta.seals {
            if self.change.reseals() {
                scratch.new = self.old_values()?;
                return scratch.new.as_mut().map_or(Ok(()), |new| sealing::reseal(schema, new, seals));
            }
            let sealed = self.before.as_ref().and_then(|before| before.sealed.as_ref());
            sealing::seal(
                schema,
                scratch.old.as_mut().zip(sealed),
                scratch.new.as_mut(),
                seals,
                self.change.keeps_own(),
            )?;
        }
        Ok(())
    }

    /// Returns whether the change touches nothing but rows in the entity's partition, which are there for certain if they go.
    pub(super) fn is_lone(&self) -> bool {
        let EntityMeta { schema, seals, held, .. } = *self.meta;
        let is_plain = match self.change {
            Change::Insert => true,
            // Without a copy in a sparse index today, it may have had one when it was written.
            change => {
                change.reads()
                    && !change.keeps_own()
                    && !matches!(change, Change::Rewrite)
                    && !schema.has_sparse()
            }
        };
        is_plain
            && !seals
            && held.is_empty()
            && !self.read_set.index_mask.backfills()
            && schema.stays_in_place()
    }

    /// Returns the rows that are there and those that are to be.
    pub(super) fn print<'p>(
        &'p self,
        old: Option<&'p Values<'p>>,
        new: Option<&'p Values<'p>>,
    ) -> Result<Printed<'p>> {
        let (before, entity, change) = (self.before.as_ref(), self.new_entity(), self.change);
        let is_found = self.images.has(FOUND);
        let had = |index| match before {
            Some(_) if is_found => self.images.has_row(FOUND, index),
            kept => kept.is_some_and(|kept| kept.has_row(index)),
        };
        let has = |index| entity.map_or_else(|| had(index), |seen| self.images.has_row(seen, index));
        let counted = |index| match before {
            Some(_) if is_found => self.images.counted(FOUND, index),
            kept => kept.map_or(0, |kept| kept.counted(index)),
        };
        let counts = |index| entity.map_or(0, |seen| self.images.counted(seen, index));
        let summed: [OfIndex<'_, u64>; 2] = [&counted, &counts];
        self.read_set.print(Rows {
            old: before.zip(old),
            new: new.filter(|_| entity.is_some() || before.is_some()),
            key: self.own(),
            moves: matches!(change, Change::Insert | Change::Move | Change::Rewrite),
            had: &had,
            has: &has,
            counted: if self.meta.counts_some { Some(summed) } else { None },
            keeps_times: change.reseals() || matches!(change, Change::Rewrite),
            keeps_own: change.keeps_own(),
            is_entity: entity.is_some(),
        })
    }
}
