//! A connection to the server, and what it is asked.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bytes::Bytes;
use futures_util::SinkExt;
use futures_util::future::{join, join_all};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, CopyInSink, Error, Row, Statement};

use crate::param::{Param, Params};
#[cfg(feature = "blob")]
use crate::transaction::BEGIN;

/// The statements that a connection has prepared at the most. Their texts depend on the tables and on what changes do, so there
/// are hundreds and not thousands; beyond this they are forgotten and made anew.
const MOST_PREPARED: usize = 1_000;

/// A connection that something drives.
pub(crate) struct Connection {
    client: Client,
    /// By their texts; `None` where a pooler hands each transaction to another server process, so that nothing stays prepared.
    prepared: Option<Mutex<HashMap<Box<str>, Statement>>>,
}

/// A statement that can be run.
enum Runnable {
    Prepared(Statement),
    Text(String),
}

/// A statement with its parameters.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) sql: String,
    pub(crate) params: Params,
}

impl Connection {
    pub(crate) fn new(client: Client, prepares: bool) -> Self {
        Self { client, prepared: prepares.then(Mutex::default) }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Runs a statement, and returns the rows of its answer.
    pub(crate) async fn query(&self, call: &Call) -> Result<Vec<Row>, Error> {
        let runnable = self.runnable(&call.sql, &call.params).await?;
        self.run(&runnable, &call.params).await
    }

    /// Runs statements in their order, each whether or not those before it have succeeded; one round trip for all. Returns the
    /// answers, or the first error: in a transaction all behind it fail because it did.
    pub(crate) async fn query_all(&self, calls: &[Call]) -> Result<Vec<Vec<Row>>, Error> {
        let mut runnables = Vec::with_capacity(calls.len());
        for call in calls {
            runnables.push(self.runnable(&call.sql, &call.params).await?);
        }
        let all = runnables.iter().zip(calls).map(|(runnable, call)| self.run(runnable, &call.params));
        join_all(all).await.into_iter().collect()
    }

    /// Begins a transaction by `begin`, and runs statements in it; one round trip for all.
    pub(crate) async fn begin_and_query(&self, begin: &str, calls: &[Call]) -> Result<Vec<Vec<Row>>, Error> {
        // Prepared before the transaction begins: it costs round trips.
        for call in calls {
            self.runnable(&call.sql, &call.params).await?;
        }
        let (started, answers) = join(self.client.batch_execute(begin), self.query_all(calls)).await;
        started?;
        answers
    }

    /// Runs a statement and commits the transaction that it is of; one round trip for both.
    pub(crate) async fn query_and_commit(&self, call: &Call) -> Result<(), Error> {
        let runnable = self.runnable(&call.sql, &call.params).await?;
        let (done, committed) =
            join(self.run(&runnable, &call.params), self.client.batch_execute("COMMIT")).await;
        done.map(drop).and(committed)
    }

    /// Runs statements and commits the transaction that they are of; one round trip for all.
    pub(crate) async fn query_all_and_commit(&self, calls: &[Call]) -> Result<(), Error> {
        // Prepared first: what is sent behind a statement that fails to be prepared would be carried out all the same.
        for call in calls {
            self.runnable(&call.sql, &call.params).await?;
        }
        let (answers, committed) = join(self.query_all(calls), self.client.batch_execute("COMMIT")).await;
        answers.and(committed)
    }

    /// Runs statements of a transaction, which begins with them or ends with them if it says so; one round trip for all.
    #[cfg(feature = "blob")]
    pub(crate) async fn transact(
        &self,
        begins: bool,
        calls: &[Call],
        commits: bool,
    ) -> Result<Vec<Vec<Row>>, Error> {
        // Prepared first: it costs round trips.
        for call in calls {
            self.runnable(&call.sql, &call.params).await?;
        }
        let on = async |sql: &str, is_asked: bool| {
            if is_asked { self.execute(sql).await } else { Ok(()) }
        };
        let (begun, (answers, committed)) =
            join(on(BEGIN, begins), join(self.query_all(calls), on("COMMIT", commits))).await;
        begun?;
        let answers = answers?;
        committed.map(|()| answers)
    }

    /// Returns whether statements stay prepared on the connection.
    pub(crate) fn prepares(&self) -> bool {
        self.prepared.is_some()
    }

    /// Runs a statement that copies rows from what the client sends: these pieces, one after another.
    pub(crate) async fn copy_in(&self, sql: &str, pieces: Vec<Bytes>) -> Result<(), Error> {
        let sink: CopyInSink<Bytes> = match self.runnable(sql, &Params::default()).await? {
            Runnable::Prepared(statement) => self.client.copy_in(&statement).await?,
            Runnable::Text(sql) => self.client.copy_in(&sql).await?,
        };
        let mut sink = pin!(sink);
        for piece in pieces {
            sink.send(piece).await?;
        }
        sink.finish().await.map(drop)
    }

    /// Runs statements without parameters, in one transaction unless they say otherwise.
    pub(crate) async fn execute(&self, sql: &str) -> Result<(), Error> {
        self.client.batch_execute(sql).await
    }

    /// Runs statements of a transaction that are no matter if they fail: the transaction goes on without them.
    pub(crate) async fn attempt(&self, sql: &str) -> Result<(), Error> {
        self.execute("SAVEPOINT attempt").await?;
        match self.execute(sql).await {
            Err(error) if error.as_db_error().is_some() => {
                self.execute("ROLLBACK TO SAVEPOINT attempt").await
            }
            done => done,
        }
    }

    /// Hands over the end of a transaction that is to change nothing, and waits for no answer.
    pub(crate) fn roll_back(&self) {
        let mut answer = pin!(self.client.batch_execute("ROLLBACK"));
        // Asked once it is on its way. The answer is not waited for.
        let asked = answer.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        drop(asked);
    }

    async fn runnable(&self, sql: &str, params: &Params) -> Result<Runnable, Error> {
        let Some(prepared) = &self.prepared else { return Ok(Runnable::Text(sql.to_owned())) };
        if let Some(known) = lock(prepared).get(sql) {
            return Ok(Runnable::Prepared(known.clone()));
        }
        let types: Vec<Type> = params.all().iter().map(Param::kind).collect();
        let statement = self.client.prepare_typed(sql, &types).await?;
        let mut prepared = lock(prepared);
        if prepared.len() >= MOST_PREPARED {
            prepared.clear();
        }
        prepared.insert(sql.into(), statement.clone());
        Ok(Runnable::Prepared(statement))
    }

    async fn run(&self, runnable: &Runnable, params: &Params) -> Result<Vec<Row>, Error> {
        match runnable {
            Runnable::Prepared(statement) => {
                let values: Vec<&(dyn ToSql + Sync)> = params.all().iter().map(Param::value).collect();
                self.client.query(statement, &values).await
            }
            Runnable::Text(sql) => {
                let values: Vec<_> = params.all().iter().map(|param| (param.value(), param.kind())).collect();
                self.client.query_typed(sql, &values).await
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
