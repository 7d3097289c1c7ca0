//! The sizes of a table's rows, from those at its beginning.

use std::collections::BTreeMap;
use std::time::Duration;

use table_core::model::names::ENTITY_TYPE;
use table_core::query::PageBudget;
use table_core::{DynamicTable, Query, Result};

/// How many rows are looked at.
const ROWS: usize = 500;
/// For how long.
const TIME: Duration = Duration::from_millis(200);

/// What rows of each `EntityType` come to by the service's formula.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// How many rows were met, and their bytes.
    met: BTreeMap<String, (u64, u64)>,
}

impl Sample {
    /// Reads the beginning of a table.
    pub(crate) fn of(table: &DynamicTable) -> Result<Self> {
        let page = table.page(&Query::new(), PageBudget::new(ROWS).time(TIME), None)?;
        let mut sample = Self::default();
        for row in &page.entities {
            let kind = row.get(ENTITY_TYPE).and_then(|kind| kind.as_str()).unwrap_or_default();
            let (count, bytes) = sample.met.entry(kind.to_owned()).or_default();
            *count += 1;
            *bytes += u64::try_from(row.size()).unwrap_or(u64::MAX);
        }
        Ok(sample)
    }

    /// Returns the mean of the rows of a type; `None` if none was met.
    pub(super) fn mean(&self, entity_type: &str) -> Option<u64> {
        let (count, bytes) = self.met.get(entity_type)?;
        bytes.checked_div(*count)
    }
}
