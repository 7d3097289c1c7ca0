//! The ends of queries that are awaited.

use super::BoxFuture;
use super::dynamic::{AsyncDynamicTable, PAGE};
use super::stream::RowStream;
use crate::error::Result;
use crate::handle::page::Page;
use crate::handle::table::DynamicTable;
use crate::query::{Continuation, PageBudget};
use crate::typed::Blocks;
use crate::typed::entity::path::Path;
use crate::typed::entity::stored::Stored;
use crate::typed::query::{Ends, PathQuery, TypedRows};
use crate::typed::read::reading::ReadAs;
use crate::typed::set::{EntitySet, SetQuery, SetRows};

impl<P, R, Step> PathQuery<P, AsyncDynamicTable, R, Step>
where
    P: Path,
    R: ReadAs<P, Item: Send + 'static> + 'static,
{
    /// Returns what the query finds, in order, one after another.
    pub fn stream(self) -> RowStream<TypedRows<P, DynamicTable, R>> {
        if self.origin().answers_later() {
            let query = self.ended();
            return RowStream::paged(move |after| {
                let query = query.clone();
                Box::pin(async move { query.page(PAGE, after.as_ref()).await })
            });
        }
        let (reads, query) = (self.origin().reading(), self.on(self.origin().blocking().clone()));
        RowStream::new(reads, move || Ok(query.into_iter()))
    }

    /// Returns the first that the query finds, if it finds any; whatever `top` said.
    pub async fn first(self) -> Result<Option<R::Item>> {
        self.read(PathQuery::<P, DynamicTable, R>::first).await
    }

    /// Returns whether the query finds any, whatever `top` said. None is decoded.
    pub async fn exists(self) -> Result<bool> {
        self.read(PathQuery::<P, DynamicTable, R>::exists).await
    }

    /// Returns how many there are. Each is looked at, and none decoded.
    pub async fn count(self) -> Result<u64> {
        self.read(PathQuery::<P, DynamicTable, R>::count).await
    }

    /// Returns all that the query finds.
    pub async fn try_collect(self) -> Result<Vec<R::Item>> {
        self.read(|query| query.into_iter().collect()).await
    }

    /// Returns a page: at most so many of what the query finds, 1,000 at most, from the start or from where another page of the
    /// same query ended. A [`PageBudget`] may end it earlier, after so many rows or so much time.
    pub async fn page(
        &self,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page<R::Item>> {
        let (budget, after) = (budget.into(), after.cloned());
        self.clone().read(move |query| query.page(budget, after.as_ref())).await
    }

    /// Returns the query behind its last step.
    fn ended(self) -> PathQuery<P, AsyncDynamicTable, R> {
        self.retyped()
    }

    /// Returns what `read` makes of the query.
    async fn read<T: Send + 'static>(
        self,
        read: impl Fn(PathQuery<P, DynamicTable, R>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let query = self.ended();
        let origin = query.origin().clone();
        origin.read(move |table| read(query.on(table.clone()))).await
    }
}

impl<Set: EntitySet + Send> SetQuery<Set, AsyncDynamicTable> {
    /// Returns what the query finds, in order, one after another.
    pub fn stream(self) -> RowStream<SetRows<Set>> {
        if self.origin().answers_later() {
            return RowStream::paged(move |after| {
                let query = self.clone();
                Box::pin(async move { query.page(PAGE, after.as_ref()).await })
            });
        }
        let (reads, table) = (self.origin().reading(), self.origin().blocking().clone());
        RowStream::new(reads, move || Ok(self.on(table).into_iter()))
    }

    /// Returns the first that the query finds, if it finds any; whatever [`top`](Self::top) said.
    pub async fn first(self) -> Result<Option<Stored<Set>>> {
        self.read(SetQuery::<Set, DynamicTable>::first).await
    }

    /// Returns whether the query finds any, whatever [`top`](Self::top) said.
    pub async fn exists(self) -> Result<bool> {
        self.read(SetQuery::<Set, DynamicTable>::exists).await
    }

    /// Returns how many entities there are, those of kinds beside the set's too.
    pub async fn count(self) -> Result<u64> {
        self.read(SetQuery::<Set, DynamicTable>::count).await
    }

    /// Returns all that the query finds.
    pub async fn try_collect(self) -> Result<Vec<Stored<Set>>> {
        self.read(|query| query.into_iter().collect()).await
    }

    /// Returns a page: at most so many, 1,000 at most, from the start or from where another page of the query ended.
    pub async fn page(
        &self,
        budget: impl Into<PageBudget>,
        after: Option<&Continuation>,
    ) -> Result<Page<Stored<Set>>> {
        let (budget, after) = (budget.into(), after.cloned());
        self.clone().read(move |query| query.page(budget, after.as_ref())).await
    }

    async fn read<T: Send + 'static>(
        self,
        read: impl Fn(SetQuery<Set, DynamicTable>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let origin = self.origin().clone();
        origin.read(move |table| read(self.clone().on(table.clone()))).await
    }
}

#[diagnostic::do_not_recommend]
impl<P, R> Ends<P, R> for AsyncDynamicTable
where
    P: Path,
    R: ReadAs<P, Item: Send + 'static> + 'static,
{
    type First = BoxFuture<'static, Result<Option<R::Item>>>;
    type Exists = BoxFuture<'static, Result<bool>>;
    type Count = BoxFuture<'static, Result<u64>>;
    type Page = BoxFuture<'static, Result<Page<R::Item>>>;

    fn first<Step>(query: PathQuery<P, Self, R, Step>) -> Self::First {
        Box::pin(query.ended().first())
    }

    fn exists<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Exists {
        Box::pin(query.ended().exists())
    }

    fn count<Step>(query: PathQuery<P, Self, R, Step>) -> Self::Count {
        Box::pin(query.ended().count())
    }

    fn page<Step>(
        query: &PathQuery<P, Self, R, Step>,
        budget: PageBudget,
        after: Option<&Continuation>,
    ) -> Self::Page {
        let (query, after) = (query.clone().ended(), after.cloned());
        Box::pin(async move { query.page(budget, after.as_ref()).await })
    }
}

// `for` over a query that is awaited: the compiler looks for these impls, and says what the query has instead.
#[doc(hidden)]
impl<P: Path, R: ReadAs<P>, Step> Iterator for PathQuery<P, AsyncDynamicTable, R, Step>
where
    AsyncDynamicTable: Blocks<P>,
{
    type Item = Result<R::Item>;

    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}

#[doc(hidden)]
impl<Set: EntitySet> Iterator for SetQuery<Set, AsyncDynamicTable>
where
    AsyncDynamicTable: Blocks<Set>,
{
    type Item = Result<Stored<Set>>;

    fn next(&mut self) -> Option<Self::Item> {
        None
    }
}

/// The ends of an entity's queries that only those have which are awaited.
#[doc(hidden)]
#[macro_export]
macro_rules! __async_ends {
    ([$($vis:tt)*] $query:ident $path:ident $step:ident) => {
        #[allow(dead_code, reason = "whether a program calls it is its own affair")]
        impl<$path, $step> $query<$path, $step, $crate::asynchronous::AsyncDynamicTable>
        where
            $path: $crate::__private::Path<Item: ::core::marker::Send + 'static>,
            $step: $crate::__private::Ready,
        {
            /// What the query finds, in order, one after another.
            $($vis)* fn stream(
                self,
            ) -> $crate::asynchronous::RowStream<$crate::__private::TypedRows<$path, $crate::DynamicTable>>
            {
                self.query.stream()
            }

            /// All that the query finds.
            $($vis)* fn try_collect(
                self,
            ) -> $crate::asynchronous::BoxFuture<'static, $crate::Result<$crate::__private::Vec<$path::Item>>>
            where
                $step: 'static,
            {
                $crate::__private::Box::pin(self.query.try_collect())
            }
        }

        // `for` over such a query: the compiler looks for these impls, and says what the query has instead.
        $crate::__async_ends!(@iterated [const PARTS: ::core::primitive::usize] $query $path $crate::__private::At<PARTS>);
        $crate::__async_ends!(@iterated [Order] $query $path $crate::__private::Ended<Order>);
    };
    (@iterated [$($parameter:tt)*] $query:ident $path:ident $step:ty) => {
        #[doc(hidden)]
        impl<$path, $($parameter)*> ::core::iter::Iterator
            for $query<$path, $step, $crate::asynchronous::AsyncDynamicTable>
        where
            $path: $crate::__private::Path,
            $crate::asynchronous::AsyncDynamicTable: $crate::__private::Blocks<$path>,
        {
            type Item = $crate::Result<$path::Item>;

            fn next(&mut self) -> ::core::option::Option<Self::Item> {
                ::core::option::Option::None
            }
        }
    };
}
