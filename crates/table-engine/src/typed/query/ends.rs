//! The ends of queries that the derive gives to an entity: they block or are awaited, as the place does where they look.

use super::PathQuery;
use crate::error::Result;
use crate::handle::page::Page;
use crate::query::{Continuation, PageBudget};
use crate::typed::entity::path::Path;
use crate::typed::read::origin::{AnyOrigin, Origin};
use crate::typed::read::reading::{ReadAs, Whole};

/// What the ends of a query give: a [`Result`] where they block, a future of one where they are awaited.
#[diagnostic::on_unimplemented(
    message = "a query that is awaited gives entities that can be sent to another thread",
    label = "`{P}` gives what is not `Send`"
)]
pub trait Ends<P: Path, R: ReadAs<P> = Whole>: AnyOrigin {
    /// What `first` gives.
    type First;
    /// What `exists` gives.
    type Exists;
    /// What `count` gives.
    type Count;
    /// What `page` gives.
    type Page;

    #[doc(hidden)]
    fn first<Step>(query: PathQuery<P, Self, R, Step>) -> Self::First;

    #[doc(hidden)]
    fn exists<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Exists;

    #[doc(hidden)]
    fn count<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Count;

    #[doc(hidden)]
    fn page<Step>(
        query: &PathQuery<P, Self, R, Step>,
        budget: PageBudget,
        after: Option<&Continuation>,
    ) -> Self::Page;
}

#[diagnostic::do_not_recommend]
#[allow(
    clippy::inline_always,
    reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
)]
impl<O: Origin, P: Path, R: ReadAs<P>> Ends<P, R> for O {
    type First = Result<Option<R::Item>>;
    type Exists = Result<bool>;
    type Count = Result<u64>;
    type Page = Result<Page<R::Item>>;

    #[cfg_attr(debug_assertions, inline(always))]
    fn first<Step>(query: PathQuery<P, Self, R, Step>) -> Self::First {
        query.first()
    }

    #[cfg_attr(debug_assertions, inline(always))]
    fn exists<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Exists {
        query.exists()
    }

    #[cfg_attr(debug_assertions, inline(always))]
    fn count<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Count {
        query.count()
    }

    fn page<Step>(
        query: &PathQuery<P, Self, R, Step>,
        budget: PageBudget,
        after: Option<&Continuation>,
    ) -> Self::Page {
        query.page(budget, after)
    }
}
