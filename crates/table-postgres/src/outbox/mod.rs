//! The outbox: which copies are to follow their entities.
//!
//! A change that leaves something to be done adds a record by the statement that it is, and reads nothing for it. All records of
//! an entity together are its entry. Who propagates it puts one record in the place of those that were read, or none.

mod entry;
mod in_plan;

use std::sync::Arc;

use table_engine::__executor::{Outbox, OutboxCount, OutboxEntry, Propagators, Source};
use table_engine::Result;
use table_engine::model::EntityKeys;

use self::entry::Entry;
pub(crate) use self::in_plan::{PlanEntries, Settled};
use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::keys::{escape, unescape};
use crate::param::{Param, Params};
use crate::store::PostgresStore;

/// How many records of tables that were dropped go at a time.
const PURGED_AT_ONCE: usize = 10_000;

/// Returns the statements that make the table of the outbox in a schema, whose name is quoted.
pub(crate) fn make_table(schema: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {schema}._outbox (
            table_id bigint NOT NULL, pk text COLLATE \"C\" NOT NULL, rk text COLLATE \"C\" NOT NULL,
            number bigint GENERATED ALWAYS AS IDENTITY, is_base boolean NOT NULL, body bytea NOT NULL,
            PRIMARY KEY (table_id, pk, rk, number));"
    )
}

/// Returns the name of the table.
pub(crate) fn table(catalog: &Catalog) -> String {
    catalog.table("_outbox")
}

/// Returns the statement that asks whether the entity of these keys has an entry.
pub(crate) fn has_entry(catalog: &Catalog, table_id: u32, keys: EntityKeys<'_>) -> Call {
    let mut params = Params::default();
    let table_id = params.add(Param::Number(table_id.into()));
    let partition = params.add(Param::Text(escape(keys.partition).into_owned()));
    let row = params.add(Param::Text(escape(keys.row).into_owned()));
    let sql = format!(
        "SELECT EXISTS (SELECT FROM {} WHERE table_id = {table_id} AND pk = {partition} AND rk = {row})",
        table(catalog)
    );
    Call { sql, params }
}

impl Outbox for PostgresStore {
    fn after(&self, last: Option<&OutboxEntry>, most: usize) -> Result<Vec<OutboxEntry>> {
        let answer = self.query(&page(&self.catalog, last.map(|last| &last.source), most))?;
        let mut entries = Vec::new();
        let mut rows = answer.iter().peekable();
        while let Some(first) = rows.peek() {
            let (table, partition, row) = (column::<i64>(first, 0)?, column(first, 1)?, column(first, 2)?);
            let key: (i64, &str, &str) = (table, partition, row);
            let name: Option<String> = column(first, 6)?;
            let mut entry = Entry::default();
            while let Some(row) = rows.peek() {
                if (column::<i64>(row, 0)?, column::<&str>(row, 1)?, column::<&str>(row, 2)?) != key {
                    break;
                }
                entry.take(row, 3)?;
                rows.next();
            }
            let table = u32::try_from(table).map_err(|_| crate::error::damaged("an entry of the outbox"))?;
            let (partition, row) = (unescape(partition).into_owned(), unescape(row).into_owned());
            entries.extend(entry.read(Source { table, partition, row }, name));
        }
        Ok(entries)
    }

    fn count(&self) -> Result<OutboxCount> {
        let sql = format!(
            "SELECT count(*) FROM (SELECT DISTINCT table_id, pk, rk FROM {}) AS e",
            table(&self.catalog)
        );
        let answer = self.query(&Call { sql, params: Params::default() })?;
        let count = answer.first().map(|row| column::<i64>(row, 0)).transpose()?.unwrap_or_default();
        Ok(OutboxCount { entries: count.cast_unsigned() })
    }

    fn purge(&self) -> Result<()> {
        let (outbox, tables) = (table(&self.catalog), self.catalog.table("_tables"));
        let sql = format!(
            "DELETE FROM {outbox} WHERE (table_id, pk, rk, number) IN (
                SELECT table_id, pk, rk, number FROM {outbox} AS o
                WHERE NOT EXISTS (SELECT FROM {tables} WHERE id = o.table_id) LIMIT {PURGED_AT_ONCE}) RETURNING 1"
        );
        while self.query(&Call { sql: sql.clone(), params: Params::default() })?.len() == PURGED_AT_ONCE {}
        Ok(())
    }

    fn propagators(&self) -> &Arc<Propagators> {
        &self.propagators
    }
}

/// Returns the statement that reads the records of so many entities at most, behind one of them.
fn page(catalog: &Catalog, last: Option<&Source>, most: usize) -> Call {
    let mut params = Params::default();
    let condition = last.map_or_else(String::new, |last| {
        let table_id = params.add(Param::Number(last.table.into()));
        let partition = params.add(Param::Text(escape(&last.partition).into_owned()));
        let row = params.add(Param::Text(escape(&last.row).into_owned()));
        format!("WHERE (table_id, pk, rk) > ({table_id}, {partition}, {row})")
    });
    let most = params.add(Param::Number(i64::try_from(most).unwrap_or(i64::MAX)));
    let outbox = table(catalog);
    let sql = format!(
        "SELECT o.table_id, o.pk, o.rk, o.number, o.is_base, o.body, t.name
         FROM (SELECT DISTINCT table_id, pk, rk FROM {outbox} {condition} ORDER BY table_id, pk, rk LIMIT {most}) AS e
         JOIN {outbox} AS o ON o.table_id = e.table_id AND o.pk = e.pk AND o.rk = e.rk
         LEFT JOIN {} AS t ON t.id = o.table_id
         ORDER BY o.table_id, o.pk, o.rk, o.is_base DESC, o.number",
        catalog.table("_tables")
    );
    Call { sql, params }
}
