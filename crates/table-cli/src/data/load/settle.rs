//! What becomes of a batch that was refused: its entities one by one, as far as they have to be.

use table_core::schema::part_key;
use table_core::{DynamicEntity, ETag, Error, ErrorKind, Value};

use super::super::blobs::Held;
use super::super::blobs::contents::{self, Contents};
use super::super::counts::Counts;
use super::super::kinds::{ENTITY_PARTS, ENTITY_TYPE, RowClass};
use super::super::read::Item;
use super::super::reject::Reject;
use super::wide;
use super::{Loader, Mode, rows_of};
use crate::declared::{Declared, find};
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
                Ok(_) => counts.written += rows_of(rest.iter().copied()),
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
        let mut written = self.writing.mode.write(&self.table, &item.entity).map(drop);
        if let Err(error) = &written
            && error.kind() == ErrorKind::DeclaredKind
        {
            if self.is_whole_row(&item.entity) {
                written = self.write_row(&item.entity).map(drop);
            } else if let Some(declared) = self.declared(&item.entity) {
                written = self.write_by(declared, &item.entity);
            }
        }
        let Err(error) = written else {
            counts.written += item.rows;
            return Ok(());
        };
        if stops(error.kind()) {
            return Err(error.into());
        }
        let is_there = error.kind() == ErrorKind::EntityAlreadyExists;
        match self.writing.mode {
            Mode::Skip if is_there => counts.skipped += item.rows,
            Mode::Insert
                if is_there && item.place.is_before(self.writing.repeated) && self.says(&item.entity)? =>
            {
                counts.written += item.rows;
            }
            _ => {
                counts.rejected += item.rows;
                rejects.push(Reject::entity(item.line, &item.entity, &error));
            }
        }
        Ok(())
    }

    /// Returns the struct of an entity, if the program has it.
    fn declared(&self, entity: &DynamicEntity) -> Option<&dyn Declared> {
        let text = entity.get(ENTITY_TYPE)?.as_str()?;
        let RowClass::Entity(kind) = self.kinds.find(text) else { return None };
        find(&self.structs, self.table.name(), self.kinds.name(kind))
    }

    /// Writes an entity by its struct.
    fn write_by(&self, declared: &dyn Declared, entity: &DynamicEntity) -> table_core::Result<()> {
        match self.writing.mode {
            Mode::Insert | Mode::Skip => declared.insert(self.tables, entity),
            Mode::Replace => declared.put(self.tables, entity),
            Mode::Merge => match declared.merge(self.tables, entity) {
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {
                    declared.insert(self.tables, entity)
                }
                merged => merged,
            },
        }
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

    /// Returns the entity of the same keys that the table has, of a wide one with what its parts say.
    fn whole(&self, entity: &DynamicEntity) -> Result<Option<DynamicEntity>, Failure> {
        let opening = self.kinds.seal().then(|| self.table.encrypting(|_, _, _| false));
        let get = |row: &str| match &opening {
            Some(opening) => opening.get(entity.partition_key(), row),
            None => self.table.get(entity.partition_key(), row),
        };
        let Some(mut found) = get(entity.row_key())? else { return Ok(None) };
        let parts =
            found.get(ENTITY_PARTS).and_then(Value::as_i64).and_then(|said| usize::try_from(said).ok());
        for part in 1..=parts.unwrap_or_default() {
            // What a row says of its parts may be anything.
            let Some(row) = get(&part_key(entity.row_key(), part))? else { break };
            wide::add(&mut found, &row);
        }
        Ok(Some(found))
    }

    /// Returns whether the table has an entity of these keys.
    pub(super) fn has(&self, entity: &DynamicEntity) -> Result<bool, Failure> {
        let found = self.table.get_with(entity.partition_key(), entity.row_key(), |_| ())?;
        Ok(found.is_some())
    }

    /// Returns whether the table has an entity with all that this one says.
    fn says(&self, entity: &DynamicEntity) -> Result<bool, Failure> {
        let Some(found) = self.whole(entity)? else { return Ok(false) };
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
