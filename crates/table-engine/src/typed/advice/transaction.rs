//! Advice on transactions, which change and don't read.

use super::Never;
use crate::error::Result;
use crate::typed::change::egt::Egt;
use crate::typed::change::transaction::StoreTransaction;
use crate::typed::entity::Entity;
use crate::typed::read::key::Lookup;

impl StoreTransaction<'_> {
    #[doc(hidden)]
    pub fn get<E: Entity + ReadInTransaction, L: Lookup<E>>(&self, _: L) -> Result<Option<L::Output>> {
        match E::NEVER {}
    }
}

impl<Set> Egt<'_, Set> {
    #[doc(hidden)]
    pub fn get<E: Entity + ReadInTransaction, L: Lookup<E>>(&self, _: L) -> Result<Option<L::Output>> {
        match E::NEVER {}
    }
}

/// What no entity is, so that the compiler says where a transaction reads.
#[diagnostic::on_unimplemented(
    message = "a transaction changes, and gives nothing to read before it is committed",
    label = "change what is there by `.update(key, |entity| ..)`, or read it from its table before the transaction"
)]
pub trait ReadInTransaction: Never {}
