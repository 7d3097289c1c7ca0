//! Opening a store.
//!
//! A store is a directory with LMDB's `data.mdb` and `lock.mdb`. Opening one goes this way:
//!
//! 1. [`create`]: a missing store is made in private and put in place in one step ([`atomic_create`]).
//! 2. [`registry`]: a store that this process has open is shared.
//! 3. [`filesystem`]: a network file system is refused, here and before anything is made.
//! 4. [`lmdb_verify`]: the file is as long as its pages, or at least as those in use; [`lockfile`]: what lies
//!    under the lock's name is a file, and this store's alone; [`hard_links`]: so is the data file.
//! 5. [`map`]: LMDB opens it. If it is to be, all pages are looked at once more, under a snapshot ([`reader_pin`]). Only
//!    now is any page but the header's touched through the map.
//! 6. The pages of the small databases, which LMDB reads from here on, hold entries that it can read; for writing, whole ones
//!    and nothing else.
//! 7. The store's own record says whether this library can read it.
//! 8. [`meta_resync`]: before the first change, the disk is made to hold the header that is read.
//!
//! [`mod@compact`] puts another file in a store's place, and [`open_lock`] keeps it apart from openings. [`copy`]
//! writes a store into another directory, by the same steps as making one.

mod atomic_create;
#[cfg(feature = "encrypt")]
pub(crate) mod aux_env;
mod commit_recovery;
mod compact;
mod copy;
mod create;
mod filesystem;
mod hard_links;
mod lockfile;
mod map;
mod meta_resync;
mod open_lock;
mod optional_db;
mod options;
mod reader_pin;
mod readers;
mod registry;
mod removed;
mod space;
mod trees;
#[cfg(feature = "encrypt")]
mod whole;

use std::any::Any;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use heed::types::Bytes;
use heed::{CommitOrAbort, MdbError};
use lmdb_verify::raw_pages::{self, Contents, Demand};
use lmdb_verify::{Header, PageReader};

use table_engine::error::{Error, ErrorKind, Result};

use self::atomic_create::DATA;
use self::commit_recovery::NumberOf;
pub(crate) use self::compact::compact;
#[cfg(test)]
pub(crate) use self::copy::copy_to;
pub(crate) use self::copy::{check_outside, copy_with};
pub(crate) use self::create::NAMES;
use self::map::{Access, Sizes};
use self::meta_resync::MetaResync;
use self::optional_db::OptionalDatabases;
pub(crate) use self::optional_db::OptionalDb;
pub use self::options::{Durability, OpenOptions};
use self::reader_pin::with_pinned_reader;
use self::registry::Identity;
pub(crate) use self::space::{Space, Usage};
use self::trees::{DATABASES, soundness};
use crate::lmdb::{self, Databases, Db, LmdbEnv, ReadTxn, WriteTxn};
use crate::records::meta::{META_KEY, Meta};

/// An open environment with the databases of a store.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) env: LmdbEnv,
    pub(crate) dbs: Databases,
    /// The options that it was opened with.
    pub(crate) options: OpenOptions,
    /// The store's directory, absolute and without links.
    pub(crate) path: PathBuf,
    meta_resync: MetaResync,
    /// The store's pages, and what is known of them.
    pub(crate) reader: PageReader,
    /// When the data file was last seen to have a name, in ticks.
    had_name_at: AtomicU64,
    optional_db: OptionalDatabases,
}

/// Opens the store in the directory `path`, or shares it if this process has it open. `wrap` makes the shared value of a
/// newly opened environment; it must not open the same store.
///
/// The store is closed when its environment is: whatever holds a clone of `env`, as a transaction of
/// [`Environment::static_read_txn`] does, should hold the shared value too. Else it can't be opened again meanwhile.
pub(crate) fn open<T: Any + Send + Sync>(
    path: &Path,
    options: &OpenOptions,
    wrap: impl FnOnce(Environment) -> Result<Arc<T>>,
) -> Result<Arc<T>> {
    let open = || {
        let dir = locate(path, options)?;
        let data = dir.join(DATA);
        // Until it is open, no process puts another file in its place.
        let _turn = compact::settled(&dir, options.read_only)?;
        let file = open_data(&data, options.read_only)?;
        let identity = identify(&file, &data)?;
        registry::shared(&identity, options, || {
            let environment = Environment::open(dir, file, &identity, options)?;
            let closed = environment.env.clone().prepare_for_closing();
            Ok((wrap(environment)?, closed))
        })
    };
    open().map_err(|error| error.attempted("open the store"))
}

/// Opens a data file. For writing, though nothing is written, unless that is refused: an overlay file system then takes
/// the file into its upper layer, where it has another identity, now and not when LMDB opens it.
fn open_data(data: &Path, read_only: bool) -> Result<File> {
    let file = File::options().read(true).write(!read_only).open(data);
    file.map_err(|error| atomic_create::failed("opening", data, error))
}

/// Returns whether a directory holds an environment.
#[cfg(feature = "encrypt")]
pub(crate) fn has_data(dir: &Path) -> Result<bool> {
    let data = dir.join(DATA);
    match fs::symlink_metadata(&data) {
        Ok(_) => Ok(true),
        Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
            Ok(false)
        }
        Err(error) => Err(atomic_create::failed("finding", &data, error)),
    }
}

fn identify(file: &File, data: &Path) -> Result<Identity> {
    Identity::of(file, data).map_err(|error| atomic_create::failed("reading", data, error))
}

/// Returns the directory of the store, with its data file in place.
fn locate(path: &Path, options: &OpenOptions) -> Result<PathBuf> {
    let incompatible = |because| Err(Error::new(ErrorKind::Incompatible).because(because));
    let absolute =
        std::path::absolute(path).map_err(|error| atomic_create::failed("finding", path, error))?;
    match fs::metadata(&absolute) {
        Ok(found) if !found.is_dir() => {
            return incompatible(format!("`{}` is a file; a store is a directory", path.display()));
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(atomic_create::failed("finding", path, error));
        }
        _ => {}
    }
    let data = absolute.join(DATA);
    match fs::symlink_metadata(&data) {
        Ok(found) if found.is_file() => {}
        Ok(found) if found.is_symlink() => {
            // Opened by a link in another directory, the file would have another lock file.
            return incompatible(format!(
                "`{}` is a symbolic link; a store's files lie side by side, so link the directory instead",
                data.display()
            ));
        }
        Ok(_) => return incompatible(format!("`{}` is not a file, so no store's", data.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if !options.create || options.read_only || options.not_before.is_some() {
                return Err(
                    lmdb::io_error(error).because(format!("there is no store at `{}`", path.display()))
                );
            }
            filesystem::check(&absolute)?;
            create::create(&absolute)?;
        }
        Err(error) => return Err(atomic_create::failed("reading", &data, error)),
    }
    absolute.canonicalize().map_err(|error| atomic_create::failed("finding", path, error))
}

/// The data file of a directory, which is open already and has this identity.
struct DataFile<'f> {
    path: &'f Path,
    file: &'f mut File,
    identity: &'f Identity,
}

/// Opens an environment, once its data file is known to hold every page that is in use, and more if the options say so.
fn open_sound(
    DataFile { path, file, identity }: DataFile<'_>,
    sizes: Sizes,
    number_of: NumberOf,
    options: &OpenOptions,
) -> Result<LmdbEnv> {
    filesystem::check(path)?;
    if !options.read_only {
        atomic_create::settle(path)?;
    }
    lockfile::check(path)?;
    let data = path.join(DATA);
    hard_links::check(path, file, &data, options.read_only)?;
    let whole = is_whole(file).map_err(|error| lmdb::file_damage(error, &data, ""))?;
    commit_recovery::check(path, file, number_of, options)?;
    let env = map::open_for(path, sizes, if options.read_only { Access::Read } else { Access::Write })?;
    let mapped = env.try_clone_inner_file().map_err(lmdb::error)?;
    if identify(&mapped, &data)? != *identity {
        return Err(Error::new(ErrorKind::Io)
            .because(format!("`{}` was replaced while it was being opened; open it again", data.display())));
    }
    if options.read_only {
        check_registered(&env, path)?;
    }
    if options.verify_first || !whole {
        // The pages stand still under the snapshot, and of all pages only the header's are touched through the map.
        with_pinned_reader(&env, file, &data, |_, header, file| {
            let length = file.seek(SeekFrom::End(0)).map_err(lmdb_verify::Error::unread);
            let contents =
                if options.verify_first { Contents::Verified(soundness) } else { Contents::Unread };
            let verified = length.and_then(|length| raw_pages::verify(file, header, length, contents));
            verified.map_err(|error| lmdb::file_damage(error, &data, ""))
        })?;
    }
    env.clear_stale_readers().map_err(lmdb::error)?;
    Ok(env)
}

impl Environment {
    fn open(path: PathBuf, mut file: File, identity: &Identity, options: &OpenOptions) -> Result<Self> {
        let sizes =
            Sizes { map: options.map_size, readers: options.max_readers, durability: options.durability };
        let opened = DataFile { path: &path, file: &mut file, identity };
        let env = open_sound(opened, sizes, Meta::number_of, options)?;
        let data = path.join(DATA);
        check_records(&env, &mut file, &data, options.read_only)?;
        let [main, rows, names, catalog, tombstones] = match open_databases(&env, &path) {
            Err(error) if error.kind() == ErrorKind::Superseded => {
                if options.read_only {
                    return Err(compact::broken_off(&path));
                }
                // Another file was to take its place, and has not.
                compact::revive(&env, &path)?;
                open_databases(&env, &path)?
            }
            opened => opened?,
        };
        let reader = map::reader(&env, main, DATABASES, file, &data)?;
        let pages = reader.pages();
        let dbs = Databases { main, data: rows, names, catalog, tombstones, pages };
        let meta_resync = MetaResync::new(&path, Meta::number_of);
        let environment = Self {
            env,
            dbs,
            options: options.clone(),
            path,
            meta_resync,
            reader,
            had_name_at: AtomicU64::new(0),
            optional_db: OptionalDatabases::default(),
        };
        if options.verify_first {
            environment.reader.meet_all();
        }
        let txn = environment.read_txn()?;
        environment.reader.learn_stale_pages(&txn);
        drop(txn);
        Ok(environment)
    }

    /// Returns a snapshot.
    pub(crate) fn read_txn(&self) -> Result<ReadTxn<'_>> {
        snapshot(&self.env, || self.env.read_txn()).map_err(lmdb::error)
    }

    /// Returns a snapshot that keeps the environment open by itself.
    pub(crate) fn static_read_txn(&self) -> Result<ReadTxn<'static>> {
        snapshot(&self.env, || self.env.clone().static_read_txn()).map_err(lmdb::error)
    }

    /// Begins a transaction that is to be committed by [`Self::commit`].
    pub(crate) fn write_txn(&self) -> Result<WriteTxn<'_>> {
        let txn = self.meta_resync.write_txn(&self.env)?;
        self.reader.check_writable(&txn).map_err(lmdb::damage)?;
        Ok(txn)
    }

    /// Commits a transaction. Every commit comes here, so that one that fails is known to the next.
    pub(crate) fn commit(&self, txn: WriteTxn<'_>) -> Result<()> {
        self.meta_resync.commit(txn)
    }

    /// Makes every commit so far durable.
    pub(crate) fn flush(&self) -> Result<()> {
        self.meta_resync.flush(&self.env)
    }

    /// Returns the error of a write that was refused. LMDB takes a write that ends early for a failure of the device. A
    /// write ends so, too, if the disk has some room, but not enough.
    #[cold]
    pub(crate) fn refusal(&self, error: Error) -> Error {
        if error.kind() == ErrorKind::Io && atomic_create::is_full(&self.path) {
            return Error::new(ErrorKind::DiskFull).because("a write ended early, and there is no more room");
        }
        error
    }

    /// Frees the reader slots of processes that have died, and says how many there were. Until then their
    /// snapshots keep old pages from being used again.
    pub(crate) fn clear_stale_readers(&self) -> Result<usize> {
        self.env.clear_stale_readers().map_err(lmdb::error)
    }
}

/// Runs `take`, which takes a reader slot. If none is free, it frees those of dead processes and runs it once more.
fn retrying<R>(env: &LmdbEnv, mut take: impl FnMut() -> heed::Result<R>) -> heed::Result<R> {
    match take() {
        Err(heed::Error::Mdb(MdbError::ReadersFull)) => {
            env.clear_stale_readers()?;
            take()
        }
        taken => taken,
    }
}

/// How often a snapshot is taken again if commits have overtaken it.
const OVERTAKEN: usize = 100;

/// Takes a snapshot that is of the state whose number it has.
///
/// LMDB takes the number first and the state then, from the header page that the number's parity says. If two commits come
/// between, that page has a later state: sound, and held for the reader, but with another number.
fn snapshot<'e>(
    env: &LmdbEnv,
    mut begin: impl FnMut() -> heed::Result<ReadTxn<'e>>,
) -> heed::Result<ReadTxn<'e>> {
    for _ in 0..OVERTAKEN {
        let txn = retrying(env, &mut begin)?;
        if env.info().last_txn_id < txn.id().saturating_add(2) {
            return Ok(txn);
        }
    }
    retrying(env, begin)
}

/// Returns whether the file is as long as its header says. The header is read first: a commit that comes between makes
/// the file longer, never shorter.
fn is_whole(file: &mut File) -> lmdb_verify::Result<bool> {
    let header = Header::read(file)?;
    let length = file.seek(SeekFrom::End(0)).map_err(lmdb_verify::Error::unread)?;
    Ok(length >= header.bytes())
}

/// Makes sure that the readers of an environment which is open for reading are seen by processes that write, or that no
/// process can write.
fn check_registered(env: &LmdbEnv, path: &Path) -> Result<()> {
    let reader = retrying(env, || env.read_txn()).map_err(lmdb::error)?;
    // Without a lock file LMDB counts no readers.
    let checked = if env.info().number_of_readers > 0 { Ok(()) } else { filesystem::check_unchanging(path) };
    drop(reader);
    checked
}

/// Refuses a store where an entry of the small databases is said to lie elsewhere than on its page, or to be of a kind that
/// LMDB can't read. LMDB follows it there: to a former page, say, that has an entry of the same key, and takes a database to be
/// what it was. What is then written goes to pages that are others' by now.
///
/// Reading alone overwrites nothing: a store that is open for that is refused only where LMDB would end the process, so that
/// what is left of it can be had.
fn check_records(env: &LmdbEnv, file: &mut File, data: &Path, read_only: bool) -> Result<()> {
    let demand = if read_only { Demand::Readable } else { Demand::Whole };
    with_pinned_reader(env, file, data, |_, header, file| {
        // That a file is another program's is found where the databases are opened.
        let is_ours = |record: &[u8]| Meta::number_of(record).is_some();
        let advice = if read_only { "; take the store from a backup" } else { SALVAGE };
        raw_pages::check_records(file, header, demand, &DATABASES, is_ours)
            .map_err(|error| lmdb::file_damage(error, data, advice))
    })
}

/// What is to be done about a store that can't be written to, behind what is wrong with it.
const SALVAGE: &str =
    "; take the store from a backup, or what can be read out of this one, opened by `OpenOptions::read_only`";

/// Opens the databases of a store that this library can read: the unnamed one, and those of [`NAMES`].
fn open_databases(env: &LmdbEnv, path: &Path) -> Result<[Db; 5]> {
    let txn = snapshot(env, || env.read_txn()).map_err(lmdb::error)?;
    let opened = env.open_databases_and_commit(txn, |opener, txn| {
        let open = |name| opener.open_database::<Bytes, Bytes>(txn, name);
        let Some(main) = open(None)? else { return Ok(CommitOrAbort::Abort(not_a_store(path))) };
        // The record first: in another program's file, opening databases by name may go wrong in any way.
        let readable = match main.get(txn, META_KEY)? {
            Some(_) => Meta::read(main, txn).and_then(|meta| check_key_limit(env, path, &meta)),
            None => Err(not_a_store(path)),
        };
        if let Err(error) = readable {
            return Ok(CommitOrAbort::Abort(error));
        }
        for name in NAMES {
            if main.get(txn, name.as_bytes())?.is_some_and(|record| !lmdb_verify::is_database(record)) {
                let because = format!("LMDB's record of the database `{name}` is damaged");
                return Ok(CommitOrAbort::Abort(Error::new(ErrorKind::Corrupt).because(because)));
            }
        }
        let [data, names, catalog, tombstones] = NAMES.map(|name| open(Some(name)));
        Ok(match (data?, names?, catalog?, tombstones?) {
            (Some(data), Some(names), Some(catalog), Some(tombstones)) => {
                CommitOrAbort::Commit([main, data, names, catalog, tombstones])
            }
            _ => CommitOrAbort::Abort(
                Error::new(ErrorKind::Corrupt)
                    .because(format!("the store at `{}` lacks one of its databases", path.display())),
            ),
        })
    });
    match opened.map_err(lmdb::error)? {
        CommitOrAbort::Commit(databases) => Ok(databases),
        CommitOrAbort::Abort(error) => Err(error),
    }
}

/// Returns the error of a write to a store for reading only.
#[cold]
pub(crate) fn read_only() -> Error {
    Error::new(ErrorKind::ReadOnly)
        .because("the store was opened with `read_only`; open it without to write to it")
}

/// Examines the pages of a data file that lies in memory, for the fuzzer and for tests: how many are in use, unless one is damaged.
#[cfg(any(all(test, feature = "queue"), feature = "fuzzing"))]
pub(crate) fn walk_bytes(bytes: &[u8]) -> Option<u64> {
    let mut file = io::Cursor::new(bytes);
    let header = Header::read(&mut file).ok()?;
    raw_pages::verify(&mut file, &header, u64::try_from(bytes.len()).ok()?, Contents::Unread).ok()
}

fn not_a_store(path: &Path) -> Error {
    Error::new(ErrorKind::Incompatible)
        .because(format!("`{}` holds an LMDB environment that is not a store", path.display()))
}

/// Refuses a store whose longest key is above this build's limit: LMDB could not read pages with longer keys.
fn check_key_limit(env: &LmdbEnv, path: &Path, meta: &Meta) -> Result<()> {
    let limit = env.max_key_size();
    if usize::try_from(meta.max_key).is_ok_and(|stored| stored <= limit) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Incompatible).because(format!(
        "the store at `{}` may hold keys of {} bytes, and this build of LMDB takes {limit}; \
         build heed with its feature `longer-keys`",
        path.display(),
        meta.max_key
    )))
}

#[cfg(test)]
mod tests;
