//! What reads ask of whoever carries them out, whatever that is: the seam above LMDB.
//!
//! A query becomes lanes ([`Lanes`]), and the executor walks over the rows of each ([`Walk`]), a [`Batch`] at a time. What
//! lies above is the same for every executor: rows taken out of batches, lanes merged ([`Merged`]).

mod batch;
mod lanes;
mod merged;

use std::any::Any;

pub(crate) use self::batch::Batch;
pub(crate) use self::lanes::{Lanes, order};
pub(crate) use self::merged::Merged;
use crate::error::Result;
use crate::row::view::RowView;

/// A store as it was at one moment: what a walk reads.
///
/// A walk is given it with each call, and does not hold it: several walks read one moment, and one that is LMDB's can be
/// sent to another thread and not be shared between two.
pub(crate) trait Moment: Any + Send {}

/// The rows of one lane, in its order, a batch after another: a refill of LMDB's, a page of a service's.
///
/// It is called once for many rows, so that nothing is erased between a row and what reads it.
pub(crate) trait Walk: Send {
    /// Puts the next rows into a batch that is empty: at least one, unless it [ends](Batch::end) there. What was put there
    /// before an error stays.
    fn fill(&mut self, moment: &dyn Moment, batch: &mut Batch) -> Result<()>;

    /// Gives `take` the row of this stored key, which was [lent](Batch::lend) to the last batch.
    fn lent(&self, moment: &dyn Moment, key: &[u8], take: &mut dyn FnMut(&RowView<'_>)) -> Result<()>;
}
