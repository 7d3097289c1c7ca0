//! The header page that is not taken: a damaged number may have made it the older one of the two.
//!
//! LMDB takes the header page with the greater number. One flipped bit can take two from the newest commit's number; then
//! the commit before it is the newest, sound in itself, and what was written last is gone without a word. But the other
//! page still leads to the newest state, whose record says its true number.
//!
//! The older page's state is whole as long as its page stands: its pages are free to the commit after the next one, which
//! begins when the next one has taken the page. Only a crash of a relaxed store may leave parts of that later commit
//! there. So a record of exactly two commits later is damage, and whatever else is there says nothing.

use std::io::{Read, Seek};

use super::header::{Flaw, Header};
use super::page_walk;

/// The number of the transaction that wrote the record which stands first in an environment, if it is sound.
pub(crate) type NumberOf = fn(&[u8]) -> Option<u64>;

/// Refuses a file whose newest commit has the number of the one two before it, or in which the empty page that a copy
/// begins with passes for the newest.
pub(super) fn check(file: &mut (impl Read + Seek), number_of: NumberOf) -> Result<(), Flaw> {
    let (newer, older) = Header::read_both(file)?;
    if older.main_root.is_none() {
        return Ok(());
    }
    let leaf = match page_walk::first_leaf(file, &older) {
        Ok((_, leaf)) => leaf,
        Err(Flaw::Unfit(..)) => return Ok(()),
        Err(unread) => return Err(unread),
    };
    let Some(written) = page_walk::first_value(&leaf).and_then(number_of) else { return Ok(()) };
    if written.checked_sub(older.transaction) == Some(2) || newer.main_root.is_none() {
        return Err(Flaw::corrupt(format!(
            "is damaged: one header page has the number {} and leads to what commit {written} has written, the other has \
             the number {} and leads to what was there before",
            older.transaction, newer.transaction
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use crate::error::ErrorKind;
    use crate::model::DynamicEntity;
    use crate::store::Store;

    /// Where a header page has the number of its commit.
    const NUMBER: usize = 16 + 24 + 2 * 48 + 8;

    /// The store's data after so many commits more than the first ones, each of which writes a row.
    fn data_after(dir: &Path, commits: u32) -> Vec<u8> {
        let store = Store::open(dir).unwrap();
        let table = store.create_table("Company").unwrap();
        for row in 0..commits {
            table.insert(&DynamicEntity::new("Sales", format!("{row:04}"))).unwrap();
        }
        drop((store, table));
        fs::read(dir.join("data.mdb")).unwrap()
    }

    /// A store in this new directory with this data, but for one bit of a page's number, can't be opened.
    fn is_refused(dir: &Path, sound: &[u8], page: usize, bit: usize) {
        let mut data = sound.to_vec();
        data[page + NUMBER + bit / 8] ^= 1 << (bit % 8);
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("data.mdb"), data).unwrap();
        match Store::open(dir) {
            Ok(_) => panic!("{} was opened", dir.display()),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{}: {error}", dir.display()),
        }
    }

    #[test]
    fn no_flipped_bit_of_a_number_leads_to_a_former_state() {
        let scratch = tempfile::tempdir().unwrap();
        for commits in 4..8 {
            let dir = scratch.path().join(commits.to_string());
            let sound = data_after(&dir, commits);
            for (page, bit) in [0, 4_096].into_iter().flat_map(|page| (0..64).map(move |bit| (page, bit))) {
                is_refused(&scratch.path().join(format!("{commits} {page} {bit}")), &sound, page, bit);
            }
            // Without a flip it opens, and has all.
            let store = Store::open(&dir).unwrap();
            assert_eq!(store.check().unwrap().rows, u64::from(commits));
        }
    }

    #[test]
    fn a_copy_and_a_new_store_have_no_state_before() {
        let scratch = tempfile::tempdir().unwrap();
        let (dir, copy) = (scratch.path().join("store"), scratch.path().join("copy"));
        data_after(&dir, 5);
        let store = Store::open(&dir).unwrap();
        store.copy_to(&copy).unwrap();
        assert_eq!(Store::open(&copy).unwrap().check().unwrap().rows, 5);
        let sound = fs::read(copy.join("data.mdb")).unwrap();
        for (page, bit) in [0, 4_096].into_iter().flat_map(|page| (0..64).map(move |bit| (page, bit))) {
            is_refused(&scratch.path().join(format!("{page} {bit}")), &sound, page, bit);
        }
        drop(Store::open(scratch.path().join("new")).unwrap());
        assert!(Store::open(scratch.path().join("new")).unwrap().check().unwrap().problems.is_empty());
    }
}
