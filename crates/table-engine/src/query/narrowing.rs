//! What of a query's rows its reader may see, whatever the query asks for.

use std::fmt;
#[cfg(feature = "access")]
use std::sync::Arc;

use crate::error::Result;
use crate::row::view::RowView;

/// A pair of keys at which a range of rows ends: without a row key it takes in the whole partition.
pub(crate) type PairEnd<'e> = (&'e str, Option<&'e str>);

/// Says which rows there are for a reader. It is no part of the query: a page's token goes on under another.
pub(crate) trait Narrowing: fmt::Debug + Send + Sync {
    /// Returns the ends of the range in which the rows lie, both included.
    fn ends(&self) -> [Option<PairEnd<'_>>; 2];

    /// Returns whether a row of the range is one of them.
    fn shows(&self, row: &RowView<'_>) -> Result<bool>;
}

/// What narrows a query, if anything does. It takes no room where nothing can.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visible {
    #[cfg(feature = "access")]
    by: Option<Arc<dyn Narrowing>>,
}

impl Visible {
    #[cfg(feature = "access")]
    pub(crate) fn by(narrowing: Arc<dyn Narrowing>) -> Self {
        Self { by: Some(narrowing) }
    }

    #[cfg(feature = "access")]
    fn narrowing(&self) -> Option<&dyn Narrowing> {
        self.by.as_deref()
    }

    #[cfg(not(feature = "access"))]
    #[expect(clippy::unused_self, reason = "as it is with the feature")]
    fn narrowing(&self) -> Option<&dyn Narrowing> {
        None
    }

    /// Returns whether anything does.
    #[inline]
    pub(crate) fn is_narrowed(&self) -> bool {
        self.narrowing().is_some()
    }

    /// Returns the ends of the range in which rows lie.
    #[inline]
    pub(crate) fn ends(&self) -> [Option<PairEnd<'_>>; 2] {
        self.narrowing().map_or([None, None], Narrowing::ends)
    }

    /// Returns whether there is such a row.
    #[inline]
    pub(crate) fn shows(&self, row: &RowView<'_>) -> Result<bool> {
        self.narrowing().map_or(Ok(true), |by| by.shows(row))
    }
}
