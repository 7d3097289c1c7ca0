//! Advice on queries.

use std::marker::PhantomData;
use std::ops::Deref;

use super::Never;
use crate::typed::query::PathQuery;

/// What queries dereference to, for the sake of what the compiler says of methods that they lack. Here, and not on the
/// queries themselves: a part of a key may have one of the names, and its method comes first then.
#[derive(Debug)]
pub struct AnyQuery<P>(PhantomData<fn() -> P>);

impl<P: 'static> AnyQuery<P> {
    /// Returns the only value.
    #[must_use]
    pub const fn words() -> &'static Self {
        &Self(PhantomData)
    }
}

impl<P> AnyQuery<P> {
    #[doc(hidden)]
    #[allow(clippy::iter_not_returning_iterator, reason = "it can never be called")]
    pub fn iter<T>(&self) -> T
    where
        P: QueryIter,
    {
        match P::NEVER {}
    }

    #[doc(hidden)]
    pub fn order_by<K, T>(&self, _: K) -> T
    where
        P: QueryOrderBy,
    {
        match P::NEVER {}
    }

    #[doc(hidden)]
    pub fn delete<T>(&self) -> T
    where
        P: QueryDelete,
    {
        match P::NEVER {}
    }
}

/// What queries that are awaited have.
#[doc(hidden)]
impl<P> AnyQuery<P> {
    pub fn stream<T>(&self) -> T
    where
        P: QueryStream,
    {
        match P::NEVER {}
    }

    pub fn try_collect<T>(&self) -> T
    where
        P: QueryStream,
    {
        match P::NEVER {}
    }
}

#[doc(hidden)]
impl<P: 'static, O, R, Step> Deref for PathQuery<P, O, R, Step> {
    type Target = AnyQuery<P>;

    fn deref(&self) -> &AnyQuery<P> {
        AnyQuery::words()
    }
}

/// What no path is, so that the compiler speaks of `iter`.
#[diagnostic::on_unimplemented(
    message = "a query has no `iter`",
    label = "leave it out: `for` takes the query itself, and `.into_iter()` makes an iterator of it"
)]
pub trait QueryIter: Never {}

/// What no path is, so that the compiler speaks of `order_by`.
#[diagnostic::on_unimplemented(
    message = "a query has no `order_by`: its rows come in the order of their keys",
    label = "query by an index whose row key begins with this field; `.rev()` gives the last first; or sort what was read"
)]
pub trait QueryOrderBy: Never {}

/// What no path is, so that the compiler speaks of `delete`.
#[diagnostic::on_unimplemented(
    message = "a query has no `delete`",
    label = "give the query to the table: `table.delete_where(query.entities())?.run()?`"
)]
pub trait QueryDelete: Never {}

/// What no path is, so that the compiler speaks of what is awaited.
#[diagnostic::on_unimplemented(
    message = "a query of a table whose calls block is not awaited",
    label = "go through it by `for` or `.into_iter()`; a table by `.to_async()` has queries that are awaited (feature `async`)"
)]
pub trait QueryStream: Never {}

/// That a query of an awaited table can be gone through by `for`: never.
#[cfg(feature = "async")]
#[diagnostic::on_unimplemented(
    message = "a query of a table whose calls are awaited does not block",
    label = "end it by `.stream()`, or by `.first().await`, `.count().await`, `.page(..).await`",
    note = "`for` and iterators block: `while let Some(entity) = stream.try_next().await? {{ .. }}` goes through a stream"
)]
pub trait Blocks<P> {}
