//! Former pages, which are out of use.
//!
//! A damaged branch, or a damaged root, can lead to a former page, whose entries are sound and out of date. LMDB's list of
//! free pages tells. A process remembers the pages that were free when it last looked. If it meets one of them, it looks
//! for the page in the list of a state that the very transaction knows: a page that was taken again meanwhile is no false
//! alarm.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};
use std::time::Instant;

use heed::RoTxn;

use crate::error::{Result, damaged};
use crate::fields::Fields;
use crate::header::Header;
use crate::raw_pages;
use crate::reader::PageReader;
#[cfg(doc)]
use crate::reader::state_of_write;
use crate::tree::{LEVELS, Page};

/// A look at the list may take one part in so many of the time.
const SHARE: u32 = 128;
/// The least time between two looks, in nanoseconds. Pages that were taken since the last look are met once each, at the
/// price of reading a header: they are few beside the writes between two looks.
const PAUSE: u64 = 20_000_000;
/// The clock is read at one of so many pages that are met.
const ONE_IN: u64 = 32;
/// The most page numbers that are taken in at a look.
const MOST: usize = 1 << 19;

/// A process's knowledge of the pages that are out of use.
#[derive(Debug)]
pub(crate) struct StalePages {
    known: RwLock<Free>,
    /// The state of `known`, for readers that do not wait for its lock.
    state: AtomicU64,
    filter: Filter,
    born: Instant,
    /// The next look is not before this, in nanoseconds after `born`.
    next: AtomicU64,
    /// The latest state for which the clock was asked.
    asked: AtomicU64,
}

/// The pages that were free in a state.
#[derive(Debug, Default)]
struct Free {
    state: u64,
    /// A bit for each page.
    pages: Vec<u64>,
}

/// A bit for all pages whose numbers have the same rest. It tells at once of most pages that they are not known to be
/// free.
#[derive(Debug)]
struct Filter([AtomicU64; FILTER_WORDS]);

const FILTER_WORDS: usize = 512;

impl Default for Filter {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; FILTER_WORDS])
    }
}

impl Filter {
    #[inline]
    fn may_have(&self, page: u64) -> bool {
        let word = usize::try_from(page / 64).unwrap_or(usize::MAX) % FILTER_WORDS;
        self.0.get(word).is_none_or(|word| word.load(Ordering::Relaxed) >> (page % 64) & 1 != 0)
    }

    /// Takes other pages in, and lets the former ones go: each bit at once.
    fn take(&self, pages: &[u64]) {
        let mut bits = [0; FILTER_WORDS];
        for words in pages.chunks(FILTER_WORDS) {
            for (all, word) in bits.iter_mut().zip(words) {
                *all |= word;
            }
        }
        for (word, bits) in self.0.iter().zip(bits) {
            word.store(bits, Ordering::Relaxed);
        }
    }
}

impl Free {
    fn has(&self, page: u64) -> bool {
        let word = usize::try_from(page / 64).ok().and_then(|word| self.pages.get(word));
        word.is_some_and(|word| word >> (page % 64) & 1 != 0)
    }

    fn add(&mut self, page: u64) {
        if let Some(word) = self.word(page) {
            *word |= 1 << (page % 64);
        }
    }

    fn remove(&mut self, page: u64) {
        if let Some(word) = self.word(page) {
            *word &= !(1 << (page % 64));
        }
    }

    fn word(&mut self, page: u64) -> Option<&mut u64> {
        usize::try_from(page / 64).ok().and_then(|word| self.pages.get_mut(word))
    }
}

impl StalePages {
    pub(crate) fn new() -> Self {
        Self {
            known: RwLock::default(),
            state: AtomicU64::new(0),
            filter: Filter::default(),
            born: Instant::now(),
            next: AtomicU64::new(0),
            asked: AtomicU64::new(0),
        }
    }
}

impl PageReader {
    /// Refuses a key or a value that lies on a page which is out of use in the state that a transaction reads or, if it
    /// writes, [began with](state_of_write): that of the commit of this number.
    #[inline]
    pub fn check_in_use(&self, txn: &RoTxn<'_>, state: usize, entry: &[u8]) -> Result<()> {
        match self.pages().number(entry) {
            Some(page) => self.check_page_in_use(txn, state, page),
            None => Ok(()),
        }
    }

    #[inline]
    fn check_page_in_use(&self, txn: &RoTxn<'_>, state: usize, page: u64) -> Result<()> {
        self.check_pages_in_use(txn, state, &[page])
    }

    /// Refuses pages that are out of use in the state of a transaction.
    #[inline]
    pub(crate) fn check_pages_in_use(&self, txn: &RoTxn<'_>, state: usize, pages: &[u64]) -> Result<()> {
        let state = u64::try_from(state).unwrap_or(u64::MAX);
        let stale_pages = &self.stale;
        let may_be_free = |page: &u64| stale_pages.filter.may_have(*page);
        let is_plain = stale_pages.knows(state, pages) && !pages.iter().any(may_be_free);
        if is_plain { Ok(()) } else { self.look_closer(txn, state, pages) }
    }

    /// Checks pages the slow way: the known pages are of another state, or one of these was free in theirs.
    #[cold]
    fn look_closer(&self, txn: &RoTxn<'_>, state: u64, looked_at: &[u64]) -> Result<()> {
        self.refresh(txn, state);
        let known = self.stale.known.read().unwrap_or_else(PoisonError::into_inner);
        let (known_state, mut doubtful) = (known.state, [0; LEVELS]);
        let were_free = looked_at.iter().filter(|page| known.has(**page));
        let count = were_free.zip(&mut doubtful).map(|(page, place)| *place = *page).count();
        drop(known);
        let doubtful = doubtful.get(..count).unwrap_or_default();
        if doubtful.is_empty() {
            return Ok(());
        }
        if self.has_free(txn, state, doubtful) {
            return Err(damaged());
        }
        // They have been taken since. Most pages that a program writes are such ones, so this is found out once.
        if state > known_state
            && let Ok(mut known) = self.stale.known.try_write()
            && known.state == known_state
        {
            for page in doubtful {
                known.remove(*page);
            }
        }
        Ok(())
    }

    /// Returns whether one of these pages is free in a state that a transaction of this process reads; no, if it can't
    /// be found out.
    fn has_free(&self, txn: &RoTxn<'_>, state: u64, looked_for: &[u64]) -> bool {
        let look = |txn: &RoTxn<'_>, header: &Header| {
            let mut found = false;
            let by_list = |freed_by, list: &[[u8; 8]]| {
                // What a later transaction has freed is in use in this state, and while this state is read, the list
                // says of no page that it was freed earlier than it was.
                if freed_by > state {
                    return ControlFlow::Break(());
                }
                // The numbers of a list fall.
                let lists = |page: &u64| {
                    list.binary_search_by(|number| page.cmp(&u64::from_le_bytes(*number))).is_ok()
                };
                found = looked_for.iter().any(lists);
                if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            self.each_list(txn, header, by_list);
            found
        };
        if let Some(header) = self.header(state) {
            return look(txn, &header);
        }
        // Two commits later the header is gone. The newest state tells as well.
        for _ in 0..3 {
            let Ok(newest) = self.new_txn() else { return false };
            if let Some(header) = u64::try_from(newest.id()).ok().and_then(|state| self.header(state)) {
                return look(&newest, &header);
            }
        }
        false
    }

    /// Looks at the list anew, if that is not too soon and the state is a later one. Returns whether it did.
    fn refresh(&self, txn: &RoTxn<'_>, state: u64) -> bool {
        let stale_pages = &self.stale;
        stale_pages.asked.fetch_max(state, Ordering::Relaxed);
        let begun = stale_pages.nanos();
        if begun < stale_pages.next.load(Ordering::Relaxed) {
            return false;
        }
        let Ok(mut known) = stale_pages.known.try_write() else { return false };
        if known.state >= state {
            return false;
        }
        let Some(header) = self.header(state) else { return false };
        let words = usize::try_from(header.last_page / 64 + 1).unwrap_or_default();
        known.pages.clear();
        known.pages.resize(words, 0);
        known.state = state;
        let mut taken = 0;
        self.each_list(txn, &header, |_, list| {
            for number in list {
                known.add(u64::from_le_bytes(*number));
            }
            taken += list.len();
            if taken < MOST { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        stale_pages.filter.take(&known.pages);
        stale_pages.state.store(state, Ordering::Release);
        drop(known);
        let ended = stale_pages.nanos();
        let pause = ended.saturating_sub(begun).saturating_mul(u64::from(SHARE)).max(PAUSE);
        stale_pages.next.store(ended.saturating_add(pause), Ordering::Relaxed);
        true
    }

    /// Begins to know the pages that are out of use in the state that a transaction reads. A damaged list teaches nothing.
    pub fn learn_stale_pages(&self, txn: &RoTxn<'_>) {
        self.refresh(txn, u64::try_from(txn.id()).unwrap_or(u64::MAX));
    }

    /// Shows each entry of the list of free pages: the transaction that freed the pages, and their numbers, in eight
    /// little-endian bytes each. Ends at a page that holds no list. Returns whether it came to the end.
    pub fn each_list(
        &self,
        txn: &RoTxn<'_>,
        header: &Header,
        mut take: impl FnMut(u64, &[[u8; 8]]) -> ControlFlow<()>,
    ) -> bool {
        let mut pending: Vec<(u64, u32)> = header.free_root.map(|root| (root, 0)).into_iter().collect();
        // No list has more pages than this; one that is damaged may lead in a circle.
        let mut left = MOST;
        while let Some((number, depth)) = pending.pop() {
            left = left.saturating_sub(1);
            let page = self.page(txn, number).and_then(|bytes| Page::parse(bytes, number));
            let Some(page) = page.filter(|_| left > 0 && depth < raw_pages::DEEPEST) else { return false };
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
                    let value = self.value(txn, &node)?;
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
}

impl StalePages {
    /// Returns whether the pages that are out of use in a state are known as well as they are going to be. Of a state
    /// that is later than what is known, the clock is asked once if another look is due, and at one page in so many, so
    /// that a reader of one state learns of it in time.
    #[inline]
    fn knows(&self, state: u64, looked_at: &[u64]) -> bool {
        self.state.load(Ordering::Acquire) >= state
            || self.asked.load(Ordering::Relaxed) >= state
                && looked_at.last().is_none_or(|page| !page.is_multiple_of(ONE_IN))
    }

    fn nanos(&self) -> u64 {
        u64::try_from(self.born.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
