//! The use of the pages of the store's file.

use std::fs::File;

use lmdb_verify::raw_pages;

use table_engine::error::Result;

use super::Environment;
use super::atomic_create::DATA;
use super::reader_pin::with_pinned_reader;
use super::readers::{self, Reader};
use crate::lmdb::{self, ReadTxn};

/// The pages of a file, in bytes, by their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    pub(crate) live: u64,
    /// Free pages that the next transactions can take.
    pub(crate) free: u64,
    /// Free pages that they could take without the oldest snapshots.
    pub(crate) held_back: u64,
}

/// The outcome of a look at the file and at the table of readers.
#[derive(Debug)]
pub(crate) struct Usage {
    /// The length of the file.
    pub(crate) file: u64,
    pub(crate) space: Space,
    /// The readers that see less than the last transaction; `None` where the table can't be read.
    pub(crate) behind: Option<Vec<Reader>>,
}

impl Environment {
    /// Returns how the file is used now. `oldest` is the number of the oldest snapshot that the process knows of.
    pub(crate) fn usage(&self, oldest: Option<u64>) -> Result<Usage> {
        let data = self.path.join(DATA);
        let of_file = |error| lmdb::file_damage(error, &data, "");
        let file = &mut *self.reader.file();
        let length =
            |file: &File| file.metadata().map_err(|error| of_file(lmdb_verify::Error::unread(error)));
        with_pinned_reader(&self.env, file, &data, |txn, header, file| {
            let length = length(file)?.len();
            let behind = self.behind(txn)?;
            let seen = behind.iter().flatten().map(|reader| reader.transaction);
            let oldest = seen.chain(oldest).fold(header.transaction, u64::min);
            let (mut free, mut held_back) = (0, 0);
            raw_pages::each_freed(file, header, |freed| {
                // Pages that the last commit has freed wait for the next commit, with or without readers.
                let held = (oldest..header.transaction).contains(&freed.transaction);
                *if held { &mut held_back } else { &mut free } += freed.count();
                Ok(())
            })
            .map_err(of_file)?;
            let bytes = |pages: u64| pages.saturating_mul(header.page_size);
            let live = (header.last_page + 1).saturating_sub(free + held_back);
            let space = Space { live: bytes(live), free: bytes(free), held_back: bytes(held_back) };
            Ok(Usage { file: length, space, behind })
        })
    }

    /// Returns the readers that see less than the last transaction, those of processes that have died left out.
    fn behind(&self, txn: &ReadTxn<'_>) -> Result<Option<Vec<Reader>>> {
        let transaction = u64::try_from(txn.id()).unwrap_or(u64::MAX);
        let list = || {
            let mut readers = readers::list(&self.path, txn.id())?;
            readers.retain(|reader| reader.transaction < transaction);
            Some(readers)
        };
        let found = list();
        let own = std::process::id();
        if found.iter().flatten().all(|reader| reader.process == own) {
            return Ok(found);
        }
        self.clear_stale_readers()?;
        Ok(list())
    }
}
