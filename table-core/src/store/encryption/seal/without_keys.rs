//! Without the feature `encrypt`: `checks::encrypt` stops every declaration that would come here.

use super::{FoundTokens, Resealed};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ValueRef;
use crate::opened::Opened;
use crate::schema::{Blind, Field, TOKEN_BYTES};
use crate::store::handle::table::DynamicTable;
use crate::store::row::view::RowView;

/// Nothing is sealed.
#[derive(Clone, Debug)]
pub(crate) struct SealedAt;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
impl SealedAt {
    pub(crate) const NOTHING: Self = Self;

    pub(crate) fn check(&self) -> Result<()> {
        Ok(())
    }

    pub(crate) fn is_stale(&self) -> bool {
        false
    }
}

/// Seals nothing.
pub(crate) struct Sealer<'t>(std::marker::PhantomData<&'t DynamicTable>);

#[expect(clippy::unused_self, reason = "as it is with the feature")]
impl Sealer<'_> {
    pub(crate) fn new(_: &DynamicTable) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(crate) fn sham(_: &DynamicTable) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(crate) fn seal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Vec<u8>> {
        Err(refused())
    }

    pub(crate) fn tokens(&self, _: &str, _: &Field, _: Blind, _: ValueRef<'_>) -> Result<FoundTokens> {
        Err(refused())
    }

    pub(crate) fn reseal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Resealed> {
        Err(refused())
    }

    pub(crate) fn sealed_at(&self) -> SealedAt {
        SealedAt
    }
}

/// Opens nothing.
pub(crate) fn open(_: &RowView<'_>, _: &str, _: &str, _: &[u8]) -> Result<Opened> {
    Err(refused())
}

/// There are none.
pub(crate) fn tokens(
    _: &DynamicTable,
    _: &str,
    _: &Field,
    _: Blind,
    _: ValueRef<'_>,
) -> Result<Vec<[u8; TOKEN_BYTES]>> {
    Err(refused())
}

/// Whether a value is of the form of sealed ones.
pub(crate) fn looks_sealed(_: ValueRef<'_>) -> bool {
    false
}

/// There are no keys.
pub(crate) fn generation(_: &DynamicTable) -> Result<u64> {
    Err(refused())
}

/// The same.
pub(crate) fn generation_of(_: &RowView<'_>) -> Result<u64> {
    Err(refused())
}

#[cold]
fn refused() -> Error {
    Error::new(ErrorKind::KeyUnavailable)
        .because("the program was built without the feature `encrypt` of `table-core`")
}
