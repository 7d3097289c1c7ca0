//! Removing the rows of an index.

use std::collections::BTreeMap;

use super::Made;
use crate::error::Result;
use crate::executor::{JobRecord, Loader, StepSize};
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::plan::{Act, Condition, Epoch, Group, OneOrMore, Plan, RowWrite};
use crate::sealing::SealedAt;

/// Removes the next rows of this kind; `None` if there is no row left to look at. Nobody else writes them, so whatever
/// is found there goes.
pub(super) fn step(
    table: &DynamicTable,
    kind: &str,
    (at, size): (&JobRecord, StepSize),
    epoch: Epoch,
    loader: &mut dyn Loader,
) -> Result<Option<Made>> {
    let mut found = BTreeMap::<String, Vec<String>>::new();
    let jobs = table.exec().jobs()?;
    let (last, rows) = jobs.rows_after(at.position.as_ref(), size, &mut |view, _| {
        if view.kind()? == Some(kind) {
            let (partition, row) = view.keys();
            found.entry(partition.into_owned()).or_default().push(row.into_owned());
        }
        Ok(())
    })?;
    if last.is_none() {
        return Ok(None);
    }
    let mut changed = 0;
    for (partition, keys) in &found {
        for keys in keys.chunks(limits::BATCH_OPERATIONS) {
            let rows: Vec<_> = keys
                .iter()
                .map(|key| RowWrite { key, condition: Condition::Any, act: Act::Remove, kind: None, of: 0 })
                .collect();
            changed += u64::try_from(rows.len()).unwrap_or(u64::MAX);
            let mut epochs = OneOrMore::default();
            epochs.push(epoch);
            let group = Group { epochs, ..Group::new(partition, rows) };
            let plan = Plan { groups: group.into(), is_raw: true, ..Plan::default() };
            loader.add(&plan, &SealedAt::NOTHING).map_err(|refused| refused.error)?;
        }
    }
    let to = JobRecord { position: last, done: at.done + rows, changed: at.changed + changed, ..at.clone() };
    Ok(Some(Made::Rows(Some(to), Some(epoch))))
}
