//! Batches with entities of declared kinds, written by their properties.

use std::sync::Arc;

use super::kinds::Kinds;
use super::look::Look;
use super::row::RowAttempt;
use super::{LOOKS, Write, explained, is_of_declared};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::batch::{Batch, Planned};
use crate::handle::table::DynamicTable;
use crate::plan::{Committed, Refused};
use crate::schema::KeyPair;
use crate::typed::change::attempt::Attempt;
use crate::typed::change::driver::{self, Together};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::layout_images::{LayoutImages, LayoutMeta};

impl Batch {
    /// Carries out every operation, or none. Returns the version of each entity that was written.
    pub fn commit(&self) -> Result<Committed> {
        let done = match self.carry_out() {
            Err(refused) if self.sealing.is_none() && is_of_declared(&refused, &self.table) => {
                self.by_layout(refused)
            }
            done => done,
        };
        done.map_err(|e| e.placed("commit a batch to", self.table.name(), &self.partition, None))
    }

    /// Makes up for a batch that was refused among others: one whose values are sealed is sealed anew, and one with entities of
    /// declared kinds is planned.
    pub(crate) fn again(&self, refused: Refused) -> Result<()> {
        let kind = refused.error.kind();
        if self.sealing.is_none() && !is_of_declared(&refused.error, &self.table) {
            return Err(refused.numbered());
        }
        match self.commit() {
            // What is too large is no wide entity.
            Err(error)
                if error.kind() == kind && kind != ErrorKind::DeclaredKind && self.sealing.is_none() =>
            {
                Err(refused.numbered())
            }
            done => done.map(drop),
        }
    }

    /// Carries out a batch that the store `refused` to write as it is.
    #[cold]
    fn by_layout(&self, mut refused: Error) -> Result<Committed> {
        for _ in 0..LOOKS {
            if let Some(committed) = self.planned(&refused)? {
                return Ok(committed);
            }
            match self.carry_out() {
                Err(again) if is_of_declared(&again, &self.table) => refused = again,
                done => return done,
            }
        }
        Err(refused)
    }

    /// Plans the batch and carries it out; `None` if the rows that were in the way have gone.
    fn planned(&self, refused: &Error) -> Result<Option<Committed>> {
        let writes: Vec<_> = self.operations.iter().map(|planned| self.write_of(planned)).collect();
        let mut looks = 0;
        loop {
            looks += 1;
            match self.attempt(&writes, refused) {
                // Another layout has been noted meanwhile.
                Err(error) if error.kind() == ErrorKind::LayoutChanged && looks < LOOKS => {}
                done => return done,
            }
        }
    }

    fn write_of<'w>(&'w self, planned: &'w Planned) -> Write<'w> {
        match planned {
            Planned::Write(condition, act, entity) => Write::of(*condition, *act, entity),
            Planned::Delete(row, condition) => Write::delete(&self.partition, row, *condition),
        }
    }

    fn attempt(&self, writes: &[Write<'_>], refused: &Error) -> Result<Option<Committed>> {
        let table = &self.table;
        let look = Look::at(table)?;
        let Ok(layouts) = look.layouts() else { return Err(refused.again()) };
        let mut stored = Vec::with_capacity(writes.len());
        for (number, write) in writes.iter().enumerate() {
            let kind = look.kind_of(write);
            stored.push(kind.map_err(|error| write.place(error, table).at_index(number))?);
        }
        drop(look);
        let kinds = Arc::new(Kinds::of(table, layouts));
        let mut found: Vec<Option<&'static LayoutMeta>> = Vec::with_capacity(writes.len());
        let mut images = Vec::with_capacity(writes.len());
        for (number, (write, stored)) in writes.iter().zip(&stored).enumerate() {
            let made = write.find_kind(&kinds, stored.as_ref()).and_then(|kind| {
                let made = kind.map(|kind| LayoutImages::new(kind, write.given())).transpose()?;
                Ok((kind, made))
            });
            let (kind, made) = made.map_err(|error| write.place(error, table).at_index(number))?;
            images.push(made);
            found.push(kind);
        }
        if found.iter().all(Option::is_none) {
            let is_free = |(write, stored): (&Write<'_>, &Option<_>)| write.is_free(&kinds, stored.as_ref());
            return if writes.iter().zip(&stored).any(is_free) { Ok(None) } else { Err(refused.again()) };
        }
        let family = family(&kinds, &found)?;
        let mut attempts: Vec<Box<dyn Attempt + '_>> = Vec::with_capacity(writes.len());
        for (write, images) in writes.iter().zip(&mut images) {
            let keys = KeyPair::of(write.partition, write.row);
            attempts.push(match images {
                Some(images) => Box::new(EntityAttempt::lent(Ok(keys), write.change(), images)),
                None => Box::new(RowAttempt::new(*write, kinds.clone())),
            });
        }
        let mut lent: Vec<&mut dyn Attempt> = Vec::with_capacity(writes.len());
        for attempt in &mut attempts {
            lent.push(&mut **attempt);
        }
        let done = driver::commit(Together::batch(&family, &self.partition), &mut lent);
        done.map(Some).map_err(|error| match error.index().and_then(|number| *found.get(number)?) {
            Some(kind) => explained(error, kind),
            None => error,
        })
    }
}

/// Returns the table with the others where copies of any of the kinds lie.
fn family(kinds: &Kinds, found: &[Option<&'static LayoutMeta>]) -> Result<DynamicTable> {
    let mut others: Vec<DynamicTable> = Vec::new();
    for kind in found.iter().flatten() {
        for other in kinds.others(kind)? {
            if others.iter().all(|known| known.exec().id() != other.exec().id()) {
                others.push(other);
            }
        }
    }
    Ok(kinds.with_others(others))
}
