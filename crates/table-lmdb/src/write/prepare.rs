//! Operations checked and put into bytes, before any transaction.
//!
//! What can be refused without the store is refused here. What is left to do inside the transaction is to look at
//! the old rows, stamp the new ones and put them.

use std::ops::Range;
use std::sync::Arc;

use table_engine::contents::reference;
use table_engine::error::{Error, ErrorKind};
use table_engine::model::{self, ETag, EntityKeys, Name, body};
use table_engine::plan::{
    Act, Condition, Content, Group, OneOrMore, Plan, Refused, RowContent, RowKind, RowWrite,
};
use table_engine::row::dict::Dict;
use table_engine::row::encode::{self, Given, Place, Under};
use table_engine::row::key::{self, InPartition};
use table_engine::row::row_write::RowWriter;
use table_engine::row::{self, DIGEST};
use table_engine::sealing::sign;
use table_engine::{executor, limits};

use super::encoded::{
    BlobOps, Deferred, EncodedAddition, EncodedGroup, EncodedPlan, EncodedRange, EncodedRow, Image, QueueOps,
};
use super::entries;
use crate::queues::Work;
use crate::records::catalog::TableState;

/// Checks the write of one row that stands alone.
pub(crate) fn single(
    blank: Box<EncodedPlan>,
    table: &Arc<TableState>,
    partition: &str,
    write: &RowWrite<'_>,
) -> Result<Box<EncodedPlan>, Error> {
    let dict = table.dict();
    let mut builder = Builder::new(blank, 1);
    builder.begin(table);
    builder.add(&dict, partition, write).map_err(|e| place(e, table, partition, write))?;
    Ok(builder.plan)
}

/// Checks the rows of a plan against each of the service's rules for a batch, of which each group is one unless the plan is
/// of the whole store. The groups' places refer to these tables.
pub(crate) fn plan(
    blank: Box<EncodedPlan>,
    plan: &Plan<'_>,
    tables: &[&Arc<TableState>],
) -> Result<Box<EncodedPlan>, Refused> {
    let rows = plan.groups.iter().map(|group| group.rows.len() + group.additions.len()).sum();
    let mut builder = Builder::new(blank, rows);
    builder.has_outbox_ops = !plan.outbox_ops.is_empty();
    for (number, group) in plan.groups.iter().enumerate() {
        let Some(table) = tables.get(group.table) else {
            let error =
                Error::new(ErrorKind::TableNotFound).because("the plan is of a table that was not given");
            return Err(Refused { error, group: number, row: None });
        };
        builder
            .add_group(table, group, plan.is_wide)
            .map_err(|refused| Refused { group: number, ..refused })?;
    }
    builder.plan.keeps_times = plan.keeps_times;
    builder.plan.is_raw = plan.is_raw;
    builder.plan.as_of = plan.as_of.map(ETag::timestamp);
    if !plan.queue_ops.is_empty() || !plan.outbox_ops.is_empty() {
        let mut queue_ops = queue_ops(plan);
        for outbox_op in &plan.outbox_ops {
            queue_ops.work.push(entries::of(outbox_op, tables).map_err(Refused::whole)?);
        }
        builder.plan.queue_ops = Some(Box::new(queue_ops));
    }
    builder.finish()
}

/// Returns the operations of a plan on queues, which are known to be the store's.
fn queue_ops(plan: &Plan<'_>) -> QueueOps {
    let work = plan.queue_ops.iter().map(|queue_op| Work::Task(queue_op.queue.number, queue_op.task.clone()));
    QueueOps { work: work.collect(), ..QueueOps::default() }
}

/// Returns a plan of nothing but work on queues.
pub(crate) fn of_queues(queue_ops: QueueOps) -> Box<EncodedPlan> {
    Box::new(EncodedPlan { queue_ops: Some(Box::new(queue_ops)), ..EncodedPlan::default() })
}

/// Returns a plan of nothing but work on blobs.
pub(crate) fn of_blobs(blobs: BlobOps) -> Box<EncodedPlan> {
    Box::new(EncodedPlan { blobs: Some(Box::new(blobs)), ..EncodedPlan::default() })
}

/// How many rows are compared each with each, rather than sorted.
const FEW: usize = 8;

/// Returns the first row that has the key of an earlier one.
fn second_of_a_row(plan: &EncodedPlan) -> Option<usize> {
    if plan.rows.is_sorted_by(|a, b| plan.key(a) < plan.key(b)) {
        return None;
    }
    if plan.rows.len() <= FEW {
        let is_second = |(index, row)| {
            let mut before = plan.rows.iter().take(index);
            before.any(|earlier| plan.key(earlier) == plan.key(row)).then_some(index)
        };
        return plan.rows.iter().enumerate().find_map(is_second);
    }
    let mut order: Vec<_> = plan.rows.iter().map(|row| plan.key(row)).zip(0_usize..).collect();
    order.sort_unstable();
    let pairs = order.iter().zip(order.iter().skip(1));
    pairs.filter(|((a, _), (b, _))| a == b).map(|(_, (_, index))| *index).min()
}

#[cold]
fn place(error: Error, table: &TableState, partition: &str, write: &RowWrite<'_>) -> Error {
    let words = write.act.describe(write.condition);
    error.attempted(words).table(&table.name).partition(partition).row(write.key)
}

/// What a row of a declared kind has beside its properties.
#[derive(Default)]
struct OfKind {
    digest: Option<[u8; DIGEST]>,
    kind: Option<RowKind>,
}

struct Builder {
    plan: Box<EncodedPlan>,
    /// How many rows there will be.
    length: usize,
    /// Whether the plan changes the outbox: then it need not write rows.
    has_outbox_ops: bool,
    writer: RowWriter,
    order: Vec<Place>,
    /// The keys of the group that was begun last.
    keys: InPartition,
}

impl Builder {
    /// Begins a plan of so many rows in the memory of one that holds nothing.
    fn new(mut plan: Box<EncodedPlan>, length: usize) -> Self {
        plan.rows.reserve(length);
        Self {
            plan,
            length,
            has_outbox_ops: false,
            writer: RowWriter::default(),
            order: Vec::new(),
            keys: InPartition::default(),
        }
    }

    /// Begins a group of this table.
    fn begin(&mut self, table: &Arc<TableState>) {
        self.keys = InPartition::default();
        self.plan.groups.push(EncodedGroup {
            table: table.clone(),
            first: self.plan.rows.len(),
            declarations: OneOrMore::default(),
            epochs: OneOrMore::default(),
        });
    }

    /// Adds a group as the service takes it: at most 100 rows, and less than 4 MiB; or one of a transaction of the whole
    /// store, which has been measured.
    fn add_group(
        &mut self,
        table: &Arc<TableState>,
        group: &Group<'_>,
        is_wide: bool,
    ) -> Result<(), Refused> {
        let partition = group.partition;
        let whole = |error: Error| {
            Refused::whole(error.attempted("commit a batch to").table(&table.name).partition(partition))
        };
        let length = group.written();
        // A group of conditions alone makes sense beside others.
        let is_empty = length == 0 && group.rows.len() == self.length && !self.has_outbox_ops;
        if is_empty || (length > limits::BATCH_OPERATIONS && !is_wide) {
            return Err(whole(executor::batch_length(length)));
        }
        let dict = table.dict();
        self.begin(table);
        let mut entities = 0;
        for (index, write) in group.rows.iter().enumerate() {
            let size = self.add(&dict, partition, write).map_err(|error| {
                let error = place(error, table, partition, write);
                Refused { error, group: 0, row: Some(index) }
            })?;
            entities += if write.act.keeps() { 0 } else { size };
        }
        entities += self.add_additions(partition, group).map_err(whole)?;
        if !is_wide && body::most(length, &table.name, entities) >= limits::BATCH_BYTES {
            let rows = group.rows.iter().filter_map(|row| row.body(&table.name, partition));
            let added = group.additions.iter().map(|addition| addition.body(&table.name, partition));
            let bytes = body::BATCH + rows.sum::<usize>() + added.sum::<usize>();
            if bytes >= limits::BATCH_BYTES {
                let because = format!(
                    "the batch comes to {bytes} bytes as the body of a request; it must stay below {}",
                    limits::BATCH_BYTES
                );
                return Err(whole(Error::new(ErrorKind::BatchTooLarge).because(because)));
            }
        }
        let number = self.plan.groups.len().saturating_sub(1);
        for range in &group.unchanged {
            key::check_row(partition, range.prefix).map_err(whole)?;
            let prefix = self.add_key(partition, range.prefix, 0);
            self.plan.unchanged.push(EncodedRange { prefix, digest: range.digest, group: number });
        }
        if let Some(begun) = self.plan.groups.last_mut() {
            begun.declared_by(group.schemas());
            begun.epochs = group.epochs.clone();
        }
        Ok(())
    }

    /// Returns the rows of all groups, no two of which are one.
    fn finish(self) -> Result<Box<EncodedPlan>, Refused> {
        match second_of_a_row(&self.plan) {
            Some(index) => Err(self.plan.locate(Error::new(ErrorKind::DuplicateRow), index)),
            None => Ok(self.plan),
        }
    }

    /// Checks a row's change and puts it into bytes; returns its size as the limits count it, or more.
    fn add(&mut self, dict: &Dict, partition: &str, write: &RowWrite<'_>) -> Result<usize, Error> {
        // All rows of a group are in one partition, so it is checked with the first.
        if self.plan.groups.last().is_none_or(|group| group.first == self.plan.rows.len()) {
            key::check_partition(partition)?;
        }
        if write.kind.is_some() {
            key::check_printed_row(partition, write.key)?;
        } else {
            key::check_row(partition, write.key)?;
        }
        let keys = EntityKeys::new(partition, write.key);
        match write.act.content() {
            None => {
                let act = if write.act.keeps() { Act::Keep } else { Act::Remove };
                let key = self.add_key(partition, write.key, 0);
                self.push(write.condition, act, key);
                Ok(keys_size(partition, write.key))
            }
            Some(Content::Properties(properties)) => {
                self.add_properties(dict, keys, write, properties, OfKind::default())
            }
            Some(Content::Row(row)) => {
                let digest =
                    row.kind.signs().then(|| sign::digest(dict, keys, row.properties())).transpose()?;
                if let Some(size) = self.add_row(dict, keys, write, row, digest.as_ref()) {
                    return Ok(size);
                }
                let properties: Vec<_> = row.properties().collect();
                let of_kind = OfKind { digest, kind: Some(row.kind) };
                self.add_properties(dict, keys, write, &properties, of_kind)
            }
        }
    }

    /// Adds what a group adds to rows of summaries; returns what that comes to as the limits count it, or more.
    fn add_additions(&mut self, partition: &str, group: &Group<'_>) -> Result<usize, Error> {
        if group.additions.is_empty() {
            return Ok(0);
        }
        key::check_partition(partition)?;
        let (number, mut size) = (self.plan.groups.len().saturating_sub(1), 0);
        for (at, addition) in (group.rows.len()..).zip(&group.additions) {
            key::check_printed_row(partition, addition.key)?;
            let key = self.add_key(partition, addition.key, 0);
            let (seed, amounts) = (self.seed(&key), addition.amounts.clone());
            size += addition.body("", partition);
            self.plan.additions.push(EncodedAddition { key, seed, group: number, at, amounts });
        }
        Ok(size)
    }

    /// Adds a row whose key has been added.
    fn push(&mut self, condition: Condition, act: Act<Image>, key: Range<usize>) {
        let seed = self.seed(&key);
        let group = self.plan.groups.len().saturating_sub(1);
        self.plan.rows.push(EncodedRow { condition, act, key, seed, group });
    }

    /// Adds an entity's row by the shape of its kind. Returns `None`, and adds nothing, if a check fails, if the
    /// dictionary has no such shape, or if the shape can't hold the row: then it is added by its names, which also
    /// finds the error.
    fn add_row(
        &mut self,
        dict: &Dict,
        keys: EntityKeys<'_>,
        write: &RowWrite<'_>,
        row: &RowContent<'_>,
        digest: Option<&[u8; DIGEST]>,
    ) -> Option<usize> {
        let numbers = dict.row_numbers(row.kind)?;
        if !row.unknown.is_empty() {
            return None;
        }
        let from = self.plan.bytes.len();
        let key = self.add_key(keys.partition, keys.row, numbers.columns.len() * TYPICAL_VALUE);
        let seed = self.seed(&key);
        let under = Under { dict, seed, digest };
        let Some((image, size)) = encode::write_row(row, numbers, under, &mut self.plan.bytes) else {
            self.plan.bytes.truncate(from);
            self.keys = InPartition::default();
            return None;
        };
        self.plan.refers |=
            numbers.has_bytes && self.plan.bytes.get(image.clone()).is_some_and(reference::is_in);
        let group = self.plan.groups.len().saturating_sub(1);
        let act = act_with(&write.act, Image::Ready(image));
        self.plan.rows.push(EncodedRow { condition: write.condition, act, key, seed, group });
        Some(size + keys_size(keys.partition, keys.row))
    }

    /// Adds properties of any names.
    fn add_properties(
        &mut self,
        dict: &Dict,
        keys: EntityKeys<'_>,
        write: &RowWrite<'_>,
        properties: &[Given<'_>],
        OfKind { digest, kind }: OfKind,
    ) -> Result<usize, Error> {
        let numbered = encode::number(properties, dict, &mut self.order);
        let size = encode::check_properties(properties, &self.order)? + keys_size(keys.partition, keys.row);
        if size > limits::ENTITY_BYTES {
            let size = exact_size(keys.partition, keys.row, properties);
            if size > limits::ENTITY_BYTES {
                return Err(model::too_large(size));
            }
        }
        self.plan.refers |=
            properties.iter().any(|(_, value)| value.as_bytes().is_some_and(reference::is_in));
        // Text takes half of what was counted for it.
        let values = size / 2;
        let key = self.add_key(keys.partition, keys.row, values);
        let seed = self.seed(&key);
        let is_ready = numbered && kind.is_none_or(|kind| !dict.wants_shape(kind));
        let under = Under { dict, seed, digest: digest.as_ref() };
        let written = if is_ready {
            let (order, writer) = (&mut self.order, &mut self.writer);
            encode::write_numbered(properties, under, order, writer, &mut self.plan.bytes)?
        } else {
            None
        };
        let image = if let Some(written) = written {
            Image::Ready(written)
        } else {
            let owned = |(name, value): &Given<'_>| (Name::from(*name), value.to_value());
            self.plan.deferred += size;
            let properties = properties.iter().map(owned).collect();
            Image::Deferred(Deferred { properties, digest, kind })
        };
        self.push(write.condition, act_with(&write.act, image), key);
        Ok(size)
    }

    /// Adds a key, and makes room for all the rows of the plan if the first one has about so many bytes of slots and
    /// values: they are mostly of one size.
    fn add_key(&mut self, partition: &str, row: &str, content: usize) -> Range<usize> {
        let bytes = &mut self.plan.bytes;
        let from = bytes.len();
        if from == 0 {
            let row = key::TABLE + 1 + partition.len() + row.len() + content + 32;
            bytes.reserve((self.length * row).min(limits::BATCH_BYTES));
        }
        let table = self.plan.groups.last().map_or(0, |group| group.table.id);
        self.keys.encode(table, partition, row, bytes)
    }

    fn seed(&self, key: &Range<usize>) -> u64 {
        row::key_seed(self.plan.bytes.get(key.clone()).unwrap_or_default())
    }
}

/// What a slot and its value take, mostly.
const TYPICAL_VALUE: usize = row::NARROW_SLOT + 12;

/// Returns the size of a row's keys as the limits count it, or more.
fn keys_size(partition: &str, row: &str) -> usize {
    4 + 2 * (partition.len() + row.len())
}

/// Returns the size of an entity as the limits count it, in UTF-16 units.
#[cold]
fn exact_size(partition: &str, row: &str, properties: &[Given<'_>]) -> usize {
    let size = |(name, value): Given<'_>| model::property_size(name, value.size());
    model::keys_size(partition, row) + properties.iter().copied().map(size).sum::<usize>()
}

/// Returns the act of a row's change with this image.
fn act_with(act: &Act<Content<'_>>, image: Image) -> Act<Image> {
    match act {
        Act::Merge(_) => Act::Merge(image),
        _ => Act::Put(image),
    }
}
