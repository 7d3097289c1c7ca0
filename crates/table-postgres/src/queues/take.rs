//! Messages that are received or looked at, and what a queue counts.

use table_engine::__executor::{Delivery, QueueStats, Receipt};
use table_engine::Result;
use tokio_postgres::Row;

use super::parts::{Count, NOW, QueuePart, QueueStatement, QueueTables, rows_of};
use crate::builder::Builder;
use crate::catalog::column;
use crate::clock;
use crate::connection::Call;
use crate::error::damaged;
use crate::param::{Param, Params};
use crate::token::Token;

/// What is received.
#[derive(Clone, Copy)]
pub(super) struct Receiving {
    /// At most so many.
    pub(super) most: usize,
    /// How long they are hidden, in ticks.
    pub(super) visibility: i64,
    /// A message that was received so often already is set aside.
    pub(super) dequeues: u32,
}

/// Messages that were received.
pub(super) struct Received {
    /// How many were found, those among them that were removed or set aside.
    pub(super) found: usize,
    pub(super) deliveries: Vec<Delivery>,
}

/// The columns of a message as it is given out.
const COLUMNS: &str = "id, delivery, tries, sent, expires, shows, error, body";

/// Returns those columns of what has this name in a statement.
fn columns_of(name: &str) -> String {
    COLUMNS.split(", ").map(|column| format!("{name}.{column}")).collect::<Vec<_>>().join(", ")
}

impl Receiving {
    /// Returns the statement that receives messages of a queue. It notes the token only if it gives some, so that a queue that
    /// is empty can be looked at without anything being written.
    pub(super) fn call(self, tables: &QueueTables, queue: i64, token: Option<Token>) -> Call {
        let messages = &tables.messages;
        let mut builder = Builder::default();
        let mut statement = QueueStatement::new(&mut builder, tables);
        let queue = statement.queue(queue, false);
        let queue = statement.alive(queue, token);
        let most = super::limit(self.most);
        let next = next(&mut statement, &queue, most, "FOR UPDATE SKIP LOCKED");
        let dequeues = statement.builder.params.add(Param::Number(self.dequeues.into()));
        let found = statement.builder.part(&format!(
            "SELECT place, id, shows AS former, error, coalesce(expires <= {NOW}, false) AS is_over,
             NOT coalesce(expires <= {NOW}, false) AND tries >= {dequeues} AS is_aside FROM {next}"
        ));
        let expired = statement.builder.part(&format!(
            "DELETE FROM {messages} AS t USING {found} AS f WHERE t.queue = {} AND t.id = f.id AND f.is_over RETURNING 1",
            queue.number
        ));
        statement.counts.add(&queue.number, Count::Expired, &rows_of(&expired));
        let aside = statement.set_aside(&queue, &found);
        let visibility = statement.builder.params.add(Param::Number(self.visibility));
        let given = statement.builder.part(&format!(
            "UPDATE {messages} AS t SET is_hidden = true, is_held = true, shows = {NOW} + {visibility},
             delivery = t.delivery + 1, tries = t.tries + 1 FROM {found} AS f WHERE t.queue = {} AND t.id = f.id
             AND NOT f.is_over AND NOT (f.is_aside AND EXISTS (SELECT FROM {}))
             RETURNING f.place, f.former, {}",
            queue.number,
            aside.target,
            columns_of("t")
        ));
        statement.count();
        let all = |column| format!("ARRAY(SELECT {column} FROM {given} ORDER BY place, former, id)");
        let answer = statement.builder.part(&format!(
            "SELECT CASE WHEN EXISTS (SELECT FROM {given}) THEN {} || {} END AS answer",
            all("id"),
            all("delivery")
        ));
        statement.note(token, &answer);
        builder.select(&format!(
            "SELECT {}, {COLUMNS} FROM (SELECT FROM {}) AS q LEFT JOIN {given} ON true ORDER BY place, former, id",
            rows_of(&found),
            queue.found
        ))
    }
}

/// Adds the parts that find the messages that are next to be received: those that were hidden and show by now, and then those
/// that are ready.
fn next(statement: &mut QueueStatement<'_, '_>, queue: &QueuePart, most: i64, lock: &str) -> String {
    let (messages, QueuePart { number, found }) = (&statement.tables.messages, queue);
    let most = statement.builder.params.add(Param::Number(most));
    let all = format!(
        "SELECT * FROM {messages} WHERE queue = {number} AND EXISTS (SELECT FROM {found} WHERE NOT is_paused)"
    );
    let shown = statement
        .builder
        .part(&format!("{all} AND is_hidden AND shows <= {NOW} ORDER BY shows, id LIMIT {most} {lock}"));
    let ready = statement.builder.part(&format!(
        "{all} AND NOT is_hidden ORDER BY shows, id LIMIT {most} - {} {lock}",
        rows_of(&shown)
    ));
    statement.builder.part(&format!("SELECT 0 AS place, * FROM {shown} UNION ALL SELECT 1, * FROM {ready}"))
}

/// Returns the statement that looks at the messages that are next.
pub(super) fn peek(tables: &QueueTables, queue: i64, most: i64) -> Call {
    let mut builder = Builder::default();
    let mut statement = QueueStatement::new(&mut builder, tables);
    let queue = statement.queue(queue, false);
    let next = next(&mut statement, &queue, most, "");
    // What would not be given out is not there any more.
    builder.select(&format!(
        "SELECT 0::bigint, m.* FROM (SELECT FROM {}) AS q LEFT JOIN (SELECT {COLUMNS}, place FROM {next}
         WHERE NOT coalesce(expires <= {NOW}, false)) AS m ON true ORDER BY place, shows, id",
        queue.found
    ))
}

/// Returns the statement that finds messages again that were received, by their numbers and their deliveries: the answer was
/// lost.
pub(super) fn again(tables: &QueueTables, queue: i64, answer: &[i64]) -> Call {
    let (ids, deliveries) = answer.split_at_checked(answer.len() / 2).unwrap_or_default();
    let mut params = Params::default();
    let queue = params.add(Param::Number(queue));
    let ids = params.add(Param::Numbers(ids.to_vec()));
    let deliveries = params.add(Param::Numbers(deliveries.to_vec()));
    let columns = columns_of("t");
    let sql = format!(
        "SELECT 0::bigint, {columns} FROM unnest({ids}, {deliveries}) WITH ORDINALITY AS r(id, delivery, place), {} AS t
         WHERE t.queue = {queue} AND t.id = r.id AND t.is_held AND t.delivery = r.delivery
         ORDER BY r.place",
        tables.messages
    );
    Call { sql, params }
}

/// Returns what was received; `None` if the queue is no more.
pub(super) fn received(answer: &[Row]) -> Result<Option<Received>> {
    let Some(first) = answer.first() else { return Ok(None) };
    let found = usize::try_from(column::<i64>(first, 0)?).map_err(|_| damaged("the answer of the server"))?;
    Ok(deliveries(answer)?.map(|deliveries| Received { found, deliveries }))
}

/// Returns the messages of an answer; `None` if the queue is no more.
pub(super) fn deliveries(answer: &[Row]) -> Result<Option<Vec<Delivery>>> {
    if answer.is_empty() {
        return Ok(None);
    }
    // A queue that gives nothing is a row without a message.
    let each = answer.iter().filter_map(|row| delivery(row).transpose());
    each.collect::<Result<_>>().map(Some)
}

fn delivery(row: &Row) -> Result<Option<Delivery>> {
    let Some(id) = column::<Option<i64>>(row, 1)? else { return Ok(None) };
    let small =
        |at| u32::try_from(column::<i64>(row, at)?).map_err(|_| damaged("how often a message was received"));
    let until = clock::ticks(column(row, 6)?);
    let error: &str = column(row, 7)?;
    Ok(Some(Delivery {
        receipt: Receipt { id: id.cast_unsigned(), delivery: small(2)?, until },
        count: small(3)?,
        sent: clock::ticks(column(row, 4)?),
        expires: column::<Option<i64>>(row, 5)?.map(clock::ticks),
        error: Some(error).filter(|error| !error.is_empty()).map(Into::into),
        body: column::<&str>(row, 8)?.into(),
    }))
}

/// Returns the statement that counts what a queue has.
pub(super) fn stats(tables: &QueueTables, queue: i64) -> Call {
    let QueueTables { queues, messages, counts, .. } = tables;
    let sql = format!(
        "SELECT q.name, q.is_paused, m.*, c.* FROM {queues} AS q,
         LATERAL (SELECT count(*) FILTER (WHERE NOT is_hidden OR shows <= {NOW}),
            count(*) FILTER (WHERE is_hidden AND shows > {NOW}), coalesce(sum(octet_length(body)), 0)::bigint,
            count(unique_key), min(shows) FILTER (WHERE NOT is_hidden) FROM {messages} WHERE queue = q.id) AS m,
         LATERAL (SELECT coalesce(sum(sent), 0)::bigint, coalesce(sum(completed), 0)::bigint,
            coalesce(sum(poisoned), 0)::bigint, coalesce(sum(expired), 0)::bigint FROM {counts}
            WHERE queue = q.id) AS c
         WHERE q.id = $1 AND q.name IS NOT NULL"
    );
    super::of_numbers(sql, &[queue])
}

/// Returns what was counted.
pub(super) fn counted(row: &Row) -> Result<QueueStats> {
    let number = |at| column::<i64>(row, at).map(i64::cast_unsigned);
    let mut stats = QueueStats::default();
    (stats.name, stats.is_paused) = (column(row, 0)?, column(row, 1)?);
    (stats.ready, stats.hidden, stats.bytes, stats.unique) = (number(2)?, number(3)?, number(4)?, number(5)?);
    stats.oldest_ready = column::<Option<i64>>(row, 6)?.map(clock::ticks);
    (stats.sent, stats.completed) = (number(7)?, number(8)?);
    (stats.poisoned, stats.expired) = (number(9)?, number(10)?);
    Ok(stats)
}
