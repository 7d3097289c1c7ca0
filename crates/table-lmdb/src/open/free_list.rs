//! The list of free pages, before a process writes by it.
//!
//! LMDB takes the pages of the list as it finds them there. A number beyond the last page is cut to 48 bits where a branch
//! holds it, and leads from then on to whatever page has that number: a former one, say, whose rows are sound and out of
//! date, and which no list says is free any more. So the list is looked at once, under the lock of writers, before the
//! first write of each opening, and with it the [pages](super::pre_cow_check) that writes come to change without a look at
//! them. What the same process frees later it has found in use.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use table_engine::error::{Error, ErrorKind, Result};

use super::Environment;
use super::header::Header;
use super::met::MetPages;
use super::raw_pages::FIRST_PAGE;
use super::used_pages::MOST_BRANCHES;

/// Whether the list was found right.
#[derive(Debug, Default)]
pub(super) struct FreeList(AtomicBool);

impl Environment {
    /// Refuses to write where the list of free pages can't be right.
    #[inline]
    pub(super) fn check_free_list(&self, txn: &heed::RwTxn<'_>) -> Result<()> {
        if self.free_list.0.load(Ordering::Relaxed) { Ok(()) } else { self.look_at_free_list(txn) }
    }

    #[cold]
    fn look_at_free_list(&self, txn: &heed::RwTxn<'_>) -> Result<()> {
        let pages = self.dbs.pages;
        let Some(header) = self.header_of_write(pages, txn) else { return Ok(()) };
        let (mut is_right, mut used) = (true, self.used_pages(pages, txn, &header, MOST_BRANCHES));
        let mut met = MetPages::of(&header);
        let is_whole = self.each_list(pages, txn, &header, |freed_by, list| {
            let numbers = || list.iter().map(|page| u64::from_le_bytes(*page));
            is_right = can_be_right(&header, freed_by, list)
                && used.as_mut().is_none_or(|used| numbers().all(|page| used.add(page)));
            numbers().for_each(|page| met.add(page));
            if is_right { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        if is_right && is_whole && self.pages_are_whole(pages, txn, header.free_root, &mut met) {
            self.check_small_trees(pages, txn, &header, &mut met)?;
            self.met.begin(met);
            self.free_list.0.store(true, Ordering::Relaxed);
            return Ok(());
        }
        Err(Error::new(ErrorKind::Corrupt).because(
            "the list of free pages is damaged, and a write by it could overwrite what is in use; take the store from a \
             backup, or copy what can be read by `Store::copy_to`",
        ))
    }
}

/// Returns whether a list may be one of the state with this header: its numbers fall and are those of pages of the
/// file, and a transaction up to that state has freed them.
pub(super) fn can_be_right(header: &Header, freed_by: u64, list: &[[u8; 8]]) -> bool {
    let numbers = || list.iter().map(|number| u64::from_le_bytes(*number));
    numbers().all(|number| (FIRST_PAGE..=header.last_page).contains(&number))
        && numbers().is_sorted_by(|one, next| one > next)
        && freed_by <= header.transaction
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::Store;
    use table_engine::DynamicEntity;

    fn row(number: u32) -> DynamicEntity {
        DynamicEntity::new("p", format!("row {number:04}")).with("Number", 7)
    }

    /// A store of which many pages are free.
    fn store(path: &Path) -> Store {
        let store = Store::open(path).unwrap();
        let table = store.create_table("Table").unwrap();
        for number in 0..200 {
            table.insert(&row(number)).unwrap();
        }
        for number in 0..100 {
            table.delete("p", &format!("row {number:04}")).unwrap();
        }
        store
    }

    /// Flips bits of a store's file, each in a copy: nothing can be written then, and everything be read.
    fn nothing_is_written(dir: &Path, file: &[u8], flips: impl Iterator<Item = (usize, usize)>) {
        for (flip, (at, bit)) in flips.enumerate() {
            let path = dir.join(format!("flip {flip}"));
            fs::create_dir(&path).unwrap();
            let mut damaged = file.to_vec();
            damaged[at] ^= 1 << bit;
            fs::write(path.join("data.mdb"), damaged).unwrap();
            let store = Store::open(&path).unwrap();
            let table = store.dynamic_table("Table").unwrap();
            for _ in 0..2 {
                assert_eq!(
                    table.insert(&row(0)).unwrap_err().kind(),
                    ErrorKind::Corrupt,
                    "byte {at}, bit {bit}"
                );
            }
            assert_eq!(table.get("p", "row 0150").unwrap().unwrap().get("Number"), row(0).get("Number"));
            assert!(!store.check().unwrap().problems.is_empty());
        }
    }

    #[test]
    fn nothing_is_written_by_a_list_of_free_pages_whose_own_pages_are_not_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("whole");
        drop(store(&path));
        let file = fs::read(path.join("data.mdb")).unwrap();
        let header = Header::read(&mut std::io::Cursor::new(&file)).unwrap();
        let page = usize::try_from(header.free_root.unwrap() * header.page_size).unwrap();
        // Where the room on the page ends.
        let bytes = [page + 14, page + 15];
        nothing_is_written(
            dir.path(),
            &file,
            bytes.into_iter().flat_map(|at| (0..8).map(move |bit| (at, bit))),
        );
    }

    #[test]
    fn nothing_is_written_by_a_list_of_free_pages_that_can_not_be_right() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("whole");
        let store = store(&path);
        // Where the numbers lie in the file.
        let environment = &store.shared().environment;
        let (pages, txn) = (environment.dbs.pages, environment.read_txn().unwrap());
        let header = environment.header(pages, u64::try_from(txn.id()).unwrap()).unwrap();
        let mut places = Vec::new();
        environment.each_list(pages, &txn, &header, |_, list| {
            for number in list {
                let page = usize::try_from(pages.number(number).unwrap()).unwrap();
                let at = page * pages.size() + number.as_ptr().addr() % pages.size();
                places.push(at);
            }
            ControlFlow::Continue(())
        });
        assert!(places.len() > 3, "{places:?}");
        drop(txn);
        drop(store);
        let file = fs::read(path.join("data.mdb")).unwrap();
        // The number becomes one of no page, another's that is free, or one's that is in use.
        let flips = (0..64).map(|bit| (places[bit % places.len()] + bit / 8, bit % 8));
        nothing_is_written(dir.path(), &file, flips.chain(places.iter().map(|at| (*at, 0))));
    }
}
