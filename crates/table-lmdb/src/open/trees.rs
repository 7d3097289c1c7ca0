//! The trees of a store's databases, and what the pages of their entries say.

use lmdb_verify::raw_pages::IsSound;
use lmdb_verify::{Names, Tree};

use table_engine::error::Result;
use table_engine::row::{self, Row};

use super::{Environment, NAMES, OptionalDb};
use crate::lmdb;
use crate::records::meta;

/// The names of a store's databases.
pub(super) const DATABASES: Names = {
    const SMALL: [&str; 3] = {
        let [_, names, catalog, tombstones] = NAMES;
        [names, catalog, tombstones]
    };
    let [rows, ..] = NAMES;
    Names { largest: rows, small: &SMALL, others: &[OptionalDb::Queues.name(), OptionalDb::Blobs.name()] }
};

/// Returns the test of an entry's checksum, if the database is one of rows, queues or blobs.
pub(super) fn soundness(database: &[u8]) -> Option<IsSound> {
    if database == DATABASES.largest.as_bytes() {
        return Some(|key, row| Row::parse(row).is_ok_and(|row| row.verify(row::key_seed(key)).is_ok()));
    }
    let is_optional = DATABASES.others.iter().any(|name| name.as_bytes() == database);
    is_optional.then_some(|key, record| meta::opened(key, record).is_some())
}

impl Environment {
    /// Returns the tree of the rows in the state of this number, which the transaction reads or began with.
    #[inline]
    pub(crate) fn rows_tree(&self, txn: &heed::RoTxn<'_>, state: usize) -> Result<Tree> {
        Tree::find(&self.reader, txn, state).map_err(lmdb::damage)
    }

    /// Returns the tree of the catalog, in the state that the transaction reads or began with.
    pub(crate) fn catalog_tree(&self, txn: &heed::RoTxn<'_>, state: usize) -> Result<Tree> {
        let [_, _, catalog, _] = NAMES;
        Tree::of_database(&self.reader, catalog, txn, state).map_err(lmdb::damage)
    }

    /// Returns the tree of a database that a feature brings, in the state that the transaction reads or began with.
    pub(crate) fn optional_tree(
        &self,
        optional_db: OptionalDb,
        txn: &heed::RoTxn<'_>,
        state: usize,
    ) -> Result<Tree> {
        Tree::of_database(&self.reader, optional_db.name(), txn, state).map_err(lmdb::damage)
    }

    /// Makes sure that a value lies on a page that is in use in a state, which the transaction reads or began with.
    #[inline]
    pub(crate) fn check_in_use(&self, txn: &heed::RoTxn<'_>, state: usize, entry: &[u8]) -> Result<()> {
        self.reader.check_in_use(txn, state, entry).map_err(lmdb::damage)
    }
}
