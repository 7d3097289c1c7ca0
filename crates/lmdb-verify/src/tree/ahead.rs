//! Leaves that LMDB is about to come to.
//!
//! LMDB ends the process where an entry is said to have several values, as none of a plain database's has: that is one bit of the
//! entry. A search for a key comes to one leaf, and a cursor goes on from there to the entries beside it. What a page says of
//! itself is looked at here before LMDB goes by it.

use heed::RoTxn;

use super::{Around, LEVELS, Page, Tree, TreeSteps};
use crate::error::{Result, damaged};
use crate::reader::PageReader;

/// The leaves before a cursor of LMDB's.
#[derive(Debug)]
pub struct LeavesAhead<'e> {
    reader: &'e PageReader,
    tree: Tree,
    /// Where the leaf lies whose surroundings were looked at last.
    around: Option<usize>,
}

impl<'e> LeavesAhead<'e> {
    /// Returns what is before a cursor that has not been sent anywhere yet.
    pub fn new(reader: &'e PageReader, tree: Tree) -> Self {
        Self { reader, tree, around: None }
    }

    /// Makes sure, before the cursor is sent to a key, that LMDB can go there.
    pub fn of_key(&self, txn: &RoTxn<'_>, key: &[u8]) -> Result<()> {
        self.tree.check_around(self.reader, txn, key)
    }

    /// Makes sure, before the cursor goes on from an entry in either direction, that LMDB can go there.
    pub fn of_entry(&mut self, txn: &RoTxn<'_>, key: &[u8]) -> Result<()> {
        let leaf = self.reader.pages().place(key);
        if self.around == Some(leaf) {
            return Ok(());
        }
        self.around = Some(leaf);
        self.of_key(txn, key)
    }
}

impl Tree {
    /// Makes sure that LMDB can go to the leaf on which a key stands, or would.
    pub fn check_leaf(&self, reader: &PageReader, txn: &RoTxn<'_>, key: &[u8]) -> Result<()> {
        if self.is_empty()? {
            return Ok(());
        }
        let mut steps = TreeSteps::default();
        check(self.descend(reader, txn, key, &mut steps, |_, _, _| Ok(()))?.leaf)
    }

    /// Makes sure that LMDB can go to the leaf of a key, and to the leaves beside it.
    fn check_around(&self, reader: &PageReader, txn: &RoTxn<'_>, key: &[u8]) -> Result<()> {
        if self.is_empty()? {
            return Ok(());
        }
        let mut steps = TreeSteps::default();
        let way = self.descend(reader, txn, key, &mut steps, |_, _, _| Ok(()))?;
        check(way.leaf)?;
        let Around { beside: (before, after), .. } = Self::around(reader, txn, way.steps)?;
        for (subtree, is_before) in [(before, true), (after, false)] {
            if let Some(subtree) = subtree {
                check(Self::leaf_at_edge(reader, txn, subtree, is_before)?)?;
            }
        }
        Ok(())
    }

    /// Returns the last leaf of a subtree, or the first.
    fn leaf_at_edge<'t>(
        reader: &PageReader,
        txn: &'t RoTxn<'_>,
        mut number: u64,
        is_last: bool,
    ) -> Result<Page<'t>> {
        for _ in 0..LEVELS {
            let page = reader.tree_page(txn, number)?;
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
