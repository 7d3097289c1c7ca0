//! Operations of queues carried out: one by a statement of its own, several in a transaction; tried again where the server chose
//! another transaction, and asked for where the answer was lost.

use table_engine::__executor::{self as executor, Answer, Delivery, PopReceipt};
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;

use super::parts::NOW;
use super::step::{Step, What};
use super::take::{self, Received, Receiving};
use super::{Shared, dropped, of_numbers};
use crate::catalog::column;
use crate::commit::{ATTEMPTS, Settled, outrun, settle, settle_awaited};
use crate::connection::{Call, Connection};
use crate::error::{damaged, is_conflict, is_lost, of_server};
use crate::param::{Param, Params};
use crate::token::Token;
use crate::transaction::BEGIN;

/// Messages whose time is over, or which are set aside, that one receive removes besides those that it gives.
const MOST_REMOVED: usize = 256;

/// Why an attempt has not succeeded.
enum Failed {
    Refused(Error),
    /// The server chose another transaction, or the connection was lost before anything was done.
    Again,
    /// The connection was lost before the answer came: the token says whether it was carried out. The answers are known if no
    /// more than the end of the transaction was awaited.
    Lost(Token, Option<Vec<Answer>>),
}

/// Carries out steps on the caller's thread.
pub(super) fn carry_out(shared: &Shared, steps: &[Step]) -> Result<Vec<Answer>> {
    for _ in 0..ATTEMPTS {
        let mut connection = shared.pool.blocking()?;
        let mut is_open = false;
        let outcome = connection.wait(Attempt { shared, connection: &connection }.run(steps, &mut is_open));
        if is_open && !connection.end_transaction() {
            connection.spend();
        }
        match outcome {
            Ok(answers) => return Ok(done(shared, steps, answers)),
            Err(Failed::Refused(error)) => return Err(error),
            Err(Failed::Again) => {}
            Err(Failed::Lost(token, answers)) => {
                connection.spend();
                drop(connection);
                let Settled::Done(noted) = settle(&shared.pool, &shared.tables.commits, token)? else {
                    continue;
                };
                let answers = match found(shared, steps, answers, noted)? {
                    Found::Answers(answers) => answers,
                    Found::Asked(call) => {
                        let connection = shared.pool.blocking()?;
                        given(&connection.wait(connection.query(&call)).map_err(of_server)?)?
                    }
                };
                return Ok(done(shared, steps, answers));
            }
        }
    }
    Err(outrun())
}

/// Carries out steps, and waits without a thread.
pub(super) async fn carry_out_awaited(shared: &Shared, steps: &[Step]) -> Result<Vec<Answer>> {
    for _ in 0..ATTEMPTS {
        let mut connection = shared.pool.shared().await?;
        connection.spend();
        let mut is_open = false;
        let outcome = Attempt { shared, connection: &connection }.run(steps, &mut is_open).await;
        if is_open {
            connection.roll_back();
        }
        if !matches!(outcome, Err(Failed::Lost(..))) {
            connection.keep();
        }
        drop(connection);
        match outcome {
            Ok(answers) => return Ok(done(shared, steps, answers)),
            Err(Failed::Refused(error)) => return Err(error),
            Err(Failed::Again) => {}
            Err(Failed::Lost(token, answers)) => {
                let settled = settle_awaited(&shared.pool, &shared.tables.commits, token).await?;
                let Settled::Done(noted) = settled else { continue };
                let answers = match found(shared, steps, answers, noted)? {
                    Found::Answers(answers) => answers,
                    Found::Asked(call) => {
                        let connection = shared.pool.shared().await?;
                        given(&connection.query(&call).await.map_err(of_server)?)?
                    }
                };
                return Ok(done(shared, steps, answers));
            }
        }
    }
    Err(outrun())
}

fn done(shared: &Shared, steps: &[Step], answers: Vec<Answer>) -> Vec<Answer> {
    if steps.iter().any(|step| step.may_show) {
        shared.arrivals.notify();
    }
    answers
}

/// What is known of steps that were carried out, and whose answer was lost.
enum Found {
    Answers(Vec<Answer>),
    /// The messages are to be asked for that were received.
    Asked(Call),
}

fn found(
    shared: &Shared,
    steps: &[Step],
    known: Option<Vec<Answer>>,
    noted: Option<Vec<i64>>,
) -> Result<Found> {
    if let Some(answers) = known {
        return Ok(Found::Answers(answers));
    }
    let numbers = noted.unwrap_or_default();
    let damaged = || damaged("the answer of a change of queues");
    let [step] = steps else { return Err(damaged()) };
    if let What::Receive(_) = step.what {
        return Ok(Found::Asked(take::again(&shared.tables, step.queue, &numbers)));
    }
    match step.answers(&numbers)? {
        Some(answers) => Ok(Found::Answers(answers)),
        // It says which messages were held, and this was none of them.
        None => Err(step.receipts().first().map_or_else(damaged, |receipt| stale(receipt.id, true))),
    }
}

fn given(rows: &[Row]) -> Result<Vec<Answer>> {
    Ok(vec![Answer::Received(take::deliveries(rows)?.unwrap_or_default())])
}

/// One attempt to carry out steps, on one connection.
#[derive(Clone, Copy)]
struct Attempt<'a> {
    shared: &'a Shared,
    connection: &'a Connection,
}

impl Attempt<'_> {
    async fn run(self, steps: &[Step], is_open: &mut bool) -> Result<Vec<Answer>, Failed> {
        match steps {
            [] => Ok(Vec::new()),
            [Step { queue, what: What::Receive(receiving), .. }] => self.receive(*queue, *receiving).await,
            [step] => {
                let token = self.shared.tokens.next();
                let answer = self.connection.query(&step.call(&self.shared.tables, Some(token))).await;
                let rows = answer.map_err(|error| lost(error, token, None))?;
                self.remove_old_tokens(token).await;
                self.answers(step, &rows).await
            }
            steps => self.run_all(steps, is_open).await,
        }
    }

    async fn remove_old_tokens(self, token: Token) {
        self.shared.tokens.remove_old(self.connection, &self.shared.tables.commits, token).await;
    }

    /// Carries out steps in a transaction.
    async fn run_all(self, steps: &[Step], is_open: &mut bool) -> Result<Vec<Answer>, Failed> {
        let tables = &self.shared.tables;
        let (mut answers, mut is_first) = (Vec::new(), true);
        for step in steps {
            let call = step.call(tables, None);
            let rows = if std::mem::take(&mut is_first) {
                *is_open = true;
                let begun = self.connection.begin_and_query(BEGIN, &[call]).await.map_err(before)?;
                begun.into_iter().next().unwrap_or_default()
            } else {
                self.connection.query(&call).await.map_err(before)?
            };
            match &step.what {
                What::Receive(receiving) => {
                    let received = self.receive_in(step.queue, *receiving, rows).await?;
                    answers.push(Answer::Received(received));
                }
                _ => answers.append(&mut self.answers(step, &rows).await?),
            }
        }
        let token = self.shared.tokens.next();
        let mut params = Params::default();
        for number in [token.session, token.number, token.time] {
            params.add(Param::Number(number));
        }
        let sql = format!("INSERT INTO {} (session, number, time) VALUES ($1, $2, $3)", tables.commits);
        let committed = self.connection.query_and_commit(&Call { sql, params }).await;
        // Where it fails before the server is asked to commit, the transaction is still to be ended.
        *is_open = committed.is_err();
        match committed {
            Ok(()) => Ok(answers),
            Err(error) => Err(lost(error, token, Some(answers))),
        }
    }

    /// Receives messages by statements of their own.
    async fn receive(self, queue: i64, receiving: Receiving) -> Result<Vec<Answer>, Failed> {
        let mut all = Taken::default();
        loop {
            let token = self.shared.tokens.next();
            let rest = all.rest(receiving);
            let answer = self.connection.query(&rest.call(&self.shared.tables, queue, Some(token))).await;
            let is_all = match answer {
                Ok(rows) => {
                    self.remove_old_tokens(token).await;
                    all.take(rest, &rows)
                }
                Err(error) => Err(lost(error, token, None)),
            };
            match is_all {
                Ok(false) => {}
                // What was received already is the caller's, whatever came of the rest.
                Err(failed) if all.deliveries.is_empty() => return Err(failed),
                _ => return Ok(vec![Answer::Received(all.deliveries)]),
            }
        }
    }

    /// Receives messages in a transaction, of which the first answer has come.
    async fn receive_in(
        self,
        queue: i64,
        receiving: Receiving,
        first: Vec<Row>,
    ) -> Result<Vec<Delivery>, Failed> {
        let mut all = Taken::default();
        let mut is_all = all.take(receiving, &first)?;
        while !is_all {
            let rest = all.rest(receiving);
            let rows = self.connection.query(&rest.call(&self.shared.tables, queue, None)).await;
            is_all = all.take(rest, &rows.map_err(before)?)?;
        }
        Ok(all.deliveries)
    }

    /// Returns the answers of a step, or why there are none.
    async fn answers(self, step: &Step, rows: &[Row]) -> Result<Vec<Answer>, Failed> {
        let numbers = rows.first().map(|row| column::<Option<Vec<i64>>>(row, 0)).transpose();
        let Some(numbers) = numbers.map_err(Failed::Refused)?.flatten() else {
            return Err(Failed::Refused(dropped()));
        };
        match step.answers(&numbers).map_err(Failed::Refused)? {
            Some(answers) => Ok(answers),
            None => Err(self.stale(step).await),
        }
    }

    /// Finds out why a receipt holds nothing.
    async fn stale(self, step: &Step) -> Failed {
        if let What::ByReceipt(receipt, _) = &step.what {
            return self.stale_text(step.queue, receipt).await;
        }
        let Some(receipt) = step.receipts().first() else {
            return Failed::Refused(damaged("the answer of the server"));
        };
        let sql = format!("SELECT 1 FROM {} WHERE queue = $1 AND id = $2", self.shared.tables.messages);
        let look = of_numbers(sql, &[step.queue, receipt.id.cast_signed()]);
        match self.connection.query(&look).await {
            Ok(rows) => Failed::Refused(stale(receipt.id, !rows.is_empty())),
            Err(error) => before(error),
        }
    }

    /// Finds out why a receipt that has been text is of no message.
    async fn stale_text(self, queue: i64, receipt: &PopReceipt) -> Failed {
        let sql = format!(
            "SELECT 1 FROM {} WHERE queue = $1 AND id = $2 AND sent = $3 AND coalesce(expires > {NOW}, true)",
            self.shared.tables.messages
        );
        let PopReceipt { id, sent, .. } = receipt;
        let look = of_numbers(sql, &[queue, id.cast_signed(), sent.get().cast_signed()]);
        let is_there = match self.connection.query(&look).await {
            Ok(rows) => !rows.is_empty() && i64::from(receipt.queue) == queue,
            Err(error) => return before(error),
        };
        let (kind, because) = if is_there {
            let because = format!(
                "the receipt for message {id} holds no more: somebody has received, updated or given it back since"
            );
            (ErrorKind::StaleReceipt, because)
        } else {
            let because = format!(
                "message {id} is gone: somebody has completed or cleared it, or its time is over, or the receipt is another \
                 queue's"
            );
            (ErrorKind::MessageNotFound, because)
        };
        Failed::Refused(executor::error(kind, because))
    }
}

/// Messages that were received by several statements.
#[derive(Default)]
struct Taken {
    deliveries: Vec<Delivery>,
    /// How many were found and not given out.
    removed: usize,
}

impl Taken {
    /// Returns what is still to be received.
    fn rest(&self, receiving: Receiving) -> Receiving {
        Receiving { most: receiving.most.saturating_sub(self.deliveries.len()), ..receiving }
    }

    /// Takes an answer to what was asked for, and returns whether that is all.
    fn take(&mut self, asked: Receiving, rows: &[Row]) -> Result<bool, Failed> {
        let received = take::received(rows).map_err(Failed::Refused)?;
        let Some(Received { found, mut deliveries }) = received else {
            return Err(Failed::Refused(dropped()));
        };
        let removed = found.saturating_sub(deliveries.len());
        self.removed = self.removed.saturating_add(removed);
        self.deliveries.append(&mut deliveries);
        Ok(removed == 0 || found < asked.most || self.removed >= MOST_REMOVED)
    }
}

/// Says what an error of a statement is that changes something by itself, or of the end of a transaction.
fn lost(error: tokio_postgres::Error, token: Token, answers: Option<Vec<Answer>>) -> Failed {
    if is_lost(&error) {
        return Failed::Lost(token, answers);
    }
    if is_conflict(&error) { Failed::Again } else { Failed::Refused(of_server(error)) }
}

/// Says what an error is before anything lasts.
fn before(error: tokio_postgres::Error) -> Failed {
    if is_conflict(&error) || is_lost(&error) {
        return Failed::Again;
    }
    Failed::Refused(of_server(error))
}

/// Returns why a message is not held.
#[cold]
pub(super) fn stale(id: u64, is_there: bool) -> Error {
    let because = if is_there {
        format!(
            "message {id} is held no more: it was given back, or hidden for too short a time, and somebody else may have \
             received it since"
        )
    } else {
        format!("message {id} is gone: somebody has completed or cleared it")
    };
    executor::error(ErrorKind::StaleReceipt, because)
}
