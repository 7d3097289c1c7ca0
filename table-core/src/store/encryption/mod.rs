//! The keys of a store, and what they do to rows: seal values, and sign what stands in the clear.
//!
//! The rest of the store sees one set of types and functions, with the feature `encrypt` and without it.

#[cfg(feature = "encrypt")]
mod keys;
#[cfg(feature = "encrypt")]
pub(crate) mod rule;
#[cfg(feature = "encrypt")]
pub(crate) mod vault;
#[cfg(not(feature = "encrypt"))]
mod without;

use crate::store::lmdb::Databases;
use crate::store::records::catalog::TableState;

#[cfg(feature = "encrypt")]
pub(crate) use self::keys::Keys;
#[cfg(feature = "encrypt")]
pub(crate) use self::rule::Lens;
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without::{Keys, Lens};

/// A table in a snapshot or a transaction, as a lens looks up the kinds of its rows.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "encrypt"), expect(dead_code, reason = "without the feature there is no lens"))]
pub(crate) struct TableView<'v> {
    pub(crate) dbs: &'v Databases,
    pub(crate) txn: &'v heed::RoTxn<'v>,
    pub(crate) table: &'v TableState,
}
