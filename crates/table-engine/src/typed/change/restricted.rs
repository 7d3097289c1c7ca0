//! Changes of entities of restricted tables: permitted before anything is read, and then carried out by the tables themselves.
//!
//! What is read to plan a change is not shown: the copies that it has, the entities that hold copies of it. What it says of those
//! in an error is left out.

use super::attempt::{Attempt, Image, PlanScratch, ReadRequest, Source, Sources};
#[cfg(feature = "async")]
use super::awaited::{self, Lend, SendAttempt};
use super::driver::{self, Scope, Together};
use crate::access::checks::{Check, is_on};
#[cfg(feature = "async")]
use crate::asynchronous::WriteToken;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{RestrictedTable, Rights, telemetry};
use crate::handle::table::DynamicTable;
use crate::messages::QueueOp;
use crate::model::EntityKeys;
use crate::plan::{Committed, Plan, PlanBuilder, Seals, Version};
use crate::row::view::RowView;
use crate::schema::{IndexMask, KeyPair, Schema};
use crate::typed::entity::dependent::CopyReader;

/// Returns whether changes of these tables have to be permitted.
pub(super) fn are_restricted(together: Together<'_>) -> bool {
    together.tables.iter().any(|table| table.exec().restricted().is_some())
}

/// Refuses to show what a change would touch: some of it may lie outside.
pub(super) fn refuse_explain(together: Together<'_>) -> Result<()> {
    match together.tables.iter().find(|table| table.exec().restricted().is_some()) {
        Some(table) => Err(never("show what a change would touch").table(table.name())),
        None => Ok(()),
    }
}

/// Refuses to take part in a job.
pub(super) fn refuse_job(table: &DynamicTable) -> Result<()> {
    match table.exec().restricted() {
        Some(_) => Err(never("run jobs").table(table.name())),
        None => Ok(()),
    }
}

#[cold]
fn never(what: &'static str) -> Error {
    Error::new(ErrorKind::NotPermitted).because("no access permits it").attempted(what)
}

/// Carries out changes as one, if each is permitted.
pub(super) fn commit(together: Together<'_>, attempts: &mut [&mut (dyn Attempt + '_)]) -> Result<Committed> {
    let keys = permit_all(together, attempts.iter().map(|attempt| &**attempt))?;
    let (restricted, tables) = (restricted_of(together, attempts.len())?, themselves(together));
    let scope = Scope { reach: together.scope.reach, of: together.scope.of };
    let done = permitted(&restricted, attempts, |attempts| {
        driver::carry_out_all(Together { tables: &tables, scope }, attempts)
    });
    done.map_err(|error| discreet(together, &keys, error))
}

/// Carries out changes as [`commit`] does, awaited.
#[cfg(feature = "async")]
pub(super) async fn commit_awaited(
    together: Together<'_>,
    attempts: &mut [&mut SendAttempt<'_>],
    token: Option<&WriteToken>,
) -> Result<Committed> {
    let keys = permit_all(together, attempts.iter().map(|attempt| -> &dyn Attempt { &**attempt }))?;
    let (restricted, tables) = (restricted_of(together, attempts.len())?, themselves(together));
    let scope = Scope { reach: together.scope.reach, of: together.scope.of };
    let lend = Lend::Permitted(&restricted);
    let done = awaited::carry_out_all(Together { tables: &tables, scope }, attempts, token, lend).await;
    done.map_err(|error| discreet(together, &keys, error))
}

/// Refuses changes of which one is not permitted; returns the keys of their entities.
fn permit_all<'a>(
    together: Together<'_>,
    attempts: impl Iterator<Item = &'a (dyn Attempt + 'a)>,
) -> Result<Vec<Option<KeyPair>>> {
    let permitted = attempts.enumerate().map(|(number, attempt)| {
        let permitted = table_of(together, number).and_then(|table| permit(table, attempt));
        permitted.map_err(|error| {
            if let Some(table) = together.tables.first() {
                telemetry::failed(table.exec(), error.kind());
            }
            together.scope.numbered(error, number)
        })
    });
    permitted.collect()
}

/// Returns the table of a change.
fn table_of(together: Together<'_>, number: usize) -> Result<&DynamicTable> {
    together.tables.get(together.scope.table(number)).ok_or_else(driver::no_table)
}

/// Returns for each change what restricts its table.
fn restricted_of(together: Together<'_>, changes: usize) -> Result<Vec<Option<&dyn RestrictedTable>>> {
    (0..changes).map(|number| Ok(table_of(together, number)?.exec().restricted())).collect()
}

/// Returns the tables without what restricts them.
fn themselves(together: Together<'_>) -> Vec<DynamicTable> {
    let itself = |table: &DynamicTable| match table.exec().restricted() {
        Some(restricted) => DynamicTable::new(restricted.unrestricted()),
        None => table.clone(),
    };
    together.tables.iter().map(itself).collect()
}

/// Returns what `run` makes of the attempts, each checked against what restricts its table.
pub(super) fn permitted<T>(
    restricted: &[Option<&dyn RestrictedTable>],
    attempts: &mut [&mut (dyn Attempt + '_)],
    run: impl FnOnce(&mut [&mut (dyn Attempt + '_)]) -> T,
) -> T {
    let mut permitted = Vec::with_capacity(attempts.len());
    for (attempt, table) in attempts.iter_mut().zip(restricted) {
        permitted.push(Permitted { attempt: &mut **attempt, table: *table });
    }
    let mut permitted: Vec<_> = permitted.iter_mut().map(|attempt| -> &mut dyn Attempt { attempt }).collect();
    run(&mut permitted)
}

/// Refuses a change that is not permitted; returns the key of its entity.
fn permit(table: &DynamicTable, attempt: &(dyn Attempt + '_)) -> Result<Option<KeyPair>> {
    let Some(restricted) = table.exec().restricted() else { return attempt.own_key() };
    let place = |error: Error| error.attempted("write to").table(table.name());
    let rights = attempt.rights().ok_or_else(|| never("write to").table(table.name()))?;
    attempt.queue_ops().iter().try_for_each(|queue_op| restricted.check_queue_op(queue_op)).map_err(place)?;
    let Some(keys) = attempt.own_key()? else {
        // What is of no entity takes nothing but what its messages do.
        return if rights == Rights::NONE { Ok(None) } else { Err(place(driver::no_table())) };
    };
    let own = keys.as_keys();
    let checked = restricted.check(rights, own);
    checked.map_err(|error| place(error).partition(own.partition).row(own.row))?;
    Ok(Some(keys))
}

/// Returns an error without what it says of rows that are not the changes' own.
#[cold]
fn discreet(together: Together<'_>, keys: &[Option<KeyPair>], error: Error) -> Error {
    let is_own = |keys: &KeyPair| {
        let EntityKeys { partition, row } = keys.as_keys();
        // As errors show keys.
        let is_same = |shown: Option<&str>, key: &str| {
            shown.is_some_and(|shown| key.starts_with(shown.strip_suffix("...").unwrap_or(shown)))
        };
        is_same(error.partition_key(), partition) && is_same(error.row_key(), row)
    };
    let is_told = match error.kind() {
        // That much is told, of a key that the caller has given.
        ErrorKind::UniqueConflict | ErrorKind::NotPermitted | ErrorKind::OutsideRange => true,
        // They count what follows from the changes.
        ErrorKind::BatchLength | ErrorKind::BatchTooLarge | ErrorKind::TransactionTooLarge => false,
        _ if error.partition_key().is_none() && error.row_key().is_none() => true,
        _ => keys.iter().flatten().any(is_own),
    };
    if is_told || !is_on(Check::Errors) {
        return error;
    }
    let of = error.index().unwrap_or(0);
    let told = Error::new(error.kind()).attempted("write to");
    let told = match together.tables.get(together.scope.table(of)) {
        Some(table) => told.table(table.name()),
        None => told,
    };
    let told = match keys.get(of) {
        Some(Some(keys)) => {
            let EntityKeys { partition, row } = keys.as_keys();
            told.partition(partition).row(row)
        }
        _ => told,
    };
    match error.index() {
        Some(index) => told.at_index(index),
        None => told,
    }
}

/// A change that was permitted, with what limits the rest of it.
struct Permitted<'a, 'c> {
    attempt: &'a mut (dyn Attempt + 'c),
    table: Option<&'a dyn RestrictedTable>,
}

impl Permitted<'_, '_> {
    /// Refuses the change if the access does not hold any more, or the entity would leave it.
    fn check_new(&self) -> Result<()> {
        let Some(table) = self.table else { return Ok(()) };
        table.check_time()?;
        match self.attempt.new_key()? {
            Some(keys) if is_on(Check::Moves) => {
                let keys = keys.as_keys();
                table.check(Rights::NONE, keys).map_err(|error| {
                    let name = self.attempt.schema().map_or("", Schema::table);
                    error.attempted("write to").table(name).partition(keys.partition).row(keys.row)
                })
            }
            _ => Ok(()),
        }
    }
}

impl Attempt for Permitted<'_, '_> {
    fn schema(&self) -> Option<&'static Schema> {
        self.attempt.schema()
    }

    fn writes_entity(&self) -> bool {
        self.attempt.writes_entity()
    }

    fn set_index_mask(&mut self, index_mask: IndexMask) {
        self.attempt.set_index_mask(index_mask);
    }

    fn key(&self) -> Option<KeyPair> {
        self.attempt.key()
    }

    fn rights(&self) -> Option<Rights> {
        self.attempt.rights()
    }

    fn own_key(&self) -> Result<Option<KeyPair>> {
        self.attempt.own_key()
    }

    fn new_key(&self) -> Result<Option<KeyPair>> {
        self.attempt.new_key()
    }

    fn queue_ops(&self) -> &[QueueOp] {
        self.attempt.queue_ops()
    }

    fn begin(&mut self) {
        self.attempt.begin();
    }

    fn partition(&self) -> Result<Option<&str>> {
        self.attempt.partition()
    }

    fn reads(&self) -> bool {
        self.attempt.reads()
    }

    fn next_read(&mut self) -> Result<Option<ReadRequest>> {
        self.attempt.next_read()
    }

    fn on_row(&mut self, row: Option<(&RowView<'_>, Version)>) -> Result<()> {
        self.attempt.on_row(row)
    }

    fn release(&mut self, need: ReadRequest) {
        self.attempt.release(need);
    }

    fn make(&mut self) -> Result<()> {
        self.attempt.make()
    }

    fn image(&self) -> Result<Option<Image>> {
        self.attempt.image()
    }

    fn hold(&mut self, sources: &dyn Sources) -> Result<()> {
        match self.table {
            Some(table) => self.attempt.hold(&Inside { sources, table }),
            None => self.attempt.hold(sources),
        }
    }

    fn holds_already(&self) -> bool {
        self.attempt.holds_already()
    }

    fn lone_plan<'p>(&'p self, seals: &dyn Seals, scratch: &'p mut PlanScratch<'p>) -> Option<Plan<'p>> {
        // What is wrong is said by `plan`.
        self.check_new().ok()?;
        self.attempt.lone_plan(seals, scratch)
    }

    fn plan<'p>(
        &'p self,
        number: usize,
        seals: &dyn Seals,
        scratch: &'p mut PlanScratch<'p>,
        builder: &mut PlanBuilder<'p>,
    ) -> Result<()> {
        self.check_new()?;
        self.attempt.plan(number, seals, scratch, builder)
    }

    fn takes_what_it_finds(&self) -> bool {
        self.attempt.takes_what_it_finds()
    }
}

/// Sources of copied fields, of which those outside are refused: what is copied is shown.
struct Inside<'s> {
    sources: &'s dyn Sources,
    table: &'s dyn RestrictedTable,
}

impl Sources for Inside<'_> {
    fn changes(&self, schema: &'static Schema, keys: &KeyPair) -> bool {
        self.sources.changes(schema, keys)
    }

    fn are_asked(&self) -> bool {
        self.sources.are_asked()
    }

    fn get(&self, held: &CopyReader, keys: &KeyPair) -> Result<Source> {
        self.table.check_source(held.schema().table(), keys.as_keys())?;
        self.sources.get(held, keys)
    }
}
