//! What is noted while entities are written, so that a run that was cut short can be gone on with.

use super::counts::Counts;
use super::read::Place;
use crate::failure::Failure;

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// All before it is in the target, or among the rejects.
    pub(crate) done: Place,
    /// What stands from there to here was to be written next, and may be in the target.
    pub(crate) begun: Place,
    /// The keys of the last row of a table before `done`, or the name of the last blob.
    pub(crate) keys: Option<(String, String)>,
    pub(crate) counts: Counts,
    /// How many bytes the file of rejects has.
    pub(crate) reject_bytes: u64,
}

/// Where it is noted how far a run has come.
pub(crate) trait Notes {
    /// Notes up to where entities are written next.
    fn begin(&mut self, to: Place) -> Result<(), Failure>;

    /// Notes that all before a place is done.
    fn done(&mut self, progress: &Progress) -> Result<(), Failure>;
}
