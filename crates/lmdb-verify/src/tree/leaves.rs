//! A walk over the leaves of a range, in either direction. It is nothing but numbers: it borrows nothing, and is given
//! the pages with each call.
//!
//! Nothing of a page is believed until it has been looked at. A leaf that is entered is in use, whole, and within the
//! keys that the branches give on both sides of it, so between one leaf and the next nothing stands: the entries that
//! lead to them stand side by side, or a whole branch ends between them. The entries at both ends of what the range takes
//! of a leaf are sound, and those beside the range as well. Inside a whole leaf the checksums of entries, which cover
//! their keys, stand for their order: the reader that takes the entries verifies them. If it doesn't, their keys are
//! compared.

#[cfg(any(test, feature = "fuzzing"))]
pub(super) mod image;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::paths::{LeafPath, is_last};
use super::{LEVELS, Page, Tree};
use crate::error::{Result, damaged};
use crate::fields::Fields;
use crate::pages::{BIG_DATA, HEADER, is_whole, run};

/// The room for branches on a path: more than there are above a leaf of most trees.
const FEW_LEVELS: usize = 4;

/// The pages of one state, as a walk reads them: those of a [snapshot](super::SnapshotPages), or a copy elsewhere.
pub trait Source<'p>: Copy {
    /// Returns the page of a number.
    fn page(self, number: u64) -> Option<&'p [u8]>;

    /// Returns so many bytes from the page of this number on.
    fn span(self, number: u64, length: usize) -> Option<&'p [u8]>;

    /// Refuses pages that are out of use.
    fn check_in_use(self, pages: &[u64]) -> Result<()>;

    /// Returns whether entries are verified. If not, a walk proves less: it compares keys, and takes pages to be in use.
    fn verifies(self) -> bool;

    /// Verifies an entry.
    fn verify(self, entry: Entry<'p>) -> Result<()>;
}

/// An entry on a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'p> {
    /// The key.
    pub key: &'p [u8],
    /// The value.
    pub bytes: &'p [u8],
    /// The first of the pages that the value has of its own. It stands there behind the page's [header](HEADER).
    pub apart: Option<u64>,
}

/// A leaf on which a walk is.
#[derive(Clone, Copy, Debug)]
pub struct WalkedLeaf<'p> {
    page: Page<'p>,
    /// The page's number.
    pub number: u64,
}

impl WalkedLeaf<'_> {
    /// Returns the size of the page, in bytes.
    #[inline]
    pub fn length(self) -> usize {
        self.page.bytes.len()
    }

    /// Returns how many entries it has, of which some may not be the range's.
    #[inline]
    pub fn entries(self) -> usize {
        self.page.len()
    }

    /// Returns where in the page a key or a value of it lies.
    #[inline]
    pub fn place(self, bytes: &[u8]) -> Range<usize> {
        let start = bytes.as_ptr().addr().wrapping_sub(self.page.bytes.as_ptr().addr());
        start..start.wrapping_add(bytes.len())
    }
}

/// A walk over the leaves of a range. It misses no entry, and holds nothing but numbers: it is given the pages with each
/// call, and may be kept for as long as their state is.
///
/// Where entries are verified, each leaf that it comes to is in use, whole, and next to the one before, and the entries at
/// both ends of what it takes of a leaf are verified; those between are the caller's to verify.
#[derive(Debug)]
pub struct LeafWalk {
    path: LeafPath,
    /// The entries of the leaf that are still to come.
    rest: Range<usize>,
    /// Whether the range may go on behind the leaf.
    goes_on: bool,
    reverse: bool,
}

impl LeafWalk {
    /// Returns a walk over the entries between two keys, the second of which is beyond them, before the first of the entries
    /// or, in reverse, after the last.
    pub fn begin<'p, S: Source<'p>>(
        source: S,
        tree: &Tree,
        range: Range<&[u8]>,
        reverse: bool,
    ) -> Result<Self> {
        let path = LeafPath { branches: Vec::with_capacity(FEW_LEVELS), leaf: tree.root };
        let mut walk = Self { path, rest: 0..0, goes_on: false, reverse };
        if tree.is_empty()? || range.is_empty() {
            return Ok(walk);
        }
        let from = if reverse { range.end } else { range.start };
        let page = walk.path.descend(source, tree, from)?;
        let (at, _) = page.search(0, from).ok_or_else(damaged)?;
        if source.verifies() {
            walk.check_start(source, page, at, from)?;
        }
        walk.take(source, page, if reverse { 0..at } else { at..page.len() }, range.start, range.end)?;
        Ok(walk)
    }

    /// Returns the leaf that has the next entry of the range. `None` if there is none; and from then on, as after an
    /// error.
    #[inline]
    pub fn leaf<'p>(
        &mut self,
        source: impl Source<'p>,
        range: Range<&[u8]>,
    ) -> Result<Option<WalkedLeaf<'p>>> {
        if self.rest.is_empty() {
            return self.next_leaf(source, range);
        }
        let page = leaf_at(source, self.path.leaf)?;
        Ok(Some(WalkedLeaf { page, number: self.path.leaf }))
    }

    /// Returns the next entry of the leaf that [`Self::leaf`] has given.
    #[expect(clippy::inline_always, reason = "for each entry, a call costs as much as what it does")]
    #[inline(always)]
    pub fn next_of<'p>(
        &mut self,
        source: impl Source<'p>,
        leaf: WalkedLeaf<'p>,
    ) -> Option<Result<Entry<'p>>> {
        let at = if self.reverse { self.rest.next_back() } else { self.rest.next() }?;
        let entry = entry(source, leaf.page, at);
        if source.verifies() {
            return Some(entry);
        }
        Some(entry.and_then(|entry| {
            leaf.page.check_rises(at)?;
            self.check_before_last(leaf.page, entry.key)?;
            Ok(entry)
        }))
    }

    /// Checks that a key lies before the last one to come of the leaf, which lies in the range: so it does not lie beyond.
    fn check_before_last(&self, page: Page<'_>, key: &[u8]) -> Result<()> {
        let mut rest = self.rest.clone();
        let Some(last) = (if self.reverse { rest.next() } else { rest.next_back() }) else { return Ok(()) };
        let last = page.node(last).ok_or_else(damaged)?.key;
        let is_before = if self.reverse { last < key } else { key < last };
        if is_before { Ok(()) } else { Err(damaged()) }
    }

    /// Goes on until a leaf has entries of the range.
    #[cold]
    fn next_leaf<'p>(
        &mut self,
        source: impl Source<'p>,
        range: Range<&[u8]>,
    ) -> Result<Option<WalkedLeaf<'p>>> {
        // After an error or at the end, no entry comes any more.
        while std::mem::take(&mut self.goes_on) {
            let Some(page) = self.path.step(source, self.reverse)? else { break };
            self.take(source, page, 0..page.len(), range.start, range.end)?;
            if !self.rest.is_empty() {
                return Ok(Some(WalkedLeaf { page, number: self.path.leaf }));
            }
        }
        Ok(None)
    }

    /// Takes the entries that lie before the range's end, in the direction of the walk: all, or up to where the entries on
    /// both sides tell that it ends.
    fn take<'p>(
        &mut self,
        source: impl Source<'p>,
        page: Page<'p>,
        entries: Range<usize>,
        start: &[u8],
        end: &[u8],
    ) -> Result<()> {
        let Some(last) = (if self.reverse { entries.clone().next() } else { entries.clone().next_back() })
        else {
            self.goes_on = true;
            return Ok(());
        };
        let key = page.node(last).ok_or_else(damaged)?.key;
        if if self.reverse { key >= start } else { key < end } {
            verify(source, page, last)?;
            (self.rest, self.goes_on) = (entries, true);
            return self.check_ends(source, page, start, end);
        }
        let limit = if self.reverse { start } else { end };
        let (at, _) = page.search(0, limit).ok_or_else(damaged)?;
        let taken = if self.reverse { at..entries.end } else { entries.start..at };
        if taken.start > taken.end {
            return Err(damaged());
        }
        for (at, is_below) in [(at.checked_sub(1), true), (Some(at), false)] {
            let Some(at) = at else { continue };
            // If the range ends with the leaf, the entry beside it is on another leaf, and was verified there.
            if at >= page.len() {
                continue;
            }
            verify(source, page, at)?;
            if (page.node(at).ok_or_else(damaged)?.key < limit) != is_below {
                return Err(damaged());
            }
        }
        self.rest = taken;
        self.check_ends(source, page, start, end)
    }

    /// Checks that the first and the last entry which are taken of a leaf lie in the range, where entries are not verified: in a
    /// tree that is damaged in several places, branches may lead to entries beyond it.
    fn check_ends<'p>(
        &mut self,
        source: impl Source<'p>,
        page: Page<'p>,
        start: &[u8],
        end: &[u8],
    ) -> Result<()> {
        if source.verifies() || self.rest.is_empty() {
            return Ok(());
        }
        let key = |at| page.node(at).map(|node| node.key).ok_or_else(damaged);
        if key(self.rest.start)? >= start && key(self.rest.end - 1)? < end {
            return Ok(());
        }
        (self.rest, self.goes_on) = (0..0, false);
        Err(damaged())
    }

    /// Checks the entry beside the range where the walk starts, at an entry of the leaf that it starts on.
    fn check_start<'p>(&self, source: impl Source<'p>, page: Page<'p>, at: usize, from: &[u8]) -> Result<()> {
        let beside = if self.reverse { Some(at).filter(|at| *at < page.len()) } else { at.checked_sub(1) };
        let (page, beside) = match beside {
            Some(beside) => (page, beside),
            None => match self.path.clone().step(source, !self.reverse)? {
                Some(page) if self.reverse => (page, 0),
                Some(page) => (page, page.len() - 1),
                None => return Ok(()),
            },
        };
        verify(source, page, beside)?;
        let is_below = page.node(beside).ok_or_else(damaged)?.key < from;
        if is_below == self.reverse { Err(damaged()) } else { Ok(()) }
    }
}

impl LeafPath {
    /// Goes to the leaf on which a key stands, or would.
    fn descend<'p>(&mut self, source: impl Source<'p>, tree: &Tree, key: &[u8]) -> Result<Page<'p>> {
        self.leaf = tree.root;
        for _ in 1..tree.depth {
            let page = branch_at(source, self.leaf)?;
            let (at, node) = page.step(key).ok_or_else(damaged)?;
            if self.branches.len() + 1 == LEVELS {
                return Err(damaged());
            }
            self.branches.push((self.leaf, at));
            self.leaf = node.child();
        }
        self.enter(source, 0, true)
    }

    /// Goes to the next leaf, or in reverse to the one before; `None` if there is none.
    fn step<'p>(&mut self, source: impl Source<'p>, reverse: bool) -> Result<Option<Page<'p>>> {
        let mut level = self.branches.len();
        self.leaf = loop {
            let Some(above) = level.checked_sub(1) else { return Ok(None) };
            let (branch, at) = self.branches.get_mut(above).ok_or_else(damaged)?;
            let page = branch_at(source, *branch)?;
            let next = if reverse { at.checked_sub(1) } else { Some(*at + 1).filter(|at| *at < page.len()) };
            if let Some(next) = next {
                *at = next;
                break page.node(next).ok_or_else(damaged)?.child();
            }
            // The entries that a shortened branch hides would come here.
            if !reverse && !is_last(page, *at) {
                return Err(damaged());
            }
            level = above;
        };
        let fresh = level;
        for place in self.branches.iter_mut().skip(fresh) {
            let page = branch_at(source, self.leaf)?;
            let at = if reverse { page.len() - 1 } else { 0 };
            if reverse && !is_last(page, at) {
                return Err(damaged());
            }
            *place = (self.leaf, at);
            self.leaf = page.node(at).ok_or_else(damaged)?.child();
        }
        self.enter(source, fresh, reverse).map(Some)
    }

    /// Looks at the leaf, and at the branches from this level on, which are new on the way to it: whether all are in
    /// use, and whether the leaf's keys lie within those that the branches give. `is_sought` is whether the leaf was
    /// searched for, and not come to from the one before it.
    fn enter<'p>(&self, source: impl Source<'p>, fresh: usize, is_sought: bool) -> Result<Page<'p>> {
        let page = leaf_at(source, self.leaf)?;
        if source.verifies() {
            let (mut entered, mut count) = ([self.leaf; LEVELS], 0);
            for ((branch, _), place) in self.branches.iter().skip(fresh).zip(&mut entered) {
                *place = *branch;
                count += 1;
            }
            source.check_in_use(entered.get(..=count).unwrap_or_default())?;
            if !is_whole(page.bytes) {
                return Err(damaged());
            }
        }
        let key = |at| page.node(at).map(|node| node.key).ok_or_else(damaged);
        let (first, last) = (key(0)?, key(page.len() - 1)?);
        if first > last {
            return Err(damaged());
        }
        // The branch above those has an entry newly taken.
        let moved = fresh.saturating_sub(1);
        let (mut has_low, mut has_high) = (false, false);
        for (height, (branch, at)) in self.branches.iter().enumerate().rev() {
            if height < moved && has_low && has_high {
                break;
            }
            let (branch, is_new) = (branch_at(source, *branch)?, height >= moved);
            let key = |at| branch.node(at).map(|node| node.key).ok_or_else(damaged);
            // Each newly taken entry is looked at: one that damage has made another's leads to leaves that are sound.
            if *at > 0 && (is_new || !has_low) {
                has_low = true;
                if key(*at)? > first || is_new && is_sought && !branch.rises_to(*at) {
                    return Err(damaged());
                }
            }
            if *at + 1 < branch.len() && (is_new || !has_high) {
                has_high = true;
                if last >= key(*at + 1)? {
                    return Err(damaged());
                }
            }
        }
        Ok(page)
    }
}

impl Page<'_> {
    /// Checks that the key of an entry is above that of the one before it.
    fn check_rises(self, at: usize) -> Result<()> {
        let Some(before) = at.checked_sub(1) else { return Ok(()) };
        match (self.node(before), self.node(at)) {
            (Some(before), Some(node)) if before.key < node.key => Ok(()),
            _ => Err(damaged()),
        }
    }
}

fn leaf_at<'p>(source: impl Source<'p>, number: u64) -> Result<Page<'p>> {
    let page = source.page(number).and_then(|bytes| Page::parse(bytes, number));
    page.filter(|page| !page.is_branch()).ok_or_else(damaged)
}

fn branch_at<'p>(source: impl Source<'p>, number: u64) -> Result<Page<'p>> {
    let page = source.page(number).and_then(|bytes| Page::parse(bytes, number));
    page.filter(Page::is_branch).ok_or_else(damaged)
}

/// Verifies the entry at an entry of a leaf, if entries are.
fn verify<'p>(source: impl Source<'p>, page: Page<'p>, at: usize) -> Result<()> {
    if source.verifies() { source.verify(entry(source, page, at)?) } else { Ok(()) }
}

/// Returns the entry at an entry of a leaf.
#[inline]
fn entry<'p>(source: impl Source<'p>, page: Page<'p>, at: usize) -> Result<Entry<'p>> {
    let node = page.node(at).ok_or_else(damaged)?;
    let size = usize::try_from(node.size).map_err(|_| damaged())?;
    if node.flags & BIG_DATA == 0 {
        let bytes = node.rest.get(..size).ok_or_else(damaged)?;
        return Ok(Entry { key: node.key, bytes, apart: None });
    }
    let first = Fields(node.rest).u64().ok_or_else(damaged)?;
    let bytes = apart(source, first, size)?;
    Ok(Entry { key: node.key, bytes, apart: Some(first) })
}

/// Returns a value of so many bytes on pages of its own.
#[cold]
fn apart<'p>(source: impl Source<'p>, first: u64, size: usize) -> Result<&'p [u8]> {
    let value = || {
        let head = source.page(first)?;
        let room = run(head)?.checked_mul(head.len())?;
        let length = size.checked_add(HEADER).filter(|length| *length <= room)?;
        if Fields(head).u64()? != first {
            return None;
        }
        source.span(first, length)?.get(HEADER..)
    };
    let value = value().ok_or_else(damaged)?;
    if source.verifies() {
        source.check_in_use(&[first])?;
    }
    Ok(value)
}
