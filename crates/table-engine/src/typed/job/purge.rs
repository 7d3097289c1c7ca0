//! Removing the rows of an index, in one table after another where they may lie.

use std::collections::BTreeMap;

use super::{Step, StepOutcome};
use crate::error::Result;
use crate::executor::{JobRecord, Loader};
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::plan::{Act, Condition, Epoch, Group, OneOrMore, Plan, RowWrite};
use crate::schema::Schema;
use crate::sealing::SealedAt;

/// Returns the table of the entities, beside the one that is purged if that is another.
#[inline]
pub(super) fn reach(table: &DynamicTable, at: &JobRecord) -> Result<DynamicTable> {
    beside(table, purged(table, at))
}

/// Returns the table of the entities, beside another one if there is one of that name.
#[inline]
pub(super) fn beside(table: &DynamicTable, name: Option<&str>) -> Result<DynamicTable> {
    let own = table.alone();
    Ok(match name {
        Some(name) if !name.eq_ignore_ascii_case(table.name()) => {
            let other = table.sibling(name)?;
            own.with_others(other.into_iter().collect())
        }
        _ => own,
    })
}

/// Returns the name of the table that is purged; `None` if none is left.
#[inline]
fn purged<'j>(table: &'j DynamicTable, at: &'j JobRecord) -> Option<&'j str> {
    if at.asked.is_empty() && at.phase == 0 {
        return Some(table.name());
    }
    at.tables().nth(usize::from(at.phase))
}

/// Removes the next copies of this kind, in the table that has been [reached](reach), and those of previous versions of the
/// entities; `None` if no row is left to look at in any. No writer keeps them, so whatever is found there goes.
#[inline]
pub(super) fn step(
    table: &DynamicTable,
    schema: &Schema,
    kind: &str,
    epoch: Epoch,
    step: &mut Step<'_>,
) -> Result<Option<StepOutcome>> {
    let Some(name) = purged(table, step.at) else { return Ok(None) };
    let goes = |found: &str| found == kind || schema.is_previous_copy(found);
    let to = remove(table, name, &goes, epoch, step)?;
    if to.position.is_none() {
        let next = to.in_part(to.phase.saturating_add(1));
        let is_last = purged(table, &next).is_none();
        return Ok((!is_last).then_some(StepOutcome::Rows(Some(next), Some(epoch))));
    }
    Ok(Some(StepOutcome::Rows(Some(to), Some(epoch))))
}

/// Removes the next rows whose kind is one that `goes`, of a table that the handle knows; where the job is then, without a
/// position if no row is left to look at.
#[inline]
pub(super) fn remove(
    table: &DynamicTable,
    name: &str,
    goes: &dyn Fn(&str) -> bool,
    epoch: Epoch,
    step: &mut Step<'_>,
) -> Result<JobRecord> {
    let Step { at, size, ref mut loader } = *step;
    if at.is_at_end() {
        return Ok(JobRecord { position: None, ..at.clone() });
    }
    let (mut at, mut found) = (at.clone(), BTreeMap::<String, Vec<String>>::new());
    let there = table.number_of(name);
    let (position, rows) = match there.and_then(|number| table.family().get(number)) {
        // It was dropped, and its rows with it.
        None => (None, 0),
        Some(there) => {
            let jobs = there.exec().jobs()?;
            if at.position.is_none() && at.end.is_none() {
                (at.done, at.total) = (0, jobs.row_count()?);
            }
            // No writer adds rows of an index that goes, so none comes behind the row where the table ends by now.
            at = at.within(jobs)?;
            jobs.rows_after(at.position.as_ref(), size, &mut |view, _| {
                let goes = view.kind()?.is_some_and(goes);
                if goes {
                    let (partition, row) = view.keys();
                    found.entry(partition.into_owned()).or_default().push(row.into_owned());
                }
                Ok(goes)
            })?
        }
    };
    let changed = remove_rows(there.unwrap_or_default(), &found, epoch, *loader)?;
    Ok(JobRecord { position, done: at.done + rows, changed: at.changed + changed, ..at })
}

/// Hands over what removes the rows of these keys, by their partitions, from the table of this number. Returns how many they
/// are.
#[inline]
pub(super) fn remove_rows(
    table: usize,
    rows: &BTreeMap<String, Vec<String>>,
    epoch: Epoch,
    loader: &mut dyn Loader,
) -> Result<u64> {
    let goes = |key| RowWrite { key, condition: Condition::Any, act: Act::Remove, kind: None, of: 0 };
    let mut removed = 0;
    for (partition, keys) in rows {
        for keys in keys.chunks(limits::BATCH_OPERATIONS) {
            removed += u64::try_from(keys.len()).unwrap_or(u64::MAX);
            let plan = removal(table, partition, keys.iter().map(|key| goes(key)).collect(), epoch);
            loader.add(&plan, &SealedAt::NOTHING).map_err(|refused| refused.error)?;
        }
    }
    Ok(removed)
}

/// Returns the plan that removes rows of a partition of the table of this number, in this epoch of the kind, which the first
/// of the tables knows.
#[inline]
pub(super) fn removal<'p>(
    table: usize,
    partition: &'p str,
    rows: Vec<RowWrite<'p>>,
    epoch: Epoch,
) -> Plan<'p> {
    let mut epochs = OneOrMore::default();
    epochs.push(epoch);
    if table == 0 {
        let group = Group { epochs, ..Group::new(partition, rows) };
        return Plan { groups: group.into(), is_raw: true, ..Plan::default() };
    }
    // A group without rows, for its condition.
    let stated = Group { epochs, ..Group::new("", Vec::new()) };
    let removed = Group { table, ..Group::new(partition, rows) };
    let groups = [stated, removed].into_iter().collect();
    Plan { groups, is_raw: true, is_wide: true, ..Plan::default() }
}
