//! The driver: it reads for changes, has them planned, carries the plans out, and tries again when others write the
//! same entities, so often and with such waits as it says.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use super::Change;
use super::attempt::{Attempt, PlanScratch, ReadRequest};
use super::derive::{Derived, derive};
use super::entity_attempt::EntityAttempt;
use super::entity_images::EntityImages;
#[cfg(feature = "access")]
use super::restricted;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{ATTEMPTS, LONGEST_WAIT, LOSSES_BORNE, telemetry};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::write::carry_out;
use crate::model::{ETag, EntityKeys};
use crate::plan::{Committed, Failure, Plan, PlanBuilder, Reach, Seals};
use crate::row::version::version_of;
use crate::schema::{Index, IndexMask, KeyPair, Schema};
use crate::sealing::{SealedAt, Sealer};
use crate::typed::entity::wide;

/// How changes are made together.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'t> {
    pub(crate) reach: Reach<'t>,
    /// For each of the changes the number of its table; of those of one table nothing.
    pub(crate) of: &'t [usize],
}

impl Scope<'_> {
    /// A change of one entity by itself.
    pub(crate) const ALONE: Self = Self { reach: Reach::Alone, of: &[] };

    /// Returns the number of the table of a change.
    pub(super) fn table(&self, change: usize) -> usize {
        self.of.get(change).copied().unwrap_or_default()
    }

    /// Returns an error of one of the changes.
    pub(super) fn numbered(&self, error: Error, change: usize) -> Error {
        if self.reach.numbers() { error.at_index(change) } else { error }
    }
}

/// The tables of changes that are made together or not at all.
#[derive(Clone, Copy)]
pub(crate) struct Together<'t> {
    pub(crate) tables: &'t [DynamicTable],
    pub(crate) scope: Scope<'t>,
}

impl<'t> Together<'t> {
    /// Makes the scope of a change of one entity of this table by itself.
    pub(crate) fn alone(table: &'t DynamicTable) -> Self {
        Self { tables: table.family(), scope: Scope::ALONE }
    }

    /// Returns the table of this name among those of the changes.
    pub(crate) fn table(self, name: &str) -> Option<&'t DynamicTable> {
        self.tables.iter().find(|table| table.name().eq_ignore_ascii_case(name))
    }

    /// Makes the scope of changes of entities of one partition of this table.
    pub(crate) fn batch(table: &'t DynamicTable, partition: &'t str) -> Self {
        let scope = Scope { reach: Reach::Batch(partition), ..Scope::ALONE };
        Self { scope, ..Self::alone(table) }
    }
}

/// The tables of a plan.
#[derive(Clone, Copy)]
pub(super) struct PlanTables<'t> {
    pub(super) names: &'t [&'t str],
    /// What seals for each of them.
    pub(super) seals: &'t [&'t dyn Seals],
}

/// Carries out the changes as one, from the start again if one of the entities was written meanwhile.
#[inline]
pub(crate) fn commit(together: Together<'_>, attempts: &mut [&mut (dyn Attempt + '_)]) -> Result<Committed> {
    #[cfg(feature = "access")]
    if restricted::are_restricted(together) {
        return restricted::commit(together, attempts);
    }
    carry_out_all(together, attempts)
}

/// Carries out changes that are permitted.
pub(super) fn carry_out_all(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
) -> Result<Committed> {
    #[cfg(feature = "async-testing")]
    if together.tables.first().is_some_and(|table| table.exec().store().async_backend().is_some()) {
        use super::awaited::{Lend, carry_out_all};
        return crate::asynchronous::block_on(carry_out_all(together, attempts, None, Lend::PLAIN));
    }
    let (mut losses, mut turn) = (Losses::default(), None);
    loop {
        if losses.want_a_turn() {
            turn = together.tables.first().and_then(|table| table.precedence(LONGEST_WAIT));
            losses.had_turn = turn.is_some();
        }
        // There is no wait after the first loss, so the first attempt is not timed.
        let begun = losses.has_any().then(Instant::now);
        let made = attempt(together, attempts, |plan, sealed_at| carry_out(together.tables, plan, sealed_at));
        if let Some(done) = losses.after(together, made, attempts) {
            return done;
        }
        if let (None, Some(begun)) = (&turn, begun) {
            // All at one time, only one of the writers that contend for an entity would win.
            let wait = losses.wait(begun.elapsed());
            if !wait.is_zero() {
                thread::sleep(wait);
            }
        }
    }
}

/// How often a change has lost against others.
#[derive(Default)]
pub(super) struct Losses {
    count: u32,
    pub(super) had_turn: bool,
}

impl Losses {
    /// Returns whether it has lost at all.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.count > 0
    }

    /// Returns whether it is time to ask for a turn.
    #[inline]
    pub(super) fn want_a_turn(&self) -> bool {
        self.count >= LOSSES_BORNE && !self.had_turn
    }

    /// Takes what has become of an attempt. Returns what has become of the change, unless it is to be made again.
    #[inline]
    pub(super) fn after(
        &mut self,
        together: Together<'_>,
        made: Result<Result<Committed, Failure>>,
        attempts: &[&mut (dyn Attempt + '_)],
    ) -> Option<Result<Committed>> {
        match made {
            Ok(Ok(committed)) => Some(Ok(committed)),
            // A key that was destroyed with nothing left under it: the row was read before it was sealed anew.
            Err(error) if error.kind() == ErrorKind::KeySuperseded && self.count == 0 => {
                self.count += 1;
                None
            }
            Err(error) => Some(Err(error)),
            Ok(Err(failure)) => self.after_failure(together, failure, attempts).map(Err),
        }
    }

    /// Returns the error of the change, unless it is to be made again.
    #[cold]
    fn after_failure(
        &mut self,
        together: Together<'_>,
        failure: Failure,
        attempts: &[&mut (dyn Attempt + '_)],
    ) -> Option<Error> {
        // A `put` that found no entity of its key takes the one that has come since in its next attempt.
        let has_turned_up = failure.error.kind() == ErrorKind::EntityAlreadyExists
            && failure.of.and_then(|of| attempts.get(of)).is_some_and(|of| of.takes_what_it_finds());
        let error = match failure.of {
            Some(of) => together.scope.numbered(failure.error, of),
            None => failure.error,
        };
        if !failure.was_stale && !has_turned_up {
            return Some(error);
        }
        telemetry::conflict(together.tables.first().map(DynamicTable::exec));
        self.count += 1;
        if self.count < ATTEMPTS {
            return None;
        }
        let error = error.with_kind(ErrorKind::ConditionNotMet);
        Some(error.because(format!("others were quicker {ATTEMPTS} times in a row")))
    }

    /// Returns how long to wait after a loss: a random time, longer from loss to loss, so that the writers that contend for an
    /// entity come one after another.
    pub(super) fn wait(&self, took: Duration) -> Duration {
        let most = took.saturating_mul(self.count.saturating_sub(1)).min(LONGEST_WAIT);
        if most.is_zero() {
            return most;
        }
        // Each state has keys of its own.
        let chance = u32::try_from(RandomState::new().hash_one(self.count) >> 32).unwrap_or_default();
        most.mul_f64(f64::from(chance) / f64::from(u32::MAX))
    }
}

/// Makes one attempt, and has its plan carried out by `run`. The inner error is the plan's: another attempt may succeed.
pub(super) fn attempt<T>(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
    run: impl FnOnce(&Plan<'_>, &SealedAt) -> T,
) -> Result<T> {
    let derived = prepared(together, attempts, true)?;
    if let [table] = together.tables {
        let sealer = table.sealer();
        let tables = PlanTables { names: &[table.name()], seals: &[&sealer] };
        return planned_with(together.scope, derived, tables, attempts, |plan| {
            run(plan, &sealer.sealed_at())
        });
    }
    let sealers: Vec<_> = together.tables.iter().map(DynamicTable::sealer).collect();
    let seals: Vec<_> = sealers.iter().map(|sealer| -> &dyn Seals { sealer }).collect();
    let run = |plan: &Plan<'_>| run(plan, &SealedAt::earliest(sealers.iter().map(Sealer::sealed_at)));
    named(together, |names| {
        planned_with(together.scope, derived, PlanTables { names, seals: &seals }, attempts, run)
    })
}

/// Has everything found that the changes need, and made of it what is to be, with what they bring about.
pub(super) fn prepared(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
    writes: bool,
) -> Result<Option<Derived>> {
    set_index_mask(together, attempts, writes)?;
    read(together, attempts)?;
    for (number, attempt) in attempts.iter_mut().enumerate() {
        if let Err(error) = attempt.make() {
            return Err(unmade(together.scope, attempts, number, error));
        }
    }
    derive(together, attempts, writes)
}

/// Returns the error of a change that can't be made of what is there. Where another of the changes that are to happen
/// together is of the same entity, and adds it, say, the error names that one.
#[cold]
fn unmade(scope: Scope<'_>, attempts: &[&mut (dyn Attempt + '_)], number: usize, error: Error) -> Error {
    let entity = |attempt: &dyn Attempt| {
        let key = attempt.key()?;
        let EntityKeys { partition, row } = key.as_keys();
        Some((attempt.schema()?.table(), partition.to_owned(), row.to_owned()))
    };
    let own = attempts.get(number).and_then(|attempt| entity(&**attempt));
    let is_same = |other: &(usize, &&mut (dyn Attempt + '_))| other.0 != number && entity(&**other.1) == own;
    if error.kind() == ErrorKind::EntityNotFound
        && let Some((table, partition, row)) = &own
        && let Some((other, _)) = attempts.iter().enumerate().find(is_same)
    {
        let because = format!("another operation of the {} is on the same entity", scope.reach.describe());
        let error = Error::new(ErrorKind::DuplicateRow).because(because).attempted("write to").table(table);
        return scope.numbered(error.partition(partition).row(row), number.max(other));
    }
    scope.numbered(error, number)
}

/// Returns what `run` makes of the names of the tables.
pub(super) fn named<T>(together: Together<'_>, run: impl FnOnce(&[&str]) -> T) -> T {
    match together.tables {
        [table] => run(&[table.name()]),
        tables => run(&tables.iter().map(DynamicTable::name).collect::<Vec<_>>()),
    }
}

/// Carries out a change of one entity by itself.
pub(crate) fn commit_one<'c>(
    table: &DynamicTable,
    keys: Result<KeyPair>,
    change: Change<'c>,
    images: &'c mut (dyn EntityImages + 'c),
) -> Result<ETag> {
    commit_alone(table, &mut EntityAttempt::lent(keys, change, images).alone())
}

/// Carries out one change by itself. Returns the version of what it has written.
pub(crate) fn commit_alone(table: &DynamicTable, attempt: &mut (dyn Attempt + '_)) -> Result<ETag> {
    commit(Together::alone(table), &mut [attempt]).map(|committed| committed.etag(0))
}

/// Returns which indexes writers of a kind keep, and which of them can be read. If it is to be written, its layout is noted
/// in each table where its rows lie: a store that is only read never gets to know it.
pub(crate) fn index_mask(together: Together<'_>, schema: &'static Schema, writes: bool) -> Result<IndexMask> {
    if writes {
        check_not_derived(schema)?;
    }
    // The commit refuses a write of what is only read, and says which row it would have been.
    let is_read_only = together.tables.first().is_some_and(|table| table.exec().store().is_read_only());
    let writes = writes && !is_read_only;
    if writes && !(schema.copied.is_empty() && schema.dependents.is_empty()) {
        // Writers of the other side have to know of it, too.
        for kin in schema.relatives() {
            if let Some(table) = together.table(kin.table()) {
                table.index_mask(kin, true)?;
            }
        }
    }
    if let [table] = together.tables {
        return table.index_mask(schema, writes);
    }
    let Some(own) = together.table(schema.table()) else {
        return Err(Error::new(ErrorKind::TableNotFound).table(schema.table()));
    };
    if writes {
        // Nothing is noted where nothing will lie: an index that is to be made is noted there by what makes it.
        let known = own.index_mask(schema, false)?;
        for other in schema.other_tables() {
            let lies_there = |index: &Index| index.place.table.source().eq_ignore_ascii_case(other);
            let mut there = schema.indexes.iter().enumerate().filter(|(_, index)| lies_there(index));
            if let (true, Some(table)) = (there.any(|(at, _)| known.keeps(at)), together.table(other)) {
                table.index_mask(schema, true).map_err(|error| no_index_table(error, schema, other))?;
            }
        }
    }
    own.index_mask(schema, writes)
}

/// Says of a table that is no more, in which an index of entities lies, which entities those are.
#[cold]
fn no_index_table(error: Error, schema: &Schema, there: &str) -> Error {
    if error.kind() != ErrorKind::TableNotFound {
        return error;
    }
    let table = schema.table();
    let because = format!(
        "an index of its entities lies in table `{there}`: {}; open `{table}` anew, and run `Table::rebuild`",
        error.reason()
    );
    error.because(because).attempted("write to").table(table)
}

/// Refuses changes of rows that are made of other entities.
fn check_not_derived(schema: &Schema) -> Result<()> {
    match schema.summary_of {
        None => Ok(()),
        Some(source) => Err(Error::new(ErrorKind::DeclaredKind)
            .because(format!(
                "`{}` is a summary of `{source}`: its rows are made by the changes of those entities, and by nothing else",
                schema.entity
            ))
            .attempted("write to")
            .table(schema.table())),
    }
}

/// Tells the attempts what the writers of their kinds go by.
fn set_index_mask(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
    writes: bool,
) -> Result<()> {
    let mut last: Option<(&'static Schema, IndexMask)> = None;
    for (number, attempt) in attempts.iter_mut().enumerate() {
        let Some(schema) = attempt.schema() else { continue };
        check_not_derived(schema).map_err(|error| together.scope.numbered(error, number))?;
        let found = match last {
            Some((known, found)) if std::ptr::eq(known, schema) => found,
            _ => index_mask(together, schema, writes && attempt.writes_entity())
                .map_err(|error| together.scope.numbered(error, number))?,
        };
        last = Some((schema, found));
        attempt.set_index_mask(found);
    }
    Ok(())
}

/// Reads what the changes need; of several changes, in one snapshot. No transaction is open any more when it returns.
fn read(together: Together<'_>, attempts: &mut [&mut (dyn Attempt + '_)]) -> Result<()> {
    let readers = attempts.iter().filter(|attempt| attempt.reads()).count();
    let mut snapshot = match together.tables.first() {
        Some(table) if readers > 1 => Some(table.snapshot()?),
        _ => None,
    };
    for (number, attempt) in attempts.iter_mut().enumerate() {
        let table = together.tables.get(together.scope.table(number)).ok_or_else(no_table)?;
        read_for(together, table, &mut snapshot, *attempt)
            .map_err(|error| together.scope.numbered(error, number))?;
    }
    Ok(())
}

/// Reads what one change needs as it is in this snapshot.
pub(crate) fn read_at(
    together: Together<'_>,
    table: &DynamicTable,
    snapshot: &Snapshot,
    attempt: &mut (dyn Attempt + '_),
) -> Result<()> {
    attempt.begin();
    while let Some(need) = attempt.next_read()? {
        let there = need.table.and_then(|name| together.table(name)).unwrap_or(table);
        let found = find(there, Some(snapshot), &need, attempt);
        attempt.release(need);
        found?;
    }
    Ok(())
}

/// Reads what one change needs: one row as it is now, or several of one snapshot.
fn read_for(
    together: Together<'_>,
    table: &DynamicTable,
    snapshot: &mut Option<Snapshot>,
    attempt: &mut (dyn Attempt + '_),
) -> Result<()> {
    attempt.begin();
    let mut is_first = true;
    while let Some(need) = attempt.next_read()? {
        if (!is_first || need.head.is_some()) && snapshot.is_none() {
            // What was read first may be of another state of the store.
            *snapshot = Some(table.snapshot()?);
            attempt.release(need);
            attempt.begin();
            is_first = true;
            continue;
        }
        is_first = false;
        let there = need.table.and_then(|name| together.table(name)).unwrap_or(table);
        let found = find(there, snapshot.as_ref(), &need, attempt);
        attempt.release(need);
        found?;
    }
    Ok(())
}

/// Gives an attempt what is found for its need.
fn find(
    table: &DynamicTable,
    snapshot: Option<&Snapshot>,
    need: &ReadRequest,
    attempt: &mut (dyn Attempt + '_),
) -> Result<()> {
    let EntityKeys { partition, row } = need.keys.as_keys();
    let found = match snapshot {
        None => table.get_in_state(partition, row, |view, state| {
            attempt.on_row(Some((view, version_of(view, state))))
        })?,
        Some(snapshot) => {
            let view = if need.is_copy {
                snapshot.view_unverified(table, partition, row)?
            } else {
                snapshot.view(table, partition, row)?
            };
            let found = view.map(|view| {
                let version = version_of(&view, snapshot.state());
                let view = match need.head {
                    Some(schema) if view.kind()? == Some(schema.entity_type) => {
                        wide::joined(snapshot, table, schema, view, &|_| true)?
                    }
                    _ => view,
                };
                attempt.on_row(Some((&view, version)))
            });
            let place = |e: Error| e.attempted("read from").table(table.name()).partition(partition).row(row);
            found.transpose().map_err(place)?
        }
    };
    if found.is_none() { attempt.on_row(None) } else { Ok(()) }
}

/// Gives what `run` makes of the plan of changes that have been made already, and of those that they bring about.
pub(super) fn planned_with<T>(
    scope: Scope<'_>,
    derived: Option<Derived>,
    tables: PlanTables<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    let PlanTables { names: tables, seals } = tables;
    let seal = |table: usize| seals.get(table).copied().ok_or_else(no_table);
    // Most are of one entity by itself, and need no builder.
    let mut scratch = PlanScratch::default();
    if let ([attempt], Reach::Alone, None) = (&*attempts, scope.reach, &derived)
        && let Some(plan) = attempt.lone_plan(seal(scope.table(0))?, &mut scratch)
    {
        return Ok(run(&plan));
    }
    let derived = derived.unwrap_or_default();
    if let ([attempt], []) = (&mut *attempts, derived.attempts.as_slice()) {
        // One needs no list.
        let mut scratch = PlanScratch::default();
        let mut builder = PlanBuilder::new(scope.reach, tables, 1);
        let planned = attempt.plan(0, seal(scope.table(0))?, &mut scratch, &mut builder);
        planned.map_err(|error| scope.numbered(error, 0))?;
        derived.plan(&mut builder);
        return Ok(run(&builder.into_plan()?));
    }
    let many = attempts.len() + derived.attempts.len();
    let mut scratches: Vec<_> = (0..many).map(|_| PlanScratch::default()).collect();
    let mut free = scratches.iter_mut();
    let mut builder = PlanBuilder::new(scope.reach, tables, many);
    for ((number, attempt), scratch) in attempts.iter().enumerate().zip(&mut free) {
        let planned = attempt.plan(number, seal(scope.table(number))?, scratch, &mut builder);
        planned.map_err(|error| scope.numbered(error, number))?;
    }
    builder.begin_derived();
    for (change, scratch) in derived.attempts.iter().zip(free) {
        let planned = change.attempt.plan(change.cause, seal(change.table)?, scratch, &mut builder);
        planned.map_err(|error| scope.numbered(error, change.cause))?;
    }
    derived.plan(&mut builder);
    Ok(run(&builder.into_plan()?))
}

#[cold]
pub(crate) fn no_table() -> Error {
    Error::new(ErrorKind::TableNotFound).because("the change comes without its table")
}
