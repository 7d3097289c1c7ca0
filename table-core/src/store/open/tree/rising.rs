//! Proofs that the rows of many keys are not there, in the order of the keys.
//!
//! What is proved of a leaf counts for all keys that stand there, and the way to it is gone once. Of keys in any other order
//! each is a search by itself, on pages that the processor has to fetch again.

use super::super::Environment;
use super::explored::Explored;
use super::{Page, Tree};
use crate::error::Result;

/// A walk along keys that rise, at the beginning of a write transaction.
pub(crate) struct Rising<'r, 't> {
    tree: Tree,
    environment: &'r Environment,
    txn: &'t heed::RoTxn<'t>,
    explored: &'r mut Explored,
    /// Whether nothing was known of the tree before: then the walk comes to each leaf for the first time.
    is_first: bool,
    at: Option<At<'t>>,
}

/// Where the last key was looked for, and not found.
struct At<'t> {
    page: Page<'t>,
    /// The leaf's place among those that are known.
    leaf: usize,
    end: End<'t>,
}

/// Where the gap of a key ends.
enum End<'t> {
    /// Before this key, which is on the same leaf.
    Key(&'t [u8]),
    /// Somewhere behind the last key of the leaf.
    OfLeaf,
    /// Nowhere: no key is behind it.
    OfTree,
}

impl<'r, 't> Rising<'r, 't> {
    pub(crate) fn new(
        tree: Tree,
        environment: &'r Environment,
        txn: &'t heed::RoTxn<'t>,
        explored: &'r mut Explored,
    ) -> Self {
        let is_first = explored.is_new();
        Self { tree, environment, txn, explored, is_first, at: None }
    }

    /// Whether a key, which is not below the one before, has no row; with how many bytes there are to be of both. `verify` is
    /// given the keys and values beside it.
    pub(crate) fn lacks(
        &mut self,
        (key, length): (&[u8], usize),
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        let (tree, environment, txn) = (self.tree, self.environment, self.txn);
        if tree.is_empty()? {
            return Ok(true);
        }
        self.explored.forget_way();
        let Explored { branches, leaves, steps, rooms, .. } = &mut *self.explored;
        let at = self.at.take();
        let is_in_gap = at.as_ref().is_some_and(|at| match at.end {
            End::Key(end) => key < end,
            End::OfLeaf => false,
            End::OfTree => true,
        });
        // Where the branches rise, and give the leaf room for its keys, LMDB comes to it for all keys between the first and
        // the last. The first is below this key, or the search has come to another leaf.
        let is_on_leaf = || {
            let at = at.as_ref()?;
            (leaves.is_in_order(at.leaf) && at.page.last_key().is_some_and(|last| key <= last)).then_some(())
        };
        let (way, place) = match &at {
            Some(at) if is_in_gap || is_on_leaf().is_some() => {
                (tree.way_of(environment, txn, steps)?, at.leaf)
            }
            _ => {
                let way = tree.way(environment, txn, key, (steps, rooms))?;
                let place = leaves.place(&way, self.is_first)?;
                (way, place)
            }
        };
        let leaf = leaves.get(place)?;
        if leaf.gets(length) {
            tree.learn_order(environment, txn, &way, leaf, branches)?;
        }
        if is_in_gap {
            self.at = at;
            return Ok(true);
        }
        let Some(gap) = tree.gap(environment, txn, (key, &way), leaf, verify)? else { return Ok(false) };
        let end = match gap.after {
            None => End::OfTree,
            // Between the leaf and the next one the branches say to which of them LMDB comes.
            Some(spot) if spot.leaf != way.number => End::OfLeaf,
            Some(spot) => tree.key_at(environment, txn, spot).map_or(End::OfLeaf, End::Key),
        };
        self.at = Some(At { page: way.leaf, leaf: place, end });
        Ok(true)
    }
}
