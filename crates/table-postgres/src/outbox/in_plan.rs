//! What a plan does to entries: records that it adds, and entries that it settles, as parts of its statement.

use std::sync::Arc;

use table_engine::__executor::{self as executor, CopyKey, CopyPlace, Follow, OutboxOp, Refused, Source};
use table_engine::outbox::OutboxRecord;
use table_engine::row::key;
use table_engine::{Error, ErrorKind, Result, Ticks};
use tokio_postgres::Row;

use super::entry::Entry;
use crate::builder::Builder;
use crate::catalog::column;
use crate::connection::Call;
use crate::error::missing;
use crate::keys::escape;
use crate::param::{Param, Params};
use crate::table::TableEntry;

/// What a plan does to the outbox.
pub(crate) struct PlanEntries {
    /// The records that it adds, whatever is there.
    news: Vec<Record>,
    /// What becomes of entries that are there.
    settled: Vec<(Keys, OutboxOp)>,
}

/// A record that is to be written.
struct Record {
    keys: Keys,
    is_base: bool,
    body: Vec<u8>,
}

/// The number of an entity's table, and its stored keys.
#[derive(Clone, PartialEq)]
struct Keys {
    table: i64,
    partition: String,
    row: String,
}

/// What is left of the entries that a plan settles: the numbers of the records that go, and the records in their place.
#[derive(Default)]
pub(crate) struct Settled {
    gone: Vec<(Keys, i64)>,
    left: Vec<Record>,
}

impl Keys {
    fn of(table: u32, partition: &str, row: &str) -> Self {
        Self { table: table.into(), partition: escape(partition).into_owned(), row: escape(row).into_owned() }
    }
}

impl PlanEntries {
    /// Returns what a plan does to the outbox; `None` if nothing.
    pub(crate) fn of(ops: &[OutboxOp], tables: &[Arc<TableEntry>]) -> Result<Option<Self>> {
        if ops.is_empty() {
            return Ok(None);
        }
        let (mut news, mut settled) = (Vec::new(), Vec::new());
        let now = Ticks::now();
        let keys = |table: usize, partition: &str, row: &str| {
            let entry = tables.get(table).ok_or_else(missing)?;
            Ok::<_, Error>(Keys::of(entry.id, partition, row))
        };
        for op in ops {
            match op {
                OutboxOp::Follow(follow) => {
                    check_wanted(follow)?;
                    let before: Vec<_> = follow.before.iter().map(named).collect();
                    let mut record = OutboxRecord::new(follow.kind, now);
                    record.take(follow.kind, &before, &follow.without, now);
                    let keys = keys(follow.table, &follow.partition, &follow.row)?;
                    news.push(Record { keys, is_base: false, body: record.encode() });
                }
                OutboxOp::DeferredDependents(of) => {
                    let mut record = OutboxRecord::new(of.kind, now);
                    record.take_dependents(of.kind, &of.dependents, now);
                    let keys = keys(of.table, &of.partition, &of.row)?;
                    news.push(Record { keys, is_base: false, body: record.encode() });
                }
                OutboxOp::Propagate(source, _)
                | OutboxOp::Advance(source, _, _)
                | OutboxOp::Fail(source, _, _)
                | OutboxOp::Arm(source, _) => {
                    let Source { table, partition, row } = source;
                    settled.push((Keys::of(*table, partition, row), op.clone()));
                }
            }
        }
        Ok(Some(Self { news, settled }))
    }

    /// Returns whether something is to be propagated that was not before.
    pub(crate) fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// Returns whether it settles entries that are there.
    pub(crate) fn settles(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Returns the statement that reads the entries that it settles, and locks them; `None` if there are none.
    pub(crate) fn read(&self, outbox: &str) -> Option<Call> {
        if self.settled.is_empty() {
            return None;
        }
        let mut params = Params::default();
        let keys = || self.settled.iter().map(|(keys, _)| keys);
        let tables = params.add(Param::Numbers(keys().map(|keys| keys.table).collect()));
        let partitions = params.add(Param::Texts(keys().map(|keys| keys.partition.clone()).collect()));
        let rows = params.add(Param::Texts(keys().map(|keys| keys.row.clone()).collect()));
        let sql = format!(
            "SELECT o.table_id, o.pk, o.rk, o.number, o.is_base, o.body
             FROM unnest({tables}, {partitions}, {rows}) AS n(a, b, c), {outbox} AS o
             WHERE o.table_id = a AND o.pk = b AND o.rk = c
             ORDER BY o.table_id, o.pk, o.rk, o.is_base DESC, o.number FOR UPDATE OF o"
        );
        Some(Call { sql, params })
    }

    /// Returns what is left of the entries that it settles, from the answer to that. An entry that is another by now is refused.
    pub(crate) fn settle(&self, answer: &[Row]) -> Result<Settled, Refused> {
        let mut all = Settled::default();
        for (keys, op) in &self.settled {
            let mut entry = Entry::default();
            for row in answer {
                if is_of(row, keys).map_err(Refused::whole)? {
                    entry.take(row, 3).map_err(Refused::whole)?;
                }
            }
            let version = match op {
                OutboxOp::Propagate(_, version)
                | OutboxOp::Advance(_, version, _)
                | OutboxOp::Fail(_, version, _)
                | OutboxOp::Arm(_, version) => *version,
                OutboxOp::Follow(_) | OutboxOp::DeferredDependents(_) => continue,
            };
            let found = entry.version();
            let Entry { numbers, record } = entry;
            let Some(mut record) = record.filter(|_| found == version) else {
                return Err(Refused::whole(overtaken()));
            };
            // Clocks of processes differ, and an entry's times do not go back.
            let now = Ticks::now().max(record.latest);
            match op {
                OutboxOp::Advance(_, _, reached) => record.advance(reached, now),
                OutboxOp::Fail(_, _, error) => record.fail(error, now),
                OutboxOp::Arm(..) => record.arm(now),
                _ => record.propagate(now),
            }
            all.gone.extend(numbers.into_iter().map(|number| (keys.clone(), number)));
            if !record.is_done() {
                all.left.push(Record { keys: keys.clone(), is_base: true, body: record.encode() });
            }
        }
        Ok(all)
    }

    /// Adds the parts that write the records.
    pub(crate) fn add_to(&self, builder: &mut Builder, outbox: &str, settled: &Settled) {
        if !settled.gone.is_empty() {
            let (mut tables, mut partitions, mut rows, mut numbers) = (vec![], vec![], vec![], vec![]);
            for (keys, number) in &settled.gone {
                tables.push(keys.table);
                partitions.push(keys.partition.clone());
                rows.push(keys.row.clone());
                numbers.push(*number);
            }
            let tables = builder.params.add(Param::Numbers(tables));
            let partitions = builder.params.add(Param::Texts(partitions));
            let rows = builder.params.add(Param::Texts(rows));
            let numbers = builder.params.add(Param::Numbers(numbers));
            let part = builder.part(&format!(
                "DELETE FROM {outbox} AS o USING unnest({tables}, {partitions}, {rows}, {numbers}) AS n(a, b, c, d)
                 WHERE o.table_id = a AND o.pk = b AND o.rk = c AND o.number = d RETURNING 1"
            ));
            builder.demands.push(format!("(SELECT count(*) FROM {part}) = cardinality({numbers})"));
        }
        let written: Vec<_> = self.news.iter().chain(&settled.left).collect();
        if written.is_empty() {
            return;
        }
        let params = &mut builder.params;
        let tables = params.add(Param::Numbers(written.iter().map(|record| record.keys.table).collect()));
        let texts = |of: fn(&Keys) -> &String| {
            Param::Texts(written.iter().map(|record| of(&record.keys).clone()).collect())
        };
        let partitions = params.add(texts(|keys| &keys.partition));
        let rows = params.add(texts(|keys| &keys.row));
        let bases = written.iter().map(|record| i64::from(record.is_base)).collect();
        let bases = params.add(Param::Numbers(bases));
        let bodies = written.iter().map(|record| Some(record.body.clone())).collect();
        let bodies = params.add(Param::MaybeBytes(bodies));
        builder.part(&format!(
            "INSERT INTO {outbox} (table_id, pk, rk, is_base, body)
             SELECT a, b, c, d = 1, e FROM unnest({tables}, {partitions}, {rows}, {bases}, {bodies}) AS n(a, b, c, d, e)"
        ));
    }
}

fn is_of(row: &Row, keys: &Keys) -> Result<bool> {
    Ok(column::<i64>(row, 0)? == keys.table
        && column::<&str>(row, 1)? == keys.partition
        && column::<&str>(row, 2)? == keys.row)
}

fn named(copy: &CopyPlace) -> CopyKey {
    let CopyPlace { index, partition, row, .. } = copy;
    CopyKey { index: (*index).to_owned(), partition: partition.clone(), row: row.clone() }
}

/// Refuses the change of an entity a copy of which could not be written.
fn check_wanted(follow: &Follow) -> Result<()> {
    for copy in &follow.wanted {
        let checked = key::check_partition(&copy.partition)
            .and_then(|()| key::check_printed_row(&copy.partition, &copy.row));
        checked.map_err(|error| {
            error.attempted("write to").table(&copy.table).partition(&copy.partition).row(&copy.row)
        })?;
    }
    Ok(())
}

#[cold]
fn overtaken() -> Error {
    let because = "what was to follow is another by now, or has been seen to";
    executor::error(ErrorKind::ConditionNotMet, because)
}
