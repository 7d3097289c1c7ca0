//! What the propagation of an entity does to the rows of each place.

use crate::plan::{Addition, Amounts, Epoch, Group, Listing, OneOrMore, RowKind, RowWrite};

/// A partition of one of the tables that come with the plan.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    /// The number of the table.
    pub(super) table: usize,
    pub(super) partition: &'p str,
}

impl Place<'_> {
    /// Returns whether a group is of this place.
    fn is_of(self, group: &Group<'_>) -> bool {
        group.table == self.table && group.partition == self.partition
    }
}

/// What is done to the rows of each place, the entity's own first.
#[derive(Default)]
pub(super) struct Places<'p>(Vec<Group<'p>>);

impl<'p> Places<'p> {
    /// Returns the group of a place, which is added if it is new.
    #[inline]
    fn at(&mut self, place: Place<'p>) -> Option<&mut Group<'p>> {
        if let Some(known) = self.0.iter().position(|group| place.is_of(group)) {
            return self.0.get_mut(known);
        }
        self.0.push(Group { table: place.table, ..Group::new(place.partition, Vec::new()) });
        self.0.last_mut()
    }

    /// Adds a row to those of its place.
    #[inline]
    pub(super) fn put(&mut self, place: Place<'p>, row: RowWrite<'p>) {
        if let Some(group) = self.at(place) {
            group.rows.push(row);
        }
    }

    /// Puts the entity on the list of this row key, or takes it off.
    #[inline]
    pub(super) fn list(&mut self, place: Place<'p>, key: &'p str, kind: RowKind, listing: Listing) {
        let amounts = Amounts::listing(kind, &[listing], false);
        if let Some(group) = self.at(place) {
            group.additions.push(Addition { key, amounts, of: 0 });
        }
    }

    /// Returns whether something is done to the row of this key.
    #[inline]
    pub(super) fn has(&self, place: Place<'_>, key: &str) -> bool {
        self.0.iter().filter(|group| place.is_of(group)).any(|group| {
            group.rows.iter().any(|row| row.key == key)
                || group.additions.iter().any(|addition| addition.key == key)
        })
    }

    /// Returns the groups of the plan, which demands this epoch of the entity's kind.
    pub(super) fn into_groups(mut self, epoch: Epoch) -> OneOrMore<Group<'p>> {
        if let Some(first) = self.0.first_mut() {
            first.epochs.push(epoch);
        }
        self.0.into_iter().collect()
    }
}
