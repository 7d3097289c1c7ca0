//! The deferred copies of a plan, as work on entries of the outbox.

use std::sync::Arc;

use table_engine::error::{Error, ErrorKind, Result};
use table_engine::outbox::{CopyKey, Source, keys};
use table_engine::plan::{CopyPlace, DeferredDependents, Follow, OutboxOp};
use table_engine::row::key;

use crate::queues::{EntryWork, Work};
use crate::records::catalog::TableState;

/// The longest key that the database takes.
const LONGEST: usize = 1_982;

/// Returns the work that an outbox operation of a plan is. A copy whose keys are not valid is refused with the change
/// of its entity.
pub(super) fn of(outbox_op: &OutboxOp, tables: &[&Arc<TableState>]) -> Result<Work> {
    match outbox_op {
        OutboxOp::Follow(follow) => self::follow(follow, tables),
        OutboxOp::DeferredDependents(hold) => self::hold(hold, tables),
        OutboxOp::Advance(source, version, reached) => {
            Ok(Work::Entry(of_source(source), EntryWork::Advance(*version, reached.clone())))
        }
        OutboxOp::Propagate(source, version) => {
            Ok(Work::Entry(of_source(source), EntryWork::Propagate(*version)))
        }
        OutboxOp::Fail(source, version, error) => {
            Ok(Work::Entry(of_source(source), EntryWork::Fail(*version, error.clone())))
        }
        OutboxOp::Arm(source, version) => Ok(Work::Entry(of_source(source), EntryWork::Arm(*version))),
    }
}

fn of_source(source: &Source) -> Vec<u8> {
    keys::entry(&key::stored(source.table, &source.partition, &source.row))
}

fn follow(follow: &Follow, tables: &[&Arc<TableState>]) -> Result<Work> {
    let Follow { table, partition, row, kind, before, wanted, without } = follow;
    for copy in wanted {
        let checked = key::check_partition(&copy.partition)
            .and_then(|()| key::check_printed_row(&copy.partition, &copy.row));
        checked.map_err(|error| {
            error.attempted("write to").table(&copy.table).partition(&copy.partition).row(&copy.row)
        })?;
    }
    let named = |copy: &CopyPlace| {
        let CopyPlace { index, partition, row, .. } = copy;
        CopyKey { index: (*index).to_owned(), partition: partition.clone(), row: row.clone() }
    };
    let before = before.iter().map(named).collect();
    let work = EntryWork::Follow { kind, before, without: without.clone() };
    Ok(Work::Entry(key_of(*table, partition, row, tables)?, work))
}

fn hold(hold: &DeferredDependents, tables: &[&Arc<TableState>]) -> Result<Work> {
    let DeferredDependents { table, partition, row, kind, dependents } = hold;
    let work = EntryWork::DeferredDependents { kind, dependents: dependents.clone() };
    Ok(Work::Entry(key_of(*table, partition, row, tables)?, work))
}

/// Returns the key of the entry of an entity in one of the tables that are handed over with the plan.
fn key_of(table: usize, partition: &str, row: &str, tables: &[&Arc<TableState>]) -> Result<Vec<u8>> {
    let table = tables.get(table).ok_or_else(|| {
        Error::new(ErrorKind::TableNotFound).because("the plan is of a table that was not given")
    })?;
    let stored = key::stored(table.id, partition, row);
    if stored.len() >= LONGEST {
        let because = "the entity's keys leave no room for the note that its copies are to follow";
        let error = Error::new(ErrorKind::KeyTooLong).because(because).attempted("write to");
        return Err(error.table(&table.name).partition(partition).row(row));
    }
    Ok(keys::entry(&stored))
}
