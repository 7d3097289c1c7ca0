//! Which rows of a table there are for a reader.

use std::sync::{Arc, Mutex, PoisonError};

use super::checks::{Check, is_on};
use super::limits::Limits;
use crate::access::{End, Names};
use crate::copies::owners::{Owners, RowOwners};
use crate::error::{ErrorKind, Result};
use crate::executor::{LayoutTexts, ReadSnapshot, TableExec};
use crate::model::EntityKeys;
use crate::query::{Narrowing, PairEnd, Visible};
use crate::row::view::RowView;

/// What the layouts of a table's kinds tell of whose its rows are, as long as they are the same.
#[derive(Debug, Default)]
pub(super) struct KnownOwners(Mutex<Option<(LayoutTexts, Arc<RowOwners>)>>);

impl KnownOwners {
    fn of(&self, snapshot: &dyn ReadSnapshot, table: &dyn TableExec) -> Result<Arc<RowOwners>> {
        let texts = match snapshot.layouts(table) {
            // A store that notes nothing of kinds has no copies that it keeps.
            Err(error) if error.kind() == ErrorKind::Unsupported => LayoutTexts::new(),
            texts => texts?,
        };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, owners)) = &*known
            && *of == texts
        {
            return Ok(owners.clone());
        }
        let owners = Arc::new(RowOwners::of(table.table_name(), &texts)?);
        *known = Some((texts, owners.clone()));
        Ok(owners)
    }
}

/// The rows of a table that an access shows.
#[derive(Debug)]
pub(super) struct Shown {
    table: Box<str>,
    limits: Limits,
    owners: Arc<RowOwners>,
}

impl Shown {
    /// Returns those of a table in a snapshot; `None` if all are shown.
    pub(super) fn of(
        limits: &Limits,
        known: &KnownOwners,
        snapshot: &dyn ReadSnapshot,
        table: &dyn TableExec,
    ) -> Result<Option<Self>> {
        if !limits.are_of_keys() {
            return Ok(None);
        }
        let owners = known.of(snapshot, table)?;
        Ok(Some(Self { table: table.table_name().into(), limits: limits.clone(), owners }))
    }

    /// Returns whether a row of these keys may be shown. A part of a wide entity is where its head is.
    pub(super) fn may_have(&self, partition: &str, row: &str) -> bool {
        let is_inside = |row| self.limits.covers(&self.table, EntityKeys::new(partition, row));
        is_inside(row) || self.owners.head(row).is_some_and(is_inside) || !is_on(Check::PointReads)
    }

    /// Returns whether a row that [may be](Self::may_have) is shown: every entity that it is of must be inside.
    pub(super) fn shows(&self, row: &RowView<'_>) -> Result<bool> {
        if !is_on(Check::Owners) {
            return Ok(true);
        }
        let range = &self.limits.access().range;
        Ok(match self.owners.of_row(row)? {
            Owners::Own => {
                let (partition, key) = row.keys();
                self.limits.covers(&self.table, EntityKeys::new(&partition, &key))
                    || !is_on(Check::PointReads)
                    || !is_on(Check::Queries)
            }
            Owners::One(table, partition, row) => {
                self.limits.covers(&table, EntityKeys::new(&partition, &row))
            }
            Owners::All(table, [(partition, is_partition), (row, is_row)]) => {
                self.limits.access().tables.has(&table)
                    && match (is_partition, is_row) {
                        (true, true) => range.contains(&partition, &row),
                        (true, false) => range.contains_rows(&partition, &row),
                        (false, _) => range.contains_partitions(&partition),
                    }
            }
            Owners::Unknown => range.is_all() && self.limits.access().tables == Names::All,
        })
    }

    pub(super) fn narrowed(self) -> Visible {
        Visible::by(Arc::new(self))
    }
}

impl Narrowing for Shown {
    fn ends(&self) -> [Option<PairEnd<'_>>; 2] {
        let range = &self.limits.access().range;
        [&range.start, &range.end].map(|end| end.as_ref().filter(|_| is_on(Check::Queries)).map(End::pair))
    }

    fn shows(&self, row: &RowView<'_>) -> Result<bool> {
        Self::shows(self, row)
    }
}
