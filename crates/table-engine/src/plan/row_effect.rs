//! The rows that changes touch: what becomes of each, and those of one place together.

use super::addition::{self, Addition, Amounts};
use super::builder::Printed;
use super::content::{Cause, RowContent, RowKind};
use super::one_or_more::OneOrMore;
use super::row_write::{Act, Condition, Content, Epoch, Group, Range, RowWrite};
use super::rows::{CopyState, EntityRow, EntityRows};
use crate::sorting;

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
