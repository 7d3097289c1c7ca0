//! What the rows of a plan come to.

use std::fmt;

use super::content::RowProperty;
use super::row_write::{Act, Condition, Content, Group, Plan, RowWrite};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::model::body;

/// What the entities' own rows and the copies in each index take in the body of a request.
#[derive(Debug, Default)]
pub(crate) struct PlanSize {
    entities: usize,
    copies: Vec<(&'static str, usize)>,
}

impl PlanSize {
    /// Adds a row: a copy of this index, or an entity's own.
    pub(crate) fn add(&mut self, index: Option<&'static str>, bytes: usize) {
        let Some(index) = index else {
            self.entities += bytes;
            return;
        };
        match self.copies.iter_mut().find(|(name, _)| *name == index) {
            Some((_, copies)) => *copies += bytes,
            None => self.copies.push((index, bytes)),
        }
    }
}

/// As the reason of an error.
impl fmt::Display for PlanSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entities, copies } = self;
        let all = body::BATCH + entities + copies.iter().map(|(_, bytes)| bytes).sum::<usize>();
        write!(
            f,
            "the change comes to {all} bytes as the body of a request: the entities' own rows to {entities}"
        )?;
        for (name, bytes) in copies {
            write!(f, ", their copies for `{name}` to {bytes}")?;
        }
        write!(f, "; a transaction must stay below {}", limits::BATCH_BYTES)
    }
}

impl Plan<'_> {
    /// Refuses a transaction of the whole store that is too large.
    pub(super) fn check_size(&self) -> Result<()> {
        if !self.is_wide {
            return Ok(());
        }
        let rows = self.groups.iter().flat_map(|group| group.rows.iter().map(|row| (group.partition, row)));
        let bytes = rows.filter_map(|(partition, row)| row.body(row.table(), partition)).sum::<usize>();
        let added = |group: &Group<'_>| {
            let additions = group.additions.iter();
            additions.map(|addition| addition.body(addition.table(), group.partition)).sum::<usize>()
        };
        let bytes = bytes + self.groups.iter().map(added).sum::<usize>();
        if bytes < limits::TRANSACTION_BYTES {
            return Ok(());
        }
        let because = format!(
            "the transaction comes to {bytes} bytes as the body of a request; it must stay below {}",
            limits::TRANSACTION_BYTES
        );
        Err(Error::new(ErrorKind::BatchTooLarge).because(because).attempted("commit a transaction"))
    }
}

impl RowWrite<'_> {
    /// Returns the table that it is declared to lie in, if it is an entity's.
    pub(super) fn table(&self) -> &'static str {
        self.kind.map_or("", |kind| kind.place().table.source())
    }

    /// Returns how many bytes the row takes in the body of a request, if it is written.
    pub fn body(&self, table: &str, partition: &str) -> Option<usize> {
        let (is_new, content) = match &self.act {
            Act::Keep => return None,
            Act::Remove => {
                let kind = body::Kind::<std::iter::Empty<_>>::Delete;
                return Some(body::operation(table, partition, self.key, kind));
            }
            Act::Put(content) => {
                (matches!(self.condition, Condition::Absent | Condition::StillAbsent), content)
            }
            Act::Merge(content) => (false, content),
        };
        let written = |properties: &mut dyn Iterator<Item = RowProperty<'_>>| {
            let kind = if is_new { body::Kind::Insert(properties) } else { body::Kind::Write(properties) };
            body::operation(table, partition, self.key, kind)
        };
        Some(match content {
            Content::Properties(properties) => written(&mut properties.iter().copied()),
            Content::Row(row) => written(&mut row.properties()),
        })
    }
}
