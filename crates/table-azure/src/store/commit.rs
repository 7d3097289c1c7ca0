//! Changes carried out: one request of the service each, whole or not at all.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::{Duration, Instant};

use table_engine::__executor::{self as seam, Committed, Condition, Refused};
use table_engine::executor::layouts;
use table_engine::sealing::sign;
use table_engine::{DynamicEntity, ETag, Error, ErrorKind, Result, Ticks, Value, ValueRef};

use super::outbox::{Marks, OutboxState};
use super::planned::{Guard, Planned, PlannedRow};
use super::recognise::Verdict;
use super::rings::Keys;
use super::service::Service;
use super::table::TableEntry;
use super::{additions, explain, marks};
use crate::client::{Failure, Operation, Outcome, Refusal};

/// How often a change is tried whose rows others write, or have removed, while it is carried out.
const ROUNDS: u32 = 32;

/// An operation, and what it is of.
pub(super) struct Step {
    pub(super) of: Of,
    /// The place in the plan: of the row, or of what is added, behind the rows.
    pub(super) place: usize,
    pub(super) key: String,
    pub(super) operation: Operation,
    /// What the row tells when it is done, if it tells the change.
    pub(super) ring: Option<String>,
    /// What the row told that it was planned on.
    pub(super) before: Option<String>,
}

impl Step {
    /// Returns the place of its row in the plan, if it has one there.
    fn row(&self) -> Option<usize> {
        (self.of != Of::Note).then_some(self.place)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// A row under the plan's own condition.
    Row,
    /// A row that was looked at, under a condition of what was found.
    Looked,
    /// A row that goes if it is there.
    Removal,
    /// A row that something is added to.
    Addition,
    /// A row that notes which copies follow.
    Note,
}

/// What was learnt of a change while it was tried.
struct Attempt {
    /// The places of rows that were to go, and are gone.
    gone: Vec<usize>,
    /// Whether rows tell the change.
    has_tokens: bool,
}

impl Service {
    /// Carries out a change.
    pub(super) async fn commit(&self, planned: Planned) -> Result<Committed, Refused> {
        let Some(table) = planned.table.clone() else { return Ok(Committed::at(now())) };
        self.pass(planned.change).await;
        let mut attempt = Attempt { gone: Vec::new(), has_tokens: self.settings.has_tokens };
        for round in 0..ROUNDS {
            let mut relied = self.rely(&table, &planned).await?;
            let mut steps = self.steps(&table, &planned, &attempt).await?;
            if relied.until.is_some_and(|until| Instant::now() >= until) {
                // What was looked at has taken longer than the lease.
                relied = self.rely(&table, &planned).await?;
            }
            steps.retain(|step| !relied.leaves_out(&planned, step));
            let operations: Vec<_> = steps.iter().map(|step| step.operation.clone()).collect();
            let (remote, until) = (table.remote(), relied.until);
            let outcome = self.client.execute_until(remote, &planned.partition, &operations, until).await;
            if matches!(outcome, Err(Failure::Expired)) {
                // Nothing was sent: what it relies on is read again.
                continue;
            }
            let (refusal, at) = match self.settled(&table, &planned, &steps, outcome).await? {
                Settled::Done(etags) => return Ok(self.committed(&table, &planned, &steps, &etags)),
                Settled::Refused(refusal, at) => (refusal, at),
            };
            if let Some(refused) = attempt.learn(&steps, &refusal, at) {
                return Err(refused);
            }
            if round > 0 {
                tokio::time::sleep(by_chance(round)).await;
            }
        }
        let because = format!("others have written the rows that it is of, {ROUNDS} times in a row");
        Err(Refused::whole(Error::new(ErrorKind::ConditionNotMet).because(because)))
    }

    /// Carries out a change, and has its copies follow that are to.
    pub(super) async fn carry_out(
        &self,
        outbox: &OutboxState,
        planned: Planned,
    ) -> Result<Committed, Refused> {
        let noted = planned.table.clone().filter(|_| !planned.notes.is_empty());
        let partition = planned.partition.clone();
        let done = self.commit(planned).await;
        // What is unknown may have been noted, too.
        if let Some(table) = noted {
            outbox.noted(&table, &partition);
        }
        done
    }

    /// Makes sure that the kinds are in the epochs in which a change was planned, and the keys in the generation at which its values
    /// were sealed, and that this process goes by what it knows of them. Returns until when, and what is left out meanwhile.
    async fn rely(&self, table: &TableEntry, planned: &Planned) -> Result<Relied, Refused> {
        let mut relied = Relied::default();
        let refused = |error| Refused { error, group: 0, row: None };
        if let Some(generation) = planned.sealed_at {
            relied.until = Some(self.keys.rely(generation).await.map_err(refused)?);
        }
        if planned.epochs.is_empty() || !self.settings.has_layouts {
            return Ok(relied);
        }
        let table = planned.stated.as_deref().unwrap_or(table);
        let (noted, lease) = self.leased(table).await.map_err(refused)?;
        relied.until = relied.until.into_iter().chain([lease.until()]).min();
        for epoch in &planned.epochs {
            if noted.epoch(epoch.kind) != epoch.number {
                return Err(refused(explain::another_epoch()));
            }
            if let Some(record) = noted.record(epoch.kind) {
                relied.opening.extend(record.opening.iter().cloned());
            }
        }
        Ok(relied)
    }

    /// Returns what the service is asked for.
    async fn steps(
        &self,
        table: &TableEntry,
        planned: &Planned,
        attempt: &Attempt,
    ) -> Result<Vec<Step>, Refused> {
        let mut steps = Vec::new();
        for row in planned.rows.iter().filter(|row| !attempt.gone.contains(&row.place)) {
            let refused = |error| Refused { error, group: planned.group, row: Some(row.place) };
            let looked = match &row.guard {
                Some(guard) => self.look(table, planned, row, guard).await.map_err(refused)?,
                None => None,
            };
            let marks = row.is_marked && attempt.has_tokens;
            let ring = marks.then(|| planned.token.ring(row.before.as_deref()));
            let of = match looked {
                Some(_) => Of::Looked,
                None if row.may_be_gone() => Of::Removal,
                None => Of::Row,
            };
            let operation = row.operation(looked.unwrap_or(row.condition), ring.as_deref());
            let (place, key, before) = (row.place, row.key.clone(), row.before.clone());
            steps.push(Step { of, place, key, operation, ring, before });
        }
        for addition in &planned.additions {
            let refused = |error| Refused { error, group: planned.group, row: Some(addition.place) };
            let keys = Keys { partition: &planned.partition, row: &addition.key };
            let old = self.row(table, keys.partition, keys.row).await.map_err(refused)?;
            let (mut ring, mut before) = (None, None);
            let marked = |told: Option<&str>| {
                before = told.map(str::to_owned);
                ring = attempt.has_tokens.then(|| planned.token.ring(told));
                ring.clone()
            };
            let operation =
                additions::operation(keys, &addition.amounts, old.as_ref(), marked).map_err(refused)?;
            if let Some(operation) = operation {
                let (place, key) = (addition.place, addition.key.clone());
                steps.push(Step { of: Of::Addition, place, key, operation, ring, before });
            }
        }
        for (at, note) in planned.notes.iter().enumerate() {
            // Two rows each, behind those of the plan.
            let place = planned.slots + planned.additions.len() + 2 * at;
            let marks = Marks { place, token: attempt.has_tokens.then_some(&planned.token) };
            let noted = note.steps(self, table, &planned.partition, marks).await;
            steps.extend(noted.map_err(Refused::whole)?);
        }
        Ok(steps)
    }

    /// Looks at what a row is that is written by its properties, where the table has rows of declared kinds: those are their
    /// structs'. Returns the condition that it is still so.
    async fn look(
        &self,
        table: &TableEntry,
        planned: &Planned,
        row: &PlannedRow,
        guard: &Guard,
    ) -> Result<Option<Condition>> {
        if guard.is_raw {
            return self.look_raw(table, planned, row, guard).await;
        }
        let layouts = self.recent_layouts(table).await?;
        let merges = !guard.merged.is_empty();
        let is_new = matches!(row.condition, Condition::Absent | Condition::StillAbsent);
        if let Some(kind) = &guard.kind {
            seam::check_by_properties(&layouts, kind)?;
        }
        if is_new || (layouts.is_empty() && !merges) {
            return Ok(None);
        }
        let Some(old) = self.row(table, &planned.partition, &row.key).await? else {
            return Ok(still(row, None).filter(|_| !layouts.is_empty()));
        };
        if let Some(kind) = old.get("EntityType").and_then(Value::as_str) {
            seam::check_by_properties(&layouts, kind)?;
        }
        if marks::is_signed(&old) && guard.writes {
            return Err(sign::needs_its_struct());
        }
        if merges {
            check_merged(&old, guard)?;
        }
        Ok(still(row, Some(&old)).filter(|_| !layouts.is_empty()))
    }

    /// Refuses to write by its properties a row that its struct has to sign. Returns the condition that it is still none.
    async fn look_raw(
        &self,
        table: &TableEntry,
        planned: &Planned,
        row: &PlannedRow,
        guard: &Guard,
    ) -> Result<Option<Condition>> {
        let (noted, _) = self.leased(table).await?;
        let mut signs_some = false;
        for (of, layout) in &noted.texts {
            let layout = layouts::read(layout, of)?;
            signs_some |= layout.signs_some();
            let is_own = |kind: &String| layout.is_signed() && layout.entity_type() == *kind;
            let is_copy = |kind: &String| {
                let mut signed = layout.indexes().filter(|index| layout.always_signs(index));
                signed.any(|index| layout.index_kind(index) == *kind)
            };
            if guard.kind.as_ref().is_some_and(|kind| is_own(kind) || is_copy(kind)) {
                return Err(sign::needs_its_struct());
            }
        }
        if !signs_some {
            return Ok(None);
        }
        let old = self.row(table, &planned.partition, &row.key).await?;
        if old.as_ref().is_some_and(marks::is_signed) {
            return Err(sign::needs_its_struct());
        }
        Ok(still(row, old.as_ref()))
    }

    /// Returns what has become of the operations, also where an answer was lost.
    async fn settled(
        &self,
        table: &TableEntry,
        planned: &Planned,
        steps: &[Step],
        outcome: Result<Outcome, Failure>,
    ) -> Result<Settled, Refused> {
        let (refusal, at) = match outcome {
            Ok(Outcome::Done(etags)) => return Ok(Settled::Done(etags)),
            Ok(Outcome::Refused { refusal, at, may_be_done: false }) => {
                return Ok(Settled::Refused(refusal, at));
            }
            Ok(Outcome::Refused { refusal, at, may_be_done: true }) => (refusal, at),
            Err(failure @ (Failure::NoAnswer(_) | Failure::Unsettled(_) | Failure::Malformed(_))) => {
                // It may be told by its rows all the same.
                return match self.recognise(table, planned, steps, None).await {
                    Ok(Verdict::Done(etags)) => Ok(Settled::Done(etags)),
                    _ => Err(Refused::whole(explain::unwritten(failure))),
                };
            }
            Err(failure) => return Err(Refused::whole(explain::unwritten(failure))),
        };
        let place = at.and_then(|at| steps.get(at)).and_then(Step::row);
        match self.recognise(table, planned, steps, Some(&refusal)).await {
            Ok(Verdict::Done(etags)) => Ok(Settled::Done(etags)),
            Ok(Verdict::NotDone) => Ok(Settled::Refused(refusal, at)),
            Ok(Verdict::Unknown) | Err(_) => Err(Refused { error: explain::unknown(), group: 0, row: place }),
        }
    }

    /// Returns the versions of rows that were written, in the order of the plan, and remembers what the rows tell.
    fn committed(
        &self,
        table: &TableEntry,
        planned: &Planned,
        steps: &[Step],
        etags: &[Option<ETag>],
    ) -> Committed {
        let newest = etags.iter().flatten().max_by_key(|etag| etag.timestamp());
        let last = newest.copied().unwrap_or_else(now);
        let mut of_rows = vec![last; planned.slots];
        for (step, etag) in steps.iter().zip(etags) {
            let Some(etag) = etag else { continue };
            if let Some(of_row) = of_rows.get_mut(step.place) {
                *of_row = *etag;
            }
            if let Some(ring) = &step.ring {
                let keys = Keys { partition: &planned.partition, row: &step.key };
                self.rings.note(table.remote(), keys, *etag, ring);
            }
        }
        Committed::of_rows(last, of_rows)
    }
}

/// What a change relies on that is noted of kinds.
#[derive(Default)]
struct Relied {
    /// Until when it is gone by.
    until: Option<Instant>,
    /// The indexes whose rows are removed, and not put yet.
    opening: Vec<String>,
}

impl Relied {
    /// Returns whether an operation puts a row of an index that opens.
    fn leaves_out(&self, planned: &Planned, step: &Step) -> bool {
        if self.opening.is_empty() || step.of == Of::Note {
            return false;
        }
        let row = planned.rows.iter().find(|row| row.place == step.place);
        row.is_some_and(|row| {
            row.puts() && row.index.is_some_and(|index| self.opening.iter().any(|opening| opening == index))
        })
    }
}

/// What has become of operations.
enum Settled {
    Done(Vec<Option<ETag>>),
    /// They were not carried out, by the fault of one of them, if the service said so.
    Refused(Refusal, Option<usize>),
}

impl Attempt {
    /// Returns why a change is refused, unless it may be tried again in another way.
    fn learn(&mut self, steps: &[Step], refusal: &Refusal, at: Option<usize>) -> Option<Refused> {
        let error = explain::refused(refusal);
        let step = at.and_then(|at| steps.get(at));
        let was_beaten = matches!(
            error.kind(),
            ErrorKind::ConditionNotMet | ErrorKind::EntityAlreadyExists | ErrorKind::EntityNotFound
        );
        match step.map(|step| step.of) {
            Some(Of::Removal) if error.kind() == ErrorKind::EntityNotFound => {
                self.gone.extend(step.map(|step| step.place));
                return None;
            }
            Some(Of::Looked | Of::Addition | Of::Note) if was_beaten => return None,
            _ => {}
        }
        // The row has no room for what tells the change.
        if self.has_tokens && matches!(error.kind(), ErrorKind::TooManyProperties | ErrorKind::EntityTooLarge)
        {
            self.has_tokens = false;
            return None;
        }
        Some(Refused { error, group: 0, row: step.and_then(Step::row) })
    }
}

/// Refuses what a merge would make of a row, where that is too large.
fn check_merged(old: &DynamicEntity, guard: &Guard) -> Result<()> {
    let mut merged: BTreeMap<&str, ValueRef<'_>> =
        old.properties().map(|(name, value)| (name, value.as_value_ref())).collect();
    for own in marks::PROPERTIES {
        merged.remove(own);
    }
    merged.extend(guard.merged.iter().map(|(name, value)| (name.as_str(), value.as_value_ref())));
    let merged: Vec<_> = merged.into_iter().collect();
    seam::check_entity(old.partition_key(), old.row_key(), &merged)
}

/// Returns how long a change waits that others were quicker than.
pub(super) fn by_chance(round: u32) -> Duration {
    let most = Duration::from_millis(5) * 2_u32.pow(round.min(7));
    let chance = u32::try_from(RandomState::new().hash_one(0_u8) >> 32).unwrap_or_default();
    most.mul_f64(f64::from(chance) / f64::from(u32::MAX))
}

/// Returns a version for what has none.
fn now() -> ETag {
    ETag::from_timestamp(Ticks::now())
}

/// Returns the condition that a row is still what was found of it, where the plan has none that says so.
fn still(row: &PlannedRow, old: Option<&DynamicEntity>) -> Option<Condition> {
    match (row.condition, old) {
        (Condition::Any, None) => row.operation(Condition::Any, None).writes().then_some(Condition::Absent),
        (Condition::Any | Condition::Present, Some(old)) => old.etag().map(Condition::Tag),
        _ => None,
    }
}
