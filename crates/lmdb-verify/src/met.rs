//! Which pages a write may change without a look at them.
//!
//! A page is looked at when a write first comes to it, as a page that comes from the disk is elsewhere. From then on a bit
//! says so. The pages that were free when this process began to write have their bits from the start, as those behind the
//! file's last one have: whatever stands there later was written since, by a process that had looked at what it was made of.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::header::Header;
use crate::page_set::PageSet;
use crate::raw_pages::FIRST_PAGE;

/// The pages of the file that have been looked at.
#[derive(Debug, Default)]
pub(crate) struct Met {
    /// Whether all pages have been looked at.
    all: AtomicBool,
    pages: Mutex<MetPages>,
}

/// The pages that the file had when this process began to write, a bit for each that was free then or has been looked at.
#[derive(Debug, Default)]
pub(crate) struct MetPages {
    bits: PageSet,
    /// The last page that the file had.
    last: u64,
    /// How many pages have no bit yet.
    left: u64,
}

impl MetPages {
    /// Returns a set without any of the pages of the state with this header.
    pub(crate) fn of(header: &Header) -> Self {
        let left = (header.last_page + 1).saturating_sub(FIRST_PAGE);
        Self { bits: PageSet::up_to(header.last_page), last: header.last_page, left }
    }

    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        number > self.last || !self.bits.lacks(number)
    }

    pub(crate) fn add(&mut self, number: u64) {
        if (FIRST_PAGE..=self.last).contains(&number) && self.bits.add(number) {
            self.left = self.left.saturating_sub(1);
        }
    }

    /// Returns whether every page has its bit.
    pub(crate) fn are_all(&self) -> bool {
        self.left == 0
    }
}

impl Met {
    /// Returns whether all pages have been looked at.
    #[inline]
    pub(crate) fn are_all(&self) -> bool {
        self.all.load(Ordering::Relaxed)
    }

    /// Notes that all pages have been looked at.
    pub(crate) fn meet_all(&self) {
        self.all.store(true, Ordering::Relaxed);
    }

    /// Begins with this set, before the process writes.
    pub(crate) fn begin(&self, pages: MetPages) {
        if pages.are_all() {
            self.meet_all();
        }
        *self.pages() = pages;
    }

    /// Returns the pages one by one, for a caller that has the write lock.
    pub(crate) fn pages(&self) -> MutexGuard<'_, MetPages> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
