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

/// A step at which this one has come: the parts before it are given, and no range or prefix has ended the key.
#[diagnostic::on_unimplemented(
    message = "this part of the key can't be given here",
    label = "a part before it is missing, or was ended by a range or a prefix",
    note = "key parts are given from left to right, each with a value before the next; a field that is no part, or whose turn it is not, is asked for by `.filter(|e| ..)`"
)]
pub trait Comes<Step> {}

#[diagnostic::do_not_recommend]
impl<Step> Comes<Step> for Step {}

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
