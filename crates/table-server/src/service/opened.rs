//! Handles of tables that were opened before.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use table_core::Result;
use table_core::asynchronous::{AsyncDynamicTable, AsyncTables};

/// How many handles are kept, at most. A store with more tables opens some of them anew.
const KEPT: usize = 10_000;

/// The tables of a store that were opened, by their names as requests have them.
///
/// A table may be dropped or renamed by another process. Its handle says so at the next call, before anything is read or
/// written: what was asked is asked again then, by a handle that is opened anew.
#[derive(Debug, Default)]
pub(super) struct OpenedTables(RwLock<HashMap<Box<str>, AsyncDynamicTable>>);

impl OpenedTables {
    /// Returns the table of this name.
    pub(super) async fn get(&self, tables: &AsyncTables, name: &str) -> Result<AsyncDynamicTable> {
        if let Some(table) = self.kept(name) {
            return Ok(table);
        }
        let table = tables.dynamic_table(name).await?;
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(name.into(), table.clone());
        Ok(table)
    }

    fn kept(&self, name: &str) -> Option<AsyncDynamicTable> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Forgets the handle of a table.
    pub(super) fn forget(&self, name: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }
}
