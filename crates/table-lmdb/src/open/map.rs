//! LMDB's environment, mapped. The crate's `unsafe` stands here alone.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use heed::{EnvFlags, EnvOpenOptions, MdbError};
use lmdb_verify::{Names, PageReader, Pages};

use table_engine::error::{Error, ErrorKind, Result};

use super::options::{DEFAULT_MAP_SIZE, Durability};
use super::reader_pin::with_pinned_reader;
use crate::lmdb::{self, Db, LmdbEnv};

/// Named databases that an environment can hold; every transaction pays a little for each.
const NAMED: u32 = 8;

/// How long to wait for an environment that is closing on another thread.
pub(super) const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 1_500 } else { 5_000 });

/// The default map shrinks down to this where a system has few addresses (39 bits on some ARM boards).
const SMALLEST_DEFAULT: usize = 1 << 30;

/// The options of an environment.
pub(super) struct Sizes {
    pub(super) map: usize,
    pub(super) readers: u32,
    pub(super) durability: Durability,
}

/// Opens the environment in a directory that exists. The caller has made sure, as far as it wants to, that the data
/// file is whole: LMDB makes one where there is none, and a missing page kills the process that touches it.
pub(super) fn open(dir: &Path, sizes: Sizes) -> Result<LmdbEnv> {
    open_for(dir, sizes, Access::Write)
}

/// The use that an environment is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Write,
    Read,
}

/// Opens an environment for reading only, or for writing too. On a read-only file system a reader has no lock: the
/// caller makes sure, before it looks at any page, that no process writes there.
pub(super) fn open_for(dir: &Path, mut sizes: Sizes, access: Access) -> Result<LmdbEnv> {
    let deadline = Instant::now() + PATIENCE;
    let shrinks = sizes.map == DEFAULT_MAP_SIZE;
    loop {
        match open_once(dir, &sizes, access) {
            Ok(env) => return Ok(env),
            Err(heed::Error::Io(error))
                if error.kind() == io::ErrorKind::OutOfMemory && shrinks && sizes.map > SMALLEST_DEFAULT =>
            {
                sizes.map /= 4;
            }
            Err(heed::Error::EnvAlreadyOpened) if Instant::now() < deadline => {
                if let Some(closing) = heed::env_closing_event(dir) {
                    closing.wait_timeout(deadline.saturating_duration_since(Instant::now()));
                }
            }
            Err(error) => return Err(refused(dir, &sizes, access, error)),
        }
    }
}

#[allow(unsafe_code, reason = "heed can't know that nobody else changes the file under the map")]
fn open_once(dir: &Path, sizes: &Sizes, access: Access) -> heed::Result<LmdbEnv> {
    let mut options = EnvOpenOptions::new().read_txn_without_tls();
    options.map_size(sizes.map).max_readers(sizes.readers).max_dbs(NAMED);
    if sizes.durability == Durability::Relaxed {
        // SAFETY: `NO_META_SYNC` leaves out the flush after the header page. It breaks none of LMDB's rules: the
        // data are flushed before the header is written, so whichever header reaches the disk is consistent. The
        // flags that are unsafe (`NO_SYNC`, `NO_LOCK`, `WRITE_MAP`, `MAP_ASYNC`) are never set.
        unsafe { options.flags(EnvFlags::NO_META_SYNC) };
    }
    if access == Access::Read {
        // SAFETY: `READ_ONLY` maps the file for reading and refuses transactions that write. Readers register in the
        // lock file as they do without it. On a read-only file system alone LMDB goes without that; `open_sound` closes
        // the environment again before any page but the header's was touched, unless the file system itself, and not
        // just its mount, is read-only: so no process changes the file there.
        unsafe { options.flags(EnvFlags::READ_ONLY) };
    }
    // SAFETY: LMDB hands out slices of the mapped file, so the file may be changed or cut through LMDB alone. This
    // crate never writes to the data file itself, and never opens the lock file; the environment is opened once in a
    // process (heed by path and the registry by inode), and every process locks through LMDB; file systems that keep
    // neither locks nor maps are refused. What is left, other programs writing into the store's directory, the
    // documentation forbids.
    unsafe { options.open(dir) }
}

/// Returns the reader of an environment's pages. `file` is the data file, opened once more.
#[allow(unsafe_code, reason = "the pages are those of the environment that is open here")]
pub(super) fn reader(
    env: &LmdbEnv,
    main: Db,
    names: Names,
    mut file: File,
    data: &Path,
) -> Result<PageReader> {
    let pages = with_pinned_reader(env, &mut file, data, |txn, header, file| {
        // SAFETY: The reader and the copy of the pages beside it are parts of an `Environment`, which keeps `env` open, and
        // whose transactions alone it is used with.
        let found = unsafe { Pages::find(env, txn, main, header, file) };
        found.map_err(|error| lmdb::file_damage(error, data, ""))
    })?;
    Ok(PageReader::new(env.clone(), main, pages, names, file))
}

#[cold]
fn refused(dir: &Path, sizes: &Sizes, access: Access, error: heed::Error) -> Error {
    let path = dir.display();
    let (kind, because) = match &error {
        heed::Error::EnvAlreadyOpened => (
            Some(ErrorKind::OptionsConflict),
            format!("`{path}` is still open in this process, by other means or with files since replaced"),
        ),
        heed::Error::Mdb(MdbError::VersionMismatch | MdbError::Invalid) => (
            Some(ErrorKind::Incompatible),
            format!("`{path}` is in use by a program with another version of LMDB; close that program first"),
        ),
        heed::Error::Io(io) if io.kind() == io::ErrorKind::OutOfMemory => (
            None,
            format!(
                "mapping `{path}`: {io}: no room for {} bytes of addresses; give a smaller `map_size`",
                sizes.map
            ),
        ),
        heed::Error::Io(io) if io.kind() == io::ErrorKind::PermissionDenied && access == Access::Read => (
            None,
            format!(
                "opening `{path}`: {io}: who reads beside others must be allowed to write LMDB's lock file, \
                 `lock.mdb`, and to make it if it is missing; give that right, or copy the store"
            ),
        ),
        error => (None, format!("opening `{path}`: {error}")),
    };
    match kind {
        Some(kind) => Error::new(kind).because(because).caused_by(error),
        None => lmdb::error(error).because(because),
    }
}
