//! Proofs that an entry is not there, by the leaf where it would stand.
//!
//! The leaf must be whole, the entries on both sides sound, and at the leaf's end the next leaf must go on where this one
//! ends.

use heed::RoTxn;

use super::paths::is_last;
use super::{Around, LEVELS, Node, Tree, TreePath, TreeSteps};
use crate::error::{Result, damaged};
use crate::pages::is_whole;
use crate::reader::PageReader;

/// A key whose place on its leaf is the first or the last.
#[derive(Clone, Copy)]
struct Edge<'k> {
    key: &'k [u8],
    is_first: bool,
}

impl Tree {
    /// Returns whether a key has no entry. `verify` is given the keys and values beside it.
    pub fn is_absent(
        &self,
        reader: &PageReader,
        txn: &RoTxn<'_>,
        key: &[u8],
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        if self.is_empty()? {
            return Ok(true);
        }
        let mut steps = TreeSteps::default();
        let way = self.descend(reader, txn, key, &mut steps, |_, _, _| Ok(()))?;
        if !is_whole(way.leaf.bytes) {
            return Err(damaged());
        }
        let (at, found) = way.leaf.search(0, key).ok_or_else(damaged)?;
        if found {
            // LMDB is about to read the entry, and ends the process if it is said to have several values.
            return way.leaf.node(at).filter(Node::is_plain).map(|_| false).ok_or_else(damaged);
        }
        let (before, after) = (at.checked_sub(1), Some(at).filter(|at| *at < way.leaf.len()));
        for beside in before.into_iter().chain(after) {
            let node = way.leaf.node(beside).ok_or_else(damaged)?;
            let value = reader.value(txn, &node).ok_or_else(damaged)?;
            verify(node.key, value)?;
        }
        match (before, after) {
            (Some(_), Some(_)) => Self::check_within(reader, txn, &way, at)?,
            (None, _) => Self::check_edge(reader, txn, &way, Edge { key, is_first: true }, verify)?,
            (_, None) => Self::check_edge(reader, txn, &way, Edge { key, is_first: false }, verify)?,
        }
        Ok(true)
    }

    /// Makes sure that the entries on both sides of a place lie between the keys that lead to their leaf. A damaged number may
    /// lead to a leaf of another database, whose records are as sound, and whose keys are on both sides of this one.
    fn check_within(reader: &PageReader, txn: &RoTxn<'_>, way: &TreePath<'_, '_>, at: usize) -> Result<()> {
        let Some((number, taken)) = way.steps.lowest() else { return Ok(()) };
        let branch = reader.tree_page(txn, number)?;
        // The first key of a branch stands for none.
        let low = if taken > 0 { branch.key(taken) } else { None };
        let (before, after) = (way.leaf.key(at.saturating_sub(1)), way.leaf.key(at));
        let is_within = low.is_none_or(|low| before >= Some(low))
            && branch.key(taken + 1).is_none_or(|high| after < Some(high));
        if is_within { Ok(()) } else { Err(damaged()) }
    }

    /// Makes sure, for a key at the edge of its leaf, that the leaf is the one that belongs here, and that the next one
    /// leaves room.
    #[cold]
    fn check_edge(
        reader: &PageReader,
        txn: &RoTxn<'_>,
        way: &TreePath<'_, '_>,
        Edge { key, is_first }: Edge<'_>,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Around { bounds, beside } = Self::around(reader, txn, way.steps)?;
        if way.leaf.lies_within(bounds) != Some(true) {
            return Err(damaged());
        }
        let Some(mut number) = (if is_first { beside.0 } else { beside.1 }) else { return Ok(()) };
        for _ in 0..LEVELS {
            let page = reader.tree_page(txn, number)?;
            let at = if is_first { page.len() - 1 } else { 0 };
            let node = page.node(at).ok_or_else(damaged)?;
            if page.is_branch() {
                // A branch that damage has made shorter hides entries that would stand between.
                if is_first && !is_last(page, at) {
                    return Err(damaged());
                }
                number = node.child();
                continue;
            }
            // The entry beside the leaf must be sound as well: where a leaf was split at an entry whose key is damaged, a
            // branch has that key, too.
            let value = reader.value(txn, &node).ok_or_else(damaged)?;
            verify(node.key, value)?;
            let right = if is_first { node.key < key } else { node.key > key };
            return if right { Ok(()) } else { Err(damaged()) };
        }
        Err(damaged())
    }
}
