//! Header pages that may stand in memory alone, and not on the disk.
//!
//! LMDB is safe as long as the disk is at most one commit behind what it reads: a commit overwrites only pages that
//! the state before the last has freed. After a flush that failed the disk may stay behind for good. Linux takes the
//! pages that it could not write for clean: they stand in its cache, every process reads them, and no later flush
//! writes them. Where a header page is among them, the commits that follow overwrite what the header on the disk
//! leads to, and after a power failure the store is damaged.
//!
//! - With [`Durability::Relaxed`](super::Durability::Relaxed) the last commit's header is flushed with the next commit's
//!   pages. If that flush fails, it is lost.
//! - A header that was to be flushed by itself may have reached the disk although that failed. LMDB then takes it back
//!   in memory, and what is written next is what that header leads to.
//!
//! So both header pages are written again, as they are, and flushed, before anything else is. That happens after each
//! commit that failed, and before the first change of each opening, since another process's commit may have failed.
//! The pages of the state that the newest header leads to need no such care: they were flushed before it was written.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use lmdb_verify::Header;

use table_engine::error::{Error, ErrorKind, Result};

use super::commit_recovery::{self, NumberOf};
use crate::lmdb::{self, LmdbEnv, WriteTxn};

/// Two pages of the largest size.
const MOST: u64 = 2 * 65_536;

/// The way of an environment's commits to the disk.
#[derive(Debug)]
pub(super) struct MetaResync {
    /// Whether the disk is known to have the header pages that this process sees. Not yet, for one that is new.
    known: AtomicBool,
    /// The environment's directory.
    dir: PathBuf,
    number_of: NumberOf,
}

impl MetaResync {
    pub(super) fn new(dir: &Path, number_of: NumberOf) -> Self {
        Self { known: AtomicBool::new(false), dir: dir.to_owned(), number_of }
    }

    /// Begins a transaction that may commit, once it is safe to.
    pub(super) fn write_txn<'e>(&self, env: &'e LmdbEnv) -> Result<WriteTxn<'e>> {
        let txn = env.write_txn().map_err(lmdb::error)?;
        if !self.known.load(Ordering::Acquire) {
            self.rewrite(env, &txn)?;
        }
        Ok(txn)
    }

    /// Makes every commit so far durable, by whatever process. A flush alone would not: the last header may be
    /// one that the system takes for clean.
    pub(super) fn flush(&self, env: &LmdbEnv) -> Result<()> {
        let txn = env.write_txn().map_err(lmdb::error)?;
        self.rewrite(env, &txn)
    }

    /// Writes both header pages again. The transaction holds the lock, so no process changes them meanwhile.
    fn rewrite(&self, env: &LmdbEnv, txn: &WriteTxn<'_>) -> Result<()> {
        // A write transaction has the number that it will make.
        let rewritten = rewrite(env, txn.id().saturating_sub(1));
        self.known.store(rewritten.is_ok(), Ordering::Release);
        rewritten.map_err(|error| {
            error.because(
                "the store's header could not be flushed, as it must be now: the disk may have failed",
            )
        })
    }

    /// Commits a transaction. After an error it is not known what is on the disk.
    pub(super) fn commit(&self, txn: WriteTxn<'_>) -> Result<()> {
        txn.commit().map_err(|error| self.failed(error))
    }

    /// Returns the error of a commit, after which the header pages are to be written again.
    #[cold]
    pub(super) fn failed(&self, error: heed::Error) -> Error {
        self.known.store(false, Ordering::Release);
        commit_recovery::note(&self.dir, self.number_of);
        lmdb::error(error)
    }
}

/// Writes both header pages as they are, and flushes them. The caller holds the write lock.
fn rewrite(env: &LmdbEnv, last_commit: usize) -> Result<()> {
    // It shares its place in the file with LMDB's own, which only a writer uses.
    let mut file = env.try_clone_inner_file().map_err(lmdb::error)?;
    let pages = read(&mut file).map_err(lmdb::io_error)?;
    let header = Header::read(&mut Cursor::new(&pages)).ok();
    let last_commit = u64::try_from(last_commit).unwrap_or(u64::MAX);
    let Some(header) = header.filter(|header| header.transaction == last_commit) else {
        // Some file systems go back to what is on the disk. LMDB would go on from the commit that it remembers.
        return Err(Error::new(ErrorKind::OutcomeUnknown));
    };
    let length = usize::try_from(2 * header.page_size).unwrap_or(usize::MAX);
    let pages = pages.get(..length).unwrap_or(&pages);
    write(&mut file, pages).map_err(lmdb::io_error)
}

fn read(file: &mut File) -> io::Result<Vec<u8>> {
    let mut pages = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(MOST).read_to_end(&mut pages)?;
    Ok(pages)
}

fn write(file: &mut File, pages: &[u8]) -> io::Result<()> {
    #[cfg(test)]
    tests::reach()?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(pages)?;
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;

    use super::super::OpenOptions;
    use super::super::atomic_create::DATA;
    use super::super::tests::{Handle, open_store, open_with, scratch};
    use super::*;
    use crate::records::meta::Meta;

    thread_local! {
        /// How often the pages were written on this thread, and whether that is to fail.
        static WRITTEN: Cell<u32> = const { Cell::new(0) };
        static FAILS: Cell<bool> = const { Cell::new(false) };
    }

    pub(super) fn reach() -> io::Result<()> {
        WRITTEN.set(WRITTEN.get() + 1);
        if FAILS.get() { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    }

    fn change(store: &Handle) -> Result<()> {
        let mut txn = store.0.write_txn()?;
        let main = store.0.dbs.main;
        store.0.dbs.data.put(&mut txn, b"row", b"value").unwrap();
        Meta::begin(main, &txn)?.write(main, &mut txn)?;
        store.0.commit(txn)
    }

    #[test]
    fn the_first_change_writes_the_header_pages_again_and_those_after_it_do_not() {
        let dir = scratch();
        for opening in 1..=3 {
            let store = open_store(dir.path()).unwrap();
            let before = fs::read(dir.path().join(DATA)).unwrap();
            assert_eq!(WRITTEN.get(), opening - 1, "opening alone writes nothing");
            drop(store.0.write_txn().unwrap());
            assert_eq!(fs::read(dir.path().join(DATA)).unwrap(), before);
            change(&store).unwrap();
            change(&store).unwrap();
            assert_eq!(WRITTEN.get(), opening);
        }
    }

    #[test]
    fn nothing_is_written_before_the_header_pages_are() {
        let dir = scratch();
        let store = open_store(dir.path()).unwrap();
        FAILS.set(true);
        for _ in 0..3 {
            let error = change(&store).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Io, "{error}");
            assert_eq!(store.read_all(), 0);
        }
        FAILS.set(false);
        change(&store).unwrap();
        assert_eq!(store.read_all(), 1);
    }

    #[test]
    fn a_flush_writes_them_always_and_one_that_fails_is_made_up_for() {
        let dir = scratch();
        let store = open_store(dir.path()).unwrap();
        change(&store).unwrap();
        store.0.flush().unwrap();
        assert_eq!(WRITTEN.get(), 2);
        FAILS.set(true);
        assert_eq!(store.0.flush().unwrap_err().kind(), ErrorKind::Io);
        assert_eq!(change(&store).unwrap_err().kind(), ErrorKind::Io);
        FAILS.set(false);
        change(&store).unwrap();
        assert_eq!(WRITTEN.get(), 5);
    }

    #[test]
    fn a_commit_that_fails_makes_the_next_change_write_them_again() {
        let dir = scratch();
        let store = open_with(dir.path(), &OpenOptions::default().map_size(1)).unwrap();
        change(&store).unwrap();
        assert_eq!(WRITTEN.get(), 1);
        // A change that fails spoils its transaction, so that it can't be committed.
        let mut txn = store.0.write_txn().unwrap();
        store.0.dbs.data.put(&mut txn, b"long", &vec![0; 1 << 20]).unwrap_err();
        store.0.commit(txn).unwrap_err();
        change(&store).unwrap();
        assert_eq!(WRITTEN.get(), 2);
    }

    #[test]
    fn a_file_that_has_gone_back_stops_the_writer() {
        let dir = scratch();
        let store = open_store(dir.path()).unwrap();
        let path = dir.path().join(DATA);
        change(&store).unwrap();
        let stale = fs::read(&path).unwrap();
        change(&store).unwrap();
        File::options().write(true).open(&path).unwrap().write_all(&stale[..8_192]).unwrap();
        store.0.meta_resync.known.store(false, Ordering::Release);
        assert_eq!(change(&store).unwrap_err().kind(), ErrorKind::OutcomeUnknown);
        assert_eq!(fs::read(&path).unwrap()[..8_192], stale[..8_192], "nothing was written");
    }
}
