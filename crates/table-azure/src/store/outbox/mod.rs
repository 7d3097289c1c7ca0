//! Copies that follow their entities later.
//!
//! A change of an entity with such copies writes, in one request, the entity, an *entry* that says where its copies may lie, and
//! its *version*, a number that grows with each change and outlives the entity. Who propagates reads the entry, then the entity,
//! and puts each copy under the version of the row that is there, unless that is of a later version of the entity; where a copy
//! is to be no more it leaves a *tombstone* with the version, so that a propagator which was held up does not bring the copy
//! back. At last it removes the entry, if that is still the one that it has read. So propagators may die at any step, come late,
//! and be many.
//!
//! A process propagates what it finds in the partitions that it has noted something in. `Tables::propagate` goes over every table,
//! and so finds the entries of processes that have died elsewhere.

mod copy;
mod entry;
mod known;
#[cfg(test)]
mod model_tests;
mod note;
mod sweep;
mod work;

use std::ops::Bound;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use table_engine::__executor::{Outbox, OutboxCount, OutboxEntry, Propagators, RowBound, RowBounds};
use table_engine::model::EntityKeys;
use table_engine::{DynamicEntity, ErrorKind, Result};

use self::known::{Key, Known};
pub(super) use self::note::{Marks, Note, write};
pub(super) use self::work::EntryWork;
use super::service::Service;
use super::table::{AzureTable, TableEntry};
use super::{AzureStore, filter, marks};
use crate::client::PageRequest;

/// What a store knows of copies that follow.
pub(super) struct OutboxState {
    propagators: Arc<Propagators>,
    known: Known,
    /// When tombstones were looked for last.
    swept: Mutex<Option<Instant>>,
}

impl OutboxState {
    pub(super) fn new(is_manual: bool) -> Self {
        let propagators = Arc::new(Propagators::new(is_manual));
        Self { propagators, known: Known::default(), swept: Mutex::default() }
    }

    /// Says that a change has noted copies to follow in a partition.
    pub(super) fn noted(&self, table: &Arc<TableEntry>, partition: &str) {
        self.known.add(table, partition);
        self.propagators.notify();
    }

    /// Says that the store is no more.
    pub(super) fn over(&self) {
        self.propagators.over();
    }
}

impl Service {
    /// Returns the rows of entries of a table, or of one of its partitions, behind the keys of one: so many at most.
    async fn entries(
        &self,
        table: &TableEntry,
        partition: Option<&str>,
        after: Option<(&str, &str)>,
        most: usize,
    ) -> Result<Vec<DynamicEntity>> {
        let all = || RowBound { partition: Bound::Unbounded, row: Bound::Unbounded };
        let mut terms = vec![format!("RowKey ge '{}' and RowKey lt '{}'", entry::PREFIX, entry::BEHIND)];
        if let Some(partition) = partition {
            let at = || RowBound { partition: Bound::Included(partition.to_owned()), row: Bound::Unbounded };
            terms.push(filter::text(&RowBounds { lower: at(), upper: at() }, None));
        }
        if let Some((partition, row)) = after {
            let lower = RowBound {
                partition: Bound::Included(partition.to_owned()),
                row: Bound::Excluded(entry::key(row)?),
            };
            terms.push(filter::text(&RowBounds { lower, upper: all() }, None));
        }
        let mut found = Vec::new();
        let mut request = PageRequest { filter: terms.join(" and "), ..PageRequest::default() };
        loop {
            let page = self.page(table, &request).await?;
            found.extend(page.entities.into_iter().filter(|row| marks::row_of(row) == Some(marks::OUTBOX)));
            request.after = page.next;
            if found.len() >= most || request.after.is_none() {
                found.truncate(most);
                return Ok(found);
            }
        }
    }
}

impl AzureStore {
    /// Returns the entries of a table, or of one of its partitions, behind one of them: so many at most.
    fn entries_of(
        &self,
        table: &Arc<TableEntry>,
        partition: Option<&str>,
        last: Option<&OutboxEntry>,
        most: usize,
    ) -> Result<Vec<OutboxEntry>> {
        let (service, of, partition) = (self.service.clone(), table.clone(), partition.map(str::to_owned));
        let after = last.map(|last| (last.source.partition.clone(), last.source.row.clone()));
        let found = self.wait(async move {
            let after = after.as_ref().map(|(partition, row)| (&**partition, &**row));
            service.entries(&of, partition.as_deref(), after, most).await
        });
        match found {
            // It was dropped meanwhile, and its entries with it.
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(Vec::new()),
            found => found?.iter().map(|row| entry::read(table, row)).collect(),
        }
    }

    /// Returns whether copies are to follow the entity of these keys.
    pub(super) fn has_entry(&self, table: &AzureTable, keys: EntityKeys<'_>) -> Result<bool> {
        let (service, of) = (self.service.clone(), table.entry.clone());
        let (partition, key) = (keys.partition.to_owned(), entry::key(keys.row)?);
        let found = self.wait(async move { service.raw_row(&of, &partition, &key).await })?;
        Ok(found.is_some())
    }

    /// Returns the tables of the account whose names begin as this store's do; those that this process has opened, where its
    /// credential lists none.
    fn all_tables(&self) -> Result<Vec<Arc<TableEntry>>> {
        let service = self.service.clone();
        let names = match self.wait(async move { service.table_names().await }) {
            Err(error) if error.kind() == ErrorKind::AccessDenied => {
                let mut known: Vec<_> = self.tables().values().cloned().collect();
                known.sort_by_key(|table| table.name().to_ascii_lowercase());
                return Ok(known);
            }
            names => names?,
        };
        let mut all = Vec::new();
        for name in names {
            match self.find(&name) {
                Ok(table) => all.push(table),
                // It was dropped meanwhile, or is the service's own.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::TableNotFound | ErrorKind::InvalidTableName | ErrorKind::TableNameLength
                    ) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }
}

/// Returns the place of an entry's partition among those that are known.
fn place(entry: &OutboxEntry) -> Key {
    let table = entry.table.as_deref().unwrap_or_default().to_ascii_lowercase();
    (table, entry.source.partition.clone())
}

impl Outbox for AzureStore {
    fn after(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>> {
        let mut found = Vec::new();
        let begun = last.map(|last| place(last).0);
        for table in self.all_tables()? {
            let name = table.name().to_ascii_lowercase();
            if begun.as_ref().is_some_and(|begun| name < *begun) {
                continue;
            }
            let last = last.filter(|_| begun.as_ref() == Some(&name));
            found.extend(self.entries_of(&table, None, last, most - found.len())?);
            if found.len() >= most {
                break;
            }
        }
        Ok(found)
    }

    fn recent(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>> {
        let mut found = Vec::new();
        let begun = last.map(place);
        let mut next = match &begun {
            Some(begun) => self.outbox.known.next(Bound::Included(begun)),
            None => self.outbox.known.next(Bound::Unbounded),
        };
        while let Some((key, partition)) = next {
            let last = last.filter(|_| begun.as_ref() == Some(&key));
            let some = self.entries_of(&partition.table, Some(&key.1), last, most - found.len())?;
            if some.is_empty() && last.is_none() {
                self.outbox.known.forget(&key, &partition);
            }
            found.extend(some);
            if found.len() >= most {
                break;
            }
            next = self.outbox.known.next(Bound::Excluded(&key));
        }
        Ok(found)
    }

    fn count(&self) -> Result<OutboxCount> {
        let entries = u64::try_from(self.outbox.known.count()).unwrap_or(u64::MAX);
        Ok(OutboxCount { entries })
    }

    /// The entries of a table go with it. What goes here are tombstones.
    fn purge(&self) -> Result<()> {
        self.sweep()
    }

    fn propagators(&self) -> &Arc<Propagators> {
        &self.outbox.propagators
    }
}
