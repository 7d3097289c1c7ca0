//! Typed tables: what a derived entity is written, read and queried through.
//!
//! The types here are thin: they turn fields into values and back, and leave the work to functions that know no
//! user's type.

mod attempts;
mod blind;
mod change;
mod column;
mod egt;
mod entity;
#[cfg(feature = "json")]
pub mod json;
mod key;
mod old;
mod origin;
mod path;
mod projection;
mod properties;
mod query;
mod read;
mod reading;
#[cfg(feature = "encrypt")]
mod reencrypt;
mod sealing;
mod set;
mod shown;
mod source;
mod store;
mod stored;
mod table;
mod unopened;
mod view;

pub use column::{Blind, Column, ColumnArg, Comparable, Encrypted, Equatable, Plain};
pub use egt::{Egt, MemberOf};
pub use entity::{Elements, Entity, Patch, elements, exchange};
pub use key::{BlindArg, IndexKey, Key, KeyArg, KeyResult, Lookup, Partition, token_key};
pub use origin::{Origin, TableIn};
pub use path::{Path, read_copied, read_stored};
pub use projection::Projection;
pub use properties::{FlatColumns, Properties, side_by_side};
pub use query::{
    At, Ended, Given, InPartition, Newest, Offers, OffersPrefix, OffersRange, Open, OwnRows, PartArg,
    PathQuery, Prefix, Ready, Turns, TypedRows, WholeCopies, prefix,
};
pub use read::TableAt;
pub use reading::{Entities, ReadAs, Selected, Whole};
#[cfg(feature = "encrypt")]
pub use reencrypt::{ReencryptReport, Reencryption};
pub use set::{EntitySet, SetQuery, SetRows, SetTable, Visitor};
pub use shown::ShownRow;
pub use source::Source;
pub use stored::{Copied, Stored};
pub use table::Table;
pub use view::{
    EntityView, FieldViews, TypedViews, View, as_bytes, as_bytes_option, as_text, as_text_option,
};
