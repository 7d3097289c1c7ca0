//! What a dependent knows of its sources, and a source of its dependents, without their types.

use std::fmt;

use crate::error::Result;
use crate::model::{EntityKeys, Value, ValueRef};
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{KeyPair, Schema};
use crate::typed::change::attempt::Attempt;
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::{Change, Payload};
use crate::typed::entity::Entity;
use crate::typed::entity::path::check_own;
use crate::typed::entity::source::Source;
use crate::typed::read::key::Key;
use crate::typed::read::projection::Projection;

/// How a copy that an entity holds is made of its source.
pub struct CopyReader {
    schema: fn() -> &'static Schema,
    fields: fn() -> &'static [usize],
    read: fn(&RowView<'_>) -> Result<Vec<Option<Value>>>,
}

impl CopyReader {
    /// Makes the reader of a copy: the fields of the projection `P`.
    #[must_use]
    pub const fn of<S: Entity, P: Projection<Entity = S>>() -> Self {
        Self { schema: || S::SCHEMA, fields: || P::FIELDS, read: read::<S, P> }
    }

    /// Returns the source's declaration.
    pub(crate) fn schema(&self) -> &'static Schema {
        (self.schema)()
    }

    /// Returns what is copied of the source with these values.
    pub(crate) fn copied(&self, values: &Values<'_>) -> Vec<Option<Value>> {
        let value = |field: &usize| Some(values.get(*field)?.to_value());
        (self.fields)().iter().map(value).collect()
    }

    /// Returns whether the same is copied of a source with these values and with those.
    pub(crate) fn is_same(&self, one: &Values<'_>, other: &Values<'_>) -> bool {
        (self.fields)().iter().all(|field| one.get(*field) == other.get(*field))
    }

    /// Returns what is copied of the source in this row.
    pub(crate) fn read(&self, view: &RowView<'_>) -> Result<Vec<Option<Value>>> {
        (self.read)(view)
    }
}

fn read<S: Entity, P: Projection<Entity = S>>(view: &RowView<'_>) -> Result<Vec<Option<Value>>> {
    check_own(view, S::SCHEMA)?;
    let source = Source::new(S::SCHEMA, S::SCHEMA.place(), view)?;
    let value = |field: &usize| Ok(source.kept(*field)?.map(ValueRef::to_value));
    P::FIELDS.iter().map(value).collect()
}

impl fmt::Debug for CopyReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyReader").field("of", &self.schema().entity).finish_non_exhaustive()
    }
}

/// An entity that holds a copy of another. Derived, not written by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no field that is `#[copy_of({S}, ..)]`",
    label = "`{S}` says that it is copied here",
    note = "`#[copied_into(..)]` names the entity that has the copy in a field, and no projection: add `#[copy_of({S}, key(..))]` to a field of `{Self}`, or name another"
)]
pub trait CopyOf<S>: Entity {
    /// Which of its [copies](Schema::copied) are of it.
    const COPIES: &'static [usize];
    /// Its kind.
    const KIND: &'static str;
    /// What the other knows of it. Asked for here, so that of a type that is no entity the compiler says one thing.
    const DEPENDENT: Dependent = Dependent::of::<Self>(Self::COPIES);
}

/// A kind of entities that hold copies of an entity.
pub struct Dependent {
    schema: fn() -> &'static Schema,
    readers: fn() -> &'static [CopyReader],
    /// Which of the dependent's copies are of the entity.
    copies: &'static [usize],
    again: fn(&KeyPair) -> Box<dyn Attempt>,
    own_keys: fn(&RowView<'_>, Option<usize>) -> Result<Option<KeyPair>>,
}

impl Dependent {
    /// Makes the kind of the entities of type `H`; `copies` are those of its copies that are of the entity.
    const fn of<H: Entity>(copies: &'static [usize]) -> Self {
        Self { schema: || H::SCHEMA, readers: || H::HELD, copies, again: again::<H>, own_keys: own_keys::<H> }
    }

    /// Returns their declaration.
    pub(crate) fn schema(&self) -> &'static Schema {
        (self.schema)()
    }

    /// Returns their copies of the entity, by their places.
    pub(crate) fn copies(&self) -> impl Iterator<Item = (usize, &'static CopyReader)> + use<> {
        let (copies, readers) = (self.copies, (self.readers)());
        copies.iter().filter_map(move |at| Some((*at, readers.get(*at)?)))
    }

    /// Returns the attempt to have the dependent of these keys take its copies, and nothing else.
    pub(crate) fn again(&self, keys: &KeyPair) -> Box<dyn Attempt> {
        (self.again)(keys)
    }

    /// Returns the keys of the dependent that a row of the index, or its own, is of; `None` if the row is of another kind.
    pub(crate) fn own_keys(&self, view: &RowView<'_>, index: Option<usize>) -> Result<Option<KeyPair>> {
        (self.own_keys)(view, index)
    }
}

fn again<H: Entity>(keys: &KeyPair) -> Box<dyn Attempt> {
    let EntityKeys { partition, row } = keys.as_keys();
    Box::new(EntityAttempt::new(
        Key::<H>::stored(partition, row),
        Change::Update,
        Payload::Closure(Box::new(|_| {})),
    ))
}

fn own_keys<H: Entity>(view: &RowView<'_>, index: Option<usize>) -> Result<Option<KeyPair>> {
    let schema = H::SCHEMA;
    let tag = schema.tag(index);
    if view.kind()? != Some(tag.kind) {
        return Ok(None);
    }
    crate::sealing::sign::check_signed(view, tag)?;
    let Some(index) = index.and_then(|index| schema.indexes.get(index)) else {
        let (partition, row) = view.keys();
        return Ok(Some(KeyPair::of(&partition, &row)));
    };
    Source::new(schema, &index.place, view)?.own_keys().map(Some)
}

impl fmt::Debug for Dependent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependent").field("schema", &self.schema().entity).finish_non_exhaustive()
    }
}

/// Returns the declarations of the sources and the dependents of an entity.
#[must_use]
pub fn kin<E: Entity>() -> Vec<&'static Schema> {
    E::HELD.iter().map(CopyReader::schema).chain(E::DEPENDENTS.iter().map(Dependent::schema)).collect()
}
