//! Small files that hold keys: closed to others, there whole or not at all, and overwritten before they go.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::key;
use crate::error::{Error, ErrorKind, Result};

/// No file of keys is longer.
const LONGEST: u64 = 1 << 20;

/// How often a file is read again because another took its place meanwhile.
const ATTEMPTS: usize = 100;

/// What the operating system refused, and where.
#[cold]
pub(crate) fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::DiskFull,
        io::ErrorKind::AlreadyExists => ErrorKind::TargetExists,
        _ => ErrorKind::Io,
    };
    Error::new(kind).because(format!("{doing} `{}`: {error}", path.display())).caused_by(error)
}

/// Writes a file that is not there yet; it is durable when this returns.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = beside(path, bytes, |new| match fs::hard_link(new, path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) =>
        {
            // A file system without hard links. What stands there is not replaced, unless it comes this very moment.
            if path.try_exists()? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            fs::rename(new, path)
        }
        linked => linked,
    });
    made.map_err(|error| failed("making", path, error))
}

/// Writes a file in the place of one that is there, whose bytes are then overwritten.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let replaced = File::options().write(true).open(path).and_then(|former| {
        beside(path, bytes, |new| fs::rename(new, path))?;
        overwrite(former)
    });
    replaced.map_err(|error| failed("replacing", path, error))
}

/// Overwrites a file and removes it, if it is there.
pub(crate) fn wipe(path: &Path) -> Result<()> {
    let wiped = File::options().write(true).open(path).and_then(|file| {
        overwrite(file)?;
        fs::remove_file(path)?;
        sync_directory(path)
    });
    match wiped {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removing", path, error)),
        _ => Ok(()),
    }
}

/// A file's bytes; `None` if there is none.
///
/// Who replaces a file gives its name to the new one first, and overwrites the old one then. So what was read is whole
/// if the file has its name still; if not, the new one is read.
pub(crate) fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("opening", path, error)),
        };
        let bytes = contents(&file).map_err(|error| failed("reading", path, error))?;
        let named = is_named(&file, path).map_err(|error| failed("reading", path, error))?;
        last = Some(bytes);
        if named {
            break;
        }
    }
    // A file system that never says so gives what it gives: each of these files has a checksum.
    Ok(last)
}

fn contents(file: &File) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = file.metadata()?.len().min(LONGEST);
    // Room for all of it at once: what grows leaves its former bytes behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(length + 1).unwrap_or(0)));
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether the open file is the one that is found under this name now.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let file = file.metadata()?;
    Ok((file.dev(), file.ino()) == (found.dev(), found.ino()))
}

/// Elsewhere nothing tells two files of one name apart; the checksum must do.
#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Refuses a file that others than its owner can read or write.
#[cfg(unix)]
pub(crate) fn check_private(path: &Path) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    let mode = fs::metadata(path).map_err(|error| failed("reading", path, error))?.mode() & 0o777;
    let others = mode & 0o077;
    if others == 0 {
        return Ok(());
    }
    Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
        "`{}` is open to others (mode {mode:03o}); make it its owner's alone: `chmod 600`",
        path.display()
    )))
}

/// Elsewhere the directory's rights are the file's.
#[cfg(not(unix))]
pub(crate) fn check_private(_: &Path) -> Result<()> {
    Ok(())
}

/// Makes a file beside `path`, whole and durable, and has `place` give it its name.
fn beside(path: &Path, bytes: &[u8], place: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let number = key::random_number().map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{number:016x}"));
    let new = path.with_file_name(name);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let made = options.open(&new).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        place(&new)
    });
    // After a rename it is gone already.
    fs::remove_file(&new).unwrap_or_default();
    made.and_then(|()| sync_directory(path))
}

/// What is written over may still be found by who reads the disk itself: where the file system copies on write, or
/// the disk spreads its wear.
fn overwrite(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(length), &mut file)?;
    file.sync_all()
}

/// Makes the entry of a file in its directory durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    let parent: PathBuf = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(parent)?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
