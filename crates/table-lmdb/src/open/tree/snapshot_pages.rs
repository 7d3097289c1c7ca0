//! The pages of a snapshot that lives.

use table_engine::error::Result;

use super::super::Environment;
use super::Tree;
use super::leaves::{Entry, LeafWalk, Source};
use crate::lmdb::ReadTxn;
use crate::lmdb::pages::Pages;

/// The function that verifies the row of a key.
type Verify = fn(&[u8], &[u8]) -> Result<()>;

/// The pages that a read transaction sees.
#[derive(Clone, Copy)]
pub(crate) struct SnapshotPages<'p> {
    environment: &'p Environment,
    txn: &'p ReadTxn<'static>,
    pages: Pages,
    verify: Option<Verify>,
}

impl<'p> SnapshotPages<'p> {
    /// Returns the pages of a snapshot whose rows are verified by this, if they are.
    pub(crate) fn of(
        environment: &'p Environment,
        txn: &'p ReadTxn<'static>,
        verify: Option<Verify>,
    ) -> Self {
        Self { environment, txn, pages: environment.dbs.pages, verify }
    }

    /// Returns so many bytes from the start of a page on.
    pub(crate) fn lent(self, page: u64, length: usize) -> Option<&'p [u8]> {
        self.environment.span(self.pages, self.txn, page, length)
    }

    /// Returns a walk over the rows between two keys, as [`LeafWalk::begin`].
    pub(crate) fn walk(self, range: (&[u8], &[u8]), reverse: bool) -> Result<LeafWalk> {
        let tree = Tree::find(self.environment, self.txn, self.txn.id())?;
        LeafWalk::begin(self, &tree, range, reverse)
    }
}

impl<'p> Source<'p> for SnapshotPages<'p> {
    #[inline]
    fn page(self, number: u64) -> Option<&'p [u8]> {
        self.environment.page(self.pages, self.txn, number)
    }

    fn span(self, number: u64, length: usize) -> Option<&'p [u8]> {
        self.environment.span(self.pages, self.txn, number, length)
    }

    fn check_in_use(self, pages: &[u64]) -> Result<()> {
        self.environment.check_pages_in_use(self.txn, self.txn.id(), pages)
    }

    fn verifies(self) -> bool {
        self.verify.is_some()
    }

    fn verify(self, row: Entry<'p>) -> Result<()> {
        self.verify.map_or(Ok(()), |verify| verify(row.key, row.bytes))
    }
}
