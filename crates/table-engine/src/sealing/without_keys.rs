//! Without the feature `encrypt`: `checks::encrypt` stops every declaration that would come here.

use super::{HasVault, missing};
use crate::error::Result;
use crate::model::ValueRef;
use crate::plan::{FoundTokens, Resealed, Seals};
use crate::schema::{Blind, Field, TOKEN_BYTES};

/// Nothing is sealed.
#[derive(Clone, Debug, Default)]
pub struct SealedAt;

#[expect(clippy::unused_self, reason = "as it is with the feature")]
impl SealedAt {
    /// The generation of a plan without sealed values: none.
    pub const NOTHING: Self = Self;

    pub fn generation(&self) -> Option<u64> {
        None
    }

    pub(crate) fn earliest(all: impl Iterator<Item = Self>) -> Self {
        drop(all);
        Self
    }

    pub fn check(&self) -> Result<()> {
        Ok(())
    }

    pub(crate) fn is_stale(&self) -> bool {
        false
    }
}

/// Seals nothing.
pub(crate) struct Sealer<'t>(std::marker::PhantomData<&'t dyn HasVault>);

#[expect(clippy::unused_self, reason = "as it is with the feature")]
impl<'t> Sealer<'t> {
    pub(crate) fn new(_: u32, _: &'t dyn HasVault) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(crate) fn dry_run(_: u32, _: &'t dyn HasVault) -> Self {
        Self(std::marker::PhantomData)
    }

    pub(crate) fn live_tokens(
        &self,
        _: &str,
        _: &Field,
        _: Blind,
        _: ValueRef<'_>,
    ) -> Result<Vec<[u8; TOKEN_BYTES]>> {
        Err(missing::keys())
    }

    pub(crate) fn sealed_at(&self) -> SealedAt {
        SealedAt
    }
}

impl Seals for Sealer<'_> {
    fn seal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Vec<u8>> {
        Err(missing::keys())
    }

    fn tokens(&self, _: &str, _: &Field, _: Blind, _: ValueRef<'_>) -> Result<FoundTokens> {
        Err(missing::keys())
    }

    fn reseal(&self, _: &str, _: &str, _: &Field, _: ValueRef<'_>) -> Result<Resealed> {
        Err(missing::keys())
    }
}

/// Returns whether a value is of the form of sealed ones.
pub fn looks_sealed(_: ValueRef<'_>) -> bool {
    false
}

/// Returns an error: there are no keys.
pub(crate) fn generation(_: &dyn HasVault) -> Result<u64> {
    Err(missing::keys())
}
