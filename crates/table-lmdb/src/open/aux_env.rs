//! A small environment of its own beside a store: made, shared and examined by the same steps.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use heed::CommitOrAbort;
use heed::types::Bytes;

use table_engine::error::{Error, ErrorKind, Result};

use super::atomic_create::{self, DATA, Private};
use super::commit_recovery::NumberOf;
use super::map::{self, Sizes};
use super::meta_resync::MetaResync;
use super::options::{Durability, OpenOptions};
use super::{DataFile, filesystem, identify, open_data, open_sound, registry, retrying, snapshot, whole};
use crate::lmdb::{self, Db, LmdbEnv, ReadTxn, WriteTxn};

/// Enough for millions of small records; it costs addresses alone.
const MAP_SIZE: usize = if cfg!(target_pointer_width = "64") { 1 << 34 } else { 1 << 28 };

/// Enough for the first records.
const FIRST_MAP_SIZE: usize = 1 << 20;

/// An open environment with one database, LMDB's unnamed one. A second opening in this process shares it.
#[derive(Debug)]
pub(crate) struct AuxEnv {
    pub(crate) env: LmdbEnv,
    pub(crate) db: Db,
    /// Its directory, absolute and without links.
    pub(crate) path: PathBuf,
    pub(crate) read_only: bool,
    meta_resync: MetaResync,
}

/// What an environment is opened for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// Whether it is made if it is missing.
    pub(crate) create: bool,
    pub(crate) read_only: bool,
    /// Whether a lost last commit is accepted, as by [`OpenOptions::accept_lost_commit`].
    pub(crate) accept_lost_commit: bool,
}

impl From<bool> for Access {
    fn from(create: bool) -> Self {
        Self { create, read_only: false, accept_lost_commit: false }
    }
}

/// As the store beside it is opened.
impl From<&OpenOptions> for Access {
    fn from(options: &OpenOptions) -> Self {
        let OpenOptions { create, read_only, accept_lost_commit, .. } = *options;
        Self { create: create && !read_only, read_only, accept_lost_commit }
    }
}

/// The first records of a new environment.
pub(crate) type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// Opens the environment in a directory, and makes it with what `first` gives if there is none. If another process
/// makes one meanwhile, that is opened. The directory exists when `first` is called. `number_of` reads the record that
/// stands first in it.
pub(crate) fn open(
    dir: &Path,
    access: impl Into<Access>,
    number_of: NumberOf,
    first: impl FnOnce(&Path) -> Result<Records>,
) -> Result<Arc<AuxEnv>> {
    let access = access.into();
    let absolute = std::path::absolute(dir).map_err(|error| atomic_create::failed("finding", dir, error))?;
    let data = absolute.join(DATA);
    match fs::symlink_metadata(&data) {
        Ok(found) if found.is_file() => {}
        Ok(_) => {
            return Err(
                Error::new(ErrorKind::Incompatible).because(format!("`{}` is not a file", data.display()))
            );
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && access.create => {
            filesystem::check(&absolute)?;
            make(&absolute, first)?;
        }
        Err(error) => return Err(atomic_create::failed("opening", &data, error)),
    }
    let path = absolute.canonicalize().map_err(|error| atomic_create::failed("finding", &absolute, error))?;
    let data = path.join(DATA);
    let mut file = open_data(&data, access.read_only)?;
    let identity = identify(&file, &data)?;
    // All its pages are looked at in any case ([`whole`]).
    let options = OpenOptions::default()
        .map_size(MAP_SIZE)
        .read_only(access.read_only)
        .accept_lost_commit(access.accept_lost_commit);
    registry::shared(&identity, &options, || {
        let sizes = Sizes { map: MAP_SIZE, readers: options.max_readers, durability: Durability::Durable };
        let opened = DataFile { path: &path, file: &mut file, identity: &identity };
        let env = open_sound(opened, sizes, number_of, &options)?;
        whole::check(&env, &path)?;
        let db = unnamed(&env)?;
        let closed = env.clone().prepare_for_closing();
        let meta_resync = MetaResync::new(&path, number_of);
        Ok((Arc::new(AuxEnv { env, db, path, read_only: access.read_only, meta_resync }), closed))
    })
}

impl AuxEnv {
    /// Returns a snapshot.
    pub(crate) fn read_txn(&self) -> Result<ReadTxn<'_>> {
        snapshot(&self.env, || self.env.read_txn()).map_err(lmdb::error)
    }

    /// Looks at all that its file holds, as at its opening.
    pub(crate) fn check(&self) -> Result<()> {
        whole::check(&self.env, &self.path)
    }

    /// Begins a transaction that is to be committed by [`Self::commit`].
    pub(crate) fn write_txn(&self) -> Result<WriteTxn<'_>> {
        self.meta_resync.write_txn(&self.env)
    }

    /// Commits it.
    pub(crate) fn commit(&self, txn: WriteTxn<'_>) -> Result<()> {
        self.meta_resync.commit(txn)
    }

    /// Returns the number of the last commit, by whatever process: cheaper than a snapshot.
    pub(crate) fn last_commit(&self) -> usize {
        self.env.info().last_txn_id
    }
}

fn make(dir: &Path, first: impl FnOnce(&Path) -> Result<Records>) -> Result<()> {
    atomic_create::within(dir, || {
        let records = first(dir)?;
        let laid_out = Private::new(dir).and_then(|private| {
            lay_out(private.path(), &records)?;
            Ok(private)
        });
        match laid_out {
            Ok(private) => private.publish().map(drop),
            // The winner's opening removed our directory under us; ours flushes what the winner may not have.
            Err(_) if dir.join(DATA).exists() => Ok(()),
            Err(error) => Err(error),
        }
    })
}

/// Makes a whole data file, flushed and closed.
fn lay_out(dir: &Path, records: &Records) -> Result<()> {
    let env = map::open(dir, Sizes { map: FIRST_MAP_SIZE, readers: 1, durability: Durability::Durable })?;
    let txn = env.write_txn().map_err(lmdb::error)?;
    let made = env.create_databases_and_commit(txn, |opener, txn| {
        let db = opener.create_database::<Bytes, Bytes>(txn, None)?;
        for (key, record) in records {
            db.put(txn, key, record)?;
        }
        Ok(CommitOrAbort::<_, ()>::Commit(()))
    });
    made.map_err(lmdb::error)?;
    env.force_sync().map_err(lmdb::error)?;
    // Closed before it is published: LMDB keeps process-wide state for an open file.
    env.prepare_for_closing().wait();
    Ok(())
}

fn unnamed(env: &LmdbEnv) -> Result<Db> {
    let txn = retrying(env, || env.read_txn()).map_err(lmdb::error)?;
    let opened = env.open_databases_and_commit(txn, |opener, txn| {
        Ok(match opener.open_database::<Bytes, Bytes>(txn, None)? {
            Some(db) => CommitOrAbort::Commit(db),
            None => CommitOrAbort::Abort(()),
        })
    });
    match opened.map_err(lmdb::error)? {
        CommitOrAbort::Commit(db) => Ok(db),
        CommitOrAbort::Abort(()) => Err(Error::new(ErrorKind::Corrupt).because("the environment is empty")),
    }
}
