//! Who may open a store, and who may put another file in its place: never both at once.
//!
//! LMDB opens the lock file and then the data file, each by its name. Between the two nobody may exchange them, or one
//! file would be written under the other one's lock. So whoever opens holds a shared lock of the directory meanwhile,
//! and whoever exchanges an exclusive one. It is `flock`'s, which goes with the descriptor, and has nothing to do with
//! the locks that LMDB keeps.

use std::fs::File;
use std::io;
use std::path::Path;

use super::place;
use crate::error::Result;

/// The lock of a store's directory; let go of when dropped.
#[derive(Debug)]
pub(super) struct Turn {
    #[expect(dead_code, reason = "held, and let go of when dropped")]
    dir: Option<File>,
}

impl Turn {
    /// Waits until nobody is exchanging the store's files, and keeps others from it.
    pub(super) fn to_open(dir: &Path) -> Result<Self> {
        match Self::take(dir, File::lock_shared) {
            // Then nobody exchanges files there either.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(Self { dir: None }),
            taken => taken.map_err(|error| place::failed("locking the directory", dir, error)),
        }
    }

    /// Waits until nobody is opening the store, and keeps others from it.
    pub(super) fn to_exchange(dir: &Path) -> Result<Self> {
        Self::take(dir, File::lock).map_err(|error| place::failed("locking the directory", dir, error))
    }

    #[cfg(unix)]
    fn take(dir: &Path, lock: impl Fn(&File) -> io::Result<()>) -> io::Result<Self> {
        let file = File::open(dir)?;
        loop {
            match lock(&file) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked.map(|()| Self { dir: Some(file) }),
            }
        }
    }

    /// Elsewhere a directory is no file.
    #[cfg(not(unix))]
    fn take(_: &Path, _: impl Fn(&File) -> io::Result<()>) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
