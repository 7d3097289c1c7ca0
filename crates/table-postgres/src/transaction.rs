//! Transactions of several statements, on the caller's thread.

use std::sync::Arc;

use table_engine::__executor as executor;
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::error::SqlState;

use crate::commit::{ATTEMPTS, outrun};
use crate::driver::DrivenConnection;
use crate::error::{is_lost, is_of_conflict, of_server};
use crate::pool::Pool;

/// Begins a transaction each of whose statements sees what was committed before it, whatever the database begins by default: what
/// waits for a lock and then looks is to see what the lock's holder has done.
pub(crate) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// How long a drop of tables waits for those that read them, before it is refused.
pub(crate) const LONGEST_DROP_WAIT: &str = "10s";

/// Runs statements in a transaction that `begin` begins, again if the server chose another one: it is committed if they return
/// something, and has changed nothing otherwise.
pub(crate) fn transaction<T>(
    pool: &Arc<Pool>,
    begin: &str,
    run: impl Fn(&DrivenConnection) -> Result<Option<T>>,
) -> Result<Option<T>> {
    for _ in 0..ATTEMPTS {
        match attempt(pool, begin, &run) {
            Err(error) if is_of_conflict(&error) => {}
            done => return done,
        }
    }
    Err(outrun())
}

/// Makes one attempt.
fn attempt<T>(
    pool: &Arc<Pool>,
    begin: &str,
    run: impl FnOnce(&DrivenConnection) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let mut losses = pool.losses();
    let mut connection = loop {
        let mut connection = pool.blocking()?;
        let Err(error) = connection.wait(connection.execute(begin)) else { break connection };
        if !connection.end_transaction() {
            connection.spend();
        }
        // Nothing has happened yet.
        if !is_lost(&error) || !losses.wait() {
            return Err(of_server(error));
        }
        pool.forget_idle();
    };
    match run(&connection) {
        Ok(Some(done)) => match connection.wait(connection.execute("COMMIT")) {
            Ok(()) => Ok(Some(done)),
            Err(error) if is_lost(&error) => Err(in_doubt(error)),
            Err(error) => Err(of_server(error)),
        },
        other => {
            if !connection.end_transaction() {
                connection.spend();
            }
            other
        }
    }
}

/// Runs statements in a transaction as [`transaction`] does, again and again while the server is lost: `run` sees what an attempt
/// has done whose answer was lost, and changes it no further. `begin` waits for such an attempt to end.
#[cfg(feature = "encrypt")]
pub(crate) fn repeatable<T>(
    pool: &Arc<Pool>,
    begin: &str,
    run: impl Fn(&DrivenConnection) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let mut losses = pool.losses();
    loop {
        match transaction(pool, begin, &run) {
            Err(error) if is_of_loss(&error) && losses.wait() => pool.forget_idle(),
            done => return done,
        }
    }
}

#[cfg(feature = "encrypt")]
fn is_of_loss(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::OutcomeUnknown | ErrorKind::Unreachable)
}

/// Returns the error of a change that may have happened.
#[cold]
pub(crate) fn in_doubt(error: tokio_postgres::Error) -> Error {
    let because = "the connection was lost before the answer came: look whether it has happened";
    executor::error(ErrorKind::OutcomeUnknown, because).caused_by(error)
}

/// Returns the error of a table that can't be dropped yet.
#[cold]
pub(crate) fn in_use(table: &str, error: tokio_postgres::Error) -> Error {
    match error.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => {
            let because = format!(
                "transactions have read or written `{table}` for more than {LONGEST_DROP_WAIT}, snapshots among them: end \
                 them, and drop it then"
            );
            executor::error(ErrorKind::StoreBusy, because)
        }
        _ => of_server(error),
    }
}
