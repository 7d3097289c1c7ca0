//! The list of free pages, before a process writes by it.
//!
//! LMDB takes the pages of the list as it finds them there. A number beyond the last page is cut to 48 bits where a branch
//! holds it, and leads from then on to whatever page has that number: a former one, say, whose entries are sound and out of
//! date, and which no list says is free any more. So the list is looked at once, under the lock of writers, before the
//! first write of each opening, and with it the [pages](crate::pre_cow_check) that writes come to change without a look at
//! them. What the same process frees later it has found in use.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use heed::RwTxn;

use crate::error::{Cause, Result};
use crate::header::Header;
use crate::met::MetPages;
use crate::raw_pages::FIRST_PAGE;
use crate::reader::PageReader;
use crate::used_pages::MOST_BRANCHES;

/// Whether the list was found right.
#[derive(Debug, Default)]
pub(crate) struct FreeList(AtomicBool);

impl PageReader {
    /// Refuses to write where the list of free pages can't be right, or a page of the small databases is damaged. They are
    /// looked at once, by the first write transaction of an opening that is asked about.
    #[inline]
    pub fn check_writable(&self, txn: &RwTxn<'_>) -> Result<()> {
        if self.free_list.0.load(Ordering::Relaxed) { Ok(()) } else { self.look_at_free_list(txn) }
    }

    #[cold]
    fn look_at_free_list(&self, txn: &RwTxn<'_>) -> Result<()> {
        let Some(header) = self.header_of_write(txn) else { return Ok(()) };
        let (mut is_right, mut used) = (true, self.used_pages(txn, &header, MOST_BRANCHES));
        let mut met = MetPages::of(&header);
        let is_whole = self.each_list(txn, &header, |freed_by, list| {
            let numbers = || list.iter().map(|page| u64::from_le_bytes(*page));
            is_right = can_be_right(&header, freed_by, list)
                && used.as_mut().is_none_or(|used| numbers().all(|page| used.add(page)));
            numbers().for_each(|page| met.add(page));
            if is_right { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if is_right && is_whole && self.pages_are_whole(txn, header.free_root, &mut met) {
            self.check_small_trees(txn, &header, &mut met)?;
            self.met.begin(met);
            self.free_list.0.store(true, Ordering::Relaxed);
            return Ok(());
        }
        Err(Cause::FreeList.into())
    }
}

/// Returns whether a list may be one of the state with this header: its numbers fall and are those of pages of the
/// file, and a transaction up to that state has freed them.
pub(crate) fn can_be_right(header: &Header, freed_by: u64, list: &[[u8; 8]]) -> bool {
    let numbers = || list.iter().map(|number| u64::from_le_bytes(*number));
    numbers().all(|number| (FIRST_PAGE..=header.last_page).contains(&number))
        && numbers().is_sorted_by(|one, next| one > next)
        && freed_by <= header.transaction
}
