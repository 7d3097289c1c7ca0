//! Rows that no page goes on with.

use std::fmt;

use super::Resumable;
use crate::query::Continuation;

/// Rows of a query that has no pages: a stream of them that gives its snapshot up says no place to go on.
pub struct Plain<I>(I);

impl<I: Iterator> Plain<I> {
    pub(super) fn new(rows: impl IntoIterator<IntoIter = I>) -> Self {
        Self(rows.into_iter())
    }
}

impl<I: Iterator> Iterator for Plain<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}

impl<I: Iterator> Resumable for Plain<I> {
    fn next_and_place(&mut self) -> (Option<I::Item>, Option<Continuation>) {
        (self.0.next(), None)
    }
}

impl<I> fmt::Debug for Plain<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plain").finish_non_exhaustive()
    }
}
