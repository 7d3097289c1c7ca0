//! Compaction: a compacted copy takes the place of the store's file.
//!
//! One writers' lock covers making the copy and marking the old file, so the copy lacks nothing: later writers find the
//! mark. The lock file goes with the old file. Processes that have both open keep them, and find the mark; the new file
//! gets a lock file of its own. All of it happens in one [`OpenLock`], so no process opens one file under the other's
//! lock.
//!
//! A directory named [`MARK`] says how far the compaction has come. As long as the copy lies in it, the old file is the
//! store. Without the copy the new file is, and the lock file at hand may still be the old one's. The next opening goes on
//! from there ([`settled`]).
//!
//! The steps, and the file that is the store's after a crash behind each:
//!
//! 1. The directory's lock, then LMDB's writers' lock: the old file.
//! 2. A compacted copy in a private directory, with the number of its state; flushed and verified: the old file, and the
//!    next opening removes the private directory.
//! 3. The private directory renamed to [`MARK`], the store's directory flushed: the old file, and the next opening removes
//!    the copy.
//! 4. The bit *superseded* in the old file's own record, committed and flushed, which releases the writers' lock: the old
//!    file, which refuses everything until the next opening clears the bit.
//! 5. The copy renamed to `data.mdb`: the new file. The next opening flushes the directory and removes the old file's
//!    `lock.mdb` first.
//! 6. The directory flushed, `lock.mdb` and [`MARK`] removed: the new file.
//!
//! Every operation reads the store's own record in the snapshot or transaction that it begins, so handles on the old file
//! end with `Superseded`, while older snapshots read on. A file in which damage has lost pages can't be compacted: LMDB's
//! copy refuses it.

use std::path::Path;
use std::{fs, io};

use heed::CommitOrAbort;
use heed::types::Bytes;
use lmdb_verify::Header;
use lmdb_verify::raw_pages::{self, Contents};

use table_engine::error::{Error, ErrorKind, Result};

use super::atomic_create::{self, DATA, Private};
use super::lockfile::{self, LOCK};
use super::meta_resync::MetaResync;
use super::open_lock::OpenLock;
use super::{Environment, copy, filesystem, identify};
use crate::lmdb::{self, LmdbEnv};
use crate::records::meta::Meta;

/// The directory from which the copy goes to its place.
const MARK: &str = ".compacted";

/// Waits for a turn to open the store, within bounds, and finishes or takes back what a compaction has left unfinished.
pub(super) fn settled(dir: &Path, read_only: bool) -> Result<OpenLock> {
    let mark = dir.join(MARK);
    let is_left = || fs::symlink_metadata(&mark).is_ok();
    loop {
        let turn = OpenLock::to_open(dir)?;
        if !is_left() {
            return Ok(turn);
        }
        if read_only {
            return Err(broken_off(dir));
        }
        drop(turn);
        let _turn = OpenLock::to_exchange(dir)?;
        if is_left() {
            settle(dir, &mark)?;
        }
    }
}

/// Returns the error of a store that is opened for reading only, and would have to be mended first.
#[cold]
pub(super) fn broken_off(dir: &Path) -> Error {
    Error::new(ErrorKind::Incompatible).because(format!(
        "a compaction of the store at `{}` was broken off; open it once for writing",
        dir.display()
    ))
}

fn settle(dir: &Path, mark: &Path) -> Result<()> {
    match fs::symlink_metadata(mark.join(DATA)) {
        Ok(_) => take_back(dir, mark),
        Err(error) if error.kind() == io::ErrorKind::NotFound => finish(dir, mark),
        Err(error) => Err(atomic_create::failed("reading", mark, error)),
    }
}

/// Removes a copy that has not come to its place. One step makes it stop being a sign: its remains must not look like a
/// copy that has come to its place.
fn take_back(dir: &Path, mark: &Path) -> Result<()> {
    let private = Private::unmade(dir);
    fs::rename(mark, private.path()).map_err(|error| atomic_create::failed("removing", mark, error))?;
    atomic_create::flush(dir)
}

/// Removes the old file's lock once the new file is in place for good.
fn finish(dir: &Path, mark: &Path) -> Result<()> {
    let failed = |doing, path, error| Err(atomic_create::failed(doing, path, error));
    atomic_create::flush(dir)?;
    let lock = dir.join(LOCK);
    match fs::remove_file(&lock) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return failed("removing", &lock, error),
        _ => {}
    }
    match fs::remove_dir(mark) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => failed("removing", mark, error),
        _ => Ok(()),
    }
}

/// Puts a compacted copy in the place of an environment's file. The environment keeps the old file, which is marked. It is
/// to be closed, and the store opened again.
#[inline]
pub(crate) fn compact(environment: &Environment) -> Result<()> {
    let (dir, main) = (&*environment.path, environment.dbs.main);
    filesystem::check(dir)?;
    let _turn = OpenLock::to_exchange(dir)?;
    let (mark, data) = (dir.join(MARK), dir.join(DATA));
    if fs::symlink_metadata(&mark).is_ok() {
        settle(dir, &mark)?;
    }
    atomic_create::settle(dir)?;
    lockfile::check(dir)?;

    // From here on no process writes.
    let mut txn = environment.write_txn()?;
    let mut meta = Meta::begin(main, &txn)?;
    environment.check_in_place(&data)?;
    let private = Private::new(dir)?;
    make(environment, &private)?;
    atomic_create::flush(private.path())?;
    // The mark appears with the copy in it: without one it would say that the new file is in its place.
    fs::rename(private.path(), &mark).map_err(|error| atomic_create::failed("making", &mark, error))?;

    let marked = atomic_create::flush(dir)
        .and_then(|()| {
            meta.supersede();
            meta.write(main, &mut txn)?;
            environment.commit(txn)?;
            // The flush comes before the new file gets its name, at every level of durability.
            environment.flush()
        })
        .and_then(|()| {
            fs::rename(mark.join(DATA), &data)
                .map_err(|error| atomic_create::failed("putting in place", &data, error))
        });
    if let Err(error) = marked {
        // The mark in the old file goes when it is opened next.
        take_back(dir, &mark)?;
        return Err(error);
    }
    finish(dir, &mark)
}

/// Makes the copy and looks through it. The caller has the writers' lock.
#[inline]
fn make(environment: &Environment, private: &Private) -> Result<()> {
    let data = private.path().join(DATA);
    let mut file = copy::compacted(&environment.env, &data, Meta::transaction_of)?;
    let length = file.metadata().map_err(|error| atomic_create::failed("reading", &data, error))?.len();
    Header::read(&mut file)
        .and_then(|header| raw_pages::verify(&mut file, &header, length, Contents::Unread).map(drop))
        .map_err(|error| lmdb::file_damage(error, &data, ""))
}

/// Takes back the mark that a compaction has left in a file which is still the store's. The caller has had a [`OpenLock`]
/// since before it found the file under its name, so no compaction is on its way.
pub(super) fn revive(env: &LmdbEnv, dir: &Path) -> Result<()> {
    let txn = MetaResync::new(dir, Meta::number_of).write_txn(env)?;
    let revived = env.create_databases_and_commit(txn, |opener, txn| {
        let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
        Ok(match Meta::revive(main, txn) {
            Ok(()) => CommitOrAbort::Commit(()),
            Err(error) => CommitOrAbort::Abort(error),
        })
    });
    match revived.map_err(lmdb::error)? {
        CommitOrAbort::Commit(()) => Ok(()),
        CommitOrAbort::Abort(error) => Err(error),
    }
}

impl Environment {
    /// Makes sure that the environment's file is the one that has the store's name.
    fn check_in_place(&self, data: &Path) -> Result<()> {
        let there = super::open_data(data, false).and_then(|file| identify(&file, data))?;
        let mapped = self.env.try_clone_inner_file().map_err(lmdb::error)?;
        if there == identify(&mapped, data)? {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Superseded)
            .because(format!("`{}` is another file than the one that is open", data.display())))
    }
}
