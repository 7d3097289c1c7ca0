//! The rows that a plan must read before it writes: which they are, and what becomes of them.

use std::collections::{BTreeMap, HashMap};

use table_engine::__executor::{self as executor, LayoutTexts, Refused};
use table_engine::Result;
use tokio_postgres::Row;

use crate::adding::{OldRow, added, merged};
#[cfg(feature = "blob")]
use crate::blobs;
use crate::body::ReadBody;
use crate::catalog::column;
use crate::connection::Call;
#[cfg(feature = "blob")]
use crate::connection::Connection;
use crate::demand::{Demand, RowVersion};
use crate::failed::Failed;
#[cfg(feature = "blob")]
use crate::failed::before;
use crate::keys::unescape;
use crate::op::{Becomes, Op};
use crate::outbox::{PlanEntries, Settled};
use crate::plan_kinds::PlanKinds;
use crate::store::PostgresStore;
use crate::table::content;
use crate::work::{Work, WorkAct, WorkRow, checksum};

/// Rows that were there, by their table's place and their stored keys.
pub(crate) type OldRows = HashMap<(usize, String, String), OldRow>;

/// What a plan must read.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) store: &'a PostgresStore,
    pub(crate) work: &'a Work,
    /// What is noted of the kinds that the plan relies on.
    pub(crate) kinds: Option<&'a PlanKinds>,
    /// Whether the rows that must be those that were read are looked at.
    pub(crate) looks: bool,
    /// Whether rows of its tables are known to refer to blobs, so that references are counted.
    #[cfg(feature = "blob")]
    pub(crate) counts_references: bool,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(
        store: &'a PostgresStore,
        work: &'a Work,
        kinds: Option<&'a PlanKinds>,
        looks: bool,
    ) -> Self {
        Self {
            store,
            work,
            kinds,
            looks,
            #[cfg(feature = "blob")]
            counts_references: work.tables.iter().any(|entry| entry.has_references.is_known()),
        }
    }

    /// Returns the tables whose rows are read before anything is written, and the statements that read and lock those, one for
    /// each of them. Behind them comes the one that reads the entries of the outbox that the plan settles, if it does.
    pub(crate) fn first_calls(self) -> (Vec<usize>, Vec<Call>) {
        let mut calls = Vec::new();
        let mut wanted: BTreeMap<usize, Vec<(&str, &str)>> = BTreeMap::new();
        for row in &self.work.rows {
            if self.layouts(row).is_some() || self.reads(row) {
                wanted.entry(row.table).or_default().push((&row.partition, &row.row));
            }
        }
        let mut tables = Vec::new();
        for (table, mut keys) in wanted {
            let Some(entry) = self.work.tables.get(table) else { continue };
            // In one order for all plans, so that two seldom wait for each other.
            keys.sort_unstable();
            calls.push(entry.lock_rows(&keys));
            tables.push(table);
        }
        calls.extend(self.settling().and_then(|entries| entries.read(&self.store.outbox)));
        (tables, calls)
    }

    /// Returns what the plan does to the outbox, if it settles entries that are there.
    fn settling(self) -> Option<&'a PlanEntries> {
        self.work.entries.as_ref().filter(|entries| entries.settles())
    }

    /// Takes the last of the answers to the statements that come first, if it is of the outbox; returns what is left of the
    /// entries that the plan settles.
    pub(crate) fn settle(self, answers: &mut Vec<Vec<Row>>) -> Result<Settled, Failed> {
        let Some(entries) = self.settling() else { return Ok(Settled::default()) };
        Ok(entries.settle(&answers.pop().unwrap_or_default())?)
    }

    /// Returns the layouts by which a row is examined that is written by its properties, if there are any.
    fn layouts(&self, row: &WorkRow) -> Option<&LayoutTexts> {
        // A row that only stays as it is is not written.
        if row.is_declared || self.work.is_raw || matches!(row.act, WorkAct::Keep) {
            return None;
        }
        self.kinds?.layouts(row.table)
    }

    /// Returns whether a row is read for what becomes of it, or for what must be so of it.
    fn reads(self, row: &WorkRow) -> bool {
        let is_added_to = matches!(row.act, WorkAct::Merge(_) | WorkAct::Add(_));
        // What another writer has put there meanwhile may refer to other blobs, which its references to count would not show.
        #[cfg(feature = "blob")]
        let is_added_to = is_added_to
            || (row.refers || self.counts_references && !matches!(row.act, WorkAct::Keep))
                && matches!(row.demand, Demand::Nothing | Demand::Present);
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
                let ReadBody { properties, digest } = content(row, 3)?;
                let owned =
                    properties.into_iter().map(|(name, value)| (name.into_owned(), value.into_value()));
                let (properties, is_signed) = (owned.collect(), digest.is_some());
                let old = OldRow { version, properties, is_signed, list: None };
                Ok(((table, partition, key), old))
            };
            let (keys, row) = read().map_err(Refused::whole)?;
            self.store.clock.observe(row.version.time);
            old.insert(keys, row);
        }
        Ok(())
    }

    /// Reads the texts of lists that are added to and that their rows have no room for.
    #[cfg(feature = "blob")]
    pub(crate) async fn read_lists(self, connection: &Connection, old: &mut OldRows) -> Result<(), Failed> {
        if self.work.rows.iter().any(|row| matches!(row.act, WorkAct::Add(_))) {
            let read = blobs::read_lists(connection, &self.store.blobs, old.values_mut()).await;
            read.map_err(before)?.map_err(Refused::whole)?;
        }
        Ok(())
    }

    /// Returns what becomes of each row, from what is there; `has_read` says whether rows were locked and read.
    pub(crate) fn ops(self, old: &OldRows, has_read: bool) -> Result<Vec<Op>, Refused> {
        let mut ops = Vec::with_capacity(self.work.rows.len());
        for (of, row) in self.work.rows.iter().enumerate() {
            let layouts = self.layouts(row);
            let is_read = layouts.is_some() || self.reads(row);
            let old = if has_read && is_read {
                old.get(&(row.table, row.partition.clone(), row.row.clone()))
            } else {
                None
            };
            let check_kind = |kind: Option<&str>| match (layouts, kind) {
                (Some(layouts), Some(kind)) => executor::check_by_properties(layouts, kind),
                _ => Ok(()),
            };
            if let Some(kinds) = self.kinds.filter(|_| !row.is_declared) {
                let checked = kinds.check_by_properties(row.table, row.kind.as_deref(), self.work.is_raw);
                checked.map_err(|error| row.refused(error))?;
            }
            if is_read {
                row.demand.check(old.map(|old| old.version)).map_err(|error| row.refused(error))?;
            }
            check_kind(old.and_then(OldRow::kind)).map_err(|error| row.refused(error))?;
            let becomes = match &row.act {
                WorkAct::Keep => Ok(Becomes::Kept),
                WorkAct::Remove => Ok(Becomes::Gone),
                WorkAct::Put(body) => Ok(Becomes::Written(body.clone())),
                WorkAct::Merge(properties) => merged(&row.partition_key, &row.row_key, old, properties),
                WorkAct::Add(amounts) => added(amounts, old, &self.store.bytes),
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

    /// Returns a time that is later than those of all rows that are known to be there.
    pub(crate) fn time_after(self, ops: &[Op]) -> i64 {
        for op in ops {
            if let Demand::Tag(time) | Demand::Is(RowVersion { time, .. }) = op.demand {
                self.store.clock.observe(time);
            }
        }
        self.store.clock.next()
    }
}
