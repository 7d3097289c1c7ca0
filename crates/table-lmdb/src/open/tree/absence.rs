//! Proofs that a row is not there, by the leaf where it would stand.
//!
//! The leaf must be whole, the rows on both sides sound, and at the leaf's end the next leaf must go on where this one
//! ends.

use table_engine::error::Result;

use super::super::Environment;
use super::paths::is_last;
use super::{Around, LEVELS, Node, Tree, TreePath, TreeSteps};
use crate::lmdb::pages::{damaged, is_whole};

/// A key whose place on its leaf is the first or the last.
#[derive(Clone, Copy)]
struct Edge<'k> {
    key: &'k [u8],
    is_first: bool,
}

impl Tree {
    /// Returns whether a key has no row. `verify` is given the keys and values beside it.
    pub(crate) fn is_absent(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        key: &[u8],
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        if self.is_empty()? {
            return Ok(true);
        }
        let mut steps = TreeSteps::default();
        let way = self.descend(environment, txn, key, &mut steps, |_, _, _| Ok(()))?;
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
            let value = environment.value(self.pages, txn, &node).ok_or_else(damaged)?;
            verify(node.key, value)?;
        }
        match (before, after) {
            (Some(_), Some(_)) => self.check_within(environment, txn, &way, at)?,
            (None, _) => self.check_edge(environment, txn, &way, Edge { key, is_first: true }, verify)?,
            (_, None) => self.check_edge(environment, txn, &way, Edge { key, is_first: false }, verify)?,
        }
        Ok(true)
    }

    /// Makes sure that the entries on both sides of a place lie between the keys that lead to their leaf. A damaged number may
    /// lead to a leaf of another database, whose records are as sound, and whose keys are on both sides of this one.
    fn check_within(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &TreePath<'_, '_>,
        at: usize,
    ) -> Result<()> {
        let Some((number, taken)) = way.steps.lowest() else { return Ok(()) };
        let branch = self.page(environment, txn, number)?;
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
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &TreePath<'_, '_>,
        Edge { key, is_first }: Edge<'_>,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<()> {
        let Around { bounds, beside } = self.around(environment, txn, way.steps)?;
        if way.leaf.lies_within(bounds) != Some(true) {
            return Err(damaged());
        }
        let Some(mut number) = (if is_first { beside.0 } else { beside.1 }) else { return Ok(()) };
        for _ in 0..LEVELS {
            let page = self.page(environment, txn, number)?;
            let at = if is_first { page.len() - 1 } else { 0 };
            let node = page.node(at).ok_or_else(damaged)?;
            if page.is_branch() {
                // A branch that damage has made shorter hides rows that would stand between.
                if is_first && !is_last(page, at) {
                    return Err(damaged());
                }
                number = node.child();
                continue;
            }
            // The row beside the leaf must be sound as well: where a leaf was split at a row whose key is damaged, a
            // branch has that key, too.
            let value = environment.value(self.pages, txn, &node).ok_or_else(damaged)?;
            verify(node.key, value)?;
            let right = if is_first { node.key < key } else { node.key > key };
            return if right { Ok(()) } else { Err(damaged()) };
        }
        Err(damaged())
    }
}
