//! One attempt to carry out a plan, on one connection.
//!
//! A plan whose rows need not be looked at is one statement, and one round trip. Otherwise rows are locked and read first, in the
//! transaction that the statement ends. A refusal of the server says that something did not hold, and not what: the rows are
//! looked at once more then, all at one moment, and say it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use table_engine::__executor::{self as executor, Committed, LayoutTexts, Refused};
use table_engine::{ErrorKind, Result};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row};

use crate::adding::{OldRow, added, merged};
use crate::body::Body;
use crate::catalog::{Catalog, column};
use crate::clock::etag;
use crate::connection::{Call, Connection};
use crate::error::{is_conflict, is_lost, of_server};
use crate::keys::unescape;
use crate::param::{Param, Params};
#[cfg(feature = "queue")]
use crate::queues::PlanMessages;
use crate::snapshot;
use crate::statement::{self, Becomes, Frame, Op, digest};
use crate::store::PostgresStore;
use crate::table::{TableEntry, properties};
use crate::token::Token;
use crate::work::{Demand, RowVersion, Work, WorkAct, WorkRow, checksum};

/// What has become of an attempt.
pub(crate) struct Attempted {
    pub(crate) outcome: Result<Committed, Failed>,
    /// Whether the connection is left in a transaction that is to be ended.
    pub(crate) is_open: bool,
}

/// Why an attempt has not succeeded.
pub(crate) enum Failed {
    Refused(Refused),
    /// The server chose another transaction, or what was read is not there any more.
    Again,
    /// Some row was written without a new time since it was read, or before: it has to be looked at.
    Hidden,
    /// The connection was lost before the answer came: this token says whether the plan was carried out.
    Lost(Token),
}

impl From<Refused> for Failed {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// Rows that were there, by their table's place and their stored keys.
type OldRows = HashMap<(usize, String, String), OldRow>;

/// What the layouts of a plan's tables say, as far as they were asked: of each table the generation and the texts.
type Known = BTreeMap<usize, (i64, Arc<LayoutTexts>)>;

/// Carries out a plan. With `looks`, the rows that must be those that were read are looked at.
pub(crate) async fn attempt(
    store: &PostgresStore,
    connection: &Connection,
    work: &Work,
    looks: bool,
) -> Attempted {
    let mut is_open = false;
    let outcome = Attempt { store, connection, work, looks }.run(&mut is_open).await;
    Attempted { outcome, is_open }
}

#[derive(Clone, Copy)]
struct Attempt<'a> {
    store: &'a PostgresStore,
    connection: &'a Connection,
    work: &'a Work,
    looks: bool,
}

impl Attempt<'_> {
    async fn run(self, is_open: &mut bool) -> Result<Committed, Failed> {
        let known = self.layouts().await?;
        let (wanted, calls) = self.first_calls(&known);
        let begins = !calls.is_empty();
        let mut old = OldRows::new();
        if begins {
            *is_open = true;
            let answers = self.connection.begin_and_query("BEGIN", &calls).await.map_err(before)?;
            // The locks are asked for before the rows.
            let first = answers.len().saturating_sub(wanted.len());
            for (place, answer) in answers.into_iter().enumerate() {
                let rows = answer.map_err(before)?;
                if let Some(table) = place.checked_sub(first).and_then(|at| wanted.get(at)) {
                    self.take_old(*table, &rows, &mut old)?;
                }
            }
        }
        let ops = self.ops(&known, &old, !wanted.is_empty())?;
        let token = self.store.token();
        let time = self.time_after(&ops);
        let frame = Frame {
            time,
            keeps_times: self.work.keeps_times,
            commits: &self.store.commits,
            session: token.session,
            number: token.number,
            shares_locks: !begins,
            identity: self.store.identity.cast_signed(),
            tables: &self.store.tables,
            generations: known
                .iter()
                .filter_map(|(table, (generation, _))| Some((self.work.tables.get(*table)?.id, *generation)))
                .collect(),
        };
        let statement = statement::of(self.work, ops, &frame);
        let done = if begins {
            let done = self.connection.query_and_commit(&statement).await;
            *is_open = false;
            done
        } else {
            self.connection.query(&statement).await.map(drop)
        };
        match done {
            Ok(()) => {
                self.store.tokens.remove_old(self.connection, &self.store.commits, token).await;
                Ok(Committed::at(etag(time)))
            }
            Err(error) if is_lost(&error) => Err(Failed::Lost(Token { time, ..token })),
            Err(error) if is_conflict(&error) => Err(Failed::Again),
            Err(error) if does_not_hold(&error) => {
                *is_open = true;
                Err(self.diagnose(&known).await)
            }
            Err(error) => Err(Refused::whole(of_server(error)).into()),
        }
    }

    /// Returns what is known of the layouts of the tables in which rows are written by their properties.
    async fn layouts(self) -> Result<Known, Failed> {
        let mut known = Known::new();
        if !self.work.asks_layouts() {
            return Ok(known);
        }
        for row in self.work.rows.iter().filter(|row| !row.is_declared) {
            if known.contains_key(&row.table) {
                continue;
            }
            let Some(entry) = self.work.tables.get(row.table) else { continue };
            let found = match entry.known_layouts() {
                Some(found) => found,
                None => self.read_layouts(entry).await?,
            };
            known.insert(row.table, found);
        }
        Ok(known)
    }

    async fn read_layouts(self, entry: &TableEntry) -> Result<(i64, Arc<LayoutTexts>), Failed> {
        let answer = self.connection.query(&self.store.catalog.layouts(entry.id)).await.map_err(before)?;
        let (generation, layouts) = Catalog::found_layouts(&answer).map_err(Refused::whole)?;
        Ok((generation, entry.learn(generation, layouts)))
    }

    /// Returns the tables whose rows are read before anything is written, and the statements that come first, if any do: that
    /// which locks partitions, and then the reads, one for each of those tables.
    fn first_calls(self, known: &Known) -> (Vec<usize>, Vec<Call>) {
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

    fn take_old(self, table: usize, rows: &[Row], old: &mut OldRows) -> Result<(), Failed> {
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
    fn ops(self, known: &Known, old: &OldRows, has_read: bool) -> Result<Vec<Op>, Refused> {
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

    /// Returns a time that is later than those of all rows that are known to be there.
    fn time_after(self, ops: &[Op]) -> i64 {
        for op in ops {
            if let Demand::Tag(time) | Demand::Is(RowVersion { time, .. }) = op.demand {
                self.store.clock.observe(time);
            }
        }
        self.store.clock.next()
    }

    /// Finds out what did not hold.
    async fn diagnose(self, known: &Known) -> Failed {
        match self.look(known).await {
            Ok(Some(refused)) => Failed::Refused(refused),
            // What was demanded holds by now, or what was read is another: it is planned and sent again.
            Ok(None) => Failed::Again,
            Err(failed) => failed,
        }
    }

    async fn look(self, known: &Known) -> Result<Option<Refused>, Failed> {
        let work = self.work;
        let mut calls: Vec<_> =
            work.tables.iter().enumerate().map(|(table, entry)| self.times(table, entry)).collect();
        for range in &work.ranges {
            let Some(entry) = work.tables.get(range.table) else { continue };
            calls.push(digest(entry, &range.partition_key, &range.prefix));
        }
        for table in known.keys() {
            let Some(entry) = work.tables.get(*table) else { continue };
            calls.push(self.store.catalog.layouts(entry.id));
        }
        #[cfg(feature = "queue")]
        calls.extend(work.messages.iter().flat_map(PlanMessages::look));
        // All at one moment: a key that is taken since the entity itself was changed is no conflict, but a stale plan.
        let answers = self.connection.begin_and_query(snapshot::BEGIN, &calls).await.map_err(before)?;
        let answers = answers.into_iter().collect::<Result<Vec<_>, _>>().map_err(before)?;
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
                self.store.clock.observe(version.time);
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
        for (table, rows) in known.keys().zip(answers.by_ref()) {
            let Some(entry) = work.tables.get(*table) else { continue };
            let (generation, layouts) = Catalog::found_layouts(rows).map_err(Refused::whole)?;
            entry.learn(generation, layouts);
        }
        let found = |row: &WorkRow| found.get(&(row.table, &*row.partition, &*row.row)).copied();
        let refused_row = work
            .rows
            .iter()
            .find_map(|row| row.demand.check(found(row)).err().map(|error| row.refused(error)));
        if refused_row.is_none() && !self.looks && work.rows.iter().any(|row| row.demand.hides(found(row))) {
            return Err(Failed::Hidden);
        }
        let refused_range = changed.into_iter().min().map(|group| {
            let error = executor::error(ErrorKind::ConditionNotMet, "rows have changed");
            Refused { error, group, row: None }
        });
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

    /// Returns the statement that reads the times of the rows that the plan is of, in this table.
    fn times(self, table: usize, entry: &TableEntry) -> Call {
        let of_table = self.work.rows.iter().filter(|row| row.table == table);
        let (partitions, rows) = of_table.map(|row| (row.partition.clone(), row.row.clone())).unzip();
        let mut params = Params::default();
        let (partitions, rows) = (params.add(Param::Texts(partitions)), params.add(Param::Texts(rows)));
        let sql = format!(
            "SELECT t.pk, t.rk, t.ts, t.again FROM unnest({partitions}, {rows}) AS n(a, b), {} AS t WHERE t.pk = a AND t.rk = b",
            entry.rows
        );
        Call { sql, params }
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

/// Says what an error is before anything was sent that writes.
fn before(error: Error) -> Failed {
    // A connection may have been lost while it was idle. Where there is no server, the next attempt finds that out.
    if is_conflict(&error) || is_lost(&error) {
        return Failed::Again;
    }
    Refused::whole(of_server(error)).into()
}

/// Returns whether something that the statement demands does not hold, or a row is there that was to be inserted.
fn does_not_hold(error: &Error) -> bool {
    error
        .code()
        .is_some_and(|code| *code == SqlState::DIVISION_BY_ZERO || *code == SqlState::UNIQUE_VIOLATION)
}
