//! Pages that are out of use.
//!
//! A damaged branch, or a damaged root, can lead to a page of former times: its rows are sound, and former ones. What
//! tells is LMDB's list of free pages. A process remembers which were free when it last looked; a page among those is
//! looked for in the list of a state that is known to the very transaction, so that what has been taken again meanwhile
//! is no false alarm.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use super::header::Header;
use super::tree::{Page, Tree};
use super::{Environment, page_walk};
use crate::error::Result;
use crate::store::lmdb::fields::Fields;
use crate::store::lmdb::pages::{Pages, damaged};

/// A look at the list may take one part in so many of the time.
const SHARE: u32 = 32;
/// The most page numbers that are taken in at a look.
const MOST: usize = 1 << 19;

/// What a process knows of the pages that are out of use.
#[derive(Debug)]
pub(super) struct Former {
    known: RwLock<Free>,
    born: Instant,
    /// The next look is not before this, in nanoseconds after `born`.
    next: AtomicU64,
    /// How many bytes the file is known to have.
    length: AtomicU64,
    /// The rows' tree in the state that somebody last asked for.
    tree: RwLock<Option<Tree>>,
}

/// The pages that were free in a state.
#[derive(Debug, Default)]
struct Free {
    state: u64,
    /// A bit for each page.
    pages: Vec<u64>,
}

impl Free {
    fn has(&self, page: u64) -> bool {
        let word = usize::try_from(page / 64).ok().and_then(|word| self.pages.get(word));
        word.is_some_and(|word| word >> (page % 64) & 1 != 0)
    }

    fn add(&mut self, page: u64) {
        if let Some(word) = usize::try_from(page / 64).ok().and_then(|word| self.pages.get_mut(word)) {
            *word |= 1 << (page % 64);
        }
    }
}

impl Former {
    pub(super) fn new() -> Self {
        Self {
            known: RwLock::default(),
            born: Instant::now(),
            next: AtomicU64::new(0),
            length: AtomicU64::new(0),
            tree: RwLock::default(),
        }
    }
}

/// The number of the state that a transaction reads; that of a write transaction is the one before its own.
pub(crate) fn state_of_write(txn: &heed::RwTxn<'_>) -> usize {
    txn.id().wrapping_sub(1)
}

impl Environment {
    /// Refuses what lies on a page that is out of use in the state of a transaction: that of the commit of this number.
    #[inline]
    pub(crate) fn check_in_use(&self, txn: &heed::RoTxn<'_>, state: usize, entry: &[u8]) -> Result<()> {
        match self.dbs.pages.and_then(|pages| pages.number(entry)) {
            Some(page) => self.check_page_in_use(txn, state, page),
            None => Ok(()),
        }
    }

    #[inline]
    fn check_page_in_use(&self, txn: &heed::RoTxn<'_>, state: usize, page: u64) -> Result<()> {
        self.check_pages_in_use(txn, state, &[page])
    }

    /// The same of several pages.
    #[inline]
    pub(super) fn check_pages_in_use(
        &self,
        txn: &heed::RoTxn<'_>,
        state: usize,
        pages: &[u64],
    ) -> Result<()> {
        let state = u64::try_from(state).unwrap_or(u64::MAX);
        let known = self.former.known.read().unwrap_or_else(PoisonError::into_inner);
        let plain = known.state >= state && !pages.iter().any(|page| known.has(*page));
        drop(known);
        if plain { Ok(()) } else { self.look_closer(txn, state, pages) }
    }

    /// What is known is of another state, or the page was free in the state that it is of.
    #[cold]
    fn look_closer(&self, txn: &heed::RoTxn<'_>, state: u64, looked_at: &[u64]) -> Result<()> {
        let Some(pages) = self.dbs.pages else { return Ok(()) };
        self.refresh(pages, txn, state);
        for page in looked_at {
            let was_free = self.former.known.read().unwrap_or_else(PoisonError::into_inner).has(*page);
            if was_free && self.is_free(pages, txn, state, *page) {
                return Err(damaged());
            }
        }
        Ok(())
    }

    /// Whether a page is free in a state that a transaction of this process reads. What can't be found out is no.
    fn is_free(&self, pages: Pages, txn: &heed::RoTxn<'_>, state: u64, page: u64) -> bool {
        let look = |txn: &heed::RoTxn<'_>, header: &Header| {
            let mut found = false;
            let by_list = |freed_by, list: &[[u8; 8]]| {
                // What a later transaction has freed is in use in this state, and while somebody reads this state, the
                // list says of no page that it was freed earlier than it was.
                if freed_by > state {
                    return ControlFlow::Break(());
                }
                // A list falls.
                found = list.binary_search_by(|number| page.cmp(&u64::from_le_bytes(*number))).is_ok();
                if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            self.each_list(pages, txn, header, by_list);
            found
        };
        if let Some(header) = self.header(pages, state) {
            return look(txn, &header);
        }
        // Two commits later the header is gone. The newest state tells as well.
        for _ in 0..3 {
            let Ok(newest) = self.env.read_txn() else { return false };
            if let Some(header) = u64::try_from(newest.id()).ok().and_then(|state| self.header(pages, state))
            {
                return look(&newest, &header);
            }
        }
        false
    }

    /// Looks anew, if that is not too soon and the state is a later one; whether it did.
    fn refresh(&self, pages: Pages, txn: &heed::RoTxn<'_>, state: u64) -> bool {
        let former = &self.former;
        let begun = former.nanos();
        if begun < former.next.load(Ordering::Relaxed) {
            return false;
        }
        let Ok(mut known) = former.known.try_write() else { return false };
        if known.state >= state {
            return false;
        }
        let Some(header) = self.header(pages, state) else { return false };
        let words = usize::try_from(header.last_page / 64 + 1).unwrap_or_default();
        known.pages.clear();
        known.pages.resize(words, 0);
        known.state = state;
        let mut taken = 0;
        self.each_list(pages, txn, &header, |_, list| {
            for number in list {
                known.add(u64::from_le_bytes(*number));
            }
            taken += list.len();
            if taken < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        drop(known);
        let ended = former.nanos();
        let pause = ended.saturating_sub(begun).saturating_mul(u64::from(SHARE));
        former.next.store(ended.saturating_add(pause), Ordering::Relaxed);
        true
    }

    /// Begins to know which pages are out of use. From a list that is damaged nothing is learnt.
    pub(super) fn learn_former(&self) -> Result<()> {
        let txn = self.read_txn()?;
        if let Some(pages) = self.dbs.pages {
            self.refresh(pages, &txn, u64::try_from(txn.id()).unwrap_or(u64::MAX));
        }
        Ok(())
    }

    pub(super) fn header(&self, pages: Pages, state: u64) -> Option<Header> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        Header::of_commit(&mut *file, u64::try_from(pages.size()).ok()?, state).ok().flatten()
    }

    /// The pages of a list entry each: the transaction that freed them, and their numbers. Ends at what is no list;
    /// whether it came to the end.
    pub(super) fn each_list(
        &self,
        pages: Pages,
        txn: &heed::RoTxn<'_>,
        header: &Header,
        mut take: impl FnMut(u64, &[[u8; 8]]) -> ControlFlow<()>,
    ) -> bool {
        let mut pending: Vec<(u64, u32)> = header.free_root.map(|root| (root, 0)).into_iter().collect();
        // No list has more pages than this; one that is damaged may lead in a circle.
        let mut left = MOST;
        while let Some((number, depth)) = pending.pop() {
            left = left.saturating_sub(1);
            let page = self.page(pages, txn, number).and_then(|bytes| Page::parse(bytes, number));
            let Some(page) = page.filter(|_| left > 0 && depth < page_walk::DEEPEST) else { return false };
            if page.is_branch() {
                // The last one put is the first one taken.
                for at in (0..page.len()).rev() {
                    let Some(node) = page.node(at) else { return false };
                    pending.push((node.child(), depth + 1));
                }
                continue;
            }
            for at in 0..page.len() {
                let list = page.node(at).and_then(|node| {
                    let value = self.value(pages, txn, &node)?;
                    let (count, numbers) = value.as_chunks::<8>().0.split_first()?;
                    let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
                    Some((Fields(node.key).u64()?, numbers.get(..count)?))
                });
                let Some((freed_by, list)) = list else { return false };
                if take(freed_by, list).is_break() {
                    return false;
                }
            }
        }
        true
    }

    pub(super) fn known_tree(&self) -> Option<Tree> {
        *self.former.tree.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn learn_tree(&self, tree: Tree) {
        if let Ok(mut known) = self.former.tree.try_write() {
            *known = Some(tree);
        }
    }

    /// The page of a number, if the file has it.
    pub(super) fn page<'t>(&self, pages: Pages, txn: &'t heed::RoTxn<'_>, number: u64) -> Option<&'t [u8]> {
        if number < page_walk::FIRST_PAGE {
            return None;
        }
        self.span(pages, txn, number, pages.size())
    }

    pub(super) fn span<'t>(
        &self,
        pages: Pages,
        txn: &'t heed::RoTxn<'_>,
        number: u64,
        length: usize,
    ) -> Option<&'t [u8]> {
        let known = &self.former.length;
        pages.span(txn, number, length, known.load(Ordering::Relaxed)).or_else(|| {
            // The file may have grown.
            let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            let found = file.metadata().ok()?.len();
            drop(file);
            known.store(found, Ordering::Relaxed);
            pages.span(txn, number, length, found)
        })
    }
}

impl Former {
    fn nanos(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
