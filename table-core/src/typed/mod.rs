//! Typed tables: what a derived entity is written, read and queried through.
//!
//! The types here are thin: they turn fields into values and back, and leave the work to functions that know no
//! user's type.

mod change;
mod encrypt;
mod entity;
#[cfg(feature = "json")]
pub mod json;
mod query;
mod read;
mod set;
mod table;

pub use self::change::egt::{Egt, MemberOf};
#[cfg(feature = "encrypt")]
pub use self::encrypt::reencrypt::{ReencryptReport, Reencryption};
pub use self::entity::column::{Blind, Column, ColumnArg, Comparable, Encrypted, Equatable, Plain};
pub use self::entity::path::{Path, read_copied, read_stored};
pub use self::entity::properties::{FlatColumns, Properties, side_by_side};
pub use self::entity::source::Source;
pub use self::entity::stored::{Copied, Stored};
pub use self::entity::{Elements, Entity, Patch, elements, exchange};
pub use self::query::{
    At, Ended, GivenParts, InPartition, Newest, Offers, OffersPrefix, OffersRange, Open, OwnRows, PartArg,
    PathQuery, Prefix, Ready, Turns, TypedRows, WholeCopies, prefix,
};
pub use self::read::TableAt;
pub use self::read::key::{BlindArg, IndexKey, Key, KeyArg, KeyResult, Lookup, Partition, token_key};
pub use self::read::origin::{Origin, TableIn};
pub use self::read::projection::Projection;
pub use self::read::reading::{Entities, ReadAs, Selected, Whole};
pub use self::read::shown::ShownRow;
pub use self::read::view::{
    EntityView, FieldViews, TypedViews, View, as_bytes, as_bytes_option, as_text, as_text_option,
};
pub use self::set::{EntitySet, SetQuery, SetRows, SetTable, Visitor};
pub use self::table::Table;
