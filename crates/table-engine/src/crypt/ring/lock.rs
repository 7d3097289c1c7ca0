//! The lock that a change of a key ring holds, in a file beside it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::crypt::files;
use crate::error::Result;

/// Waits until no other thread or process changes the ring. The lock goes with the file, and with the process.
pub(super) fn take(ring: &Path) -> Result<File> {
    let mut name = ring.as_os_str().to_owned();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let turn = files::private(File::options().create(true).truncate(false).write(true)).open(&lock);
    let turn = turn.map_err(|error| files::failed("opening", &lock, error))?;
    close_to_others(&turn, &lock, ring)?;
    turn.lock().map_err(|error| files::failed("locking", &lock, error))?;
    Ok(turn)
}

/// Gives the lock to the ring's owner alone: a user who can open it can keep the owner waiting.
#[cfg(unix)]
fn close_to_others(turn: &File, lock: &Path, ring: &Path) -> Result<()> {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use crate::error::{Error, ErrorKind};

    let failed = |error| files::failed("closing to others", lock, error);
    let found = turn.metadata().map_err(failed)?;
    let itself = fs::symlink_metadata(lock).map_err(failed)?;
    // A link's target does not belong to the ring, and keeps its rights and its owner.
    if !itself.is_file() || files::names(&found) > 1 || !files::is_named(turn, lock).map_err(failed)? {
        return Err(Error::new(ErrorKind::KeyUnavailable).because(format!(
            "`{}` is a link, where the key ring's lock is to be; remove it",
            lock.display()
        )));
    }
    if found.permissions().mode() & 0o077 != 0 {
        turn.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    }
    match fs::metadata(ring) {
        Ok(ring) => files::give_to_owner_of(turn, &ring).map_err(failed),
        // The reading of the ring says that there is none.
        Err(_) => Ok(()),
    }
}

/// Closes nothing: elsewhere a file has the rights of its directory.
#[cfg(not(unix))]
fn close_to_others(_: &File, _: &Path, _: &Path) -> Result<()> {
    Ok(())
}
