//! Plans that add rows and do nothing else, carried out by `COPY`: thousands in one transaction.
//!
//! The transaction begins with the statement that any plan has, without its rows: it takes the partitions' locks, holds the
//! tables, demands what the plans rely on, and leaves the token by which a lost answer is settled. Then the rows are copied into
//! their tables. One that is there already refuses all of them: the plans that have such a row are looked for then, and the
//! others are copied.

mod encode;
mod pieces;

use std::collections::BTreeMap;

use bytes::Bytes;
use table_engine::__executor::Refused;
use table_engine::Result;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use self::encode::{COLUMNS, Copy};
pub(crate) use self::pieces::{Piece, pieces};
use crate::body::Body;
use crate::catalog::column;
use crate::commit::{ATTEMPTS, Settled, settle};
use crate::connection::{Call, Connection};
use crate::error::{is_conflict, is_lost, of_server};
use crate::failed::{Failed, before};
use crate::outbox;
use crate::param::{Param, Params};
use crate::plan_kinds::PlanKinds;
use crate::statement::{self, Frame};
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::token::Token;
use crate::transaction::BEGIN;
use crate::work::{Work, WorkAct, WorkRow};

/// What has become of plans that were to be copied together.
enum Copied {
    All,
    /// Nothing, since a row of one of them is there already.
    Taken,
    /// Nothing. Why not, each finds out by itself.
    Nothing,
}

/// Copies the rows of these plans, which go together and have no row in common. Returns which of the plans were carried out; each
/// of the others is to be carried out as any plan, which says why it can't be.
pub(crate) fn carry_out(store: &PostgresStore, works: &[Work]) -> Result<Vec<bool>> {
    let mut copied = vec![false; works.len()];
    match attempts(store, &works.iter().collect::<Vec<_>>())? {
        Copied::All => copied.fill(true),
        Copied::Nothing => {}
        Copied::Taken => {
            let is_taken = taken(store, works)?;
            let free: Vec<_> =
                works.iter().zip(&is_taken).filter(|(_, taken)| !**taken).map(|(work, _)| work).collect();
            if !free.is_empty()
                && free.len() < works.len()
                && let Copied::All = attempts(store, &free)?
            {
                copied = is_taken.into_iter().map(|taken| !taken).collect();
            }
        }
    }
    Ok(copied)
}

/// Copies the rows, again if the server chose another transaction or was lost.
fn attempts(store: &PostgresStore, works: &[&Work]) -> Result<Copied> {
    for _ in 0..ATTEMPTS {
        let mut connection = store.pool.blocking()?;
        if !connection.prepares() {
            // What is prepared for a copy might be prepared by another process than the one that it is sent to.
            return Ok(Copied::Nothing);
        }
        let mut is_open = false;
        let attempt = Attempt { store, connection: &connection, works };
        let outcome = connection.wait(attempt.run(&mut is_open));
        if is_open && !connection.end_transaction() {
            connection.spend();
        }
        match outcome {
            Ok(copied) => return Ok(copied),
            Err(Failed::Again) => {}
            Err(Failed::Refused(_) | Failed::Hidden) => return Ok(Copied::Nothing),
            Err(Failed::Lost(token)) => {
                connection.spend();
                drop(connection);
                if let Settled::Done(_) = settle(&store.pool, &store.commits, token)? {
                    return Ok(Copied::All);
                }
            }
        }
    }
    Ok(Copied::Nothing)
}

/// One attempt, on one connection.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    store: &'a PostgresStore,
    connection: &'a Connection,
    works: &'a [&'a Work],
}

impl Attempt<'_> {
    async fn run(self, is_open: &mut bool) -> Result<Copied, Failed> {
        let Self { store, connection, works } = self;
        let mut all = Work::without_rows(works);
        // They have the layouts asked for that say which rows may be written by their properties.
        all.rows = self.by_properties(&mut all);
        let kinds = PlanKinds::of(store, connection, &all).await?;
        self.check_by_properties(&mut all, kinds.as_ref())?;
        let (token, time) = (store.token(), store.clock.next());
        let held: Vec<_> = (0..all.tables.len()).collect();
        let frame = Frame {
            time,
            keeps_times: all.keeps_times,
            token: Some((&store.commits, token)),
            shares_locks: true,
            identity: store.identity.cast_signed(),
            generation: kinds.as_ref().map(|kinds| (&*store.state, kinds.generation)),
            held: &held,
            keys: &store.keys,
            outbox: &store.outbox,
            settled: outbox::Settled::default(),
            #[cfg(feature = "blob")]
            counts_references: false,
            #[cfg(feature = "blob")]
            blobs: &store.blobs,
        };
        let begins = statement::of(&all, Vec::new(), &frame);
        *is_open = true;
        connection.begin_and_query(BEGIN, &[begins]).await.map_err(before)?;
        for (sql, pieces) in self.copies(time) {
            match connection.copy_in(&sql, pieces).await {
                Ok(()) => {}
                Err(error) if is_taken(&error) => return Ok(Copied::Taken),
                Err(error) => return Err(before(error)),
            }
        }
        match connection.execute("COMMIT").await {
            Ok(()) => {
                *is_open = false;
                store.tokens.remove_old(connection, &store.commits, token).await;
                Ok(Copied::All)
            }
            Err(error) if is_lost(&error) => Err(Failed::Lost(Token { time, ..token })),
            Err(error) if is_conflict(&error) => Err(Failed::Again),
            Err(error) => Err(Refused::whole(of_server(error)).into()),
        }
    }

    /// Returns of each table a row that is written by its properties, if it gets any.
    fn by_properties(self, all: &mut Work) -> Vec<WorkRow> {
        let mut found = BTreeMap::new();
        for work in self.works {
            for row in work.rows.iter().filter(|row| !row.is_declared) {
                let Some(entry) = work.tables.get(row.table) else { continue };
                let table = all.place_of(entry);
                found.entry(table).or_insert_with(|| WorkRow { table, ..row.clone() });
            }
        }
        found.into_values().collect()
    }

    /// Refuses rows that are written by their properties and that only their structs write.
    fn check_by_properties(self, all: &mut Work, kinds: Option<&PlanKinds>) -> Result<(), Refused> {
        let Some(kinds) = kinds.filter(|_| all.asks_layouts()) else { return Ok(()) };
        let is_raw = all.is_raw;
        for work in self.works {
            for row in work.rows.iter().filter(|row| !row.is_declared) {
                let Some(entry) = work.tables.get(row.table) else { continue };
                let checked = kinds.check_by_properties(all.place_of(entry), row.kind.as_deref(), is_raw);
                checked.map_err(Refused::whole)?;
            }
        }
        Ok(())
    }

    /// Returns the statements that copy the rows into their tables, each with what is sent for it.
    fn copies(self, time: i64) -> Vec<(String, Vec<Bytes>)> {
        let mut tables: BTreeMap<u32, RowsOf<'_>> = BTreeMap::new();
        for work in self.works {
            for row in &work.rows {
                let (Some(entry), WorkAct::Put(body)) = (work.tables.get(row.table), &row.act) else {
                    continue;
                };
                tables.entry(entry.id).or_insert_with(|| (&**entry, Vec::new())).1.push((row, body));
            }
        }
        let copy = |(entry, mut rows): RowsOf<'_>| {
            // In one order for all loads, so that two seldom wait for each other; and as the index has them.
            rows.sort_unstable_by(|(one, _), (other, _)| keys(one).cmp(&keys(other)));
            let mut copy = Copy::new();
            for (row, body) in rows {
                copy.add(row, time, body.kind.as_deref(), &body.json.0);
            }
            (format!("COPY {} ({COLUMNS}) FROM STDIN (FORMAT binary)", entry.rows), copy.finish())
        };
        tables.into_values().map(copy).collect()
    }
}

/// Rows of a table, with what is written of each.
type RowsOf<'w> = (&'w TableEntry, Vec<(&'w WorkRow, &'w Body)>);

fn keys(row: &WorkRow) -> (&str, &str) {
    (&row.partition, &row.row)
}

/// Returns whether an error says that a row is there which was to be added.
fn is_taken(error: &Error) -> bool {
    error.code().is_some_and(|code| *code == SqlState::UNIQUE_VIOLATION)
}

/// The keys of rows in one table, with the places of the plans that add them.
struct Wanted<'w> {
    entry: &'w TableEntry,
    plans: Vec<usize>,
    partitions: Vec<String>,
    rows: Vec<String>,
}

/// Returns which of these plans add a row that is there already.
fn taken(store: &PostgresStore, works: &[Work]) -> Result<Vec<bool>> {
    let mut tables: BTreeMap<u32, Wanted<'_>> = BTreeMap::new();
    for (plan, work) in works.iter().enumerate() {
        for row in &work.rows {
            let Some(entry) = work.tables.get(row.table) else { continue };
            let none = || Wanted { entry, plans: Vec::new(), partitions: Vec::new(), rows: Vec::new() };
            let wanted = tables.entry(entry.id).or_insert_with(none);
            wanted.plans.push(plan);
            wanted.partitions.push(row.partition.clone());
            wanted.rows.push(row.row.clone());
        }
    }
    let mut taken = vec![false; works.len()];
    for Wanted { entry, plans, partitions, rows } in tables.into_values() {
        let mut params = Params::default();
        let (partitions, rows) = (params.add(Param::Texts(partitions)), params.add(Param::Texts(rows)));
        let sql = format!(
            "SELECT n.place FROM unnest({partitions}, {rows}) WITH ORDINALITY AS n(a, b, place), {} AS t
             WHERE t.pk = n.a AND t.rk = n.b",
            entry.rows
        );
        for row in store.query(&Call { sql, params })? {
            let place = usize::try_from(column::<i64>(&row, 0)?).unwrap_or_default();
            // The server counts from one.
            let plan = place.checked_sub(1).and_then(|place| plans.get(place));
            if let Some(taken) = plan.and_then(|plan| taken.get_mut(*plan)) {
                *taken = true;
            }
        }
    }
    Ok(taken)
}
