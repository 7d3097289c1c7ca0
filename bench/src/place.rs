//! Directories for one run, which nobody else uses, and which are removed when it ends.
//!
//! A run that is killed removes nothing, and process numbers come again, at once where each run has a container of
//! its own. So a directory is a run's while the run holds a lock on it, and what is found in one that nobody holds is
//! removed before it is used: an engine that opened another run's files would find its keys there.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

const NAME: &str = "table-bench-run";
/// Runs at one time, at most.
const MOST: usize = 1_000;

/// A directory that is this run's until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    /// Held, not read.
    _lock: File,
}

impl Place {
    /// In memory, where a flush costs nothing.
    pub(crate) fn in_memory() -> io::Result<Self> {
        Self::under(&memory(), NAME)
    }

    /// Beside this program, on the disk that it was built on.
    pub(crate) fn on_disk() -> io::Result<Self> {
        Self::under(&disk()?, NAME)
    }

    /// In memory if there is a file system there.
    pub(crate) fn for_tests(name: &str) -> io::Result<Self> {
        let parent = if memory().is_dir() { memory() } else { std::env::temp_dir() };
        Self::under(&parent, &format!("table-bench-test-{name}"))
    }

    /// The first directory of this name that nobody holds, emptied.
    fn under(parent: &Path, name: &str) -> io::Result<Self> {
        for number in 0..MOST {
            let path = parent.join(format!("{name}-{number}"));
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            if let Some(place) = Self::hold(path)? {
                place.empty()?;
                return Ok(place);
            }
        }
        Err(io::Error::other(format!("{MOST} runs are using the benchmark's directories")))
    }

    /// Takes a directory over, if nobody holds it.
    fn hold(path: PathBuf) -> io::Result<Option<Self>> {
        let lock = match File::open(&path) {
            // Its run has just ended, or it is another user's.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) =>
            {
                return Ok(None);
            }
            opened => opened?,
        };
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(error),
        }
        // A run that ends removes its directory under its lock: what was locked here may have no name any more.
        Ok(is_at(&lock, &path)?.then_some(Self { path, _lock: lock }))
    }

    fn empty(&self) -> io::Result<()> {
        for entry in std::fs::read_dir(&self.path)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                std::fs::remove_dir_all(entry.path())?;
            } else {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            eprintln!("`{}` is left behind: {error}", self.path.display());
        }
    }
}

fn memory() -> PathBuf {
    PathBuf::from("/dev/shm")
}

fn disk() -> io::Result<PathBuf> {
    let program = std::env::current_exe()?;
    Ok(program.parent().unwrap_or(&program).to_owned())
}

/// Whether this path leads to this open directory.
fn is_at(open: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = open.metadata()?;
    match std::fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes what runs have left behind that were killed.
pub(crate) fn tidy() -> io::Result<()> {
    for parent in [memory(), disk()?] {
        for number in 0..MOST {
            drop(Place::hold(parent.join(format!("{NAME}-{number}")))?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_at_one_time_are_different() {
        let places: Vec<_> = (0..3).map(|_| Place::for_tests("different").unwrap()).collect();
        for (number, place) in places.iter().enumerate() {
            std::fs::write(place.join("mine"), number.to_string()).unwrap();
        }
        for (number, place) in places.iter().enumerate() {
            assert_eq!(std::fs::read_to_string(place.join("mine")).unwrap(), number.to_string());
        }
        let paths: Vec<_> = places.iter().map(|place| place.path().to_owned()).collect();
        drop(places);
        assert!(paths.iter().all(|path| !path.exists()));
    }

    #[test]
    fn what_a_killed_run_left_is_not_found_by_the_next() {
        let place = Place::for_tests("killed").unwrap();
        let path = place.path().to_owned();
        drop(place);
        // As a run leaves it that is killed: the directory stays, and its lock goes with it.
        std::fs::create_dir_all(path.join("floor-0")).unwrap();
        std::fs::write(path.join("floor-0/data.mdb"), "rows").unwrap();
        std::fs::write(path.join("flush"), "bytes").unwrap();
        let next = Place::for_tests("killed").unwrap();
        assert_eq!(next.path(), path);
        assert_eq!(std::fs::read_dir(&path).unwrap().count(), 0);
    }

    #[test]
    fn a_directory_that_was_removed_and_made_again_is_not_held() {
        let place = Place::for_tests("again").unwrap();
        let path = place.path().to_owned();
        let old = File::open(&path).unwrap();
        drop(place);
        assert!(!is_at(&old, &path).unwrap());
        assert!(Place::hold(path.clone()).unwrap().is_none());
        std::fs::create_dir(&path).unwrap();
        // `old` keeps the former directory's number from being given out again.
        assert!(!is_at(&old, &path).unwrap());
        std::fs::remove_dir(&path).unwrap();
    }
}
