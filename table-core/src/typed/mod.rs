//! Typed tables: what a derived entity is written, read and queried through.
//!
//! The types here are thin: they turn fields into values and back, and leave the work to functions that know no
//! user's type.

mod change;
mod column;
mod egt;
mod entity;
#[cfg(feature = "json")]
pub mod json;
mod key;
mod path;
mod properties;
mod query;
mod set;
mod source;
mod stored;
mod table;

pub use column::{Column, ColumnArg};
pub use egt::{Egt, MemberOf};
pub use entity::{Entity, Patch, exchange};
pub use key::{IndexKey, Key, KeyArg, KeyResult, Lookup, Partition};
pub use path::{Path, read_copied, read_stored};
pub use properties::{FlatColumns, Properties, side_by_side};
pub use query::{At, Ended, PartArg, PathQuery, Prefix, Ready, TypedRows, prefix};
pub use set::{EntitySet, SetQuery, SetRows, SetTable, read_member};
pub use source::Source;
pub use stored::{Copied, Stored};
pub use table::Table;
