//! The records of jobs: a row of the table `_jobs` for each that has begun and not ended.

use table_engine::__executor::{JobRecord, Position};
use table_engine::Result;
use table_engine::Ticks;
use tokio_postgres::Row;

use crate::catalog::{Catalog, column};
use crate::connection::Call;
use crate::error::damaged;
use crate::keys::{escape, unescape};
use crate::param::{Param, Params};

/// The columns of a record behind the table's number and the job's name.
const COLUMNS: &str = "begun, done, total, changed, stamp, phase, position, ends_at, asked, counts";

/// Returns the statement that reads the jobs of a table.
pub(crate) fn all(catalog: &Catalog, table: u32) -> Call {
    let mut params = Params::default();
    let table = params.add(Param::Number(table.into()));
    let sql = format!(
        "SELECT name, {COLUMNS} FROM {} WHERE table_id = {table} ORDER BY name COLLATE \"C\"",
        catalog.table("_jobs")
    );
    Call { sql, params }
}

/// Returns the statement that reads one job of a table; `locks`: and keeps others from going on with it until the transaction
/// ends.
pub(crate) fn one(catalog: &Catalog, table: u32, name: &str, locks: bool) -> Call {
    let mut params = Params::default();
    let (table, name) = (params.add(Param::Number(table.into())), params.add(name.into()));
    let lock = if locks { " FOR UPDATE" } else { "" };
    let sql = format!(
        "SELECT name, {COLUMNS} FROM {} WHERE table_id = {table} AND name = {name}{lock}",
        catalog.table("_jobs")
    );
    Call { sql, params }
}

/// Returns the jobs of an answer to either of those, by their names.
pub(crate) fn found(answer: &[Row]) -> Result<Vec<(String, JobRecord)>> {
    answer.iter().map(|row| Ok((column(row, 0)?, record(row)?))).collect()
}

/// Returns the statement that notes how far a job of a table is, or forgets it. It does nothing if there is no such table.
pub(crate) fn put(catalog: &Catalog, table: u32, name: &str, record: Option<&JobRecord>) -> Call {
    let (mut params, jobs) = (Params::default(), catalog.table("_jobs"));
    let (table, name) = (params.add(Param::Number(table.into())), params.add(name.into()));
    let Some(record) = record else {
        let sql = format!("DELETE FROM {jobs} WHERE table_id = {table} AND name = {name}");
        return Call { sql, params };
    };
    let number = |number: u64| Param::Number(number.cast_signed());
    let values = [
        number(record.begun.get()),
        number(record.done),
        number(record.total),
        number(record.changed),
        number(record.stamp),
        Param::Number(record.phase.into()),
        position(record.position.as_ref()),
        position(record.end.as_ref()),
        Param::Text(record.asked.replace('\0', "\u{fffd}")),
        Param::Numbers(record.counts.iter().map(|count| count.cast_signed()).collect()),
    ];
    let values = values.map(|value| params.add(value)).join(", ");
    let assigned: Vec<_> = COLUMNS.split(", ").map(|name| format!("{name} = EXCLUDED.{name}")).collect();
    let sql = format!(
        "INSERT INTO {jobs} (table_id, name, {COLUMNS}) SELECT {table}, {name}, {values}
         FROM {} AS t WHERE t.id = {table} ON CONFLICT (table_id, name) DO UPDATE SET {}",
        catalog.table("_tables"),
        assigned.join(", "),
    );
    Call { sql, params }
}

/// Returns a row's keys as a column has them: none, or both.
fn position(position: Option<&Position>) -> Param {
    let keys = position.into_iter().flat_map(|Position { partition, row }| [partition, row]);
    Param::Texts(keys.map(|key| escape(key).into_owned()).collect())
}

fn record(row: &Row) -> Result<JobRecord> {
    let number = |at: usize| column::<i64>(row, at).map(i64::cast_unsigned);
    let is_damaged = || damaged("the record of a job");
    let keys = |at: usize| -> Result<Option<Position>> {
        let keys: Vec<&str> = column(row, at)?;
        match &keys[..] {
            [] => Ok(None),
            [partition, row] => {
                let [partition, row] = [partition, row].map(|key| unescape(key).into_owned());
                Ok(Some(Position { partition, row }))
            }
            _ => Err(is_damaged()),
        }
    };
    Ok(JobRecord {
        begun: Ticks::new(number(1)?).ok_or_else(is_damaged)?,
        done: number(2)?,
        total: number(3)?,
        changed: number(4)?,
        stamp: number(5)?,
        phase: u8::try_from(column::<i32>(row, 6)?).map_err(|_| is_damaged())?,
        position: keys(7)?,
        end: keys(8)?,
        asked: column(row, 9)?,
        counts: column::<Vec<i64>>(row, 10)?.into_iter().map(i64::cast_unsigned).collect(),
    })
}
