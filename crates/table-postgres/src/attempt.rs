//! One attempt to carry out a plan, on one connection.
//!
//! A plan whose rows need not be looked at is one statement, and one round trip. Otherwise rows are locked and read first, in the
//! transaction that the statement ends. A refusal of the server says that something did not hold, and not what: the rows are
//! looked at once more then, all at one moment, and say it.

use table_engine::__executor::{Committed, Refused};

use crate::clock::etag;
use crate::connection::Connection;
use crate::diagnosis::Diagnosis;
use crate::error::{is_conflict, is_lost, of_server};
use crate::failed::{Failed, before, does_not_hold};
use crate::locks;
use crate::outbox::Settled;
use crate::plan_kinds::PlanKinds;
use crate::reading::{OldRows, Reading};
use crate::statement::{self, Frame};
use crate::store::PostgresStore;
use crate::token::Token;
use crate::transaction::BEGIN;
#[cfg(feature = "blob")]
use crate::unreferenced;
use crate::work::Work;

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
        #[cfg(feature = "blob")]
        unreferenced::announce(self.connection, self.work, &self.store.blobs.references).await?;
        let kinds = PlanKinds::of(self.store, self.connection, self.work).await?;
        let reading = Reading::new(self.store, self.work, kinds.as_ref(), self.looks);
        let (wanted, mut calls) = reading.first_calls();
        let is_alone = self.work.demands_absence();
        let begins = is_alone || !calls.is_empty();
        let (mut old, mut settled) = (OldRows::new(), Settled::default());
        if begins {
            *is_open = true;
            // Before any row: a plan that has the partition for itself, and waits for a row, would wait for this one for ever.
            calls.insert(0, locks::take(&self.work.partitions, self.store.identity.cast_signed(), is_alone));
            let mut answers = self.connection.begin_and_query(BEGIN, &calls).await.map_err(before)?;
            settled = reading.settle(&mut answers)?;
            // The locks are asked for before the rows.
            let first = answers.len().saturating_sub(wanted.len());
            for (place, rows) in answers.into_iter().enumerate() {
                if let Some(table) = place.checked_sub(first).and_then(|at| wanted.get(at)) {
                    reading.take_old(*table, &rows, &mut old)?;
                }
            }
        }
        #[cfg(feature = "blob")]
        reading.read_lists(self.connection, &mut old).await?;
        let ops = reading.ops(&old, !wanted.is_empty())?;
        let token = self.store.token();
        let time = reading.time_after(&ops);
        let frame = Frame {
            time,
            keeps_times: self.work.keeps_times,
            token: Some((&self.store.commits, token)),
            shares_locks: !begins,
            identity: self.store.identity.cast_signed(),
            generation: kinds.as_ref().map(|kinds| (&*self.store.state, kinds.generation)),
            held: &self.work.held(),
            keys: &self.store.keys,
            outbox: &self.store.outbox,
            settled,
            #[cfg(feature = "blob")]
            counts_references: reading.counts_references,
            #[cfg(feature = "blob")]
            blobs: &self.store.blobs,
        };
        let statement = statement::of(self.work, ops, &frame);
        let done = if begins {
            let done = self.connection.query_and_commit(&statement).await;
            // Where it fails before the server is asked to commit, the transaction is still to be ended.
            *is_open = done.is_err();
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
                Err(Diagnosis { connection: self.connection, reading, is_within: false }.failure().await)
            }
            Err(error) => Err(Refused::whole(of_server(error)).into()),
        }
    }
}

/// Writes the rows of a plan in a transaction that has begun and holds what the plan takes. Returns whether all that it demands
/// has held: if not, the transaction goes on from its last savepoint alone.
pub(crate) async fn put_rows(connection: &Connection, reading: Reading<'_>) -> Result<bool, Failed> {
    let Reading { store, work, .. } = reading;
    let (wanted, calls) = reading.first_calls();
    let (mut old, mut settled) = (OldRows::new(), Settled::default());
    if !calls.is_empty() {
        let mut answers = connection.query_all(&calls).await.map_err(before)?;
        settled = reading.settle(&mut answers)?;
        for (table, answer) in wanted.iter().zip(answers) {
            reading.take_old(*table, &answer, &mut old)?;
        }
    }
    #[cfg(feature = "blob")]
    reading.read_lists(connection, &mut old).await?;
    let ops = reading.ops(&old, !wanted.is_empty())?;
    let frame = Frame {
        time: reading.time_after(&ops),
        keeps_times: work.keeps_times,
        token: None,
        shares_locks: false,
        identity: store.identity.cast_signed(),
        generation: None,
        held: &[],
        keys: &store.keys,
        outbox: &store.outbox,
        settled,
        #[cfg(feature = "blob")]
        counts_references: reading.counts_references,
        #[cfg(feature = "blob")]
        blobs: &store.blobs,
    };
    match connection.query(&statement::of(work, ops, &frame)).await {
        Ok(_) => Ok(true),
        Err(error) if does_not_hold(&error) => Ok(false),
        Err(error) => Err(before(error)),
    }
}
