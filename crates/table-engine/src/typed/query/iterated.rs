//! `for` over queries.

use super::{Ended, PathQuery, TypedRows};
use crate::error::Result;
use crate::handle::table::DynamicTable;
use crate::typed::entity::path::Path;
use crate::typed::periods::{InPeriodRange, InPeriodRangeAt};
use crate::typed::read::origin::TableIn;
use crate::typed::read::reading::ReadAs;

/// What `for` takes: a query of each place where it blocks.
///
/// An impl for all of them by a parameter would have the compiler say only that an awaited query is no iterator. Without one it
/// comes to the `Blocks` of the awaited query's own impl, which says what there is instead.
macro_rules! iterated {
    ($([$($lifetime:lifetime)?] $origin:ty;)+) => {$(
        #[allow(
            clippy::inline_always,
            reason = "in the codegen unit of the caller: `typed::entity::codegen_units` says why"
        )]
        impl<$($lifetime,)? P: Path, R: ReadAs<P>, Step> IntoIterator for PathQuery<P, $origin, R, Step> {
            type Item = Result<R::Item>;
            type IntoIter = TypedRows<P, $origin, R>;

            #[cfg_attr(debug_assertions, inline(always))]
            fn into_iter(self) -> Self::IntoIter {
                self.retyped::<R, Ended>().begin()
            }
        }
    )+};
}

iterated! {
    [] DynamicTable;
    ['s] TableIn<'s>;
    [] InPeriodRange;
    ['s] InPeriodRangeAt<'s>;
}
