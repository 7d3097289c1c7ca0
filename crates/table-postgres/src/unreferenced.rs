//! Tables of which no row has ever referred to a blob, as of most.
//!
//! To take the references of rows that are written or removed from their blobs are four parts of a statement, which cost as much
//! as the rows do. So a plan that brings none demands, by one look at an index, that no row of its tables has had any. Where that
//! does not hold the table is known for one that has, and its plans count from then on.
//!
//! A plan that waits for another's row goes on with what it saw of the index before. So the first reference of a table is announced
//! by a mark beside the others, while nothing writes to the table: plans that began before have ended, and later ones see the mark.

use std::sync::atomic::{AtomicBool, Ordering};

use table_engine::__executor::Refused;
use table_engine::Result;
use tokio_postgres::Row;

use crate::catalog::column;
use crate::connection::{Call, Connection};
use crate::failed::{Failed, before};
use crate::keys::NO_KEY;
use crate::param::{Param, Params};
use crate::table::TableEntry;
use crate::work::Work;

/// Whether rows of a table are known to refer to blobs, or to have done so.
#[derive(Debug, Default)]
pub(crate) struct HasReferences(AtomicBool);

impl HasReferences {
    /// Notes what the answer says to the question whether there are none.
    pub(crate) fn learn(&self, answer: &[Row]) -> Result<()> {
        if let Some(row) = answer.first()
            && !column::<bool>(row, 0)?
        {
            self.note();
        }
        Ok(())
    }

    fn note(&self) {
        // Relaxed: where the flag comes late, what is demanded does not hold.
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns what demands that no row of a table has ever referred to a blob.
pub(crate) fn demand(references: &str, table: u32, params: &mut Params) -> String {
    let table = params.add(Param::Number(table.into()));
    format!("NOT EXISTS (SELECT FROM {references} WHERE table_id = {table})")
}

/// Returns the statement that asks whether no row of a table has ever referred to a blob.
pub(crate) fn look(references: &str, table: u32) -> Call {
    let mut params = Params::default();
    let demand = demand(references, table, &mut params);
    Call { sql: format!("SELECT {demand}"), params }
}

/// Announces that rows of a plan's tables are to refer to blobs, where that is not known yet.
pub(crate) async fn announce(connection: &Connection, work: &Work, references: &str) -> Result<(), Failed> {
    for (of, _) in &work.references {
        let table = work.rows.get(*of).and_then(|row| work.tables.get(row.table));
        let Some(TableEntry { id, rows, has_references, .. }) = table.map(|entry| &**entry) else { continue };
        if has_references.is_known() {
            continue;
        }
        let answer = connection.query(&look(references, *id)).await.map_err(before)?;
        has_references.learn(&answer).map_err(Refused::whole)?;
        if has_references.is_known() {
            continue;
        }
        // Twice does no harm, if another process does so at this time.
        let mark = format!(
            "LOCK TABLE {rows} IN SHARE ROW EXCLUSIVE MODE;
             INSERT INTO {references} (table_id, pk, rk, blob, count) VALUES ({id}, '{NO_KEY}', '', '', 0)"
        );
        connection.execute(&mark).await.map_err(before)?;
        has_references.note();
    }
    Ok(())
}
