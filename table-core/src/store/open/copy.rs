//! Copying a store while it is in use.

use std::fs::{self, File};
use std::io::Seek;
use std::path::Path;

use heed::{CompactionOption, MdbError};

use super::place::{self, DATA, Private};
use super::{filesystem, retrying};
use crate::error::{Error, ErrorKind, Result};
use crate::store::lmdb::{self, LmdbEnv};

/// Writes what the store holds now as a new store in the directory `target`, without its free pages. Readers and
/// writers go on meanwhile.
///
/// A directory that holds a store is left as it is; after a failure nothing is left behind.
pub(crate) fn copy_to(env: &LmdbEnv, target: &Path) -> Result<()> {
    copy(env, target).map_err(|error| error.attempted("copy the store"))
}

fn copy(env: &LmdbEnv, target: &Path) -> Result<()> {
    let target = std::path::absolute(target).map_err(|error| place::failed("finding", target, error))?;
    let taken = |what| {
        Error::new(ErrorKind::TargetExists)
            .because(format!("`{}` {what}; give another directory", target.display()))
    };
    if fs::metadata(&target).is_ok_and(|target| !target.is_dir()) {
        return Err(taken("is a file"));
    }
    if fs::symlink_metadata(target.join(DATA)).is_ok() {
        return Err(taken("holds a store already"));
    }
    filesystem::check(&target)?;
    place::within(&target, || {
        let copied = Private::new(&target).and_then(|private| {
            let data = private.path().join(DATA);
            let mut file = new_file(&data).map_err(|error| place::failed("making", &data, error))?;
            write(env, &mut file)?;
            file.sync_all().map_err(|error| place::failed("flushing", &data, error))?;
            private.publish()
        });
        match copied {
            Ok(true) => Ok(()),
            // A store has come up there meanwhile. Its opening may have removed our directory under us.
            Err(error) if !target.join(DATA).exists() => Err(error),
            _ => Err(taken("holds a store already")),
        }
    })
}

fn write(env: &LmdbEnv, file: &mut File) -> Result<()> {
    let mut attempt = |option| {
        retrying(env, || {
            file.set_len(0)?;
            file.rewind()?;
            env.copy_to_file(file, option)
        })
    };
    let copied = match attempt(CompactionOption::Enabled) {
        // Compaction counts pages, and gives up where some are neither used nor free: harmless, and copied as it is.
        Err(heed::Error::Mdb(MdbError::Incompatible)) => attempt(CompactionOption::Disabled),
        copied => copied,
    };
    copied.map_err(lmdb::error)
}

/// As closed to others as LMDB's own files are.
fn new_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
