//! Without the feature `encrypt`: `checks::signed` stops every declaration that signs, and what is signed can't be
//! verified.

use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::store::row::DIGEST;
use crate::store::row::dict::Dict;
use crate::store::row::view::RowView;

pub(crate) fn digest<'p>(
    _: &Dict,
    _: (&str, &str),
    _: impl Iterator<Item = (&'p str, ValueRef<'p>)>,
) -> Result<[u8; DIGEST]> {
    Err(refused())
}

#[cold]
pub(crate) fn verify(view: &RowView<'_>) -> Result<()> {
    Err(refused().partition(&view.partition_key()).row(&view.row_key()))
}

#[cold]
fn refused() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("the row is signed, which takes the feature `encrypt` of `table-core` to verify")
}
