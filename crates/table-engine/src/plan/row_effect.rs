//! The rows that the change of an entity touches, and what becomes of each. Of one entity by itself, whose rows all lie in its
//! partition, that is the plan.

use super::addition::{Addition, Amounts};
use super::content::{Cause, RowContent, RowKind};
use super::one_or_more::OneOrMore;
use super::row_write::{Act, Condition, Content, Epoch, Group, Plan, RowWrite, Version};
use super::rows::{CopyState, EntityRow, EntityRows};
use crate::model::Value;
use crate::schema::{IndexMask, Schema};
use crate::{limits, sorting};

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
    /// What its writers went by then.
    pub(crate) index_mask: IndexMask,
}

/// The rows of an entity that is there, and what was read of its own.
#[derive(Debug)]
pub(crate) struct OldRows<'a> {
    pub(crate) rows: EntityRows<'a>,
    pub(crate) version: Version,
    /// Whether its own row is what would be written of it today. One that was written by an earlier declaration need not be;
    /// then its copies, too, may be other than they look.
    pub(crate) is_exact: bool,
    /// The properties of its own row that no field is.
    pub(crate) unknown: &'a [(Box<str>, Value)],
    /// The properties of each of its parts that no field is.
    pub(crate) of_parts: &'a [Vec<(Box<str>, Value)>],
}

impl<'a> OldRows<'a> {
    /// Returns what this row of the entity carries along.
    pub(super) fn carried(&self, kind: RowKind) -> &'a [(Box<str>, Value)] {
        match kind.part().checked_sub(1) {
            None => self.unknown,
            Some(part) => self.of_parts.get(part).map_or(&[], Vec::as_slice),
        }
    }
}

impl<'a> Printed<'a> {
    /// Returns the partition of the entity that is changed.
    pub(crate) fn partition(&self) -> &str {
        self.rows().map_or("", EntityRows::partition)
    }

    /// Returns its row key.
    pub(super) fn identity(&self) -> &str {
        self.rows().map_or("", |rows| rows.primary_key().row)
    }

    /// Takes out the rows that the entity is to have, if they lie in another partition than those that it has.
    pub(crate) fn take_if_moved(&mut self) -> Option<EntityRows<'a>> {
        let old = self.old.as_ref()?.rows.partition();
        self.new.take_if(|new| new.partition() != old)
    }

    /// Returns the entity as if it were new, with these rows, which carry what its row had that no field is.
    pub(crate) fn with_new(&self, mut new: EntityRows<'a>, unknown: &'a [(Box<str>, Value)]) -> Self {
        for row in &mut new.rows {
            row.content = row.content.carrying(unknown);
        }
        Self { old: None, new: Some(new), ..*self }
    }

    fn rows(&self) -> Option<&EntityRows<'_>> {
        self.old.as_ref().map(|old| &old.rows).or(self.new.as_ref())
    }

    /// Returns how many rows the change may touch.
    pub(super) fn most(&self) -> usize {
        let old = self.old.as_ref().map_or(0, |old| old.rows.rows.len());
        self.new.as_ref().map_or(old, |new| old + new.rows.len() + new.reserved.len())
    }
}

/// What becomes of a row.
#[derive(Debug)]
pub(super) enum RowEffect<'p> {
    /// It is to be there. One that is right as it is stays so, whatever it is: another entity may want it.
    Wanted(RowWrite<'p>),
    /// No other entity may be filed there: an entity is alone there with what is unique to it.
    Reserved(RowWrite<'p>),
    /// It goes.
    Gone(Gone<'p>),
    /// It is a summary's, or a list: the entity is counted in it, or no more.
    Added(Addition<'p>),
}

/// A row that goes, unless another entity wants it.
#[derive(Debug)]
pub(super) struct Gone<'p> {
    pub(super) row: RowWrite<'p>,
    /// What it holds, if that is surely known.
    pub(super) holds: Option<RowContent<'p>>,
    /// Whether the row surely is there.
    pub(super) is_certain: bool,
}

/// Gives `take` each row that the change of an entity touches, with the rows of the entity among which it is; `is_alone` if
/// no other is changed.
#[inline]
pub(super) fn row_effects<'p>(
    of: usize,
    entity: &'p Printed<'p>,
    is_alone: bool,
    mut take: impl FnMut(&'p EntityRows<'p>, &'p EntityRow<'p>, RowEffect<'p>),
) {
    let old = entity.old.as_ref();
    // Of the first rows that the entity has, those that lie where one lies that it is to have.
    let mut met = 0_u128;
    if let Some(new) = &entity.new {
        for row in &new.rows {
            let kind = row.content.kind;
            if entity.keeps_own && kind.part() > 0 {
                continue;
            }
            if kind.is_shared() {
                let takes = old.and_then(|old| old.rows.find(new, row)).map(|(_, takes)| takes);
                if let Some(added) = added(of, entity, new.key(row), Some(row), takes) {
                    take(new, row, RowEffect::Added(added));
                }
                continue;
            }
            let content = old.map_or(row.content, |old| row.content.carrying(old.carried(kind)));
            let found = old.and_then(|old| Some((old.rows.find(new, row)?, old)));
            let (condition, act) = match found {
                Some(((at, there), old)) => {
                    met |= bit(at);
                    let is_exact = old.is_exact && there.is_certain && there.found == CopyState::Unread;
                    let holds = there.content.carrying(old.carried(there.content.kind));
                    // What an index that is being filled has there is what was found.
                    match there.cause() {
                        Cause::Entity if entity.keeps_own => (Condition::Is(old.version), Act::Keep),
                        Cause::Entity => (Condition::Is(old.version), Act::Put(Content::Row(content))),
                        // The copy, or the part, is right as it is.
                        Cause::Part(_) | Cause::Index(_) if is_exact && holds.is_same(&content) => {
                            if is_alone {
                                continue;
                            }
                            (Condition::Any, Act::Keep)
                        }
                        // A change of a part changes the head, too, whose version is checked.
                        Cause::Part(_) | Cause::Index(_) => {
                            (there.found.condition(), Act::Put(Content::Row(content)))
                        }
                    }
                }
                None if old.is_none() || must_be_free(kind) => {
                    (Condition::Absent, Act::Put(Content::Row(content)))
                }
                None => (Condition::Any, Act::Put(Content::Row(content))),
            };
            take(
                new,
                row,
                RowEffect::Wanted(RowWrite { key: new.key(row), condition, act, kind: Some(kind), of }),
            );
        }
        for row in &new.reserved {
            let (key, kind) = (new.key(row), Some(row.content.kind));
            let reserved = RowWrite { key, condition: Condition::Absent, act: Act::Keep, kind, of };
            take(new, row, RowEffect::Reserved(reserved));
        }
    }
    let Some(old) = old else { return };
    for (at, row) in old.rows.rows.iter().enumerate() {
        if met & bit(at) != 0 || entity.new.as_ref().is_some_and(|new| new.find(&old.rows, row).is_some()) {
            continue;
        }
        let kind = row.content.kind;
        if kind.is_shared() {
            if let Some(added) = added(of, entity, old.rows.key(row), None, Some(row)) {
                take(&old.rows, row, RowEffect::Added(added));
            }
            continue;
        }
        let (condition, act) = match (kind.cause, row.found) {
            (Cause::Entity, _) => (Condition::Is(old.version), Act::Remove),
            (Cause::Part(_), _) | (Cause::Index(_), CopyState::Unread | CopyState::Backfilling) => {
                (Condition::Any, Act::Remove)
            }
            (Cause::Index(_), CopyState::Mine(version)) => (Condition::Is(version), Act::Remove),
            (Cause::Index(_), CopyState::Missing) => (Condition::StillAbsent, Act::Keep),
            // Another entity has it, which was there first.
            (Cause::Index(_), CopyState::Others) => continue,
        };
        let goes = RowWrite { key: old.rows.key(row), condition, act, kind: Some(kind), of };
        let touched = if is_alone && row.is_certain {
            RowEffect::Wanted(goes)
        } else {
            RowEffect::Gone(Gone {
                row: goes,
                holds: (old.is_exact && row.is_certain && row.found == CopyState::Unread)
                    .then(|| row.content.carrying(old.carried(kind))),
                is_certain: row.is_certain,
            })
        };
        take(&old.rows, row, touched);
    }
}

/// Returns the bit of a row among the first.
fn bit(at: usize) -> u128 {
    u32::try_from(at).ok().and_then(|at| 1_u128.checked_shl(at)).unwrap_or(0)
}

/// Returns what an entity gives to the row of a summary or a list under this key, and takes from it; `None` if that is nothing.
fn added<'p>(
    of: usize,
    entity: &Printed<'_>,
    key: &'p str,
    gives: Option<&EntityRow<'p>>,
    takes: Option<&EntityRow<'p>>,
) -> Option<Addition<'p>> {
    fn counted<'r, 'p>(row: &'r EntityRow<'p>) -> (&'r RowContent<'p>, u64) {
        (&row.content, row.counted)
    }
    let kind = gives.or(takes)?.content.kind;
    let is_building = match kind.cause {
        Cause::Index(index) => entity.index_mask.is_backfilling(index),
        Cause::Entity | Cause::Part(_) => false,
    };
    let amounts = Amounts::between(kind, gives.map(counted), takes.map(counted), is_building)?;
    Some(Addition { key, amounts, of })
}

/// Puts rows in the order in which they are looked at.
pub(super) fn put_in_order(rows: &mut [RowWrite<'_>]) {
    // Entities' own rows come first, since an executor looks at rows in their order: what a copy is refused for can then be
    // no news of an entity that was written meanwhile. Stable: rows of one kind stay in the order of their entities.
    let order = |row: &RowWrite<'_>| (!row.is_own(), matches!(row.act, Act::Remove));
    if !rows.is_sorted_by_key(order) {
        sorting::sort_by_key(rows, order);
    }
}

/// Returns whether a row that stands there already would be another entity's, or none of this one's.
fn must_be_free(kind: RowKind) -> bool {
    matches!(kind.cause, Cause::Entity | Cause::Part(_)) || kind.unique_index().is_some()
}

impl<'p> Plan<'p> {
    /// Plans the change of an entity whose schema [has all of its rows in one place](crate::schema::Schema::stays_in_place).
    /// `None` where a [builder](super::PlanBuilder), which finds out which rows of several changes meet, has to look at the
    /// rows, or is to say what is wrong with them. Here no two rows are one.
    pub(crate) fn of_lone(entity: &'p Printed<'p>) -> Option<Self> {
        let partition = entity.partition();
        if entity.new.as_ref().is_some_and(|new| new.partition() != partition) {
            return None;
        }
        let rows = match (&entity.old, &entity.new) {
            (None, Some(new)) if new.reserved.is_empty() => {
                new.rows.iter().map(|row| insertion(new, row)).collect()
            }
            _ => changes(entity)?,
        };
        if rows.len() > limits::BATCH_OPERATIONS {
            return None;
        }
        let group = Group { epochs: OneOrMore::from(entity.epoch), ..Group::new(partition, rows) };
        Some(Plan { groups: group.into(), keeps_times: entity.keeps_times, ..Plan::default() })
    }
}

/// Returns what becomes of the rows that an entity has or is to have, in their order.
fn changes<'p>(entity: &'p Printed<'p>) -> Option<Vec<RowWrite<'p>>> {
    let (mut rows, mut is_plain) = (Vec::with_capacity(entity.most()), true);
    row_effects(0, entity, true, |_, _, touched| match touched {
        RowEffect::Wanted(row) => rows.push(row),
        RowEffect::Reserved(_) | RowEffect::Gone(_) | RowEffect::Added(_) => is_plain = false,
    });
    put_in_order(&mut rows);
    is_plain.then_some(rows)
}

/// Returns the write of a row of a new entity.
fn insertion<'p>(rows: &'p EntityRows<'p>, row: &'p EntityRow<'p>) -> RowWrite<'p> {
    let (content, kind) = (row.content, Some(row.content.kind));
    RowWrite {
        key: rows.key(row),
        condition: Condition::Absent,
        act: Act::Put(Content::Row(content)),
        kind,
        of: 0,
    }
}
