//! What a change brings about: copies of the changed entities that others hold.
//!
//! A change of a *source* has all its dependents take the copy again, and a change of a *dependent* looks up what it refers
//! to. Both are planned with it, as one. The plan's conditions make it right under concurrent writes: a source which was read
//! must still be that one, and no dependent may have come to those that were found. Without the first, a dependent that is
//! written while its source changes keeps the old copy; without the second, one that comes to refer to a source while that
//! changes does. Copied fields are no copies themselves, so one round is all.
//!
//! Of a source whose copies follow it (`eventual`) the change looks for no dependents: it leaves a note that they are to
//! follow. A change of such a dependent looks the source up each time: it may have moved to where propagation does not find
//! it.

use super::attempt::{Attempt, Image, Source, Sources};
use super::copied_fields;
use super::driver::{self, Together};
use crate::error::{Error, ErrorKind, Result};
use crate::handle::snapshot::Snapshot;
use crate::handle::table::DynamicTable;
use crate::model::{EntityKeys, Value, ValueRef};
use crate::outbox::DependentKey;
use crate::plan::{Condition, DeferredDependents, OutboxOp, PlanBuilder, Range, Values};
use crate::query::Query;
use crate::row::version::version_of;
use crate::schema::{self, CopiedFields, FieldPart, KeyPair, KeyValues, PropertyValue, Schema, ValueError};
use crate::typed::entity::dependent::{CopyReader, Dependent};

/// Changes that others bring about, and what they rely on.
#[derive(Default)]
pub(crate) struct Derived {
    pub(crate) attempts: Vec<Change>,
    ranges: Vec<DependentRange>,
    /// The sources whose copies are to follow.
    holds: Vec<DeferredDependents>,
}

/// One of them.
pub(crate) struct Change {
    pub(crate) attempt: Box<dyn Attempt>,
    /// The number of its table.
    pub(crate) table: usize,
    /// Which of the changes brings it about.
    pub(crate) cause: usize,
    schema: &'static Schema,
    keys: KeyPair,
}

/// Rows by which dependents were found.
struct DependentRange {
    table: String,
    partition: String,
    prefix: String,
    digest: u64,
}

impl Derived {
    /// Adds what the changes rely on.
    pub(crate) fn plan<'p>(&'p self, builder: &mut PlanBuilder<'p>) {
        for DependentRange { table, partition, prefix, digest } in &self.ranges {
            builder.rely_on(table, partition, Range { prefix, digest: *digest });
        }
        for hold in &self.holds {
            builder.leave(OutboxOp::DeferredDependents(hold.clone()));
        }
    }

    /// Leaves a note that a copy is to follow the source of these keys, which is in this table.
    fn leave(&mut self, table: usize, schema: &'static Schema, keys: &KeyPair, dependents: DependentKey) {
        let EntityKeys { partition, row } = keys.as_keys();
        let is_it = |hold: &&mut DeferredDependents| {
            hold.table == table && hold.partition == partition && hold.row == row
        };
        if let Some(hold) = self.holds.iter_mut().find(is_it) {
            hold.dependents.push(dependents);
            return;
        }
        let (partition, row) = (partition.to_owned(), row.to_owned());
        self.holds.push(DeferredDependents {
            table,
            partition,
            row,
            kind: schema.kind,
            dependents: vec![dependents],
        });
    }
}

/// Returns what the changes bring about; `None` if they are of no entities that hold copies, or of which others do. They have
/// been made.
pub(crate) fn derive(
    together: Together<'_>,
    attempts: &mut [&mut (dyn Attempt + '_)],
    writes: bool,
) -> Result<Option<Derived>> {
    let mut images = Vec::new();
    for (number, attempt) in attempts.iter().enumerate() {
        let image = attempt.image().map_err(|error| together.scope.numbered(error, number))?;
        images.extend(image.map(|image| (number, image)));
    }
    if images.is_empty() {
        return Ok(None);
    }
    let first = together.tables.first().ok_or_else(driver::no_table)?;
    let snapshot = first.snapshot()?;
    let mut derived = Derived::default();
    let sources = SourceImages { images: &images, is_asked: true, ..SourceImages::at(together, &snapshot) };
    for (cause, image) in &images {
        let found = sources.find_dependents(*cause, image, &mut derived);
        found.map_err(|error| together.scope.numbered(error, *cause))?;
    }
    for (number, _) in &images {
        if let Some(attempt) = attempts.get_mut(*number) {
            attempt.hold(&sources).map_err(|error| together.scope.numbered(error, *number))?;
        }
    }
    let sources = SourceImages { is_asked: false, ..sources };
    for Change { attempt, table, cause, schema, .. } in &mut derived.attempts {
        let numbered = |error| together.scope.numbered(error, *cause);
        let index_mask = driver::index_mask(together, schema, writes).map_err(numbered)?;
        attempt.set_index_mask(index_mask);
        let table = together.tables.get(*table).ok_or_else(driver::no_table)?;
        driver::read_at(together, table, &snapshot, &mut **attempt).map_err(numbered)?;
        attempt.make().and_then(|()| attempt.hold(&sources)).map_err(numbered)?;
    }
    Ok(Some(derived))
}

/// Returns the values of the fields that the key of an entity is made of, in the order of its constructor's arguments.
fn arguments(schema: &'static Schema, values: &Values<'_>) -> Vec<Option<Value>> {
    let mut known = Vec::new();
    let mut given = Vec::new();
    for template in [&schema.place().partition, &schema.place().row] {
        for part in schema::fields(template) {
            if !known.contains(&part.field) {
                known.push(part.field);
                given.push(values.get(part.field).map(ValueRef::to_value));
            }
        }
    }
    given
}

/// What the fields of a dependent are that refer to a source.
pub(crate) struct OfSource<'c> {
    pub(crate) copy: &'c CopiedFields,
    /// The values of the fields that the source's key is made of, in the order of its constructor's arguments.
    pub(crate) arguments: Vec<Option<Value>>,
}

impl KeyValues for OfSource<'_> {
    fn value(&self, part: &FieldPart) -> Result<PropertyValue<'_>, ValueError> {
        let argument = self.copy.argument(part.field).and_then(|at| self.arguments.get(at)?.as_ref());
        Ok(argument.map_or(PropertyValue::Absent, |value| PropertyValue::Borrowed(value.as_value_ref())))
    }
}

/// Sources as they are to be if they are changed as well, and else as they are in the snapshot.
pub(crate) struct SourceImages<'k> {
    together: Together<'k>,
    snapshot: &'k Snapshot,
    images: &'k [(usize, Image)],
    /// Whether it is asked for dependents that the caller changes, and not for those that a change brings about.
    is_asked: bool,
}

impl<'k> SourceImages<'k> {
    /// Gives sources as they are in the snapshot.
    pub(crate) fn at(together: Together<'k>, snapshot: &'k Snapshot) -> Self {
        Self { together, snapshot, images: &[], is_asked: false }
    }

    /// Finds all dependents whose copies of the entity are no longer right, and those of an entity that comes to its key.
    fn find_dependents(&self, cause: usize, image: &Image, derived: &mut Derived) -> Result<()> {
        let (before, after) = (image.before.as_ref(), image.after.as_ref());
        let stays = before.zip(after).is_some_and(|((was, _), (is, _))| was.as_keys() == is.as_keys());
        for dependent in image.dependents {
            let schema = dependent.schema();
            for (at, reader) in dependent.copies() {
                let Some(copy) = schema.copied.get(at) else { continue };
                if let (Some((_, was)), Some((_, is)), true) = (before, after, stays)
                    && reader.is_same(was, is)
                {
                    continue;
                }
                let comes = if stays { None } else { after };
                if copy.is_eventual() {
                    let name = image.schema.table();
                    let table = self.together.number(name).ok_or_else(|| missing(name))?;
                    for (keys, _) in before.into_iter().chain(comes) {
                        let dependents =
                            DependentKey { kind: schema.kind.to_owned(), property: copy.property.to_owned() };
                        derived.leave(table, image.schema, keys, dependents);
                    }
                    continue;
                }
                for (_, values) in before.into_iter().chain(comes) {
                    let of = OfSource { copy, arguments: arguments(image.schema, values) };
                    self.find(cause, image.schema, dependent, &of, derived)?;
                }
            }
        }
        Ok(())
    }

    /// Finds the dependents that hold this copy of an entity of the declaration `source`.
    fn find(
        &self,
        cause: usize,
        source: &Schema,
        dependent: &Dependent,
        of: &OfSource<'_>,
        derived: &mut Derived,
    ) -> Result<()> {
        let Self { together, snapshot, images, .. } = *self;
        let schema = dependent.schema();
        let Some(way) = schema.way_back(of.copy) else { return Err(no_way(schema, source)) };
        let own = together.table(schema.table()).ok_or_else(|| missing(schema.table()))?;
        if let Some(index) = way.index {
            snapshot.check_index(own, schema, index)?;
        }
        let name = way.place.table.source();
        let table = together.table(name).ok_or_else(|| missing(name))?;
        // No dependent has a key that its rows can't have.
        let Some((partition, prefix)) = way.print(of) else { return Ok(()) };
        let digest = snapshot.digest(table, &partition, &prefix)?;
        let query = Query::new().partition(&partition).row_prefix(&prefix);
        let number = together.number(schema.table()).ok_or_else(|| missing(schema.table()))?;
        let views = snapshot.views_of(table, query.into())?;
        for view in views {
            let Some(keys) = dependent.own_keys(&view?, way.index)? else { continue };
            // A dependent that has come since the changes were read is changed as well if one of them puts it: that one's plan
            // then finds it there, and all is tried again.
            let is_changed =
                images.iter().filter(|(_, image)| is_one(image.schema, schema)).any(|(_, image)| {
                    let ends = image.before.iter().chain(&image.after);
                    ends.into_iter().any(|(known, _)| known.as_keys() == keys.as_keys())
                });
            let is_known = derived
                .attempts
                .iter()
                .any(|known| is_one(known.schema, schema) && known.keys.as_keys() == keys.as_keys());
            if !is_changed && !is_known {
                let attempt = dependent.again(&keys);
                derived.attempts.push(Change { attempt, table: number, cause, schema, keys });
            }
        }
        derived.ranges.push(DependentRange { table: name.to_owned(), partition, prefix, digest });
        Ok(())
    }

    /// Returns what becomes of an entity that is changed; `None` in it if it goes.
    #[expect(clippy::option_option, reason = "not changed, and gone, are two answers")]
    fn changed(&self, schema: &'static Schema, keys: &KeyPair) -> Option<Option<&Values<'static>>> {
        let mut of = self.images.iter().map(|(_, image)| image).filter(|image| is_one(image.schema, schema));
        let mut gone = false;
        let is_it = |known: &KeyPair| known.as_keys() == keys.as_keys();
        let is = of.find_map(|image| {
            gone |= image.before.as_ref().is_some_and(|(known, _)| is_it(known));
            image.after.as_ref().filter(|(known, _)| is_it(known)).map(|(_, values)| values)
        });
        if is.is_some() || gone { Some(is) } else { None }
    }
}

impl Sources for SourceImages<'_> {
    fn changes(&self, schema: &'static Schema, keys: &KeyPair) -> bool {
        self.changed(schema, keys).is_some()
    }

    fn are_asked(&self) -> bool {
        self.is_asked
    }

    fn get(&self, reader: &CopyReader, keys: &KeyPair) -> Result<Source> {
        let schema = reader.schema();
        if let Some(changed) = self.changed(schema, keys) {
            return Ok(Source { values: changed.map(|values| reader.copied(values)), condition: None });
        }
        let table = self.together.table(schema.table()).ok_or_else(|| missing(schema.table()))?;
        let EntityKeys { partition, row } = keys.as_keys();
        let Some(view) = self.snapshot.view(table, partition, row)? else {
            return Ok(Source { values: None, condition: Some(Condition::StillAbsent) });
        };
        let place = |e: Error| e.attempted("read from").table(table.name()).partition(partition).row(row);
        let values = reader.read(&view).map_err(place)?;
        let condition = Condition::Is(version_of(&view, self.snapshot.state()));
        Ok(Source { values: Some(values), condition: Some(condition) })
    }
}

/// Returns the names of the copies that an entity with these values holds otherwise than their sources say in the snapshot.
/// What is still to follow is not wrong.
pub(crate) fn outdated(
    together: Together<'_>,
    snapshot: &Snapshot,
    schema: &'static Schema,
    copies: &'static [CopyReader],
    values: &Values<'_>,
) -> Result<Vec<&'static str>> {
    let sources = SourceImages::at(together, snapshot);
    let holdings = copied_fields::copy_fields(schema, copies, None, values, &sources)?;
    let mut names = Vec::new();
    for holding in holdings.iter().filter(|holding| !holding.is_in(schema, values)) {
        if let Some((source, keys)) = holding.follows() {
            let table = together.table(source.table()).ok_or_else(|| missing(source.table()))?;
            if snapshot.follows(table, keys.as_keys())? {
                continue;
            }
        }
        names.push(holding.name());
    }
    Ok(names)
}

#[cold]
pub(crate) fn missing(table: &str) -> Error {
    Error::new(ErrorKind::TableNotFound).because("the handle does not know it").table(table)
}

#[cold]
pub(crate) fn no_way(dependent: &Schema, source: &Schema) -> Error {
    let because = format!(
        "no index of `{}` leads from a `{}` to who holds a copy of it",
        dependent.entity, source.entity
    );
    Error::new(ErrorKind::SchemaMismatch).because(because)
}

/// Returns whether both declare one kind. A constant may have several addresses.
pub(crate) fn is_one(one: &Schema, other: &Schema) -> bool {
    one.kind == other.kind && one.table().eq_ignore_ascii_case(other.table())
}

/// The table of this name among those of one handle.
impl Together<'_> {
    pub(crate) fn number(self, name: &str) -> Option<usize> {
        self.tables.iter().position(|table: &DynamicTable| table.name().eq_ignore_ascii_case(name))
    }
}
