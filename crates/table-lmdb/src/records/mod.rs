//! The small records: everything in a store that is not a row.
//!
//! A row's neighbours can prove that it is absent. A count proves it of a small record: each group of records has another
//! record with their number and the sum of their checksums. So neither a record with a damaged key nor a former page
//! passes for a record that is not there.

pub(crate) mod authenticated;
pub(crate) mod catalog;
pub(crate) mod counts;
pub(crate) mod features;
pub(crate) mod index_states;
pub(crate) mod kinds;
pub(crate) mod layouts;
pub(crate) mod mark;
pub(crate) mod meta;
pub(crate) mod names;
pub(crate) mod periods;
pub(crate) mod record_digest;
pub(crate) mod service;
pub(crate) mod sort;
