//! Queues: a row for each message, which its receiver locks and marks as held, and which others pass over.
//!
//! Each operation is one statement, which carries a token as a plan's does: an answer that is lost is asked for, and no message
//! is sent twice. Times are the server's, so that it does not matter what the clocks of processes say.

mod arrivals;
mod carry_out;
mod in_plan;
mod parts;
mod step;
mod stored;
mod take;

use std::sync::Arc;
use std::time::Duration;

use table_engine::__executor::{
    self as executor, Answer, Delivery, EachMessage, OnAnswered, QueueId, QueueOp, QueueStats, Queues, Room,
    Task,
};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use self::arrivals::Arrivals;
pub(crate) use self::in_plan::PlanMessages;
use self::parts::QueueTables;
use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::error::damaged;
use crate::param::{Param, Params};
use crate::pool::Pool;
use crate::token::Tokens;

/// The most queues of a store.
const MOST_QUEUES: i64 = 1_000;

/// The messages of a queue that was dropped that go in one transaction.
const PURGED_AT_ONCE: i64 = 10_000;

/// The queues of a store.
pub(crate) struct PostgresQueues {
    shared: Arc<Shared>,
}

/// What the queues have that an operation needs, also one that is carried out after its caller has gone.
struct Shared {
    pool: Arc<Pool>,
    tables: QueueTables,
    tokens: Tokens,
    /// Tells the store from all others.
    identity: u64,
    arrivals: Arrivals,
}

impl PostgresQueues {
    pub(crate) fn new(pool: &Arc<Pool>, catalog: &Catalog, identity: u64) -> Result<Self> {
        let (tables, arrivals) = (QueueTables::new(catalog), Arrivals::default());
        let shared = Shared { pool: pool.clone(), tables, tokens: Tokens::new()?, identity, arrivals };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Returns what wakes those of this process who wait for messages.
    pub(crate) fn arrivals(&self) -> &Arrivals {
        &self.shared.arrivals
    }

    fn number(&self, queue: QueueId) -> Result<i64> {
        number_of(queue, None, self.shared.identity)
    }

    /// Returns the answer to a statement that reads, or that changes nothing more when it is run again.
    fn query(&self, call: &Call) -> Result<Vec<Row>> {
        self.shared.pool.query(call)
    }

    /// Returns the queue whose number is in the first column of an answer.
    fn id(&self, row: &Row) -> Result<QueueId> {
        let number = u32::try_from(column::<i64>(row, 0)?).map_err(|_| damaged("the number of a queue"))?;
        Ok(QueueId { store: self.shared.identity, number })
    }

    /// Removes the messages of queues that were dropped, by this process or another that did not come to the end.
    fn purge(&self) -> Result<()> {
        let QueueTables { queues, messages, counts, records, .. } = &self.shared.tables;
        let dropped = self.query(&plain(format!("SELECT id FROM {queues} WHERE name IS NULL")))?;
        for row in &dropped {
            let queue: i64 = column(row, 0)?;
            let step = of_numbers(
                format!(
                    "WITH gone AS (SELECT queue, id FROM {messages} WHERE queue = $1 LIMIT {PURGED_AT_ONCE})
                     DELETE FROM {messages} AS t USING gone WHERE t.queue = gone.queue AND t.id = gone.id RETURNING 1"
                ),
                &[queue],
            );
            while !self.query(&step)?.is_empty() {}
            let rest = format!(
                "WITH counted AS (DELETE FROM {counts} WHERE queue = $1),
                 noted AS (DELETE FROM {records} WHERE owner = -$1::int) DELETE FROM {queues} WHERE id = $1"
            );
            self.query(&of_numbers(rest, &[queue]))?;
        }
        Ok(())
    }
}

impl Queues for PostgresQueues {
    fn find(&self, name: &str) -> Result<Option<QueueId>> {
        let sql = format!("SELECT id FROM {} WHERE name = $1", self.shared.tables.queues);
        self.query(&of_name(sql, name))?.first().map(|row| self.id(row)).transpose()
    }

    fn create(&self, name: &str) -> Result<(QueueId, bool)> {
        let queues = &self.shared.tables.queues;
        let make = format!(
            "INSERT INTO {queues} (name) SELECT $1 WHERE (SELECT count(*) FROM {queues}) < {MOST_QUEUES}
             ON CONFLICT (name) DO NOTHING RETURNING id"
        );
        if let Some(row) = self.query(&of_name(make, name))?.first() {
            return Ok((self.id(row)?, true));
        }
        // There is one, or there are too many.
        let because =
            || format!("the store has {MOST_QUEUES} queues, as many as it may: drop one that is not needed");
        let found = self.find(name)?;
        found.map(|queue| (queue, false)).ok_or_else(|| executor::error(ErrorKind::Unsupported, because()))
    }

    fn names(&self) -> Result<Vec<String>> {
        let queues = &self.shared.tables.queues;
        let sql = format!("SELECT name FROM {queues} WHERE name IS NOT NULL ORDER BY name");
        self.query(&plain(sql))?.iter().map(|row| column(row, 0)).collect()
    }

    fn drop_queue(&self, name: &str) -> Result<()> {
        let queues = &self.shared.tables.queues;
        let mut params = Params::default();
        let name = params.add(name.into());
        let found =
            self.query(&Call { sql: format!("SELECT id FROM {queues} WHERE name = {name}"), params })?;
        let Some(row) = found.first() else {
            return Err(executor::error(ErrorKind::QueueNotFound, "there is no such queue"));
        };
        // It waits for those who are sending, and has them refused who come later.
        self.query(&of_numbers(
            format!("UPDATE {queues} SET name = NULL WHERE id = $1"),
            &[column(row, 0)?],
        ))?;
        self.purge()
    }

    fn carry_out(&self, queue_ops: Vec<QueueOp>) -> Result<Vec<Answer>> {
        let steps = step::steps(queue_ops, self.shared.identity)?;
        carry_out::carry_out(&self.shared, &steps)
    }

    fn submit(&self, queue_ops: &[QueueOp], done: OnAnswered) -> Result<()> {
        let steps = step::steps(queue_ops.to_vec(), self.shared.identity)?;
        let shared = self.shared.clone();
        self.shared.pool.spawn(async move { done(carry_out::carry_out_awaited(&shared, &steps).await) })
    }

    fn peek(&self, queue: QueueId, most: usize) -> Result<Vec<Delivery>> {
        let tables = &self.shared.tables;
        let answer = self.query(&take::peek(tables, self.number(queue)?, limit(most)))?;
        take::deliveries(&answer)?.ok_or_else(dropped)
    }

    fn stored(&self, queue: QueueId, each: EachMessage<'_>) -> Result<()> {
        stored::stored(&self.shared, self.number(queue)?, each)
    }

    fn stats(&self, queue: QueueId) -> Result<QueueStats> {
        let answer = self.query(&take::stats(&self.shared.tables, self.number(queue)?))?;
        take::counted(answer.first().ok_or_else(dropped)?)
    }

    fn arrivals(&self, seen: u64, most: Duration) -> u64 {
        self.shared.arrivals.wait(seen, most)
    }

    fn arrival(&self) -> Option<&Room> {
        Some(&self.shared.arrivals.tasks)
    }
}

/// Returns the number of a queue, which must be one of this store's; its name is for the error.
fn number_of(queue: QueueId, name: Option<&str>, identity: u64) -> Result<i64> {
    if queue.store == identity {
        return Ok(queue.number.into());
    }
    let queue = match name {
        Some(name) => format!("queue `{}`", name.escape_debug()),
        None => format!("queue number {}", queue.number),
    };
    let because = format!("{queue} is another store's: get a handle from this one");
    Err(executor::error(ErrorKind::QueueNotFound, because))
}

/// Returns whether messages may show after this that somebody waits for.
fn may_show(task: &Task) -> bool {
    matches!(
        task,
        Task::Send(_)
            | Task::Post(_)
            | Task::ByReceipt(..)
            | Task::Release(..)
            | Task::Pause(false)
            | Task::Update(..)
    )
}

/// Returns the error of a queue that is no more.
#[cold]
fn dropped() -> Error {
    executor::error(ErrorKind::QueueNotFound, "the queue was dropped; get a new handle")
}

/// Returns how many rows a statement gives at most.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}

fn of_name(sql: String, name: &str) -> Call {
    let mut params = Params::default();
    params.add(name.into());
    Call { sql, params }
}

fn plain(sql: String) -> Call {
    Call { sql, params: Params::default() }
}

fn of_numbers(sql: String, numbers: &[i64]) -> Call {
    let mut params = Params::default();
    for number in numbers {
        params.add(Param::Number(*number));
    }
    Call { sql, params }
}
