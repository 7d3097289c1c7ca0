//! What is found of an entity that is to be changed.

use std::ops::DerefMut;

use super::EntityAttempt;
use crate::error::Result;
use crate::plan::Version;
use crate::row::view::RowView;
use crate::typed::change::Change;
use crate::typed::change::before::{self, is_closed};
use crate::typed::change::entity_images::{EntityImages, ImageSlot};
use crate::typed::change::read_set::NextRead;
use crate::typed::entity::path::of_kin;
use crate::typed::entity::source::Source;
use crate::typed::entity::wide;

impl<S: DerefMut<Target: EntityImages>> EntityAttempt<'_, S> {
    /// Takes the entity's own row.
    pub(super) fn found_own(&mut self, view: &RowView<'_>, version: Version) -> Result<()> {
        let (meta, change) = (self.meta, self.change);
        let schema = meta.schema;
        if meta.is_wide
            && let Err(damaged) = wide::check_whole(view, schema)
        {
            // What needs none of its values goes on without the part.
            return if change.goes_unopened() && view.parts().is_some() {
                self.found_unopened(view, version)
            } else {
                Err(damaged)
            };
        }
        if change.reseals() {
            return self.found_unopened(view, version);
        }
        // No other entity takes over a row of one that goes by itself, so what the rows hold is not compared with anything.
        let goes_alone = self.is_alone && matches!(change, Change::Delete(_)) && meta.dependents.is_empty();
        let for_keys = goes_alone && !meta.seals && !meta.is_wide;
        let images = &mut *self.images;
        let read = match change {
            Change::Merge(_) | Change::Update | Change::Add | Change::Move => {
                before::read_to_change(images, view, version)
            }
            // The properties would be set of what the row says, and not of what it becomes.
            Change::Set(..) if meta.has_previous && before::is_previous(schema, view)? => {
                Err(of_kin(view, schema))
            }
            Change::Set(changes, _) => before::read(images, view, version, false).and_then(|kept| {
                images.take(ImageSlot::Edited, &mut Source::merged(schema, view, changes)?)?;
                Ok(kept)
            }),
            _ => before::read(images, view, version, for_keys),
        };
        match read {
            Ok(kept) => self.before = Some(kept),
            Err(error) => {
                self.forget();
                // It can't become what it would be now, and need not.
                if meta.has_previous
                    && change.goes_unopened()
                    && before::is_unconverted(schema, view, &error)?
                {
                    self.before = Some(before::unconverted(schema, version));
                    return Ok(());
                }
                // Its keys are lost, or its values were tampered with: what doesn't need them goes on without.
                if meta.seals && change.goes_unopened() && is_closed(&error) {
                    return self.found_unopened(view, version);
                }
                if !is_closed(&error) {
                    return Err(error);
                }
                self.closed = Some(error);
            }
        }
        Ok(())
    }

    /// Takes the entity's own row without opening sealed values. Its copies are asked for next.
    pub(super) fn found_unopened(&mut self, view: &RowView<'_>, version: Version) -> Result<()> {
        let mut before = before::read_unopened(self.meta, view, version, self.change.reseals())?;
        if self.meta.is_wide {
            // The keys of these copies hold values of a missing part: where they are can't be known.
            for index in wide::lost_indexes(view, self.meta.schema) {
                before.lacks(index);
            }
        }
        self.before = Some(before);
        self.read_set.asks = NextRead::Copies(0);
        Ok(())
    }

    /// Forgets the entity that was found.
    pub(super) fn forget(&mut self) {
        (self.before, self.closed) = (None, None);
        self.images.forget(ImageSlot::Before);
        self.images.forget(ImageSlot::Edited);
    }
}
