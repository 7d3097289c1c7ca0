//! Converting the entities of a kind to the version that a struct declares, and writing anew what has a previous name.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::check::as_stored;
use super::kind::of_struct;
use super::verify_copies::At;
use super::{Step, StepOutcome, Work, purge};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::layouts::unknown_version;
use crate::executor::{Conversion, JobRecord};
use crate::handle::table::DynamicTable;
use crate::plan::Epoch;
use crate::row::view::RowView;
use crate::schema::{IndexStates, KindEvent, KindState, Kinship, Schema};
use crate::typed::change::driver::Together;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, Payload, driver, plan_only};
use crate::typed::entity::Entity;
use crate::typed::read::key::Key;

/// Rows of previous versions are written anew, and what of their copies is left is removed.
const CONVERTING: u8 = 0;
/// Rows that have something under a previous name, or something that is to go, are written anew.
const RENEWING: u8 = 1;
/// Copies of previous versions are removed from the first of the other tables where they may lie; a number more for each of the
/// rest.
const PURGING: u8 = 2;

/// Returns the table whose copies of previous versions a job removes; `None` if it is not that far, or none is left.
#[inline]
fn purged(at: &JobRecord) -> Option<&str> {
    at.tables().nth(usize::from(at.phase.checked_sub(PURGING)?))
}

/// Converts the entities of a kind.
pub(super) struct Convert<E> {
    /// The entity of which the last step was made, if that was one.
    last: Option<(String, String)>,
    entity: PhantomData<fn() -> E>,
}

/// What a step has found.
#[derive(Default)]
struct FoundRows {
    entities: Vec<(String, String)>,
    /// Entities of which only the copies show whether they are to be written anew.
    unsure: Vec<(String, String)>,
    copies: BTreeMap<String, Vec<String>>,
}

impl<E: Entity> Convert<E> {
    pub(super) fn new() -> Self {
        Self { last: None, entity: PhantomData }
    }

    /// Has this happen to the kind. Returns whether it has: not if another program was quicker.
    fn transit(
        &self,
        table: &DynamicTable,
        index_states: &IndexStates,
        event: KindEvent,
        record: Option<&JobRecord>,
    ) -> Result<bool> {
        let (schema, epoch, name) = (E::SCHEMA, index_states.epoch, self.name());
        table.exec().jobs()?.convert(&Conversion { schema, event, epoch, job: (&name, record) })
    }

    /// Stops at an entity that can't be converted.
    fn stop(&self, table: &DynamicTable, at: &JobRecord, partition: &str, row: &str, error: &Error) -> Error {
        let why = error.to_string();
        let stop = || {
            let (index_states, _) = table.exec().jobs()?.version(E::SCHEMA)?;
            let entity = (partition.to_owned(), row.to_owned());
            self.transit(table, &index_states, KindEvent::Stop { entity, why: why.clone() }, Some(at))
        };
        match stop() {
            Err(error) => error,
            Ok(_) => stopped(E::SCHEMA, partition, row, &why),
        }
    }

    /// Removes the next copies of previous versions from another table. The entities are of the last version by then.
    fn purge(
        &self,
        table: &DynamicTable,
        index_states: &IndexStates,
        epoch: Epoch,
        mut step: Step<'_>,
    ) -> Result<StepOutcome> {
        let at = step.at;
        let Some(name) = purged(at) else { return self.purged_or(table, index_states, at.clone(), epoch) };
        let goes = |kind: &str| E::SCHEMA.is_previous_copy(kind);
        let to = purge::remove(table, name, &goes, epoch, &mut step)?;
        if to.position.is_some() {
            return Ok(StepOutcome::Rows(Some(to), Some(epoch)));
        }
        let next = to.in_part(at.phase.saturating_add(1));
        self.purged_or(table, index_states, next, epoch)
    }

    /// Goes on with the table that comes next, or has the kind be converted if none is left.
    fn purged_or(
        &self,
        table: &DynamicTable,
        index_states: &IndexStates,
        next: JobRecord,
        epoch: Epoch,
    ) -> Result<StepOutcome> {
        if purged(&next).is_some() {
            return Ok(StepOutcome::Rows(Some(next), Some(epoch)));
        }
        self.transit(table, index_states, KindEvent::Converted, None)?;
        Ok(StepOutcome::Moved)
    }

    /// Notes what is to be done of a row. Returns whether something is.
    fn look(view: &RowView<'_>, phase: u8, found: &mut FoundRows) -> Result<bool> {
        let (schema, Some(kind)) = (E::SCHEMA, view.kind()?) else { return Ok(false) };
        let is_asked_for = match schema.kinship(kind) {
            Kinship::PreviousVersion(_) => phase == CONVERTING,
            Kinship::Mine if phase == RENEWING => {
                let is_previous = has_something_previous(view, schema)?;
                if !is_previous && const { E::SCHEMA.renames_key() } {
                    let (partition, row) = view.keys();
                    found.unsure.push((partition.into_owned(), row.into_owned()));
                    return Ok(true);
                }
                is_previous
            }
            Kinship::Other(version) if version < schema.version => {
                return Err(unknown_version(schema, version));
            }
            Kinship::Mine | Kinship::Other(_) | Kinship::Foreign => false,
        };
        let is_copy = phase == CONVERTING && schema.is_previous_copy(kind);
        if !is_asked_for && !is_copy {
            return Ok(false);
        }
        let (partition, row) = view.keys();
        if is_copy {
            found.copies.entry(partition.into_owned()).or_default().push(row.into_owned());
        } else {
            found.entities.push((partition.into_owned(), row.into_owned()));
        }
        Ok(true)
    }
}

/// Returns whether a row has a property under the name that it had before, or one that is to go.
#[inline]
fn has_something_previous(view: &RowView<'_>, schema: &Schema) -> Result<bool> {
    for was in schema.fields.iter().filter_map(|field| field.was).chain(schema.removed.iter().copied()) {
        if view.get(was)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the keys, among these, of entities that have a copy with something under a previous name.
fn with_previous_copies<E: Entity>(
    table: &DynamicTable,
    unsure: Vec<(String, String)>,
) -> Result<Vec<(String, String)>> {
    let index_mask = driver::index_mask(Together::alone(table), E::SCHEMA, false)?;
    let snapshot = as_stored(table, E::SCHEMA)?;
    let at = At { kind: of_struct::<E>(), table, there: table, number: 0, snapshot: &snapshot, index_mask };
    let mut found = Vec::new();
    for (partition, row) in unsure {
        if let Some(own) = snapshot.view(table, &partition, &row)?
            && own.kind()? == Some(E::SCHEMA.entity_type)
            && at.has_previous_copy(&own)?
        {
            found.push((partition, row));
        }
    }
    Ok(found)
}

/// Returns whether something of an entity's rows is to be written anew though their version is right.
#[inline]
pub(super) fn renews(schema: &Schema) -> bool {
    !schema.removed.is_empty() || schema.fields.iter().any(|field| field.was.is_some())
}

/// Returns the error of an entity that can't be converted.
#[cold]
pub(super) fn stopped(schema: &Schema, partition: &str, row: &str, why: &str) -> Error {
    let because = format!(
        "an entity of `{}` stops the conversion: {why}; mend it, or how it is converted, and run the migration again",
        schema.kind
    );
    Error::new(ErrorKind::NotConverted).because(because).partition(partition).row(row)
}

/// Returns whether an error is one of the entity that was to be converted, which would be the same each time.
fn is_its_own(error: &Error) -> bool {
    use ErrorKind as Is;
    let kinds = [
        Is::NotConverted,
        Is::SchemaMismatch,
        Is::ValueOutOfRange,
        Is::PropertyValueTooLarge,
        Is::EntityTooLarge,
        Is::TooManyProperties,
        Is::KeyTooLong,
        Is::InvalidKey,
        Is::DecryptionFailed,
        Is::KeyUnavailable,
    ];
    kinds.contains(&error.kind()) || error.kind().is_destroyed()
}

impl<E: Entity> Work for Convert<E> {
    fn name(&self) -> String {
        format!("convert {}", E::SCHEMA.kind)
    }

    fn begin(&mut self, table: &DynamicTable) -> Result<bool> {
        let (schema, jobs) = (E::SCHEMA, table.exec().jobs()?);
        let anew = |rows| {
            let others: Vec<_> = schema.other_tables().collect();
            JobRecord::new(rows, others.join("\n"))
        };
        loop {
            // What is noted must be what the declaration says of that version.
            table.index_mask(schema, false)?;
            let (index_states, noted) = jobs.version(schema)?;
            let record = jobs.job(&self.name())?;
            let (event, record) = match (&index_states.kind, noted) {
                (_, None) => return Ok(false),
                (_, Some(version)) if version > schema.version => {
                    return Err(unknown_version(schema, version));
                }
                (_, Some(from)) if from < schema.version => {
                    (KindEvent::Convert { from }, JobRecord::new(jobs.row_count()?, String::new()))
                }
                (KindState::Stable, _) if !renews(schema) => return Ok(false),
                (KindState::Stable, _) => {
                    table.index_mask(schema, true)?;
                    if record.is_none() {
                        let begun = JobRecord::new(jobs.row_count()?, String::new());
                        jobs.keep(&self.name(), Some(&JobRecord { phase: RENEWING, ..begun }))?;
                    }
                    return Ok(true);
                }
                (KindState::Converting { .. }, _) => {
                    // It was given up, which has left the rows as they were then.
                    if record.is_none() {
                        jobs.keep(&self.name(), Some(&anew(jobs.row_count()?)))?;
                    }
                    return Ok(true);
                }
                (KindState::Stopped { .. }, _) => {
                    let begun = || Ok::<_, Error>(anew(jobs.row_count()?));
                    (KindEvent::Resume, record.map_or_else(begun, Ok)?)
                }
            };
            if self.transit(table, &index_states, event, Some(&record))? {
                return Ok(true);
            }
            // Another program was quicker.
        }
    }

    fn cancel(&mut self, table: &DynamicTable) -> Result<()> {
        let jobs = table.exec().jobs()?;
        if jobs.version(E::SCHEMA)?.0.kind != KindState::Stable {
            return Err(Error::new(ErrorKind::Unsupported).because(format!(
                "entities of `{}` are converted already, and no program of the previous version can write: bring the migration \
                 to its end",
                E::SCHEMA.kind
            )));
        }
        let name = self.name();
        if jobs.job(&name)?.is_some() { jobs.keep(&name, None) } else { Ok(()) }
    }

    fn reach(&self, table: &DynamicTable, at: &JobRecord) -> Result<DynamicTable> {
        if at.phase < PURGING { Ok(table.clone()) } else { purge::beside(table, purged(at)) }
    }

    fn step(&mut self, table: &DynamicTable, step: Step<'_>) -> Result<StepOutcome> {
        let Step { at, size, .. } = step;
        let jobs = table.exec().jobs()?;
        let (index_states, noted) = jobs.version(E::SCHEMA)?;
        if let Some(version) = noted.filter(|version| *version > E::SCHEMA.version) {
            return Err(unknown_version(E::SCHEMA, version));
        }
        if let KindState::Stopped { entity: (partition, row), why, .. } = &index_states.kind {
            return Err(stopped(E::SCHEMA, partition, row, why));
        }
        if at.phase == RENEWING {
            table.index_mask(E::SCHEMA, true)?;
        }
        let epoch = Epoch { kind: E::SCHEMA.kind, number: index_states.epoch };
        if at.phase >= PURGING {
            return self.purge(table, &index_states, epoch, step);
        }
        let mut found = FoundRows::default();
        // Rows that come later have the new version and the new names: writers of previous ones are refused.
        let of_part = at.within(jobs)?;
        let (last, rows) = if at.is_at_end() {
            (None, 0)
        } else {
            let mut each = |view: &RowView<'_>, _| Self::look(view, at.phase, &mut found);
            jobs.rows_after(at.position.as_ref(), size, &mut each)?
        };
        if last.is_none() {
            if at.phase == CONVERTING {
                return self.purged_or(table, &index_states, at.in_part(PURGING), epoch);
            }
            return Ok(StepOutcome::Rows(None, Some(epoch)));
        }
        if !found.unsure.is_empty() {
            let unsure = std::mem::take(&mut found.unsure);
            found.entities.extend(with_previous_copies::<E>(table, unsure)?);
        }
        self.last = match &found.entities[..] {
            [one] => Some(one.clone()),
            _ => None,
        };
        let mut changed = 0;
        for (partition, row) in &found.entities {
            let mut attempt =
                EntityAttempt::new(Key::<E>::stored(partition, row), Change::Rewrite, Payload::Nothing);
            match plan_only::loaded(table, &mut attempt, step.loader) {
                Ok(_) => changed += 1,
                // Another writer was quicker.
                Err(error) if error.kind() == ErrorKind::EntityNotFound => {}
                Err(error) if at.phase == CONVERTING && is_its_own(&error) => {
                    return Err(self.stop(table, at, partition, row, &error));
                }
                Err(error) => return Err(error),
            }
        }
        // No writer keeps them.
        purge::remove_rows(0, &found.copies, epoch, step.loader)?;
        let to = JobRecord { position: last, done: at.done + rows, changed: at.changed + changed, ..of_part };
        Ok(StepOutcome::Rows(Some(to), Some(epoch)))
    }

    /// Stops the job if another entity has the key that one would get.
    fn refused(&mut self, table: &DynamicTable, at: &JobRecord, error: Error) -> Error {
        match self.last.take() {
            Some((partition, row))
                if at.phase == CONVERTING && error.kind() == ErrorKind::EntityAlreadyExists =>
            {
                self.stop(table, at, &partition, &row, &error)
            }
            _ => error,
        }
    }
}
