//! The propagator of the entities of one kind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::dependents::{self, Of};
use super::panicked;
use super::pass::is_no_table;
use super::places::{Place, Places};
use crate::error::{Error, ErrorKind, Result};
use crate::executor::{Backend, Loader, Propagator, Remaining};
use crate::handle::table::DynamicTable;
use crate::handle::tables::Tables;
use crate::model::{EntityKeys, Value};
use crate::outbox::{CopyKey, OutboxEntry};
use crate::plan::{
    Act, Cause, Condition, Content, EntityRows, Epoch, Listing, OutboxOp, Plan, RowKind, RowWrite, Values,
    Version,
};
use crate::row::version::version_of;
use crate::row::view::RowView;
use crate::schema::{IndexMask, Kinship, Schema};
use crate::sealing::SealedAt;
use crate::typed::change::before::unknown;
use crate::typed::change::driver::{self, Together};
use crate::typed::encrypt::unopened;
use crate::typed::entity::dependent::Dependent;
use crate::typed::entity::path::check_kind_name;
use crate::typed::entity::wide;
use crate::typed::read::list::id_on;

/// Propagates the entities of a kind by its declaration. It opens no sealed value, and calls no function of the user's that
/// says whether there is a copy: the entry says so.
pub(super) struct KindPropagator {
    pub(super) schema: &'static Schema,
    /// Reads an entity from its own row.
    pub(super) read: fn(&RowView<'_>) -> Result<Values<'static>>,
    /// The kinds that may hold copies of them.
    pub(super) dependents: &'static [Dependent],
}

/// An entity as it is.
struct CurrentEntity {
    version: Version,
    /// `None` if its row is of a previous version: no index is kept then, and each is made of all entities later.
    values: Option<Values<'static>>,
    unknown: Vec<(Box<str>, Value)>,
}

impl Propagator for KindPropagator {
    fn schema(&self) -> &'static Schema {
        self.schema
    }

    #[inline]
    fn propagate(&self, store: &Arc<dyn Backend>, entries: &[OutboxEntry]) -> Result<Vec<Result<Remaining>>> {
        let table = self.open(&Tables::new(store.clone()))?;
        let index_mask = driver::index_mask(Together::alone(&table), self.schema, true)?;
        let mut results = self.propagate_copies(&table, index_mask, entries)?;
        for (entry, result) in
            entries.iter().zip(&mut results).filter(|(entry, _)| !entry.dependents.is_empty())
        {
            if entry.has_copies && result.is_ok() {
                // The entry has changed with its copies: the next pass reads it anew, and goes on with the dependents.
                *result = Ok(Remaining::Some);
                continue;
            }
            let of = Of { schema: self.schema, dependents: self.dependents, entry };
            let step = || dependents::step(Together::alone(&table), of);
            let done = catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|_| Err(panicked()));
            match (&result, done) {
                (Ok(_), Ok(is_more)) => {
                    *result = Ok(if is_more { Remaining::Some } else { Remaining::Nothing });
                }
                (Ok(_), Err(error)) => *result = Err(error),
                // The first error is the one that is reported.
                (Err(_), _) => {}
            }
        }
        Ok(results)
    }
}

impl KindPropagator {
    /// Propagates the rows of the entities' own indexes.
    #[inline]
    fn propagate_copies(
        &self,
        table: &DynamicTable,
        index_mask: IndexMask,
        entries: &[OutboxEntry],
    ) -> Result<Vec<Result<Remaining>>> {
        let mut loader = table.loader();
        let (mut results, mut added) = (Vec::with_capacity(entries.len()), Vec::new());
        for (at, entry) in entries.iter().enumerate() {
            if !entry.has_copies {
                results.push(Ok(Remaining::Nothing));
                continue;
            }
            // The user's code takes part in reading an entity and its keys, and may panic.
            let add = || self.add(table, index_mask, entry, &mut *loader);
            let done = catch_unwind(AssertUnwindSafe(add)).unwrap_or_else(|_| Err(panicked()));
            if done.is_ok() {
                added.push(at);
            }
            results.push(done.map(|()| Remaining::Nothing));
            if loader.is_full() {
                carry_out(&mut *loader, &mut added, &mut results)?;
            }
        }
        carry_out(&mut *loader, &mut added, &mut results)?;
        Ok(results)
    }
}

/// Carries out what was added, and notes in its results what was refused.
#[inline]
fn carry_out(
    loader: &mut dyn Loader,
    added: &mut Vec<usize>,
    results: &mut [Result<Remaining>],
) -> Result<()> {
    for (at, done) in added.drain(..).zip(loader.carry_out()?) {
        if let (Some(result), Err(refused)) = (results.get_mut(at), done) {
            *result = Err(refused.error);
        }
    }
    Ok(())
}

/// Returns the error of an entry under a key that no entity of the declaration has.
#[inline]
#[cold]
fn key_of_another(schema: &Schema) -> Error {
    let (partition, row) = (schema.place().partition.source, schema.place().row.source);
    Error::new(ErrorKind::SchemaMismatch).because(format!(
        "the entity's keys do not fit the templates `{partition}` and `{row}`, so nobody can say by what id it is listed"
    ))
}

impl KindPropagator {
    /// Opens the table of the entities, with those of their copies. It creates none: what was dropped stays dropped.
    #[inline]
    fn open(&self, store: &Tables) -> Result<DynamicTable> {
        let table = store.dynamic_table(self.schema.table())?;
        table.declare(self.schema)?;
        let mut others = Vec::new();
        for other in self.schema.other_tables() {
            match store.dynamic_table(other) {
                Ok(other) => {
                    other.declare(self.schema)?;
                    others.push(other);
                }
                // Where it was dropped, so were the copies; the index is to be made again, of every entity.
                Err(error) if is_no_table(error.kind()) => {}
                Err(error) => return Err(error),
            }
        }
        if dependents::follows(self.dependents) {
            for kin in self.schema.relatives() {
                for name in std::iter::once(kin.table()).chain(kin.other_tables()) {
                    let is_it = |known: &&DynamicTable| known.name().eq_ignore_ascii_case(name);
                    if let Some(known) = std::iter::once(&table).chain(&others).find(is_it) {
                        known.declare(kin)?;
                        continue;
                    }
                    match store.dynamic_table(name) {
                        Ok(other) => {
                            other.declare(kin)?;
                            others.push(other);
                        }
                        // The dependents went with it, and so did the copies.
                        Err(error) if is_no_table(error.kind()) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
        }
        Ok(table.with_others(others))
    }

    /// Plans what propagates an entry, and adds it to those that are carried out together.
    #[inline]
    fn add(
        &self,
        table: &DynamicTable,
        index_mask: IndexMask,
        entry: &OutboxEntry,
        loader: &mut dyn Loader,
    ) -> Result<()> {
        let (schema, own) = (self.schema, EntityKeys::new(&entry.source.partition, &entry.source.row));
        if table.exec().id() != entry.source.table {
            let because = "the entity's table was dropped and created anew";
            return Err(Error::new(ErrorKind::ConditionNotMet).because(because));
        }
        let found = if schema.is_wide() {
            let snapshot = table.snapshot()?;
            let head = snapshot.view(table, own.partition, own.row)?;
            let found = head.map(|head| {
                let whole = wide::joined(&snapshot, table, schema, head, &|_| true)?;
                wide::check_whole(&whole, schema)?;
                self.find(&whole, snapshot.state())
            });
            found.transpose()?
        } else {
            table.get_in_state(own.partition, own.row, |view, state| self.find(view, state))?
        };
        let is_wanted = |number: usize| {
            schema.indexes.get(number).is_some_and(|index| {
                index.is_eventual()
                    && index_mask.keeps(number)
                    && !entry.without.iter().any(|name| name == index.name)
            })
        };
        let rows = found
            .as_ref()
            .and_then(|found| found.values.as_ref())
            .map(|values| EntityRows::of(schema, values, Some(own), None, &is_wanted))
            .transpose()?;
        let kind = |cause| Some(RowKind { schema, cause });
        let condition = found.as_ref().map_or(Condition::StillAbsent, |found| Condition::Is(found.version));
        let keep = RowWrite { key: own.row, condition, act: Act::Keep, kind: kind(Cause::Entity), of: 0 };
        let mut places = Places::default();
        places.put(Place { table: 0, partition: own.partition }, keep);
        for row in rows.iter().flat_map(|rows| &rows.rows).filter(|row| row.is_elsewhere()) {
            let Some((rows, found)) = rows.as_ref().zip(found.as_ref()) else { continue };
            let (name, partition) = rows.place_of(row);
            let Some(table) = table.number_of(name) else { continue };
            let place = Place { table, partition };
            if let Some(of) = row.content.kind.index().and_then(|index| index.list) {
                if let Some(id) = row.content.id(of) {
                    places.list(place, rows.key(row), row.content.kind, Listing { id, stays: true });
                }
                continue;
            }
            let act = Act::Put(Content::Row(row.content.carrying(&found.unknown)));
            let kind = Some(row.content.kind);
            places.put(place, RowWrite { key: rows.key(row), condition: Condition::Any, act, kind, of: 0 });
        }
        for key in &entry.before {
            let CopyKey { index, partition, row } = key;
            // The job that drops an index, or makes it again elsewhere, removes the rows where they were.
            let Some(cause) = schema.indexes.iter().position(|known| known.name == index) else { continue };
            let Some(index) = schema.indexes.get(cause) else { continue };
            let Some(at) = table.number_of(index.place.table.source()) else { continue };
            let place = Place { table: at, partition };
            // The entity has a copy there now, too, which is written above.
            if places.has(place, row) {
                continue;
            }
            if let Some(of) = index.list {
                let id = id_on(of, schema, own).ok_or_else(|| key_of_another(schema))?;
                let kind = RowKind { schema, cause: Cause::Index(cause) };
                places.list(place, row, kind, Listing { id, stays: false });
                continue;
            }
            let Some(there) = table.family().get(at) else { continue };
            let (condition, cause) = match self.copy(there, partition, row, own)? {
                Some((version, index)) => (Condition::Is(version), index),
                // Without a mark where none is, another propagator that was held up could still put one there.
                None if !table.exec().store().abilities().groups => (Condition::Any, cause),
                None => continue,
            };
            let kind = kind(Cause::Index(cause));
            places.put(place, RowWrite { key: row, condition, act: Act::Remove, kind, of: 0 });
        }
        let epoch = Epoch { kind: schema.kind, number: index_mask.epoch };
        let plan = Plan {
            groups: places.into_groups(epoch),
            outbox_ops: vec![OutboxOp::Propagate(entry.source.clone(), entry.version)],
            as_of: found.as_ref().map(|found| found.version.etag),
            is_wide: true,
            ..Plan::default()
        };
        table.exec().store().abilities().check(&plan).map_err(|refused| refused.error)?;
        loader.add(&plan, &SealedAt::NOTHING).map_err(|refused| refused.error)
    }

    /// Returns whether a row is of a previous version of the kind.
    fn is_previous(&self, view: &RowView<'_>) -> Result<bool> {
        let kind = view.kind()?.unwrap_or_default();
        Ok(matches!(self.schema.kinship(kind), Kinship::PreviousVersion(_)))
    }

    /// Reads what propagation needs of an entity's own row.
    fn find(&self, view: &RowView<'_>, state: usize) -> Result<CurrentEntity> {
        let version = version_of(view, state);
        if self.is_previous(view)? {
            return Ok(CurrentEntity { version, values: None, unknown: Vec::new() });
        }
        check_kind_name(view, self.schema.entity_type)?;
        Ok(CurrentEntity { version, values: Some((self.read)(view)?), unknown: unknown(view, self.schema)? })
    }

    /// Returns the version of the entity's copy under a key, and its index; `None` if there is none, or another row.
    #[inline]
    fn copy(
        &self,
        table: &DynamicTable,
        partition: &str,
        row: &str,
        own: EntityKeys<'_>,
    ) -> Result<Option<(Version, usize)>> {
        let found = table.get_in_state(partition, row, |view, state| {
            let kind = view.kind()?;
            let index = self.schema.indexes.iter().position(|index| kind == Some(index.kind));
            let index = index.filter(|index| unopened::is_copy(self.schema, *index, own, view));
            Ok(index.map(|index| (version_of(view, state), index)))
        })?;
        Ok(found.flatten())
    }
}
