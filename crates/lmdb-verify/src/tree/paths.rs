//! Proofs that nothing stands between two leaves.
//!
//! The paths to them part at entries that stand side by side in one branch; from there down, the first path takes the
//! last entry of each branch, and the second the first. A branch that damage has made shorter hides what its entries
//! led to, so one whose last entry is taken must be whole.

use heed::RoTxn;

use super::{KeyBounds, NO_PAGE, Page, Tree, TreeSteps};
use crate::error::{Result, damaged};
use crate::pages::{is_whole, is_whole_branch};
use crate::reader::PageReader;

/// The branches on the way to a leaf, each with the place of the entry that is taken.
#[derive(Clone, Debug)]
pub struct LeafPath {
    pub(super) branches: Vec<(u64, usize)>,
    pub(super) leaf: u64,
}

impl LeafPath {
    /// Returns the numbers of the branches from the root down, each with the place of the entry that is taken.
    pub fn branches(&self) -> &[(u64, usize)] {
        &self.branches
    }

    /// Returns the number of the leaf.
    pub fn leaf(&self) -> u64 {
        self.leaf
    }
}

impl Tree {
    /// Returns the path to the leaf of an entry that has been met, by its key. An error if it stands on another leaf.
    pub fn path(&self, reader: &PageReader, txn: &RoTxn<'_>, key: &[u8]) -> Result<LeafPath> {
        let mut branches = Vec::new();
        let mut bounds = KeyBounds::default();
        let mut steps = TreeSteps::default();
        let way = self.descend(reader, txn, key, &mut steps, |branch, number, (at, _)| {
            branches.push((number, at));
            let key = |at| branch.node(at).map(|node| node.key).ok_or_else(damaged);
            // An entry that damage has made another's leads to a leaf that is sound.
            if !branch.rises_to(at) {
                return Err(damaged());
            }
            if at > 0 {
                bounds.low = bounds.low.max(Some(key(at)?));
            }
            if at + 1 < branch.len() {
                let high = key(at + 1)?;
                bounds.high = Some(bounds.high.map_or(high, |known| known.min(high)));
            }
            Ok(())
        })?;
        let is_within = way.leaf.lies_within(bounds).ok_or_else(damaged)?;
        if is_within && reader.pages().number(key) == Some(way.number) {
            Ok(LeafPath { branches, leaf: way.number })
        } else {
            Err(damaged())
        }
    }

    /// Returns whether no entry stands between these two, which were met one after the other; without one, none before
    /// the first or after the last.
    pub fn adjoin(
        &self,
        reader: &PageReader,
        txn: &RoTxn<'_>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Result<bool> {
        if self.is_empty()? {
            return Ok(before.is_none() && after.is_none());
        }
        let path = |key: &[u8]| {
            let path = self.path(reader, txn, key)?;
            let leaf = reader.tree_page(txn, path.leaf)?;
            if !is_whole(leaf.bytes) {
                return Err(damaged());
            }
            match leaf.search(0, key).ok_or_else(damaged)? {
                (at, true) => Ok((path, at, at + 1 == leaf.len())),
                _ => Err(damaged()),
            }
        };
        match (before.map(path).transpose()?, after.map(path).transpose()?) {
            (None, None) => Ok(false),
            (Some((before, _, is_last)), None) => {
                Ok(is_last && Self::are_last(reader, txn, &before.branches)?)
            }
            (None, Some((after, at, _))) => Ok(at == 0 && are_first(&after.branches)),
            (Some((before, one, _)), Some((after, other, _))) if before.leaf == after.leaf => {
                Ok(one + 1 == other)
            }
            (Some((before, _, is_last)), Some((after, at, _))) => {
                Ok(is_last && at == 0 && Self::is_followed(reader, txn, &before, &after)?)
            }
        }
    }

    /// Returns whether the leaf of one path is followed by that of another.
    fn is_followed(
        reader: &PageReader,
        txn: &RoTxn<'_>,
        before: &LeafPath,
        after: &LeafPath,
    ) -> Result<bool> {
        let both = before.branches.iter().zip(&after.branches);
        let common = both.take_while(|(one, other)| one == other).count();
        let (Some(([one, last @ ..], [other, first @ ..])), true) = (
            before.branches.get(common..).zip(after.branches.get(common..)),
            before.branches.len() == after.branches.len(),
        ) else {
            return Ok(false);
        };
        let side_by_side = one.0 == other.0 && one.1 + 1 == other.1;
        Ok(side_by_side && are_first(first) && Self::are_last(reader, txn, last)?)
    }

    /// Returns whether these are the last entries of their branches, which are whole.
    fn are_last(reader: &PageReader, txn: &RoTxn<'_>, branches: &[(u64, usize)]) -> Result<bool> {
        for (number, at) in branches {
            if !is_last(reader.tree_page(txn, *number)?, *at) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn is_empty(&self) -> Result<bool> {
        match (self.root, self.entries, self.depth) {
            (NO_PAGE, 0, 0) => Ok(true),
            (NO_PAGE, ..) => Err(damaged()),
            _ => Ok(false),
        }
    }
}

/// Returns whether an entry of a branch is its last, and the branch is whole.
pub(super) fn is_last(branch: Page<'_>, at: usize) -> bool {
    at + 1 == branch.len() && is_whole_branch(branch.bytes)
}

fn are_first(branches: &[(u64, usize)]) -> bool {
    branches.iter().all(|(_, at)| *at == 0)
}
