//! What becomes of the rows of changed entities.

use super::content::{Cause, RowContent, RowKind};
use super::explain::{WriteExplain, WrittenRow};
use super::rows::{EntityRow, EntityRows};
use super::size::PlanSize;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::{ETag, Value, body};
use crate::schema::Schema;

/// An entity as it is stored.
#[derive(Debug)]
pub(crate) struct OldEntity<'a> {
    pub(crate) rows: EntityRows<'a>,
    pub(crate) version: ReadVersion,
    /// Whether its row is what would be written of it today. One that was written for a former declaration need not
    /// be; then its copies, too, may be other than they look.
    pub(crate) is_exact: bool,
    /// The properties of its row that the schema does not know.
    pub(crate) unknown: &'a [(Box<str>, Value)],
}

/// A change of one entity: what is stored gives way to what is to be.
#[derive(Debug)]
pub(crate) struct EntityChange<'a> {
    pub(crate) schema: &'static Schema,
    pub(crate) old: Option<OldEntity<'a>>,
    pub(crate) new: Option<EntityRows<'a>>,
    /// Whether the entity stays what it is, of its version: only the form changes in which its rows have it.
    pub(crate) keeps_times: bool,
}

impl EntityChange<'_> {
    fn partition(&self) -> &str {
        self.rows().map_or("", EntityRows::partition)
    }

    /// The key of the entity that is changed.
    fn identity(&self) -> &str {
        self.rows().map_or("", |rows| rows.primary_key().1)
    }

    fn rows(&self) -> Option<&EntityRows<'_>> {
        self.old.as_ref().map(|old| &old.rows).or(self.new.as_ref())
    }
}

/// A row as it was read.
///
/// Not the ETag alone: sealing a value anew changes no entity and keeps its ETag, and who planned with the former bytes
/// must not put them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadVersion {
    pub(crate) etag: ETag,
    /// The checksum of its bytes.
    pub(crate) digest: u64,
    /// How many bytes it has with its key.
    pub(crate) length: usize,
    /// The number of the executor's state in which it was read and found sound; `None` if it was not looked into. In
    /// that state it need not be read again.
    pub(crate) state: Option<usize>,
}

/// What happens to one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowAction {
    /// It must not be there yet.
    Insert,
    /// It is written, whatever is there.
    Put,
    /// The version that was read gives way to this.
    Replace(ReadVersion),
    /// The version that was read goes.
    Delete(ReadVersion),
    /// It goes, if it is there.
    Remove,
    /// It must not be there, and is not written.
    Absent,
}

/// A row and what happens to it.
#[derive(Debug)]
pub(crate) struct RowChange<'a> {
    pub(crate) key: &'a str,
    pub(crate) action: RowAction,
    /// What is written; of a row that goes, what was there.
    pub(crate) content: RowContent<'a>,
    /// Which of the changed entities it is of.
    entity: usize,
}

impl RowChange<'_> {
    /// Whether the row is an entity's own.
    fn is_entity(&self) -> bool {
        self.content.kind.cause == Cause::Entity
    }

    /// The index that the row is a copy of.
    fn index(&self) -> Option<&'static str> {
        self.content.kind.index().map(|index| index.name)
    }
}

/// The rows that a change touches, to be carried out whole or not at all.
///
/// Several entities are planned as one: what counts is the state after all of them. So two entities may exchange what
/// an index demands to be unique, and no row is touched twice. Rows of entities come before those of copies, since an
/// executor looks at them in order: what a copy is refused for can then be no news of an entity that was written
/// meanwhile.
///
/// It refers to the changes that it was made of, keys and all.
#[derive(Debug)]
pub(crate) struct WritePlan<'a> {
    table: &'static str,
    partition: &'a str,
    keeps_times: bool,
    changes: Vec<RowChange<'a>>,
}

/// A row that is there, as far as is known.
struct Standing<'a> {
    key: &'a str,
    row: &'a EntityRow<'a>,
    entity: usize,
    /// The version of an entity's own row.
    version: Option<ReadVersion>,
    /// Whether it surely is there, and holds what it seems to.
    is_exact: bool,
    /// Whether it has been given its change.
    is_planned: bool,
}

/// A row that an entity is to have.
struct Wanted<'w> {
    key: &'w str,
    entity: usize,
    kind: RowKind,
}

impl<'a> WritePlan<'a> {
    /// The plan of these changes, in this partition or whichever is the first's.
    pub(crate) fn of(changes: &'a [EntityChange<'a>], partition: Option<&'a str>) -> Result<Self> {
        let first = || changes.first().map_or("", EntityChange::partition);
        let partition = partition.unwrap_or_else(first);
        check_apart(changes, partition)?;
        let mut plan = Self {
            table: changes.first().map_or("", |change| change.schema.table()),
            partition,
            keeps_times: changes.iter().all(|change| change.keeps_times),
            changes: Vec::with_capacity(changes.iter().map(rows_of).sum()),
        };
        let mut standing = standing(changes);
        if changes.len() > 1 {
            plan.check_distinct(changes)?;
        }
        for (entity, EntityChange { old, new, .. }) in changes.iter().enumerate() {
            let Some(new) = new else { continue };
            let unknown = old.as_ref().map_or(&[][..], |old| old.unknown);
            for row in &new.rows {
                let mut content = row.content;
                if row.cause() == Cause::Entity {
                    content.unknown = unknown;
                }
                plan.want(entity, old.is_none(), new.key(row), content, &mut standing);
            }
        }
        for (entity, EntityChange { new, .. }) in changes.iter().enumerate() {
            let Some(new) = new else { continue };
            for row in &new.reserved {
                plan.reserve(entity, new.key(row), row.content, &standing)?;
            }
        }
        // What is most likely not there takes the room that is left: it must not stand in the way of the rest.
        standing.sort_by_key(|standing| !standing.row.is_certain);
        for Standing { key, row, entity, version, .. } in
            standing.into_iter().filter(|standing| !standing.is_planned)
        {
            if !row.is_certain && plan.rows() >= limits::BATCH_OPERATIONS {
                break;
            }
            let action = version.map_or(RowAction::Remove, RowAction::Delete);
            plan.push(entity, key, row.content, action);
        }
        // Stable: rows of one kind stay in the order of their entities.
        plan.changes.sort_by_key(|change| !change.is_entity());
        plan.checked()
    }

    pub(crate) fn partition(&self) -> &str {
        self.partition
    }

    /// Whether rows that are there keep their times.
    pub(crate) fn keeps_times(&self) -> bool {
        self.keeps_times
    }

    /// The declarations of the entities that are changed, those of several rows several times.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = &'static Schema> {
        self.changes.iter().map(|change| change.content.kind.schema)
    }

    pub(crate) fn changes(&self) -> &[RowChange<'a>] {
        &self.changes
    }

    /// Plans a row that is to be there.
    fn want(
        &mut self,
        entity: usize,
        is_new: bool,
        key: &'a str,
        content: RowContent<'a>,
        standing: &mut [Standing<'a>],
    ) {
        let found = standing.binary_search_by(|standing| standing.key.cmp(key)).ok();
        let action = match found.and_then(|at| standing.get_mut(at)) {
            Some(standing) => {
                standing.is_planned = true;
                match standing.version {
                    Some(version) => RowAction::Replace(version),
                    // The copy is right as it is.
                    None if standing.is_exact && standing.row.content.is_same(&content) => return,
                    None => RowAction::Put,
                }
            }
            None if is_new || must_be_free(content.kind) => RowAction::Insert,
            None => RowAction::Put,
        };
        self.push(entity, key, content, action);
    }

    /// Sees to it that nobody is filed where an entity of this plan must be alone.
    fn reserve(
        &mut self,
        entity: usize,
        key: &'a str,
        content: RowContent<'a>,
        standing: &[Standing<'_>],
    ) -> Result<()> {
        let kind = content.kind;
        let other = self.changes.iter().find(|change| change.key == key && change.entity != entity);
        if let Some(other) = other {
            return Err(self.conflict(key, entity, kind, other.entity));
        }
        let found = standing.binary_search_by(|standing| standing.key.cmp(key)).ok();
        match found.and_then(|at| standing.get(at)) {
            // It stays as it is, and is another's: an entity has one row for what is unique to it.
            Some(standing) if standing.is_planned => {
                return Err(self.conflict(key, entity, kind, standing.entity));
            }
            // It goes, with the version that was read of its entity.
            Some(standing) if standing.row.is_certain => {}
            _ => self.push(entity, key, content, RowAction::Absent),
        }
        Ok(())
    }

    /// How many rows the plan touches.
    fn rows(&self) -> usize {
        self.changes.iter().filter(|change| change.action != RowAction::Absent).count()
    }

    fn push(&mut self, entity: usize, key: &'a str, content: RowContent<'a>, action: RowAction) {
        self.changes.push(RowChange { key, action, content, entity });
    }

    /// Refuses two entities that want one row, though one of them may have it and keep it: no entity wants a row
    /// twice itself.
    fn check_distinct(&self, changes: &[EntityChange<'_>]) -> Result<()> {
        let rows = changes.iter().enumerate().flat_map(|(entity, change)| {
            let rows = change.new.iter().flat_map(|new| new.rows.iter().map(|row| (new.key(row), row)));
            rows.map(move |(key, row)| Wanted { key, entity, kind: row.content.kind })
        });
        let mut wanted: Vec<_> = rows.collect();
        wanted.sort_unstable_by(|a, b| a.key.cmp(b.key).then(a.entity.cmp(&b.entity)));
        let twice = wanted.windows(2).filter_map(|pair| match pair {
            [first, second] if first.key == second.key => Some((first, second)),
            _ => None,
        });
        // Of an entity that wants several such rows its own says most.
        let first_of =
            |(_, second): &(&Wanted<'_>, &Wanted<'_>)| (second.entity, second.kind.cause != Cause::Entity);
        let Some((first, second)) = twice.min_by_key(first_of) else { return Ok(()) };
        Err(self.conflict(second.key, second.entity, second.kind, first.entity))
    }

    /// What is said to an entity that wants a row which another entity of the plan has.
    #[cold]
    fn conflict(&self, key: &str, entity: usize, kind: RowKind, other: usize) -> Error {
        let error = match kind.unique_index() {
            Some(index) => Error::new(ErrorKind::UniqueConflict).because(format!(
                "operation {other} of the batch wants the same key in the unique index `{index}`"
            )),
            None => Error::new(ErrorKind::DuplicateRow),
        };
        error.attempted("write to").table(self.table).partition(self.partition).row(key).at_index(entity)
    }

    /// An executor's error in the words of the entities, and whether it only says that somebody else has written
    /// what the plan was made from.
    pub(crate) fn judge(&self, error: Error) -> Failure {
        if error.kind() == ErrorKind::BatchTooLarge {
            let error = error.because(self.size().to_string()).attempted("write to");
            return Failure { error, entity: None, was_stale: false };
        }
        let Some(change) = error.index().and_then(|index| self.changes.get(index)) else {
            return Failure { error, entity: None, was_stale: false };
        };
        let entity = Some(change.entity);
        let (kind, is_copy) = (error.kind(), !change.is_entity());
        let was_read = matches!(change.action, RowAction::Replace(_) | RowAction::Delete(_));
        let was_stale = was_read && matches!(kind, ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound);
        let error = if is_copy && kind == ErrorKind::EntityAlreadyExists {
            if let Some(name) = change.content.kind.unique_index() {
                error
                    .with_kind(ErrorKind::UniqueConflict)
                    .because(format!("another entity has this key in the unique index `{name}`"))
            } else {
                let name = change.index().unwrap_or_default();
                // The key holds the entity's own, and the entity is not there.
                error
                    .with_kind(ErrorKind::Corrupt)
                    .because(format!("a copy of index `{name}` is there without its entity"))
            }
        } else {
            error
        };
        Failure { error: error.without_index(), entity, was_stale }
    }

    /// What the rows that are written take in the body of a request.
    fn size(&self) -> PlanSize {
        let mut size = PlanSize::default();
        for change in self.changes.iter().filter(|change| change.action != RowAction::Absent) {
            let kind = match change.action {
                RowAction::Insert => body::Kind::Insert(change.content.properties()),
                RowAction::Put | RowAction::Replace(_) => body::Kind::Write(change.content.properties()),
                RowAction::Delete(_) | RowAction::Remove | RowAction::Absent => body::Kind::Delete,
            };
            size.add(change.index(), body::operation(self.table, self.partition, change.key, kind));
        }
        size
    }

    fn checked(self) -> Result<Self> {
        let rows = self.rows();
        if rows <= limits::BATCH_OPERATIONS {
            return Ok(self);
        }
        let because = format!(
            "the change touches {rows} rows, the entities' own and their copies; a transaction may touch {}",
            limits::BATCH_OPERATIONS
        );
        Err(Error::new(ErrorKind::BatchLength)
            .because(because)
            .attempted("write to")
            .table(self.table)
            .partition(self.partition))
    }

    /// The plan as it is shown.
    pub(crate) fn explain(&self) -> WriteExplain {
        let is_touched = |change: &&RowChange<'_>| change.action != RowAction::Absent;
        let mut rows: Vec<_> = self.changes.iter().filter(is_touched).collect();
        rows.sort_by_key(|change| change.entity);
        let row = |change: &RowChange<'_>| WrittenRow {
            row_key: change.key.into(),
            action: change.action,
            kind: change.content.kind.schema.kind,
            index: change.index(),
        };
        WriteExplain {
            table: self.table,
            partition: self.partition.into(),
            rows: rows.into_iter().map(row).collect(),
        }
    }
}

/// Why a plan was not carried out.
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// Which of the changed entities it is about.
    pub(crate) entity: Option<usize>,
    /// Whether another plan, made from what is stored now, may succeed.
    pub(crate) was_stale: bool,
}

/// The rows that are there, in the order of their keys.
fn standing<'a>(changes: &'a [EntityChange<'a>]) -> Vec<Standing<'a>> {
    let old = changes.iter().enumerate().filter_map(|(at, change)| Some((at, change.old.as_ref()?)));
    let mut standing = Vec::with_capacity(old.clone().map(|(_, old)| old.rows.rows.len()).sum());
    for (entity, old) in old {
        standing.extend(old.rows.rows.iter().map(|row| Standing {
            key: old.rows.key(row),
            version: (row.cause() == Cause::Entity).then_some(old.version),
            is_exact: old.is_exact && row.is_certain,
            row,
            entity,
            is_planned: false,
        }));
    }
    standing.sort_by(|a, b| a.key.cmp(b.key));
    standing
}

/// Whether a row that stands there already would be another entity's.
fn must_be_free(kind: RowKind) -> bool {
    kind.cause == Cause::Entity || kind.unique_index().is_some()
}

/// As many rows as the change may touch.
fn rows_of(change: &EntityChange<'_>) -> usize {
    let old = change.old.as_ref().map_or(0, |old| old.rows.rows.len());
    change.new.as_ref().map_or(old, |new| old + new.rows.len() + new.reserved.len())
}

/// Refuses entities of different partitions, and two changes of one entity.
fn check_apart(changes: &[EntityChange<'_>], partition: &str) -> Result<()> {
    let refuse = |kind, change: &EntityChange<'_>, index, because: String| {
        let (table, row) = (change.schema.table(), change.identity());
        let error = Error::new(kind).because(because).attempted("write to").table(table);
        Err(error.partition(change.partition()).row(row).at_index(index))
    };
    for (index, change) in changes.iter().enumerate() {
        let new = change.new.as_ref().map_or(partition, EntityRows::partition);
        if let Some(other) = [change.partition(), new].into_iter().find(|other| *other != partition) {
            let (other, partition) = (other.escape_debug(), partition.escape_debug());
            let because = format!("the entity is of partition `{other}`, the batch of `{partition}`");
            return refuse(ErrorKind::DifferentPartitions, change, index, because);
        }
    }
    if changes.len() < 2 {
        return Ok(());
    }
    let mut order: Vec<_> = changes.iter().enumerate().collect();
    order.sort_by(|(i, a), (j, b)| a.identity().cmp(b.identity()).then(i.cmp(j)));
    let pairs = order.iter().zip(order.iter().skip(1));
    let twice = pairs.filter(|((_, a), (_, b))| a.identity() == b.identity()).map(|(_, second)| *second);
    match twice.min_by(|(i, _), (j, _)| i.cmp(j)) {
        None => Ok(()),
        Some((index, change)) => {
            let because = "another operation of the batch is on the same entity".to_owned();
            refuse(ErrorKind::DuplicateRow, change, index, because)
        }
    }
}
