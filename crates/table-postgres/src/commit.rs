//! Plans carried out: attempts until one succeeds or is refused, and what became of one whose answer was lost.

use std::sync::Arc;
use std::time::Instant;

use table_engine::__executor::{self as executor, Committed, Refused};
use table_engine::{Error, ErrorKind, Result};

use crate::attempt::{Attempted, attempt};
use crate::catalog::column;
use crate::clock::etag;
use crate::connection::{Call, Connection};
use crate::error::{damaged, of_server};
use crate::failed::Failed;
use crate::param::{Param, Params};
use crate::pool::Pool;
use crate::store::PostgresStore;
use crate::token::{self, Token};
use crate::work::Work;

/// How often a plan is sent again when the server chose another one, or others were quicker.
pub(crate) const ATTEMPTS: u32 = 200;

/// What became of a plan whose answer was lost.
pub(crate) enum Settled {
    /// It was carried out, and its statement has noted these numbers as its answer.
    Done(#[cfg_attr(not(feature = "queue"), expect(dead_code, reason = "plans have none"))] Option<Vec<i64>>),
    /// It was not carried out, and can't be any more.
    Not,
}

/// Carries out a plan on the caller's thread.
pub(crate) fn commit(store: &PostgresStore, work: &Work) -> Result<Committed, Refused> {
    let mut looks = false;
    for _ in 0..ATTEMPTS {
        let mut connection = store.pool.blocking().map_err(Refused::whole)?;
        let Attempted { outcome, is_open } = connection.wait(attempt(store, &connection, work, looks));
        if is_open && !connection.end_transaction() {
            connection.spend();
        }
        match outcome {
            Ok(committed) => return Ok(committed),
            Err(Failed::Refused(refused)) => return Err(refused),
            Err(Failed::Again) => {}
            Err(Failed::Hidden) => looks = true,
            Err(Failed::Lost(token)) => {
                connection.spend();
                drop(connection);
                let settled = settle(&store.pool, &store.commits, token).map_err(Refused::whole)?;
                if let Settled::Done(_) = settled {
                    return Ok(Committed::at(etag(token.time)));
                }
            }
        }
    }
    Err(Refused::whole(outrun()))
}

/// Carries out a plan, and waits without a thread.
pub(crate) async fn commit_awaited(
    pool: &Pool,
    store: &PostgresStore,
    work: &Work,
) -> Result<Committed, Refused> {
    let mut looks = false;
    for _ in 0..ATTEMPTS {
        let mut connection = pool.shared().await.map_err(Refused::whole)?;
        // A future that is dropped in between leaves a transaction that only the connection's end ends.
        connection.spend();
        let Attempted { outcome, is_open } = attempt(store, &connection, work, looks).await;
        if is_open {
            connection.roll_back();
        }
        if !matches!(outcome, Err(Failed::Lost(_))) {
            connection.keep();
        }
        drop(connection);
        match outcome {
            Ok(committed) => return Ok(committed),
            Err(Failed::Refused(refused)) => return Err(refused),
            Err(Failed::Again) => {}
            Err(Failed::Hidden) => looks = true,
            Err(Failed::Lost(token)) => {
                let settled = settle_awaited(pool, &store.commits, token).await.map_err(Refused::whole)?;
                if let Settled::Done(_) = settled {
                    return Ok(Committed::at(etag(token.time)));
                }
            }
        }
    }
    Err(Refused::whole(outrun()))
}

/// Finds out what became of the change of a token whose answer was lost; `commits` is the table with the tokens.
pub(crate) fn settle(pool: &Arc<Pool>, commits: &str, token: Token) -> Result<Settled> {
    let mut losses = pool.losses();
    loop {
        pool.forget_idle();
        let asked = pool.blocking().and_then(|connection| connection.wait(ask(commits, &connection, token)));
        match asked {
            Ok(settled) => return certain(settled, token),
            Err(error) if !losses.wait() => return Err(unknown(error)),
            Err(_) => {}
        }
    }
}

/// Does what [`settle`] does, and waits without a thread.
pub(crate) async fn settle_awaited(pool: &Pool, commits: &str, token: Token) -> Result<Settled> {
    let mut losses = pool.losses();
    loop {
        pool.forget_idle();
        let asked = match pool.shared().await {
            Ok(connection) => ask(commits, &connection, token).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(settled) => return certain(settled, token),
            Err(error) if !pool.wait(&mut losses).await? => {
                return Err(unknown(error));
            }
            Err(_) => {}
        }
    }
}

/// Refuses to say that a change was not carried out of which that is not certain: its token may have been there, and be removed.
fn certain(settled: Settled, token: Token) -> Result<Settled> {
    if matches!(settled, Settled::Not) && token.may_be_removed(Instant::now()) {
        let because = "the answer was lost, and it came to light too late to ask the server what became of it: read what is there";
        return Err(executor::error(ErrorKind::OutcomeUnknown, because));
    }
    Ok(settled)
}

/// Asks whether the plan of a token was carried out, and sees to it that it can't be afterwards.
async fn ask(commits: &str, connection: &Connection, token: Token) -> Result<Settled> {
    let call = |sql: String, values: &[i64]| {
        let mut params = Params::default();
        for value in values {
            params.add(Param::Number(*value));
        }
        Call { sql, params }
    };
    // Waits for the plan's transaction, if it is still on its way. If this one is there first, that one is refused. Some take the
    // token's lock before they hold any row, so that nothing is held any more when this has waited.
    let held = token::lock("$1", "$2");
    let take = format!(
        "WITH l AS MATERIALIZED (SELECT {held}) INSERT INTO {commits} (session, number, time)
         SELECT $1, $2, $3 FROM l ON CONFLICT DO NOTHING RETURNING 1"
    );
    let inserted =
        connection.query(&call(take, &[token.session, token.number, NEVER])).await.map_err(of_server)?;
    if !inserted.is_empty() {
        return Ok(Settled::Not);
    }
    let look = format!("SELECT time, answer FROM {commits} WHERE session = $1 AND number = $2");
    let found = connection.query(&call(look, &[token.session, token.number])).await.map_err(of_server)?;
    let found = found.first().ok_or_else(|| damaged("a record of a commit"))?;
    // It may be what an earlier question has put there, whose answer was lost too.
    Ok(if column::<i64>(found, 0)? == token.time { Settled::Done(column(found, 1)?) } else { Settled::Not })
}

/// Stands in the place of the time of a plan that is not to be carried out.
const NEVER: i64 = -1;

#[cold]
fn unknown(error: Error) -> Error {
    let because = "the connection was lost before the answer came, and the server could not be asked what became of it: read \
                   what is there";
    executor::error(ErrorKind::OutcomeUnknown, because).caused_by(error)
}

#[cold]
pub(crate) fn outrun() -> Error {
    let because = format!("other changes of the same rows were quicker {ATTEMPTS} times in a row");
    executor::error(ErrorKind::Throttled, because)
}
