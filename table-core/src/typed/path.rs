//! The ways in which an entity can be reached: its own rows, and each index.

use super::{Copied, Entity, Source, Stored};
use crate::error::Result;
use crate::model::ETag;
use crate::schema::Template;
use crate::store::RowView;

/// A way to reach an entity: by its own key, or by an index. Made by the derive.
pub trait Path: 'static {
    /// The entity.
    type Entity: Entity;
    /// What a row of it is read as.
    type Item;

    /// The index, among the schema's; `None` is the entity's own rows.
    #[doc(hidden)]
    const INDEX: Option<usize>;

    #[doc(hidden)]
    fn read(view: &RowView<'_>) -> Result<Self::Item>;

    /// The template of the row key.
    #[doc(hidden)]
    fn template() -> &'static Template {
        let schema = Self::Entity::SCHEMA;
        match Self::INDEX.and_then(|index| schema.indexes.get(index)) {
            Some(index) => &index.row,
            None => &schema.row,
        }
    }

    /// The text of `EntityType` on its rows.
    #[doc(hidden)]
    fn kind() -> &'static str {
        let schema = Self::Entity::SCHEMA;
        match Self::INDEX.and_then(|index| schema.indexes.get(index)) {
            Some(index) => index.kind,
            None => schema.kind,
        }
    }
}

/// Reads an entity from its own row.
#[doc(hidden)]
pub fn read_stored<E: Entity>(view: &RowView<'_>) -> Result<Stored<E>> {
    let mut source = Source::new(E::SCHEMA, &E::SCHEMA.row, view)?;
    Ok(Stored::new(E::from_source(&mut source)?, ETag::from_timestamp(view.timestamp())))
}

/// Reads an entity from a whole copy of it.
#[doc(hidden)]
pub fn read_copied<P: Path>(view: &RowView<'_>) -> Result<Copied<P::Entity>> {
    let mut source = Source::new(P::Entity::SCHEMA, P::template(), view)?;
    P::Entity::from_source(&mut source).map(Copied::new)
}
