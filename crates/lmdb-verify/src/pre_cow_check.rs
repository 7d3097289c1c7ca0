//! Pages that LMDB copies to change them.
//!
//! It copies what lies before the room on a page, and what lies behind it, as the page's header says where that ends. Where a
//! flipped bit says otherwise the copy lacks entries, and has in their place what the memory held before: such as those of a
//! former page. Of the large databases each page is looked at on the way to what is changed. The list of
//! free pages and the small databases are looked at as a whole, before the first write of each opening.

use heed::RoTxn;

use crate::error::{Cause, Error, Result, damaged};
use crate::header::Header;
use crate::met::MetPages;
use crate::pages::{BIG_DATA, SUB_DATABASE};
use crate::reader::PageReader;
use crate::tree::{Page, TreeRecord, described};

impl PageReader {
    /// Returns whether the pages of a tree are filled by their entries, as far as they are branches and leaves of it.
    /// They are added to those that have been looked at, with those of its values.
    pub(crate) fn pages_are_whole(&self, txn: &RoTxn<'_>, root: Option<u64>, met: &mut MetPages) -> bool {
        let mut pending: Vec<u64> = root.into_iter().collect();
        while let Some(number) = pending.pop() {
            let page = self.page(txn, number).and_then(|bytes| Page::parse(bytes, number));
            let Some(page) = page.filter(Page::is_whole) else { return false };
            // A page may lead back.
            if met.has(number) {
                return false;
            }
            met.add(number);
            for at in 0..page.len() {
                let Some(node) = page.node(at) else { return false };
                if page.is_branch() {
                    pending.push(node.child());
                } else if node.flags & BIG_DATA != 0 {
                    let Some(value) = self.value(txn, &node) else { return false };
                    // A number that is greater than the value needs may be damage, and as large as any.
                    if self.pages().has_spare(value).is_ok_and(|spare| !spare) {
                        self.pages().run_of(value).for_each(|number| met.add(number));
                    }
                } else if node.flags & !SUB_DATABASE != 0 {
                    // Of an entry that is said to have several values LMDB ends the process.
                    return false;
                }
            }
        }
        true
    }

    /// Makes sure of the pages of the unnamed database and of the [small](crate::Names::small) ones.
    pub(crate) fn check_small_trees(
        &self,
        txn: &RoTxn<'_>,
        header: &Header,
        met: &mut MetPages,
    ) -> Result<()> {
        let damaged_in = |name: &str| Error::from(Cause::Database(name.to_owned()));
        if !self.pages_are_whole(txn, header.main_root, met) {
            return Err(damaged_in("main"));
        }
        for name in self.names().small {
            let record = self.record(txn, name)?;
            let TreeRecord { depth, root, .. } = record.and_then(described).ok_or_else(damaged)?;
            if depth > 0 && !self.pages_are_whole(txn, Some(root), met) {
                return Err(damaged_in(name));
            }
        }
        Ok(())
    }
}
