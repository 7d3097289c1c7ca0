//! The store on LMDB.

pub(crate) mod lmdb;
pub(crate) mod meta;
