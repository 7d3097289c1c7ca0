//! From a typed change to the rows it touches: a function of the old entity, the new one and the schema.
//!
//! Nothing here does I/O or knows a store. A [`WritePlan`] is what an executor carries out, whole or not at all, and
//! it prints itself.

mod explain;
mod rows;
mod size;
mod values;
mod write;

pub use explain::WriteExplain;
pub(crate) use rows::{EntityRows, fields, keys, stored_fields};
pub use values::Values;
pub(crate) use write::{EntityChange, Failure, OldEntity, RowAction, WritePlan};
