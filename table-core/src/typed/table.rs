//! A table of entities of one type.

use std::fmt;
use std::ops::Deref;

use super::{Entity, Key, Lookup, Source, Stored};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{ETag, IfMatch, Value};
use crate::plan::{EntityRows, Values, WritePlan};
use crate::store::{DynamicTable, RowView};

/// The property that says what a row is.
const ENTITY_TYPE: &str = "EntityType";

/// How often an update is tried when others write the entity at the same time.
const ATTEMPTS: usize = 64;

/// A table as a place for entities of type `E`.
///
/// Cheap to clone, and may be shared between threads. Every write keeps the entity's copies right in the same
/// transaction. The entity's queries are methods of it too: `staff.rows()`, and one for each index.
pub struct Table<E: Entity> {
    table: DynamicTable,
    indexes: E::Indexes,
}

#[allow(clippy::needless_pass_by_value, reason = "a key is made where it is used")]
impl<E: Entity> Table<E> {
    pub(crate) fn new(table: DynamicTable) -> Self {
        Self { indexes: E::indexes(table.clone()), table }
    }

    /// The same table for entities of any shape.
    pub fn dynamic(&self) -> &DynamicTable {
        &self.table
    }

    /// The entity of this key, or what an index's copy holds.
    pub fn get<L: Lookup<E>>(&self, key: L) -> Result<Option<L::Output>> {
        let (partition, row) = key.keys()?;
        self.table.get_by(partition, row, L::read)
    }

    /// Adds an entity and its copies; fails if there is one of its key, or of a key in a unique index.
    pub fn insert(&self, entity: &E) -> Result<ETag> {
        let values = values_of(entity)?;
        let rows = rows_of(entity, &values)?;
        self.table.carry_out(&WritePlan::insert(E::SCHEMA, &rows)?)
    }

    /// Adds an entity, or puts it in the place of the one there.
    pub fn put(&self, entity: &E) -> Result<ETag> {
        let values = values_of(entity)?;
        let rows = rows_of(entity, &values)?;
        let (partition, row) = rows.primary_key();
        self.retrying(partition, row, || match self.table.get_by(partition, row, Old::read)? {
            None => match self.table.carry_out(&WritePlan::insert(E::SCHEMA, &rows)?) {
                Err(error) if error.kind() == ErrorKind::EntityAlreadyExists => Ok(None),
                done => done.map(Some),
            },
            Some(old) => self.exchange(&old, &rows),
        })
    }

    /// Puts an entity in the place of the one there, if that is of the version demanded; fails if there is none.
    pub fn replace(&self, entity: &E, condition: impl Into<IfMatch>) -> Result<ETag> {
        let condition = condition.into();
        let values = values_of(entity)?;
        let rows = rows_of(entity, &values)?;
        let (partition, row) = rows.primary_key();
        self.retrying(partition, row, || {
            let old = self.read_for(partition, row, "replace in", condition)?;
            self.exchange(&old, &rows)
        })
    }

    /// Reads the entity, changes it and writes it back; from the start again if somebody else wrote it meanwhile.
    ///
    /// The closure runs outside any transaction, and maybe several times. It can't change the fields of the primary
    /// key. What comes back is the entity as stored.
    pub fn update(&self, key: Key<E>, mut change: impl FnMut(&mut E)) -> Result<Stored<E>> {
        let (partition, row) = key.as_strs()?;
        self.retrying(partition, row, || {
            let read = |view: &RowView<'_>| Ok((Old::read(view)?, Old::<E>::decode(view)?));
            let (old, mut entity) = self
                .table
                .get_by(partition, row, read)?
                .ok_or_else(|| self.refused(ErrorKind::EntityNotFound, "update in", partition, row))?;
            change(&mut entity);
            let values = values_of(&entity)?;
            let rows = rows_of(&entity, &values)?;
            if rows.primary_key() != (partition, row) {
                let (partition_key, row_key) = rows.primary_key();
                let because = format!(
                    "the update makes it partition `{}`, row `{}`; a primary key can't change in an update",
                    partition_key.escape_debug(),
                    row_key.escape_debug()
                );
                return Err(self
                    .refused(ErrorKind::KeyChanged, "update in", partition, row)
                    .because(because));
            }
            let done = self.exchange(&old, &rows)?;
            drop(rows);
            drop(values);
            Ok(done.map(|etag| Stored::new(entity, etag)))
        })
    }

    /// Removes the entity of this key with all its copies, if it is of the version demanded; fails if there is none.
    pub fn delete(&self, key: Key<E>, condition: impl Into<IfMatch>) -> Result<()> {
        let condition = condition.into();
        let (partition, row) = key.as_strs()?;
        self.retrying(partition, row, || {
            let old = self.read_for(partition, row, "delete from", condition)?;
            let values = values_of(&old.entity)?;
            // Whatever a sparse index says of the entity today, a copy that is there goes.
            let rows = EntityRows::of(E::SCHEMA, &values, &|_| true)?;
            lost_race(self.table.carry_out(&WritePlan::delete(E::SCHEMA, &rows, old.etag)?))
        })
        .map(|_| ())
    }

    /// The rows that inserting the entity would touch, as text: nothing is written.
    pub fn explain_insert(&self, entity: &E) -> Result<String> {
        let values = values_of(entity)?;
        let rows = rows_of(entity, &values)?;
        Ok(WritePlan::insert(E::SCHEMA, &rows)?.to_string())
    }

    /// Writes the new rows in the place of the old ones; `None` if somebody else wrote the entity meanwhile.
    fn exchange(&self, old: &Old<E>, new: &EntityRows<'_>) -> Result<Option<ETag>> {
        let values = values_of(&old.entity)?;
        let rows = EntityRows::of(E::SCHEMA, &values, &|_| true)?;
        let unknown: Vec<_> =
            old.unknown.iter().map(|(name, value)| (&**name, value.as_value_ref())).collect();
        lost_race(self.table.carry_out(&WritePlan::replace(E::SCHEMA, &rows, new, old.etag, &unknown)?))
    }

    /// The entity as it is stored, which must be there in the version demanded.
    fn read_for(
        &self,
        partition: &str,
        row: &str,
        attempted: &'static str,
        condition: IfMatch,
    ) -> Result<Old<E>> {
        let refuse = |kind| Err(self.refused(kind, attempted, partition, row));
        match (self.table.get_by(partition, row, Old::read)?, condition) {
            (None, _) => refuse(ErrorKind::EntityNotFound),
            (Some(old), IfMatch::ETag(etag)) if old.etag != etag => refuse(ErrorKind::ConditionNotMet),
            (Some(old), _) => Ok(old),
        }
    }

    #[cold]
    fn refused(&self, kind: ErrorKind, attempted: &'static str, partition: &str, row: &str) -> Error {
        Error::new(kind).attempted(attempted).table(self.table.name()).partition(partition).row(row)
    }

    /// Tries until nobody else is quicker.
    fn retrying<T>(
        &self,
        partition: &str,
        row: &str,
        mut attempt: impl FnMut() -> Result<Option<T>>,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS {
            if let Some(done) = attempt()? {
                return Ok(done);
            }
        }
        Err(self
            .refused(ErrorKind::ConditionNotMet, "write to", partition, row)
            .because(format!("others were quicker {ATTEMPTS} times in a row")))
    }
}

/// An entity as it was read, with what its struct does not know.
struct Old<E> {
    etag: ETag,
    entity: E,
    unknown: Vec<(Box<str>, Value)>,
}

impl<E: Entity> Old<E> {
    fn decode(view: &RowView<'_>) -> Result<E> {
        E::from_source(&mut Source::new(E::SCHEMA, &E::SCHEMA.row, view)?)
    }

    fn read(view: &RowView<'_>) -> Result<Self> {
        let mut unknown = Vec::new();
        for property in view.properties() {
            let (name, value) = property?;
            if name != ENTITY_TYPE && E::SCHEMA.fields.iter().all(|field| field.property != name) {
                unknown.push((name.into(), value.to_value()));
            }
        }
        Ok(Self { etag: view.etag(), entity: Self::decode(view)?, unknown })
    }
}

/// The fields of an entity; refuses a value that no property can hold.
fn values_of<E: Entity>(entity: &E) -> Result<Values<'_>> {
    let schema = E::SCHEMA;
    let mut values = Values::with_capacity(schema.fields.len());
    entity.values(&mut values);
    match values.refused() {
        None => Ok(values),
        Some((field, error)) => {
            let name = schema.fields.get(field).map_or("", |field| field.name);
            Err(Error::new(ErrorKind::ValueOutOfRange)
                .because(format!("field `{name}`: {error}"))
                .attempted("write to")
                .table(schema.table))
        }
    }
}

/// The rows of an entity.
fn rows_of<'a, E: Entity>(entity: &E, values: &'a Values<'a>) -> Result<EntityRows<'a>> {
    EntityRows::of(E::SCHEMA, values, &|index| entity.has_row(index))
}

/// A write conditioned on what was read: `None` if somebody else wrote it meanwhile.
fn lost_race(result: Result<ETag>) -> Result<Option<ETag>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::ConditionNotMet | ErrorKind::EntityNotFound) => {
            Ok(None)
        }
        done => done.map(Some),
    }
}

impl<E: Entity> Clone for Table<E> {
    fn clone(&self) -> Self {
        Self::new(self.table.clone())
    }
}

/// The entity's queries.
impl<E: Entity> Deref for Table<E> {
    type Target = E::Indexes;

    fn deref(&self) -> &E::Indexes {
        &self.indexes
    }
}

impl<E: Entity> fmt::Debug for Table<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("name", &self.table.name()).finish_non_exhaustive()
    }
}
