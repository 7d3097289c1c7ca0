//! The planned form of a change: rows with conditions, in groups.
//!
//! A row's change has four forms on its way to the store, each of one type: declared (`typed::change::Change`), planned
//! ([`RowWrite`]), encoded and applied, which are the executor's own.

use super::addition::Addition;
use super::content::{Cause, RowContent, RowKind, RowProperty};
use super::follow::OutboxOp;
use super::one_or_more::OneOrMore;
use crate::error::Error;
use crate::messages::QueueOp;
use crate::model::{ETag, IfMatch};
use crate::schema::Schema;

/// What an executor says of a row that was read, and compares when it writes.
///
/// Not the `ETag` alone: sealing a value anew changes no entity and keeps its `ETag`, and a plan that was made with the old
/// bytes must not put them back. Only the executor that gave the proof can compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// The row's `ETag`.
    pub etag: ETag,
    /// What else tells the row from any other.
    pub proof: [u64; 3],
}

/// What must be so of a row when its change is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It is not there.
    Absent,
    /// It was looked for, and is still not there.
    StillAbsent,
    /// It is there, in whatever version.
    Present,
    /// It is there, with this `ETag`.
    Tag(ETag),
    /// It is the one that was read.
    Is(Version),
    /// Nothing: it may be there or not.
    Any,
}

impl From<IfMatch> for Condition {
    fn from(condition: IfMatch) -> Self {
        match condition {
            IfMatch::Any => Self::Present,
            IfMatch::ETag(etag) => Self::Tag(etag),
        }
    }
}

/// What becomes of a row, and with what content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act<C> {
    /// It stays as it is: only the condition counts, and the row counts for no limit.
    Keep,
    /// It is written; what is there gives way.
    Put(C),
    /// What is there takes over these properties; where nothing is, it is written.
    Merge(C),
    /// It goes, if it is there.
    Remove,
}

impl<C> Act<C> {
    /// Returns what is written.
    pub fn content(&self) -> Option<&C> {
        match self {
            Self::Put(content) | Self::Merge(content) => Some(content),
            Self::Keep | Self::Remove => None,
        }
    }

    /// Returns the act without its content.
    pub fn bare(&self) -> Act<()> {
        match self {
            Self::Keep => Act::Keep,
            Self::Put(_) => Act::Put(()),
            Self::Merge(_) => Act::Merge(()),
            Self::Remove => Act::Remove,
        }
    }

    /// Returns whether the row stays as it is.
    pub fn keeps(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Returns what is done under this condition, as it follows "cannot " in an error.
    pub fn describe(&self, condition: Condition) -> &'static str {
        match (self, condition) {
            (Self::Put(_) | Self::Keep, Condition::Absent | Condition::StillAbsent) => "insert into",
            (Self::Put(_), Condition::Any) => "insert or replace in",
            (Self::Put(_), _) => "replace in",
            (Self::Merge(_), Condition::Any) => "insert or merge into",
            (Self::Merge(_), _) => "merge into",
            (Self::Remove, _) => "delete from",
            (Self::Keep, _) => "rely on",
        }
    }
}

/// What a row is to hold.
#[derive(Clone, Copy, Debug)]
pub enum Content<'p> {
    /// Properties of any names.
    Properties(&'p [RowProperty<'p>]),
    /// What a row of an entity holds.
    Row(RowContent<'p>),
}

/// A planned row.
#[derive(Clone, Copy, Debug)]
pub struct RowWrite<'p> {
    /// The row key.
    pub key: &'p str,
    /// What must be so of the row.
    pub condition: Condition,
    /// What becomes of it.
    pub act: Act<Content<'p>>,
    /// Which of an entity's rows it is, if it is known to be one. Then its declaration's template has printed the key.
    pub kind: Option<RowKind>,
    /// Which of the changes it serves, for errors.
    pub of: usize,
}

impl RowWrite<'_> {
    /// Returns whether the row is an entity's own, and no copy.
    #[inline]
    pub fn is_own(&self) -> bool {
        self.kind.is_some_and(|kind| kind.cause == Cause::Entity)
    }

    /// Returns the index that the row is a copy of.
    pub fn index(&self) -> Option<&'static str> {
        self.kind?.index().map(|index| index.name)
    }
}

/// All rows of the group's partition whose keys begin with a prefix are still those that were read: none was changed, none
/// has come and none has gone. What a plan changes itself is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<'p> {
    /// With what their row keys begin.
    pub prefix: &'p str,
    /// A digest of the rows' keys and versions. The executor makes it and compares it, as it does a version's proof.
    pub digest: u64,
}

/// The condition that the states of a kind's indexes are those in which the plan was made: writers keep the same ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// The kind.
    pub kind: &'static str,
    /// Which of its epochs.
    pub number: u64,
}

/// The rows of one partition of one table, and what must not have changed there besides. The executor looks at the rows in
/// their order, and then at the ranges.
///
/// A row that was read and is not written is one of the rows, too: it [is](Condition::Is) what it was, and is
/// [kept](Act::Keep).
#[derive(Debug)]
pub struct Group<'p> {
    /// Which of the tables that are handed to the executor with the plan. Not its name, which would have to be looked
    /// up at each commit, and may be written otherwise.
    pub table: usize,
    /// The partition key.
    pub partition: &'p str,
    /// The rows.
    pub rows: Vec<RowWrite<'p>>,
    /// What is added to rows of summaries and to lists, which are none of those. The executor adds when it has looked at the rows, and
    /// refuses the plan if it can't; in a refusal they are counted on behind the rows.
    pub additions: Vec<Addition<'p>>,
    /// What must not have changed.
    pub unchanged: Vec<Range<'p>>,
    /// The epochs of the kinds that the rows are of, if structs have made them.
    pub epochs: OneOrMore<Epoch>,
}

impl<'p> Group<'p> {
    /// Makes a group of rows of the first table that is handed over with the plan, and nothing else that must be so.
    pub fn new(partition: &'p str, rows: Vec<RowWrite<'p>>) -> Self {
        Self {
            table: 0,
            partition,
            rows,
            additions: Vec::new(),
            unchanged: Vec::new(),
            epochs: OneOrMore::default(),
        }
    }

    /// Returns how many rows are written.
    #[inline]
    pub fn written(&self) -> usize {
        self.rows.iter().filter(|row| !row.act.keeps()).count() + self.additions.len()
    }

    /// Returns whether nothing is done in it, and nothing demanded.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.additions.is_empty() && self.unchanged.is_empty()
    }

    /// Returns the declarations that its rows were made by, those of several rows several times.
    #[inline]
    pub fn schemas(&self) -> impl Iterator<Item = &'static Schema> {
        let rows = self.rows.iter().filter_map(|row| row.kind);
        rows.chain(self.additions.iter().map(|addition| addition.amounts.kind())).map(|kind| kind.schema)
    }
}

/// What an executor carries out, whole or not at all. It refers to the changes that it was made of, keys and all.
#[derive(Debug, Default)]
pub struct Plan<'p> {
    /// Its groups, of which no two have the same table and partition.
    pub groups: OneOrMore<Group<'p>>,
    /// What it leaves to be done, and what it has done of what was left.
    pub outbox_ops: Vec<OutboxOp>,
    /// The version that its rows are of, if that is not the plan's own: copies that follow are of the entity's. A row that is
    /// added to is of many entities, and has the time of the plan.
    pub as_of: Option<ETag>,
    /// What it does with messages of queues, with its rows or not at all.
    pub queue_ops: Vec<QueueOp>,
    /// Whether rows that are there keep their times: values are sealed anew, and no entity changes.
    pub keeps_times: bool,
    /// Whether rows of declared kinds may be written by their properties.
    pub is_raw: bool,
    /// Whether it is a transaction of the whole store, whose groups are no batches: they have the transaction's limits
    /// together, and none for each.
    pub is_wide: bool,
}

impl<'p> Plan<'p> {
    /// Returns a planned row by its place.
    pub fn row(&self, group: usize, row: usize) -> Option<&RowWrite<'p>> {
        self.groups.get(group)?.rows.get(row)
    }

    /// Returns what is planned to be added, by its place, which counts on behind the rows.
    pub(crate) fn addition(&self, group: usize, row: usize) -> Option<&Addition<'p>> {
        let group = self.groups.get(group)?;
        group.additions.get(row.checked_sub(group.rows.len())?)
    }
}

/// Why a plan was not carried out: in which of its groups, and at which row of that, if it was one.
#[derive(Debug)]
pub struct Refused {
    /// What is wrong.
    pub error: Error,
    /// The group's place among the plan's.
    pub group: usize,
    /// The row's place in the group.
    pub row: Option<usize>,
}

impl Refused {
    /// Makes the refusal of a plan as a whole.
    pub fn whole(error: Error) -> Self {
        Self { error, group: 0, row: None }
    }

    /// Returns the error alone, with the row's number as that of an operation.
    pub fn numbered(self) -> Error {
        match self.row {
            Some(row) => self.error.at_index(row),
            None => self.error,
        }
    }
}
