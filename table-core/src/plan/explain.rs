//! A plan as it is shown.

use std::fmt;

use super::write::RowAction;
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
    pub(super) action: RowAction,
    pub(super) kind: &'static str,
    pub(super) index: Option<&'static str>,
}

impl WriteExplain {
    /// How many rows are touched.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The keys of the rows that are written.
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.keys(|action| !matches!(action, RowAction::Delete(_) | RowAction::Remove))
    }

    /// The keys of the rows that are removed.
    pub fn removed(&self) -> impl Iterator<Item = &str> {
        self.keys(|action| matches!(action, RowAction::Delete(_) | RowAction::Remove))
    }

    fn keys(&self, wanted: impl Fn(RowAction) -> bool) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(move |row| wanted(row.action)).map(|row| &*row.row_key)
    }
}

impl fmt::Display for WriteExplain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, most) = (self.rows.len(), limits::BATCH_OPERATIONS);
        let partition = self.partition.escape_debug();
        write!(f, "{rows} of {most} rows in partition `{partition}` of `{}`:", self.table)?;
        for row in &self.rows {
            let what = match row.action {
                RowAction::Insert => "insert",
                RowAction::Put => "put",
                RowAction::Replace(_) => "replace",
                RowAction::Delete(_) => "delete",
                RowAction::Remove => "remove",
                RowAction::Absent => "leave",
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
