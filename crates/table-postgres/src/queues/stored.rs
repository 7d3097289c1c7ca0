//! The messages of a queue as they stand, those that are hidden or held too.

use std::sync::Arc;

use table_engine::__executor::{EachMessage, StoredMessage};
use table_engine::Result;
use tokio_postgres::Row;

use super::parts::NOW;
use super::{Shared, dropped};
use crate::catalog::column;
use crate::clock;
use crate::connection::Call;
use crate::error::{damaged, is_lost, of_server};
use crate::pool::{Blocking, Pool};
use crate::snapshot::BEGIN;

/// The messages that are read at a time: at most 13 MB.
const PAGE: usize = 200;

/// The messages in the order in which they would be received: those that were hidden and show by now, those that are ready, and
/// those that show later. `$2` is the time of the listing.
const SORTS: [&str; 3] = ["is_hidden AND shows <= $2", "NOT is_hidden", "is_hidden AND shows > $2"];

/// A transaction that sees one state of the queue.
struct Listing {
    connection: Blocking,
}

impl Drop for Listing {
    fn drop(&mut self) {
        if !self.connection.end_transaction() {
            self.connection.spend();
        }
    }
}

impl Listing {
    /// Begins the transaction, and returns it with the answer to its first statement.
    fn begin(pool: &Arc<Pool>, first: Call) -> Result<(Self, Vec<Row>)> {
        let mut losses = pool.losses();
        let calls = [first];
        loop {
            let listing = Self { connection: pool.blocking()? };
            let connection = &listing.connection;
            let asked = connection.wait(connection.begin_and_query(BEGIN, &calls));
            match asked {
                Ok(mut answers) => return Ok((listing, answers.pop().unwrap_or_default())),
                // Nothing has been given yet, so it begins on another connection.
                Err(error) if is_lost(&error) && losses.wait() => pool.forget_idle(),
                Err(error) => return Err(of_server(error)),
            }
        }
    }

    fn query(&self, call: &Call) -> Result<Vec<Row>> {
        self.connection.wait(self.connection.query(call)).map_err(of_server)
    }
}

/// Gives each message of a queue, until `each` has enough.
pub(super) fn stored(shared: &Shared, queue: i64, each: EachMessage<'_>) -> Result<()> {
    let find = format!("SELECT {NOW} FROM {} WHERE id = $1 AND name IS NOT NULL", shared.tables.queues);
    let (listing, found) = Listing::begin(&shared.pool, super::of_numbers(find, &[queue]))?;
    let now: i64 = column(found.first().ok_or_else(dropped)?, 0)?;
    for sort in SORTS {
        let mut last = (i64::MIN, i64::MIN);
        loop {
            let sql = format!(
                "SELECT id, shows, sent, expires, tries, error, body, unique_key, is_hidden AND shows > $2 FROM {}
                 WHERE queue = $1 AND {sort} AND (shows, id) > ($3, $4) AND coalesce(expires > $2, true)
                 ORDER BY shows, id LIMIT {PAGE}",
                shared.tables.messages
            );
            let page = listing.query(&super::of_numbers(sql, &[queue, now, last.0, last.1]))?;
            for row in &page {
                last = (column(row, 1)?, column(row, 0)?);
                if each(message(row)?)?.is_break() {
                    return Ok(());
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
    }
    Ok(())
}

fn message(row: &Row) -> Result<StoredMessage> {
    let error: &str = column(row, 5)?;
    let hidden_until = if column(row, 8)? { Some(clock::ticks(column(row, 1)?)) } else { None };
    let unique = column::<Option<Vec<u8>>>(row, 7)?.map(String::from_utf8).transpose();
    Ok(StoredMessage {
        id: column::<i64>(row, 0)?.cast_unsigned(),
        text: column::<&str>(row, 6)?.into(),
        sent: clock::ticks(column(row, 2)?),
        expires: column::<Option<i64>>(row, 3)?.map(clock::ticks),
        hidden_until,
        count: u32::try_from(column::<i64>(row, 4)?)
            .map_err(|_| damaged("how often a message was received"))?,
        error: Some(error).filter(|error| !error.is_empty()).map(Into::into),
        unique: unique.map_err(|_| damaged("the unique key of a message"))?.map(Into::into),
    })
}
