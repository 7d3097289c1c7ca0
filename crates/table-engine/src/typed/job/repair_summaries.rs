//! Summaries counted anew.
//!
//! A change of an entity adds its difference to the summaries, and never reads their numbers. So what a summary lacks, if it
//! lacks anything, stays the same whatever is written meanwhile. It is found in one snapshot of the table, and added in small
//! transactions later. The job's record is a condition of each: of two programs that recount at one time one is refused, and
//! compares again.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::report::{CopyReport, MISCOUNTED, RowKeys};
use super::{Step, StepOutcome};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{JobRecord, JobStep, Loader};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::limits;
use crate::plan::{Addition, Amounts, Cause, EntityRows, Group, Plan, RowKind};
use crate::query::Query;
use crate::row::view::RowView;
use crate::schema::Summary;
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::entity::source::Source;

/// Rows that are read at a time.
const ROWS: usize = 500;

/// The partition and the row key of a row of a summary, and the amount of each of its numbers.
type Amount = ((String, String), Vec<i128>);
/// What each row of a summary lacks.
type Differences = BTreeMap<(String, String), Vec<i128>>;

/// What makes a summary say what its entities come to.
pub(super) struct Recount<E> {
    index: usize,
    /// Where the job is if the last step was carried out, in which epoch of the kind.
    expected: Option<(JobRecord, u64)>,
    /// What is still to be added.
    left: Vec<Amount>,
    /// How many rows were looked at to find that.
    looked: u64,
    entity: PhantomData<fn() -> E>,
}

/// What a summary's rows lack, and how many rows there are.
pub(super) struct Compared {
    differences: Differences,
    rows: u64,
    /// How many rows were looked at, the entities' and others.
    pub(super) looked: u64,
}

impl Compared {
    /// Adds what is wrong to the report.
    pub(super) fn report<E: Entity>(&self, index: usize, report: &mut CopyReport) {
        report.summaries += self.rows;
        let Some(of) = E::SCHEMA.indexes.get(index) else { return };
        for (partition, row) in self.differences.keys() {
            report.add(MISCOUNTED, of.name, RowKeys { table: of.place.table.source(), partition, row });
        }
    }
}

/// Compares a summary with what its entities come to, all as it is in the snapshot.
pub(super) fn compare<E: Entity>(
    table: &DynamicTable,
    snapshot: &Snapshot,
    index: usize,
) -> Result<Compared> {
    let mut compared = Compared { differences: BTreeMap::new(), rows: 0, looked: 0 };
    let kind = RowKind { schema: E::SCHEMA, cause: Cause::Index(index) };
    let Some((of, summary)) = kind.index().and_then(|index| Some((index, index.summary?))) else {
        return Ok(compared);
    };
    let of_entities = each(table, snapshot, &mut |view| {
        if view.kind()? != Some(E::SCHEMA.entity_type) {
            return Ok(());
        }
        let Some((place, adds)) = given::<E>(view, kind, index)? else { return Ok(()) };
        add(&mut compared.differences, place, &adds);
        Ok(())
    })?;
    let there = table.member(of.place.table.source());
    let of_summary = each(there, snapshot, &mut |view| {
        if view.kind()? != Some(of.kind) {
            return Ok(());
        }
        let numbers = numbers(view, summary)?;
        let less: Vec<_> = numbers.iter().map(|number| -i128::from(*number)).collect();
        let (partition, row) = view.keys();
        add(&mut compared.differences, (partition.into_owned(), row.into_owned()), &less);
        compared.rows += 1;
        Ok(())
    })?;
    compared.looked = of_entities + of_summary;
    compared.differences.retain(|_, adds| adds.iter().any(|add| *add != 0));
    Ok(compared)
}

/// Lends each row of a table as it is in a snapshot, and returns how many there are.
#[inline]
pub(super) fn each(
    table: &DynamicTable,
    snapshot: &Snapshot,
    look: &mut dyn FnMut(&RowView<'_>) -> Result<()>,
) -> Result<u64> {
    let look = RefCell::new((look, 0));
    let mut after = None;
    loop {
        let page = snapshot.page_by(table, Query::new().into(), ROWS, after.as_ref(), |_, view| {
            let (look, rows) = &mut *look.borrow_mut();
            *rows += 1;
            look(view)
        })?;
        after = page.next;
        if after.is_none() {
            return Ok(look.into_inner().1);
        }
    }
}

/// Returns the row of the summary in which an entity counts, and what it adds there.
fn given<E: Entity>(own: &RowView<'_>, kind: RowKind, index: usize) -> Result<Option<Amount>> {
    let values = unopened::read::<E>(own)?;
    let counted = if const { E::SCHEMA.counts_some() } {
        E::from_source(&mut Source::new(E::SCHEMA, E::SCHEMA.place(), own)?)?.counted(index)
    } else {
        0
    };
    let (partition, row) = own.keys();
    let rows = EntityRows::of(E::SCHEMA, &values, Some((&partition, &row)), None, &|at| at == index)?;
    let found = rows.of_indexes().next();
    let amounts = found.and_then(|row| {
        let amounts = Amounts::between(kind, Some((&row.content, counted)), None, true)?;
        let (_, partition) = rows.place_of(row);
        Some(((partition.to_owned(), rows.key(row).to_owned()), amounts.adds().to_vec()))
    });
    Ok(amounts)
}

/// Returns the numbers that a row of a summary has.
#[inline]
fn numbers(view: &RowView<'_>, summary: Summary) -> Result<Vec<i64>> {
    let number =
        |property| Ok(view.get(property)?.and_then(crate::model::ValueRef::as_i64).unwrap_or_default());
    summary.sums.iter().map(|sum| number(sum.property)).collect()
}

/// Adds to what a row lacks. A summary's own numbers are added negated, so that what is left over is the difference.
#[inline]
fn add(differences: &mut Differences, place: (String, String), adds: &[i128]) {
    let sums = differences.entry(place).or_insert_with(|| vec![0; adds.len()]);
    for (sum, add) in sums.iter_mut().zip(adds) {
        *sum += add;
    }
}

impl<E: Entity> Recount<E> {
    pub(super) fn of(index: usize) -> Self {
        Self { index, expected: None, left: Vec::new(), looked: 0, entity: PhantomData }
    }

    pub(super) fn index(&self) -> usize {
        self.index
    }

    /// Compares the summary in this epoch of the kind, and returns where the job is with what was found, as `then` says.
    pub(super) fn compare(
        &mut self,
        table: &DynamicTable,
        epoch: u64,
        then: impl FnOnce(&Compared) -> JobRecord,
    ) -> Result<JobRecord> {
        let compared = compare::<E>(table, &table.snapshot()?, self.index)?;
        let to = then(&compared);
        self.looked = compared.looked;
        self.left = compared.differences.into_iter().rev().collect();
        self.expected = Some((to.clone(), epoch));
        Ok(to)
    }

    /// Hands over what makes the next rows right, as a step of the job of this name; `then` says where the job is with this many
    /// changed rows, of this many that were looked at. `None` if all of them are right.
    pub(super) fn next(
        &mut self,
        table: &DynamicTable,
        name: &str,
        step: Step<'_>,
        then: &dyn Fn(u64, u64) -> JobRecord,
        loader: &mut dyn Loader,
    ) -> Result<Option<StepOutcome>> {
        let Step { at, size, epoch } = step;
        let is_expected = |(expected, of): &(JobRecord, u64)| expected == at && *of == epoch.number;
        if !self.expected.as_ref().is_some_and(is_expected) {
            // If another program has added it since the job was read, the record or the epoch refuses this step.
            self.compare(table, epoch.number, |_| at.clone())?;
        }
        if self.left.is_empty() {
            return Ok(None);
        }
        let kind = RowKind { schema: E::SCHEMA, cause: Cause::Index(self.index) };
        let place = kind.index().map_or("", |index| index.place.table.source());
        let number = table.family().iter().position(|member| member.name().eq_ignore_ascii_case(place));
        let Some(number) = number else {
            return Err(Error::new(ErrorKind::Unsupported).because(format!(
                "the summary lies in the table `{place}`, which the handle does not know"
            )));
        };
        let most = usize::try_from(size.rows).unwrap_or(limits::BATCH_OPERATIONS).clamp(1, ROWS);
        let taken = self.left.split_off(self.left.len().saturating_sub(most));
        let mut groups = BTreeMap::<&str, Vec<Addition<'_>>>::new();
        for ((partition, key), adds) in &taken {
            let amounts = Amounts::differing(kind, adds.clone());
            groups.entry(partition).or_default().push(Addition { key, amounts, of: 0 });
        }
        let group =
            |(partition, additions)| Group { table: number, additions, ..Group::new(partition, Vec::new()) };
        let plan = Plan { groups: groups.into_iter().map(group).collect(), is_wide: true, ..Plan::default() };
        let changed = u64::try_from(taken.len()).unwrap_or(u64::MAX);
        let to = then(changed, self.looked);
        let step =
            JobStep { name: name.to_owned(), from: at.clone(), to: Some(to.clone()), epoch: Some(epoch) };
        loader.add_with_step(&plan, step).map_err(|refused| refused.error)?;
        self.expected = Some((to.clone(), epoch.number));
        Ok(Some(StepOutcome::Stepped(to)))
    }
}
