//! The rows of one place, until it is known which of several entities' rows meet.

use super::addition::{self, Addition};
use super::one_or_more::OneOrMore;
use super::row_effect::{Gone, RowEffect, put_in_order};
use super::row_write::{Act, Condition, Content, Epoch, Group, Range, RowWrite};
use crate::sorting;

/// A partition of one of the tables that come with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place<'p> {
    pub(super) table: usize,
    pub(super) partition: &'p str,
}

/// The rows of one partition of one table, until it is known which of them meet.
#[derive(Debug)]
pub(super) struct Part<'p> {
    pub(super) place: Place<'p>,
    /// The rows that are to be there. One that is right as it is stays so, whatever it is: another entity may want it.
    pub(super) rows: Vec<RowWrite<'p>>,
    /// Where no other entity may be filed: an entity is alone there with what is unique to it.
    reserved: Vec<RowWrite<'p>>,
    /// Rows that go. Those of an entity that is alone are among the rows, if they are there for certain.
    gone: Vec<Gone<'p>>,
    /// What is added to rows of summaries, and to lists.
    additions: Vec<Addition<'p>>,
    /// The epochs of the kinds whose own rows are among them.
    epochs: OneOrMore<Epoch>,
    /// Rows that must be what was read, unless they are among those.
    expected: Vec<RowWrite<'p>>,
    /// What must not have changed besides.
    unchanged: Vec<Range<'p>>,
}

impl<'p> Part<'p> {
    pub(super) fn new(place: Place<'p>) -> Self {
        Self {
            place,
            rows: Vec::new(),
            reserved: Vec::new(),
            gone: Vec::new(),
            additions: Vec::new(),
            epochs: OneOrMore::default(),
            expected: Vec::new(),
            unchanged: Vec::new(),
        }
    }

    /// Demands that a row is what was read.
    pub(super) fn expect(&mut self, row: RowWrite<'p>) {
        if self.expected.iter().all(|known| known.key != row.key) {
            self.expected.push(row);
        }
    }

    /// Demands that a range is what was read.
    pub(super) fn rely_on(&mut self, range: Range<'p>) {
        if self.unchanged.iter().all(|known| known.prefix != range.prefix) {
            self.unchanged.push(range);
        }
    }

    /// States the epoch of a kind.
    pub(super) fn state(&mut self, epoch: Epoch) {
        if self.epochs.iter().all(|known| known.kind != epoch.kind) {
            self.epochs.push(epoch);
        }
    }

    /// Adds what becomes of a row.
    pub(super) fn add(&mut self, touched: RowEffect<'p>) {
        match touched {
            RowEffect::Wanted(row) => self.rows.push(row),
            RowEffect::Reserved(row) => self.reserved.push(row),
            RowEffect::Gone(gone) => self.gone.push(gone),
            RowEffect::Added(addition) => self.additions.push(addition),
        }
    }

    /// Adds up what several entities give to one row of a summary or to one list, and take from it.
    pub(super) fn add_up(&mut self) {
        if self.additions.len() > 1 {
            addition::add_up(&mut self.additions);
        }
    }

    /// Returns how many rows are written.
    pub(super) fn written(&self) -> usize {
        self.rows.iter().filter(|row| !row.act.keeps()).count() + self.additions.len()
    }

    /// Returns the first row that two entities want, with both.
    pub(super) fn wanted_twice(&self) -> Option<(&RowWrite<'p>, &RowWrite<'p>)> {
        let mut wanted: Vec<_> = self.rows.iter().collect();
        sorting::sort_by(&mut wanted, |a, b| a.key.cmp(b.key).then(a.of.cmp(&b.of)));
        let twice = wanted.windows(2).filter_map(|pair| match pair {
            [first, second] if first.key == second.key => Some((*first, *second)),
            _ => None,
        });
        // Of an entity that wants several such rows its own says most.
        twice.min_by_key(|(_, second)| (second.of, !second.is_own()))
    }

    /// Lets a row that one entity wants take the place of the one that another gives up, in the version that was read.
    pub(super) fn meet(&mut self) {
        sorting::sort_by(&mut self.gone, |a, b| a.row.key.cmp(b.row.key));
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
        let certain = self.gone.iter().filter(|gone| gone.is_certain);
        self.rows.extend(certain.map(|gone| gone.row));
    }

    /// Sees to it that no other entity is filed where an entity of this plan must be alone. Returns a row that is wanted and
    /// can't be had, and the number of the change that has it.
    pub(super) fn reserve(&mut self) -> Option<(RowWrite<'p>, usize)> {
        for reserved in std::mem::take(&mut self.reserved) {
            match self.rows.iter().find(|row| row.key == reserved.key) {
                None => self.rows.push(reserved),
                // It goes, with the version that was read of its entity.
                Some(row) if matches!(row.act, Act::Remove) => {}
                // It is another's: an entity has one row for what is unique to it.
                Some(row) => return Some((reserved, row.of)),
            }
        }
        None
    }

    /// Puts the rows in the order in which they are looked at, with as many of those that are most likely not there as have
    /// room. Returns how many those are.
    pub(super) fn finish(&mut self, room: usize) -> usize {
        // Those that are written have a condition of their own.
        for row in std::mem::take(&mut self.expected) {
            if self.rows.iter().all(|known| known.key != row.key) {
                self.rows.push(row);
            }
        }
        let before = self.rows.len();
        let uncertain = self.gone.iter().filter(|gone| !gone.is_certain);
        self.rows.extend(uncertain.take(room).map(|gone| gone.row));
        let taken = self.rows.len() - before;
        put_in_order(&mut self.rows);
        taken
    }

    /// Returns its rows as they are planned.
    pub(super) fn into_group(self) -> Group<'p> {
        let Self { place: Place { table, partition }, rows, additions, epochs, unchanged, .. } = self;
        Group { table, partition, rows, additions, unchanged, epochs }
    }
}
