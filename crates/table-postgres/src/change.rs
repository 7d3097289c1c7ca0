//! Transactions that change what is noted of kinds, and of the jobs that do so: one after another, each beside no writer of the
//! tables that it is of.

use table_engine::__executor as executor;
use table_engine::{Error, ErrorKind, Result};
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;

use crate::catalog::column;
use crate::commit::{ATTEMPTS, outrun};
use crate::connection::Call;
use crate::driver::DrivenConnection;
use crate::error::{damaged, is_conflict, is_lost, of_server};
use crate::store::PostgresStore;
use crate::table::TableEntry;
use crate::transaction::{in_doubt, in_use};

/// How long such a transaction waits for a table that others hold. Writers wait behind it, so this is no longer than they bear.
const LONGEST_WAIT: &str = "10s";

/// Why a transaction is not carried out.
pub(crate) enum Trouble {
    /// What the server says, or the connection: another attempt may succeed.
    Server(tokio_postgres::Error),
    Own(Error),
}

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl Trouble {
    /// Returns what a caller is told who makes no other attempt.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Server(error) => of_server(error),
            Self::Own(error) => error,
        }
    }
}

/// A transaction that has begun.
pub(crate) struct Change<'c> {
    pub(crate) store: &'c PostgresStore,
    connection: &'c DrivenConnection,
}

impl<'c> Change<'c> {
    /// Returns the transaction that has begun on this connection.
    pub(crate) fn new(store: &'c PostgresStore, connection: &'c DrivenConnection) -> Self {
        Self { store, connection }
    }

    /// Returns the answer to a statement.
    pub(crate) fn ask(&self, call: &Call) -> Result<Vec<Row>, Trouble> {
        Ok(self.connection.wait(self.connection.query(call))?)
    }

    /// Runs statements that have no answer.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), Trouble> {
        Ok(self.connection.wait(self.connection.execute(sql))?)
    }

    /// Runs statements that are no matter if they fail.
    pub(crate) fn attempt(&self, sql: &str) -> Result<(), Trouble> {
        Ok(self.connection.wait(self.connection.attempt(sql))?)
    }

    /// Waits for all that write to these tables, and keeps others from it until the transaction ends.
    pub(crate) fn lock(&self, tables: &mut [&TableEntry]) -> Result<(), Trouble> {
        // In the order of their numbers, as others take these locks.
        tables.sort_unstable_by_key(|table| table.id);
        for table in tables {
            let lock = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", table.rows);
            let locked = self.connection.wait(self.connection.execute(&lock));
            locked.map_err(|error| held(&table.name, error))?;
        }
        Ok(())
    }

    /// Waits for all that read or write a table that is to be dropped, and keeps others from it.
    pub(crate) fn lock_for_drop(&self, table: &TableEntry) -> Result<(), Trouble> {
        // A writer that notes a kind waits for this table, or is done: so no layout comes in between.
        let lock = format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", table.rows);
        let locked = self.connection.wait(self.connection.execute(&lock));
        locked.map_err(|error| Trouble::Own(in_use(&table.name, error)))
    }

    /// Says that something else is noted of the store's kinds; returns the generation from which on it is.
    pub(crate) fn raise_generation(&self) -> Result<i64, Trouble> {
        let answer = self.ask(&crate::store::plain(&self.store.catalog.raise_generation()))?;
        let row = answer.first().ok_or_else(|| damaged("the record of the store"))?;
        Ok(column(row, 0)?)
    }
}

/// Returns the error of a table that others hold for long.
fn held(table: &str, error: tokio_postgres::Error) -> Trouble {
    match error.code() {
        Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => {
            let because = format!(
                "a transaction has written to `{table}`, or something goes over it, such as a `VACUUM`, for more than \
                 {LONGEST_WAIT}: try it again when that has ended"
            );
            Trouble::Own(executor::error(ErrorKind::StoreBusy, because))
        }
        _ => Trouble::Server(error),
    }
}

impl PostgresStore {
    /// Runs a transaction that changes what is noted of kinds: such transactions follow one another. It is committed if `run`
    /// returns something, and has changed nothing otherwise.
    ///
    /// It is run again if the server chose another transaction, or the connection was lost. In the second case it may have been
    /// carried out, which it is to find for itself: a kind's epoch says so, or what was to be noted is there.
    pub(crate) fn change<T>(
        &self,
        run: impl Fn(&Change<'_>) -> Result<Option<T>, Trouble>,
    ) -> Result<Option<T>> {
        let mut losses = self.pool.losses();
        let mut may_have_happened = false;
        for _ in 0..ATTEMPTS {
            let mut connection = self.pool.blocking()?;
            let done = self.carry_out_change(&connection, &run, &mut may_have_happened);
            if !matches!(done, Ok(Some(_))) && !connection.end_transaction() {
                connection.spend();
            }
            match done {
                Ok(done) => return Ok(done),
                Err(Trouble::Own(error)) => return Err(error),
                Err(Trouble::Server(error)) if is_conflict(&error) => {}
                Err(Trouble::Server(error)) if is_lost(&error) => {
                    if !losses.wait() {
                        return Err(if may_have_happened { in_doubt(error) } else { of_server(error) });
                    }
                    self.pool.forget_idle();
                }
                Err(Trouble::Server(error)) => return Err(of_server(error)),
            }
        }
        Err(outrun())
    }

    fn carry_out_change<T>(
        &self,
        connection: &DrivenConnection,
        run: &impl Fn(&Change<'_>) -> Result<Option<T>, Trouble>,
        may_have_happened: &mut bool,
    ) -> Result<Option<T>, Trouble> {
        let begin = format!("{}; SET LOCAL lock_timeout = '{LONGEST_WAIT}'", self.catalog.begin_change());
        connection.wait(connection.execute(&begin))?;
        let done = run(&Change::new(self, connection))?;
        if done.is_some() {
            *may_have_happened = true;
            connection.wait(connection.execute("COMMIT"))?;
        }
        Ok(done)
    }
}
