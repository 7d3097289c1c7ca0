//! Without the feature `encrypt`: `checks::encrypt` stops every declaration that would come here.

use crate::error::Result;
use crate::model::ValueRef;
use crate::plan::{FoundTokens, Resealed, Seals};
use crate::schema::{Blind, Field, TOKEN_BYTES};
use crate::store::encryption::{Keys, missing};

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
pub(crate) struct Sealer<'t>(std::marker::PhantomData<&'t Keys>);

#[expect(clippy::unused_self, reason = "as it is with the feature")]
impl Sealer<'_> {
    pub(in crate::store) fn new(_: u32, _: &Keys) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(in crate::store) fn sham(_: u32, _: &Keys) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(crate) fn sealed_at(&self) -> SealedAt {
        SealedAt
    }
}

impl Seals for Sealer<'_> {
    fn seal(&self, _: (&str, &str), _: &Field, _: ValueRef<'_>) -> Result<Vec<u8>> {
        Err(missing::keys())
    }

    fn tokens(&self, _: &str, _: &Field, _: Blind, _: ValueRef<'_>) -> Result<FoundTokens> {
        Err(missing::keys())
    }

    fn reseal(&self, _: (&str, &str), _: &Field, _: ValueRef<'_>) -> Result<Resealed> {
        Err(missing::keys())
    }
}

/// There are none.
pub(in crate::store) fn tokens(
    _: (u32, &Keys),
    _: &str,
    _: &Field,
    _: Blind,
    _: ValueRef<'_>,
) -> Result<Vec<[u8; TOKEN_BYTES]>> {
    Err(missing::keys())
}

/// Whether a value is of the form of sealed ones.
pub(crate) fn looks_sealed(_: ValueRef<'_>) -> bool {
    false
}

/// There are no keys.
pub(in crate::store) fn generation(_: &Keys) -> Result<u64> {
    Err(missing::keys())
}
