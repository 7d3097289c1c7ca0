//! A last commit that is there, and of which a header page says that it never was.
//!
//! LMDB takes the header page with the greater number. One flipped bit can take two from the newest commit's number: the
//! commit before it is then the newest, sound in itself, and what was written last is gone without a word. But the page
//! still leads to the newest state, whose record says its true number.
//!
//! LMDB itself leaves the same bytes when a header could not be written: it takes the number back, since it can't know
//! what the disk has. So a process whose commit has failed in this way leaves a note with the commit's number beside
//! the file, and the next opening knows that the commit was never reported as done. Without a note the commit is in
//! doubt.
//!
//! What the older page leads to is whole as long as the page stands, since its pages are free to the commit after the next
//! one, and that begins when the next one has taken the page. Only a crash of a relaxed store may leave parts of that later
//! commit there. So no other number than two more than the page's says anything, and that one only where the whole state of
//! that commit is found: LMDB fills a page's gaps with what its memory held before, such as the leaf of a former commit, and a
//! crash may leave the gap of one page beside the head of another.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use lmdb_verify::Header;
use lmdb_verify::raw_pages::{self, Contents};

use table_engine::error::{Error, ErrorKind, Result};

use super::atomic_create::{self, DATA, Private};
use super::options::OpenOptions;
use crate::lmdb;
use crate::records::meta;

/// The number of the transaction that wrote the record which stands first in an environment, if it is sound.
pub(crate) type NumberOf = fn(&[u8]) -> Option<u64>;

/// The name of the note. It holds a number, and a checksum over it.
const NOTE: &str = "failed-commit";

/// Refuses a file whose last commit is in doubt, unless the options accept that it is lost.
pub(super) fn check(dir: &Path, file: &mut File, number_of: NumberOf, options: &OpenOptions) -> Result<()> {
    let of = |error| lmdb::file_damage(error, &dir.join(DATA), "");
    let noted = noted(dir);
    let found = match suspect(file, number_of).map_err(of)? {
        Some(state) if stands(file, &state).map_err(of)? => Some(state.transaction),
        _ => None,
    };
    let Some(doubtful) = found else {
        let newest = Header::read(file).map_err(of)?.transaction;
        if !options.read_only && noted.is_some_and(|noted| noted <= newest) {
            // Another commit has that number since. One that is never removed says nothing of those to come.
            fs::remove_file(dir.join(NOTE)).unwrap_or_default();
        }
        return Ok(());
    };
    if noted == Some(doubtful) || options.accept_lost_commit {
        return Ok(());
    }
    Err(Error::new(ErrorKind::OutcomeUnknown).because(format!(
        "`{}` holds commit {doubtful}, and its header says that this one never was: the header is damaged, or the disk \
         failed while it was written; open a copy, or go on without that commit by `OpenOptions::accept_lost_commit`",
        dir.join(DATA).display()
    )))
}

/// Notes the number of a commit that has just failed, if the file looks as if its header were damaged. Where the disk takes no
/// note the commit stays in doubt.
#[cold]
pub(super) fn note(dir: &Path, number_of: NumberOf) {
    let write = || -> Option<()> {
        let doubtful = suspect(&mut File::open(dir.join(DATA)).ok()?, number_of).ok()??.transaction;
        let private = Private::new(dir).ok()?;
        let made = private.path().join(NOTE);
        let mut file = File::create_new(&made).ok()?;
        file.write_all(&meta::sealed(NOTE.as_bytes(), doubtful.to_le_bytes().to_vec())).ok()?;
        file.sync_all().ok()?;
        fs::rename(made, dir.join(NOTE)).ok()?;
        atomic_create::flush(dir).ok()
    };
    write().unwrap_or_default();
}

/// Returns the number of the commit that has failed, as it was noted.
fn noted(dir: &Path) -> Option<u64> {
    /// More bytes than a note has.
    const MOST: u64 = 64;
    let path = dir.join(NOTE);
    if !fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(u64::from_le_bytes(meta::opened(NOTE.as_bytes(), &bytes)?.try_into().ok()?))
}

/// Returns the header of the commit that the file seems to hold, and of which its header page says that it never was.
fn suspect(file: &mut (impl Read + Seek), number_of: NumberOf) -> lmdb_verify::Result<Option<Header>> {
    let (newer, older) = Header::read_both(file)?;
    if older.main_root.is_none() {
        return Ok(None);
    }
    let leaf = match raw_pages::first_leaf(file, &older) {
        Ok((_, leaf)) => leaf,
        Err(error) if error.is_unread() => return Err(error),
        Err(_) => return Ok(None),
    };
    let Some(written) = raw_pages::first_value(&leaf).and_then(number_of) else { return Ok(None) };
    if newer.main_root.is_none() {
        // The page that a compacted copy begins with leads nowhere, and is never the newer one.
        return Err(lmdb_verify::Error::file(format!(
            "is damaged: its newer header page leads nowhere, and the other one to what commit {written} has written"
        )));
    }
    let is_next_but_one = written.checked_sub(older.transaction) == Some(2);
    Ok(is_next_but_one.then_some(Header { transaction: written, ..older }))
}

/// Returns whether all of that commit's state is there, as it is behind a header page whose number alone is wrong.
/// Every commit frees pages, so the list of free pages has the number, too.
fn stands(file: &mut (impl Read + Seek), state: &Header) -> lmdb_verify::Result<bool> {
    let length = file.seek(SeekFrom::End(0)).map_err(lmdb_verify::Error::unread)?;
    let mut last_freed = 0;
    let looked = raw_pages::verify(file, state, length, Contents::Unread).and_then(|_| {
        raw_pages::each_freed(file, state, |freed| {
            last_freed = freed.transaction;
            Ok(())
        })
    });
    match looked {
        Ok(()) => Ok(last_freed == state.transaction),
        Err(error) if error.is_unread() => Err(error),
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::Store;
    use crate::records::meta::Meta;
    use table_engine::model::DynamicEntity;

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
            Err(error) => assert!(
                [ErrorKind::Corrupt, ErrorKind::OutcomeUnknown].contains(&error.kind()),
                "{}: {error}",
                dir.display()
            ),
        }
    }

    #[test]
    fn no_flipped_bit_of_a_number_leads_to_a_previous_state() {
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

    /// A store in this new directory whose last commit is in doubt, the number of that commit and the rows before it.
    fn in_doubt(dir: &Path) -> (u64, u64) {
        for commits in 4.. {
            let dir_of = dir.join(commits.to_string());
            let mut data = data_after(&dir_of, commits);
            let newest = Header::read(&mut std::io::Cursor::new(&data)).unwrap().transaction;
            if newest & 2 == 2 {
                data[usize::try_from(newest % 2).unwrap() * 4_096 + NUMBER] ^= 2;
                fs::write(dir.join(DATA), data).unwrap();
                return (newest, u64::from(commits) - 1);
            }
        }
        unreachable!("every other number has that bit")
    }

    #[test]
    fn a_commit_in_doubt_is_told_and_may_be_accepted_as_lost() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("store");
        fs::create_dir(&dir).unwrap();
        let (number, rows) = in_doubt(&dir);
        for _ in 0..2 {
            let error = Store::open(&dir).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
            assert!(error.to_string().contains(&format!("commit {number}")), "{error}");
            assert!(Store::options().read_only(true).open(&dir).is_err());
        }
        let store = Store::options().accept_lost_commit(true).open(&dir).unwrap();
        assert_eq!(store.check().unwrap().rows, rows);
        let table = store.dynamic_table("Company").unwrap();
        table.insert(&DynamicEntity::new("Sales", "after")).unwrap();
        drop((store, table));
        // The next commit has taken the page, and nothing is in doubt any more.
        assert_eq!(Store::open(&dir).unwrap().check().unwrap().rows, rows + 1);
    }

    #[test]
    fn a_part_of_a_later_commit_puts_nothing_in_doubt() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("store");
        fs::create_dir(&dir).unwrap();
        let (_, rows) = in_doubt(&dir);
        let mut data = fs::read(dir.join(DATA)).unwrap();
        // The record's leaf says that commit's number still; what it says of the trees is of another page.
        let (_, older) = Header::read_both(&mut std::io::Cursor::new(&data)).unwrap();
        let leaf = usize::try_from(older.main_root.unwrap() * older.page_size).unwrap();
        let name = data[leaf..leaf + 4_096].windows(7).position(|bytes| bytes == b"catalog").unwrap();
        data[leaf + name + 7 + 40] ^= 1;
        fs::write(dir.join(DATA), data).unwrap();
        let store = Store::open(&dir).unwrap();
        let report = store.check().unwrap();
        assert_eq!((report.rows, report.problems.len()), (rows, 0));
    }

    #[test]
    fn a_note_says_that_nobody_was_told_of_the_commit() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("store");
        fs::create_dir(&dir).unwrap();
        let (number, rows) = in_doubt(&dir);
        note(&dir, Meta::number_of);
        assert_eq!(noted(&dir), Some(number));
        let store = Store::open(&dir).unwrap();
        assert_eq!(store.check().unwrap().rows, rows);
        store.create_table("Next").unwrap();
        drop(store);
        // It stays for as long as it may be needed.
        drop(Store::open(&dir).unwrap());
        assert_eq!(noted(&dir), None);
    }

    #[test]
    fn a_note_of_another_commit_or_a_damaged_one_says_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("store");
        fs::create_dir(&dir).unwrap();
        let (number, _) = in_doubt(&dir);
        let note = |number: u64| meta::sealed(NOTE.as_bytes(), number.to_le_bytes().to_vec());
        let mut damaged = note(number);
        damaged[0] ^= 1;
        for bytes in [note(number + 1), note(number - 2), damaged, Vec::new(), vec![7; 1_000]] {
            fs::write(dir.join(NOTE), bytes).unwrap();
            assert_eq!(Store::open(&dir).unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        }
        fs::remove_file(dir.join(NOTE)).unwrap();
        fs::create_dir(dir.join(NOTE)).unwrap();
        assert_eq!(Store::open(&dir).unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    }

    #[test]
    fn a_sound_store_gets_no_note() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path().join("store");
        data_after(&dir, 5);
        note(&dir, Meta::number_of);
        assert_eq!(noted(&dir), None);
    }
}
