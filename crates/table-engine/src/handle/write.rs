//! Writes of a table, and what they are sealed with.

use std::time::Duration;

use super::table::DynamicTable;
#[cfg(feature = "async")]
use crate::asynchronous::BoxFuture;
use crate::error::{Error, ErrorKind, Result};
#[cfg(feature = "async")]
use crate::executor::AsyncBackend;
use crate::executor::{Loader, OnCommitted, Precedence, telemetry};
use crate::model::{DynamicEntity, ETag, IfMatch, ValueRef};
use crate::plan::{self, Act, Committed, Condition, Failure, Group, Plan, Refused, RowWrite};
use crate::schema::{Blind, Field, TOKEN_BYTES};
use crate::sealing::{self, SealedAt, Sealer};
use crate::telemetry::Messages;

impl DynamicTable {
    /// Returns the sealer of a plan that is carried out.
    pub(crate) fn sealer(&self) -> Sealer<'_> {
        Sealer::new(self.exec().id(), self.exec().store())
    }

    /// Returns the sealer of a plan that is only shown: it gives bytes of the right length.
    pub(crate) fn dry_run_sealer(&self) -> Sealer<'_> {
        Sealer::dry_run(self.exec().id(), self.exec().store())
    }

    /// Returns the tokens that a field's value can have been filed under in a partition, newest first: one for each key that is
    /// alive.
    pub(crate) fn live_tokens(
        &self,
        partition: &str,
        field: &Field,
        blind: Blind,
        value: ValueRef<'_>,
    ) -> Result<Vec<[u8; TOKEN_BYTES]>> {
        Sealer::new(self.exec().id(), self.exec().store()).live_tokens(partition, field, blind, value)
    }

    /// Returns the generation of the keys, which a lookup by tokens must see unchanged before and after.
    pub(crate) fn keys_generation(&self) -> Result<u64> {
        sealing::generation(self.exec().store())
    }

    /// Removes a row as it is. Returns the version of the commit.
    pub(crate) fn remove(&self, partition_key: &str, row_key: &str, condition: IfMatch) -> Result<ETag> {
        self.write_row(partition_key, &plan::removal(row_key, condition, 0))
    }

    /// Writes a row as it is.
    pub(crate) fn write(&self, condition: Condition, act: Act<()>, entity: &DynamicEntity) -> Result<ETag> {
        let properties = plan::borrowed(entity.entries());
        self.write_row(entity.partition_key(), &plan::write(condition, act, entity, &properties, 0))
    }

    /// Carries out the write of one row by its properties.
    fn write_row(&self, partition: &str, row: &RowWrite<'_>) -> Result<ETag> {
        let operation = telemetry::write(self.exec(), row);
        let _entered = operation.enter();
        if let Some(done) = self.exec().write(partition, row, self.is_raw()) {
            let words = row.act.describe(row.condition);
            let done = done.inspect_err(|error| telemetry::failed(self.exec(), error.kind()));
            return done.map_err(|e| e.placed(words, self.name(), partition, Some(row.key)));
        }
        let group = Group::new(partition, vec![*row]);
        let done =
            self.write_group(group).map(|committed| committed.etag(0)).map_err(|refused| refused.error);
        done.map_err(|e| e.placed(row.act.describe(row.condition), self.name(), partition, Some(row.key)))
    }

    /// Carries out writes of rows by their properties, as one.
    pub(crate) fn write_group(&self, group: Group<'_>) -> Result<Committed, Refused> {
        self.write_sealed(group, &SealedAt::NOTHING)
    }

    /// Carries out writes of rows as [`write_group`](Self::write_group) does; `sealed_at` is of the keys that their values were
    /// sealed with.
    pub(crate) fn write_sealed(&self, group: Group<'_>, sealed_at: &SealedAt) -> Result<Committed, Refused> {
        let plan = Plan { groups: group.into(), is_raw: self.is_raw(), ..Plan::default() };
        let tables = std::slice::from_ref(self);
        commit(tables, &plan, sealed_at).map_err(|refused| match refused.row {
            Some(_) => placed(tables, &plan, refused),
            // What was attempted is the caller's to say: a batch, or the write of one row.
            None => refused,
        })
    }

    /// Hands writes of rows to the store, which carries them out as one and has `done` called.
    pub(crate) fn submit_group(
        &self,
        group: Group<'_>,
        sealed_at: &SealedAt,
        done: OnCommitted,
    ) -> Result<(), Refused> {
        let plan = Plan { groups: group.into(), is_raw: self.is_raw(), ..Plan::default() };
        let tables = std::slice::from_ref(self);
        submit(tables, &plan, sealed_at, done).map_err(|refused| match refused.row {
            Some(_) => placed(tables, &plan, refused),
            None => refused,
        })
    }

    /// Returns what carries out many planned changes of this table.
    pub(crate) fn loader(&self) -> Box<dyn Loader + '_> {
        let one_by_one = || Box::new(OneByOne { table: self, done: Vec::new() });
        let family: Vec<_> = self.family().iter().map(Self::exec).collect();
        self.exec().loader(&family).unwrap_or_else(|| one_by_one())
    }

    /// Returns the turn of a change that others have been too quick for, if it comes within so long.
    pub(crate) fn precedence(&self, patience: Duration) -> Option<Precedence<'_>> {
        self.exec().store().retry_fairness().take(patience)
    }
}

/// Carries out a planned change of these tables of one store, whole or not at all; `sealed_at` is of the keys that its
/// values were sealed with.
pub(crate) fn carry_out(
    tables: &[DynamicTable],
    plan: &Plan<'_>,
    sealed_at: &SealedAt,
) -> Result<Committed, Failure> {
    commit(tables, plan, sealed_at).map_err(|refused| failure(tables, plan, sealed_at, refused))
}

/// Returns why a planned change was refused, in the words of its entities.
#[cold]
pub(crate) fn failure(
    tables: &[DynamicTable],
    plan: &Plan<'_>,
    sealed_at: &SealedAt,
    refused: Refused,
) -> Failure {
    let failure = plan.explain_refusal(located(tables, plan, refused));
    Failure { was_stale: failure.was_stale || sealed_at.is_stale(), ..failure }
}

/// Says of the refusal of a plan where it is. That of one that writes a single row is about that row, whatever is wrong.
#[cold]
pub(crate) fn located(tables: &[DynamicTable], plan: &Plan<'_>, refused: Refused) -> Refused {
    let of_group = plan.groups.get(refused.group).map(|group| group.rows.as_slice());
    let row = refused.row.or_else(|| matches!(of_group, Some([_])).then_some(0));
    Refused { row: refused.row, ..placed(tables, plan, Refused { row, ..refused }) }
}

/// Carries out a plan. The answer has a version for each of its operations.
fn commit(tables: &[DynamicTable], plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<Committed, Refused> {
    let first = first_of(tables)?;
    let store = first.exec().store();
    let operation = telemetry::commit(first.exec(), plan);
    let _entered = operation.enter();
    let checked = store.abilities().check(plan);
    let committed = checked.and_then(|()| match tables {
        [table] => store.commit(&[table.exec()], plan, sealed_at),
        tables => {
            let tables: Vec<_> = tables.iter().map(DynamicTable::exec).collect();
            store.commit(&tables, plan, sealed_at)
        }
    });
    let committed = committed.inspect_err(|refused| telemetry::failed(first.exec(), refused.error.kind()))?;
    telemetry::messages(store, || Messages::asked(&plan.queue_ops));
    Ok(committed.by_operations(plan))
}

/// Returns the first of these tables.
fn first_of(tables: &[DynamicTable]) -> Result<&DynamicTable, Refused> {
    let none = || Error::new(ErrorKind::TableNotFound).because("the plan comes with no table");
    tables.first().ok_or_else(|| Refused::whole(none()))
}

/// Hands a plan to the store, which has `done` called with what has become of it.
pub(crate) fn submit(
    tables: &[DynamicTable],
    plan: &Plan<'_>,
    sealed_at: &SealedAt,
    done: OnCommitted,
) -> Result<(), Refused> {
    let first = first_of(tables)?;
    let store = first.exec().store();
    let operation = telemetry::commit(first.exec(), plan);
    let (_measured, done) = (operation.measure(), telemetry::until_answered(&operation, done));
    let checked = store.abilities().check(plan);
    let taken = checked.and_then(|()| match tables {
        [table] => store.submit(&[table.exec()], plan, sealed_at, done),
        tables => {
            let tables: Vec<_> = tables.iter().map(DynamicTable::exec).collect();
            store.submit(&tables, plan, sealed_at, done)
        }
    });
    taken.inspect_err(|refused| telemetry::failed(first.exec(), refused.error.kind()))
}

/// Hands a plan to a store that answers later.
#[cfg(feature = "async")]
pub(crate) fn begin<'b>(
    backend: &'b dyn AsyncBackend,
    tables: &[DynamicTable],
    plan: &Plan<'_>,
    sealed_at: &SealedAt,
) -> Result<BoxFuture<'b, Result<Committed, Refused>>, Refused> {
    let first = first_of(tables)?;
    let operation = telemetry::commit(first.exec(), plan);
    let checked = first.exec().store().abilities().check(plan);
    checked.inspect_err(|refused| telemetry::failed(first.exec(), refused.error.kind()))?;
    let tables: Vec<_> = tables.iter().map(DynamicTable::exec).collect();
    let committed = backend.commit(&tables, plan, sealed_at);
    Ok(Box::pin(async move {
        let answered = committed.await;
        if let Err(refused) = &answered {
            operation.failed(refused.error.kind());
        }
        answered
    }))
}

/// Says of a refusal where it is, if the executor left that out.
#[cold]
fn placed(tables: &[DynamicTable], plan: &Plan<'_>, refused: Refused) -> Refused {
    let Refused { error, group, row } = refused;
    let found = row.and_then(|row| plan.row(group, row));
    let planned = plan.groups.get(group);
    let words = found.map_or("commit a batch to", |row| row.act.describe(row.condition));
    let (table, partition) = planned.map_or((0, ""), |group| (group.table, group.partition));
    let table = tables.get(table).map_or("", DynamicTable::name);
    let error = error.placed(words, table, partition, found.map(|row| row.key));
    Refused { error, group, row }
}

/// For an executor to which many plans are no more than each of them.
struct OneByOne<'t> {
    table: &'t DynamicTable,
    done: Vec<Result<(), Refused>>,
}

impl Loader for OneByOne<'_> {
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        let tables = self.table.family();
        let done = commit(tables, plan, sealed_at).map_err(|refused| located(tables, plan, refused));
        self.done.push(done.map(drop));
        Ok(())
    }

    fn is_full(&self) -> bool {
        !self.done.is_empty()
    }

    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>> {
        Ok(std::mem::take(&mut self.done))
    }
}
