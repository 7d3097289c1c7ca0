//! From a typed change to the rows it touches: a function of the old entity, the new one and the schema.
//!
//! Nothing here does I/O or knows a store. A [`WritePlan`] is what an executor carries out, whole or not at all, and
//! it prints itself.

mod content;
mod explain;
mod rows;
mod size;
mod values;
mod write;

pub(crate) use content::{Cause, PropertyOf, RowContent, RowKind, stored_fields};
pub use explain::WriteExplain;
pub(crate) use rows::{EntityRows, check_tokens};
pub(crate) use values::FieldToken;
pub use values::Values;
pub(crate) use write::{EntityChange, Failure, OldEntity, ReadVersion, RowAction, WritePlan};
