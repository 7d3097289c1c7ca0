//! What becomes of a batch that was refused: its entities one by one, as far as they have to be.

use table_core::{DynamicEntity, Error, ErrorKind};

use super::super::counts::Counts;
use super::super::read::Item;
use super::super::reject::Reject;
use super::{Loader, Mode};
use crate::failure::Failure;

impl Loader<'_> {
    /// Writes the entities of a batch that was refused, but for those that are why it was.
    pub(super) fn settle(
        &self,
        items: &[Item],
        error: Error,
        counts: &mut Counts,
        rejects: &mut Vec<Reject>,
    ) -> Result<(), Failure> {
        if stops(error.kind()) {
            return Err(error.into());
        }
        let is_wanted = |at: usize, item: &Item| match error.kind() {
            ErrorKind::EntityAlreadyExists if error.index().is_some() => self.has(&item.entity),
            _ => Ok(error.index().is_none_or(|index| index == at)),
        };
        let (mut alone, mut rest) = (Vec::new(), Vec::new());
        for (at, item) in items.iter().enumerate() {
            if is_wanted(at, item)? { alone.push(item) } else { rest.push(item) }
        }
        if !rest.is_empty() {
            let partition = items.first().map_or("", |item| item.entity.partition_key());
            let empty = self.table.batch(partition);
            let add = |batch, item: &&Item| self.writing.mode.add(batch, item.entity.clone());
            let batch = rest.iter().fold(empty, add);
            match batch.commit() {
                Ok(_) => counts.written += u64::try_from(rest.len()).unwrap_or_default(),
                Err(error) if stops(error.kind()) => return Err(error.into()),
                Err(_) => alone.append(&mut rest),
            }
        }
        for item in alone {
            self.write(item, counts, rejects)?;
        }
        Ok(())
    }

    /// Writes one entity.
    fn write(&self, item: &Item, counts: &mut Counts, rejects: &mut Vec<Reject>) -> Result<(), Failure> {
        let Err(error) = self.writing.mode.write(&self.table, &item.entity) else {
            counts.written += 1;
            return Ok(());
        };
        if stops(error.kind()) {
            return Err(error.into());
        }
        let is_there = error.kind() == ErrorKind::EntityAlreadyExists;
        match self.writing.mode {
            Mode::Skip if is_there => counts.skipped += 1,
            Mode::Insert if is_there && item.line < self.writing.repeated && self.says(&item.entity)? => {
                counts.written += 1;
            }
            _ => {
                counts.rejected += 1;
                rejects.push(Reject::entity(item.line, &item.entity, &error));
            }
        }
        Ok(())
    }

    /// Returns whether the table has an entity of these keys.
    fn has(&self, entity: &DynamicEntity) -> Result<bool, Failure> {
        let found = self.table.get_with(entity.partition_key(), entity.row_key(), |_| ())?;
        Ok(found.is_some())
    }

    /// Returns whether the table has an entity with all that this one says.
    fn says(&self, entity: &DynamicEntity) -> Result<bool, Failure> {
        let (partition, row) = (entity.partition_key(), entity.row_key());
        let found = if self.kinds.seal() {
            self.table.encrypting(|_, _, _| false).get(partition, row)?
        } else {
            self.table.get(partition, row)?
        };
        Ok(found.is_some_and(|found| {
            entity.properties().all(|(name, value)| found.get(name).is_some_and(|is| is == value))
        }))
    }
}

/// Returns whether an error is the store's, and not the entity's: then no other entity would fare better.
fn stops(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::TransactionTooLarge | ErrorKind::BatchTooLarge | ErrorKind::Unsupported => false,
        ErrorKind::TableNotFound
        | ErrorKind::TableRenamed
        | ErrorKind::AccessDenied
        | ErrorKind::ReadOnly
        | ErrorKind::NotPermitted => true,
        kind => kind.status() >= 500,
    }
}
