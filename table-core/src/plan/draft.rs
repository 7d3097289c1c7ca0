//! The rows of changed entities, on their way to a plan.

use super::content::{Cause, RowContent, RowKind};
use super::one_or_more::OneOrMore;
use super::row_write::{Act, Condition, Content, Epoch, Group, Plan, RowWrite, Version};
use super::rows::{EntityRows, Found};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::Value;
use crate::schema::Schema;

/// The rows of an entity that is changed, printed: those that it has, and those that it is to have.
#[derive(Debug)]
pub(crate) struct Printed<'a> {
    pub(crate) schema: &'static Schema,
    pub(crate) old: Option<OldRows<'a>>,
    pub(crate) new: Option<EntityRows<'a>>,
    /// Whether the entity stays what it is, of its version: only the form changes in which its rows have it.
    pub(crate) keeps_times: bool,
    /// Whether its own row stays as it is, and only copies come.
    pub(crate) keeps_own: bool,
    /// The epoch of its kind in which the change was planned.
    pub(crate) epoch: Epoch,
}

/// The rows of an entity that is there, and what was read of its own.
#[derive(Debug)]
pub(crate) struct OldRows<'a> {
    pub(crate) rows: EntityRows<'a>,
    pub(crate) version: Version,
    /// Whether its own row is what would be written of it today. One that was written for a former declaration need not
    /// be; then its copies, too, may be other than they look.
    pub(crate) is_exact: bool,
    /// The properties that the schema does not know.
    pub(crate) unknown: &'a [(Box<str>, Value)],
}

impl Printed<'_> {
    /// The partition of the entity that is changed.
    pub(crate) fn partition(&self) -> &str {
        self.rows().map_or("", EntityRows::partition)
    }

    /// Its row key.
    fn identity(&self) -> &str {
        self.rows().map_or("", |rows| rows.primary_key().1)
    }

    fn rows(&self) -> Option<&EntityRows<'_>> {
        self.old.as_ref().map(|old| &old.rows).or(self.new.as_ref())
    }

    /// As many rows as the change may touch.
    fn most(&self) -> usize {
        let old = self.old.as_ref().map_or(0, |old| old.rows.rows.len());
        self.new.as_ref().map_or(old, |new| old + new.rows.len() + new.reserved.len())
    }
}

/// The rows that changes of one partition touch, until it is known which of them meet.
///
/// Several entities are planned as one: what counts is the state after all of them. So two entities may exchange what
/// an index demands to be unique, and no row is touched twice.
#[derive(Debug)]
pub(crate) struct Draft<'p> {
    /// The partition of the batch, if it is one.
    partition: Option<&'p str>,
    entities: OneOrMore<&'p Printed<'p>>,
    /// The rows that are to be there. One that is right as it is stays so, whatever it is: another entity may want it.
    rows: Vec<RowWrite<'p>>,
    /// Where nobody may be filed: an entity is alone there with what is unique to it.
    reserved: Vec<RowWrite<'p>>,
    /// Rows that go. Those of an entity that is alone are among the rows, if they are there for certain.
    gone: Vec<Gone<'p>>,
    /// Whether there is one entity, whose rows are apart.
    is_alone: bool,
}

/// A row that goes, unless another entity wants it.
#[derive(Debug)]
struct Gone<'p> {
    row: RowWrite<'p>,
    /// What it holds, if that is surely known.
    holds: Option<RowContent<'p>>,
    /// Whether the row surely is there.
    is_certain: bool,
}

impl<'p> Draft<'p> {
    /// A draft for changes of so many entities, in the partition of their batch or in that of the first.
    pub(crate) fn new(partition: Option<&'p str>, entities: usize) -> Self {
        Self {
            partition,
            entities: OneOrMore::default(),
            rows: Vec::new(),
            reserved: Vec::new(),
            gone: Vec::new(),
            is_alone: entities < 2,
        }
    }

    /// Adds the rows of an entity that was read, or is new.
    pub(crate) fn add(&mut self, of: usize, entity: &'p Printed<'p>) {
        self.rows.reserve(entity.most());
        self.entities.push(entity);
        let old = entity.old.as_ref();
        for row in entity.new.iter().flat_map(|new| &new.rows) {
            let Some(new) = &entity.new else { break };
            let (key, kind) = (new.key(row), row.content.kind);
            let content = row.content.carrying(old.map_or(&[], |old| old.unknown));
            let found = old.and_then(|old| Some((old.rows.find(key)?, old)));
            let (condition, act) = match found {
                Some((there, old)) => {
                    let is_exact = old.is_exact && there.is_certain && there.found == Found::Unread;
                    let holds = there.content.carrying(old.unknown);
                    // What an index that is being filled has there is what was found.
                    match there.cause() {
                        Cause::Entity if entity.keeps_own => (Condition::Is(old.version), Act::Keep),
                        Cause::Entity => (Condition::Is(old.version), Act::Put(Content::Row(content))),
                        // The copy is right as it is.
                        Cause::Index(_) if is_exact && holds.is_same(&content) => {
                            if self.is_alone {
                                continue;
                            }
                            (Condition::Any, Act::Keep)
                        }
                        Cause::Index(_) => (there.found.condition(), Act::Put(Content::Row(content))),
                    }
                }
                None if old.is_none() || must_be_free(kind) => {
                    (Condition::Absent, Act::Put(Content::Row(content)))
                }
                None => (Condition::Any, Act::Put(Content::Row(content))),
            };
            self.rows.push(RowWrite { key, condition, act, kind: Some(kind), of });
        }
        if let Some(new) = &entity.new {
            self.reserved.extend(new.reserved.iter().map(|row| RowWrite {
                key: new.key(row),
                condition: Condition::Absent,
                act: Act::Keep,
                kind: Some(row.content.kind),
                of,
            }));
        }
        let Some(old) = old else { return };
        for row in &old.rows.rows {
            let key = old.rows.key(row);
            if entity.new.as_ref().is_some_and(|new| new.find(key).is_some()) {
                continue;
            }
            let kind = row.content.kind;
            let (condition, act) = match (kind.cause, row.found) {
                (Cause::Entity, _) => (Condition::Is(old.version), Act::Remove),
                (Cause::Index(_), Found::Unread | Found::Filling) => (Condition::Any, Act::Remove),
                (Cause::Index(_), Found::Mine(version)) => (Condition::Is(version), Act::Remove),
                (Cause::Index(_), Found::Missing) => (Condition::StillAbsent, Act::Keep),
                // Another entity has it, which was there first.
                (Cause::Index(_), Found::Others) => continue,
            };
            let row_goes = RowWrite { key, condition, act, kind: Some(kind), of };
            if self.is_alone && row.is_certain {
                self.rows.push(row_goes);
                continue;
            }
            self.gone.push(Gone {
                row: row_goes,
                holds: (old.is_exact && row.is_certain && row.found == Found::Unread)
                    .then(|| row.content.carrying(old.unknown)),
                is_certain: row.is_certain,
            });
        }
    }

    /// The plan of all that was added. The entities must be apart, and of one partition.
    pub(crate) fn into_plan(mut self) -> Result<Plan<'p>> {
        check_apart(&self.entities, self.partition())?;
        if !self.is_alone {
            self.check_distinct()?;
            self.meet();
            let certain = self.gone.iter().filter(|gone| gone.is_certain);
            self.rows.extend(certain.map(|gone| gone.row));
        }
        self.reserve()?;
        if !self.is_alone {
            self.rows.retain(|row| !(row.act.keeps() && row.condition == Condition::Any));
        }
        if !self.gone.is_empty() {
            // What is most likely not there takes the room that is left: it must not stand in the way of the rest.
            let room = limits::BATCH_OPERATIONS.saturating_sub(self.written());
            let uncertain = self.gone.iter().filter(|gone| !gone.is_certain);
            self.rows.extend(uncertain.take(room).map(|gone| gone.row));
        }
        // Entities' own rows come first, since an executor looks at rows in their order: what a copy is refused for can
        // then be no news of an entity that was written meanwhile. Stable: rows of one kind stay in the order of their
        // entities.
        let order = |row: &RowWrite<'_>| (!row.is_own(), matches!(row.act, Act::Remove));
        if !self.rows.is_sorted_by_key(order) {
            self.rows.sort_by_key(order);
        }
        let written = self.written();
        if written > limits::BATCH_OPERATIONS {
            return Err(self.too_many(written));
        }
        let keeps_times = self.entities.iter().all(|entity| entity.keeps_times);
        let (partition, rows) = (self.partition(), self.rows);
        let mut epochs = OneOrMore::default();
        for entity in self.entities.iter() {
            let of_kind = |known: &Epoch| known.kind == entity.epoch.kind;
            if epochs.iter().all(|known| !of_kind(known)) {
                epochs.push(entity.epoch);
            }
        }
        let group = Group { epochs, ..Group::new(partition, rows) };
        Ok(Plan { groups: group.into(), keeps_times, ..Plan::default() })
    }

    fn partition(&self) -> &'p str {
        let first = || self.entities.first().copied().map_or("", Printed::partition);
        self.partition.unwrap_or_else(first)
    }

    fn table(&self) -> &'static str {
        self.entities.first().map_or("", |entity| entity.schema.table())
    }

    fn written(&self) -> usize {
        self.rows.iter().filter(|row| !row.act.keeps()).count()
    }

    /// Refuses two entities that want one row, though one of them may have it and keep it: no entity wants a row twice
    /// itself.
    fn check_distinct(&self) -> Result<()> {
        let mut wanted: Vec<_> = self.rows.iter().collect();
        wanted.sort_unstable_by(|a, b| a.key.cmp(b.key).then(a.of.cmp(&b.of)));
        let twice = wanted.windows(2).filter_map(|pair| match pair {
            [first, second] if first.key == second.key => Some((first, second)),
            _ => None,
        });
        // Of an entity that wants several such rows its own says most.
        let first_of = |(_, second): &(&&RowWrite<'_>, &&RowWrite<'_>)| (second.of, !second.is_own());
        match twice.min_by_key(first_of) {
            Some((first, second)) => Err(self.conflict(second, first.of)),
            None => Ok(()),
        }
    }

    /// Lets a row that one entity wants take the place of the one that another gives up, in the version that was read.
    fn meet(&mut self) {
        self.gone.sort_by(|a, b| a.row.key.cmp(b.row.key));
        let mut met = vec![false; self.gone.len()];
        for wanted in &mut self.rows {
            let found = self.gone.binary_search_by(|gone| gone.row.key.cmp(wanted.key)).ok();
            let Some((at, gone)) = found.and_then(|at| Some((at, self.gone.get(at)?))) else { continue };
            if let Some(met) = met.get_mut(at) {
                *met = true;
            }
            let is_copy = gone.row.condition == Condition::Any;
            wanted.condition = gone.row.condition;
            if let (Act::Put(Content::Row(content)), Some(holds)) = (&wanted.act, &gone.holds)
                && is_copy
                && holds.is_same(content)
            {
                wanted.act = Act::Keep;
            }
        }
        let mut met = met.into_iter();
        self.gone.retain(|_| !met.next().unwrap_or_default());
    }

    /// Sees to it that nobody is filed where an entity of this plan must be alone.
    fn reserve(&mut self) -> Result<()> {
        for reserved in std::mem::take(&mut self.reserved) {
            match self.rows.iter().find(|row| row.key == reserved.key) {
                None => self.rows.push(reserved),
                // It goes, with the version that was read of its entity.
                Some(row) if matches!(row.act, Act::Remove) => {}
                // It is another's: an entity has one row for what is unique to it.
                Some(row) => return Err(self.conflict(&reserved, row.of)),
            }
        }
        Ok(())
    }

    /// What is said to an entity that wants a row which another entity of the plan has.
    #[cold]
    fn conflict(&self, row: &RowWrite<'_>, other: usize) -> Error {
        let error = match row.kind.and_then(RowKind::unique_index) {
            Some(index) => Error::new(ErrorKind::UniqueConflict).because(format!(
                "operation {other} of the batch wants the same key in the unique index `{index}`"
            )),
            None => Error::new(ErrorKind::DuplicateRow),
        };
        error
            .attempted("write to")
            .table(self.table())
            .partition(self.partition())
            .row(row.key)
            .at_index(row.of)
    }

    #[cold]
    fn too_many(&self, rows: usize) -> Error {
        let because = format!(
            "the change touches {rows} rows, the entities' own and their copies; a transaction may touch {}",
            limits::BATCH_OPERATIONS
        );
        Error::new(ErrorKind::BatchLength)
            .because(because)
            .attempted("write to")
            .table(self.table())
            .partition(self.partition())
    }
}

/// Whether a row that stands there already would be another entity's.
fn must_be_free(kind: RowKind) -> bool {
    kind.cause == Cause::Entity || kind.unique_index().is_some()
}

/// Refuses entities of different partitions, and two changes of one entity.
fn check_apart(entities: &OneOrMore<&Printed<'_>>, partition: &str) -> Result<()> {
    let refuse = |kind, entity: &Printed<'_>, index, because: String| {
        let (table, row) = (entity.schema.table(), entity.identity());
        let error = Error::new(kind).because(because).attempted("write to").table(table);
        Err(error.partition(entity.partition()).row(row).at_index(index))
    };
    for (index, entity) in entities.iter().enumerate() {
        let new = entity.new.as_ref().map_or(partition, EntityRows::partition);
        if let Some(other) = [entity.partition(), new].into_iter().find(|other| *other != partition) {
            let (other, partition) = (other.escape_debug(), partition.escape_debug());
            let because = format!("the entity is of partition `{other}`, the batch of `{partition}`");
            return refuse(ErrorKind::DifferentPartitions, entity, index, because);
        }
    }
    if entities.len() < 2 {
        return Ok(());
    }
    let mut order: Vec<_> = entities.iter().enumerate().collect();
    order.sort_by(|(i, a), (j, b)| a.identity().cmp(b.identity()).then(i.cmp(j)));
    let pairs = order.iter().zip(order.iter().skip(1));
    let twice = pairs.filter(|((_, a), (_, b))| a.identity() == b.identity()).map(|(_, second)| *second);
    match twice.min_by(|(i, _), (j, _)| i.cmp(j)) {
        None => Ok(()),
        Some((index, entity)) => {
            let because = "another operation of the batch is on the same entity".to_owned();
            refuse(ErrorKind::DuplicateRow, entity, index, because)
        }
    }
}
