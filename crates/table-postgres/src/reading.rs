//! The rows that a plan must read before it writes: which they are, and what becomes of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use table_engine::__executor::{self as executor, LayoutTexts, Refused};
use table_engine::Result;
use tokio_postgres::Row;

use crate::adding::{OldRow, added, merged};
use crate::body::Body;
use crate::catalog::column;
use crate::connection::Call;
use crate::failed::Failed;
use crate::keys::unescape;
use crate::param::{Param, Params};
use crate::statement::{self, Becomes, Op};
use crate::store::PostgresStore;
use crate::table::{TableEntry, properties};
use crate::work::{Demand, RowVersion, Work, WorkAct, WorkRow, checksum};

/// Rows that were there, by their table's place and their stored keys.
pub(crate) type OldRows = HashMap<(usize, String, String), OldRow>;

/// What the layouts of a plan's tables say, as far as they were asked: of each table the generation and the texts.
pub(crate) type Known = BTreeMap<usize, (i64, Arc<LayoutTexts>)>;

/// What a plan must read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) store: &'a PostgresStore,
    pub(crate) work: &'a Work,
    /// Whether the rows that must be those that were read are looked at.
    pub(crate) looks: bool,
}

impl Reading<'_> {
    /// Returns the tables whose rows are read before anything is written, and the statements that come first, if any do: that
    /// which locks partitions, and then the reads, one for each of those tables.
    pub(crate) fn first_calls(self, known: &Known) -> (Vec<usize>, Vec<Call>) {
        let mut calls = Vec::new();
        let mut wanted: BTreeMap<usize, Vec<(&str, &str)>> = BTreeMap::new();
        for row in &self.work.rows {
            let has_layouts = known.get(&row.table).is_some_and(|(_, layouts)| !layouts.is_empty());
            let is_examined = !row.is_declared && has_layouts;
            if is_examined || self.reads(row) {
                wanted.entry(row.table).or_default().push((&row.partition, &row.row));
            }
        }
        let mut tables = Vec::new();
        for (table, mut keys) in wanted {
            let Some(entry) = self.work.tables.get(table) else { continue };
            // In one order for all plans, so that two seldom wait for each other.
            keys.sort_unstable();
            calls.push(lock_rows(entry, &keys));
            tables.push(table);
        }
        let is_alone = self.work.demands_absence();
        if is_alone || !calls.is_empty() {
            // Before any row: a plan that has the partition for itself, and waits for a row, would wait for this one for ever.
            calls.insert(0, statement::locks(self.work, self.store.identity.cast_signed(), is_alone));
        }
        (tables, calls)
    }

    /// Returns whether a row is read for what becomes of it, or for what must be so of it.
    fn reads(self, row: &WorkRow) -> bool {
        let is_added_to = matches!(row.act, WorkAct::Merge(_) | WorkAct::Add(_));
        is_added_to || self.looks && matches!(row.demand, Demand::Is(_))
    }

    pub(crate) fn take_old(self, table: usize, rows: &[Row], old: &mut OldRows) -> Result<(), Failed> {
        for row in rows {
            let read = || -> Result<_> {
                let (partition, key): (String, String) = (column(row, 0)?, column(row, 1)?);
                let (time, again) = (column(row, 2)?, column::<Option<i32>>(row, 5)?.unwrap_or_default());
                let mut version = RowVersion { time, again, checksum: None };
                if (self.looks || again != 0)
                    && let Some(entry) = self.work.tables.get(table)
                {
                    let packed = entry.pack(&unescape(&partition), &unescape(&key), row, 2)?;
                    version.checksum = Some(checksum(&packed)?);
                }
                let owned = properties(row, 3)?
                    .into_iter()
                    .map(|(name, value)| (name.into_owned(), value.into_value()));
                let properties = owned.collect();
                Ok(((table, partition, key), OldRow { version, properties }))
            };
            let (keys, row) = read().map_err(Refused::whole)?;
            self.store.clock.observe(row.version.time);
            old.insert(keys, row);
        }
        Ok(())
    }

    /// Returns what becomes of each row, from what is there; `has_read` says whether rows were locked and read.
    pub(crate) fn ops(self, known: &Known, old: &OldRows, has_read: bool) -> Result<Vec<Op>, Refused> {
        let mut ops = Vec::with_capacity(self.work.rows.len());
        for (of, row) in self.work.rows.iter().enumerate() {
            let layouts =
                known.get(&row.table).filter(|(_, layouts)| !row.is_declared && !layouts.is_empty());
            let is_read = layouts.is_some() || self.reads(row);
            let old = if has_read && is_read {
                old.get(&(row.table, row.partition.clone(), row.row.clone()))
            } else {
                None
            };
            if is_read {
                row.demand.check(old.map(|old| old.version)).map_err(|error| row.refused(error))?;
            }
            if let Some((_, layouts)) = layouts {
                for kind in old.and_then(OldRow::kind).into_iter().chain(row.kind.as_deref()) {
                    executor::check_by_properties(layouts, kind).map_err(|error| row.refused(error))?;
                }
            }
            let becomes = match &row.act {
                WorkAct::Keep => Ok(Becomes::Kept),
                WorkAct::Remove => Ok(Becomes::Gone),
                WorkAct::Put(Body { kind, json }) => {
                    Ok(Becomes::Written(Body { kind: kind.clone(), json: json.clone() }))
                }
                WorkAct::Merge(properties) => merged(&row.partition_key, &row.row_key, old, properties),
                WorkAct::Add(amounts) => added(amounts, old),
            };
            let becomes = becomes.map_err(|error| row.refused(error))?;
            // What was read is locked, if it was there; if it was not, it is not to come in between.
            let demand = match (old, &becomes) {
                _ if !is_read => row.demand,
                (Some(old), Becomes::Kept) if matches!(row.demand, Demand::Is(_)) => Demand::Is(old.version),
                (_, Becomes::Kept) => row.demand,
                (Some(old), _) => Demand::Is(old.version),
                (None, Becomes::Written(_)) => Demand::Absent,
                (None, Becomes::Gone) => Demand::Nothing,
            };
            ops.push(Op { of, demand, becomes });
        }
        Ok(ops)
    }
}

/// Returns the statement that reads rows of these stored keys, and locks them.
fn lock_rows(entry: &TableEntry, keys: &[(&str, &str)]) -> Call {
    let mut params = Params::default();
    let sql = if let [(partition, row)] = keys {
        let (partition, row) = (params.add((*partition).into()), params.add((*row).into()));
        format!(
            "SELECT pk, rk, ts, kind, body, again FROM {} WHERE pk = {partition} AND rk = {row} FOR UPDATE",
            entry.rows
        )
    } else {
        let (partitions, rows) =
            keys.iter().map(|(partition, row)| ((*partition).to_owned(), (*row).to_owned())).unzip();
        let (partitions, rows) = (params.add(Param::Texts(partitions)), params.add(Param::Texts(rows)));
        format!(
            "SELECT t.pk, t.rk, t.ts, t.kind, t.body, t.again FROM unnest({partitions}, {rows}) AS n(a, b), {} AS t \
             WHERE t.pk = a AND t.rk = b ORDER BY t.pk, t.rk FOR UPDATE OF t",
            entry.rows
        )
    };
    Call { sql, params }
}
