//! The keys of a store, and what they do to rows: seal values, and sign what stands in the clear.
//!
//! The rest of the store sees one set of types and functions, with the feature `encrypt` and without it.

#[cfg(feature = "encrypt")]
mod keys;
#[cfg(feature = "encrypt")]
pub(crate) mod vault;
#[cfg(not(feature = "encrypt"))]
mod without;

#[cfg(feature = "encrypt")]
pub(crate) use self::keys::Keys;
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without::Keys;
