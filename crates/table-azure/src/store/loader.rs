//! Loads: many plans, each a request of its own, several at a time.

use std::mem;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt};
use table_engine::__executor::{
    Abilities, BoxFuture, Committed, Group, JobStep, Loader, Plan, Refused, SealedAt, TableExec,
};
use table_engine::{Error, ErrorKind, Result};

use super::table::{AzureTable, TableEntry};
use super::{ABILITIES, AzureStore, explain, own};

/// The most plans that are taken in before they are carried out.
const MOST_PLANS: usize = 512;
/// The most requests at a time.
const AT_A_TIME: usize = 16;

/// Takes plans in, and carries them out.
pub(super) struct AzureLoader<'t> {
    table: &'t AzureTable,
    tables: Vec<&'t dyn TableExec>,
    plans: Vec<Taken>,
    step: Option<JobStep>,
}

/// A plan that was taken in.
struct Taken {
    /// Plans of one line are carried out one after another, if they may meet.
    line: Line,
    /// Whether it adds to rows that many entities have in common.
    adds: bool,
    place: PlanPlace,
    work: Change,
}

/// Where a plan's rows lie, for what is said of its refusal.
struct PlanPlace {
    table: String,
    partition: String,
    /// The keys of its rows, and what is attempted with each.
    rows: Vec<(String, &'static str)>,
}

impl PlanPlace {
    fn of(tables: &[&dyn TableExec], group: &Group<'_>) -> Self {
        let table = tables.get(group.table).map(|table| table.table_name().to_owned()).unwrap_or_default();
        let rows = group.rows.iter().map(|row| (row.key.to_owned(), row.act.describe(row.condition)));
        Self { table, partition: group.partition.to_owned(), rows: rows.collect() }
    }

    /// Says of a refusal where it is.
    #[cold]
    fn located(&self, refused: Refused) -> Refused {
        let Refused { error, group, row } = refused;
        // That of a plan of one row is about that row, whatever is wrong.
        let at = row.or_else(|| (self.rows.len() == 1).then_some(0));
        let (words, key) = match at.and_then(|at| self.rows.get(at)) {
            Some((key, words)) => (*words, Some(key)),
            None => ("commit a batch to", None),
        };
        let error = error.attempted(words).table(&self.table).partition(&self.partition);
        let error = if let Some(key) = key { error.row(key) } else { error };
        Refused { error, group, row }
    }
}

/// A change that is carried out.
type Change = BoxFuture<'static, Result<Committed, Refused>>;

/// The table, among those of the loader, and the partition that a plan is of.
type Line = (usize, String);

impl<'t> AzureLoader<'t> {
    /// Makes one for plans of these tables; `None` if they are not of one store.
    pub(super) fn of(table: &'t AzureTable, tables: &[&'t dyn TableExec]) -> Option<Self> {
        let is_of_it =
            |other: &&dyn TableExec| own(*other).is_ok_and(|other| Arc::ptr_eq(&other.store, &table.store));
        let is_of_one = tables.iter().all(is_of_it);
        is_of_one.then(|| Self { table, tables: tables.to_vec(), plans: Vec::new(), step: None })
    }

    fn store(&self) -> &'t AzureStore {
        &self.table.store
    }

    /// Carries out plans, those of one partition one after another in their order, as far as they may meet.
    fn carry_out_each(&self, plans: Vec<Taken>, meet: bool) -> Result<Vec<Result<(), Refused>>> {
        let mut lines: Vec<(Line, Vec<_>)> = Vec::new();
        let mut places = Vec::with_capacity(plans.len());
        for (at, Taken { line, adds, place, work }) in plans.into_iter().enumerate() {
            places.push(place);
            match lines.iter_mut().find(|(known, _)| (meet || adds) && *known == line) {
                Some((_, works)) => works.push((at, work)),
                None => lines.push((line, vec![(at, work)])),
            }
        }
        let in_line = |works: Vec<(usize, Change)>| -> BoxFuture<'static, Vec<(usize, Result<(), Refused>)>> {
            Box::pin(async move {
                let mut done = Vec::with_capacity(works.len());
                for (at, work) in works {
                    done.push((at, work.await.map(drop)));
                }
                done
            })
        };
        let lines: Vec<_> = lines.into_iter().map(|(_, works)| in_line(works)).collect();
        let done: Vec<_> = self
            .store()
            .wait(async move { Ok(stream::iter(lines).buffer_unordered(AT_A_TIME).collect().await) })?;
        let mut done: Vec<_> = done.into_iter().flatten().collect();
        done.sort_unstable_by_key(|(at, _)| *at);
        let located = places.iter().zip(done);
        Ok(located.map(|(place, (_, done))| done.map_err(|refused| place.located(refused))).collect())
    }
}

impl Loader for AzureLoader<'_> {
    fn add(&mut self, plan: &Plan<'_>, sealed_at: &SealedAt) -> Result<(), Refused> {
        check(plan)?;
        let group = plan.groups.last().ok_or_else(|| Refused::whole(explain::missing()))?;
        let line = (group.table, group.partition.to_owned());
        let (adds, place) = (!group.additions.is_empty(), PlanPlace::of(&self.tables, group));
        let work = Box::pin(self.store().carrying_out(&self.tables, plan, sealed_at)?);
        self.plans.push(Taken { line, adds, place, work });
        Ok(())
    }

    fn add_step(&mut self, step: JobStep) -> Result<(), Refused> {
        self.step = Some(step);
        Ok(())
    }

    fn add_with_step(&mut self, _: &Plan<'_>, step: JobStep) -> Result<(), Refused> {
        let because = format!(
            "a step of `{}` has to be noted with its rows, which lie in other partitions: that takes the ability `groups`",
            step.name
        );
        Err(Refused::whole(Error::new(ErrorKind::Unsupported).because(because)))
    }

    fn is_full(&self) -> bool {
        self.plans.len() >= MOST_PLANS
    }

    fn carry_out(&mut self) -> Result<Vec<Result<(), Refused>>> {
        let (plans, step) = (mem::take(&mut self.plans), self.step.take());
        let Some(step) = step else { return self.carry_out_each(plans, true) };
        // No two plans of a step are of one entity.
        let mut done = self.carry_out_each(plans, false)?;
        if done.iter().any(Result::is_err) {
            let because = "something of the step was refused";
            done.push(Err(Refused::whole(Error::new(ErrorKind::ConditionNotMet).because(because))));
            return Ok(done);
        }
        let (service, entry) = (self.store().service.clone(), self.table.entry.clone());
        let moved = self.store().wait(async move { service.step(&entry, step).await });
        done.push(moved.map_err(Refused::whole));
        Ok(done)
    }
}

/// Refuses what the store can't carry out. A group that only states an epoch of the rows' kind is no other partition.
fn check(plan: &Plan<'_>) -> Result<(), Refused> {
    let states_only = plan.groups.len() == 2
        && plan.groups.get(0).is_some_and(|first| first.written() == 0 && first.rows.is_empty())
        && plan.is_raw;
    // Rows that a job writes anew have its time: the service gives them no other.
    let abilities = Abilities { times: true, ..ABILITIES };
    if states_only { Ok(()) } else { abilities.check(plan) }
}

impl super::service::Service {
    /// Notes how far a job is when the rows of its step are written.
    async fn step(&self, table: &TableEntry, step: JobStep) -> Result<()> {
        if let Some(epoch) = step.epoch
            && self.read_noted(table).await?.epoch(epoch.kind) != epoch.number
        {
            return Err(explain::another_epoch());
        }
        if self.move_job(table, &step.name, &step.from, step.to.as_ref()).await? {
            return Ok(());
        }
        let because = "another program has gone on with the job meanwhile";
        Err(Error::new(ErrorKind::ConditionNotMet).because(because))
    }
}
