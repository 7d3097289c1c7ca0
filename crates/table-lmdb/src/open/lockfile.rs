//! A look at the lock file before LMDB opens it.
//!
//! LMDB would follow a link there and write into its target, and would wait for ever at a pipe. The look is not the
//! opening: a user who may write in the store's directory can change the name in between. So the directory should be
//! the owner's alone.

use std::path::Path;
use std::{fs, io};

use table_engine::error::{Error, ErrorKind, Result};

use super::{atomic_create, hard_links};

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
        Err(error) => return Err(atomic_create::failed("reading", &path, error)),
    };
    let what = if found.is_symlink() {
        "is a symbolic link"
    } else if !found.is_file() {
        "is not a file"
    } else if hard_links::names(&found) > 1 {
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
