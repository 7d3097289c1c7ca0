//! What the compiler makes anew for each entity, as functions of the entity's own type.
//!
//! A build for development is cut into units, one for each module, and what a change touches is made anew, unit by unit. An
//! instance of a generic function lies in the unit of the type whose method it is. `Table<Employee>` is no type of the user's
//! crate: all methods of all such tables lie in one unit, which every change of any entity touches. What is a function of a trait
//! lies with `Employee`, in the unit of its module.
//!
//! So what is made for each entity is a function of such a trait; methods of our own types call it and do nothing else, and in
//! builds that are not optimized they are made where they are called.

use super::source::Source;
use super::stored::{Copied, Stored};
use super::{Entity, previous_version, wide};
use crate::error::Result;
use crate::model::ETag;
use crate::row::view::RowView;
use crate::schema::Place;

/// Rows as entities.
pub(crate) trait FromRow: Entity {
    /// Reads an entity from its own row.
    fn of_own(view: &RowView<'_>) -> Result<Stored<Self>> {
        if const { Self::SCHEMA.previous.is_some() }
            && !view.is_shaped_as(Self::SCHEMA.entity_type)
            && let Some(entity) = previous_version::read::<Self>(view)?
        {
            return Ok(Stored::new(entity, ETag::from_timestamp(view.timestamp())));
        }
        wide::check_joined(view, Self::SCHEMA)?;
        let place = Self::SCHEMA.place();
        let mut source = Source::closed(Self::SCHEMA, view);
        source.open_in(place, view)?;
        match Self::from_source(&mut source) {
            Ok(entity) => Ok(Stored::new(entity, ETag::from_timestamp(view.timestamp()))),
            Err(error) => Err(error),
        }
    }

    /// Reads an entity from a whole copy of it that lies in this place.
    fn of_copy(view: &RowView<'_>, place: &'static Place) -> Result<Copied<Self>> {
        let mut source = Source::closed(Self::SCHEMA, view);
        source.open_in(place, view)?;
        match Self::from_source(&mut source) {
            Ok(entity) => Ok(Copied::new(entity)),
            Err(error) => Err(error),
        }
    }
}

impl<E: Entity> FromRow for E {}
