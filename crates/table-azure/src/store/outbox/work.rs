//! What a plan does to an entry of the outbox: its copies are put, or it is noted that they can't be.

use std::sync::Arc;

use table_engine::__executor::{Committed, OutboxOp, Plan, Refused, Source, TableExec};
use table_engine::model::EntityKeys;
use table_engine::outbox::OutboxRecord;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Ticks};

use super::super::commit::by_chance;
use super::super::planned::{body, digest, for_each};
use super::super::service::Service;
use super::super::table::TableEntry;
use super::super::{AzureStore, explain, marks, own};
use super::copy::{CopyMark, Place};
use super::{entry, note};
use crate::client::{Failure, Operation, Outcome};

/// How often a row is written that others write meanwhile.
const ROUNDS: u32 = 32;

/// What is done to an entry.
pub(crate) struct EntryWork {
    table: Arc<TableEntry>,
    source: Source,
    /// The version of the entry that is meant.
    etag: ETag,
    act: EntryAct,
    /// The generation of the keys at which values of its copies were sealed, if any were.
    sealed_at: Option<u64>,
}

enum EntryAct {
    /// Copies are put, or tombstones; then the entry goes.
    Propagate {
        /// The version in which the entity was read; `None` if it was not there.
        seen: Option<ETag>,
        copies: Vec<PlannedCopy>,
    },
    /// It is noted that it has failed, and why.
    Fail(String),
    /// It is tried again, as if it had never failed.
    Arm,
}

/// A copy that is to be at its key, or to be there no more.
struct PlannedCopy {
    table: Arc<TableEntry>,
    partition: String,
    key: String,
    /// The row, with the time that it is as of; `None` of a tombstone.
    row: Option<DynamicEntity>,
}

impl EntryWork {
    /// Encodes a plan that does something to an entry; `None` if the plan changes entities.
    pub(crate) fn of(
        store: &AzureStore,
        tables: &[&dyn TableExec],
        plan: &Plan<'_>,
        sealed_at: Option<u64>,
    ) -> Result<Option<Self>, Refused> {
        let [outbox_op] = &*plan.outbox_ops else { return Ok(None) };
        let (source, version, act) = match outbox_op {
            OutboxOp::Propagate(source, version) => {
                let copies = copies(tables, plan).map_err(Refused::whole)?;
                (source, version, EntryAct::Propagate { seen: plan.as_of, copies })
            }
            OutboxOp::Fail(source, version, error) => (source, version, EntryAct::Fail(error.clone())),
            OutboxOp::Arm(source, version) => (source, version, EntryAct::Arm),
            OutboxOp::Advance(..) | OutboxOp::Follow(_) | OutboxOp::DeferredDependents(_) => return Ok(None),
        };
        let table = store.numbered(source.table).ok_or_else(|| Refused::whole(explain::missing()))?;
        let etag = ETag::from_timestamp(Ticks::new(*version).unwrap_or(Ticks::MIN));
        Ok(Some(Self { table, source: source.clone(), etag, act, sealed_at }))
    }
}

/// Encodes the copies of a plan; the entity's own row stays as it is.
fn copies(tables: &[&dyn TableExec], plan: &Plan<'_>) -> Result<Vec<PlannedCopy>> {
    let as_of = plan.as_of.map(|etag| i64::try_from(etag.timestamp().get()).unwrap_or(i64::MAX));
    let mut copies = Vec::new();
    for group in plan.groups.iter() {
        let table = own(*tables.get(group.table).ok_or_else(explain::missing)?)?.entry.clone();
        for row in group.rows.iter().filter(|row| !row.act.keeps()) {
            let copy = row.act.content().map(|content| -> Result<DynamicEntity> {
                let mut copy = DynamicEntity::new(group.partition, row.key);
                for_each(content, |(name, value)| drop(copy.set(name, value.to_value())));
                if let Some(digest) = digest(&table, EntityKeys::new(group.partition, row.key), content)? {
                    copy.set(marks::DIGEST, digest);
                }
                if let Some(as_of) = as_of {
                    copy.set(marks::AS_OF, as_of);
                }
                Ok(copy)
            });
            let copy = copy.transpose()?;
            let (partition, key) = (group.partition.to_owned(), row.key.to_owned());
            copies.push(PlannedCopy { table: table.clone(), partition, key, row: copy });
        }
    }
    Ok(copies)
}

impl Service {
    /// Does what is to be done to an entry.
    pub(crate) async fn work(&self, work: EntryWork) -> Result<Committed, Refused> {
        self.work_on(&work).await.map_err(Refused::whole)?;
        Ok(Committed::at(ETag::from_timestamp(Ticks::now())))
    }

    async fn work_on(&self, work: &EntryWork) -> Result<()> {
        let key = entry::key(&work.source.row)?;
        let found = self.raw_row(&work.table, &work.source.partition, &key).await?;
        // The entity is read behind the entry, so that what is put is as of the entry's version or a later one.
        let found = found.filter(|row| row.etag() == Some(work.etag)).ok_or_else(overtaken)?;
        match &work.act {
            EntryAct::Propagate { seen, copies } => {
                self.check_seen(work, *seen).await?;
                let mark = |lives| -> Result<CopyMark> {
                    Ok(CopyMark { source: work.source_text(), version: entry::version(&found)?, lives })
                };
                for copy in copies {
                    self.put_copy(copy, &mark(copy.row.is_some())?, work.sealed_at).await?;
                }
                self.remove_entry(work, &key).await
            }
            EntryAct::Fail(error) => {
                self.change_entry(work, &found, |record| record.fail(error, Ticks::now())).await
            }
            EntryAct::Arm => self.change_entry(work, &found, |record| record.arm(Ticks::now())).await,
        }
    }

    /// Makes sure that the entity is the one that was read, where the read may have been answered by a copy of the account: what
    /// is put must not be of before the entry.
    async fn check_seen(&self, work: &EntryWork, seen: Option<ETag>) -> Result<()> {
        if !self.settings.reads_secondary {
            return Ok(());
        }
        let Source { partition, row, .. } = &work.source;
        let now = self.row(&work.table, partition, row).await?;
        if now.and_then(|row| row.etag()) == seen { Ok(()) } else { Err(overtaken()) }
    }

    /// Puts a copy, or a tombstone where it is to be no more, unless what is there is of a later version. Values that were sealed
    /// go by the lease of their keys.
    async fn put_copy(&self, copy: &PlannedCopy, mark: &CopyMark, sealed_at: Option<u64>) -> Result<()> {
        for round in 0..ROUNDS {
            let there = self.raw_row(&copy.table, &copy.partition, &copy.key).await?;
            if !Place::of(there.as_ref()).gives_way(mark) {
                return Ok(());
            }
            let operation = note::write(there.as_ref(), &copy.key, copy.marked(mark)?);
            let until = match sealed_at {
                Some(generation) => Some(self.keys.rely(generation).await?),
                None => None,
            };
            let remote = copy.table.remote();
            match self.client.execute_until(remote, &copy.partition, &[operation], until).await {
                Ok(Outcome::Done(_)) => return Ok(()),
                // What is there is another row by now, or this one: an answer may have been lost.
                Ok(Outcome::Refused { refusal, .. }) if matches!(refusal.status, 404 | 409 | 412) => {
                    if refusal.code == "TableNotFound" {
                        return Err(explain::refused(&refusal));
                    }
                }
                Ok(Outcome::Refused { refusal, .. }) => return Err(explain::refused(&refusal)),
                Err(Failure::NoAnswer(_) | Failure::Unsettled(_) | Failure::Expired) => {}
                Err(failure) => return Err(explain::unread(failure)),
            }
            tokio::time::sleep(by_chance(round)).await;
        }
        Err(Error::new(ErrorKind::ConditionNotMet).because("others go on writing the copy's row"))
    }

    /// Removes an entry, if it is still the one that was read. One that is gone was removed by this or by another propagator.
    async fn remove_entry(&self, work: &EntryWork, key: &str) -> Result<()> {
        let operation = Operation::delete(key, work.etag.to_string());
        match self.client.execute(work.table.remote(), &work.source.partition, &[operation]).await {
            Ok(Outcome::Done(_)) => Ok(()),
            Ok(Outcome::Refused { refusal, .. }) if refusal.is_not_found() => Ok(()),
            Ok(Outcome::Refused { refusal, .. }) if refusal.status == 412 => Err(overtaken()),
            Ok(Outcome::Refused { refusal, .. }) => Err(explain::refused(&refusal)),
            // It is there or not: if it is, it is propagated once more.
            Err(Failure::NoAnswer(_) | Failure::Unsettled(_)) => Err(overtaken()),
            Err(failure) => Err(explain::unread(failure)),
        }
    }

    /// Writes what an entry says after a change of its tries.
    async fn change_entry(
        &self,
        work: &EntryWork,
        found: &DynamicEntity,
        change: impl FnOnce(&mut OutboxRecord),
    ) -> Result<()> {
        let mut record = entry::record(found)?;
        change(&mut record);
        let (partition, key) = (&*work.source.partition, found.row_key());
        let row = entry::row(partition, key, &record, entry::version(found)?)?;
        let operation = note::write(Some(found), key, body(&row)?);
        match self.client.execute(work.table.remote(), partition, &[operation]).await {
            Ok(Outcome::Done(_)) => Ok(()),
            Ok(Outcome::Refused { refusal, .. }) if matches!(refusal.status, 404 | 412) => Err(overtaken()),
            Ok(Outcome::Refused { refusal, .. }) => Err(explain::refused(&refusal)),
            Err(Failure::NoAnswer(_) | Failure::Unsettled(_)) => Err(overtaken()),
            Err(failure) => Err(explain::unread(failure)),
        }
    }
}

impl EntryWork {
    /// Returns the text by which copies name their entity. No key has a line's end in it.
    fn source_text(&self) -> String {
        let Source { partition, row, .. } = &self.source;
        format!("{}\n{partition}\n{row}", self.table.name().to_ascii_lowercase())
    }
}

impl PlannedCopy {
    /// Returns the body of the row under this mark.
    fn marked(&self, mark: &CopyMark) -> Result<Vec<u8>> {
        let row = match &self.row {
            Some(row) => row.clone(),
            None => DynamicEntity::new(&self.partition, &self.key).with(marks::ROW, marks::TOMBSTONE),
        };
        body(&row.with(marks::SOURCE, &*mark.source).with(marks::VERSION, mark.version))
    }
}

#[cold]
fn overtaken() -> Error {
    Error::new(ErrorKind::ConditionNotMet)
        .because("what was to follow is another by now, or has been seen to")
}
