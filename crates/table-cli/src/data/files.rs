//! Files that commands read and write.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind as IoKind, Write};
#[cfg(unix)]
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use table_core::{Error, ErrorKind};

use super::refused;
use crate::failure::Failure;

/// Returns the failure of something that was done with a file, in words that follow "cannot ".
pub(crate) fn failed(doing: &'static str, path: &Path, error: io::Error) -> Failure {
    if error.kind() == IoKind::NotFound {
        return Failure::NotFound(format!("cannot {doing} `{}`: there is no such file", path.display()));
    }
    let because = format!("`{}`: {error}", path.display());
    Failure::Store(Error::new(ErrorKind::Io).because(because).attempted(doing).caused_by(error))
}

/// Returns the path of a file beside another one, whose name is that one's with an ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the length of a file; `None` if there is none.
pub(crate) fn length_of(path: &Path) -> Result<Option<u64>, Failure> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == IoKind::NotFound => Ok(None),
        Err(error) => Err(failed("look at", path, error)),
    }
}

/// Returns whether something else than a file lies there: a device, a pipe. It is written to, and never removed or replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Removes a file, if it is there. What is no file stays.
pub(crate) fn remove(path: &Path) -> Result<(), Failure> {
    if is_special(path) {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != IoKind::NotFound => Err(failed("remove", path, error)),
        _ => Ok(()),
    }
}

/// Returns whether two paths lead to one file.
pub(crate) fn are_one(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Locks an open file of this path, so that two runs do not write to it at once; the lock goes with the file.
pub(crate) fn lock(file: File, path: &Path) -> Result<File, Failure> {
    let is_taken = match file.try_lock() {
        Ok(()) => !is_at(&file, path),
        Err(TryLockError::WouldBlock) => true,
        // A file system without locks.
        Err(TryLockError::Error(_)) => false,
    };
    if is_taken {
        let text = format!("`{}` is in use by another run: wait until that has ended", path.display());
        return Err(refused(ErrorKind::StoreBusy, text));
    }
    Ok(file)
}

/// Returns whether a file still has this path: the run that held the lock before may have renamed or removed it.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(one), Ok(other)) = (file.metadata(), fs::metadata(path)) else { return false };
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// A file that gets its name when all of it is written: what is cut short leaves a file of the same name untouched.
pub(crate) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    file: Option<BufWriter<File>>,
    written: u64,
}

impl NewFile {
    /// Begins the file of this path, under another name.
    pub(crate) fn create(path: &Path) -> Result<Self, Failure> {
        let (path, part) = if is_special(path) {
            (path.to_owned(), path.to_owned())
        } else {
            // A link stays one, and the file that it leads to is replaced.
            let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
            let part = beside(&path, ".part");
            (path, part)
        };
        let is_new_name = part != path;
        let opened = OpenOptions::new().write(true).create(true).truncate(!is_new_name).open(&part);
        let mut file = opened.map_err(|error| failed("write", &part, error))?;
        if is_new_name {
            file = lock(file, &part)?;
            file.set_len(0).map_err(|error| failed("write", &part, error))?;
        }
        Ok(Self { path, part, file: Some(BufWriter::with_capacity(1 << 16, file)), written: 0 })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.write_all(bytes).map_err(|error| failed("write", &self.part, error))?;
        self.written += u64::try_from(bytes.len()).unwrap_or_default();
        Ok(())
    }

    /// Brings the file to the disk and gives it its name; returns how many bytes it has.
    pub(crate) fn finish(mut self) -> Result<u64, Failure> {
        if let Some(file) = self.file.take() {
            let whole = file.into_inner().map_err(io::IntoInnerError::into_error);
            let named = whole.and_then(|file| {
                if self.part == self.path {
                    return Ok(());
                }
                file.sync_all()?;
                fs::rename(&self.part, &self.path)
            });
            if let Err(error) = named {
                self.remove_part();
                return Err(failed("write", &self.path, error));
            }
        }
        Ok(self.written)
    }

    fn remove_part(&self) {
        if self.part != self.path {
            drop(fs::remove_file(&self.part));
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // It goes before the lock does: another run may write one of its own then.
        if self.file.is_some() {
            self.remove_part();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_when_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out");
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        let mut file = NewFile::create(&path).unwrap();
        file.write(b"whole").unwrap();
        assert_eq!(file.finish().unwrap(), 5);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        remove(&path).unwrap();
        remove(&path).unwrap();
        assert_eq!(length_of(&path).unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_neither_replaced_nor_removed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        let socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        remove(&path).unwrap();
        assert!(NewFile::create(&path).is_err(), "a socket takes no bytes of a file");
        assert!(path.exists());
        drop(socket);
    }
}
