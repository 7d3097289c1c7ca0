//! The steps of a query as types: which part of the key comes next, and what can be done before it is given.

use crate::typed::Path;

/// The step at which so many parts have been given.
#[derive(Debug)]
pub enum At<const PARTS: usize> {}

/// The step after a range or a prefix, or over all partitions: nothing of the key is left to fix.
#[derive(Debug)]
pub enum Ended {}

/// The step after `latest(n)`: nothing is left to fix, and the order is settled.
#[derive(Debug)]
pub enum Newest {}

/// A path whose query can run at this step: it is known which partitions to read.
///
/// Of the path and not of the step, so that the compiler tells the impls of all entities apart by their types.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is not complete",
    label = "give every part of the partition key first, or say `.across_partitions()`",
    note = "key parts are given from left to right; a query runs within one partition, or says that it reads many"
)]
pub trait Ready<Step> {}

impl<P: Path> Ready<Ended> for P {}
impl<P: Path> Ready<Newest> for P {}

/// A path whose partition is still open at this step, so that the query can read many.
#[diagnostic::on_unimplemented(message = "the partition of this query is known", label = "it reads no other")]
pub trait Open<Step> {}

/// A step at which the order can be turned.
#[diagnostic::on_unimplemented(
    message = "this query gives the newest first, which can't be turned",
    label = "`latest` says the order",
    note = "for the oldest first, `.rev().top(n)` in the place of `.latest(n)`"
)]
pub trait Turns {}

impl<const PARTS: usize> Turns for At<PARTS> {}
impl Turns for Ended {}
