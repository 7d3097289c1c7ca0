//! Rows that no page goes on with.

use std::fmt;

use super::Resumable;
use crate::error::Result;
use crate::query::Continuation;

/// Rows of a query that has no pages: a stream of them that gives its snapshot up says no place to go on.
pub struct WithoutPages<I>(I);

impl<I: Iterator> WithoutPages<I> {
    pub(super) fn new(rows: impl IntoIterator<IntoIter = I>) -> Self {
        Self(rows.into_iter())
    }
}

impl<I: Iterator> Iterator for WithoutPages<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}

impl<T, I: Iterator<Item = Result<T>>> Resumable for WithoutPages<I> {
    type Row = T;

    fn next_and_place(&mut self) -> (Option<I::Item>, Option<Continuation>) {
        (self.0.next(), None)
    }
}

impl<I> fmt::Debug for WithoutPages<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithoutPages").finish_non_exhaustive()
    }
}
