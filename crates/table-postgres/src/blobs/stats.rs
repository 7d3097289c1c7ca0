//! What the blobs of a store come to.

use table_engine::{Error, Result};

use crate::PostgresTables;
use crate::catalog::column;
use crate::error::missing;
use crate::store::plain;

/// What the blobs of a store come to, as [`PostgresTables::blob_stats`] counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobStats {
    /// How many blobs there are that a name or a row leads to.
    pub blobs: u64,
    /// The bytes of these.
    pub bytes: u64,
    /// How many names lead to them, in all containers.
    pub names: u64,
    /// How many others wait: for a row that is to refer to them, or to be removed.
    pub waiting: u64,
}

impl PostgresTables {
    /// Counts the blobs of the store, and their bytes. The server reads a row of each, and no content.
    pub fn blob_stats(&self) -> Result<BlobStats> {
        self.count_blobs().map_err(|error: Error| error.attempted("count the blobs"))
    }

    fn count_blobs(&self) -> Result<BlobStats> {
        let tables = &self.store.blobs;
        let sql = format!(
            "SELECT count(*) FILTER (WHERE refs > 0), coalesce(sum(length) FILTER (WHERE refs > 0), 0)::bigint,
                 (SELECT count(*) FROM {}), count(*) FILTER (WHERE refs = 0)
             FROM {}",
            tables.names, tables.blobs
        );
        let answer = self.store.query(&plain(&sql))?;
        let row = answer.first().ok_or_else(missing)?;
        let number = |at| column(row, at).map(i64::cast_unsigned);
        Ok(BlobStats { blobs: number(0)?, bytes: number(1)?, names: number(2)?, waiting: number(3)? })
    }
}
