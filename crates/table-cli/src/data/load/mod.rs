//! Entities into a table: in batches of one partition, many of which share a transaction.

mod batches;
mod settle;
mod whole_chunks;
mod wide;

use std::borrow::Borrow;
use std::path::Path;

use clap::ValueEnum;
use table_core::{Batch, DynamicEntity, DynamicTable, ETag, Tables, Value};

pub(crate) use self::whole_chunks::WholeChunks;
use super::counts::Counts;
use super::kinds::{ENTITY_TYPE, Kinds, RowClass, is_sealed};
use super::read::{Item, Place};
use super::reject::Reject;
use crate::declared::Structs;
use crate::failure::Failure;

/// What becomes of an entity whose keys are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Mode {
    /// It is refused.
    #[default]
    Insert,
    /// It is left out, and the one that is there stays.
    Skip,
    /// Its properties are set on the one that is there.
    Merge,
    /// It takes the place of the one that is there.
    Replace,
}

impl Mode {
    /// Returns its name, as `--mode` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Skip => "skip",
            Self::Merge => "merge",
            Self::Replace => "replace",
        }
    }

    /// Returns what there is to say of what was not taken.
    pub(crate) fn rejected(self, count: u64, rejects: &Path) -> String {
        let mode = match self {
            Self::Insert => {
                "; of what is there already --mode skip leaves it as it is, and --mode replace takes its place"
            }
            Self::Skip | Self::Merge | Self::Replace => "",
        };
        format!("{count} not taken: `{}` says of each why{mode}", rejects.display())
    }

    fn add(self, batch: Batch, entity: DynamicEntity) -> Batch {
        match self {
            Self::Insert | Self::Skip => batch.insert(entity),
            Self::Merge => batch.insert_or_merge(entity),
            Self::Replace => batch.put(entity),
        }
    }

    fn write(self, table: &DynamicTable, entity: &DynamicEntity) -> table_core::Result<ETag> {
        match self {
            Self::Insert | Self::Skip => table.insert(entity),
            Self::Merge => table.insert_or_merge(entity),
            Self::Replace => table.put(entity),
        }
    }
}

/// How entities are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Writing {
    pub(crate) mode: Mode,
    /// Whether rows are written as they are, copies among them.
    pub(crate) is_raw: bool,
    /// Entities before this place may be in the table already, of a run that was cut short.
    pub(crate) repeated: Place,
}

/// Writes entities into a table.
pub(crate) struct Loader<'s> {
    tables: &'s Tables,
    table: DynamicTable,
    kinds: Kinds,
    writing: Writing,
    structs: Structs,
}

impl<'s> Loader<'s> {
    /// Makes a loader of the table of this name, which is made if there is none. What a layout says too little of is written by
    /// its struct, if that is known.
    pub(crate) fn new(
        tables: &'s Tables,
        table: &str,
        writing: Writing,
        structs: Structs,
    ) -> Result<Self, Failure> {
        let table = tables.create_table_if_missing(table)?;
        let kinds = Kinds::of(tables, table.name())?;
        let table = if writing.is_raw { table.raw() } else { table };
        Ok(Self { tables, table, kinds, writing, structs })
    }

    /// Returns the kinds that the table has noted.
    pub(crate) fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Returns the kinds by which rows of wide entities are put together; none where each row is written as it is.
    pub(crate) fn joins_by(&self) -> Kinds {
        if self.writing.is_raw { Kinds::default() } else { self.kinds.clone() }
    }

    /// Returns whether the table seals a property of the entities that bear this text as their `EntityType`.
    pub(crate) fn seals(&mut self, entity_type: &str, property: &str) -> bool {
        match self.kinds.class(Some(entity_type)) {
            RowClass::Entity(kind) => self.kinds.sealed(kind).iter().any(|sealed| sealed == property),
            RowClass::Free | RowClass::Copy(_) => false,
        }
    }

    /// Returns whether rows are written as they are into a table that seals values.
    pub(crate) fn may_leave_open(&self) -> bool {
        self.writing.is_raw && self.kinds.seal()
    }

    /// Returns a property that the table seals, and that an entity has open: a row that is written as it is leaves it so.
    pub(crate) fn left_open(&mut self, entity: &DynamicEntity) -> Option<&str> {
        if !self.may_leave_open() {
            return None;
        }
        let class = self.kinds.class(entity.get(ENTITY_TYPE).and_then(Value::as_str));
        let (RowClass::Entity(kind) | RowClass::Copy(kind)) = class else { return None };
        let is_open = |name: &&String| entity.get(name).is_some_and(|value| !is_sealed(value.as_value_ref()));
        self.kinds.sealed(kind).iter().find(is_open).map(String::as_str)
    }

    /// Writes the entities, in their order within each partition, and returns what became of them.
    pub(crate) fn load(&mut self, items: Vec<Item>, rejects: &mut Vec<Reject>) -> Result<Counts, Failure> {
        let mut counts = Counts { read: u64::try_from(items.len()).unwrap_or_default(), ..Counts::default() };
        let mut items = items;
        if !self.writing.is_raw && !self.kinds.infos().is_empty() {
            items.retain(|item| {
                let is_copy = self.is_copy(&item.entity);
                counts.copies += u64::from(is_copy);
                !is_copy
            });
            self.join_wide(&mut items, &mut counts, rejects)?;
        }
        // Stable: of two entities of one key the later one is written later.
        items.sort_by(|one, other| one.entity.partition_key().cmp(other.entity.partition_key()));
        while !items.is_empty() {
            let repeated = batches::take_repeated(&mut items);
            self.load_distinct(&items, &mut counts, rejects)?;
            items = repeated;
        }
        Ok(counts)
    }

    /// Writes entities of different keys, which stand by their partitions.
    fn load_distinct(
        &self,
        items: &[Item],
        counts: &mut Counts,
        rejects: &mut Vec<Reject>,
    ) -> Result<(), Failure> {
        let cuts = batches::cut(items);
        let mode = self.writing.mode;
        let batch = |items: &[Item]| {
            let partition = items.first().map_or("", |item| item.entity.partition_key());
            let batch = self.table.batch(partition);
            items.iter().fold(batch, |batch, item| mode.add(batch, item.entity.clone()))
        };
        let parts: Vec<&[Item]> =
            cuts.into_iter().map(|range| items.get(range).unwrap_or_default()).collect();
        let report = self.tables.bulk(parts.iter().map(|part| batch(part)))?;
        let mut failures = report.failures.into_iter().peekable();
        for (number, part) in (0_u64..).zip(&parts) {
            match failures.next_if(|failure| failure.index == number) {
                None => counts.written += rows_of(*part),
                Some(failure) => self.settle(part, failure.error, counts, rejects)?,
            }
        }
        Ok(())
    }

    /// Returns whether the table makes a row itself.
    fn is_copy(&mut self, entity: &DynamicEntity) -> bool {
        let text = entity.get(ENTITY_TYPE).and_then(Value::as_str);
        matches!(self.kinds.class(text), RowClass::Copy(_))
    }
}

/// Returns how many rows items are of.
fn rows_of(items: impl IntoIterator<Item: Borrow<Item>>) -> u64 {
    items.into_iter().map(|item| item.borrow().rows).sum()
}
