//! What generated code calls. Not part of the API: it changes with the derive.

pub use crate::plan::Values;
pub use crate::schema::{KeyElements, KeyPart, Property, PropertyValue, ValueError, checks};
pub use crate::store::{DynamicTable, RowView};
pub use crate::typed::{
    At, Column, Ended, Entity, EntitySet, FlatColumns, IndexKey, Key, KeyArg, KeyResult, MemberOf, PartArg,
    Partition, Path, PathQuery, Properties, Ready, Source, TypedRows, exchange, read_copied, read_member,
    read_stored, side_by_side,
};

#[cfg(feature = "json")]
pub use crate::typed::json;

/// The declaration of an entity whose real one has mistakes. The program doesn't compile, so nothing sees it.
pub const NOTHING: &crate::schema::Schema = &crate::schema::Schema::NOTHING;
