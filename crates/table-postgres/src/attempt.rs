//! One attempt to carry out a plan, on one connection.
//!
//! A plan whose rows need not be looked at is one statement, and one round trip. Otherwise rows are locked and read first, in the
//! transaction that the statement ends. A refusal of the server says that something did not hold, and not what: the rows are
//! looked at once more then, all at one moment, and say it.

use std::sync::Arc;

use table_engine::__executor::{Committed, LayoutTexts, Refused};

use crate::catalog::Catalog;
use crate::clock::etag;
use crate::connection::Connection;
use crate::diagnosis::Diagnosis;
use crate::error::{is_conflict, is_lost, of_server};
use crate::failed::{Failed, before, does_not_hold};
use crate::reading::{Known, OldRows, Reading};
use crate::statement::{self, Frame, Op};
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::token::Token;
use crate::work::{Demand, RowVersion, Work};

/// What has become of an attempt.
pub(crate) struct Attempted {
    pub(crate) outcome: Result<Committed, Failed>,
    /// Whether the connection is left in a transaction that is to be ended.
    pub(crate) is_open: bool,
}

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
        let reading = Reading { store: self.store, work: self.work, looks: self.looks };
        let (wanted, calls) = reading.first_calls(&known);
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
                    reading.take_old(*table, &rows, &mut old)?;
                }
            }
        }
        let ops = reading.ops(&known, &old, !wanted.is_empty())?;
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
                Err(Diagnosis { connection: self.connection, reading }.failure(&known).await)
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

    /// Returns a time that is later than those of all rows that are known to be there.
    fn time_after(self, ops: &[Op]) -> i64 {
        for op in ops {
            if let Demand::Tag(time) | Demand::Is(RowVersion { time, .. }) = op.demand {
                self.store.clock.observe(time);
            }
        }
        self.store.clock.next()
    }
}
