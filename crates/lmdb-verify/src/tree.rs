//! The way to an entry, as LMDB finds it, with every step checked.
//!
//! An entry's checksum proves that the entry is there. That a key has none, only the way to its place can prove: pages that
//! are in use and whole, a leaf whose keys lie within the bounds that its branches give, and sound entries on both sides. The
//! way is that of the state with which a transaction began, whatever a write transaction has changed since.

mod absence;
mod ahead;
mod leaves;
mod meet;
mod paths;
mod records;
mod snapshot_pages;
mod tree_path;

use heed::RoTxn;

pub use self::ahead::LeavesAhead;
#[cfg(any(test, feature = "fuzzing"))]
pub use self::leaves::image::{Image, Row};
pub use self::leaves::{Entry, LeafWalk, Source, WalkedLeaf};
pub use self::meet::{Verify, Written};
pub use self::paths::LeafPath;
pub use self::snapshot_pages::{SnapshotPages, VerifyEntry};
use self::tree_path::{TreePath, TreeSteps};
use crate::error::{Result, damaged};
use crate::fields::Fields;
use crate::pages::{BIG_DATA, BRANCH, HEADER, LEAF, is_whole, is_whole_branch};
use crate::raw_pages::DEEPEST;
use crate::reader::PageReader;

/// Bytes of an entry before its key.
const NODE: usize = 8;
/// Bytes of the length of an entry's key, which stands before the key.
const KEY_SIZE: usize = 2;
/// The most levels that LMDB can follow.
pub(crate) const LEVELS: usize = 32;
/// The root of a database that holds nothing.
pub(crate) const NO_PAGE: u64 = u64::MAX;

/// The tree of a database in one state, as LMDB's own record describes it.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    /// The commit that made the state.
    state: usize,
    root: u64,
    depth: u32,
    entries: u64,
}

/// A branch or a leaf: a page of a tree.
///
/// A branch has two entries at least, each a key and the number of the page that leads to the keys from there up to the
/// next entry's; its first key stands for none. A leaf's entries are keys with their values, or with the number of the
/// first of the pages that a large value has of its own. The entries fill the page from its end without a gap, in the
/// order in which they were put, and their offsets, behind the page's header, are in the order of the keys.
#[derive(Clone, Copy, Debug)]
pub struct Page<'p> {
    pub(crate) bytes: &'p [u8],
    kind: u16,
    /// The places of its entries, in two bytes each.
    offsets: &'p [[u8; 2]],
}

/// The least key that a page may have, and the first that it may not, where branches tell.
#[derive(Clone, Copy, Default)]
pub(crate) struct KeyBounds<'k> {
    pub(crate) low: Option<&'k [u8]>,
    pub(crate) high: Option<&'k [u8]>,
}

/// A tree as LMDB's record of it has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeRecord {
    pub(crate) depth: u32,
    pub(crate) entries: u64,
    pub(crate) root: u64,
}

/// An entry of a page.
pub(crate) struct Node<'p> {
    pub(crate) size: u32,
    pub(crate) flags: u16,
    pub(crate) key: &'p [u8],
    /// What follows the key, to the end of the page.
    pub(crate) rest: &'p [u8],
}

impl Node<'_> {
    /// Returns whether it is an entry of a leaf with one value, as all are but those of databases.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.flags & !BIG_DATA == 0
    }

    /// Returns the number of the page that an entry of a branch leads to.
    #[inline]
    pub(crate) fn child(&self) -> u64 {
        u64::from(self.size) | u64::from(self.flags) << 32
    }
}

impl<'p> Page<'p> {
    /// Returns the page of a number. `None` if it is another page, or neither a branch nor a leaf, or has no entry.
    #[inline]
    pub fn parse(bytes: &'p [u8], number: u64) -> Option<Self> {
        let mut fields = Fields(bytes);
        let own = fields.u64()?;
        fields.u16()?;
        // What else LMDB notes of a page there is in memory alone. Of a stored one that is said to be changed it takes the map
        // for memory that it may write to, and the process ends.
        let (kind, lower) = (fields.u16()?, usize::from(fields.u16()?));
        let (offsets, odd) = bytes.get(HEADER..lower)?.as_chunks();
        let right =
            own == number && (kind == BRANCH || kind == LEAF) && odd.is_empty() && !offsets.is_empty();
        right.then_some(Self { bytes, kind, offsets })
    }

    /// Returns whether it is a branch.
    #[inline]
    pub fn is_branch(&self) -> bool {
        self.kind == BRANCH
    }

    /// Returns whether its entries fill it, without a gap.
    #[inline]
    pub fn is_whole(&self) -> bool {
        if self.is_branch() { is_whole_branch(self.bytes) } else { is_whole(self.bytes) }
    }

    /// Returns whether each of its entries lies on it, and on a leaf is that of a key with one value.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        (0..self.len()).all(|at| self.node(at).is_some_and(|node| self.is_branch() || node.is_plain()))
    }

    /// Returns how many entries it has.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "none is empty")]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns whether a quarter of it or more is taken.
    fn has_a_quarter(&self) -> bool {
        let upper = self.bytes.get(14..).and_then(|bytes| Fields(bytes).u16()).map_or(0, usize::from);
        let room = upper.saturating_sub(HEADER + 2 * self.len());
        let usable = self.bytes.len().saturating_sub(HEADER);
        usable.saturating_sub(room) * 4 >= usable
    }

    #[inline]
    pub(crate) fn node(&self, at: usize) -> Option<Node<'p>> {
        let start = usize::from(u16::from_le_bytes(*self.offsets.get(at)?));
        let (head, rest) = self.bytes.get(start..)?.split_first_chunk::<NODE>()?;
        let [a, b, c, d, e, f, g, h] = *head;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([g, h])))?;
        Some(Node { size: u32::from_le_bytes([a, b, c, d]), flags: u16::from_le_bytes([e, f]), key, rest })
    }

    /// Returns the key of an entry.
    #[inline]
    pub fn key(&self, at: usize) -> Option<&'p [u8]> {
        let start = usize::from(u16::from_le_bytes(*self.offsets.get(at)?)) + NODE;
        let size = self.bytes.get(start - KEY_SIZE..start)?.try_into().ok()?;
        self.bytes.get(start..start + usize::from(u16::from_le_bytes(size)))
    }

    /// Returns the key of the last entry.
    #[inline]
    pub fn last_key(&self) -> Option<&'p [u8]> {
        self.key(self.len().checked_sub(1)?)
    }

    /// Returns the entry of a branch that leads to a key.
    #[inline]
    fn step(&self, key: &[u8]) -> Option<(usize, Node<'p>)> {
        let (at, _) = self.taken(key)?;
        Some((at, self.node(at)?))
    }

    /// Returns the place of the entry of a branch that leads to a key, and whether it has this key.
    #[inline]
    fn taken(&self, key: &[u8]) -> Option<(usize, bool)> {
        // The first key of a branch stands for none.
        let (at, found) = self.search(1, key)?;
        Some((if found { at } else { at.checked_sub(1)? }, found))
    }

    /// Returns whether the key of an entry of a branch is above that of the one before it.
    pub(crate) fn rises_to(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else { return true };
        if before == 0 {
            // The first key of a branch stands for none; but the two are not one entry.
            return self.offsets.first() != self.offsets.get(at);
        }
        matches!((self.key(before), self.key(at)), (Some(before), Some(key)) if before < key)
    }

    /// Returns whether the keys of a leaf rise.
    fn is_in_order(&self) -> bool {
        let Some(mut before) = self.key(0) else { return false };
        (1..self.len()).all(|at| {
            let Some(key) = self.key(at) else { return false };
            std::mem::replace(&mut before, key) < key
        })
    }

    /// Returns whether the keys of a branch rise, and each of its entries lies on it.
    fn rises(&self) -> bool {
        let mut before = None;
        (0..self.len()).all(|at| {
            let Some(node) = self.node(at) else { return false };
            match (at, before.replace(node.key)) {
                // The first key stands for none.
                (2.., Some(before)) => before < node.key,
                _ => self.rises_to(at),
            }
        })
    }

    /// Returns whether the first key of a leaf and its last lie within those that branches give; `None` if it has none.
    fn lies_within(&self, KeyBounds { low, high }: KeyBounds<'_>) -> Option<bool> {
        let (first, last) = (self.key(0)?, self.key(self.len().checked_sub(1)?)?);
        Some(low.is_none_or(|low| low <= first) && high.is_none_or(|high| last < high))
    }

    /// Returns the first entry from `from` on whose key is not below this one, and whether it has this key.
    ///
    /// It looks at the very entries that LMDB looks at. If a damaged key is among them, another search would end
    /// elsewhere.
    #[inline]
    fn search(&self, from: usize, key: &[u8]) -> Option<(usize, bool)> {
        let (mut low, mut beyond) = (from, self.len());
        while low < beyond {
            let middle = (low + beyond - 1) / 2;
            let order = self.key(middle)?.cmp(key);
            // Compiles to fewer instructions than a `match` does.
            if order.is_lt() {
                low = middle + 1;
            } else if order.is_gt() {
                beyond = middle;
            } else {
                return Some((middle, true));
            }
        }
        Some((low, false))
    }
}

/// The surroundings of a leaf, as the branches on the way to a key give them.
struct Around<'t> {
    bounds: KeyBounds<'t>,
    /// The subtrees before and after it.
    beside: (Option<u64>, Option<u64>),
}

impl Tree {
    /// Returns the tree of the [largest](crate::Names::largest) database in the state of this number, which the
    /// transaction reads or began with.
    #[inline]
    pub fn find(reader: &PageReader, txn: &RoTxn<'_>, state: usize) -> Result<Self> {
        if let Some(tree) = reader.known_tree().filter(|tree| tree.state == state) {
            return Ok(tree);
        }
        let tree = Self::of_database(reader, reader.names().largest, txn, state)?;
        reader.learn_tree(tree);
        Ok(tree)
    }

    /// Returns the tree of the database of a name, in the state that the transaction reads or began with.
    pub fn of_database(reader: &PageReader, name: &str, txn: &RoTxn<'_>, state: usize) -> Result<Self> {
        let record = reader.record(txn, name)?;
        let TreeRecord { depth, entries, root } = record.and_then(described).ok_or_else(damaged)?;
        Ok(Self { state, root, depth, entries })
    }

    /// Returns the number of the page that is its root.
    pub fn root(&self) -> u64 {
        self.root
    }

    /// Returns how many levels it has: branches, and the leaves below them.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// Returns the value of a key, as far as a search finds one. That there is none is not proved, and neither is the
    /// value verified, nor that it lies on a page that is in use.
    #[inline]
    pub fn get<'t>(&self, reader: &PageReader, txn: &'t RoTxn<'_>, key: &[u8]) -> Result<Option<&'t [u8]>> {
        if self.is_empty()? {
            return Ok(None);
        }
        let mut page = reader.tree_page(txn, self.root)?;
        for _ in 1..self.depth {
            if !page.is_branch() {
                return Err(damaged());
            }
            let (_, node) = page.step(key).ok_or_else(damaged)?;
            page = reader.tree_page(txn, node.child())?;
        }
        if page.is_branch() {
            return Err(damaged());
        }
        let (at, found) = page.search(0, key).ok_or_else(damaged)?;
        if !found {
            return Ok(None);
        }
        let value = page.node(at).and_then(|node| reader.value(txn, &node));
        value.map(Some).ok_or_else(damaged)
    }

    /// Returns the way to the leaf of a key; `at_branch` is given each branch, its number, and the place of the entry
    /// that is taken, with whether that has the very key.
    #[inline]
    fn descend<'t, 's>(
        &self,
        reader: &PageReader,
        txn: &'t RoTxn<'_>,
        key: &[u8],
        steps: &'s mut TreeSteps,
        mut at_branch: impl FnMut(Page<'t>, u64, (usize, bool)) -> Result<()>,
    ) -> Result<TreePath<'t, 's>> {
        let mut number = self.root;
        steps.begin();
        loop {
            let page = reader.tree_page(txn, number)?;
            if !page.is_branch() {
                steps.end(number).ok_or_else(damaged)?;
                reader.check_pages_in_use(txn, self.state, steps.pages())?;
                let right = u32::try_from(steps.height() + 1) == Ok(self.depth);
                return if right { Ok(TreePath { leaf: page, number, steps }) } else { Err(damaged()) };
            }
            let (at, found) = page.taken(key).ok_or_else(damaged)?;
            let node = page.node(at).ok_or_else(damaged)?;
            at_branch(page, number, (at, found))?;
            steps.push(number, at).ok_or_else(damaged)?;
            number = node.child();
        }
    }

    /// Returns the surroundings of the leaf of a path.
    fn around<'t>(reader: &PageReader, txn: &'t RoTxn<'_>, steps: &TreeSteps) -> Result<Around<'t>> {
        let (mut bounds, mut beside) = (KeyBounds::default(), (None, None));
        for (number, at) in steps.branches() {
            let branch = reader.tree_page(txn, number)?;
            let entry = |at| branch.node(at).ok_or_else(damaged);
            // An entry that damage has made another's leads to a leaf that is sound: here, and beside it.
            let mut beside_it = at.saturating_sub(1)..(at + 3).min(branch.len());
            if !beside_it.all(|at| branch.rises_to(at)) {
                return Err(damaged());
            }
            if at > 0 {
                bounds.low = bounds.low.max(Some(entry(at)?.key));
                beside.0 = Some(entry(at - 1)?.child());
            }
            if at + 1 < branch.len() {
                let after = entry(at + 1)?;
                bounds.high = Some(bounds.high.map_or(after.key, |known| known.min(after.key)));
                beside.1 = Some(after.child());
            } else if !is_whole_branch(branch.bytes) {
                // A branch that damage has made shorter hides the entries that would stand here.
                return Err(damaged());
            }
        }
        Ok(Around { bounds, beside })
    }

    /// Makes sure that no branch on the way to a key is shorter than it was where it leads there by its last entry.
    pub fn check_way(&self, reader: &PageReader, txn: &RoTxn<'_>, key: &[u8]) -> Result<()> {
        if self.is_empty()? {
            return Ok(());
        }
        let whole = |branch: Page<'_>, _, (at, _)| {
            let right = at + 1 < branch.len() || paths::is_last(branch, at);
            if right { Ok(()) } else { Err(damaged()) }
        };
        self.descend(reader, txn, key, &mut TreeSteps::default(), whole).map(drop)
    }
}

/// Reads LMDB's record of a database, which has no flags.
pub(crate) fn described(record: &[u8]) -> Option<TreeRecord> {
    let (flags, described) = described_with_flags(record)?;
    (flags == 0).then_some(described)
}

/// Reads LMDB's record of any tree, with its flags: the list of free pages has some.
pub(crate) fn described_with_flags(record: &[u8]) -> Option<(u16, TreeRecord)> {
    let mut fields = Fields(record);
    fields.u32()?;
    let (flags, depth) = (fields.u16()?, fields.u16()?);
    fields.bytes(24)?;
    let (entries, root) = (fields.u64()?, fields.u64()?);
    fields.0.is_empty().then_some((flags, TreeRecord { depth: depth.into(), entries, root }))
}

/// Returns whether LMDB's record of a database, in the unnamed one, is as that of a database without flags can be.
pub fn is_database(record: &[u8]) -> bool {
    described(record).is_some_and(|TreeRecord { depth, entries, root }| {
        (root == NO_PAGE) == (depth == 0) && (root == NO_PAGE) == (entries == 0) && depth <= DEEPEST
    })
}
