//! Deferred copies that dependents hold of an entity: found and written in steps.
//!
//! Dependents are found as a change of the source finds those whose copies change with it: by rows whose keys begin with the
//! source's key, behind the row that the outbox entry names as the last step's. A step is a transaction that demands the entry
//! and the source as they were read. A concurrent change of a dependent takes the copy as it is by then
//! (`typed/change/copied_fields`), so that no dependent has to be looked for twice, even if its row has moved.

use std::ops::Bound;

use crate::error::{ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::handle::write::carry_out;
use crate::model::Value;
use crate::outbox::{CopyKey, DependentProgress as Reached, OutboxEntry};
use crate::plan::{Act, Cause, Condition, OutboxOp, PlanBuilder, Reach, RowKind, RowWrite, Seals};
use crate::query::Query;
use crate::row::version::version_of;
use crate::schema::{self, CopiedFields, KeyPair, Schema};
use crate::sealing::{SealedAt, Sealer};
use crate::typed::change::attempt::{Attempt, PlanScratch, Source, Sources};
use crate::typed::change::derive::{self, OfSource, SourceImages, is_one};
use crate::typed::change::driver::{self, Together};
use crate::typed::entity::dependent::{CopyReader, Dependent};

/// The most rows that one step looks at for dependents.
const ROWS: usize = 256;

/// Returns whether some of these dependents hold deferred copies of the entity.
#[inline]
pub(super) fn follows(dependents: &[Dependent]) -> bool {
    dependents.iter().any(|dependent| {
        let copied = dependent.schema().copied;
        dependent.copies().any(|(at, _)| copied.get(at).is_some_and(CopiedFields::is_eventual))
    })
}

/// A source, and the kinds that may hold copies of it.
#[derive(Clone, Copy)]
pub(super) struct Of<'a> {
    pub(super) schema: &'static Schema,
    pub(super) dependents: &'static [Dependent],
    pub(super) entry: &'a OutboxEntry,
}

/// Takes one step: brings the copies of the next dependents up to date, as many as one step looks for. Returns whether more is
/// to follow: further dependents, or the deferred copies of those that have changed.
#[inline]
pub(super) fn step(together: Together<'_>, of: Of<'_>) -> Result<bool> {
    let mut most = ROWS;
    loop {
        match attempt(together, of, most) {
            // A transaction with fewer dependents may fit.
            Err(error)
                if most > 1 && matches!(error.kind(), ErrorKind::BatchTooLarge | ErrorKind::BatchLength) =>
            {
                most /= 2;
            }
            done => return done,
        }
    }
}

/// A dependent whose copies are to be brought up to date.
struct Change {
    attempt: Box<dyn Attempt>,
    /// The number of its table.
    table: usize,
    schema: &'static Schema,
    keys: KeyPair,
}

/// What a step has found so far.
struct Found {
    changes: Vec<Change>,
    /// How many more rows it may look at.
    room: usize,
}

/// A step, and the snapshot that all of it reads.
#[derive(Clone, Copy)]
struct Step<'a> {
    together: Together<'a>,
    snapshot: &'a Snapshot,
    of: Of<'a>,
}

/// Takes a step that looks at this many rows at most. Returns whether more is to follow.
#[inline]
fn attempt(together: Together<'_>, of: Of<'_>, most: usize) -> Result<bool> {
    let Of { schema, dependents, entry } = of;
    let (partition, row) = (entry.source.partition.as_str(), entry.source.row.as_str());
    let first = together.tables.first().ok_or_else(driver::no_table)?;
    let own = together.table(schema.table()).ok_or_else(driver::no_table)?;
    let snapshot = first.snapshot()?;
    let version = snapshot.view(own, partition, row)?.map(|view| version_of(&view, snapshot.state()));
    let step = Step { together, snapshot: &snapshot, of };
    let (mut found, mut reached) = (Found { changes: Vec::new(), room: most }, Vec::new());
    for Reached { key, after } in &entry.dependents {
        if found.room == 0 {
            break;
        }
        let kind = dependents.iter().find(|dependent| dependent.schema().kind == key.kind);
        let copy = kind.and_then(|dependent| {
            let all = dependent.schema().copied;
            let mut theirs = dependent.copies().filter_map(|(at, _)| all.get(at));
            Some((dependent, theirs.find(|copy| copy.property == key.property)?))
        });
        // Copies that this program's dependents do not declare have no dependents left to find.
        let after = match copy {
            Some((dependent, copy)) => step.find(dependent, copy, after.as_ref(), &mut found)?,
            None => None,
        };
        reached.push(Reached { key: key.clone(), after });
    }
    let is_more =
        reached.len() < entry.dependents.len() || reached.iter().any(|Reached { after, .. }| after.is_some());
    let mut changes = found.changes;
    step.make(&mut changes)?;
    let condition = version.map_or(Condition::StillAbsent, Condition::Is);
    let kind = version.map(|_| RowKind { schema, cause: Cause::Entity });
    let source = RowWrite { key: row, condition, act: Act::Keep, kind, of: 0 };
    let names: Vec<_> = together.tables.iter().map(DynamicTable::name).collect();
    let sealers: Vec<_> = together.tables.iter().map(DynamicTable::sealer).collect();
    let mut scratches: Vec<_> = changes.iter().map(|_| PlanScratch::default()).collect();
    let mut builder = PlanBuilder::new(Reach::Store, &names, changes.len());
    for (change, scratch) in changes.iter().zip(&mut scratches) {
        let seals: &dyn Seals = sealers.get(change.table).ok_or_else(driver::no_table)?;
        change.attempt.plan(0, seals, scratch, &mut builder)?;
    }
    builder.expect(schema.table(), partition, source);
    builder.leave(OutboxOp::Advance(entry.source.clone(), entry.version, reached));
    let plan = builder.into_plan()?;
    // The dependents' own deferred copies may be to follow now.
    let is_more = is_more || plan.outbox_ops.iter().any(OutboxOp::is_news);
    let sealed_at = SealedAt::earliest(sealers.iter().map(Sealer::sealed_at));
    carry_out(together.tables, &plan, &sealed_at).map_err(|failure| failure.error)?;
    Ok(is_more)
}

impl Step<'_> {
    /// Finds dependents behind the row to which an earlier step has come, and adds those that are not among the changes yet.
    /// Returns the row to which this step comes, if there may be more behind it.
    #[inline]
    fn find(
        self,
        dependent: &Dependent,
        copy: &CopiedFields,
        after: Option<&CopyKey>,
        found: &mut Found,
    ) -> Result<Option<CopyKey>> {
        let Self { together, snapshot, of } = self;
        let schema = dependent.schema();
        // A table that was dropped has none.
        let Some(own) = together.table(schema.table()) else { return Ok(None) };
        let number = together.number(schema.table()).ok_or_else(driver::no_table)?;
        let Some(way) = schema.way_back(copy) else { return Err(derive::no_way(schema, of.schema)) };
        if let Some(index) = way.index {
            snapshot.check_index(own, schema, index)?;
        }
        let name = way.place.table.source();
        let table = together.table(name).ok_or_else(|| derive::missing(name))?;
        let (partition, row) = (of.entry.source.partition.as_str(), of.entry.source.row.as_str());
        let Some(arguments) = arguments(of.schema, partition, row) else { return Ok(None) };
        let known = OfSource { copy, arguments };
        // No dependent's row can have such a key, so none refers to the source.
        let Some((partition, prefix)) = way.print(&known) else { return Ok(None) };
        // The rows have another order in another index, and by another template: a position in those says nothing here.
        let named = way.index.and_then(|at| schema.indexes.get(at)).map_or("", |index| index.name);
        let index = format!("{named} {}", way.place.row.source);
        let after = after.filter(|after| after.index == index && after.partition == partition);
        let query = Query::new().partition(&partition).row_prefix(&prefix);
        let query = match after {
            Some(after) => query.rows((Bound::Excluded(&after.row), Bound::Unbounded)),
            None => query,
        };
        let mut last = None;
        for view in snapshot.views_of(table, query.into())? {
            let view = view?;
            if found.room == 0 {
                return Ok(last.map(|row| CopyKey { index, partition, row }));
            }
            found.room -= 1;
            last = Some(view.keys().1.into_owned());
            let Some(keys) = dependent.own_keys(&view, way.index)? else { continue };
            let is_known =
                |change: &Change| is_one(change.schema, schema) && change.keys.as_keys() == keys.as_keys();
            if !found.changes.iter().any(is_known) {
                found.changes.push(Change { attempt: dependent.again(&keys), table: number, schema, keys });
            }
        }
        Ok(None)
    }

    /// Has the dependents take what the source says. Drops the changes of those that have it already.
    #[inline]
    fn make(self, changes: &mut Vec<Change>) -> Result<()> {
        let Self { together, snapshot, of } = self;
        let keys = KeyPair::of(&of.entry.source.partition, &of.entry.source.row);
        let sources = Following { known: SourceImages::at(together, snapshot), schema: of.schema, keys };
        for Change { attempt, table, schema, .. } in changes.iter_mut() {
            attempt.set_index_mask(driver::index_mask(together, schema, true)?);
            let table = together.tables.get(*table).ok_or_else(driver::no_table)?;
            driver::read_at(together, table, snapshot, &mut **attempt)?;
            attempt.make().and_then(|()| attempt.hold(&sources))?;
        }
        changes.retain(|change| !change.attempt.holds_already());
        Ok(())
    }
}

/// Sources of a step: the one that is propagated, as the snapshot has it. What a dependent holds of others stays.
struct Following<'k> {
    known: SourceImages<'k>,
    schema: &'static Schema,
    keys: KeyPair,
}

impl Sources for Following<'_> {
    fn changes(&self, schema: &'static Schema, keys: &KeyPair) -> bool {
        is_one(schema, self.schema) && keys.as_keys() == self.keys.as_keys()
    }

    fn are_asked(&self) -> bool {
        false
    }

    fn get(&self, dependents: &CopyReader, keys: &KeyPair) -> Result<Source> {
        self.known.get(dependents, keys)
    }
}

/// Reads the fields that a key of the kind is made of back from the key, in the order of its constructor's arguments. A primary
/// key gives all of them back (C22); `None` if it is no key of the kind.
#[inline]
fn arguments(schema: &'static Schema, partition: &str, row: &str) -> Option<Vec<Option<Value>>> {
    let mut found: Vec<(usize, Value)> = Vec::new();
    let place = schema.place();
    for (template, key) in [(&place.partition, partition), (&place.row, row)] {
        let is_whole = schema::parse(template, key, |field, value| {
            found.extend(value.as_value_ref().map(|value| (field, value.to_value())));
        });
        if !is_whole {
            return None;
        }
    }
    let mut fields = Vec::new();
    for part in [&place.partition, &place.row].into_iter().flat_map(schema::fields) {
        if !fields.contains(&part.field) {
            fields.push(part.field);
        }
    }
    let value =
        |field: &usize| found.iter().find(|(known, _)| known == field).map(|(_, value)| value.clone());
    Some(fields.iter().map(value).collect())
}
