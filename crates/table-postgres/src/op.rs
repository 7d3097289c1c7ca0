//! What becomes of a plan's rows.

use crate::body::Body;
use crate::demand::Demand;

/// What becomes of a row, when what is there is known as far as it must be.
pub(crate) struct Op {
    /// Its place among the rows of the work.
    pub(crate) of: usize,
    pub(crate) demand: Demand,
    pub(crate) becomes: Becomes,
}

/// What a row becomes.
pub(crate) enum Becomes {
    Kept,
    Gone,
    Written(Body),
}
