//! What lies under the lock file's name before LMDB opens it.
//!
//! LMDB follows a link there and writes what it finds, and waits for ever at a pipe. The look is not the opening: who
//! may write in the store's directory can still change the name in between, so the directory is to be its owner's.

use std::fs;
use std::io;
use std::path::Path;

use super::{one_name, place};
use crate::error::{Error, ErrorKind, Result};

/// The name LMDB gives its lock file. It is never opened here: closing any descriptor of it would release the locks
/// that LMDB holds through its own.
pub(super) const LOCK: &str = "lock.mdb";

/// Refuses a lock file that is none, or that is another file too.
pub(super) fn check(dir: &Path) -> Result<()> {
    let path = dir.join(LOCK);
    let found = match fs::symlink_metadata(&path) {
        Ok(found) => found,
        // LMDB makes it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(place::failed("reading", &path, error)),
    };
    let what = if found.is_symlink() {
        "is a symbolic link"
    } else if !found.is_file() {
        "is not a file"
    } else if one_name::names(&found) > 1 {
        // A store that was copied by links would share its locks with its original, and not its data.
        "is a file that has another name too"
    } else {
        return Ok(());
    };
    Err(Error::new(ErrorKind::Incompatible).because(format!(
        "`{}` {what}, and no lock of this store's; remove it while nobody has the store open",
        path.display()
    )))
}
