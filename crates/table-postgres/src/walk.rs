//! Walks over the rows of a table in one snapshot, a page after another: however many there are, few are held at a time.

use table_engine::Result;
use tokio_postgres::Row;

use crate::catalog::column;
use crate::connection::Call;
use crate::keys::{escape, unescape};
use crate::param::{Param, Params};
use crate::snapshot::PostgresSnapshot;
use crate::table::TableEntry;

/// How many rows are read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// The keys of a row.
pub(crate) type RowKeys = (String, String);

/// Gives `each` the rows of a table in the order of their keys, those of these kinds alone if any are named: the keys of a row,
/// and an answer that has its kind and its body in the columns from [`CONTENT`] on.
pub(crate) fn each_row(
    snapshot: &PostgresSnapshot,
    entry: &TableEntry,
    kinds: Option<&[&str]>,
    each: &mut dyn FnMut(&RowKeys, &Row) -> Result<()>,
) -> Result<()> {
    let mut last: Option<RowKeys> = None;
    loop {
        let rows = snapshot.query(page(entry, kinds, last.as_ref()))?;
        for row in &rows {
            let (partition, key): (&str, &str) = (column(row, 0)?, column(row, 1)?);
            let keys = (unescape(partition).into_owned(), unescape(key).into_owned());
            each(&keys, row).map_err(|error| error.partition(&keys.0).row(&keys.1))?;
            last = Some(keys);
        }
        if rows.len() < ROWS_AT_ONCE {
            return Ok(());
        }
    }
}

/// The column of a row's kind in an answer; its body is in the next.
pub(crate) const CONTENT: usize = 2;

/// Returns the statement that reads rows behind one.
fn page(entry: &TableEntry, kinds: Option<&[&str]>, last: Option<&RowKeys>) -> Call {
    let (mut params, mut conditions) = (Params::default(), vec!["true".to_owned()]);
    if let Some((partition, row)) = last {
        let partition = params.add(Param::Text(escape(partition).into_owned()));
        let row = params.add(Param::Text(escape(row).into_owned()));
        conditions.push(format!("(pk, rk) > ({partition}, {row})"));
    }
    if let Some(kinds) = kinds {
        let kinds = params.add(Param::Texts(kinds.iter().map(|kind| (*kind).to_owned()).collect()));
        conditions.push(format!("kind = ANY ({kinds})"));
    }
    let sql = format!(
        "SELECT pk, rk, kind, body FROM {} WHERE {} ORDER BY pk, rk LIMIT {ROWS_AT_ONCE}",
        entry.rows,
        conditions.join(" AND ")
    );
    Call { sql, params }
}
