//! Plans carried out: attempts until one succeeds or is refused, and what became of one whose answer was lost.

use table_engine::__executor::{self as executor, Committed, Refused};
use table_engine::{ErrorKind, Result};

use crate::attempt::{Attempted, Failed, attempt};
use crate::catalog::column;
use crate::clock::etag;
use crate::connection::{Call, Connection};
use crate::error::{damaged, of_server};
use crate::param::{Param, Params};
use crate::pool::Pool;
use crate::store::{PostgresStore, Token};
use crate::work::Work;

/// How often a plan is sent again when the server chose another one, or others were quicker.
const ATTEMPTS: u32 = 200;

/// What became of a plan whose answer was lost.
enum Settled {
    Done,
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
                if let Settled::Done = settle(store, token)? {
                    return Ok(Committed::at(etag(token.time)));
                }
            }
        }
    }
    Err(outrun())
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
                if let Settled::Done = settle_awaited(pool, store, token).await? {
                    return Ok(Committed::at(etag(token.time)));
                }
            }
        }
    }
    Err(outrun())
}

fn settle(store: &PostgresStore, token: Token) -> Result<Settled, Refused> {
    let mut losses = store.pool.losses();
    loop {
        store.pool.forget_idle();
        let asked =
            store.pool.blocking().and_then(|connection| connection.wait(ask(store, &connection, token)));
        match asked {
            Ok(settled) => return Ok(settled),
            Err(error) if !losses.wait() => return Err(unknown(error)),
            Err(_) => {}
        }
    }
}

async fn settle_awaited(pool: &Pool, store: &PostgresStore, token: Token) -> Result<Settled, Refused> {
    let mut losses = pool.losses();
    loop {
        pool.forget_idle();
        let asked = match pool.shared().await {
            Ok(connection) => ask(store, &connection, token).await,
            Err(error) => Err(error),
        };
        match asked {
            Ok(settled) => return Ok(settled),
            Err(error) if !pool.wait(&mut losses).await.map_err(Refused::whole)? => {
                return Err(unknown(error));
            }
            Err(_) => {}
        }
    }
}

/// Asks whether the plan of a token was carried out, and sees to it that it can't be afterwards.
async fn ask(store: &PostgresStore, connection: &Connection, token: Token) -> Result<Settled> {
    let call = |sql: String, values: &[i64]| {
        let mut params = Params::default();
        for value in values {
            params.add(Param::Number(*value));
        }
        Call { sql, params }
    };
    // Waits for the plan's transaction, if it is still on its way. If this one is there first, that one is refused.
    let take = format!(
        "INSERT INTO {} (session, number, time) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1",
        store.commits
    );
    let inserted =
        connection.query(&call(take, &[token.session, token.number, NEVER])).await.map_err(of_server)?;
    if !inserted.is_empty() {
        return Ok(Settled::Not);
    }
    let look = format!("SELECT time FROM {} WHERE session = $1 AND number = $2", store.commits);
    let found = connection.query(&call(look, &[token.session, token.number])).await.map_err(of_server)?;
    let found = found.first().ok_or_else(|| damaged("a record of a commit"))?;
    // It may be what an earlier question has put there, whose answer was lost too.
    Ok(if column::<i64>(found, 0)? == token.time { Settled::Done } else { Settled::Not })
}

/// Stands in the place of the time of a plan that is not to be carried out.
const NEVER: i64 = -1;

#[cold]
fn unknown(error: table_engine::Error) -> Refused {
    let because = "the connection was lost before the answer came, and the server could not be asked what became of it: read \
                   what is there";
    Refused::whole(executor::error(ErrorKind::OutcomeUnknown, because).caused_by(error))
}

#[cold]
fn outrun() -> Refused {
    let because = format!("other changes of the same rows were quicker {ATTEMPTS} times in a row");
    Refused::whole(executor::error(ErrorKind::Throttled, because))
}
