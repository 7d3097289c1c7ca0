//! What a change leaves to be done: copies that are to follow their entity.

use super::content::Cause;
use super::row_effect::{Printed, RowEffect};
use super::row_write::{Act, Condition};
use super::rows::{EntityRow, EntityRows};
use crate::model::EntityKeys;
use crate::outbox::{DependentKey, DependentProgress, Source};
use crate::schema::Schema;

/// What a plan does besides its rows to the entries of what is to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutboxOp {
    /// Copies of an entity are to follow its change.
    Follow(Follow),
    /// Copies that others hold of an entity are to follow its change.
    DeferredDependents(DeferredDependents),
    /// The copies in the entity's indexes are there: the entry says nothing more of them, if it is the one of this version.
    /// One that says nothing at all goes.
    Propagate(Source, u64),
    /// Copies that others hold have come this far, each to the end if it says no row: the entry says so, if it is the one of
    /// this version. One that says nothing at all goes.
    Advance(Source, u64, Vec<DependentProgress>),
    /// They can't be made, and this is why: the entry is noted to have failed, if it is the one of this version.
    Fail(Source, u64, String),
    /// The entry is tried again as if it had never failed, if it is the one of this version.
    Arm(Source, u64),
}

impl OutboxOp {
    /// Returns whether something is to be propagated that was not before.
    pub fn is_news(&self) -> bool {
        matches!(self, Self::Follow(_) | Self::DeferredDependents(_))
    }
}

/// Copies that others hold of an entity, and that are to follow its change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeferredDependents {
    /// Which of the tables that are handed over with the plan the entity is in.
    pub table: usize,
    /// Its keys.
    pub partition: String,
    /// Its row key.
    pub row: String,
    /// Its kind.
    pub kind: &'static str,
    /// Which copies.
    pub dependents: Vec<DependentKey>,
}

/// Where a copy lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyPlace {
    /// The name of its index.
    pub index: &'static str,
    /// The table's name, as it is declared.
    pub table: String,
    /// The partition key.
    pub partition: String,
    /// The row key.
    pub row: String,
    /// Whether it is no copy, but a list that the entity is on.
    pub is_list: bool,
}

/// Copies that are to follow the change of an entity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// Which of the tables that are handed over with the plan the entity is in.
    pub table: usize,
    /// Its keys.
    pub partition: String,
    /// Its row key.
    pub row: String,
    /// Its kind.
    pub kind: &'static str,
    /// Where copies may lie that are to go.
    pub before: Vec<CopyPlace>,
    /// Where copies are to lie, as far as the change can tell.
    pub wanted: Vec<CopyPlace>,
    /// The sparse indexes that the entity has no copy in.
    pub without: Vec<&'static str>,
}

impl Follow {
    fn new(table: usize, schema: &'static Schema, rows: &EntityRows<'_>) -> Self {
        let EntityKeys { partition, row } = rows.primary_key();
        Self {
            table,
            partition: partition.to_owned(),
            row: row.to_owned(),
            kind: schema.kind,
            before: Vec::new(),
            wanted: Vec::new(),
            without: Vec::new(),
        }
    }
}

/// What a change of an entity leaves to be done, found out row by row.
pub(super) struct Following {
    /// What is to come of the entity that there is afterwards, or of the one that goes.
    follow: Follow,
    /// What is to go of an entity that has moved away from its key.
    left: Option<Follow>,
    is_any: bool,
}

impl Following {
    /// Begins with an entity, in this table of those that come with the plan; none if all its copies come with it.
    pub(super) fn of(table: usize, entity: &Printed<'_>) -> Option<Self> {
        let schema = entity.schema;
        if entity.keeps_own || !schema.has_eventual() {
            return None;
        }
        let (old, new) = (entity.old.as_ref().map(|old| &old.rows), entity.new.as_ref());
        let mut follow = Follow::new(table, schema, new.or(old)?);
        let has_moved = old.zip(new).is_some_and(|(old, new)| old.primary_key() != new.primary_key());
        let left = old.filter(|_| has_moved).map(|old| Follow::new(table, schema, old));
        if let Some(new) = new {
            let lacks = |number: usize| new.rows.iter().all(|row| row.cause() != Cause::Index(number));
            let sparse =
                schema.indexes.iter().enumerate().filter(|(_, index)| index.is_eventual() && index.sparse);
            follow.without.extend(sparse.filter(|(at, _)| lacks(*at)).map(|(_, index)| index.name));
        }
        Some(Self { follow, left, is_any: false })
    }

    /// Takes what becomes of a row, if it is one that follows.
    pub(super) fn takes(
        &mut self,
        rows: &EntityRows<'_>,
        row: &EntityRow<'_>,
        touched: &RowEffect<'_>,
    ) -> bool {
        let Some(index) = row.content.kind.index().filter(|index| index.is_eventual()) else { return false };
        // Of a list one entity may go while the other comes, where it has moved to another key.
        let (comes, goes, stays) = match touched {
            RowEffect::Wanted(write) => {
                let goes = matches!(write.act, Act::Remove);
                (!goes, goes, write.act.keeps() && write.condition == Condition::Any)
            }
            RowEffect::Gone(_) => (false, true, false),
            RowEffect::Reserved(_) => (true, false, true),
            RowEffect::Added(addition) => {
                let ids = |which| addition.amounts.ids().any(|(_, stays)| stays == which);
                (ids(true), ids(false), false)
            }
        };
        let (table, partition) = rows.place_of(row);
        let key = CopyPlace {
            index: index.name,
            table: table.to_owned(),
            partition: partition.to_owned(),
            row: rows.key(row).to_owned(),
            is_list: index.list.is_some(),
        };
        if comes {
            self.follow.wanted.push(key.clone());
        }
        if goes {
            self.left.as_mut().unwrap_or(&mut self.follow).before.push(key);
        }
        self.is_any |= !stays;
        true
    }

    /// Returns what is left to be done.
    pub(super) fn into_outbox_ops(self) -> impl Iterator<Item = OutboxOp> {
        let any = self.is_any.then_some(self.follow);
        any.into_iter().chain(self.left.filter(|left| !left.before.is_empty())).map(OutboxOp::Follow)
    }
}
