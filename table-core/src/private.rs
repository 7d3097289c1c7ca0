//! What generated code calls. Not part of the API: it changes with the derive.

pub use std::borrow::Cow;

pub use crate::plan::Values;
pub use crate::schema::{KeyElements, KeyPart, Property, PropertyValue, ValueError, checks};
pub use crate::store::{DynamicTable, RowView};
pub use crate::typed::{
    At, Blind, BlindArg, Column, Elements, Encrypted, Ended, Entities, Entity, EntitySet, EntityView,
    FieldViews, FlatColumns, Given, IndexKey, Key, KeyArg, KeyResult, MemberOf, Newest, Offers, OffersPrefix,
    OffersRange, Open, Origin, PartArg, Partition, Path, PathQuery, Plain, Projection, Properties, ReadAs,
    Ready, Selected, Source, TableIn, Turns, TypedRows, TypedViews, Visitor, Whole, as_bytes,
    as_bytes_option, as_text, as_text_option, elements, exchange, read_copied, read_stored, side_by_side,
    token_key,
};

#[cfg(feature = "json")]
pub use crate::typed::json;

/// The declaration of an entity whose real one has mistakes. The program doesn't compile, so nothing sees it.
pub const NOTHING: &crate::schema::Schema = &crate::schema::Schema::NOTHING;
