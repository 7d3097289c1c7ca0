//! What becomes of a batch that was refused: its entities one by one, as far as they have to be.

use table_core::{DynamicEntity, ETag, Error, ErrorKind, Value};

use super::super::blobs::Held;
use super::super::blobs::contents::{self, Contents};
use super::super::counts::Counts;
use super::super::kinds::{ENTITY_TYPE, RowClass};
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
        let mut written = self.writing.mode.write(&self.table, &item.entity);
        if let Err(error) = &written
            && error.kind() == ErrorKind::DeclaredKind
            && self.is_whole_row(&item.entity)
        {
            written = self.write_row(&item.entity);
        }
        let Err(error) = written else {
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

    /// Leaves out a row of a wide entity: written by itself, by what is noted of its kind, it would empty the others.
    pub(super) fn leave_out_wide(
        &self,
        item: &Item,
        counts: &mut Counts,
        rejects: &mut Vec<Reject>,
    ) -> Result<(), Failure> {
        if self.writing.mode == Mode::Skip && self.has(&item.entity)? {
            counts.skipped += 1;
            return Ok(());
        }
        let kind = item.entity.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
        let because = format!(
            "the row is one of several of the wide entity `{kind}`, which a program with its struct writes together: give --raw \
             to write it as it is"
        );
        counts.rejected += 1;
        rejects.push(Reject::of(item.line, &item.entity, because));
        Ok(())
    }

    /// Returns whether an entity that holds blobs is its own row and nothing else. What a property of blobs takes is not noted of a
    /// kind, and is known here: it is a reference to what was brought.
    fn is_whole_row(&self, entity: &DynamicEntity) -> bool {
        let is_blob = |value: &Value| match value {
            Value::Binary(bytes) => bytes.is_empty() || Held::of(value.as_value_ref()).is_some(),
            _ => false,
        };
        let text = entity.get(ENTITY_TYPE).and_then(Value::as_str).unwrap_or_default();
        match self.kinds.find(text) {
            RowClass::Entity(kind) => {
                !self.kinds.has_copies(kind) && entity.properties().any(|(_, value)| is_blob(value))
            }
            RowClass::Free | RowClass::Copy(_) => false,
        }
    }

    /// Writes an entity's own row, with its sealed values sealed.
    fn write_row(&self, entity: &DynamicEntity) -> table_core::Result<ETag> {
        let table = self.table.raw();
        if !self.kinds.seal() {
            return self.writing.mode.write(&table, entity);
        }
        let table = table.encrypting(|_, _, _| false);
        match self.writing.mode {
            Mode::Insert | Mode::Skip => table.insert(entity),
            Mode::Merge => table.insert_or_merge(entity),
            Mode::Replace => table.put(entity),
        }
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
        let Some(found) = found else { return Ok(false) };
        // A blob that is brought once more is another blob of the same contents.
        let contents = Contents::Store(self.tables.clone());
        for (name, value) in entity.properties() {
            let is_same = match found.get(name) {
                None => false,
                Some(known) if known == value => true,
                Some(known) => {
                    let values = [known.as_value_ref(), value.as_value_ref()];
                    contents::are_same([&contents, &contents], values)?
                }
            };
            if !is_same {
                return Ok(false);
            }
        }
        Ok(true)
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
