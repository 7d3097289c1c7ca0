//! Leaves that LMDB is about to come to.
//!
//! LMDB ends the process where an entry is said to have several values, as none of a store's has: that is one bit of the
//! entry. A search for a key comes to one leaf, and a cursor goes on from there to the entries beside it. What a page says of
//! itself is looked at here before LMDB goes by it.

use table_engine::error::Result;

use super::super::Environment;
use super::{Around, LEVELS, Page, Tree, TreeSteps};
use crate::lmdb::pages::damaged;

/// The leaves before a cursor of LMDB's.
pub(crate) struct LeavesAhead<'e> {
    environment: &'e Environment,
    tree: Tree,
    /// Where the leaf lies whose surroundings were looked at last.
    around: Option<usize>,
}

impl<'e> LeavesAhead<'e> {
    pub(crate) fn new(environment: &'e Environment, tree: Tree) -> Self {
        Self { environment, tree, around: None }
    }

    /// Makes sure, before the cursor is sent to a key, that LMDB can go there.
    pub(crate) fn of_key(&self, txn: &heed::RoTxn<'_>, key: &[u8]) -> Result<()> {
        self.tree.check_around(self.environment, txn, key)
    }

    /// Makes sure, before the cursor goes on from an entry in either direction, that LMDB can go there.
    pub(crate) fn of_entry(&mut self, txn: &heed::RoTxn<'_>, key: &[u8]) -> Result<()> {
        let leaf = self.environment.dbs.pages.place(key);
        if self.around == Some(leaf) {
            return Ok(());
        }
        self.around = Some(leaf);
        self.of_key(txn, key)
    }
}

impl Tree {
    /// Makes sure that LMDB can go to the leaf on which a key stands, or would.
    pub(crate) fn check_leaf(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        key: &[u8],
    ) -> Result<()> {
        if self.is_empty()? {
            return Ok(());
        }
        let mut steps = TreeSteps::default();
        check(self.descend(environment, txn, key, &mut steps, |_, _, _| Ok(()))?.leaf)
    }

    /// Makes sure that LMDB can go to the leaf of a key, and to the leaves beside it.
    fn check_around(&self, environment: &Environment, txn: &heed::RoTxn<'_>, key: &[u8]) -> Result<()> {
        if self.is_empty()? {
            return Ok(());
        }
        let mut steps = TreeSteps::default();
        let way = self.descend(environment, txn, key, &mut steps, |_, _, _| Ok(()))?;
        check(way.leaf)?;
        let Around { beside: (before, after), .. } = self.around(environment, txn, way.steps)?;
        for (subtree, is_before) in [(before, true), (after, false)] {
            if let Some(subtree) = subtree {
                check(self.leaf_at_edge(environment, txn, subtree, is_before)?)?;
            }
        }
        Ok(())
    }

    /// Returns the last leaf of a subtree, or the first.
    fn leaf_at_edge<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        mut number: u64,
        is_last: bool,
    ) -> Result<Page<'t>> {
        for _ in 0..LEVELS {
            let page = self.page(environment, txn, number)?;
            if !page.is_branch() {
                return Ok(page);
            }
            let at = if is_last { page.len() - 1 } else { 0 };
            number = page.node(at).ok_or_else(damaged)?.child();
        }
        Err(damaged())
    }
}

fn check(leaf: Page<'_>) -> Result<()> {
    if leaf.is_plain() { Ok(()) } else { Err(damaged()) }
}
