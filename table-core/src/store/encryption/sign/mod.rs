//! Keyed digests on rows: what vouches for all that a row holds, and for where it stands.
//!
//! A digest is over the store, the table, the row's own keys, and each property's name, type and value. It knows nothing
//! of the row's format, of its time, and of the numbers that names have.

#[cfg(feature = "encrypt")]
mod with_keys;
#[cfg(not(feature = "encrypt"))]
mod without_keys;

#[cfg(feature = "encrypt")]
pub(crate) use self::with_keys::{Binding, digest, verify};
#[cfg(not(feature = "encrypt"))]
pub(crate) use self::without_keys::{digest, verify};

use crate::error::{Error, ErrorKind, Result};
use crate::schema::RowTag;
use crate::store::row::view::RowView;

/// Refuses a row that lacks the digest which its kind has.
#[inline]
pub(crate) fn check_signed(view: &RowView<'_>, tag: RowTag) -> Result<()> {
    if tag.is_signed && !view.row().is_signed() { Err(unsigned(view)) } else { Ok(()) }
}

#[cold]
pub(crate) fn unsigned(view: &RowView<'_>) -> Error {
    Error::new(ErrorKind::NotGenuine)
        .because("the row carries no keyed digest, as each row of its kind does: somebody without the keys wrote it")
        .partition(&view.partition_key())
        .row(&view.row_key())
}

/// Refuses to write, by its properties, a row that only its struct can sign.
#[cold]
pub(crate) fn needs_its_struct() -> Error {
    Error::new(ErrorKind::SchemaMismatch).because(
        "the row's kind is signed: write it as its struct, by `Store::table` or `Store::set`, which have the digest made",
    )
}
