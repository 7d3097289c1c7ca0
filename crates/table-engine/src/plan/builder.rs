//! The rows of several changed entities, on their way to one plan.

use std::collections::HashMap;

use super::content::RowKind;
use super::follow::{Following, OutboxOp};
use super::one_or_more::OneOrMore;
use super::part::{Part, Place};
use super::row_effect::{Printed, row_effects};
use super::row_write::{Condition, Plan, Range, RowWrite};
use super::rows::EntityRows;
use crate::error::{Error, ErrorKind, Result};
use crate::messages::QueueOp;
use crate::model::{ETag, EntityKeys};
use crate::schema::{Index, PeriodTables, Schema};
use crate::{limits, sorting};

/// How far changes reach that are planned together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach<'p> {
    /// One entity's change by itself.
    Alone,
    /// Those of a batch, in this partition.
    Batch(&'p str),
    /// Those of a store transaction.
    Store,
}

/// The rows that changes touch, until it is known which of them meet.
///
/// Several entities are planned as one: what counts is the state after all of them. So two entities may exchange what
/// an index demands to be unique, and no row is touched twice.
#[derive(Debug)]
pub(crate) struct PlanBuilder<'p> {
    reach: Reach<'p>,
    /// So many of the entities are those that were asked for: the others' changes are brought about by theirs.
    derived: usize,
    /// The names of the tables that come with the plan, which numbers them so.
    tables: &'p [&'p str],
    entities: OneOrMore<&'p Printed<'p>>,
    /// The rows of each place.
    parts: OneOrMore<Part<'p>>,
    /// Where a place stands among the parts, once they are many.
    numbers: Option<HashMap<Place<'p>, usize>>,
    /// What is done with messages besides.
    queue_ops: Vec<QueueOp>,
    /// What is left to be done.
    outbox_ops: Vec<OutboxOp>,
    /// The version that the rows are of, if the entity's own stays as it is.
    as_of: Option<ETag>,
    /// Whether there is one entity, whose rows are apart.
    is_alone: bool,
    /// Whether the rows have the limits of a store transaction: some lie elsewhere than their entities.
    is_wide: bool,
}

/// So many parts are looked through one by one.
const FEW: usize = 8;

impl<'p> PlanBuilder<'p> {
    /// Makes a builder for changes of so many entities, in these tables; a single one is the entities' own.
    pub(crate) fn new(reach: Reach<'p>, tables: &'p [&'p str], entities: usize) -> Self {
        Self {
            derived: usize::MAX,
            reach,
            tables,
            entities: OneOrMore::default(),
            parts: OneOrMore::default(),
            numbers: None,
            queue_ops: Vec::new(),
            outbox_ops: Vec::new(),
            as_of: None,
            is_alone: entities < 2,
            is_wide: reach == Reach::Store,
        }
    }

    /// Returns the place of a partition in a declared table.
    fn place(&self, table: &str, partition: &'p str) -> Place<'p> {
        let table = match self.tables {
            [] | [_] => 0,
            tables => tables.iter().position(|name| name.eq_ignore_ascii_case(table)).unwrap_or(usize::MAX),
        };
        Place { table, partition }
    }

    /// Returns the place of an entity's own row.
    fn own(&self, entity: &'p Printed<'p>) -> Place<'p> {
        match entity.schema.periods() {
            None => self.place(entity.schema.table(), entity.partition()),
            Some(tables) => {
                let name =
                    name_of(entity.schema, tables, EntityKeys::new(entity.partition(), entity.identity()));
                self.place(&name, entity.partition())
            }
        }
    }

    /// Returns the number of the part at a place, which is made if there is none.
    fn part(&mut self, place: Place<'p>) -> usize {
        let count = self.parts.len();
        let found = if count <= FEW {
            self.parts.iter().position(|part| part.place == place)
        } else {
            let all = || self.parts.iter().map(|part| part.place).zip(0..).collect();
            self.numbers.get_or_insert_with(all).get(&place).copied()
        };
        found.unwrap_or_else(|| {
            self.parts.push(Part::new(place));
            if let Some(numbers) = &mut self.numbers {
                numbers.insert(place, count);
            }
            count
        })
    }

    /// Notes that entities come from here on whose change is brought about by that of others, maybe in other partitions.
    pub(crate) fn begin_derived(&mut self) {
        self.derived = self.entities.len();
    }

    /// Adds the rows of an entity that was read, or is new.
    pub(crate) fn add(&mut self, of: usize, entity: &'p Printed<'p>) {
        self.entities.push(entity);
        let at = self.part(self.own(entity));
        let is_alone = self.is_alone;
        self.is_wide |= at > 0 && self.entities.len() > self.derived;
        if let Some(part) = self.parts.get_mut(at) {
            part.state(entity.epoch);
        }
        if entity.schema.indexes.iter().any(Index::is_elsewhere) {
            let table = self.parts.get(at).map_or(0, |part| part.place.table);
            let mut following = Following::of(table, entity);
            if entity.keeps_own && entity.schema.has_eventual() {
                // A copy that is put again without its entity says as of which version it is all the same.
                self.as_of = entity.old.as_ref().map(|old| old.version.etag);
            }
            row_effects(of, entity, is_alone, |rows, row, touched| {
                if following.as_mut().is_some_and(|following| following.takes(rows, row, &touched)) {
                    return;
                }
                let at = if row.is_elsewhere() {
                    let (table, partition) = rows.place_of(row);
                    self.is_wide = true;
                    self.part(self.place(table, partition))
                } else {
                    at
                };
                if let Some(part) = self.parts.get_mut(at) {
                    part.add(touched);
                }
            });
            self.outbox_ops.extend(following.into_iter().flat_map(Following::into_outbox_ops));
            return;
        }
        let Some(part) = self.parts.get_mut(at) else { return };
        part.rows.reserve(entity.most());
        row_effects(of, entity, is_alone, |_, _, touched| part.add(touched));
    }

    /// Demands that a row which was read, or looked for, is still what it was. Rows that the plan changes have conditions of
    /// their own.
    pub(crate) fn expect(&mut self, table: &str, partition: &'p str, row: RowWrite<'p>) {
        let at = self.part(self.place(table, partition));
        self.is_wide |= at > 0;
        if let Some(part) = self.parts.get_mut(at) {
            part.expect(row);
        }
    }

    /// Adds the write of a row that is of no entity.
    pub(crate) fn write(&mut self, table: &str, partition: &'p str, row: RowWrite<'p>) {
        let at = self.part(self.place(table, partition));
        self.is_alone = false;
        if let Some(part) = self.parts.get_mut(at) {
            part.rows.push(row);
        }
    }

    /// Demands that no row has come to a range, gone from it or changed there.
    pub(crate) fn rely_on(&mut self, table: &str, partition: &'p str, range: Range<'p>) {
        let at = self.part(self.place(table, partition));
        self.is_wide |= at > 0;
        if let Some(part) = self.parts.get_mut(at) {
            part.rely_on(range);
        }
    }

    /// Adds what is left to be done, or has been.
    pub(crate) fn leave(&mut self, outbox_op: OutboxOp) {
        self.outbox_ops.push(outbox_op);
    }

    /// Adds what is done with messages.
    pub(crate) fn add_queue_ops(&mut self, queue_ops: &[QueueOp]) {
        self.queue_ops.extend_from_slice(queue_ops);
    }

    /// Returns the plan of all that was added. The entities must be apart, and of the partition of their batch.
    pub(crate) fn into_plan(mut self) -> Result<Plan<'p>> {
        self.check_apart()?;
        if !self.is_alone {
            self.check_distinct()?;
            self.parts.iter_mut().for_each(Part::meet);
        }
        self.parts.iter_mut().for_each(Part::add_up);
        let is_wide = self.is_wide;
        let reserve = |part: &mut Part<'p>| part.reserve().map(|refused| (part.place, refused));
        let refused = self.parts.iter_mut().find_map(reserve);
        if let Some((place, (row, other))) = refused {
            return Err(self.conflict(place, &row, other));
        }
        if !self.is_alone {
            let demands = |row: &RowWrite<'_>| !(row.act.keeps() && row.condition == Condition::Any);
            self.parts.iter_mut().for_each(|part| part.rows.retain(demands));
        }
        // What is most likely not there takes the room that is left: it must not stand in the way of the rest.
        let most = if is_wide { limits::TRANSACTION_ROWS } else { limits::BATCH_OPERATIONS };
        let mut room = most.saturating_sub(self.parts.iter().map(Part::written).sum());
        for part in self.parts.iter_mut() {
            room -= part.finish(room);
        }
        let written = self.parts.iter().map(Part::written).sum();
        if written > most {
            return Err(self.too_many(written, most));
        }
        // Messages alone change no times.
        let keeps_times =
            self.entities.first().is_some() && self.entities.iter().all(|entity| entity.keeps_times);
        let groups = self.parts.map(Part::into_group);
        let groups = if is_wide {
            // Those with entities' own rows come first, as those rows do in their groups. What has nothing to do goes.
            let mut groups: Vec<_> = groups.into_all().filter(|group| !group.is_empty()).collect();
            sorting::sort_by_key(&mut groups, |group| !group.rows.first().is_some_and(RowWrite::is_own));
            groups.into_iter().collect()
        } else {
            groups
        };
        let plan = Plan {
            groups,
            keeps_times,
            is_wide,
            queue_ops: self.queue_ops,
            outbox_ops: self.outbox_ops,
            as_of: self.as_of,
            ..Plan::default()
        };
        plan.check_size()?;
        Ok(plan)
    }

    /// Returns the name of the table of a place.
    fn table(&self, place: Place<'_>) -> &str {
        self.tables.get(place.table).copied().unwrap_or_default()
    }

    /// Refuses two entities that want one row, though one of them may have it and keep it: no entity wants a row twice
    /// itself.
    fn check_distinct(&self) -> Result<()> {
        let twice = self.parts.iter().filter_map(|part| Some((part.place, part.wanted_twice()?)));
        match twice.min_by_key(|(_, (_, second))| (second.of, !second.is_own())) {
            Some((place, (first, second))) => Err(self.conflict(place, second, first.of)),
            None => Ok(()),
        }
    }

    /// Returns the error of an entity that wants a row which another entity of the plan has.
    #[cold]
    fn conflict(&self, place: Place<'_>, row: &RowWrite<'_>, other: usize) -> Error {
        let error = match row.kind.and_then(RowKind::unique_index) {
            Some(index) => Error::new(ErrorKind::UniqueConflict).because(format!(
                "operation {other} of the {} wants the same key in the unique index `{index}`",
                self.reach.describe()
            )),
            None => Error::new(ErrorKind::DuplicateRow),
        };
        let error = error.attempted("write to").table(self.table(place));
        error.partition(place.partition).row(row.key).at_index(row.of)
    }

    #[cold]
    fn too_many(&self, rows: usize, most: usize) -> Error {
        let held = match self.entities.len().checked_sub(self.derived) {
            Some(held @ 1..) => format!(", and of {held} entities that hold copies of theirs"),
            _ => String::new(),
        };
        let because = format!(
            "the change touches {rows} rows, the entities' own and their copies{held}; a transaction may touch {most}"
        );
        let error = Error::new(ErrorKind::BatchLength).because(because);
        match self.parts.first() {
            Some(part) if self.reach != Reach::Store => {
                error.attempted("write to").table(self.table(part.place)).partition(part.place.partition)
            }
            _ => error.attempted("commit a transaction"),
        }
    }

    /// Refuses entities of another partition than their batch's, and two changes of one entity.
    fn check_apart(&self) -> Result<()> {
        let refuse = |kind, entity: &Printed<'_>, index, because: String| {
            let (table, row) = (entity.schema.table(), entity.identity());
            let error = Error::new(kind).because(because).attempted("write to").table(table);
            Err(error.partition(entity.partition()).row(row).at_index(index))
        };
        for (index, entity) in self.entities.iter().copied().enumerate() {
            let partition = match self.reach {
                Reach::Batch(partition) if index < self.derived => partition,
                Reach::Alone | Reach::Batch(_) | Reach::Store => entity.partition(),
            };
            let new = entity.new.as_ref().map_or(partition, EntityRows::partition);
            if let Some(other) = [entity.partition(), new].into_iter().find(|other| *other != partition) {
                let (other, partition) = (other.escape_debug(), partition.escape_debug());
                let because = format!("the entity is of partition `{other}`, the batch of `{partition}`");
                return refuse(ErrorKind::DifferentPartitions, entity, index, because);
            }
            if let (Some(tables), Some(new)) = (entity.schema.periods(), &entity.new) {
                let (own, name) =
                    (self.table(self.own(entity)), name_of(entity.schema, tables, new.primary_key()));
                if !name.eq_ignore_ascii_case(own) {
                    let because =
                        format!("the entity is of the period of table `{name}`, the change of `{own}`");
                    return refuse(ErrorKind::DifferentPartitions, entity, index, because);
                }
            }
        }
        if self.is_alone {
            return Ok(());
        }
        let key = |entity: &&'p Printed<'p>| {
            let place = self.own(entity);
            (place.table, place.partition, entity.identity())
        };
        let mut order: Vec<_> = self.entities.iter().map(key).enumerate().collect();
        sorting::sort_by(&mut order, |(i, a), (j, b)| a.cmp(b).then(i.cmp(j)));
        let pairs = order.iter().zip(order.iter().skip(1));
        let twice = pairs.filter(|((_, a), (_, b))| a == b).map(|(_, (second, _))| *second).min();
        match twice.and_then(|second| Some((second, *self.entities.get(second)?))) {
            None => Ok(()),
            Some((index, entity)) => {
                let because =
                    format!("another operation of the {} is on the same entity", self.reach.describe());
                refuse(ErrorKind::DuplicateRow, entity, index, because)
            }
        }
    }
}

/// Returns the name of the table of the period in which the entity of this key lies; empty, if it is no key of its kind.
fn name_of(schema: &Schema, tables: &PeriodTables, key: EntityKeys<'_>) -> String {
    let time = Schema::time_in(schema.place(), tables, key.partition, key.row);
    time.map(|time| tables.name(tables.period.start(time))).unwrap_or_default()
}

impl Reach<'_> {
    /// Returns what errors call the whole of the changes.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Store => "transaction",
            Self::Alone | Self::Batch(_) => "batch",
        }
    }

    /// Returns whether errors say which of the changes they are about.
    pub(crate) fn numbers(self) -> bool {
        self != Self::Alone
    }
}
