//! A plan as it is shown.

use std::fmt;

use super::addition::Addition;
use super::content::RowKind;
use super::follow::{CopyPlace, OutboxOp};
use super::row_write::{Act, Condition, Group, Plan, RowWrite};
use crate::messages::Task;
use crate::outbox::DependentKey;
use crate::{limits, sorting};

/// The rows that a write would touch, by table and partition, and how many of those that a transaction may touch they are:
/// 100, or [10,000](limits::TRANSACTION_ROWS) for one of the whole store.
///
/// It prints itself: a line for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteExplain {
    most: usize,
    groups: Vec<WrittenGroup>,
    /// The copies that follow later.
    deferred: Vec<DeferredRow>,
    /// Those that others hold: of whom, and with what their properties begin.
    dependents: Vec<DependentKey>,
    /// How many messages are sent, and how many completed.
    sent: usize,
    completed: usize,
}

/// The rows of one partition of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WrittenGroup {
    table: Box<str>,
    partition: Box<str>,
    rows: Vec<WrittenRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct WrittenRow {
    row_key: Box<str>,
    condition: Condition,
    act: Act<()>,
    kind: &'static str,
    index: Option<&'static str>,
    /// Which of a wide entity's own rows it is.
    part: usize,
    /// Whether the row is of a summary or a list, to which something is added.
    adds: Option<Adds>,
}

/// What is added to a row that many entities share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adds {
    /// Numbers, of a summary.
    Numbers,
    /// An id, of a list.
    Id,
    /// Nothing: ids are taken off a list.
    NoId,
}

/// A copy that comes or goes later.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DeferredRow {
    key: CopyPlace,
    goes: bool,
    kind: &'static str,
}

impl DeferredRow {
    /// Returns the copies of a plan that follow.
    #[inline]
    fn of(outbox_op: &OutboxOp) -> Vec<Self> {
        let OutboxOp::Follow(follow) = outbox_op else { return Vec::new() };
        let row = |key: &CopyPlace, goes| Self { key: key.clone(), goes, kind: follow.kind };
        let wanted = follow.wanted.iter().map(|key| row(key, false));
        wanted.chain(follow.before.iter().map(|key| row(key, true))).collect()
    }
}

impl WrittenGroup {
    /// Explains the rows that are written, of each entity its own first.
    #[inline]
    fn of(group: &Group<'_>) -> Self {
        let mut rows: Vec<&RowWrite<'_>> = group.rows.iter().collect();
        rows.retain(|row| !row.act.keeps());
        sorting::sort_by_key(&mut rows, |row| row.of);
        let written = |row: &&RowWrite<'_>| WrittenRow {
            row_key: row.key.into(),
            condition: row.condition,
            act: row.act.bare(),
            kind: row.kind.map_or("", |kind| kind.schema.kind),
            index: row.index(),
            part: row.kind.map_or(0, RowKind::part),
            adds: None,
        };
        let added = |addition: &Addition<'_>| WrittenRow {
            row_key: addition.key.into(),
            condition: Condition::Any,
            act: Act::Merge(()),
            kind: addition.amounts.kind().schema.kind,
            index: Some(addition.amounts.name()),
            part: 0,
            adds: Some(match addition.amounts.listings() {
                [] => Adds::Numbers,
                listings if listings.iter().any(|listing| listing.stays) => Adds::Id,
                _ => Adds::NoId,
            }),
        };
        let of_rows = rows.first().map(|row| row.table());
        let table = of_rows.or_else(|| group.additions.first().map(Addition::table));
        Self {
            table: table.unwrap_or_default().into(),
            partition: group.partition.into(),
            rows: rows.iter().map(written).chain(group.additions.iter().map(added)).collect(),
        }
    }
}

impl WriteExplain {
    /// Explains the rows that a plan writes.
    #[inline]
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        let mut groups: Vec<_> = plan.groups.iter().map(WrittenGroup::of).collect();
        if plan.is_wide {
            groups.retain(|group| !group.rows.is_empty());
        }
        let most = if plan.is_wide { limits::TRANSACTION_ROWS } else { limits::BATCH_OPERATIONS };
        let of_kind = |wanted: fn(&Task) -> bool| {
            plan.queue_ops.iter().filter(|queue_op| wanted(&queue_op.task)).count()
        };
        let sent = of_kind(|task| matches!(task, Task::Send(_)));
        let completed = of_kind(|task| matches!(task, Task::Complete(_)));
        let deferred = plan.outbox_ops.iter().flat_map(DeferredRow::of).collect();
        let dependents = plan.outbox_ops.iter().flat_map(|outbox_op| match outbox_op {
            OutboxOp::DeferredDependents(hold) => hold.dependents.clone(),
            _ => Vec::new(),
        });
        let mut dependents: Vec<_> = dependents.collect();
        sorting::sort(&mut dependents);
        dependents.dedup();
        Self { most, groups, deferred, dependents, sent, completed }
    }

    /// Returns how many rows are touched.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> usize {
        self.groups.iter().map(|group| group.rows.len()).sum()
    }

    /// Returns the tables and partitions that are touched, with how many rows of each are.
    pub fn places(&self) -> impl Iterator<Item = (&str, &str, usize)> {
        self.groups.iter().map(|group| (&*group.table, &*group.partition, group.rows.len()))
    }

    /// Returns the tables, partition keys and row keys of the copies that follow later, and of the lists; whether each copy
    /// comes or goes, or the entity comes to the list or goes from it.
    pub fn deferred(&self) -> impl Iterator<Item = (&str, &str, &str, bool)> {
        self.deferred
            .iter()
            .map(|DeferredRow { key, goes, .. }| (&*key.table, &*key.partition, &*key.row, !goes))
    }

    /// Returns the deferred copies: the kind of the dependents that hold them, and with what the names of their properties
    /// begin. The dependents are looked for when the copies follow.
    pub fn deferred_dependents(&self) -> impl Iterator<Item = (&str, &str)> {
        self.dependents.iter().map(|DependentKey { kind, property }| (&**kind, &**property))
    }

    /// Returns how many messages are sent with the rows.
    #[must_use]
    pub fn messages_sent(&self) -> usize {
        self.sent
    }

    /// Returns how many messages are completed with the rows.
    #[must_use]
    pub fn messages_completed(&self) -> usize {
        self.completed
    }

    /// Returns the keys of the rows that are written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.keys(|act| act != Act::Remove)
    }

    /// Returns the keys of the rows that are removed.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.keys(|act| act == Act::Remove)
    }

    fn keys(&self, wanted: impl Fn(Act<()>) -> bool) -> impl Iterator<Item = &str> {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.filter(move |row| wanted(row.act)).map(|row| &*row.row_key)
    }
}

impl fmt::Display for WriteExplain {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, most) = (self.rows(), self.most);
        if let [group] = self.groups.as_slice() {
            write!(f, "{rows} of {most} rows in {group}")?;
        } else {
            write!(f, "{rows} of {most} rows, all or none:")?;
            self.groups.iter().try_for_each(|group| write!(f, "\nin {group}"))?;
        }
        for DeferredRow { key: CopyPlace { index, table, partition, row, is_list }, goes, kind } in
            &self.deferred
        {
            let what = match (is_list, goes) {
                (false, false) => "put",
                (false, true) => "remove",
                (true, false) => "add to",
                (true, true) => "take from",
            };
            let (partition, row) = (partition.escape_debug(), row.escape_debug());
            write!(f, "\n  later {what:6} `{row}` in partition `{partition}` of `{table}`  ")?;
            if *is_list {
                write!(f, "the list of {index}")?;
            } else {
                write!(f, "the {kind}'s copy for {index}")?;
            }
        }
        for DependentKey { kind, property } in &self.dependents {
            write!(f, "\n  later every `{property}` that a {kind} holds of it")?;
        }
        for (what, messages) in [("send", self.sent), ("complete", self.completed)] {
            if messages > 0 {
                write!(f, "\n  {what} {messages} of the queues' messages")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for WrittenGroup {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition `{}` of `{}`:", self.partition.escape_debug(), self.table)?;
        for row in &self.rows {
            let what = match (row.act, row.condition) {
                _ if row.adds == Some(Adds::NoId) => "take from",
                _ if row.adds.is_some() => "add to",
                (Act::Keep, _) => "leave",
                (Act::Put(()), Condition::Absent | Condition::StillAbsent) => "insert",
                (Act::Put(()), Condition::Any) => "put",
                (Act::Put(()), _) => "replace",
                (Act::Merge(()), _) => "merge",
                (Act::Remove, Condition::Any) => "remove",
                (Act::Remove, _) => "delete",
            };
            write!(f, "\n  {what:7} `{}`", row.row_key.escape_debug())?;
            match row.index {
                Some(name) if row.adds == Some(Adds::Numbers) => write!(f, "  the summary {name}")?,
                Some(name) if row.adds.is_some() => write!(f, "  the list of {name}")?,
                None if row.part > 0 => write!(f, "  part {} of the {}", row.part, row.kind)?,
                None => write!(f, "  the {} itself", row.kind)?,
                Some(name) => write!(f, "  its copy for {name}")?,
            }
        }
        Ok(())
    }
}
