//! Advice on index lists, which are no queries and no rows of one entity.

use super::Never;
use crate::error::Result;
use crate::row::view::RowView;
use crate::typed::entity::Entity;
use crate::typed::entity::stored::Stored;
use crate::typed::query::OwnRows;
use crate::typed::read::key::Lookup;
use crate::typed::read::list::ListKey;
use crate::typed::read::point::Sought;

/// Without `do_not_recommend`, so that the compiler speaks of the bound and not of [`Lookup`].
impl<E: Entity + ReadAsAList> Lookup<E> for ListKey<E> {
    type Output = Stored<E>;
    type Path = OwnRows<E>;

    #[expect(private_interfaces, reason = "only this crate implements it")]
    fn sought(&self) -> Sought<'_> {
        match E::NEVER {}
    }

    fn read(_: &RowView<'_>) -> Result<Stored<E>> {
        match E::NEVER {}
    }
}

/// What no entity is, so that the compiler says how a list is read.
#[diagnostic::on_unimplemented(
    message = "the key of an index list leads to the list, and to no one entity",
    label = "read it by `list`: `.list({Self}::..(..))?`, over whose entities `for` goes"
)]
pub trait ReadAsAList: Never {}

/// What no table is, so that the compiler says how a list of `E` is read. `List` is a type that the derive makes, called as the list is.
#[diagnostic::on_unimplemented(
    message = "`{List}` is an index list, which is read as a whole and not queried",
    label = "write `.list({E}::{List}(..))?` in the place of this, over whose entities `for` goes"
)]
pub trait QueriedAsAList<E, List>: Never {}
