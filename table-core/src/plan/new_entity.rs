//! The plan of an entity that is new, and of which nothing comes but its rows in its partition.
//!
//! A [draft](super::Draft) finds out which rows of several changes meet. Here there is one change, and its rows are no two of
//! them one, no more than there may be, and in their order: all of that was seen to when they were printed.

use super::one_or_more::OneOrMore;
use super::row_write::{Act, Condition, Content, Epoch, Group, Plan, RowWrite};
use super::rows::EntityRows;

impl<'p> Plan<'p> {
    /// The plan that adds these rows, of a kind in this epoch. Its schema [has all of them in one
    /// place](crate::schema::Schema::stays_in_place).
    pub(crate) fn of_new(rows: &'p EntityRows<'p>, epoch: Epoch) -> Self {
        let write = |row| RowWrite {
            key: rows.key(row),
            condition: Condition::Absent,
            act: Act::Put(Content::Row(row.content)),
            kind: Some(row.content.kind),
            of: 0,
        };
        let group = Group {
            epochs: OneOrMore::from(epoch),
            ..Group::new(rows.partition(), rows.rows.iter().map(write).collect())
        };
        Plan { groups: OneOrMore::from(group), ..Plan::default() }
    }
}
