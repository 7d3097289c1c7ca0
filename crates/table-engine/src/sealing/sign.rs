//! Keyed digests on rows, which authenticate all that a row holds, and its place.
//!
//! A digest is over the store, the table, the row's own keys, and each property's name, type and value. The row's format,
//! its time and the numbers of names are not in it.

use super::missing;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{EntityKeys, ValueRef};
use crate::row::DIGEST;
use crate::row::dict::Dict;
use crate::row::view::RowView;
use crate::schema::RowTag;

/// Returns the digest of a row of these keys with these properties. The dictionary is its table's.
pub fn digest<'p>(
    dict: &Dict,
    keys: EntityKeys<'_>,
    properties: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> Result<[u8; DIGEST]> {
    dict.vault().ok_or_else(missing::to_sign)?.sign(keys, properties.collect())
}

/// Compares the digest of a row that carries one.
#[cold]
pub fn verify(view: &RowView<'_>) -> Result<()> {
    let (partition, row) = view.keys();
    let check = || {
        let properties = view.properties().collect::<Result<Vec<_>>>()?;
        let vault = view.dict().vault().ok_or_else(missing::to_sign)?;
        let is_genuine = match view.row().digest() {
            Some(digest) => vault.is_genuine(EntityKeys::new(&partition, &row), properties, &digest)?,
            None => false,
        };
        if is_genuine { Ok(()) } else { Err(not_genuine()) }
    };
    check().map_err(|error: Error| error.partition(&partition).row(&row))
}

#[cold]
fn not_genuine() -> Error {
    Error::new(ErrorKind::NotGenuine).because(
        "the row's keyed digest does not fit: somebody without the store's keys changed the row, its name, or its place",
    )
}

/// Refuses a row that lacks the digest which its kind has.
#[inline]
pub(crate) fn check_signed(view: &RowView<'_>, tag: RowTag) -> Result<()> {
    if tag.is_signed && !view.row().is_signed() { Err(unsigned(view)) } else { Ok(()) }
}

#[cold]
pub fn unsigned(view: &RowView<'_>) -> Error {
    Error::new(ErrorKind::NotGenuine)
        .because("the row carries no keyed digest, as each row of its kind does: somebody without the keys wrote it")
        .partition(&view.partition_key())
        .row(&view.row_key())
}

/// Refuses a write by properties to a row that only its struct can sign.
#[cold]
pub fn needs_its_struct() -> Error {
    Error::new(ErrorKind::SchemaMismatch).because(
        "the row's kind is signed: write it as its struct, by `Store::table` or `Store::set`, which have the digest made",
    )
}
