//! Operations checked and put into bytes, before any transaction.
//!
//! What can be refused without the store is refused here. What is left to do inside the transaction is to look at
//! the old rows, stamp the new ones and put them.

use std::ops::Range;
use std::sync::Arc;

use super::encode::{self, Given, Place};
use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::model::names::ENTITY_TYPE;
use crate::model::{DynamicEntity, IfMatch, Name, Value, body};
use crate::plan::{ReadVersion, RowContent};
use crate::row::dict::Dict;
use crate::row::key;
use crate::row::row_write::RowWriter;
use crate::row::view::RowView;
use crate::row::{self, DIGEST, Row};
use crate::schema::Schema;
use crate::sealing::SealedAt;
use crate::sealing::sign;
use crate::store::records::catalog::TableState;

/// What is to happen to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Insert,
    Replace(IfMatch),
    /// Replaces the row if it is, to the byte, the one that was read.
    ReplaceRead(ReadVersion),
    Merge(IfMatch),
    InsertOrReplace,
    InsertOrMerge,
    Delete(IfMatch),
    /// Deletes the row if it is, to the byte, the one that was read.
    DeleteRead(ReadVersion),
    /// Deletes the row if it is there.
    Remove,
    /// Writes nothing; fails if the row is there. It counts for no limit.
    Absent,
}

impl Action {
    /// As it follows "cannot " in an error.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Insert | Self::Absent => "insert into",
            Self::Replace(_) | Self::ReplaceRead(_) => "replace in",
            Self::Merge(_) => "merge into",
            Self::InsertOrReplace => "insert or replace in",
            Self::InsertOrMerge => "insert or merge into",
            Self::Delete(_) | Self::DeleteRead(_) | Self::Remove => "delete from",
        }
    }
}

/// One operation as the caller gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operation<'a> {
    pub(crate) action: Action,
    pub(crate) partition: &'a str,
    pub(crate) row: &'a str,
    pub(crate) content: Content<'a>,
}

/// What an operation writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'a> {
    /// Nothing: it deletes.
    Nothing,
    /// Properties of any names.
    Properties(&'a [Given<'a>]),
    /// A row of an entity, as it was planned.
    Row(&'a RowContent<'a>),
}

impl<'a> Operation<'a> {
    /// An operation with an entity, whose properties have been [borrowed].
    pub(crate) fn on(action: Action, entity: &'a DynamicEntity, properties: &'a [Given<'a>]) -> Self {
        let content = Content::Properties(properties);
        Self { action, partition: entity.partition_key(), row: entity.row_key(), content }
    }

    pub(crate) fn delete(partition: &'a str, row: &'a str, condition: IfMatch) -> Self {
        Self { action: Action::Delete(condition), partition, row, content: Content::Nothing }
    }
}

/// Properties that somebody owns, as an operation takes them.
pub(crate) fn borrowed(properties: &[(Name, Value)]) -> Vec<Given<'_>> {
    properties.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect()
}

/// The image of a row to be written.
#[derive(Debug)]
pub(crate) enum Image {
    /// Nothing: the operation deletes.
    None,
    /// In the plan's bytes.
    Ready(Range<usize>),
    /// Some name has no number yet, so the row can only be put into bytes inside the transaction; with its keyed digest, if
    /// it is signed.
    Deferred(Box<[(Name, Value)]>, Option<[u8; DIGEST]>),
}

/// One operation, ready for a transaction.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    key: Range<usize>,
    /// What binds the row's checksums to its key.
    pub(crate) seed: u64,
    pub(crate) image: Image,
}

impl Step {
    /// Whether the row must not be there yet.
    pub(crate) fn adds(&self) -> bool {
        matches!(self.action, Action::Insert | Action::Absent)
    }

    /// Whether the row can be put without a look at what is there: the put itself finds out whether one is.
    pub(crate) fn is_blind(&self) -> bool {
        self.action == Action::Insert && matches!(self.image, Image::Ready(_))
    }
}

/// The operations of one batch: they happen together or not at all.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) table: Arc<TableState>,
    pub(crate) steps: Vec<Step>,
    /// Keys and rows, one after another.
    bytes: Vec<u8>,
    /// About how many bytes the rows will have that are not among them yet.
    deferred: usize,
    /// Whether the caller gave a batch, so that errors say which operation.
    pub(crate) numbered: bool,
    /// Whether it may write rows of declared kinds though no struct has made them.
    pub(crate) is_raw: bool,
    /// With which keys its values were sealed.
    pub(crate) sealed_at: SealedAt,
    /// Whether rows that are there keep their times: their values are sealed anew, and no entity changes.
    pub(crate) keeps_times: bool,
    /// The declarations that its rows were made by, if it is of typed entities: mostly one.
    declaration: Option<&'static Schema>,
    other_declarations: Vec<&'static Schema>,
}

impl Prepared {
    /// Notes which declarations the rows were made by.
    pub(crate) fn declared_by(&mut self, schemas: impl Iterator<Item = &'static Schema>) {
        for schema in schemas {
            if self.declaration.is_none() {
                self.declaration = Some(schema);
            } else if self.declarations().all(|known| !std::ptr::eq(known, schema)) {
                self.other_declarations.push(schema);
            }
        }
    }

    /// The declarations that the rows were made by.
    pub(crate) fn declarations(&self) -> impl Iterator<Item = &'static Schema> {
        self.declaration.into_iter().chain(self.other_declarations.iter().copied())
    }

    pub(crate) fn key(&self, step: &Step) -> &[u8] {
        self.bytes.get(step.key.clone()).unwrap_or_default()
    }

    pub(crate) fn image(&self, range: &Range<usize>) -> &[u8] {
        self.bytes.get(range.clone()).unwrap_or_default()
    }

    /// A row, to be stamped in place, its key, and what binds its checksums to that.
    pub(crate) fn key_and_image(&mut self, step: usize) -> (&[u8], &mut [u8], u64) {
        let Some(Step { key, seed, image: Image::Ready(image), .. }) = self.steps.get(step) else {
            return (&[], &mut [], 0);
        };
        // The key stands before its row.
        match self.bytes.split_at_mut_checked(image.start) {
            Some((before, rest)) => (
                before.get(key.clone()).unwrap_or_default(),
                rest.get_mut(..image.len()).unwrap_or_default(),
                *seed,
            ),
            None => (&[], &mut [], 0),
        }
    }

    /// Whether the row that a step writes is signed.
    pub(crate) fn signs(&self, step: &Step) -> bool {
        match &step.image {
            Image::None => false,
            Image::Ready(range) => Row::parse(self.image(range)).is_ok_and(|row| row.is_signed()),
            Image::Deferred(_, digest) => digest.is_some(),
        }
    }

    /// Has the kind of each row that is written checked, where it says one.
    pub(crate) fn check_kinds(
        &self,
        dict: &Dict,
        check: impl Fn(&str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for (index, step) in self.steps.iter().enumerate() {
            let checked = match &step.image {
                Image::None => Ok(()),
                Image::Ready(range) => {
                    let row = Row::parse(self.image(range))?;
                    RowView::new(self.key(step), row, dict, false).kind()?.map_or(Ok(()), &check)
                }
                Image::Deferred(properties, _) => {
                    let kind = properties.iter().find(|(name, _)| &**name == ENTITY_TYPE);
                    kind.and_then(|(_, kind)| kind.as_str()).map_or(Ok(()), &check)
                }
            };
            checked.map_err(|refused| self.locate(refused, index))?;
        }
        Ok(())
    }

    /// Whether no operation needs a look at what is there before it is put.
    pub(crate) fn is_blind(&self) -> bool {
        self.steps.iter().all(Step::is_blind)
    }

    /// About how many bytes the plan writes; what one transaction takes in is bounded by it.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + self.deferred + self.steps.len() * 64
    }

    /// About how many bytes a step's key and row have together.
    pub(crate) fn length(&self, step: &Step) -> usize {
        let row = match &step.image {
            Image::None => 0,
            Image::Ready(image) => image.len(),
            Image::Deferred(..) => self.deferred,
        };
        step.key.len() + row
    }

    /// Names the operation in an error.
    #[cold]
    pub(crate) fn locate(&self, error: Error, step: usize) -> Error {
        let error = error.table(&self.table.name);
        let Some(found) = self.steps.get(step) else { return error };
        let error = key::locate(error.attempted(found.action.words()), self.key(found));
        if self.numbered { error.at_index(step) } else { error }
    }
}

/// Checks one operation that stands alone.
pub(crate) fn single(table: &Arc<TableState>, operation: &Operation<'_>) -> Result<Prepared, Error> {
    let dict = table.dict();
    let mut builder = Builder::new(table, &dict, 1);
    builder.add(operation).map_err(|e| place(e, table, operation))?;
    Ok(builder.plan)
}

/// Checks the operations of a batch against each of the service's rules for one.
pub(crate) fn batch<'a>(
    table: &Arc<TableState>,
    partition: &'a str,
    operations: &(impl Iterator<Item = Operation<'a>> + Clone),
) -> Result<Prepared, Error> {
    let whole = |error: Error| error.attempted("commit a batch to").table(&table.name).partition(partition);
    let writing = || operations.clone().filter(|operation| operation.action != Action::Absent);
    let length = writing().count();
    if length == 0 || length > limits::BATCH_OPERATIONS {
        let because =
            format!("the batch has {length} operations; it may have 1 to {}", limits::BATCH_OPERATIONS);
        return Err(whole(Error::new(ErrorKind::BatchLength).because(because)));
    }
    let dict = table.dict();
    let mut builder = Builder::new(table, &dict, length);
    builder.plan.numbered = true;
    let mut entities = 0;
    for (index, operation) in operations.clone().enumerate() {
        let placed = |error: Error| place(error, table, &operation).at_index(index);
        if operation.partition != partition {
            let because = format!(
                "the entity is of partition `{}`, the batch of `{}`",
                operation.partition.escape_debug(),
                partition.escape_debug()
            );
            return Err(placed(Error::new(ErrorKind::DifferentPartitions).because(because)));
        }
        let size = builder.add(&operation).map_err(placed)?;
        entities += if operation.action == Action::Absent { 0 } else { size };
    }
    if body::most(length, &table.name, entities) >= limits::BATCH_BYTES {
        let operations = writing().map(|operation| body_size(&table.name, &operation));
        let bytes = body::BATCH + operations.sum::<usize>();
        if bytes >= limits::BATCH_BYTES {
            let because = format!(
                "the batch comes to {bytes} bytes as the body of a request; it must stay below {}",
                limits::BATCH_BYTES
            );
            return Err(whole(Error::new(ErrorKind::BatchTooLarge).because(because)));
        }
    }
    let plan = builder.plan;
    match second_of_a_row(&plan) {
        Some(index) => Err(plan.locate(Error::new(ErrorKind::DuplicateRow), index)),
        None => Ok(plan),
    }
}

/// How many operations are compared each with each, rather than sorted.
const FEW: usize = 8;

/// The first operation whose row an earlier one has.
fn second_of_a_row(plan: &Prepared) -> Option<usize> {
    if plan.steps.is_sorted_by(|a, b| plan.key(a) < plan.key(b)) {
        return None;
    }
    if plan.steps.len() <= FEW {
        let is_second = |(index, step)| {
            let mut before = plan.steps.iter().take(index);
            before.any(|earlier| plan.key(earlier) == plan.key(step)).then_some(index)
        };
        return plan.steps.iter().enumerate().find_map(is_second);
    }
    let mut order: Vec<_> = plan.steps.iter().map(|step| plan.key(step)).zip(0_usize..).collect();
    order.sort_unstable();
    let pairs = order.iter().zip(order.iter().skip(1));
    pairs.filter(|((a, _), (b, _))| a == b).map(|(_, (_, index))| *index).min()
}

#[cold]
fn place(error: Error, table: &TableState, operation: &Operation<'_>) -> Error {
    error
        .attempted(operation.action.words())
        .table(&table.name)
        .partition(operation.partition)
        .row(operation.row)
}

struct Builder<'d> {
    plan: Prepared,
    /// How many operations there will be.
    length: usize,
    dict: &'d Dict,
    writer: RowWriter,
    order: Vec<Place>,
}

impl<'d> Builder<'d> {
    fn new(table: &Arc<TableState>, dict: &'d Dict, length: usize) -> Self {
        Self {
            plan: Prepared {
                table: table.clone(),
                steps: Vec::with_capacity(length),
                bytes: Vec::new(),
                deferred: 0,
                numbered: false,
                is_raw: false,
                sealed_at: SealedAt::NOTHING,
                keeps_times: false,
                declaration: None,
                other_declarations: Vec::new(),
            },
            length,
            dict,
            writer: RowWriter::default(),
            order: Vec::new(),
        }
    }

    /// Checks an operation and puts it into bytes; returns its size as the limits count it, or more.
    fn add(&mut self, operation: &Operation<'_>) -> Result<usize, Error> {
        // All of a batch are in one.
        if self.plan.steps.is_empty() {
            key::check_partition(operation.partition)?;
        }
        key::check_row(operation.partition, operation.row)?;
        match operation.content {
            Content::Nothing => {
                let key = self.add_key(operation, 0);
                let seed = self.seed(&key);
                self.plan.steps.push(Step { action: operation.action, key, seed, image: Image::None });
                Ok(keys_size(operation))
            }
            Content::Properties(properties) => self.add_properties(operation, properties, None),
            Content::Row(row) => {
                let keys = (operation.partition, operation.row);
                let digest =
                    row.kind.signs().then(|| sign::digest(self.dict, keys, row.properties())).transpose()?;
                match self.add_row(operation, row, digest.as_ref()) {
                    Some(size) => Ok(size),
                    None => self.add_properties(operation, &row.properties().collect::<Vec<_>>(), digest),
                }
            }
        }
    }

    /// Adds an entity's row by the numbers of its fields. Adds nothing if there is anything to be said against it, if
    /// some name has no number, or if the row is large: then it goes by its names.
    fn add_row(
        &mut self,
        operation: &Operation<'_>,
        row: &RowContent<'_>,
        digest: Option<&[u8; DIGEST]>,
    ) -> Option<usize> {
        let numbers = self.dict.row_numbers(row.kind)?;
        if !row.unknown.is_empty() {
            return None;
        }
        let from = self.plan.bytes.len();
        let key = self.add_key(operation, numbers.columns.len() * TYPICAL_VALUE);
        let seed = self.seed(&key);
        let Some((image, size)) = encode::write_row(row, numbers, seed, digest, &mut self.plan.bytes) else {
            self.plan.bytes.truncate(from);
            return None;
        };
        self.plan.steps.push(Step { action: operation.action, key, seed, image: Image::Ready(image) });
        Some(size + keys_size(operation))
    }

    /// Adds properties of any names.
    fn add_properties(
        &mut self,
        operation: &Operation<'_>,
        properties: &[Given<'_>],
        digest: Option<[u8; DIGEST]>,
    ) -> Result<usize, Error> {
        let numbered = encode::number(properties, self.dict, &mut self.order);
        let size = encode::check_properties(properties, &self.order)? + keys_size(operation);
        if size > limits::ENTITY_BYTES {
            let size = exact_size(operation);
            if size > limits::ENTITY_BYTES {
                return Err(too_large(size));
            }
        }
        // Text takes half of what was counted for it.
        let values = size / 2;
        let key = self.add_key(operation, values);
        let seed = self.seed(&key);
        self.writer.start(properties.len(), values);
        let image = if numbered
            && encode::write_numbered(properties, self.dict, &mut self.order, &mut self.writer, seed)
        {
            let at = self.writer.finish(&mut self.plan.bytes, digest.as_ref())?;
            Image::Ready(at..self.plan.bytes.len())
        } else {
            let owned = |(name, value): &Given<'_>| (Name::from(*name), value.to_value());
            self.plan.deferred += size;
            Image::Deferred(properties.iter().map(owned).collect(), digest)
        };
        self.plan.steps.push(Step { action: operation.action, key, seed, image });
        Ok(size)
    }

    /// Adds a key, and makes room for all the rows of the batch if the first one has about so many bytes of slots and
    /// values: they are mostly of one size.
    fn add_key(&mut self, operation: &Operation<'_>, content: usize) -> Range<usize> {
        let bytes = &mut self.plan.bytes;
        let from = bytes.len();
        if from == 0 {
            let row = key::TABLE + 1 + operation.partition.len() + operation.row.len() + content + 32;
            bytes.reserve((self.length * row).min(limits::BATCH_BYTES));
        }
        key::encode(self.plan.table.id, operation.partition, operation.row, bytes);
        from..bytes.len()
    }

    fn seed(&self, key: &Range<usize>) -> u64 {
        row::key_seed(self.plan.bytes.get(key.clone()).unwrap_or_default())
    }
}

/// What a slot and its value take, mostly.
const TYPICAL_VALUE: usize = row::NARROW_SLOT + 12;

#[cold]
pub(crate) fn too_large(size: usize) -> Error {
    Error::new(ErrorKind::EntityTooLarge)
        .because(format!("the entity has {size} bytes; it may have {}", limits::ENTITY_BYTES))
}

/// What an operation's keys count for, or more.
fn keys_size(operation: &Operation<'_>) -> usize {
    4 + 2 * (operation.partition.len() + operation.row.len())
}

/// The size of an operation's entity as the limits count it, in UTF-16 units.
#[cold]
fn exact_size(operation: &Operation<'_>) -> usize {
    let size = |(name, value): Given<'_>| crate::model::property_size(name, value.size());
    let properties: usize = match operation.content {
        Content::Nothing => 0,
        Content::Properties(properties) => properties.iter().copied().map(size).sum(),
        Content::Row(row) => row.properties().map(size).sum(),
    };
    crate::model::keys_size(operation.partition, operation.row) + properties
}

/// What an operation takes in the body of a request.
fn body_size(table: &str, operation: &Operation<'_>) -> usize {
    let is_insert = operation.action == Action::Insert;
    let written = |properties: &mut dyn Iterator<Item = Given<'_>>| {
        let kind = if is_insert { body::Kind::Insert(properties) } else { body::Kind::Write(properties) };
        body::operation(table, operation.partition, operation.row, kind)
    };
    match operation.content {
        Content::Nothing => {
            let kind = body::Kind::<std::iter::Empty<_>>::Delete;
            body::operation(table, operation.partition, operation.row, kind)
        }
        Content::Properties(properties) => written(&mut properties.iter().copied()),
        Content::Row(row) => written(&mut row.properties()),
    }
}
