//! What a job has to know of the kind that it goes over.
//!
//! It is known by the struct, or by the [layout](crate::typed::by_layout) that a store has noted. Jobs ask for no type of the
//! user's beyond this, so they are compiled once, and not again for each entity.

use std::marker::PhantomData;

use crate::error::Result;
use crate::model::DynamicEntity;
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::{KeyPair, Schema};
use crate::typed::change::entity_attempt::EntityAttempt;
use crate::typed::change::entity_images::{
    EntityImages, EntityMeta, ImageRef, ImageSlot, TypedImages, meta_of,
};
use crate::typed::change::{Change, Payload};
use crate::typed::encrypt::unopened;
use crate::typed::entity::Entity;
use crate::typed::entity::source::Source;

/// A kind of entities that a job goes over.
pub(crate) trait JobKind: Sync {
    /// Returns what is the same for all entities.
    fn meta(&'static self) -> &'static EntityMeta;

    /// Returns the images of a change that needs only what is stored.
    fn images(&'static self) -> Box<dyn EntityImages>;

    /// Returns the images of an update that leaves the entity as it is.
    fn unchanged(&'static self) -> Box<dyn EntityImages>;
}

/// The image of an entity that was read from its rows.
const STORED: ImageRef = ImageRef::In(ImageSlot::Before);

impl dyn JobKind {
    /// Returns the declaration.
    pub(crate) fn schema(&'static self) -> &'static Schema {
        self.meta().schema
    }

    /// Reads an entity from its own row, and opens nothing.
    pub(super) fn values(&'static self, own: &RowView<'_>) -> Result<Values<'static>> {
        unopened::read_of(self.schema(), self.meta().elements, own)
    }

    /// Reads an entity from its own row, with what is sealed opened.
    pub(super) fn read(&'static self, own: &RowView<'_>) -> Result<StoredEntity> {
        let (schema, mut images) = (self.schema(), self.images());
        images.take(ImageSlot::Before, &mut Source::new(schema, schema.place(), own)?)?;
        Ok(StoredEntity(images))
    }

    /// Returns the attempt at a change of the entity of these keys that needs only what is stored.
    pub(crate) fn attempt(
        &'static self,
        partition: &str,
        row: &str,
        change: Change<'static>,
    ) -> EntityAttempt<'static> {
        EntityAttempt::of(Ok(KeyPair::of(partition, row)), change, self.images())
    }

    /// Returns the attempt to set these properties of an entity.
    pub(super) fn attempt_to_set<'c>(
        &'static self,
        changes: &'c DynamicEntity,
        change: Change<'c>,
    ) -> EntityAttempt<'c> {
        let keys = KeyPair::of(changes.partition_key(), changes.row_key());
        EntityAttempt::of(Ok(keys), change, self.images())
    }

    /// Returns the attempt to write the entity of these keys anew, as it is, with what it holds of others.
    pub(super) fn attempt_to_hold_anew(&'static self, partition: &str, row: &str) -> EntityAttempt<'static> {
        let attempt = EntityAttempt::of(Ok(KeyPair::of(partition, row)), Change::Update, self.unchanged());
        attempt.holding_anew()
    }
}

/// An entity that was read from its rows.
pub(super) struct StoredEntity(Box<dyn EntityImages>);

impl StoredEntity {
    /// Returns whether it has a row in an index with `when`.
    pub(super) fn has_row(&self, index: usize) -> bool {
        self.0.has_row(STORED, index)
    }

    /// Returns a bit for each number of a summary that it counts in.
    pub(super) fn counted(&self, index: usize) -> u64 {
        self.0.counted(STORED, index)
    }
}

/// A kind by its struct.
struct OfStruct<E>(PhantomData<fn() -> E>);

/// Returns the kind of a struct.
pub(crate) fn of_struct<E: Entity>() -> &'static dyn JobKind {
    &OfStruct::<E>(PhantomData)
}

impl<E: Entity> JobKind for OfStruct<E> {
    fn meta(&'static self) -> &'static EntityMeta {
        meta_of::<E>()
    }

    fn images(&'static self) -> Box<dyn EntityImages> {
        Box::new(TypedImages::<E>::of(Payload::Nothing))
    }

    fn unchanged(&'static self) -> Box<dyn EntityImages> {
        Box::new(TypedImages::<E>::of(Payload::Closure(Box::new(|_| {}))))
    }
}
