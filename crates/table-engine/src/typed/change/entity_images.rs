//! What is of the entity's type in a change of it. All else of the change, its [attempt](super::entity_attempt), is not, so it
//! is compiled once, and not again for each entity.

use super::{Closure, Payload, checked, values_of};
use crate::error::Result;
use crate::plan::Values;
use crate::row::view::RowView;
use crate::schema::Schema;
use crate::typed::encrypt::unopened::TakeElements;
use crate::typed::entity::dependent::{CopyReader, Dependent};
use crate::typed::entity::source::Source;
use crate::typed::entity::{Entity, previous_version};

/// What a type says of all its entities.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of what only some types need are independent")]
pub(crate) struct EntityMeta {
    pub(crate) schema: &'static Schema,
    pub(super) is_wide: bool,
    pub(super) seals: bool,
    pub(crate) counts_some: bool,
    /// Whether its rows may be of a previous version.
    pub(super) has_previous: bool,
    /// Whether copies may have something under a previous name that its row never has.
    pub(super) renames_key: bool,
    pub(crate) held: &'static [CopyReader],
    pub(super) dependents: &'static [Dependent],
    pub(crate) elements: TakeElements,
}

/// Where an entity is kept while it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageSlot {
    /// As it was found. Empty if it has become what it is to be, or was not made of its row.
    Before,
    /// On its way from what was found to what it is to be.
    Edited,
    /// What it is to be, where that is made of what is stored.
    After,
}

/// One of the entities that a change is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageRef {
    /// The one that the change brings along.
    Given,
    In(ImageSlot),
}

/// The entities of one change, of whatever type.
pub(crate) trait EntityImages {
    fn meta(&self) -> &'static EntityMeta;

    /// Returns whether there is one.
    fn has(&self, seen: ImageRef) -> bool;

    /// Gives its values in the schema's order; whether there is one.
    fn lay_out<'s>(&'s self, seen: ImageRef, values: &mut Values<'s>) -> bool;

    /// Returns whether it has a row of this sparse index.
    fn has_row(&self, seen: ImageRef, index: usize) -> bool;

    /// Returns a bit for each number of a summary that it counts in.
    fn counted(&self, seen: ImageRef, index: usize) -> u64;

    fn forget(&mut self, slot: ImageSlot);

    /// Makes one of a source.
    fn take(&mut self, slot: ImageSlot, source: &mut Source<'_>) -> Result<()>;

    /// Makes one of a row of a previous version; whether it is of one.
    fn take_previous(&mut self, slot: ImageSlot, view: &RowView<'_>) -> Result<bool>;

    /// Gives away the one that was found, to be changed.
    fn begin_edit(&mut self);

    /// Refuses what the change brings along, if no entity could take it.
    fn check(&self) -> Result<()>;

    /// Makes the change on the edited entity; refuses a sum that its slot can't hold.
    fn change(&mut self) -> Result<()>;

    /// Takes the edited entity for what it is to be: as it is, or as it would be read again.
    fn end_edit(&mut self) -> Result<()>;
}

/// Returns the values of one of the entities; refuses one that no property can hold.
pub(super) fn values<S: EntityImages + ?Sized>(images: &S, seen: ImageRef) -> Result<Option<Values<'_>>> {
    let schema = images.meta().schema;
    let mut values = Values::with_capacity(schema.fields.len());
    if images.lay_out(seen, &mut values) { checked(schema, values).map(Some) } else { Ok(None) }
}

/// The entities of a change of this type; `F` is what changes one.
pub(crate) struct TypedImages<'c, E: Entity, F: ?Sized = Closure<'c, E>> {
    payload: Payload<'c, E, F>,
    before: Option<E>,
    edited: Option<E>,
    new: Option<E>,
}

/// Returns what a type says of all its entities.
pub(crate) fn meta_of<E: Entity>() -> &'static EntityMeta {
    &TypedImages::<'static, E>::META
}

/// The entities with a mark of their type. A tuple lies in the compiler's unit of what it begins with, so this has it make what
/// is of the entity's type beside the entity (`typed::entity::codegen_units`).
pub(crate) type ImagesOf<'c, E, F> = ([E; 0], TypedImages<'c, E, F>);

#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<'c, E: Entity, F: ?Sized> TypedImages<'c, E, F> {
    const META: EntityMeta = EntityMeta {
        schema: E::SCHEMA,
        is_wide: E::SCHEMA.is_wide(),
        seals: E::SCHEMA.seals(),
        counts_some: E::SCHEMA.counts_some(),
        has_previous: E::SCHEMA.previous.is_some(),
        renames_key: E::SCHEMA.renames_key(),
        held: E::HELD,
        dependents: E::DEPENDENTS,
        elements: E::elements,
    };

    /// Returns the entities of a change that brings this along.
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn of(payload: Payload<'c, E, F>) -> ImagesOf<'c, E, F> {
        ([], Self { payload, before: None, edited: None, new: None })
    }

    /// Returns what was made of the entity.
    #[cfg_attr(debug_assertions, inline(always))]
    pub(crate) fn made(entities: ImagesOf<'c, E, F>) -> Option<E> {
        entities.1.new
    }
}

/// Where the entities are.
trait Slots<E> {
    fn seen(&self, seen: ImageRef) -> Option<&E>;

    fn slot(&mut self, slot: ImageSlot) -> &mut Option<E>;
}

impl<E: Entity, F: ?Sized> Slots<E> for ImagesOf<'_, E, F> {
    fn seen(&self, seen: ImageRef) -> Option<&E> {
        let slot = match (seen, &self.1.payload) {
            (ImageRef::Given, Payload::Entity(entity)) => return Some(entity),
            (ImageRef::Given, _) => return None,
            (ImageRef::In(ImageSlot::Before), _) => &self.1.before,
            (ImageRef::In(ImageSlot::Edited), _) => &self.1.edited,
            (ImageRef::In(ImageSlot::After), _) => &self.1.new,
        };
        slot.as_ref()
    }

    fn slot(&mut self, slot: ImageSlot) -> &mut Option<E> {
        match slot {
            ImageSlot::Before => &mut self.1.before,
            ImageSlot::Edited => &mut self.1.edited,
            ImageSlot::After => &mut self.1.new,
        }
    }
}

impl<E: Entity, F: FnMut(&mut E) + ?Sized> EntityImages for ImagesOf<'_, E, F> {
    fn meta(&self) -> &'static EntityMeta {
        &TypedImages::<'_, E, F>::META
    }

    fn has(&self, seen: ImageRef) -> bool {
        self.seen(seen).is_some()
    }

    fn lay_out<'s>(&'s self, seen: ImageRef, values: &mut Values<'s>) -> bool {
        match self.seen(seen) {
            Some(entity) => {
                entity.values(values);
                true
            }
            None => false,
        }
    }

    fn has_row(&self, seen: ImageRef, index: usize) -> bool {
        match self.seen(seen) {
            Some(entity) => entity.has_row(index),
            None => false,
        }
    }

    fn counted(&self, seen: ImageRef, index: usize) -> u64 {
        if const { E::SCHEMA.counts_some() } {
            return self.seen(seen).map_or(0, |entity| entity.counted(index));
        }
        0
    }

    fn forget(&mut self, slot: ImageSlot) {
        *self.slot(slot) = None;
    }

    fn take(&mut self, slot: ImageSlot, source: &mut Source<'_>) -> Result<()> {
        match E::from_source(source) {
            Ok(entity) => *self.slot(slot) = Some(entity),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn take_previous(&mut self, slot: ImageSlot, view: &RowView<'_>) -> Result<bool> {
        if const { E::SCHEMA.previous.is_some() } {
            *self.slot(slot) = previous_version::read::<E>(view)?;
            return Ok(self.has(ImageRef::In(slot)));
        }
        Ok(false)
    }

    fn begin_edit(&mut self) {
        self.1.edited = self.1.before.take();
    }

    fn check(&self) -> Result<()> {
        match &self.1.payload {
            Payload::Patch(patch) => E::check_patch(patch),
            Payload::Additions(additions) => additions.check(),
            _ => Ok(()),
        }
    }

    fn change(&mut self) -> Result<()> {
        let TypedImages { payload, edited, new, .. } = &mut self.1;
        let Some(entity) = edited else { return Ok(()) };
        match payload {
            Payload::Patch(patch) => {
                // An earlier attempt has exchanged the patch's values: they are taken back first.
                if let Some(last) = new {
                    E::exchange(last, patch);
                }
                E::exchange(entity, patch);
            }
            Payload::Closure(change) => change(entity),
            Payload::Additions(additions) => return additions.apply(entity),
            // The entity is brought whole, or becomes no other.
            Payload::Entity(_) | Payload::Nothing => {}
        }
        Ok(())
    }

    fn end_edit(&mut self) -> Result<()> {
        let edited = self.1.edited.take();
        self.1.new = match edited {
            Some(entity) if const { !E::EXACT } => {
                Some(E::from_source(&mut Source::given(E::SCHEMA, &values_of(&entity)?))?)
            }
            edited => edited,
        };
        Ok(())
    }
}
