//! Derive macros for `table-core`.
//!
//! The crate exports nothing yet: the store and its data model come first, and the derive stands on them.
