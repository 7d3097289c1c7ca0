//! Answers in pages.

use crate::model::DynamicEntity;
use crate::query::Continuation;

/// Some of the entities that a query finds, and where the next page starts.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<T = DynamicEntity> {
    /// The entities, in the query's order; of a typed query, what it reads each row as.
    pub entities: Vec<T>,
    /// Gives the next page, now or after a restart; `None` when there is no more.
    pub next: Option<Continuation>,
}

/// Builds a page of what a reader makes of rows.
impl<T> Page<T> {
    pub(crate) fn of(entities: Vec<T>, next: Option<Continuation>) -> Self {
        Self { entities, next }
    }
}
