//! The table that stands for those of all periods: it names them, and has no rows.

use std::sync::Arc;

use super::PeriodsShared;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Backend, OneSnapshotForEachThread, Read, TableExec, Take};
use crate::model::EntityKeys;
use crate::schema::{IndexMask, Schema};

pub(super) struct Template(pub(super) Arc<PeriodsShared>);

#[cold]
fn no_table() -> Error {
    Error::new(ErrorKind::Unsupported)
        .because("there is a table for each period, and not one that has all rows")
}

impl TableExec for Template {
    fn table_name(&self) -> &str {
        self.0.tables.source
    }

    /// Returns a number that no table has.
    fn id(&self) -> u32 {
        0
    }

    fn get(&self, _: EntityKeys<'_>, _: Read<'_>) -> Result<bool> {
        Err(no_table())
    }

    fn view(&self, _: EntityKeys<'_>, _: Take<'_>) -> Result<bool> {
        Err(no_table())
    }

    fn declare(&self, _: &'static Schema) -> Result<()> {
        Ok(())
    }

    fn index_mask(&self, _: &'static Schema, _: bool) -> Result<IndexMask> {
        Err(no_table())
    }

    fn store(&self) -> &dyn Backend {
        &**self.0.store.backend()
    }

    fn read_snapshot(&self) -> Result<Box<dyn OneSnapshotForEachThread>> {
        self.0.store.backend().clone().read_snapshot()
    }
}
