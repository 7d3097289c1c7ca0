//! From a typed change to the rows it touches: a function of the old entity, the new one and the schema.
//!
//! Nothing here does I/O or knows a store. A [`WritePlan`] is what an executor carries out, whole or not at all, and
//! it prints itself.

mod rows;
mod values;

pub(crate) use rows::WritePlan;
pub(crate) use rows::{Change, EntityRows, fields};
pub use values::Values;
