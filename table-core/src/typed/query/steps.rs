//! The steps of a query as types: which part of the key comes next, and what can be done before it is given.

/// The step at which so many parts have been given, and some of the partition's have not.
#[derive(Debug)]
pub enum InPartition<const PARTS: usize> {}

/// The step at which so many parts have been given, all of the partition's among them.
#[derive(Debug)]
pub enum At<const PARTS: usize> {}

/// The step after a range or a prefix, or over all partitions: nothing of the key is left to fix.
#[derive(Debug)]
pub enum Ended {}

/// The step after `latest(n)`: nothing is left to fix, and the order is settled.
#[derive(Debug)]
pub enum Newest {}

/// A step at which a query can run: it is known which partitions to read.
///
/// Said of the steps and not of the paths, so that no entity has impls of its own.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is not complete",
    label = "give every part of the partition key first, or say `.across_partitions()`",
    note = "key parts are given from left to right; a query runs within one partition, or says that it reads many"
)]
pub trait Ready {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Ready for At<PARTS> {}
#[diagnostic::do_not_recommend]
impl Ready for Ended {}
#[diagnostic::do_not_recommend]
impl Ready for Newest {}

/// A step at which this one has come. The step that ended the key counts as any: [`GoesOn`] refuses it, and alone.
#[diagnostic::on_unimplemented(
    message = "this part of the key is given already",
    label = "it comes first, and once",
    note = "key parts are given from left to right, each once; a field that is no part, or whose turn it is not, is asked for by `.filter(|e| ..)`"
)]
pub trait Comes<Step> {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Comes<Self> for InPartition<PARTS> {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Comes<Self> for At<PARTS> {}
#[diagnostic::do_not_recommend]
impl<Step> Comes<Step> for Ended {}
#[diagnostic::do_not_recommend]
impl<Step> Comes<Step> for Newest {}

/// The same, of a step behind others: `Before` names the parts that lead to it, by types that the derive makes.
#[diagnostic::on_unimplemented(
    message = "`{Before}` comes before this part of the key",
    label = "its turn is right after `{Before}`",
    note = "key parts are given from left to right, each once; a field that is no part, or whose turn it is not, is asked for by `.filter(|e| ..)`"
)]
pub trait ComesAfter<Step, Before> {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize, Before> ComesAfter<Self, Before> for InPartition<PARTS> {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize, Before> ComesAfter<Self, Before> for At<PARTS> {}
#[diagnostic::do_not_recommend]
impl<Step, Before> ComesAfter<Step, Before> for Ended {}
#[diagnostic::do_not_recommend]
impl<Step, Before> ComesAfter<Step, Before> for Newest {}

/// A step after which another part can be given.
#[diagnostic::on_unimplemented(
    message = "no part of the key can follow here",
    label = "a range, a prefix, `latest` or `across_partitions` before it ended the key",
    note = "give a value for each part before it, or ask for the field by `.filter(|e| ..)`, which looks at each row"
)]
pub trait GoesOn {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> GoesOn for InPartition<PARTS> {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize> GoesOn for At<PARTS> {}

/// A query whose next part counts backwards, so that the first in the order of the key are the latest.
#[diagnostic::on_unimplemented(
    message = "`latest` is for a key whose next part counts backwards",
    label = "the next part counts forwards, or the partition is still to be given",
    note = "`{{at:inverted}}` and `{{id:06:inverted}}` in a key count backwards; of a key that counts forwards, `.rev().top(n)` gives the last"
)]
pub trait CountsBackwards {}

/// A step at which the partition is still open, so that the query can read many.
#[diagnostic::on_unimplemented(message = "the partition of this query is known", label = "it reads no other")]
pub trait Open {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Open for InPartition<PARTS> {}

/// A step at which the order can be turned.
#[diagnostic::on_unimplemented(
    message = "this query gives the newest first, which can't be turned",
    label = "`latest` says the order",
    note = "for the oldest first, `.rev().top(n)` in the place of `.latest(n)`"
)]
pub trait Turns {}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Turns for InPartition<PARTS> {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Turns for At<PARTS> {}
#[diagnostic::do_not_recommend]
impl Turns for Ended {}
