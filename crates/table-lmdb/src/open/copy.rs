//! Copying a store while it is in use.

use std::fs::{self, File};
use std::io::Seek;
use std::path::{Path, PathBuf};

use heed::{CompactionOption, MdbError};
use lmdb_verify::{Header, raw_pages};

use table_engine::error::{Error, ErrorKind, Result};

use super::atomic_create::{self, DATA, Private};
use super::{filesystem, retrying};
use crate::lmdb::{self, LmdbEnv};

/// Refuses a target inside the store's own directory: moving or removing the store would take the copy along.
#[inline]
pub(crate) fn check_outside(store: &Path, target: &Path) -> Result<()> {
    let Ok(target) = std::path::absolute(target) else { return Ok(()) };
    // Of a directory that is not there yet, the one that it will lie in says where that is.
    let found = target.ancestors().find_map(|above| above.canonicalize().ok());
    let (Some(found), Ok(own)) = (found, store.canonicalize()) else { return Ok(()) };
    if !found.starts_with(&own) || target.join(DATA).exists() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::TargetExists).because(format!(
        "`{}` lies in the store's own directory, and would go with it; give a directory outside of `{}`",
        target.display(),
        own.display()
    )))
}

/// Writes what the store holds now as a new store in the directory `target`, without its free pages. Readers and
/// writers go on meanwhile.
///
/// A directory that holds a store is left as it is. A failure leaves nothing behind, with one exception: if the very last
/// step fails, the flush of the directory, the whole copy stays, since it may be open elsewhere by then.
#[cfg(test)]
pub(crate) fn copy_to(env: &LmdbEnv, target: &Path) -> Result<()> {
    copy_with(env, target, crate::records::meta::Meta::transaction_of, |_| Ok(()))
}

/// Copies a store with files that belong to it, as the keys do. `beside` is called when the data are copied, with the
/// directory to put them into. Its files are in place before the data are.
///
/// LMDB numbers the transactions of a compacted copy anew. The copy's header is given the number of the copied state
/// again, which `transaction` reads in the first record of the unnamed database.
pub(crate) fn copy_with(
    env: &LmdbEnv,
    target: &Path,
    transaction: impl FnOnce(&[u8]) -> Result<u64>,
    beside: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    copy(env, target, transaction, beside).map_err(|error| error.attempted("copy the store"))
}

fn copy(
    env: &LmdbEnv,
    target: &Path,
    transaction: impl FnOnce(&[u8]) -> Result<u64>,
    beside: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let target =
        std::path::absolute(target).map_err(|error| atomic_create::failed("finding", target, error))?;
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
    atomic_create::within(&target, || {
        let mut in_place = false;
        let copied = Private::new(&target).and_then(|private| {
            let data = private.path().join(DATA);
            let mut file = new_file(&data).map_err(|error| atomic_create::failed("making", &data, error))?;
            if let CompactionOption::Enabled = write(env, &mut file)? {
                renumber(&mut file, &data, transaction)?;
            }
            file.sync_all().map_err(|error| atomic_create::failed("flushing", &data, error))?;
            beside(private.path())?;
            let mut placed = Placed::default();
            placed.move_all(private.path(), &target)?;
            // The keys are durable before the data get their name: data without their keys are worth nothing.
            atomic_create::flush(&target)?;
            in_place = private.place()?;
            if in_place {
                // It is a store, which others may have opened by now.
                placed.stay();
            }
            private.settle().map_err(|error| {
                error.and(if in_place {
                    "; the copy is there and whole, but a power failure may take it"
                } else {
                    ""
                })
            })
        });
        match copied {
            Ok(()) if in_place => Ok(()),
            // A store has come up there meanwhile. Its opening may have removed our directory under us.
            Err(error) if in_place || !target.join(DATA).exists() => Err(error),
            _ => Err(taken("holds a store already")),
        }
    })
}

/// Files in the target that came before the data file. They are removed again unless the data file comes too.
#[derive(Default)]
struct Placed(Vec<PathBuf>);

impl Placed {
    /// Moves everything in a directory but the data file.
    #[inline]
    fn move_all(&mut self, from: &Path, to: &Path) -> Result<()> {
        let entries = fs::read_dir(from).map_err(|error| atomic_create::failed("reading", from, error))?;
        for entry in entries {
            let entry = entry.map_err(|error| atomic_create::failed("reading", from, error))?;
            if entry.file_name() == DATA {
                continue;
            }
            let place = to.join(entry.file_name());
            if fs::symlink_metadata(&place).is_ok() {
                return Err(Error::new(ErrorKind::TargetExists)
                    .because(format!("`{}` is there already; give another directory", place.display())));
            }
            fs::rename(entry.path(), &place)
                .map_err(|error| atomic_create::failed("putting in place", &place, error))?;
            self.0.push(place);
        }
        Ok(())
    }

    fn stay(mut self) {
        self.0.clear();
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        for place in &self.0 {
            fs::remove_dir_all(place).unwrap_or_default();
        }
    }
}

/// Makes a compacted copy in a new file, flushed. Unlike [`copy_with`] it never takes the writers' lock, which the
/// caller may have; so a file whose pages don't add up is refused.
#[inline]
pub(super) fn compacted(
    env: &LmdbEnv,
    path: &Path,
    transaction: impl FnOnce(&[u8]) -> Result<u64>,
) -> Result<File> {
    let mut file = new_file(path).map_err(|error| atomic_create::failed("making", path, error))?;
    match env.copy_to_file(&mut file, CompactionOption::Enabled) {
        Err(heed::Error::Mdb(MdbError::Incompatible)) => {
            return Err(Error::new(ErrorKind::Corrupt).because(
                "some of the file's pages are neither used nor free, so it can't be compacted in its place; use \
                 `copy_to`, which copies them too",
            ));
        }
        copied => copied.map_err(lmdb::error)?,
    }
    renumber(&mut file, path, transaction)?;
    file.sync_all().map_err(|error| atomic_create::failed("flushing", path, error))?;
    Ok(file)
}

/// Copies the pages, without the free ones if possible.
#[inline]
fn write(env: &LmdbEnv, file: &mut File) -> Result<CompactionOption> {
    let mut attempt = |option| {
        retrying(env, || {
            file.set_len(0)?;
            file.rewind()?;
            env.copy_to_file(file, option)
        })
    };
    match attempt(CompactionOption::Enabled) {
        // Compaction counts pages, and gives up where some are neither used nor free: harmless, and copied as it is.
        Err(heed::Error::Mdb(MdbError::Incompatible)) => {}
        copied => return copied.map(|()| CompactionOption::Enabled).map_err(lmdb::error),
    }
    attempt(CompactionOption::Disabled).map(|()| CompactionOption::Disabled).map_err(lmdb::error)
}

/// Gives a compacted copy the number of the transaction whose state it is.
#[inline]
fn renumber(file: &mut File, data: &Path, transaction: impl FnOnce(&[u8]) -> Result<u64>) -> Result<()> {
    let damaged = |error| lmdb::file_damage(error, data, "");
    let header = Header::read(file).map_err(damaged)?;
    let (_, leaf) = raw_pages::first_leaf(file, &header).map_err(damaged)?;
    let none = || damaged(lmdb_verify::Error::file("is damaged: it has no record of its own"));
    let record = raw_pages::first_value(&leaf).ok_or_else(none)?;
    let number = transaction(record)?;
    header.renumber(file, number).map_err(|error| atomic_create::failed("writing", data, error))
}

/// Makes a file that is as closed to other users as LMDB's own files are.
fn new_file(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
