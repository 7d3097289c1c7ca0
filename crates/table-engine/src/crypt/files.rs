//! Small files that hold keys: closed to others, whole or not there at all, and overwritten before they are removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::key;
use crate::error::{Error, ErrorKind, Result};

/// No file of keys is longer.
const LONGEST: u64 = 1 << 20;

/// How often a file is read again because another took its place meanwhile.
const ATTEMPTS: usize = 100;

/// Ends the name of a file that is being made, before 16 hex digits.
const NEW: &str = ".new-";

/// Returns the file, and what the operating system refused.
#[doc(hidden)]
#[cold]
pub fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::DiskFull,
        io::ErrorKind::AlreadyExists => ErrorKind::TargetExists,
        _ => ErrorKind::Io,
    };
    Error::new(kind).because(format!("{doing} `{}`: {error}", path.display())).caused_by(error)
}

/// Writes a file that is not there yet; it is durable when this returns. Of several attempts at once, one succeeds.
pub(crate) fn create(path: &Path, bytes: &[u8]) -> Result<()> {
    let link = |new: &Path| match fs::hard_link(new, path) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) =>
        {
            // A file system without hard links. A file of this name is not replaced, unless it is made between the look and the
            // renaming.
            rename_to_free(new, path)
        }
        // Another process has made the file, and removed this attempt as a left-over.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.try_exists()? => {
            Err(io::ErrorKind::AlreadyExists.into())
        }
        Err(error) => Err(error),
        Ok(()) => fs::remove_file(new).or_else(|error| {
            // The file must not keep a second name that no process would remove.
            fs::remove_file(path)?;
            Err(error)
        }),
    };
    beside(path, bytes, None, link).map_err(|error| failed("making", path, error))
}

/// Writes a file under a name that no other process gives, since it is random. The file never has a second name.
#[doc(hidden)]
pub fn create_named(path: &Path, bytes: &[u8]) -> Result<()> {
    let made = beside(path, bytes, None, |new| rename_to_free(new, path));
    made.map_err(|error| failed("making", path, error))
}

fn rename_to_free(new: &Path, path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(new, path)
}

/// Writes a file in the place of one that is there, whose bytes are then overwritten. The owner stays.
///
/// A file that has a second name, by a hard link, is refused: the two names would lead to two files.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let previous = open_to_overwrite(path).map_err(|error| failed("replacing", path, error))?;
    let found = previous.metadata().map_err(|error| failed("replacing", path, error))?;
    if names(&found) > 1 {
        return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
            "`{}` has {} names, by hard links, and would be replaced under one of them; leave it one name",
            path.display(),
            names(&found)
        )));
    }
    beside(path, bytes, Some(&found), |new| fs::rename(new, path))
        .and_then(|()| {
            // Its one name is the new file's now.
            let alone = cfg!(not(unix)) || names(&previous.metadata()?) == 0;
            if alone { overwrite(previous) } else { Ok(()) }
        })
        .map_err(|error| failed("replacing", path, error))
}

/// Removes a file, if it is there, and overwrites it before.
///
/// A file with a second name is not overwritten: it may be the file in use, or a copy in a backup of hard links.
#[doc(hidden)]
pub fn wipe(path: &Path) -> Result<()> {
    wipe_beside(path, path)
}

/// Removes and overwrites a file beside one that is in use. A file with two names loses this one, and nothing else.
#[doc(hidden)]
pub fn wipe_beside(path: &Path, in_use: &Path) -> Result<()> {
    let wiped = || {
        let found = fs::symlink_metadata(path)?;
        // A link's target does not belong to the ring. A directory or a pipe has no bytes to overwrite.
        if found.is_file() {
            let file = open_to_overwrite(path)?;
            if path == in_use || !is_named(&file, in_use)? {
                let alone = names(&file.metadata()?) <= 1;
                alone.then(|| overwrite(file)).transpose()?;
            }
        }
        fs::remove_file(path)?;
        sync_directory(path)
    };
    match wiped() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("removing", path, error)),
        _ => Ok(()),
    }
}

/// Removes what a process left that ended while it made or replaced this file. No other process may be at work on it.
pub(crate) fn wipe_left_overs(path: &Path) -> Result<()> {
    let dir = directory(path);
    let listed = |error| failed("reading", &dir, error);
    let start = [path.file_name().unwrap_or_default().as_encoded_bytes(), NEW.as_bytes()].concat();
    for entry in fs::read_dir(&dir).map_err(listed)? {
        let name = entry.map_err(listed)?.file_name();
        let digits = name.as_encoded_bytes().strip_prefix(&start[..]);
        if digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit)) {
            wipe_beside(&path.with_file_name(&name), path)?;
        }
    }
    Ok(())
}

/// Returns a file's bytes; `None` if there is none.
///
/// A replacement first gives the name to the new file, and then overwrites the old one. What was read is whole if the
/// file still has its name; if not, the new file is read.
#[doc(hidden)]
pub fn read(path: &Path) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let refused = |because| {
            Err(Error::new(ErrorKind::KeyUnavailable).because(format!("`{}` {because}", path.display())))
        };
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => {
                return refused(
                    "is a symbolic link, behind which keys would be neither replaced nor overwritten; put the file there",
                );
            }
            // Opening a pipe waits for a writer.
            Ok(found) if !found.is_file() => {
                return refused("is not a file; take it from a backup of the keys");
            }
            _ => {}
        }
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
    // A file system that never says so is believed: each of these files has a checksum.
    Ok(last)
}

fn contents(file: &File) -> io::Result<Zeroizing<Vec<u8>>> {
    let length = file.metadata()?.len().min(LONGEST);
    // Room for all of it at once: a vector that grows leaves its old bytes behind in memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(length + 1).unwrap_or(0)));
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether the open file is the one that is found under this name now.
#[cfg(unix)]
pub(crate) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let file = file.metadata()?;
    Ok((file.dev(), file.ino()) == (found.dev(), found.ino()))
}

/// Finds no difference: elsewhere two files of one name look alike, and the checksum must do.
#[cfg(not(unix))]
pub(crate) fn is_named(_: &File, _: &Path) -> io::Result<bool> {
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

/// Checks nothing: elsewhere a file has the rights of its directory.
#[cfg(not(unix))]
pub(crate) fn check_private(_: &Path) -> Result<()> {
    Ok(())
}

/// Makes a file beside `path`, whole and durable, and has `place` give it its name. It belongs to the owner of the
/// file that it replaces.
fn beside(
    path: &Path,
    bytes: &[u8],
    previous: Option<&fs::Metadata>,
    place: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let number = key::random_number().map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!("{NEW}{number:016x}"));
    let new = path.with_file_name(name);
    let mut file = private(File::options().write(true).create_new(true)).open(&new)?;
    let write = || {
        if let Some(previous) = previous {
            give_to_owner_of(&file, previous)?;
        }
        file.write_all(bytes)?;
        file.sync_all()?;
        place(&new)
    };
    let made = write();
    if made.is_err() {
        // No file may keep these keys. The next change removes what can't be removed now.
        wipe(&new).unwrap_or_default();
    }
    made?;
    sync_directory(path).inspect_err(|_| {
        // The entry may be gone after a power failure: the file counts as not made, and the old one is not
        // overwritten.
        if previous.is_none() {
            // It is not overwritten: no store uses its keys, and zeros under its name would stand in the way of the next
            // attempt if the power went now.
            fs::remove_file(path).unwrap_or_default();
        }
    })
}

/// Options for a file that its owner alone can open.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Gives a file to the owner of another one, as root can.
#[cfg(unix)]
pub(crate) fn give_to_owner_of(file: &File, other: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    if file.metadata()?.uid() == other.uid() {
        return Ok(());
    }
    fchown(file, Some(other.uid()), Some(other.gid()))
        .map_err(|error| io::Error::new(error.kind(), "it belongs to another user, who alone may change it"))
}

/// Gives nothing: elsewhere a new file has the rights that its directory gives.
#[cfg(not(unix))]
pub(crate) fn give_to_owner_of(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns how many names a file has.
#[cfg(unix)]
pub(crate) fn names(found: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

/// Returns 1: elsewhere the number is not known, and this module gives no file a second name for longer than `create` takes.
#[cfg(not(unix))]
pub(crate) fn names(_: &fs::Metadata) -> u64 {
    1
}

fn open_to_overwrite(path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// Overwrites a file with zeros. A reader of the disk itself may still find the old bytes, where the file system copies on
/// write or the disk spreads its wear.
fn overwrite(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(length), &mut file)?;
    file.sync_all()
}

/// Returns the directory that a file lies in.
fn directory(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes the entry of a file in its directory durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(directory(path))?.sync_all() {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

#[cfg(test)]
mod tests;
