//! What did not hold of a plan that the server has refused: the rows are looked at once more, all at one moment.

use std::collections::HashMap;

use table_engine::__executor::{self as executor, Refused};
use table_engine::{ErrorKind, Result};

#[cfg(feature = "blob")]
use crate::blobs;
use crate::catalog::column;
use crate::connection::{Call, Connection};
use crate::demand::RowVersion;
use crate::failed::{Failed, before};
use crate::param::{Param, Params};
#[cfg(feature = "queue")]
use crate::queues::PlanMessages;
use crate::reading::Reading;
use crate::snapshot;
use crate::statement::digest;
use crate::table::TableEntry;
#[cfg(feature = "blob")]
use crate::unreferenced;
use crate::work::{Work, WorkRow};

/// Looks at what a refused plan demands.
#[derive(Clone, Copy)]
pub(crate) struct Diagnosis<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) reading: Reading<'a>,
    /// Whether a transaction has begun that goes on.
    pub(crate) is_within: bool,
}

impl Diagnosis<'_> {
    /// Returns why the plan is refused.
    pub(crate) async fn failure(self) -> Failed {
        match self.look().await {
            Ok(Some(refused)) => Failed::Refused(refused),
            // What was demanded holds by now, or what was read is another: it is planned and sent again.
            Ok(None) => Failed::Again,
            Err(failed) => failed,
        }
    }

    async fn look(self) -> Result<Option<Refused>, Failed> {
        let Reading { store, work, looks, .. } = self.reading;
        let mut calls: Vec<_> =
            work.tables.iter().enumerate().map(|(table, entry)| times(work, table, entry)).collect();
        for range in &work.ranges {
            let Some(entry) = work.tables.get(range.table) else { continue };
            calls.push(digest(entry, &range.partition_key, &range.prefix));
        }
        calls.push(store.catalog.generation());
        #[cfg(feature = "blob")]
        calls.extend(work.tables.iter().map(|entry| unreferenced::look(&store.blobs.references, entry.id)));
        #[cfg(feature = "blob")]
        let refers = blobs::missing(work, &store.blobs).map(|look| calls.push(look)).is_some();
        #[cfg(feature = "queue")]
        calls.extend(work.messages.iter().flat_map(PlanMessages::look));
        store.keys.ask_with(&mut calls);
        // All at one moment: a key that is taken since the entity itself was changed is no conflict, but a stale plan.
        let answers = if self.is_within {
            self.connection.query_all(&calls).await
        } else {
            self.connection.begin_and_query(snapshot::BEGIN, &calls).await
        };
        let mut answers = answers.map_err(before)?;
        store.keys.observe_last(&mut answers).map_err(Refused::whole)?;
        let mut answers = answers.iter();
        let mut found = HashMap::new();
        for (table, rows) in (0..work.tables.len()).zip(answers.by_ref()) {
            for row in rows {
                let read = || -> Result<(&str, &str, RowVersion)> {
                    let again = column::<Option<i32>>(row, 3)?.unwrap_or_default();
                    let version = RowVersion { time: column(row, 2)?, again, checksum: None };
                    Ok((column(row, 0)?, column(row, 1)?, version))
                };
                let (partition, key, version) = read().map_err(Refused::whole)?;
                store.clock.observe(version.time);
                found.insert((table, partition, key), version);
            }
        }
        let mut changed = Vec::new();
        for (range, rows) in work.ranges.iter().zip(answers.by_ref()) {
            let digest = rows.first().map(|row| column::<i64>(row, 0)).transpose().map_err(Refused::whole)?;
            if digest != Some(range.digest) {
                changed.push(range.group);
            }
        }
        let generation = answers.next().and_then(|rows| rows.first());
        if let Some(generation) = generation.map(|row| column(row, 0)).transpose().map_err(Refused::whole)? {
            store.correct_generation(generation);
            if self.reading.kinds.is_some_and(|kinds| kinds.generation != generation) {
                // What is noted of kinds is another: whatever else is so, it is examined anew.
                return Ok(None);
            }
        }
        #[cfg(feature = "blob")]
        for (entry, answer) in work.tables.iter().zip(answers.by_ref()) {
            entry.has_references.learn(answer).map_err(Refused::whole)?;
        }
        #[cfg(feature = "blob")]
        let missing_blob = match answers.by_ref().take(usize::from(refers)).next() {
            Some(answer) => blobs::refusal(work, answer, &store.bytes).map_err(Refused::whole)?,
            None => None,
        };
        let found = |row: &WorkRow| found.get(&(row.table, &*row.partition, &*row.row)).copied();
        let refused_row = work
            .rows
            .iter()
            .find_map(|row| row.demand.check(found(row)).err().map(|error| row.refused(error)));
        if refused_row.is_none() && !looks && work.rows.iter().any(|row| row.demand.hides(found(row))) {
            return Err(Failed::Hidden);
        }
        let refused_range = changed.into_iter().min().map(|group| {
            let error = executor::error(ErrorKind::ConditionNotMet, "rows have changed");
            Refused { error, group, row: None }
        });
        #[cfg(feature = "blob")]
        if refused_row.is_none() && refused_range.is_none() && missing_blob.is_some() {
            return Ok(missing_blob);
        }
        #[cfg(feature = "queue")]
        if refused_row.is_none() && refused_range.is_none() {
            return Ok(PlanMessages::refusal(answers).map_err(Refused::whole)?.map(Refused::whole));
        }
        // Groups are looked at in their order, and of each its rows first.
        Ok(match (refused_row, refused_range) {
            (Some(row), Some(range)) if range.group < row.group => Some(range),
            (Some(row), _) => Some(row),
            (None, range) => range,
        })
    }
}

/// Returns the statement that reads the times of the rows that the plan is of, in this table.
fn times(work: &Work, table: usize, entry: &TableEntry) -> Call {
    let of_table = work.rows.iter().filter(|row| row.table == table);
    let (partitions, rows) = of_table.map(|row| (row.partition.clone(), row.row.clone())).unzip();
    let mut params = Params::default();
    let (partitions, rows) = (params.add(Param::Texts(partitions)), params.add(Param::Texts(rows)));
    let sql = format!(
        "SELECT t.pk, t.rk, t.ts, t.again FROM unnest({partitions}, {rows}) AS n(a, b), {} AS t WHERE t.pk = a AND t.rk = b",
        entry.rows
    );
    Call { sql, params }
}
