//! The lock of a store's directory: an opening of a store and an exchange of its file never happen at once.
//!
//! LMDB opens the lock file and then the data file, each by its name. Between the two no process may exchange them, or
//! one file would be written under the other's lock. So an opening holds a shared lock of the directory meanwhile, and
//! an exchange an exclusive one. It is a lock by `flock`, which goes with the descriptor, and is none of LMDB's.
//!
//! The wait for it is as long as an opening or a small compaction takes: some other program may hold the lock for ever.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};
use std::{io, thread};

use table_engine::error::{Error, ErrorKind, Result};

use super::atomic_create;

/// How long to wait for the lock.
pub(super) const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 2_000 } else { 10_000 });

/// The longest pause before the lock is asked for again; pauses grow up to this.
const LATEST: Duration = Duration::from_millis(5);

/// The lock of a store's directory; let go of when dropped.
#[derive(Debug)]
pub(super) struct OpenLock {
    #[expect(dead_code, reason = "held, and let go of when dropped")]
    dir: Option<File>,
}

impl OpenLock {
    /// Waits until no process exchanges the store's files, and keeps others from doing so.
    pub(super) fn to_open(dir: &Path) -> Result<Self> {
        match Self::take(dir, File::try_lock_shared) {
            // Where no lock can be had, no process can exchange files either.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Self { dir: None })
            }
            taken => taken.map_err(|error| refused(dir, error)),
        }
    }

    /// Waits until no process opens the store, and keeps others from doing so.
    pub(super) fn to_exchange(dir: &Path) -> Result<Self> {
        Self::take(dir, File::try_lock).map_err(|error| refused(dir, error))
    }

    /// Takes the lock. Asks for it again and again, since the system has no wait for a lock that ends by itself.
    #[cfg(unix)]
    fn take(dir: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Self, TryLockError> {
        let file = File::open(dir).map_err(TryLockError::Error)?;
        let deadline = Instant::now() + PATIENCE;
        let mut pause = LATEST / 64;
        loop {
            match lock(&file) {
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(pause);
                    pause = LATEST.min(pause * 2);
                }
                locked => return locked.map(|()| Self { dir: Some(file) }),
            }
        }
    }

    /// Takes no lock: on this system a directory can't be opened as a file.
    #[cfg(not(unix))]
    fn take(_: &Path, _: impl Fn(&File) -> Result<(), TryLockError>) -> Result<Self, TryLockError> {
        Err(TryLockError::Error(io::ErrorKind::Unsupported.into()))
    }
}

#[cold]
fn refused(dir: &Path, error: TryLockError) -> Error {
    match error {
        TryLockError::Error(error) => atomic_create::failed("locking the directory", dir, error),
        TryLockError::WouldBlock => Error::new(ErrorKind::StoreBusy).because(format!(
            "`{}` has been locked for {PATIENCE:?}: another process compacts the store or opens it, or holds a lock \
             (`flock`) of the directory itself, which belongs elsewhere; try again when it is done",
            dir.display()
        )),
    }
}
