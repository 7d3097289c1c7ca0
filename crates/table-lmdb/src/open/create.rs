//! Making a store where there is none.

use std::path::Path;

use heed::CommitOrAbort;
use heed::types::Bytes;

use table_engine::error::Result;

use super::atomic_create::{self, DATA, Private};
use super::map::{self, Sizes};
use super::options::Durability;
use crate::lmdb;
use crate::records::meta::Meta;

/// The named databases that every store has. A feature's databases come with its bit; without them the bit is damage.
pub(crate) const NAMES: [&str; 4] = ["data", "names", "catalog", "graves"];

/// Enough for a new store's dozen pages. LMDB notes the size in the file; each opening brings its own.
const MAP_SIZE: usize = 1 << 20;

/// Makes a store in the directory, and the directory if it is missing. If another process makes one meanwhile, that is
/// the store.
pub(super) fn create(dir: &Path) -> Result<()> {
    atomic_create::within(dir, || {
        let laid_out = Private::new(dir).and_then(|private| {
            lay_out(private.path())?;
            Ok(private)
        });
        match laid_out {
            // It is a store once the name is durable.
            Ok(private) => private.publish().map(drop),
            // The winner's opening removed our directory under us. If the winner has not flushed the name, its own
            // directory is still there, and our opening flushes it.
            Err(_) if dir.join(DATA).exists() => Ok(()),
            Err(error) => Err(error),
        }
    })
}

/// Makes a whole store's data file, flushed and closed.
pub(super) fn lay_out(dir: &Path) -> Result<()> {
    let env = map::open(dir, Sizes { map: MAP_SIZE, readers: 1, durability: Durability::Durable })?;
    let mut meta = Meta::initial(u32::try_from(env.max_key_size()).unwrap_or(u32::MAX));
    let txn = env.write_txn().map_err(lmdb::error)?;
    let made = env.create_databases_and_commit(txn, |opener, txn| {
        for name in NAMES {
            opener.create_database::<Bytes, Bytes>(txn, Some(name))?;
        }
        let main = opener.create_database::<Bytes, Bytes>(txn, None)?;
        Ok(match meta.write(main, txn) {
            Ok(()) => CommitOrAbort::Commit(()),
            Err(error) => CommitOrAbort::Abort(error),
        })
    });
    if let CommitOrAbort::Abort(error) = made.map_err(lmdb::error)? {
        return Err(error);
    }
    env.force_sync().map_err(lmdb::error)?;
    // Closed before it is published: LMDB keeps process-wide state for an open file.
    env.prepare_for_closing().wait();
    Ok(())
}
