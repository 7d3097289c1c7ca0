//! The pages that are in use, as far as branches tell.
//!
//! Nothing in the list of free pages says that a number is right: one flipped bit may make it another page's, which
//! LMDB then gives to the next write, and the page's contents are lost. The branches have the numbers of all pages of
//! the trees but their roots, and are a hundredth of them. Pages of large values are not told: a value that is written
//! over is found by its checksum.

use heed::RoTxn;

use crate::header::Header;
use crate::page_set::PageSet;
use crate::pages::SUB_DATABASE;
use crate::raw_pages::DEEPEST;
use crate::reader::PageReader;
use crate::tree::{NO_PAGE, Page, TreeRecord, described, described_with_flags};

/// The most branches that are read before the first write: those of some five gigabytes of entries, by reckoning. More
/// would take longer than that is worth; [`PageReader::check_pages`] looks at all there is.
pub(crate) const MOST_BRANCHES: usize = 1 << 14;

/// A page of a tree that is to be looked at.
struct Place {
    number: u64,
    /// How many levels the tree has from here down to the leaves.
    levels: u32,
    /// Whether databases are entries of the tree's leaves.
    is_main: bool,
}

impl PageReader {
    /// Returns the branches and leaves that a state uses, where it has `most` branches or fewer. What damaged pages
    /// lead to is not among them.
    pub(crate) fn used_pages(&self, txn: &RoTxn<'_>, header: &Header, most: usize) -> Option<PageSet> {
        let mut used = PageSet::up_to(header.last_page);
        let (mut pending, mut branches) = (Vec::new(), 0);
        let begin = |pending: &mut Vec<Place>, used: &mut PageSet, tree: TreeRecord, is_main| {
            let TreeRecord { depth: levels, root: number, .. } = tree;
            if number != NO_PAGE && (1..=DEEPEST).contains(&levels) {
                used.add(number);
                pending.push(Place { number, levels, is_main });
            }
        };
        for (record, is_main) in header.trees.iter().zip([false, true]) {
            if let Some((_, tree)) = described_with_flags(record) {
                begin(&mut pending, &mut used, tree, is_main);
            }
        }
        while let Some(Place { number, levels, is_main }) = pending.pop() {
            if levels == 1 && !is_main {
                continue;
            }
            let page = self.page(txn, number).and_then(|bytes| Page::parse(bytes, number));
            let Some(page) = page.filter(|page| page.is_branch() == (levels > 1)) else { continue };
            branches += usize::from(page.is_branch());
            if branches > most {
                return None;
            }
            for node in (0..page.len()).filter_map(|at| page.node(at)) {
                if page.is_branch() {
                    used.add(node.child());
                    // Of a leaf no more is asked, but where databases may be its entries.
                    if levels > 2 || is_main {
                        pending.push(Place { number: node.child(), levels: levels - 1, is_main });
                    }
                } else if node.flags & SUB_DATABASE != 0 {
                    let record = usize::try_from(node.size).ok().and_then(|size| node.rest.get(..size));
                    if let Some(tree) = record.and_then(described) {
                        begin(&mut pending, &mut used, tree, false);
                    }
                }
            }
        }
        Some(used)
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::raw_pages::FIRST_PAGE;
    use crate::tests::Scratch;

    #[test]
    fn each_page_of_a_sound_environment_is_used_or_free_and_no_more_branches_are_read_than_may_be() {
        let scratch = Scratch::new();
        // So long that a branch has few of them.
        let key = |number: u32| format!("{}{number}", "x".repeat(300));
        for number in 0..100 {
            scratch.put(key(number).as_bytes(), &[b'y'; 300]);
        }
        for number in 0..50 {
            scratch.delete(key(number).as_bytes());
        }
        let (reader, txn) = (&scratch.reader, scratch.read_txn());
        let header = reader.header(u64::try_from(txn.id()).unwrap()).unwrap();
        let used = |most| reader.used_pages(&txn, &header, most);
        let mut known = used(MOST_BRANCHES).unwrap();
        let complete = reader.each_list(&txn, &header, |_, list| {
            assert!(list.iter().all(|page| known.add(u64::from_le_bytes(*page))));
            ControlFlow::Continue(())
        });
        assert!(complete);
        assert!((FIRST_PAGE..=header.last_page).all(|page| !known.add(page)));
        let branches = (0..MOST_BRANCHES).find(|most| used(*most).is_some()).unwrap();
        assert!(branches > 2 && used(branches - 1).is_none(), "{branches}");
    }
}
