//! The steps of a query as types: which part of the key comes next, and what can be done before it is given.

use std::convert::Infallible;
use std::marker::PhantomData;

/// The step at which so many parts have been given, and some of the partition's have not.
#[derive(Debug)]
pub enum InPartition<const PARTS: usize> {}

/// The step at which so many parts have been given, all of the partition's among them.
#[derive(Debug)]
pub enum At<const PARTS: usize> {}

/// The step after a range or a prefix, or over all partitions: nothing of the key is left to fix. `Order` says whether the
/// order is.
#[derive(Debug)]
pub enum Ended<Order = ByKey> {
    #[doc(hidden)]
    Never(Infallible, PhantomData<Order>),
}

/// The order of the key, which can be turned.
#[derive(Debug)]
pub enum ByKey {}

/// The order of the latest first, which can't.
#[derive(Debug)]
pub enum Latest {}

/// The step after `latest(n)`: nothing is left to fix, and the order is propagated.
pub type Newest = Ended<Latest>;

/// A step at which a query can run: it is known which partitions to read.
///
/// Said of the steps and not of the paths, so that no entity has impls of its own.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is not complete",
    label = "give every part of the partition key first, or say `.across_partitions()`",
    note = "key parts are given from left to right; a query runs within one partition, or says that it reads many"
)]
pub trait Ready {
    /// The query itself, of which more is asked only at such a step.
    #[doc(hidden)]
    type Of<Query>;
}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> Ready for At<PARTS> {
    type Of<Query> = Query;
}
#[diagnostic::do_not_recommend]
impl<Order> Ready for Ended<Order> {
    type Of<Query> = Query;
}

/// A step at which the partition is known, so that its first rows can be the latest.
///
/// Said apart from [`Ready`], whose advice to read across partitions would not help here.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is not complete",
    label = "give every part of the partition key before `latest`",
    note = "the latest are the first rows of one partition; across partitions rows come partition by partition, not by time"
)]
pub trait InOne {
    /// The query itself, of which more is asked only at such a step.
    #[doc(hidden)]
    type Of<Query>;
}

#[diagnostic::do_not_recommend]
impl<const PARTS: usize> InOne for At<PARTS> {
    type Of<Query> = Query;
}
/// The step that ended the key counts as any: [`CountsBackwards`] refuses it, and alone.
#[diagnostic::do_not_recommend]
impl<Order> InOne for Ended<Order> {
    type Of<Query> = Query;
}

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
impl<Step, Order> Comes<Step> for Ended<Order> {}

/// A step at which this one has come, behind others: `Before` names the part right before it, by a type that the derive
/// makes.
///
/// A step is itself; more of its own impls the compiler would show.
#[diagnostic::on_unimplemented(
    message = "give `{Before}` before this part of the key",
    label = "its turn is right after `{Before}`",
    note = "key parts are given from left to right, each once; what is no part is asked for by `.filter(|e| ..)`"
)]
pub trait ComesAfter<Step, Before> {}

#[diagnostic::do_not_recommend]
impl<Step, Before> ComesAfter<Self, Before> for Step {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize, Before, Order> ComesAfter<InPartition<PARTS>, Before> for Ended<Order> {}
#[diagnostic::do_not_recommend]
impl<const PARTS: usize, Before, Order> ComesAfter<At<PARTS>, Before> for Ended<Order> {}

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
    label = "what comes next in this key counts forwards: write `.rev().top(n)`",
    note = "`{{at:inverted}}` and `{{id:06:inverted}}` in a key count backwards"
)]
pub trait CountsBackwards {}

/// A step at which the partition is still open, so that the query can read many.
#[diagnostic::on_unimplemented(
    message = "the partition of this query is known",
    label = "leave this out: the query reads that partition and no other",
    note = "for all partitions, leave out what gave the partition's parts"
)]
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
