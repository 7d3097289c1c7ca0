//! The small records: everything in a store that is not a row.
//!
//! A row's absence can be proved by its neighbours. A small record's absence is proved by a count: for each group of
//! records there is another that says how many there are, and the sum of their checksums. So a record whose key is
//! damaged, or a page of former times, is never taken for a record that is not there.

pub(crate) mod catalog;
pub(crate) mod counts;
pub(crate) mod features;
pub(crate) mod inventory;
pub(in crate::store) mod kinds;
pub(crate) mod layouts;
pub(crate) mod mark;
pub(crate) mod meta;
pub(crate) mod names;
pub(crate) mod vouched;
