//! What is found of an entity that is to be changed.

use std::ops::DerefMut;

use super::EntityAttempt;
use crate::error::Result;
use crate::plan::Version;
use crate::row::view::RowView;
use crate::typed::change::What;
use crate::typed::change::before::{self, is_closed};
use crate::typed::change::search::Asks;
use crate::typed::change::subject::{Slot, Subject};
use crate::typed::entity::path::of_kin;
use crate::typed::entity::source::Source;
use crate::typed::entity::wide;

impl<S: DerefMut<Target: Subject>> EntityAttempt<'_, S> {
    /// Takes the entity's own row.
    pub(super) fn found_own(&mut self, view: &RowView<'_>, version: Version) -> Result<()> {
        let (facts, what) = (self.facts, self.what);
        let schema = facts.schema;
        if facts.is_wide
            && let Err(damaged) = wide::check_whole(view, schema)
        {
            // What needs none of its values goes on without the part.
            return if what.goes_unopened() && view.parts().is_some() {
                self.found_unopened(view, version)
            } else {
                Err(damaged)
            };
        }
        if what.reseals() {
            return self.found_unopened(view, version);
        }
        // No other entity takes over a row of one that goes by itself, so what the rows hold is not compared with anything.
        let goes_alone = self.is_alone && matches!(what, What::Delete(_)) && facts.holders.is_empty();
        let for_keys = goes_alone && !facts.seals && !facts.is_wide;
        let subject = &mut *self.subject;
        let read = match what {
            What::Merge(_) | What::Update | What::Add | What::Move => {
                before::read_to_change(subject, view, version)
            }
            // The properties would be set of what the row says, and not of what it becomes.
            What::Set(..) if facts.has_previous && before::is_previous(schema, view)? => {
                Err(of_kin(view, schema))
            }
            What::Set(changes, _) => before::read(subject, view, version, false).and_then(|kept| {
                subject.take(Slot::Draft, &mut Source::merged(schema, view, changes)?)?;
                Ok(kept)
            }),
            _ => before::read(subject, view, version, for_keys),
        };
        match read {
            Ok(kept) => self.before = Some(kept),
            Err(error) => {
                self.forget();
                // It can't become what it would be now, and need not.
                if facts.has_previous && what.goes_unopened() && before::is_unconverted(schema, view, &error)?
                {
                    self.before = Some(before::unconverted(schema, version));
                    return Ok(());
                }
                // Its keys are lost, or its values were tampered with: what doesn't need them goes on without.
                if facts.seals && what.goes_unopened() && is_closed(&error) {
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
        let mut before = before::read_unopened(self.facts, view, version, self.what.reseals())?;
        if self.facts.is_wide {
            // Where the copies are whose keys a missing part knew, nobody can say.
            for index in wide::lost_indexes(view, self.facts.schema) {
                before.lacks(index);
            }
        }
        self.before = Some(before);
        self.search.asks = Asks::Copies(0);
        Ok(())
    }

    /// Forgets the entity that was found.
    pub(super) fn forget(&mut self) {
        (self.before, self.closed) = (None, None);
        self.subject.forget(Slot::Before);
        self.subject.forget(Slot::Draft);
    }
}
