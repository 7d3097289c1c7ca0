//! The pages of a snapshot that lives.

use std::fmt;
use std::ops::Range;

use heed::{RoTxn, WithoutTls};

use super::Tree;
use super::leaves::{Entry, LeafWalk, Source};
use crate::error::Result;
use crate::reader::PageReader;

/// A function that verifies an entry, by its key and its value.
pub type VerifyEntry = fn(&[u8], &[u8]) -> Result<()>;

/// The pages that a read transaction sees.
#[derive(Clone, Copy)]
pub struct SnapshotPages<'p> {
    reader: &'p PageReader,
    txn: &'p RoTxn<'static, WithoutTls>,
    verify: Option<VerifyEntry>,
}

impl fmt::Debug for SnapshotPages<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SnapshotPages").field("state", &self.txn.id()).finish_non_exhaustive()
    }
}

impl<'p> SnapshotPages<'p> {
    /// Returns the pages of a snapshot whose entries are verified by this, if they are.
    #[inline]
    pub fn of(
        reader: &'p PageReader,
        txn: &'p RoTxn<'static, WithoutTls>,
        verify: Option<VerifyEntry>,
    ) -> Self {
        Self { reader, txn, verify }
    }

    /// Returns so many bytes from the start of a page on.
    #[inline]
    pub fn lent(self, page: u64, length: usize) -> Option<&'p [u8]> {
        self.reader.span(self.txn, page, length)
    }

    /// Returns a walk over the entries of the [largest](crate::Names::largest) database between two keys, as
    /// [`LeafWalk::begin`] does.
    pub fn walk(self, range: Range<&[u8]>, reverse: bool) -> Result<LeafWalk> {
        let tree = Tree::find(self.reader, self.txn, self.txn.id())?;
        LeafWalk::begin(self, &tree, range, reverse)
    }
}

impl<'p> Source<'p> for SnapshotPages<'p> {
    #[inline]
    fn page(self, number: u64) -> Option<&'p [u8]> {
        self.reader.page(self.txn, number)
    }

    fn span(self, number: u64, length: usize) -> Option<&'p [u8]> {
        self.reader.span(self.txn, number, length)
    }

    fn check_in_use(self, pages: &[u64]) -> Result<()> {
        self.reader.check_pages_in_use(self.txn, self.txn.id(), pages)
    }

    fn verifies(self) -> bool {
        self.verify.is_some()
    }

    fn verify(self, entry: Entry<'p>) -> Result<()> {
        self.verify.map_or(Ok(()), |verify| verify(entry.key, entry.bytes))
    }
}
