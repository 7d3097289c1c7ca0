//! Summaries counted anew.
//!
//! A change of an entity adds its difference to the summaries, and never reads their numbers. So what a summary lacks, if it
//! lacks anything, stays the same whatever is written meanwhile. It is found in one snapshot of the table, and added in small
//! transactions later. The job's record is a condition of each: of two programs that recount at one time one is refused, and
//! compares again.

use std::collections::BTreeMap;

use super::kind::JobKind;
use super::report::{CopyReport, MISCOUNTED, RowKeys};
use super::shared_rows::{ROWS, RowKey, SharedRows, each, each_of};
use super::{Step, StepOutcome};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, JobStep};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::ValueRef;
use crate::plan::{Addition, Amounts, Cause, Epoch, Group, Plan, RowKind};
use crate::row::view::RowView;
use crate::schema::Summary;

/// What makes a summary say what its entities come to.
pub(super) struct RepairSummaries {
    of: &'static dyn JobKind,
    index: usize,
    /// Where the job is if the last step was carried out, in which epoch of the kind.
    expected: Option<(JobRecord, u64)>,
    /// What is still to be added to each number of which rows. The next are the last.
    left: Vec<(RowKey, Vec<i128>)>,
    /// How many rows were looked at to find that.
    looked: u64,
}

/// Returns the numbers that a row of a summary has.
#[inline]
fn numbers(view: &RowView<'_>, summary: Summary) -> Result<Vec<i64>> {
    let number = |property| Ok(view.get(property)?.and_then(ValueRef::as_i64).unwrap_or_default());
    summary.sums.iter().map(|sum| number(sum.property)).collect()
}

/// What each row of a summary lacks.
#[derive(Default)]
struct Differences(BTreeMap<RowKey, Vec<i128>>);

impl Differences {
    /// Adds to what a row lacks. A summary's own numbers are added negated, so that what is left over is the difference.
    #[inline]
    fn add(&mut self, key: RowKey, adds: &[i128]) {
        let sums = self.0.entry(key).or_insert_with(|| vec![0; adds.len()]);
        for (sum, add) in sums.iter_mut().zip(adds) {
            *sum += add;
        }
    }
}

impl RepairSummaries {
    pub(super) fn of(of: &'static dyn JobKind, index: usize) -> Self {
        Self { of, index, expected: None, left: Vec::new(), looked: 0 }
    }

    fn kind(&self) -> RowKind {
        RowKind { schema: self.of.schema(), cause: Cause::Index(self.index) }
    }

    /// Adds what an entity gives to its row of the summary.
    fn add(&self, own: &RowView<'_>, differences: &mut Differences) -> Result<()> {
        let counts_some = self.of.meta().counts_some;
        let counted = if counts_some { self.of.read(own)?.counted(self.index) } else { 0 };
        each_of(self.of, own, self.index, &mut |key, content| {
            if let Some(amounts) = Amounts::between(self.kind(), Some((content, counted)), None, true) {
                differences.add(key, amounts.adds());
            }
            Ok(())
        })
    }
}

impl SharedRows for RepairSummaries {
    fn index(&self) -> usize {
        self.index
    }

    fn compare(&mut self, table: &DynamicTable, snapshot: &Snapshot, report: &mut CopyReport) -> Result<u64> {
        let Some((of, summary)) = self.kind().index().and_then(|index| Some((index, index.summary?))) else {
            return Ok(0);
        };
        let mut differences = Differences::default();
        let of_entities = each(table, snapshot, &mut |view| {
            if view.kind()? == Some(self.of.schema().entity_type) {
                self.add(view, &mut differences)?;
            }
            Ok(())
        })?;
        let place = of.place.table.source();
        let of_summary = each(table.member(place), snapshot, &mut |view| {
            if view.kind()? == Some(of.kind) {
                report.summaries += 1;
                let less: Vec<_> =
                    numbers(view, summary)?.into_iter().map(|number| -i128::from(number)).collect();
                let (partition, row) = view.keys();
                differences.add((partition.into_owned(), row.into_owned()), &less);
            }
            Ok(())
        })?;
        self.left = differences.0.into_iter().filter(|(_, adds)| adds.iter().any(|add| *add != 0)).collect();
        for ((partition, row), _) in &self.left {
            report.add(MISCOUNTED, of.name, RowKeys { table: place, partition, row });
        }
        self.left.reverse();
        self.looked = of_entities + of_summary;
        Ok(self.looked)
    }

    fn expect(&mut self, at: &JobRecord, epoch: u64) {
        self.expected = Some((at.clone(), epoch));
    }

    fn next(
        &mut self,
        table: &DynamicTable,
        name: &str,
        epoch: Epoch,
        step: Step<'_>,
        then: &dyn Fn(u64, u64) -> JobRecord,
    ) -> Result<Option<StepOutcome>> {
        let Step { at, size, loader } = step;
        let is_expected = |(expected, of): &(JobRecord, u64)| expected == at && *of == epoch.number;
        if !self.expected.as_ref().is_some_and(is_expected) {
            // If another program has added it since the job was read, the record or the epoch refuses this step.
            self.compare(table, &table.snapshot()?, &mut CopyReport::default())?;
        }
        if self.left.is_empty() {
            return Ok(None);
        }
        let kind = self.kind();
        let place = kind.index().map_or("", |index| index.place.table.source());
        let Some(number) = table.number_of(place) else {
            return Err(Error::new(ErrorKind::Unsupported).because(format!(
                "the summary lies in the table `{place}`, which the handle does not know"
            )));
        };
        let most = usize::try_from(size.rows).unwrap_or(usize::MAX).clamp(1, ROWS);
        let taken = self.left.split_off(self.left.len().saturating_sub(most));
        let mut groups = BTreeMap::<&str, Vec<Addition<'_>>>::new();
        for ((partition, key), adds) in &taken {
            let amounts = Amounts::differing(kind, adds.clone());
            groups.entry(partition).or_default().push(Addition { key, amounts, of: 0 });
        }
        let group =
            |(partition, additions)| Group { table: number, additions, ..Group::new(partition, Vec::new()) };
        let plan = Plan { groups: groups.into_iter().map(group).collect(), is_wide: true, ..Plan::default() };
        let to = then(u64::try_from(taken.len()).unwrap_or(u64::MAX), self.looked);
        let step =
            JobStep { name: name.to_owned(), from: at.clone(), to: Some(to.clone()), epoch: Some(epoch) };
        loader.add_with_step(&plan, step).map_err(|refused| refused.error)?;
        self.expect(&to, epoch.number);
        Ok(Some(StepOutcome::Stepped(to)))
    }
}
