//! Creates a data file atomically: it is made in a private directory, and given its name in one step.
//!
//! A crash while LMDB lays out a new file leaves one that it refuses ever after. So a file is made, filled and
//! flushed in a private directory, and only then appears under its name. A hard link never replaces what is there,
//! so of several that race one wins, and the others find a whole store.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use table_engine::error::{Error, ErrorKind, Result};

use super::open_lock::OpenLock;
use crate::lmdb;

/// The name LMDB gives its data file. Beside it lies `lock.mdb`, which must never be opened here: closing any
/// descriptor of it would release the locks that LMDB holds through its own.
pub(super) const DATA: &str = "data.mdb";

/// The start of the names of private directories.
const PRIVATE: &str = ".new-";

/// Returns the error of a call that the operating system refused for this path.
#[cold]
pub(super) fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    let because = format!("{doing} `{}`: {error}", path.display());
    lmdb::io_error(error).because(because)
}

/// Runs `make` with the directory in place, and durable. Directories that were missing are removed again if it fails,
/// unless another process has put something into them.
///
/// Directories that were there already are flushed too. Their maker, another process a moment ago or the caller itself,
/// may not have done so, and a store in a lost directory is lost.
pub(super) fn within<R>(dir: &Path, make: impl FnOnce() -> Result<R>) -> Result<R> {
    let missing: Vec<&Path> = dir.ancestors().take_while(|dir| !dir.exists()).collect();
    let result = make_directories(dir, &missing).and_then(|()| make());
    if result.is_err() {
        for dir in missing {
            if fs::remove_dir(dir).is_err() {
                break;
            }
        }
    }
    result
}

fn make_directories(dir: &Path, missing: &[&Path]) -> Result<()> {
    fs::create_dir_all(dir).map_err(|error| failed("making the directory", dir, error))?;
    let place = dir.canonicalize().map_err(|error| failed("finding", dir, error))?;
    let device = device(&place)?;
    for (above, parent) in place.ancestors().skip(1).enumerate() {
        // A mount point stands in another file system, and was there before this one was.
        if self::device(parent)? != device {
            break;
        }
        match flush(parent) {
            // Where this user may not look, nothing of its own was made.
            Err(error) if above >= missing.len() && is_denied(&error) => {}
            flushed => flushed?,
        }
    }
    Ok(())
}

/// Returns the file system that a directory lies on.
#[cfg(unix)]
fn device(dir: &Path) -> Result<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(dir).map(|found| found.dev()).map_err(|error| failed("reading", dir, error))
}

/// Returns the same for every directory, since none is flushed on this system.
#[cfg(not(unix))]
fn device(_: &Path) -> Result<u64> {
    Ok(0)
}

fn is_denied(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|source| source.kind() == io::ErrorKind::PermissionDenied)
}

/// A directory inside the store's that belongs to one attempt alone, removed with all it holds.
///
/// It is *inside* because the store's directory may be a mount point, and a link can't leave its file system.
pub(super) struct Private {
    path: PathBuf,
    store: PathBuf,
    /// Whether it is left for the next opening to find; see [`Self::settle`].
    stays: bool,
}

impl Private {
    pub(super) fn new(store: &Path) -> Result<Self> {
        let private = Self::unmade(store);
        fs::create_dir(&private.path)
            .map_err(|error| failed("making the directory", &private.path, error))?;
        Ok(private)
    }

    /// Returns a private directory that does not exist yet.
    pub(super) fn unmade(store: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // Process numbers repeat, over time and between containers that share a volume; the clock tells them apart.
        let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = store.join(format!("{PRIVATE}{}-{clock:x}-{count}", std::process::id()));
        Self { path, store: store.to_owned(), stays: false }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the finished data file, which must be flushed, its place. `false` if there is one already. It is to be
    /// [settled](Self::settle) in either case.
    pub(super) fn place(&self) -> Result<bool> {
        let (data, place) = (self.path.join(DATA), self.store.join(DATA));
        let ours = identity(&data);
        match link(&data, &place, &self.store) {
            Ok(true) => Ok(true),
            // A call that was interrupted, or sent twice, may have done more than it says.
            _ if ours.is_some() && identity(&place) == ours => Ok(true),
            Ok(false) => Ok(false),
            // The opening of what is there has removed this directory.
            Err(_) if place.exists() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Makes the data file's name durable, whichever process has given it.
    ///
    /// A flush that fails is an error although the file is there: the name may never reach the disk. It can't be taken
    /// back, since another process may have opened the store by now. So this directory stays, and by that the next
    /// opening knows that a flush is missing.
    pub(super) fn settle(mut self) -> Result<()> {
        let flushed = flush(&self.store);
        self.stays = flushed.is_err();
        flushed
    }

    /// Gives the finished data file its place, and makes the name durable.
    pub(super) fn publish(self) -> Result<bool> {
        let placed = self.place()?;
        self.settle()?;
        Ok(placed)
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if !self.stays {
            // What can't be removed now, the next opening removes.
            fs::remove_dir_all(&self.path).unwrap_or_default();
        }
    }
}

/// Makes a directory's entries durable.
pub(super) fn flush(dir: &Path) -> Result<()> {
    sync(dir).map_err(|error| failed("flushing the directory", dir, error))
}

/// Finishes what other attempts may have left unfinished once a data file is in place.
///
/// Where there is a private directory, the process that put the data file in place may not have flushed its name yet:
/// without that, what is committed now could be lost with it. The directory can be removed: an attempt that still runs
/// finds it gone and opens the store that there is.
pub(super) fn settle(store: &Path) -> Result<()> {
    let left = privates(store)?;
    if !left.is_empty() {
        flush(store)?;
    }
    for private in left {
        fs::remove_dir_all(private).unwrap_or_default();
    }
    Ok(())
}

/// Returns the private directories that there are.
fn privates(store: &Path) -> Result<Vec<PathBuf>> {
    let unread = |error| failed("reading the directory", store, error);
    let mut found = Vec::new();
    for entry in fs::read_dir(store).map_err(unread)? {
        // One that can't be read may be private.
        let entry = entry.map_err(unread)?;
        if entry.file_name().as_encoded_bytes().starts_with(PRIVATE.as_bytes())
            && entry.file_type().map_err(unread)?.is_dir()
        {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Returns how many names a data file has in private directories, where it is never opened.
pub(super) fn private_names(store: &Path, data: &Path) -> Result<u64> {
    let data = identity(data);
    let same = |private: &PathBuf| data.is_some() && identity(&private.join(DATA)) == data;
    let count = privates(store)?.iter().filter(|private| same(private)).count();
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}

/// Returns whether there is no room for a file beside the store's, or for its data file to grow. The failed write has
/// used up the room that there was.
#[cold]
pub(super) fn is_full(store: &Path) -> bool {
    /// A few pages, of whatever size.
    const MORE: u64 = 256 * 1024;
    let full = |error: &Error| error.kind() == ErrorKind::DiskFull;
    let Ok(length) = fs::metadata(store.join(DATA)).map(|data| data.len()) else { return false };
    let grow = |private: &Private| {
        let mut file = File::create_new(private.path().join(DATA))?;
        io::copy(&mut io::repeat(0xff).take(MORE), &mut file)?;
        // Not written, only asked for: a file's length has limits too.
        file.set_len(length + MORE)
    };
    match Private::new(store) {
        Ok(private) => grow(&private).map_err(lmdb::io_error).is_err_and(|error| full(&error)),
        Err(error) => full(&error),
    }
}

/// Returns a file's identity, whatever its name.
#[cfg(unix)]
fn identity(file: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(file).ok().map(|found| (found.dev(), found.ino()))
}

/// Returns nothing: on this system a file's identity is not known.
#[cfg(not(unix))]
fn identity(_: &Path) -> Option<(u64, u64)> {
    None
}

fn link(from: &Path, to: &Path, store: &Path) -> Result<bool> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(false),
            // `EPERM` and `EOPNOTSUPP` are what a file system without hard links says.
            io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => rename(from, to, store),
            _ => Err(failed("putting in place", to, error)),
        },
    }
}

/// Renames unless the name is taken: for file systems without hard links, such as exFAT. A rename replaces the file that
/// is there, so callers take turns. The lock is the descriptor's, and goes with the process.
pub(super) fn rename(from: &Path, to: &Path, store: &Path) -> Result<bool> {
    let _turn = OpenLock::to_exchange(store)?;
    let renamed =
        to.try_exists().and_then(|taken| if taken { Ok(false) } else { fs::rename(from, to).map(|()| true) });
    renamed.map_err(|error| failed("putting in place", to, error))
}

/// Makes the entries of a directory durable.
#[cfg(unix)]
fn sync(dir: &Path) -> io::Result<()> {
    #[cfg(test)]
    tests::reach(dir)?;
    match File::open(dir)?.sync_all() {
        // Some file systems know no such thing, and keep their entries durable by themselves.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

/// Does nothing: Windows has no call for it, and NTFS journals its entries.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::open::tests::scratch;

    thread_local! {
        /// Which flush of which directory is to fail on this thread, and all after it: counted down to zero.
        static FAILS: RefCell<Option<(PathBuf, u32)>> = const { RefCell::new(None) };
    }

    pub(super) fn reach(dir: &Path) -> io::Result<()> {
        FAILS.with_borrow_mut(|fails| match fails {
            Some((failing, left)) if failing == dir => {
                *left = left.saturating_sub(1);
                if *left == 0 { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
            }
            _ => Ok(()),
        })
    }

    /// Runs something while the `nth` flush of this directory, counted from 1, and all after it fail.
    pub(crate) fn failing<R>(dir: &Path, nth: u32, run: impl FnOnce() -> R) -> R {
        FAILS.set(Some((dir.canonicalize().unwrap_or_else(|_| dir.to_owned()), nth)));
        let result = run();
        FAILS.set(None);
        result
    }

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_first_to_publish_wins_and_nothing_private_stays() {
        let dir = scratch();
        let [first, second] = [(); 2].map(|()| Private::new(dir.path()).unwrap());
        fs::write(first.path().join(DATA), "first").unwrap();
        fs::write(second.path().join(DATA), "second").unwrap();
        assert!(first.publish().unwrap());
        assert!(!second.publish().unwrap());
        assert_eq!(names(dir.path()), [DATA]);
        assert_eq!(fs::read_to_string(dir.path().join(DATA)).unwrap(), "first");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_in_place_was_placed_whatever_was_said_of_it() {
        let dir = scratch();
        let private = Private::new(dir.path()).unwrap();
        fs::write(private.path().join(DATA), "data").unwrap();
        fs::hard_link(private.path().join(DATA), dir.path().join(DATA)).unwrap();
        assert!(private.place().unwrap());
    }

    #[test]
    fn without_hard_links_the_first_still_wins() {
        let dir = scratch();
        let (place, from) = (dir.path().join(DATA), |name: &str| dir.path().join(name));
        fs::write(from("first"), "first").unwrap();
        fs::write(from("second"), "second").unwrap();
        assert!(rename(&from("first"), &place, dir.path()).unwrap());
        assert!(!rename(&from("second"), &place, dir.path()).unwrap());
        assert_eq!(fs::read_to_string(place).unwrap(), "first");
    }

    #[test]
    fn leftovers_go_and_other_things_stay() {
        let dir = scratch();
        for name in [".new-1-2-3", "lost+found", ".newer"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join(".new-1-2-3").join(DATA), "half").unwrap();
        fs::write(dir.path().join(".new-file"), "").unwrap();
        settle(dir.path()).unwrap();
        assert_eq!(names(dir.path()), [".new-file", ".newer", "lost+found"]);
    }

    #[test]
    fn directories_made_for_a_failure_are_gone_again() {
        let dir = scratch();
        let deep = dir.path().join("a/b/c");
        let error = within(&deep, || {
            assert!(deep.is_dir());
            Err::<(), _>(Error::new(ErrorKind::Corrupt))
        });
        assert!(error.is_err());
        assert!(names(dir.path()).is_empty());
        within(&deep, || Ok(())).unwrap();
        within(&deep, || Err::<(), _>(Error::new(ErrorKind::Corrupt))).unwrap_err();
        assert!(deep.is_dir(), "it was there before");
    }
}
