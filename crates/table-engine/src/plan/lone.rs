//! The plan of the change of one entity whose rows all lie in its partition.
//!
//! A [builder](super::PlanBuilder) finds out which rows of several changes meet. Here there is one change, and its rows are no two of
//! them one.

use super::builder::Printed;
use super::one_or_more::OneOrMore;
use super::row_effect::{RowEffect, put_in_order, row_effects};
use super::row_write::{Act, Condition, Content, Group, Plan, RowWrite};
use super::rows::{EntityRow, EntityRows};
use crate::limits;

impl<'p> Plan<'p> {
    /// Plans the change of an entity whose schema [has all of its rows in one place](crate::schema::Schema::stays_in_place).
    /// `None` where a builder has to look at the rows, or is to say what is wrong with them.
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
