//! Tables of which no row refers to a blob, as of most.
//!
//! To take the references of rows that are written or removed from their blobs are four parts of a statement, which cost as much
//! as the rows do. So a plan that brings none demands, by one look at an index, that no row of its tables has any. Where that does
//! not hold the table is known for one that has, and its plans count from then on.

use std::sync::atomic::{AtomicBool, Ordering};

use table_engine::Result;
use tokio_postgres::Row;

use crate::catalog::column;
use crate::connection::Call;
use crate::param::{Param, Params};

/// Whether rows of a table are known to refer to blobs, or to have done so.
#[derive(Debug, Default)]
pub(crate) struct HasReferences(AtomicBool);

impl HasReferences {
    /// Notes what the answer says to the question whether there are none.
    pub(crate) fn learn(&self, answer: &[Row]) -> Result<()> {
        if let Some(row) = answer.first()
            && !column::<bool>(row, 0)?
        {
            // Relaxed: where the flag comes late, what is demanded does not hold.
            self.0.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Returns what demands that no row of a table refers to a blob.
pub(crate) fn demand(references: &str, table: u32, params: &mut Params) -> String {
    let table = params.add(Param::Number(table.into()));
    format!("NOT EXISTS (SELECT FROM {references} WHERE table_id = {table})")
}

/// Returns the statement that asks whether no row of a table refers to a blob.
pub(crate) fn look(references: &str, table: u32) -> Call {
    let mut params = Params::default();
    let demand = demand(references, table, &mut params);
    Call { sql: format!("SELECT {demand}"), params }
}
