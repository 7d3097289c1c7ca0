//! A plan as it is shown.

use std::fmt;

use super::row_write::{Act, Condition, Plan, RowWrite};
use crate::limits;

/// The rows that a write would touch, and how many of the hundred that a transaction may touch those are.
///
/// It prints itself: a line for each row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteExplain {
    pub(super) table: &'static str,
    pub(super) partition: Box<str>,
    pub(super) rows: Vec<WrittenRow>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenRow {
    pub(super) row_key: Box<str>,
    pub(super) condition: Condition,
    pub(super) act: Act<()>,
    pub(super) kind: &'static str,
    pub(super) index: Option<&'static str>,
}

impl WriteExplain {
    /// The rows that a plan writes, of each entity its own first. A plan of entities has one group.
    pub(crate) fn of(plan: &Plan<'_>) -> Self {
        let group = plan.groups.first();
        let mut rows: Vec<&RowWrite<'_>> = group.iter().flat_map(|group| &group.rows).collect();
        rows.retain(|row| !row.act.keeps());
        rows.sort_by_key(|row| row.of);
        let written = |row: &&RowWrite<'_>| WrittenRow {
            row_key: row.key.into(),
            condition: row.condition,
            act: row.act.bare(),
            kind: row.kind.map_or("", |kind| kind.schema.kind),
            index: row.index(),
        };
        Self {
            table: rows.first().and_then(|row| row.kind).map_or("", |kind| kind.schema.table()),
            partition: group.map_or("", |group| group.partition).into(),
            rows: rows.iter().map(written).collect(),
        }
    }

    /// How many rows are touched.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The keys of the rows that are written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.keys(|act| act != Act::Remove)
    }

    /// The keys of the rows that are removed.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.keys(|act| act == Act::Remove)
    }

    fn keys(&self, wanted: impl Fn(Act<()>) -> bool) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(move |row| wanted(row.act)).map(|row| &*row.row_key)
    }
}

impl fmt::Display for WriteExplain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, most) = (self.rows.len(), limits::BATCH_OPERATIONS);
        let partition = self.partition.escape_debug();
        write!(f, "{rows} of {most} rows in partition `{partition}` of `{}`:", self.table)?;
        for row in &self.rows {
            let what = match (row.act, row.condition) {
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
                None => write!(f, "  the {} itself", row.kind)?,
                Some(name) => write!(f, "  its copy for {name}")?,
            }
        }
        Ok(())
    }
}
