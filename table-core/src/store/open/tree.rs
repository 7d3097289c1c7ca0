//! The way to a row, as LMDB finds it, with every step checked.
//!
//! A row's checksum proves that it is there, and nothing proves that it is not but the way to where it would stand: pages
//! that are in use and whole, a leaf whose keys lie within the bounds that its branches give, and sound rows on both
//! sides. It is the way of the state that a transaction began with, whatever a write transaction has changed since.

use std::collections::BTreeSet;

use super::pages::{Pages, damaged, is_whole};
use super::walk::{BIG_DATA, BRANCH, DEEPEST, KINDS, LEAF};
use super::{Environment, NAMES};
use crate::error::Result;
use crate::store::lmdb;
use crate::store::meta::Fields;

/// Bytes of a page before its entries' offsets, and of an entry before its key.
const HEADER: usize = 16;
const NODE: usize = 8;
/// As many levels as LMDB can follow.
pub(super) const LEVELS: usize = 32;
/// The root of a database that holds nothing.
pub(super) const NO_PAGE: u64 = u64::MAX;

/// The tree of the rows in one state, as LMDB's own record describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tree {
    pages: Pages,
    /// The commit that made the state.
    state: usize,
    root: u64,
    depth: u32,
    entries: u64,
}

/// A branch or a leaf.
#[derive(Clone, Copy)]
pub(super) struct Page<'p> {
    pub(super) bytes: &'p [u8],
    kind: u16,
    /// Two bytes each.
    offsets: &'p [[u8; 2]],
}

/// An entry of a page.
pub(super) struct Node<'p> {
    pub(super) size: u32,
    pub(super) flags: u16,
    pub(super) key: &'p [u8],
    /// What follows the key, to the end of the page.
    pub(super) rest: &'p [u8],
}

impl Node<'_> {
    /// In a branch, the number of the page that the entry leads to.
    pub(super) fn child(&self) -> u64 {
        u64::from(self.size) | u64::from(self.flags) << 32
    }
}

impl<'p> Page<'p> {
    #[inline]
    pub(super) fn parse(bytes: &'p [u8], number: u64) -> Option<Self> {
        let mut fields = Fields(bytes);
        let own = fields.u64()?;
        fields.u16()?;
        let (flags, lower) = (fields.u16()?, usize::from(fields.u16()?));
        let kind = flags & KINDS;
        let (offsets, odd) = bytes.get(HEADER..lower)?.as_chunks();
        let right =
            own == number && (kind == BRANCH || kind == LEAF) && odd.is_empty() && !offsets.is_empty();
        right.then_some(Self { bytes, kind, offsets })
    }

    pub(super) fn is_branch(&self) -> bool {
        self.kind == BRANCH
    }

    pub(super) fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Bytes that are free.
    fn room(&self) -> usize {
        let end =
            |at: usize| self.bytes.get(at..).and_then(|bytes| Fields(bytes).u16()).map_or(0, usize::from);
        end(14).saturating_sub(end(12))
    }

    #[inline]
    pub(super) fn node(&self, at: usize) -> Option<Node<'p>> {
        let start = usize::from(u16::from_le_bytes(*self.offsets.get(at)?));
        let (head, rest) = self.bytes.get(start..)?.split_first_chunk::<NODE>()?;
        let [a, b, c, d, e, f, g, h] = *head;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([g, h])))?;
        Some(Node { size: u32::from_le_bytes([a, b, c, d]), flags: u16::from_le_bytes([e, f]), key, rest })
    }

    /// Of a branch: the entry that leads to a key.
    #[inline]
    fn step(&self, key: &[u8]) -> Option<(usize, Node<'p>)> {
        // The first key of a branch stands for none.
        let (at, found) = self.search(1, key)?;
        let at = if found { at } else { at.checked_sub(1)? };
        Some((at, self.node(at)?))
    }

    /// The first entry from `from` on whose key is not below this one, and whether it has this key.
    ///
    /// It looks at the very entries that LMDB looks at: where a damaged key is among them, another search would come to
    /// another end.
    #[inline]
    fn search(&self, from: usize, key: &[u8]) -> Option<(usize, bool)> {
        let (mut low, mut beyond) = (from, self.len());
        while low < beyond {
            let middle = (low + beyond - 1) / 2;
            match self.node(middle)?.key.cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some((middle, true)),
                std::cmp::Ordering::Greater => beyond = middle,
            }
        }
        Some((low, false))
    }
}

/// What a write transaction has found out of the tree that it began with, which does not change while it lasts.
#[derive(Debug, Default)]
pub(crate) struct Ordered {
    /// Branches whose keys rise.
    branches: BTreeSet<u64>,
    leaves: Vec<Leaf>,
    /// The places where rows were missed last, the latest first: rows that are written one after the other often stand
    /// there, too.
    gaps: [Option<Gap>; 4],
}

/// So many leaves are remembered one by one.
const FEW_LEAVES: usize = 32;

/// A leaf that is whole.
#[derive(Debug)]
struct Leaf {
    number: u64,
    /// Bytes that are to be put there.
    taken: usize,
    /// Bytes that were free.
    room: usize,
    /// Which of the first entries are sound, a bit for each.
    sound: u64,
    /// Whether the keys of the branches on the way to it rise.
    in_order: bool,
}

/// Between two sound rows that nothing stands between. Without one of them: before the first, or after the last.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The leaf that rows of the gap are put on.
    leaf: u64,
    before: Option<Spot>,
    after: Option<Spot>,
}

/// The place of an entry: its leaf, and which of its entries it is.
type Spot = (u64, usize);

impl Leaf {
    fn of(way: &Way<'_>) -> Result<Self> {
        if !is_whole(way.leaf.bytes) {
            return Err(damaged());
        }
        Ok(Self { number: way.number, taken: 0, room: way.leaf.room(), sound: 0, in_order: false })
    }

    fn is_sound(&self, entry: usize) -> bool {
        entry < 64 && self.sound >> entry & 1 != 0
    }

    fn learn_sound(&mut self, entry: usize) {
        if entry < 64 {
            self.sound |= 1 << entry;
        }
    }

    /// Takes room for a row of this length; whether the leaf may have to be split for it, and nothing is known of the
    /// order of its branches.
    fn may_split(&mut self, length: usize) -> bool {
        // The entry's header and offset, and what rounds it up.
        self.taken = self.taken.saturating_add(length + NODE + 4);
        self.taken > self.room && !self.in_order
    }
}

impl Ordered {
    /// The place of a way's leaf among those remembered; there is always one for the last.
    fn place(&mut self, way: &Way<'_>) -> Result<usize> {
        if let Some(place) = self.leaves.iter().position(|known| known.number == way.number) {
            return Ok(place);
        }
        let mut leaf = Leaf::of(way)?;
        if self.leaves.len() > FEW_LEAVES {
            // Nobody remembers what else this leaf is to get.
            self.leaves.pop();
            leaf.taken = leaf.room;
        }
        self.leaves.push(leaf);
        Ok(self.leaves.len() - 1)
    }

    fn learn_gap(&mut self, gap: Gap) {
        self.gaps.rotate_right(1);
        if let Some(first) = self.gaps.first_mut() {
            *first = Some(gap);
        }
    }
}

/// The leaf on which a key stands, or would.
struct Way<'t> {
    leaf: Page<'t>,
    number: u64,
    /// The pages on the way, the leaf the last of them.
    passed: [u64; LEVELS],
}

/// What the branches on the way to a key say of its leaf.
struct Around<'t> {
    /// The leaf's keys are not below the one, and below the other.
    bounds: (Option<&'t [u8]>, Option<&'t [u8]>),
    /// The subtrees before and after it.
    beside: (Option<u64>, Option<u64>),
}

impl Tree {
    /// The tree of the rows in the state of this number, which the transaction reads or began with. `None` where the
    /// layout of pages is not known.
    pub(crate) fn find(
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        state: usize,
    ) -> Result<Option<Self>> {
        let Some(pages) = environment.dbs.pages else { return Ok(None) };
        if let Some(tree) = environment.known_tree().filter(|tree| tree.state == state) {
            return Ok(Some(tree));
        }
        let record = environment.dbs.main.get(txn, DATA_DATABASE.as_bytes()).map_err(lmdb::error)?;
        let (depth, entries, root) = record.and_then(described).ok_or_else(damaged)?;
        let tree = Self { pages, state, root, depth, entries };
        environment.learn_tree(tree);
        Ok(Some(tree))
    }

    /// Whether a key has no row. `verify` is given the keys and values beside it.
    pub(crate) fn lacks(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        key: &[u8],
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        if self.is_empty()? {
            return Ok(true);
        }
        let way = self.way(environment, txn, key)?;
        let mut leaf = Leaf::of(&way)?;
        Ok(self.gap(environment, txn, (key, &way), &mut leaf, verify)?.is_some())
    }

    /// The same for a key that is to get a row, with how many bytes there are of both.
    pub(crate) fn lacks_for(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, length): (&[u8], usize),
        ordered: &mut Ordered,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        if self.is_empty()? || self.is_in_gap(environment, txn, (key, length), ordered) {
            return Ok(true);
        }
        let way = self.way(environment, txn, key)?;
        let place = ordered.place(&way)?;
        let leaf = ordered.leaves.get_mut(place).ok_or_else(damaged)?;
        if length > 0 && leaf.may_split(length) {
            self.check_order(environment, txn, &way, &mut ordered.branches)?;
            leaf.in_order = true;
        }
        let gap = self.gap(environment, txn, (key, &way), leaf, verify)?;
        if let Some(gap) = gap {
            ordered.learn_gap(gap);
        }
        Ok(gap.is_some())
    }

    fn is_empty(&self) -> Result<bool> {
        match (self.root, self.entries, self.depth) {
            (NO_PAGE, 0, 0) => Ok(true),
            (NO_PAGE, ..) => Err(damaged()),
            _ => Ok(false),
        }
    }

    /// Whether a known gap is where a key would stand, and its leaf has room for so many bytes.
    fn is_in_gap(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, length): (&[u8], usize),
        ordered: &mut Ordered,
    ) -> bool {
        // The rows of one entity stand apart.
        if ordered.leaves.len() < ordered.gaps.len() {
            return false;
        }
        for place in 0..ordered.gaps.len() {
            let Some(Some(gap)) = ordered.gaps.get(place).copied() else { break };
            let key_at = |(leaf, at)| {
                let page = self.page(environment, txn, leaf)?;
                page.node(at).map(|node| node.key).ok_or_else(damaged)
            };
            let is_in = gap.before.is_none_or(|spot| key_at(spot).is_ok_and(|before| before < key))
                && gap.after.is_none_or(|spot| key_at(spot).is_ok_and(|after| key < after));
            if is_in {
                if let Some(recent) = ordered.gaps.get_mut(..=place) {
                    recent.rotate_right(1);
                }
                let leaf = ordered.leaves.iter_mut().find(|known| known.number == gap.leaf);
                return leaf.is_some_and(|leaf| length == 0 || !leaf.may_split(length));
            }
        }
        false
    }

    /// The gap in which a key would stand, at the end of a way; `None` if it stands there.
    fn gap(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, way): (&[u8], &Way<'_>),
        leaf: &mut Leaf,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<Option<Gap>> {
        let (at, found) = way.leaf.search(0, key).ok_or_else(damaged)?;
        if found {
            return Ok(None);
        }
        for beside in [at.checked_sub(1), Some(at).filter(|at| *at < way.leaf.len())].into_iter().flatten() {
            let node = way.leaf.node(beside).ok_or_else(damaged)?;
            if !leaf.is_sound(beside) {
                let value = environment.value(self.pages, txn, &node).ok_or_else(damaged)?;
                verify(node.key, value)?;
                leaf.learn_sound(beside);
            }
            // A leaf whose order is damaged just here leads astray.
            if (node.key < key) != (beside < at) {
                return Err(damaged());
            }
        }
        let is_edge = at == 0 || at == way.leaf.len();
        let beyond =
            if is_edge { self.check_edge(environment, txn, way, key, at == 0, verify)? } else { None };
        let before = at.checked_sub(1).map_or(beyond, |before| Some((way.number, before)));
        let after = if at < way.leaf.len() { Some((way.number, at)) } else { beyond };
        Ok(Some(Gap { leaf: way.number, before, after }))
    }

    /// Makes sure that the keys of the branches on a way rise. Where they don't, LMDB comes to another leaf once a branch
    /// has more entries or fewer, since it then looks at others of them.
    #[cold]
    fn check_order(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &Way<'_>,
        known: &mut BTreeSet<u64>,
    ) -> Result<()> {
        for number in &way.passed {
            if *number == way.number {
                break;
            }
            if !known.insert(*number) {
                continue;
            }
            let branch = self.page(environment, txn, *number)?;
            let mut last: Option<&[u8]> = None;
            // The first key of a branch stands for none.
            for at in 1..branch.len() {
                let key = branch.node(at).ok_or_else(damaged)?.key;
                if last.is_some_and(|last| last >= key) {
                    return Err(damaged());
                }
                last = Some(key);
            }
        }
        Ok(())
    }

    /// The way to the leaf of a key.
    #[inline]
    fn way<'t>(&self, environment: &Environment, txn: &'t heed::RoTxn<'_>, key: &[u8]) -> Result<Way<'t>> {
        let (mut number, mut passed) = (self.root, [0; LEVELS]);
        for place in 0..passed.len() {
            let page = self.page(environment, txn, number)?;
            if let Some(passed) = passed.get_mut(place) {
                *passed = number;
            }
            if !page.is_branch() {
                environment.check_pages_in_use(txn, self.state, passed.get(..=place).unwrap_or_default())?;
                let right = u32::try_from(place + 1) == Ok(self.depth);
                return if right { Ok(Way { leaf: page, number, passed }) } else { Err(damaged()) };
            }
            let (_, node) = page.step(key).ok_or_else(damaged)?;
            number = node.child();
        }
        Err(damaged())
    }

    /// What is around the leaf of a key, to which there is a way.
    fn around<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
    ) -> Result<Around<'t>> {
        let (mut number, mut bounds, mut beside) = (self.root, (None, None), (None, None));
        for _ in 0..LEVELS {
            let page = self.page(environment, txn, number)?;
            if !page.is_branch() {
                return Ok(Around { bounds, beside });
            }
            let (at, node) = page.step(key).ok_or_else(damaged)?;
            if at > 0 {
                let before = page.node(at - 1).ok_or_else(damaged)?;
                (bounds.0, beside.0) = (Some(node.key), Some(before.child()));
            }
            if at + 1 < page.len() {
                let after = page.node(at + 1).ok_or_else(damaged)?;
                (bounds.1, beside.1) = (Some(after.key), Some(after.child()));
            }
            number = node.child();
        }
        Err(damaged())
    }

    fn page<'t>(&self, environment: &Environment, txn: &'t heed::RoTxn<'_>, number: u64) -> Result<Page<'t>> {
        let bytes = environment.page(self.pages, txn, number);
        bytes.and_then(|bytes| Page::parse(bytes, number)).ok_or_else(damaged)
    }

    /// At the leaf's first or last place: makes sure that the leaf is the one that belongs here, and that the next one
    /// leaves room. Where the next entry is, if there is one.
    #[cold]
    fn check_edge(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &Way<'_>,
        key: &[u8],
        is_first: bool,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<Option<Spot>> {
        let ends = || Some((way.leaf.node(0)?.key, way.leaf.node(way.leaf.len() - 1)?.key));
        let (first, last) = ends().ok_or_else(damaged)?;
        let Around { bounds: (low, high), beside } = self.around(environment, txn, key)?;
        if low.is_some_and(|low| first < low) || high.is_some_and(|high| last >= high) {
            return Err(damaged());
        }
        let Some(mut number) = (if is_first { beside.0 } else { beside.1 }) else { return Ok(None) };
        for _ in 0..LEVELS {
            let page = self.page(environment, txn, number)?;
            let at = if is_first { page.len() - 1 } else { 0 };
            let node = page.node(at).ok_or_else(damaged)?;
            if page.is_branch() {
                number = node.child();
                continue;
            }
            // It must be sound as well: where a leaf was split at a row whose key is damaged, a branch has that key, too.
            let value = environment.value(self.pages, txn, &node).ok_or_else(damaged)?;
            verify(node.key, value)?;
            let right = if is_first { node.key < key } else { node.key > key };
            return if right { Ok(Some((number, at))) } else { Err(damaged()) };
        }
        Err(damaged())
    }
}

/// The named database of the rows.
const DATA_DATABASE: &str = {
    let [data, ..] = NAMES;
    data
};

/// Depth, entries and root of a database, of LMDB's record of it. It has no flags, and a root if it has anything.
fn described(record: &[u8]) -> Option<(u32, u64, u64)> {
    let mut fields = Fields(record);
    fields.u32()?;
    let (flags, depth) = (fields.u16()?, fields.u16()?);
    fields.bytes(24)?;
    let (entries, root) = (fields.u64()?, fields.u64()?);
    (fields.0.is_empty() && flags == 0).then_some((depth.into(), entries, root))
}

/// The root of a database, of LMDB's record of it.
pub(super) fn database_root(record: &[u8]) -> Option<u64> {
    described(record).map(|(_, _, root)| root)
}

/// Whether LMDB's record of a database is as one of this store's can be.
pub(super) fn is_database(record: &[u8]) -> bool {
    described(record).is_some_and(|(depth, entries, root)| {
        (root == NO_PAGE) == (depth == 0) && (root == NO_PAGE) == (entries == 0) && depth <= DEEPEST
    })
}

impl Environment {
    /// The value of a leaf's entry, on the leaf or on pages of its own.
    pub(super) fn value<'t>(
        &self,
        pages: Pages,
        txn: &'t heed::RoTxn<'_>,
        node: &Node<'t>,
    ) -> Option<&'t [u8]> {
        let size = usize::try_from(node.size).ok()?;
        if node.flags & BIG_DATA == 0 {
            return node.rest.get(..size);
        }
        let first = Fields(node.rest).u64()?;
        self.span(pages, txn, first, size.checked_add(HEADER)?)?.get(HEADER..)
    }
}
