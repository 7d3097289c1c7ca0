//! A state of the file, held still to be looked at page by page while others write.

use std::fs::File;
use std::path::Path;

use lmdb_verify::Header;

use table_engine::error::Result;

use super::retrying;
use crate::lmdb::{self, LmdbEnv, ReadTxn};

/// How often a file may have another commit than the snapshot before that counts as damage.
const ATTEMPTS: usize = 1_000;

/// Takes a snapshot and shows it with its header, and the file. While the snapshot lives no page of its state is written,
/// so what the header leads to stands still. Beginning a snapshot touches none but the header pages through the map.
pub(super) fn with_pinned_reader<R>(
    env: &LmdbEnv,
    file: &mut File,
    data: &Path,
    mut look: impl FnMut(&ReadTxn<'_>, &Header, &mut File) -> Result<R>,
) -> Result<R> {
    let page_size = u64::from(env.unnamed_database_stat().page_size);
    for _ in 0..ATTEMPTS {
        let txn = retrying(env, || env.read_txn()).map_err(lmdb::error)?;
        let transaction = u64::try_from(txn.id()).unwrap_or(u64::MAX);
        // The next commit but one takes its page, and may have come already.
        let header = Header::of_commit(file, page_size, transaction)
            .map_err(|error| lmdb::file_damage(error, data, ""))?;
        if let Some(header) = header {
            return look(&txn, &header, file);
        }
    }
    let differs = lmdb_verify::Error::file("is damaged: what is mapped is not what the file holds");
    Err(lmdb::file_damage(differs, data, ""))
}
