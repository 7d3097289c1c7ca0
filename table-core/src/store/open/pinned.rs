//! A state of the file that is looked at page by page while others write.

use std::fs::File;
use std::path::Path;

use super::header::{Flaw, Header};
use super::retrying;
use crate::error::Result;
use crate::store::lmdb::{self, LmdbEnv, ReadTxn};

/// Looks at a file that is always another commit's than the snapshot, before that is called damage.
const ATTEMPTS: usize = 1_000;

/// Takes a snapshot and shows it with its header, and the file. While the snapshot lives no page of its state is written,
/// so what the header leads to stands still. Beginning a snapshot touches none but the header pages through the map.
pub(super) fn pinned<R>(
    env: &LmdbEnv,
    file: &mut File,
    data: &Path,
    mut look: impl FnMut(&ReadTxn<'_>, &Header, &mut File) -> Result<R>,
) -> Result<R> {
    for _ in 0..ATTEMPTS {
        let txn = retrying(env, || env.read_txn()).map_err(lmdb::error)?;
        let header = Header::read(file).map_err(|flaw| flaw.of(data))?;
        // Somebody may have committed between, or be writing the header; once it was read twice, he has done so.
        if u64::try_from(txn.id()) == Ok(header.transaction)
            && Header::read(file).map_err(|flaw| flaw.of(data))? == header
        {
            return look(&txn, &header, file);
        }
    }
    Err(Flaw::corrupt("is damaged: what is mapped is not what the file holds").of(data))
}
