//! What propagation an entity does to the rows of each place.

use crate::plan::{Addition, Amounts, Epoch, Group, Listing, OneOrMore, RowKind, RowWrite};

/// A partition of one of the tables that come with the plan.
type Place<'p> = (usize, &'p str);

/// What is done to the rows of each place, the entity's own first.
#[derive(Default)]
pub(super) struct Places<'p>(Vec<Group<'p>>);

impl<'p> Places<'p> {
    fn at(&mut self, (table, partition): Place<'p>) -> Option<&mut Group<'p>> {
        let is_it = |group: &Group<'_>| group.table == table && group.partition == partition;
        if let Some(known) = self.0.iter().position(is_it) {
            return self.0.get_mut(known);
        }
        self.0.push(Group { table, ..Group::new(partition, Vec::new()) });
        self.0.last_mut()
    }

    /// Adds a row to those of its place.
    pub(super) fn put(&mut self, place: Place<'p>, row: RowWrite<'p>) {
        if let Some(group) = self.at(place) {
            group.rows.push(row);
        }
    }

    /// Puts the entity on a list, or takes it off.
    pub(super) fn list(&mut self, place: Place<'p>, (key, kind): (&'p str, RowKind), listing: Listing) {
        let amounts = Amounts::listing(kind, &[listing], false);
        if let Some(group) = self.at(place) {
            group.additions.push(Addition { key, amounts, of: 0 });
        }
    }

    /// Whether something is done to the row of this key.
    pub(super) fn has(&self, (table, partition): Place<'_>, key: &str) -> bool {
        self.0.iter().filter(|group| group.table == table && group.partition == partition).any(|group| {
            group.rows.iter().any(|row| row.key == key)
                || group.additions.iter().any(|addition| addition.key == key)
        })
    }

    /// The groups of the plan, which demands this epoch of the entity's kind.
    pub(super) fn into_groups(mut self, epoch: Epoch) -> OneOrMore<Group<'p>> {
        if let Some(first) = self.0.first_mut() {
            first.epochs.push(epoch);
        }
        self.0.into_iter().collect()
    }
}
