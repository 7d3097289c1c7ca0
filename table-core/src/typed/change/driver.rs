//! What reads for changes, has them planned, carries the plans out, and tries again when others write the same entities:
//! how often, and how long it waits between.

use std::hash::{BuildHasher, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use super::Change;
use super::attempt::{Attempt, Desk, Need};
use super::entity_attempt::EntityAttempt;
use crate::error::{Error, ErrorKind, Result};
use crate::executor::Loader;
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::ETag;
use crate::plan::{Draft, Failure, Plan, Seals, WriteExplain};
use crate::row::version::version_of;
use crate::schema::{Schema, Standing};
use crate::typed::entity::Entity;
use crate::typed::read::key::Key;

/// How often a change is tried when others write the entity at the same time.
const ATTEMPTS: u32 = 64;

/// How often it may lose before it asks for a turn, which one in the process has at a time: whoever has it gives way to
/// nobody, and those who wait for it don't contend.
const LOSSES_BORNE: u32 = 8;

/// The longest wait between two of them.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// Carries out the changes as one, from the start again if somebody else wrote one of the entities meanwhile.
///
/// `batch` is the partition of a batch, whose errors say which of the changes they are about.
pub(in crate::typed) fn commit(
    table: &DynamicTable,
    attempts: &mut [&mut (dyn Attempt + '_)],
    batch: Option<&str>,
) -> Result<ETag> {
    let (mut last, mut turn) = (None, None);
    for losses in 0..ATTEMPTS {
        if losses >= LOSSES_BORNE && turn.is_none() {
            turn = table.turn(LONGEST_WAIT);
        }
        // Nobody waits after the first loss, so nothing is timed before it.
        let begun = (losses > 0).then(Instant::now);
        let failure = match attempt(table, attempts, batch) {
            // A key that was destroyed with nothing left under it: the row was read before it was sealed anew.
            Err(error) if error.kind() == ErrorKind::KeySuperseded && losses == 0 => continue,
            Err(error) => return Err(error),
            Ok(Ok(etag)) => return Ok(etag),
            Ok(Err(failure)) => failure,
        };
        let has_turned_up = failure.error.kind() == ErrorKind::EntityAlreadyExists
            && failure.of.and_then(|of| attempts.get(of)).is_some_and(|of| of.takes_what_it_finds());
        let error = match failure.of {
            Some(of) => numbered(failure.error, of, batch),
            None => failure.error,
        };
        if !failure.was_stale && !has_turned_up {
            return Err(error);
        }
        last = Some(error);
        if let (None, Some(begun)) = (&turn, begun) {
            give_way(losses, begun.elapsed());
        }
    }
    let error = last.unwrap_or_else(|| Error::new(ErrorKind::ConditionNotMet));
    Err(error
        .with_kind(ErrorKind::ConditionNotMet)
        .because(format!("others were quicker {ATTEMPTS} times in a row")))
}

/// One attempt. The inner failure is one of the plan, and another may succeed.
fn attempt(
    table: &DynamicTable,
    attempts: &mut [&mut (dyn Attempt + '_)],
    batch: Option<&str>,
) -> Result<Result<ETag, Failure>> {
    stand(table, attempts, batch, true)?;
    read(table, attempts, batch)?;
    let sealer = table.sealer();
    planned(attempts, batch, &sealer, |plan| table.carry_out(plan, &sealer.sealed_at()))
}

/// The rows that the changes would touch.
pub(in crate::typed) fn explain(
    table: &DynamicTable,
    attempts: &mut [&mut (dyn Attempt + '_)],
    batch: Option<&str>,
) -> Result<WriteExplain> {
    stand(table, attempts, batch, false)?;
    read(table, attempts, batch)?;
    planned(attempts, batch, &table.sham_sealer(), WriteExplain::of)
}

/// A change that a load carries out together with others.
pub(in crate::typed) fn loaded(
    table: &DynamicTable,
    attempt: &mut (dyn Attempt + '_),
    loader: &mut dyn Loader,
) -> Result<()> {
    let attempts = &mut [attempt];
    stand(table, attempts, None, true)?;
    read(table, attempts, None)?;
    let sealer = table.sealer();
    planned(attempts, None, &sealer, |plan| {
        // An entity may have no copy in an index.
        if plan.groups.iter().all(|group| group.written() == 0) {
            return Ok(());
        }
        loader.add(plan, &sealer.sealed_at()).map_err(|refused| plan.judge(refused).error)
    })?
}

/// What `run` makes of the plan that adds an entity.
pub(in crate::typed) fn insertion<E: Entity, T>(
    entity: &E,
    standing: Standing,
    seals: &dyn Seals,
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    let mut attempt = EntityAttempt::new(Key::unused(), Change::Insert(entity));
    attempt.stand(standing);
    planned(&mut [&mut attempt], None, seals, run)
}

/// Tells the attempts what the writers of their kinds go by. Those that are to be carried out have the layouts of their kinds
/// noted, which a store that is only read never gets to know.
fn stand(
    table: &DynamicTable,
    attempts: &mut [&mut (dyn Attempt + '_)],
    batch: Option<&str>,
    writes: bool,
) -> Result<()> {
    let mut last: Option<(&'static Schema, Standing)> = None;
    for (number, attempt) in attempts.iter_mut().enumerate() {
        let schema = attempt.schema();
        let standing = match last {
            Some((known, standing)) if std::ptr::eq(known, schema) => standing,
            _ => table
                .standing(schema, writes && attempt.writes_entity())
                .map_err(|error| numbered(error, number, batch))?,
        };
        last = Some((schema, standing));
        attempt.stand(standing);
    }
    Ok(())
}

/// Reads what the changes need; of several, as it was at one moment. No transaction is open any more when it returns.
fn read(table: &DynamicTable, attempts: &mut [&mut (dyn Attempt + '_)], batch: Option<&str>) -> Result<()> {
    let readers = attempts.iter().filter(|attempt| attempt.reads()).count();
    let mut moment = if readers > 1 { Some(table.snapshot()?) } else { None };
    for (number, attempt) in attempts.iter_mut().enumerate() {
        read_for(table, &mut moment, *attempt).map_err(|error| numbered(error, number, batch))?;
    }
    Ok(())
}

/// Reads what one change needs: one row as it is now, or several of one moment.
fn read_for(
    table: &DynamicTable,
    moment: &mut Option<Snapshot>,
    attempt: &mut (dyn Attempt + '_),
) -> Result<()> {
    attempt.begin();
    let mut is_first = true;
    while let Some(need) = attempt.need()? {
        if !is_first && moment.is_none() {
            // What was read first may be of another moment.
            *moment = Some(table.snapshot()?);
            attempt.take_back(need);
            attempt.begin();
            is_first = true;
            continue;
        }
        is_first = false;
        let found = find(table, moment.as_ref(), &need, attempt);
        attempt.take_back(need);
        found?;
    }
    Ok(())
}

/// Gives an attempt what is found for its need.
fn find(
    table: &DynamicTable,
    moment: Option<&Snapshot>,
    need: &Need,
    attempt: &mut (dyn Attempt + '_),
) -> Result<()> {
    let (partition, row) = need.keys.as_strs();
    let found = match moment {
        None => table.get_in_state(partition, row, |view, state| {
            attempt.found(Some((view, version_of(view, state))))
        })?,
        Some(moment) => {
            let view = if need.is_copy {
                moment.view_unverified(table, partition, row)?
            } else {
                moment.view(table, partition, row)?
            };
            let found = view.map(|view| attempt.found(Some((&view, version_of(&view, moment.state())))));
            let place = |e: Error| e.attempted("read from").table(table.name()).partition(partition).row(row);
            found.transpose().map_err(place)?
        }
    };
    if found.is_none() { attempt.found(None) } else { Ok(()) }
}

/// What `run` makes of the plan of the changes, for which everything has been found. `batch` is the partition of a batch,
/// whose errors say which of the changes they are about.
pub(in crate::typed) fn planned<T>(
    attempts: &mut [&mut (dyn Attempt + '_)],
    batch: Option<&str>,
    seals: &dyn Seals,
    run: impl FnOnce(&Plan<'_>) -> T,
) -> Result<T> {
    for (number, attempt) in attempts.iter_mut().enumerate() {
        attempt.make().map_err(|error| numbered(error, number, batch))?;
    }
    if let [attempt] = attempts {
        // Most are alone, and need no list.
        let mut desk = Desk::default();
        let mut draft = Draft::new(batch, 1);
        attempt.plan(0, seals, &mut desk, &mut draft).map_err(|error| numbered(error, 0, batch))?;
        return Ok(run(&draft.into_plan()?));
    }
    let mut desks: Vec<_> = attempts.iter().map(|_| Desk::default()).collect();
    let mut draft = Draft::new(batch, attempts.len());
    for ((number, attempt), desk) in attempts.iter().enumerate().zip(&mut desks) {
        attempt.plan(number, seals, desk, &mut draft).map_err(|error| numbered(error, number, batch))?;
    }
    Ok(run(&draft.into_plan()?))
}

/// An error of the change that has this place in its batch.
fn numbered(error: Error, number: usize, batch: Option<&str>) -> Error {
    if batch.is_some() { error.at_index(number) } else { error }
}

/// Waits by chance, longer from loss to loss: then those who contend for an entity come one after another, and not all
/// at one time for one of them to win.
fn give_way(losses: u32, took: Duration) {
    let most = took.saturating_mul(losses).min(LONGEST_WAIT);
    if most.is_zero() {
        return;
    }
    // Each state has keys of its own.
    let chance = u32::try_from(RandomState::new().hash_one(losses) >> 32).unwrap_or_default();
    thread::sleep(most.mul_f64(f64::from(chance) / f64::from(u32::MAX)));
}
