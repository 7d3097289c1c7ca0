//! Proofs that a row is not there, by the leaf where it would stand.
//!
//! The leaf must be whole, the rows on both sides sound, and at the leaf's end the next leaf must go on where this one
//! ends. A write transaction keeps what it has found out: the tree that it began with stays as it is.

use std::collections::BTreeSet;

use super::super::Environment;
use super::paths::is_last;
use super::{Around, LEVELS, NODE, Tree, Way};
use crate::error::Result;
use crate::store::lmdb::pages::{damaged, is_whole};

/// The findings of a write transaction about the tree that it began with, which does not change while it lasts.
#[derive(Debug, Default)]
pub(crate) struct Explored {
    /// Branches whose keys rise.
    branches: BTreeSet<u64>,
    leaves: Vec<Leaf>,
    /// The places where rows were missed last, the latest first: rows that are written one after the other often stand
    /// there, too.
    gaps: [Option<Gap>; 4],
}

/// The number of leaves that are remembered one by one.
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

impl Explored {
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

impl Tree {
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
        explored: &mut Explored,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<bool> {
        if self.is_empty()? || self.is_in_gap(environment, txn, (key, length), explored) {
            return Ok(true);
        }
        let way = self.way(environment, txn, key)?;
        let place = explored.place(&way)?;
        let leaf = explored.leaves.get_mut(place).ok_or_else(damaged)?;
        if length > 0 && leaf.may_split(length) {
            self.check_order(environment, txn, &way, &mut explored.branches)?;
            leaf.in_order = true;
        }
        let gap = self.gap(environment, txn, (key, &way), leaf, verify)?;
        if let Some(gap) = gap {
            explored.learn_gap(gap);
        }
        Ok(gap.is_some())
    }

    /// Whether a known gap is where a key would stand, and its leaf has room for so many bytes.
    fn is_in_gap(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, length): (&[u8], usize),
        explored: &mut Explored,
    ) -> bool {
        // The rows of one entity stand apart.
        if explored.leaves.len() < explored.gaps.len() {
            return false;
        }
        for place in 0..explored.gaps.len() {
            let Some(Some(gap)) = explored.gaps.get(place).copied() else { break };
            let key_at = |(leaf, at)| {
                let page = self.page(environment, txn, leaf)?;
                page.node(at).map(|node| node.key).ok_or_else(damaged)
            };
            let is_in = gap.before.is_none_or(|spot| key_at(spot).is_ok_and(|before| before < key))
                && gap.after.is_none_or(|spot| key_at(spot).is_ok_and(|after| key < after));
            if is_in {
                if let Some(recent) = explored.gaps.get_mut(..=place) {
                    recent.rotate_right(1);
                }
                let leaf = explored.leaves.iter_mut().find(|known| known.number == gap.leaf);
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
                // What a shorter one hides would stand between.
                if is_first && !is_last(page, at) {
                    return Err(damaged());
                }
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
