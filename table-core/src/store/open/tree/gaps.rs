//! Proofs that a row is not there, by the leaf where it would stand.
//!
//! The leaf must be whole, the rows on both sides sound, and at the leaf's end the next leaf must go on where this one
//! ends. A write transaction keeps what it has found out: the tree that it began with stays as it is.

use std::collections::BTreeSet;

use super::super::Environment;
use super::explored::{Explored, GAPS, Gap, Leaf, Spot};
use super::paths::is_last;
use super::{Around, LEVELS, Node, Steps, Tree, Way};
use crate::error::Result;
use crate::store::lmdb::pages::{damaged, is_whole};

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
        let mut steps = Steps::default();
        let way = self.descend(environment, txn, key, &mut steps, |_, _, _| Ok(()))?;
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
        explored.has_way = false;
        let way = self.way(environment, txn, key, (&mut explored.steps, &mut explored.rooms))?;
        let leaf = explored.leaves.of(&way)?;
        if length > 0 && leaf.gets(length) {
            self.learn_order(environment, txn, &way, leaf, &mut explored.branches)?;
        }
        let gap = self.gap(environment, txn, (key, &way), leaf, verify)?;
        if let Some(gap) = gap.filter(Gap::is_of_one_leaf) {
            explored.learn_gap(gap);
        }
        Ok(gap.is_some())
    }

    /// The bytes of the row of a key, as far as the way to its place leads to one. What that has shown of the way counts for
    /// the [change](Self::check_change) that is looked at next, if it is this row's. The row itself is not verified.
    pub(crate) fn row_to_change<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        key: &[u8],
        explored: &mut Explored,
    ) -> Result<Option<&'t [u8]>> {
        explored.forget_way();
        if self.is_empty()? {
            return Ok(None);
        }
        let way = self.way_to_change(environment, txn, key, (&mut explored.steps, &mut explored.rooms))?;
        let (at, found) = way.leaf.search(0, key).ok_or_else(damaged)?;
        if !found {
            return Ok(None);
        }
        let node = way.leaf.node(at).filter(Node::is_plain).ok_or_else(damaged)?;
        explored.has_way = true;
        environment.value(self.pages, txn, &node).map(Some).ok_or_else(damaged)
    }

    /// Makes sure that LMDB comes to the leaf of a row that is there, now and when it has changed or removed the row; `old`
    /// and `new` are how many bytes there are of its key and value, before and after. It may split the leaf or join it with
    /// another; then it looks at other entries of the branches.
    pub(crate) fn check_change(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        key: &[u8],
        (old, new): (usize, Option<usize>),
        explored: &mut Explored,
    ) -> Result<()> {
        // Then the transaction itself has put the row.
        if self.is_empty()? {
            return Ok(());
        }
        let way = if std::mem::take(&mut explored.has_way) {
            self.way_of(environment, txn, &explored.steps)?
        } else {
            self.way_again(environment, txn, key, (&mut explored.steps, &mut explored.rooms))?
        };
        let leaf = explored.leaves.of(&way)?;
        let asks = leaf.changes(old, new.unwrap_or_default(), self.pages.size());
        let merges = new.is_none() && leaf.may_merge(self.pages.size());
        if asks || merges {
            self.learn_order(environment, txn, &way, leaf, &mut explored.branches)?;
        }
        if merges {
            self.check_neighbours(environment, txn, way.steps, &mut explored.branches)?;
            leaf.has_neighbours = true;
        }
        Ok(())
    }

    /// Makes sure that LMDB comes to the place of a key whatever else has come to its leaf, or gone; and if what is there goes,
    /// that the leaf may be joined with one beside it.
    pub(crate) fn check_order_around(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, goes): (&[u8], bool),
        explored: &mut Explored,
    ) -> Result<()> {
        explored.forget_way();
        if self.is_empty()? {
            return Ok(());
        }
        let way = self.way(environment, txn, key, (&mut explored.steps, &mut explored.rooms))?;
        let leaf = explored.leaves.of(&way)?;
        if !leaf.in_order {
            way.leaf.is_plain().then_some(()).ok_or_else(damaged)?;
            self.learn_order(environment, txn, &way, leaf, &mut explored.branches)?;
        }
        if goes && !leaf.has_neighbours {
            self.check_neighbours(environment, txn, way.steps, &mut explored.branches)?;
            leaf.has_neighbours = true;
        }
        Ok(())
    }

    /// Makes sure of the pages beside those on a way: LMDB takes entries out of them, or puts entries there, when it joins
    /// pages.
    #[cold]
    fn check_neighbours(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        steps: &Steps,
        known: &mut BTreeSet<u64>,
    ) -> Result<()> {
        for (number, at) in steps.branches() {
            let branch = self.page(environment, txn, number)?;
            for beside in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
                let Some(number) = (beside < branch.len()).then(|| branch.node(beside)).flatten() else {
                    continue;
                };
                let number = number.child();
                environment.check_pages_in_use(txn, self.state, &[number])?;
                let page = self.page(environment, txn, number)?;
                if page.is_branch() {
                    self.check_rises(environment, txn, number, known)?;
                    continue;
                }
                let low = if beside > 0 { branch.key(beside) } else { None };
                let is_within = page.lies_within((low, branch.key(beside + 1))) == Some(true);
                // The entry at its end may come to be another leaf's first, and its key a branch's.
                if !is_within || !is_whole(page.bytes) || !page.is_in_order() {
                    return Err(damaged());
                }
            }
        }
        Ok(())
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
        if explored.leaves.0.len() < explored.gaps.len() {
            return false;
        }
        let key_at = |spot: Spot| self.key_at(environment, txn, spot);
        for place in 0..GAPS {
            let Some(number) = explored.order.get(place) else { break };
            let Some(Some(gap)) = explored.gaps.get(usize::from(*number)).copied() else { break };
            let is_in = gap.before.is_none_or(|spot| key_at(spot).is_some_and(|before| before < key))
                && gap.after.is_none_or(|spot| key_at(spot).is_some_and(|after| key < after));
            if is_in {
                explored.meet(place);
                let leaf = explored.leaves.0.iter_mut().find(|known| known.number == gap.leaf);
                return leaf.is_some_and(|leaf| length == 0 || !leaf.gets(length));
            }
        }
        false
    }

    /// The key that stands at a place.
    pub(super) fn key_at<'t>(
        &self,
        environment: &Environment,
        txn: &'t heed::RoTxn<'_>,
        spot: Spot,
    ) -> Option<&'t [u8]> {
        let page = environment.span(self.pages, txn, spot.leaf, self.pages.size())?;
        page.get(spot.start..spot.end)
    }

    /// The gap in which a key would stand, at the end of a way; `None` if it stands there.
    pub(super) fn gap(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        (key, way): (&[u8], &Way<'_, '_>),
        leaf: &mut Leaf,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<Option<Gap>> {
        let (at, found) = way.leaf.search(0, key).ok_or_else(damaged)?;
        if found {
            // LMDB is going to come to it.
            return way.leaf.node(at).filter(Node::is_plain).map(|_| None).ok_or_else(damaged);
        }
        // The search has found the key of the one below this, and that of the other above it.
        let mut spots = [None; 2];
        for (beside, spot) in
            [at.checked_sub(1), Some(at).filter(|at| *at < way.leaf.len())].into_iter().zip(&mut spots)
        {
            let Some(beside) = beside else { continue };
            let node = way.leaf.node(beside).ok_or_else(damaged)?;
            if !leaf.is_sound(beside) {
                let value = environment.value(self.pages, txn, &node).ok_or_else(damaged)?;
                verify(node.key, value)?;
                leaf.learn_sound(beside);
            }
            *spot = Some(Spot::of(way.number, &way.leaf, node.key));
        }
        let [before, after] = spots;
        let (before, after) = match (before, after) {
            (Some(_), Some(_)) => {
                self.check_within(environment, txn, way, at)?;
                (before, after)
            }
            (None, _) => (self.check_edge(environment, txn, way, key, true, verify)?, after),
            (_, None) => (before, self.check_edge(environment, txn, way, key, false, verify)?),
        };
        Ok(Some(Gap { leaf: way.number, before, after }))
    }

    /// Makes sure that the entries on both sides of a place lie between the keys that lead to their leaf. A damaged number may
    /// lead to a leaf of another database, whose records are as sound, and whose keys are on both sides of this one.
    fn check_within(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &Way<'_, '_>,
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

    /// Makes sure that the keys of the branches on a way rise, and those of its leaf between them. Where they don't, LMDB
    /// comes to another leaf once a branch has more entries or fewer, since it then looks at others of them; and where it
    /// splits the leaf at a damaged key, that becomes a key of a branch, and rows are put on the wrong side of it.
    #[cold]
    pub(super) fn learn_order(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        way: &Way<'_, '_>,
        leaf: &mut Leaf,
        known: &mut BTreeSet<u64>,
    ) -> Result<()> {
        way.steps.branches().try_for_each(|(number, _)| self.check_rises(environment, txn, number, known))?;
        let Around { bounds, .. } = self.around(environment, txn, way.steps)?;
        let is_within = way.leaf.lies_within(bounds) == Some(true);
        leaf.in_order = is_within && way.leaf.is_in_order();
        if leaf.in_order { Ok(()) } else { Err(damaged()) }
    }

    /// Makes sure that the keys of a branch rise, that each of its entries lies on its page, and that one which is added comes to
    /// lie before them.
    fn check_rises(
        &self,
        environment: &Environment,
        txn: &heed::RoTxn<'_>,
        number: u64,
        known: &mut BTreeSet<u64>,
    ) -> Result<()> {
        if !known.contains(&number) {
            let branch = self.page(environment, txn, number)?;
            if !branch.rises() || !branch.has_right_room() {
                return Err(damaged());
            }
            // Only now: of one whose keys don't rise, the next plan of the transaction must be told as well.
            known.insert(number);
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
        way: &Way<'_, '_>,
        key: &[u8],
        is_first: bool,
        verify: impl Fn(&[u8], &[u8]) -> Result<()>,
    ) -> Result<Option<Spot>> {
        let Around { bounds, beside } = self.around(environment, txn, way.steps)?;
        if way.leaf.lies_within(bounds) != Some(true) {
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
            return if right { Ok(Some(Spot::of(number, &page, node.key))) } else { Err(damaged()) };
        }
        Err(damaged())
    }
}
