//! The pages that a write comes to, looked at when it first does.
//!
//! LMDB takes what a page says for granted, and what a write makes of a damaged one is lost for good. So a page that was in the
//! file when the process began to write is looked at before the first write that changes it: a branch whole, with the head of
//! each page that it leads to, whatever that one's number is; a leaf whole, with the checksums of its entries. Where an entry
//! goes, LMDB may join its leaf with one beside it, and so their branches: those are looked at, too.
//!
//! The way is that of the state with which the transaction began. What the transaction has changed since it has made of pages
//! that were looked at, and every other page still stands where it stood.

use heed::RoTxn;

use super::{LEVELS, Page, Tree};
use crate::error::{Result, damaged};
use crate::met::MetPages;
use crate::pages::BIG_DATA;
use crate::reader::PageReader;

/// Verifies an entry of a leaf, of which it is given the key and the value.
pub type Verify<'v> = &'v dyn Fn(&[u8], &[u8]) -> Result<()>;

/// An entry that a write puts or removes.
#[derive(Clone, Copy, Debug)]
pub struct Written<'k> {
    /// The key.
    pub key: &'k [u8],
    /// `None` if it is put. If it is removed, how many entries the transaction removes at most by then, this one among
    /// them.
    pub removed: Option<usize>,
}

/// A page as those above it lead there.
#[derive(Clone, Copy)]
struct Place<'t> {
    number: u64,
    /// How many levels the tree has from here down to the leaves.
    levels: u32,
    /// The least key that it may have, and the first that it may not.
    low: Option<&'t [u8]>,
    high: Option<&'t [u8]>,
}

impl<'t> Place<'t> {
    /// Returns the page that an entry of the branch of this place leads to.
    fn below(&self, branch: &Page<'t>, at: usize) -> Result<Self> {
        let node = branch.node(at).ok_or_else(damaged)?;
        // The first key of a branch stands for none.
        let low = if at == 0 { self.low } else { Some(node.key) };
        let levels = self.levels.saturating_sub(1);
        Ok(Self { number: node.child(), levels, low, high: branch.key(at + 1).or(self.high) })
    }

    /// Returns whether the keys of a page lie between those that lead there, by its first and its last.
    fn holds(&self, page: &Page<'_>) -> bool {
        let first = usize::from(page.is_branch());
        let (Some(first), Some(last)) = (page.key(first), page.last_key()) else { return false };
        // A leaf may begin with the very key that leads there; the second entry of a branch is behind it.
        let begins = self.low.is_none_or(|low| low < first || low == first && !page.is_branch());
        begins && self.high.is_none_or(|high| last < high)
    }
}

impl Tree {
    /// Looks at the pages that LMDB changes when it puts or removes an entry, if they have not been looked at before.
    pub fn meet(
        &self,
        reader: &PageReader,
        txn: &RoTxn<'_>,
        written: Written<'_>,
        verify: Verify<'_>,
    ) -> Result<()> {
        if reader.met.are_all() || self.is_empty()? {
            return Ok(());
        }
        let mut met = reader.met.pages();
        let met = &mut *met;
        let done = Meeting { tree: self, reader, txn, met, verify }.way(written);
        if met.are_all() {
            reader.met.meet_all();
        }
        done
    }
}

struct Meeting<'m, 't> {
    tree: &'m Tree,
    reader: &'m PageReader,
    txn: &'t RoTxn<'t>,
    met: &'m mut MetPages,
    verify: Verify<'m>,
}

impl<'t> Meeting<'_, 't> {
    /// Looks at the pages on the way to an entry, and at those that LMDB may join with them if it goes.
    fn way(&mut self, Written { key, removed }: Written<'_>) -> Result<()> {
        let mut place = Place { number: self.tree.root, levels: self.tree.depth, low: None, high: None };
        loop {
            let page = self.page(&place)?;
            if place.levels <= 1 {
                return Ok(());
            }
            let (at, _) = page.taken(key).ok_or_else(damaged)?;
            if let Some(removed) = removed {
                self.beside(&place, &page, at, removed)?;
            }
            place = place.below(&page, at)?;
        }
    }

    /// Looks at what stands on both sides of an entry of a branch, as far as LMDB may join what the entry leads to with it.
    ///
    /// A leaf is joined when less than a quarter of it is left. One that is so empty already may come to be joined with the one
    /// behind it, too. A branch is joined when one of its entries is left, and each entry that is removed takes one at most.
    fn beside(&mut self, place: &Place<'t>, branch: &Page<'t>, at: usize, removed: usize) -> Result<()> {
        if place.levels > 2 {
            let taken = place.below(branch, at)?;
            if self.page(&taken)?.len() > removed + 1 {
                return Ok(());
            }
            self.first_way(taken)?;
        }
        for step in [-1, 1] {
            let mut next = at.checked_add_signed(step);
            while let Some(beside) = next.filter(|beside| *beside < branch.len()) {
                let beside = place.below(branch, beside)?;
                let page = self.page(&beside)?;
                self.first_way(beside)?;
                if if page.is_branch() { page.len() > removed + 1 } else { page.has_a_quarter() } {
                    break;
                }
                next = next.and_then(|at| at.checked_add_signed(step));
            }
        }
        Ok(())
    }

    /// Looks at the branches that lead to the first leaf below a page: to join two branches LMDB asks for the first key below
    /// them. The head of that leaf was looked at with its branch.
    fn first_way(&mut self, mut place: Place<'t>) -> Result<()> {
        while place.levels > 1 {
            let page = self.page(&place)?;
            place = place.below(&page, 0)?;
        }
        Ok(())
    }

    /// Returns the page of a place, which has been looked at.
    #[inline]
    fn page(&mut self, place: &Place<'t>) -> Result<Page<'t>> {
        if self.met.has(place.number) {
            let page = self.reader.tree_page(self.txn, place.number)?;
            // A page that another process has written has its bit, too, and no more of it is known.
            return if page.is_branch() == (place.levels > 1) { Ok(page) } else { Err(damaged()) };
        }
        self.look(place)
    }

    #[cold]
    fn look(&mut self, place: &Place<'t>) -> Result<Page<'t>> {
        self.check_in_use(&[place.number])?;
        let page = self.head(place)?;
        if page.is_branch() { self.look_at_branch(place, &page) } else { self.look_at_leaf(&page) }?;
        self.met.add(place.number);
        Ok(page)
    }

    /// Looks at a branch, and at the head of each page that it leads to.
    fn look_at_branch(&self, place: &Place<'t>, page: &Page<'t>) -> Result<()> {
        if page.len() < 2 || !page.is_whole() || !page.rises() {
            return Err(damaged());
        }
        let below = || (0..page.len()).map(|at| place.below(page, at));
        let mut numbers = [0; LEVELS];
        let mut rest = below().peekable();
        while rest.peek().is_some() {
            let mut count = 0;
            for (number, below) in numbers.iter_mut().zip(&mut rest) {
                *number = below?.number;
                count += 1;
            }
            self.check_in_use(numbers.get(..count).unwrap_or_default())?;
        }
        below().try_for_each(|below| self.head(&below?).map(drop))
    }

    /// Looks at a leaf and its entries.
    fn look_at_leaf(&mut self, page: &Page<'t>) -> Result<()> {
        if !page.is_whole() || !page.is_plain() || !page.is_in_order() {
            return Err(damaged());
        }
        let pages = self.reader.pages();
        for node in (0..page.len()).filter_map(|at| page.node(at)) {
            let value = self.reader.value(self.txn, &node).ok_or_else(damaged)?;
            if node.flags & BIG_DATA != 0 {
                pages.check_value(value)?;
                self.reader.check_in_use(self.txn, self.tree.state, value)?;
                // A value that has more pages than it takes is looked at when it is removed: see
                // [`PageReader::check_run`].
                if pages.is_own(value) && !pages.has_spare(value)? {
                    pages.run_of(value).for_each(|number| self.met.add(number));
                }
            }
            (self.verify)(node.key, value)?;
        }
        Ok(())
    }

    /// Returns the page of a place by what its head says: that it is this page, of this level, with keys between those
    /// that lead there. Of a branch the first and the last key stand on the leaves at both ends of what it leads to.
    fn head(&self, place: &Place<'t>) -> Result<Page<'t>> {
        let page = self.own_head(place)?;
        if page.is_branch() {
            for is_last in [false, true] {
                let (mut place, mut page) = (*place, page);
                while page.is_branch() {
                    place = place.below(&page, if is_last { page.len() - 1 } else { 0 })?;
                    page = self.own_head(&place)?;
                }
            }
        }
        Ok(page)
    }

    fn own_head(&self, place: &Place<'_>) -> Result<Page<'t>> {
        let page = self.reader.tree_page(self.txn, place.number)?;
        let is_kind = place.levels > 0 && page.is_branch() == (place.levels > 1);
        // A cursor that an entry was removed under goes on to the first one of the next page.
        if is_kind && place.holds(&page) && page.node(0).is_some() { Ok(page) } else { Err(damaged()) }
    }

    fn check_in_use(&self, numbers: &[u64]) -> Result<()> {
        self.reader.check_pages_in_use(self.txn, self.tree.state, numbers)
    }
}
