//! The keys of a store, and what they do to rows: seal values, and sign what stands in the clear.
//!
//! The rest of the store sees one set of types and functions, with the feature `encrypt` and without it.

pub(in crate::store) mod seal;
pub(in crate::store) mod sign;
#[cfg(feature = "encrypt")]
pub(in crate::store) mod vault;
