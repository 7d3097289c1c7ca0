//! Pages that LMDB copies to change them.
//!
//! It copies what lies before the room on a page, and what lies behind it, as the page's header says where that ends. Where a
//! flipped bit says otherwise the copy lacks entries, and has in their place what the memory held before: such as those of a
//! former page. Of the rows, and of what the features keep, each page is looked at on the way to what is changed. The list of
//! free pages and the small databases are looked at as a whole, before the first write of each opening.

use table_engine::error::{Error, ErrorKind, Result};

use super::header::Header;
use super::met::MetPages;
use super::tree::{Page, TreeRecord, described};
use super::{Environment, NAMES};
use crate::lmdb;
use crate::lmdb::pages::{BIG_DATA, Pages, SUB_DATABASE, damaged};

impl Environment {
    /// Returns whether the pages of a tree are filled by their entries, as far as they are branches and leaves of it.
    /// They are added to those that have been looked at, with those of its values.
    pub(super) fn pages_are_whole(
        &self,
        pages: Pages,
        txn: &heed::RoTxn<'_>,
        root: Option<u64>,
        met: &mut MetPages,
    ) -> bool {
        let mut pending: Vec<u64> = root.into_iter().collect();
        while let Some(number) = pending.pop() {
            let page = self.page(pages, txn, number).and_then(|bytes| Page::parse(bytes, number));
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
                    let Some(value) = self.value(pages, txn, &node) else { return false };
                    // A number that is greater than the value needs may be damage, and as large as any.
                    if pages.has_spare(value).is_ok_and(|spare| !spare) {
                        pages.run_of(value).for_each(|number| met.add(number));
                    }
                } else if node.flags & !SUB_DATABASE != 0 {
                    // Of an entry that is said to have several values LMDB ends the process.
                    return false;
                }
            }
        }
        true
    }

    /// Makes sure of the pages of the small records, of the names, of the catalog, and of what is noted of dropped tables.
    pub(super) fn check_small_trees(
        &self,
        pages: Pages,
        txn: &heed::RoTxn<'_>,
        header: &Header,
        met: &mut MetPages,
    ) -> Result<()> {
        let damaged_in = |name: &str| {
            Error::new(ErrorKind::Corrupt).because(format!(
                "a page of LMDB's database `{name}` is damaged, and a write could lose what is on it; take the store from a \
                 backup, or copy what can be read by `Store::copy_to`"
            ))
        };
        if !self.pages_are_whole(pages, txn, header.main_root, met) {
            return Err(damaged_in("main"));
        }
        let [_, small @ ..] = NAMES;
        for name in small {
            let record = self.dbs.main.get(txn, name.as_bytes()).map_err(lmdb::error)?;
            let TreeRecord { depth, root, .. } = record.and_then(described).ok_or_else(damaged)?;
            if depth > 0 && !self.pages_are_whole(pages, txn, Some(root), met) {
                return Err(damaged_in(name));
            }
        }
        Ok(())
    }
}
