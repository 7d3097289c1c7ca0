//! Data files that have another name too, by a hard link.
//!
//! LMDB finds the lock file beside the name by which it opens the data file. By another name, in another directory, the
//! file would have another lock file: two processes would write it at one time, and neither would see the other's
//! readers. A store that was copied by links is such a file. A reader would register in the wrong lock file, and its
//! pages could be written over. So such a store may be read only where no process can write.
//!
//! While a store is made its file has two names for a moment, and after a crash until the next opening: the other is in
//! a private directory, where it is never opened ([`super::atomic_create`]).

use std::fs::{File, Metadata};
use std::path::Path;

use table_engine::error::{Error, ErrorKind, Result};

use super::{atomic_create, filesystem};

/// Returns how many names a file has, by hard links.
#[cfg(unix)]
pub(super) fn names(found: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(found)
}

/// Returns 1: on this system the number of names is not known.
#[cfg(not(unix))]
pub(super) fn names(_: &Metadata) -> u64 {
    1
}

/// Refuses the data file of this directory, which is open, if it could be opened by another name, too.
pub(super) fn check(dir: &Path, file: &File, data: &Path, read_only: bool) -> Result<()> {
    // Names in private directories only go. One that goes between the two looks is counted in the first alone: then
    // the second time is right.
    for _ in 0..2 {
        let found = file.metadata().map_err(|error| atomic_create::failed("reading", data, error))?;
        if names(&found) <= 1 || names(&found) <= 1 + atomic_create::private_names(dir, data)? {
            return Ok(());
        }
    }
    if read_only && filesystem::check_unchanging(dir).is_ok() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Incompatible).because(format!(
        "`{}` has another name too, by which it would be opened with another lock file; remove that name, or copy the \
         file and put the copy in the place of one of them, while nobody has the store open",
        data.display()
    )))
}
